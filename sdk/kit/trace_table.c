/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of columns in segments, and their sorting. */
#include "trace_table.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define SEGMENT_ROWS ((size_t)1 << TABLE_SEG_SHIFT)

_Static_assert(SEGMENT_ROWS % TABLE_STAGED_ROWS == 0, "a block lies in one segment");

void table_init(table *t, mill_run *run, mill_trace *value, const table_field *fields,
                size_t n_fields, size_t row_size) {
    *t = (table){.run = run,
                 .value = value,
                 .fields = fields,
                 .n_fields = n_fields,
                 .row_size = row_size,
                 .staged = kit_alloc(TABLE_STAGED_ROWS, row_size)};
    for (size_t f = 0; f < n_fields; f++)
        t->width[f] = fields[f].kind == TABLE_FIXED ? (uint8_t)fields[f].size : 0;
}

void table_finish(table *t) {
    for (size_t f = 0; f < t->n_fields; f++) {
        for (size_t s = 0; t->segments[f] && s < t->n_segments; s++)
            free(t->segments[f][s]);
        free(t->segments[f]);
    }
    free(t->staged);
    free(t->filled);
    *t = (table){0};
}

/* ---------------------------------------------------------------- room */

static size_t segment_room(const table *t) {
    return t->n_segments == 1 ? t->room : SEGMENT_ROWS;
}

static void add_segment(table *t, size_t rows) {
    for (size_t f = 0; f < t->n_fields; f++) {
        t->segments[f] = kit_realloc(t->segments[f], t->n_segments + 1, sizeof(char *));
        t->segments[f][t->n_segments] = t->width[f] ? kit_realloc(NULL, rows, t->width[f]) : NULL;
    }
    if (t->filled) {
        t->filled = kit_realloc(t->filled, t->n_segments + 1, sizeof *t->filled);
        t->filled[t->n_segments] = SEGMENT_ROWS;
    }
    t->n_segments++;
    t->room += rows;
}

/* The first segment grows by doubling, so that a small table costs little. */
static void make_room(table *t) {
    if (t->n_segments != 1 || t->room == SEGMENT_ROWS) {
        add_segment(t, t->n_segments ? SEGMENT_ROWS : TABLE_STAGED_ROWS);
        return;
    }
    t->room *= 2;
    for (size_t f = 0; f < t->n_fields; f++)
        if (t->width[f])
            t->segments[f][0] = kit_realloc(t->segments[f][0], t->room, t->width[f]);
}

/* ---------------------------------------------------------------- widths */

static void store(void *to, unsigned width, size_t i, int64_t value) {
    switch (width) {
    case 1:
        ((uint8_t *)to)[i] = (uint8_t)value;
        break;
    case 2:
        ((uint16_t *)to)[i] = (uint16_t)value;
        break;
    case 4:
        ((uint32_t *)to)[i] = (uint32_t)value;
        break;
    case 8:
        ((int64_t *)to)[i] = value;
        break;
    default:
        break;
    }
}

/* What stands in a column of that width for "unknown" and "none". */
static int64_t empty_of(table_kind kind, unsigned width) {
    if (kind == TABLE_REF)
        return (int64_t)(UINT32_MAX >> (32 - 8 * width));
    return width == 8 ? MILL_UNKNOWN : INT32_MIN >> (32 - 8 * width);
}

static int64_t encode(table_kind kind, unsigned width, int64_t value) {
    bool empty = kind == TABLE_REF   ? value == (int64_t)MILL_NONE
                 : kind == TABLE_INT ? value == MILL_UNKNOWN
                                     : false;
    return empty ? empty_of(kind, width) : value;
}

unsigned table_width_for(table_kind kind, uint64_t bits, bool any) {
    if (!any)
        return 0;
    if (kind == TABLE_REF)
        return bits <= UINT8_MAX ? 1 : bits <= UINT16_MAX ? 2 : 4;
    return bits <= INT8_MAX ? 1 : bits <= INT16_MAX ? 2 : bits <= INT32_MAX ? 4 : 8;
}

void table_widen(table *t, size_t field, unsigned width, uint64_t end) {
    size_t rows = segment_room(t);
    for (size_t s = 0; s < t->n_segments; s++) {
        uint64_t first = (uint64_t)s << TABLE_SEG_SHIFT;
        char *now = kit_realloc(NULL, rows, width);
        for (uint64_t i = first; i < end && i < first + SEGMENT_ROWS; i = table_next(t, i))
            store(now, width, i - first,
                  encode(t->fields[field].kind, width, table_get(t, field, i)));
        free(t->segments[field][s]);
        t->segments[field][s] = now;
    }
    t->width[field] = (uint8_t)width;
}

/* ---------------------------------------------------------------- blocks */

static int64_t staged_int(const table *t, const table_field *f, size_t i) {
    int64_t v;
    memcpy(&v, t->staged + i * t->row_size + f->from, sizeof v);
    return v;
}

static uint32_t staged_ref(const table *t, const table_field *f, size_t i) {
    uint32_t v;
    memcpy(&v, t->staged + i * t->row_size + f->from, sizeof v);
    return v;
}

/* How wide the staged values of a column are: magnitudes or-ed together. */
static unsigned needed_width(const table *t, const table_field *f) {
    uint64_t bits = 0;
    bool any = false;
    for (size_t i = 0; i < t->n_staged; i++) {
        int64_t v = f->kind == TABLE_INT ? staged_int(t, f, i) : staged_ref(t, f, i);
        if (v == (f->kind == TABLE_INT ? MILL_UNKNOWN : (int64_t)MILL_NONE))
            continue;
        any = true;
        bits |= table_bits(f->kind, v);
    }
    return table_width_for(f->kind, bits, any);
}

#define STORE_BLOCK(type, read, empty_in, empty_out)                                               \
    for (size_t i = 0; i < n; i++) {                                                               \
        int64_t v = read(t, f, i);                                                                 \
        ((type *)(void *)to)[i] = (type)(v == (empty_in) ? (empty_out) : v);                       \
    }

#define COPY_BLOCK(size)                                                                           \
    for (size_t i = 0; i < n; i++)                                                                 \
        memcpy(to + i * (size), t->staged + i * t->row_size + f->from, (size));

static void store_block(const table *t, size_t field, char *to) {
    const table_field *f = &t->fields[field];
    size_t n = t->n_staged;
    switch (f->kind * 16u + t->width[field]) {
    case TABLE_FIXED * 16 + 1:
        COPY_BLOCK(1)
        break;
    case TABLE_FIXED * 16 + 2:
        COPY_BLOCK(2)
        break;
    case TABLE_FIXED * 16 + 8:
        COPY_BLOCK(8)
        break;
    case TABLE_INT * 16 + 1:
        STORE_BLOCK(int8_t, staged_int, MILL_UNKNOWN, INT8_MIN)
        break;
    case TABLE_INT * 16 + 2:
        STORE_BLOCK(int16_t, staged_int, MILL_UNKNOWN, INT16_MIN)
        break;
    case TABLE_INT * 16 + 4:
        STORE_BLOCK(int32_t, staged_int, MILL_UNKNOWN, INT32_MIN)
        break;
    case TABLE_INT * 16 + 8:
        STORE_BLOCK(int64_t, staged_int, MILL_UNKNOWN, MILL_UNKNOWN)
        break;
    case TABLE_REF * 16 + 1:
        STORE_BLOCK(uint8_t, staged_ref, MILL_NONE, UINT8_MAX)
        break;
    case TABLE_REF * 16 + 2:
        STORE_BLOCK(uint16_t, staged_ref, MILL_NONE, UINT16_MAX)
        break;
    case TABLE_REF * 16 + 4:
        STORE_BLOCK(uint32_t, staged_ref, MILL_NONE, MILL_NONE)
        break;
    default:
        break; /* nothing known in it yet */
    }
}

void table_flush(table *t) {
    uint64_t first = table_end(t) - t->n_staged;
    if (t->n_staged == 0)
        return;
    if (table_end(t) > t->room)
        make_room(t);
    for (size_t f = 0; f < t->n_fields; f++) {
        if (t->fields[f].from == TABLE_NOT_STAGED)
            continue;
        if (t->fields[f].kind != TABLE_FIXED) {
            unsigned width = needed_width(t, &t->fields[f]);
            if (width > t->width[f])
                table_widen(t, f, width, first);
        }
        if (t->width[f])
            store_block(t, f,
                        t->segments[f][first >> TABLE_SEG_SHIFT] +
                            (first & (SEGMENT_ROWS - 1)) * t->width[f]);
    }
    /* A block that is not full is staged again with the rows that follow: blocks stay aligned. */
    if (t->n_staged == TABLE_STAGED_ROWS)
        t->n_staged = 0;
}

void table_seal(table *t) {
    table_flush(t);
    t->n_staged = 0;
}

void table_row(const table *t, uint64_t row, void *ret_row) {
    for (size_t f = 0; f < t->n_fields; f++) {
        int64_t value = table_get(t, f, row);
        if (t->fields[f].from != TABLE_NOT_STAGED)
            memcpy((char *)ret_row + t->fields[f].from, &value, t->fields[f].size);
    }
}

void table_put(table *t, size_t field, const uint32_t *values) {
    uint64_t bits = 0;
    bool any = false;
    for (uint64_t i = 0; i < t->n; i++)
        if (values[i] != MILL_NONE) {
            bits |= table_bits(TABLE_REF, values[i]);
            any = true;
        }
    table_widen(t, field, table_width_for(TABLE_REF, bits, any), 0);
    unsigned width = t->width[field];
    for (uint64_t i = 0; width && i < t->n; i++)
        store(t->segments[field][i >> TABLE_SEG_SHIFT], width, i & (SEGMENT_ROWS - 1),
              values[i] == MILL_NONE ? empty_of(TABLE_REF, width) : values[i]);
}

void table_set(table *t, size_t field, uint64_t row, int64_t value) {
    const table_field *f = &t->fields[field];
    bool empty = value == (f->kind == TABLE_INT ? MILL_UNKNOWN : (int64_t)MILL_NONE);
    unsigned width = empty ? 0 : table_width_for(f->kind, table_bits(f->kind, value), true);
    uint64_t staged_from = table_end(t) - t->n_staged;
    if (row >= staged_from)
        memcpy(t->staged + (row - staged_from) * t->row_size + f->from, &value, f->size);
    if (t->n_staged)
        table_flush(t);
    if (f->kind != TABLE_FIXED && width > t->width[field])
        table_widen(t, field, width, table_end(t));
    if (t->width[field])
        store(t->segments[field][row >> TABLE_SEG_SHIFT], t->width[field], row & (SEGMENT_ROWS - 1),
              encode(f->kind, t->width[field], value));
}

/* ---------------------------------------------------------------- order */

static void gather(const table *t, size_t field, const uint32_t *order, uint64_t first, uint64_t n,
                   char *to) {
    unsigned width = t->width[field];
    char *const *segments = t->segments[field];
#define GATHER(type)                                                                               \
    for (uint64_t i = first; i < n; i++)                                                           \
        ((type *)(void *)to)[i - first] =                                                          \
            ((const type *)(const void *)                                                          \
                 segments[order[i] >> TABLE_SEG_SHIFT])[order[i] & (SEGMENT_ROWS - 1)];
    if (width == 8)
        GATHER(int64_t)
    else if (width == 4)
        GATHER(uint32_t)
    else if (width == 2)
        GATHER(uint16_t)
    else
        GATHER(uint8_t)
#undef GATHER
}

void table_permute(table *t, const uint32_t *order, uint64_t n) {
    uint64_t same = 0;
    while (same < n && order[same] == same)
        same++;
    for (size_t f = 0; same < n && f < t->n_fields; f++) {
        size_t width = t->width[f];
        if (width == 0)
            continue;
        char *copy = kit_realloc(NULL, n - same, width);
        gather(t, f, order, same, n, copy);
        for (uint64_t i = same, end; i < n; i = end) {
            end = ((i >> TABLE_SEG_SHIFT) + 1) << TABLE_SEG_SHIFT;
            end = end < n ? end : n;
            memcpy(t->segments[f][i >> TABLE_SEG_SHIFT] + (i & (SEGMENT_ROWS - 1)) * width,
                   copy + (i - same) * width, (end - i) * width);
        }
        free(copy);
    }
    t->n = n;
    t->n_staged = 0;
    t->missing = 0;
    free(t->filled);
    t->filled = NULL;
}

void table_publish(table *t) {
    uint64_t n_segments = (t->n + SEGMENT_ROWS - 1) / SEGMENT_ROWS;
    table_flush(t);
    for (size_t f = 0; f < t->n_fields; f++) {
        if (t->fields[f].to == 0)
            continue;
        size_t width = t->width[f];
        mill_column *column = (mill_column *)(void *)((char *)t->value + t->fields[f].to);
        *column = (mill_column){.width = (uint32_t)width, .seg_shift = TABLE_SEG_SHIFT};
        if (n_segments == 0 || width == 0)
            continue;
        mill_off *offsets = mill_value_alloc(t->run, t->value, n_segments * sizeof(mill_off));
        column->segments = (mill_off)((uintptr_t)offsets - (uintptr_t)t->value);
        for (uint64_t s = 0; s < n_segments; s++) {
            size_t bytes = mill_segment_rows(column, t->n, s) * width;
            void *segment = mill_value_alloc(t->run, t->value, bytes);
            memcpy(segment, t->segments[f][s], bytes);
            offsets[s] = (mill_off)((uintptr_t)segment - (uintptr_t)t->value);
            free(t->segments[f][s]);
            t->segments[f][s] = NULL;
        }
    }
}

/* ---------------------------------------------------------------- sorting */

typedef struct sorting {
    const table *t;
    size_t field;
    char *const *wide; /* the field's segments, if it has eight bytes a row: times, above all */
    table_compare tie;
} sorting;

static inline int64_t key_of(const sorting *s, uint32_t row) {
    if (s->wide)
        return ((const int64_t *)(const void *)
                    s->wide[row >> TABLE_SEG_SHIFT])[row & (SEGMENT_ROWS - 1)];
    return table_get(s->t, s->field, row);
}

static inline bool in_order(const sorting *s, uint32_t a, uint32_t b) {
    int64_t x = key_of(s, a), y = key_of(s, b);
    if (x != y)
        return x < y;
    return !s->tie || s->tie(s->t, a, b) <= 0;
}

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

uint32_t *table_sort(const table *t, size_t field, table_compare tie, uint32_t *v, uint64_t n) {
    const sorting s = {t, field, t->width[field] == 8 ? t->segments[field] : NULL, tie};
    uint32_t *spare = NULL;
    while (n && run_end(&s, v, 0, n) < n) {
        if (!spare)
            spare = kit_realloc(NULL, n, sizeof *spare);
        for (uint64_t a = 0, b, end; a < n; a = end) {
            b = run_end(&s, v, a, n);
            end = b < n ? run_end(&s, v, b, n) : n;
            merge(&s, v, a, b, end, spare);
        }
        uint32_t *sorted = spare;
        spare = v;
        v = sorted;
    }
    free(spare);
    return v;
}

uint32_t *table_order(const table *t, size_t field, table_compare tie) {
    uint32_t *v = kit_realloc(NULL, t->n ? t->n : 1, sizeof *v);
    for (uint64_t i = 0, row = 0; i < t->n; i++, row = table_next(t, row))
        v[i] = (uint32_t)row;
    return table_sort(t, field, tie, v, t->n);
}
