/* SPDX-License-Identifier: Apache-2.0 */
/* A growing table of a mill.trace/1 value. Rows come in as structs, are staged, and are then turned
 * into columns a block at a time: one pass over each column finds how wide its values are, and a
 * tight loop stores them. Columns are as narrow as what they hold (trace.h), and are widened when a
 * wider value comes. They lie in fixed segments, which move into the value's memory at the end. */
#ifndef KIT_TRACE_TABLE_H
#define KIT_TRACE_TABLE_H

#include <tracemill/trace.h>

#define TABLE_FIELDS_MAX 16
#ifndef TABLE_SEG_SHIFT /* fuzzers have segments of a few rows, to reach their ends */
#define TABLE_SEG_SHIFT 16
#define TABLE_STAGED_ROWS 256 /* a block: stays in the first-level cache, divides a segment */
#endif

typedef enum table_kind {
    TABLE_FIXED, /* as wide as the member of the row: 1, 2 or 8 bytes */
    TABLE_INT,   /* int64: 0, 1, 2, 4 or 8 bytes; MILL_UNKNOWN is the least value of each width */
    TABLE_REF,   /* uint32: 0, 1, 2 or 4 bytes; MILL_NONE is the greatest */
} table_kind;

#define TABLE_NOT_STAGED                                                                           \
    SIZE_MAX /* `from` of a column that table_put fills when all rows are there */

/* A column: the member at `from` of the row struct, `size` bytes, published at `to` of the
 * mill_trace; to 0: a column of the builder's only. */
typedef struct table_field {
    table_kind kind;
    size_t from, size, to;
} table_field;

#define TABLE_FIELD(kind, row_type, member, column)                                                \
    {                                                                                              \
        kind, offsetof(row_type, member), sizeof(((row_type *)0)->member),                         \
            offsetof(mill_trace, column)                                                           \
    }
#define TABLE_HIDDEN(kind, row_type, member)                                                       \
    { kind, offsetof(row_type, member), sizeof(((row_type *)0)->member), 0 }
#define TABLE_LATER(kind, size, column)                                                            \
    { kind, TABLE_NOT_STAGED, size, offsetof(mill_trace, column) }

typedef struct table {
    mill_run *run;
    mill_trace *value;
    const table_field *fields;
    size_t n_fields, row_size;
    uint64_t n;      /* rows, those staged too */
    size_t n_staged; /* the last ones of them */
    size_t room;     /* rows that the segments hold */
    size_t n_segments;
    char *staged;
    uint8_t width[TABLE_FIELDS_MAX];
    char **segments[TABLE_FIELDS_MAX];
} table;

void table_init(table *t, mill_run *run, mill_trace *value, const table_field *fields,
                size_t n_fields, size_t row_size);
void table_finish(table *t);

/* Turns what is staged into columns. The functions below this one see only what has been. */
void table_flush(table *t);

/* The same, when no more rows come. */
void table_seal(table *t);

/* Room for one more row, to be filled before the next call. */
static inline void *table_append(table *t) {
    if (t->n_staged == TABLE_STAGED_ROWS)
        table_flush(t);
    t->n++;
    return t->staged + t->n_staged++ * t->row_size;
}

/* Values of a column that is not staged, one for each row. */
void table_put(table *t, size_t field, const uint32_t *values);

/* Changes one cell; a whole number, MILL_UNKNOWN or MILL_NONE. */
void table_set(table *t, size_t field, uint64_t row, int64_t value);

/* Keeps rows order[0], order[1], … of the table, in that order. */
void table_permute(table *t, const uint32_t *order, uint64_t n);

/* Moves the columns into the value. All that may follow is table_finish. */
void table_publish(table *t);

/* One cell, whatever its kind and width: a REF's MILL_NONE is UINT32_MAX. */
static inline int64_t table_get(const table *t, size_t field, uint64_t row) {
    uint64_t in_segment = row & (((uint64_t)1 << TABLE_SEG_SHIFT) - 1);
    unsigned width = t->width[field];
    bool ref = t->fields[field].kind != TABLE_INT;
    if (width == 0)
        return ref ? (int64_t)MILL_NONE : MILL_UNKNOWN;
    const char *at = t->segments[field][row >> TABLE_SEG_SHIFT] + in_segment * width;
    if (width == 8)
        return *(const int64_t *)(const void *)at;
    if (ref) {
        uint32_t v = width == 4   ? *(const uint32_t *)(const void *)at
                     : width == 2 ? *(const uint16_t *)(const void *)at
                                  : *(const uint8_t *)at;
        bool none = t->fields[field].kind == TABLE_REF && v == UINT32_MAX >> (32 - 8 * width);
        return none ? (int64_t)MILL_NONE : (int64_t)v;
    }
    int32_t v = width == 4   ? *(const int32_t *)(const void *)at
                : width == 2 ? *(const int16_t *)(const void *)at
                             : *(const int8_t *)at;
    return v == INT32_MIN >> (32 - 8 * width) ? MILL_UNKNOWN : v;
}

/* Order of rows a and b that have the same primary value: below, at, or above 0. */
typedef int (*table_compare)(const table *t, uint32_t a, uint32_t b);

/* Sorts n row numbers by a field, then by `tie` (NULL: then as they stand). A stable merge sort
 * that begins from the runs that are there, so that input in order costs one pass. Returns v or
 * what replaces it (v is then freed); malloc memory. */
uint32_t *table_sort(const table *t, size_t field, table_compare tie, uint32_t *v, uint64_t n);
/* All rows of the table, as an array to be freed. */
uint32_t *table_order(const table *t, size_t field, table_compare tie);

#endif
