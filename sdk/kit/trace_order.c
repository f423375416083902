/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a table's rows: sorting them, and leaving some out.
 *
 * Profiles are nearly in order: a parent comes behind its children, a queue is written late. So
 * sorting is a split into the rows that follow each other and those out of place ("late"), which
 * are sorted by themselves and merged in, as in E. Ernerfeldt's drop-merge sort
 * (github.com/emilk/drop-merge-sort, 2017). */
#include "trace_table.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

/* ---------------------------------------------------------------- moving rows */

/* Writes the numbers of the next n rows. */
typedef void (*next_rows)(void *arg, uint32_t *rows, size_t n);

static void gather(const table *t, size_t field, const uint32_t *rows, size_t n, void *to) {
    char *const *segments = t->segments[field];
#define GATHER(type)                                                                               \
    for (size_t i = 0; i < n; i++)                                                                 \
        ((type *)to)[i] =                                                                          \
            ((const type *)(const void *)                                                          \
                 segments[rows[i] >> TABLE_SEG_SHIFT])[rows[i] & (TABLE_SEG_ROWS - 1)];
    switch (t->width[field]) {
    case 8:
        GATHER(int64_t)
        break;
    case 4:
        GATHER(uint32_t)
        break;
    case 2:
        GATHER(uint16_t)
        break;
    default:
        GATHER(uint8_t)
    }
#undef GATHER
}

typedef struct rewriting {
    table *t;
    uint32_t *left;                    /* rows of each old segment that have not moved */
    char **segments[TABLE_FIELDS_MAX]; /* new ones */
} rewriting;

static void free_segment(table *t, uint64_t s) {
    for (size_t f = 0; f < t->n_fields; f++) {
        free(t->segments[f][s]);
        t->segments[f][s] = NULL;
    }
}

/* Whether segment s stays what it is. */
static bool stays(const rewriting *w, uint64_t s, const uint32_t *rows, size_t n) {
    uint32_t first = (uint32_t)(s << TABLE_SEG_SHIFT);
    if (n != w->left[s])
        return false;
    for (size_t i = 0; i < n; i++)
        if (rows[i] != first + i)
            return false;
    return true;
}

static void write_segment(rewriting *w, uint64_t s, const uint32_t *rows, size_t n) {
    table *t = w->t;
    if (stays(w, s, rows, n)) {
        for (size_t f = 0; f < t->n_fields; f++) {
            w->segments[f][s] = t->segments[f][s];
            t->segments[f][s] = NULL;
        }
        return;
    }
    for (size_t f = 0; f < t->n_fields; f++) {
        if (t->width[f] == 0)
            continue;
        w->segments[f][s] = table_segment(table_segment_room(t), t->width[f]);
        gather(t, f, rows, n, w->segments[f][s]);
    }
    for (size_t i = 0; i < n; i++)
        if (--w->left[rows[i] >> TABLE_SEG_SHIFT] == 0)
            free_segment(t, rows[i] >> TABLE_SEG_SHIFT);
}

static void rewrite(table *t, uint64_t n, next_rows next, void *arg) {
    rewriting w = {.t = t, .left = kit_realloc(NULL, t->n_segments, sizeof *w.left)};
    size_t n_segments = (size_t)((n + TABLE_SEG_ROWS - 1) >> TABLE_SEG_SHIFT);
    uint32_t *rows = kit_realloc(NULL, n < TABLE_SEG_ROWS ? n : TABLE_SEG_ROWS, sizeof *rows);
    for (uint64_t s = 0, left = t->n; s < t->n_segments; s++) {
        w.left[s] = (uint32_t)(left < TABLE_SEG_ROWS ? left : TABLE_SEG_ROWS);
        if (t->filled)
            w.left[s] = t->filled[s];
        left -= w.left[s];
    }
    for (size_t f = 0; f < t->n_fields; f++)
        w.segments[f] = kit_alloc(n_segments, sizeof(char *));
    for (uint64_t s = 0; s < n_segments; s++) {
        uint64_t in_it = n - (s << TABLE_SEG_SHIFT);
        in_it = in_it < TABLE_SEG_ROWS ? in_it : TABLE_SEG_ROWS;
        next(arg, rows, (size_t)in_it);
        write_segment(&w, s, rows, (size_t)in_it);
    }
    size_t room = table_segment_room(t);
    for (uint64_t s = 0; s < t->n_segments; s++)
        free_segment(t, s);
    for (size_t f = 0; f < t->n_fields; f++) {
        free(t->segments[f]);
        t->segments[f] = w.segments[f];
    }
    t->n = n;
    t->missing = 0;
    free(t->filled);
    t->filled = NULL;
    t->n_segments = n_segments;
    t->room = n_segments * room;
    free(rows);
    free(w.left);
}

static void next_of_order(void *arg, uint32_t *rows, size_t n) {
    const uint32_t **order = arg;
    memcpy(rows, *order, n * sizeof *rows);
    *order += n;
}

void table_permute(table *t, const uint32_t *order, uint64_t n) {
    rewrite(t, n, next_of_order, &order);
}

/* ---------------------------------------------------------------- comparing */

typedef struct sorting {
    const table *t;
    size_t field;
    char *const *wide; /* the field's segments, if it has eight bytes a row: times, above all */
    table_compare tie;
} sorting;

static sorting sorting_by(const table *t, size_t field, table_compare tie) {
    return (sorting){t, field, t->width[field] == 8 ? t->segments[field] : NULL, tie};
}

static inline int64_t key_of(const sorting *s, uint32_t row) {
    if (s->wide)
        return ((const int64_t *)(const void *)
                    s->wide[row >> TABLE_SEG_SHIFT])[row & (TABLE_SEG_ROWS - 1)];
    return table_get(s->t, s->field, row);
}

/* No two rows are alike: of those with equal values the one that stands first is first. */
static bool in_order(const sorting *s, uint32_t a, uint32_t b) {
    int64_t x = key_of(s, a), y = key_of(s, b);
    if (x != y)
        return x < y;
    int tie = s->tie ? s->tie(s->t, a, b) : 0;
    return tie ? tie < 0 : a < b;
}

/* ---------------------------------------------------------------- row numbers */

/* Where the run that begins at `from` ends. */
static uint64_t run_end(const sorting *s, const uint32_t *v, uint64_t from, uint64_t n) {
    uint64_t i = from + 1;
    while (i < n && in_order(s, v[i - 1], v[i]))
        i++;
    return i;
}

/* Merges the runs [a, b) and [b, end) of v into the same place of `to`. */
static void merge(const sorting *s, const uint32_t *v, uint64_t a, uint64_t b, uint64_t end,
                  uint32_t *to) {
    uint64_t left = a, right = b;
    for (uint64_t i = a; i < end; i++) {
        bool from_left = left < b && (right == end || in_order(s, v[left], v[right]));
        to[i] = from_left ? v[left++] : v[right++];
    }
}

/* For rows in any order: begins from the runs that are there. */
static void merge_sort(const sorting *s, uint32_t *v, uint64_t n) {
    uint32_t *spare = kit_realloc(NULL, n, sizeof *spare), *from = v, *to = spare;
    while (run_end(s, from, 0, n) < n) {
        for (uint64_t a = 0, b, end; a < n; a = end) {
            b = run_end(s, from, a, n);
            end = b < n ? run_end(s, from, b, n) : n;
            merge(s, from, a, b, end, to);
        }
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != v)
        memcpy(v, from, n * sizeof *v);
    free(spare);
}

/* Merges v[0..n_v), which has room for both, with late[0..n). */
static void merge_late(const sorting *s, uint32_t *v, uint64_t n_v, const uint32_t *late,
                       uint64_t n) {
    for (uint64_t to = n_v + n; n > 0;) {
        bool from_late = n_v == 0 || in_order(s, v[n_v - 1], late[n - 1]);
        v[--to] = from_late ? late[--n] : v[--n_v];
    }
}

static void sort_nearly_sorted(const sorting *s, uint32_t *v, uint64_t n) {
    uint32_t *late = NULL;
    uint64_t kept = 0, n_late = 0, room = 0;
    int64_t last_key = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t row = v[i];
        int64_t key = key_of(s, row);
        if (kept > 0 && key <= last_key && !in_order(s, v[kept - 1], row)) {
            if (n_late == room) {
                room = room ? 2 * room : 64;
                late = kit_realloc(late, room, sizeof *late);
            }
            /* If it fits behind the last but one, the last is the one out of place. */
            bool fits = kept == 1 || in_order(s, v[kept - 2], row);
            late[n_late++] = fits ? v[--kept] : row;
            if (!fits)
                continue;
        }
        v[kept++] = row;
        last_key = key;
    }
    if (n_late > n / 2)
        merge_sort(s, late, n_late);
    else if (n_late > 0)
        sort_nearly_sorted(s, late, n_late);
    merge_late(s, v, kept, late, n_late);
    free(late);
}

void table_sort_rows(const table *t, size_t field, table_compare tie, uint32_t *rows, uint64_t n) {
    const sorting s = sorting_by(t, field, tie);
    sort_nearly_sorted(&s, rows, n);
}

/* ---------------------------------------------------------------- tables */

uint64_t *table_bits(const table *t) {
    return kit_alloc(table_limit(t) / 64 + 1, sizeof(uint64_t));
}

/* All rows in their order, but for those marked; `late` is merged in. */
typedef struct merging {
    sorting by;
    const uint64_t *marked;
    const uint32_t *late;
    uint64_t n_late, at;
} merging;

static void next_merged(void *arg, uint32_t *rows, size_t n) {
    merging *m = arg;
    for (size_t i = 0; i < n; i++) {
        const table *t = m->by.t;
        while (m->at < table_limit(t) && table_bit(m->marked, m->at))
            m->at = table_next(t, m->at);
        bool late = m->n_late > 0 &&
                    (m->at >= table_limit(t) || in_order(&m->by, *m->late, (uint32_t)m->at));
        rows[i] = late ? *m->late++ : (uint32_t)m->at;
        m->at = late ? m->at : table_next(t, m->at);
        m->n_late -= late;
    }
}

static uint64_t count_bits(const uint64_t *bits, uint64_t n) {
    uint64_t count = 0;
    for (uint64_t i = 0; i <= n / 64; i++)
        count += (unsigned)__builtin_popcountll(bits[i]);
    return count;
}

void table_drop(table *t, const uint64_t *bits) {
    merging m = {.by = {.t = t}, .marked = bits};
    rewrite(t, t->n - count_bits(bits, table_limit(t)), next_merged, &m);
}

/* Marks the rows out of place; NULL: there are none. */
static uint64_t *mark_late(const sorting *s) {
    const table *t = s->t;
    uint64_t *marked = NULL;
    uint32_t before = MILL_NONE, last = MILL_NONE; /* the last two that are in their place */
    int64_t keys[TABLE_STAGED_ROWS], last_key = 0;
    for (table_block k = {0}; table_next_block(t, &k);) {
        table_read(t, s->field, &k, keys);
        for (size_t i = 0; i < k.n; i++) {
            uint32_t row = (uint32_t)(k.first + i);
            if (last == MILL_NONE || keys[i] > last_key || in_order(s, last, row)) {
                before = last;
            } else {
                if (!marked)
                    marked = table_bits(t);
                /* As in sort_nearly_sorted. */
                bool fits = before == MILL_NONE || in_order(s, before, row);
                table_set_bit(marked, fits ? last : row);
                if (!fits)
                    continue;
            }
            last = row;
            last_key = keys[i];
        }
    }
    return marked;
}

void table_sort(table *t, size_t field, table_compare tie) {
    merging m = {.by = sorting_by(t, field, tie)};
    uint64_t *marked = mark_late(&m.by), n = 0;
    if (!marked && !t->filled)
        return;
    if (!marked) /* in order, but with gaps */
        marked = table_bits(t);
    m.n_late = count_bits(marked, table_limit(t));
    uint32_t *late = kit_realloc(NULL, m.n_late, sizeof *late);
    for (uint64_t row = 0; row < table_limit(t); row++)
        if (table_bit(marked, row))
            late[n++] = (uint32_t)row;
    sort_nearly_sorted(&m.by, late, n);
    m.marked = marked;
    m.late = late;
    rewrite(t, t->n, next_merged, &m);
    free(marked);
    free(late);
}
