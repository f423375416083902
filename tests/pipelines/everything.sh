#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The ready pipeline `everything` over all real profiles in one run: it ends well, writes what its
# page tells, and not a byte of it depends on the number of threads.
set -euo pipefail

[ -d "$TRACEMILL_TEST_DATA/traces" ] || exit 77
traces=("$TRACEMILL_TEST_DATA"/traces/*.json.gz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# What a profile can't tell is warned of, and slow machines show progress; anything else is an error.
everything() {
    "$TRACEMILL_TEST_PROGRAM" run everything "${traces[@]}" --jobs "$1" --set vars.out="$work/$1" \
        >"$work/$1.txt" 2>"$work/$1.err" || { cat "$work/$1.err" >&2 && fail "exit code $?"; }
    ! grep -v -e "^tracemill: warning: " -e "^  the same: " -e "^tracemill: .* runs of stages" \
        -e "^tracemill: [0-9]* s: " "$work/$1.err" ||
        fail "what it says beside warnings"
}

everything 1
everything 4
diff -rq "$work/1" "$work/4" || fail "--jobs 4 writes other files than --jobs 1"
cmp "$work/1.txt" "$work/4.txt" || fail "--jobs 4 prints other text than --jobs 1"

for trace in "${traces[@]}"; do
    for file in "$work/1/${trace##*/}".{html,md,timeline.json.gz}; do
        [ -s "$file" ] || fail "$file is not there"
    done
    gzip --test "$work/1/${trace##*/}.timeline.json.gz"
done
if command -v python3 >/dev/null; then # kernels of the first one overlap on their stream
    python3 "$TRACEMILL_TEST_SOURCE/tests/pipelines/timeline.py" --check \
        "$work/1/"{tracelens-b200-eager,deepseek-train}.json.gz.timeline.json.gz || fail "a timeline is wrong"
fi
tail -n 1 "$work/1/metrics.prom" | grep -qx "# EOF" || fail "metrics.prom is not whole"

# Of two profiles that are of one job, the analyses of all ranks together are there too.
traces=("$TRACEMILL_TEST_DATA"/traces/megatron-tp8-rank[01].json.gz)
everything 2
for file in job.md job.html; do
    grep -q "Ranks against each other" "$work/2/$file" || fail "$file does not compare the ranks"
done
