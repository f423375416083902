/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of columns in segments. */
#include "trace_table.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

_Static_assert(TABLE_SEG_ROWS % TABLE_STAGED_ROWS == 0, "a block lies in one segment");

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

/* A little more than the rows take, so that a segment of the value, which has a head, can lie where
 * another one was. */
#define SPARE_BYTES 64

char *table_segment(size_t rows, size_t width) {
    return kit_realloc(NULL, rows * width + SPARE_BYTES, 1);
}

static void add_segment(table *t, size_t rows) {
    for (size_t f = 0; f < t->n_fields; f++) {
        t->segments[f] = kit_realloc(t->segments[f], t->n_segments + 1, sizeof(char *));
        t->segments[f][t->n_segments] = t->width[f] ? table_segment(rows, t->width[f]) : NULL;
    }
    if (t->filled) {
        t->filled = kit_realloc(t->filled, t->n_segments + 1, sizeof *t->filled);
        t->filled[t->n_segments] = TABLE_SEG_ROWS;
    }
    t->n_segments++;
    t->room += rows;
}

/* The first segment grows by doubling, so that a small table costs little. */
static void make_room(table *t) {
    if (t->n_segments != 1 || t->room == TABLE_SEG_ROWS) {
        add_segment(t, t->n_segments ? TABLE_SEG_ROWS : TABLE_STAGED_ROWS);
        return;
    }
    t->room *= 2;
    for (size_t f = 0; f < t->n_fields; f++)
        if (t->width[f])
            t->segments[f][0] =
                kit_realloc(t->segments[f][0], t->room * t->width[f] + SPARE_BYTES, 1);
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

void table_widen(table *t, size_t field, unsigned width, uint64_t limit) {
    size_t rows = table_segment_room(t);
    for (size_t s = 0; s < t->n_segments; s++) {
        uint64_t first = (uint64_t)s << TABLE_SEG_SHIFT;
        char *now = table_segment(rows, width);
        for (uint64_t i = first; i < limit && i < first + TABLE_SEG_ROWS; i = table_next(t, i))
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
        bits |= table_magnitude(f->kind, v);
    }
    return table_width_for(f->kind, bits, any);
}

/* Goes on when a value does not fit: rare, so that the loop need not look ahead. */
#define STORE_BLOCK(type, read, empty_in, empty_out)                                               \
    for (size_t i = 0; i < n; i++) {                                                               \
        int64_t v = read(t, f, i);                                                                 \
        bool empty = v == (empty_in), fits = (type)v == v && (type)v != (type)(empty_out);         \
        ((type *)(void *)to)[i] = (type)(empty ? (empty_out) : v);                                 \
        odd |= !(empty | fits);                                                                    \
    }

#define COPY_BLOCK(size)                                                                           \
    for (size_t i = 0; i < n; i++)                                                                 \
        memcpy(to + i * (size), t->staged + i * t->row_size + f->from, (size));

/* False: a value does not fit the column's width. */
static bool store_block(const table *t, size_t field, uint64_t first) {
    const table_field *f = &t->fields[field];
    size_t n = t->n_staged;
    bool odd = false;
    if (t->width[field] == 0)
        return needed_width(t, f) == 0;
    char *to = t->segments[field][first >> TABLE_SEG_SHIFT] +
               (first & (TABLE_SEG_ROWS - 1)) * t->width[field];
    switch (f->kind * 16u + t->width[field]) {
    case TABLE_FIXED * 16 + 1:
        COPY_BLOCK(1)
        break;
    case TABLE_FIXED * 16 + 2:
        COPY_BLOCK(2)
        break;
    case TABLE_FIXED * 16 + 8:
    case TABLE_INT * 16 + 8: /* unknown is the same there */
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
    case TABLE_REF * 16 + 1:
        STORE_BLOCK(uint8_t, staged_ref, MILL_NONE, UINT8_MAX)
        break;
    case TABLE_REF * 16 + 2:
        STORE_BLOCK(uint16_t, staged_ref, MILL_NONE, UINT16_MAX)
        break;
    case TABLE_REF * 16 + 4: /* none is the same there */
        COPY_BLOCK(4)
        break;
    default:
        break;
    }
    return !odd;
}

void table_flush(table *t) {
    uint64_t first = table_limit(t) - t->n_staged;
    if (t->n_staged == 0)
        return;
    if (table_limit(t) > t->room)
        make_room(t);
    for (size_t f = 0; f < t->n_fields; f++) {
        if (t->fields[f].from == TABLE_NOT_STAGED || store_block(t, f, first))
            continue;
        table_widen(t, f, needed_width(t, &t->fields[f]), first);
        store_block(t, f, first);
    }
    /* A block that is not full is staged again with the rows that follow: blocks stay aligned. */
    if (t->n_staged == TABLE_STAGED_ROWS)
        t->n_staged = 0;
}

void table_seal(table *t) {
    table_flush(t);
    t->n_staged = 0;
}

void table_shrink(table *t) {
    table_seal(t);
    free(t->staged);
    t->staged = NULL;
    if (t->n_segments != 1)
        return;
    t->room = t->n;
    for (size_t f = 0; f < t->n_fields; f++)
        if (t->width[f])
            t->segments[f][0] =
                kit_realloc(t->segments[f][0], t->room * t->width[f] + SPARE_BYTES, 1);
}

void table_row(const table *t, uint64_t row, void *ret_row) {
    for (size_t f = 0; f < t->n_fields; f++) {
        int64_t value = table_get(t, f, row);
        if (t->fields[f].from != TABLE_NOT_STAGED)
            memcpy((char *)ret_row + t->fields[f].from, &value, t->fields[f].size);
    }
}

void table_forget(table *t, size_t field) {
    for (size_t s = 0; s < t->n_segments; s++) {
        free(t->segments[field][s]);
        t->segments[field][s] = NULL;
    }
    t->width[field] = 0;
}

void table_begin(table *t, size_t field) {
    table_widen(t, field, sizeof(uint32_t), 0);
}

void table_end(table *t, size_t field) {
    uint64_t bits = 0;
    bool any = false;
    for (uint64_t i = 0; i < t->n; i++) {
        uint32_t value = *table_cell(t, field, i);
        bits |= value == MILL_NONE ? 0 : table_magnitude(TABLE_REF, value);
        any |= value != MILL_NONE;
    }
    unsigned width = table_width_for(TABLE_REF, bits, any);
    if (width == 0)
        table_forget(t, field);
    else if (width < sizeof(uint32_t))
        table_widen(t, field, width, t->n);
}

void table_set(table *t, size_t field, uint64_t row, int64_t value) {
    const table_field *f = &t->fields[field];
    bool empty = value == (f->kind == TABLE_INT ? MILL_UNKNOWN : (int64_t)MILL_NONE);
    unsigned width = empty ? 0 : table_width_for(f->kind, table_magnitude(f->kind, value), true);
    uint64_t staged_from = table_limit(t) - t->n_staged;
    if (row >= staged_from)
        memcpy(t->staged + (row - staged_from) * t->row_size + f->from, &value, f->size);
    if (t->n_staged)
        table_flush(t);
    if (f->kind != TABLE_FIXED && width > t->width[field])
        table_widen(t, field, width, table_limit(t));
    if (t->width[field])
        store(t->segments[field][row >> TABLE_SEG_SHIFT], t->width[field],
              row & (TABLE_SEG_ROWS - 1), encode(f->kind, t->width[field], value));
}

/* ---------------------------------------------------------------- the end */

void table_publish(table *t) {
    uint64_t n_segments = (t->n + TABLE_SEG_ROWS - 1) / TABLE_SEG_ROWS;
    table_flush(t);
    for (size_t f = 0; f < t->n_fields; f++)
        if (t->fields[f].to == 0)
            table_forget(t, f);
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
