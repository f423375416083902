/* SPDX-License-Identifier: Apache-2.0 */
/* A growing table of a mill.trace/1 value: rows come in as structs and lie in columns of fixed
 * segments, which move into the value's memory one by one at the end. */
#ifndef KIT_TRACE_TABLE_H
#define KIT_TRACE_TABLE_H

#include <tracemill/trace.h>

#define TABLE_SEG_SHIFT 16
#define TABLE_FIELDS_MAX 16

/* A column: `width` bytes at `from` of the row struct, published at `to` of the mill_trace; to 0: a
 * column of the builder's only. */
typedef struct table_field {
    size_t from, width, to;
} table_field;

#define TABLE_FIELD(row_type, member, column)                                                      \
    { offsetof(row_type, member), sizeof(((row_type *)0)->member), offsetof(mill_trace, column) }
#define TABLE_HIDDEN(row_type, member)                                                             \
    { offsetof(row_type, member), sizeof(((row_type *)0)->member), 0 }

typedef struct table {
    mill_run *run;
    mill_trace *value;
    const table_field *fields;
    size_t n_fields, n_segments, room; /* room: rows of all segments */
    uint64_t n;
    char **segments[TABLE_FIELDS_MAX];
} table;

void table_init(table *t, mill_run *run, mill_trace *value, const table_field *fields,
                size_t n_fields);
void table_finish(table *t);

void table_append(table *t, const void *row);

/* Keeps rows order[0], order[1], … of the table, in that order. */
void table_permute(table *t, const uint32_t *order, uint64_t n);

/* Moves the columns into the value. All that may follow is table_finish. */
void table_publish(table *t);

static inline void *table_cell(const table *t, size_t field, uint64_t row) {
    uint64_t in_segment = row & (((uint64_t)1 << TABLE_SEG_SHIFT) - 1);
    return t->segments[field][row >> TABLE_SEG_SHIFT] + in_segment * t->fields[field].width;
}
static inline int64_t table_i64(const table *t, size_t field, uint64_t row) {
    return *(const int64_t *)table_cell(t, field, row);
}
static inline uint32_t table_u32(const table *t, size_t field, uint64_t row) {
    return *(const uint32_t *)table_cell(t, field, row);
}

/* Order of rows a and b: below, at, or above 0. */
typedef int (*table_compare)(const table *t, uint32_t a, uint32_t b);

/* The rows in order, as an array to be freed: a stable merge sort that begins from the runs that
 * are there, so that sorted input costs one pass. */
uint32_t *table_order(const table *t, table_compare compare);

#endif
