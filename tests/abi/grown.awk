# Of what `abidiff --leaf-changes-only` says, prints what is against the promise. What keeps it: a
# struct that begins with its size, or is stepped through with a stride, grew at its end. (abidiff
# does not tell of new enumerators, which are fine too.)
BEGIN {
    n = split("module stage option port type host sink source trace report figure table table_column note " \
              "finding lane series attribution chunk_times schedule expert_load expert_plan", names)
    for (i = 1; i <= n; i++)
        may_grow["'struct mill_" names[i] "'"] = 1
}
/^$/ || /^(Leaf changes|Changed leaf types) summary:/ { next }
/^Removed\/Changed\/Added (functions|variables) summary: 0 Removed, 0 Changed, 0 Added/ { next }
/^'struct mill_[a-z_]+' changed:$/ && ($1 " " $2) in may_grow { end = -1; next }
/^  type size changed from [0-9]+ to [0-9]+ \(in bits\)$/ { end = $5; next }
/^  [0-9]+ data member insertions?:$/ { next }
/^    '.*', at offset [0-9]+ \(in bits\)$/ && end >= 0 && $(NF - 2) >= end { next }
{ print; bad = 1 }
END { exit bad }
