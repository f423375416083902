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
#define TABLE_SEG_ROWS ((size_t)1 << TABLE_SEG_SHIFT)

typedef enum table_kind {
    TABLE_FIXED, /* as wide as the member of the row: 1, 2 or 8 bytes */
    TABLE_INT,   /* int64: 0, 1, 2, 4 or 8 bytes; MILL_UNKNOWN is the least value of each width */
    TABLE_REF,   /* uint32: 0, 1, 2 or 4 bytes; MILL_NONE is the greatest */
} table_kind;

#define TABLE_NOT_STAGED SIZE_MAX /* `from` of a column that is filled when all rows are there */

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
    uint64_t n;       /* rows, those staged too */
    size_t n_staged;  /* the last ones of them */
    uint64_t missing; /* row numbers that no row has, after table_join; until rows are moved */
    uint32_t *filled; /* rows in each segment, after table_join; else NULL */
    size_t room;      /* row numbers that the segments hold */
    size_t n_segments;
    char *staged;
    uint8_t width[TABLE_FIELDS_MAX];
    char **segments[TABLE_FIELDS_MAX];
} table;

/* Rows are known by their numbers, which run from 0 up; only table_join leaves numbers out. */
static inline uint64_t table_limit(const table *t) {
    return t->n + t->missing;
}

/* The row after a row; table_limit or more: there is none. */
static inline uint64_t table_next(const table *t, uint64_t row) {
    uint64_t segment = row >> TABLE_SEG_SHIFT;
    row++;
    bool skips = t->filled && (row & (TABLE_SEG_ROWS - 1)) >= t->filled[segment];
    return skips ? (segment + 1) << TABLE_SEG_SHIFT : row;
}

void table_init(table *t, mill_run *run, mill_trace *value, const table_field *fields,
                size_t n_fields, size_t row_size);
void table_finish(table *t);

/* Turns what is staged into columns. The functions below this one see only what has been. */
void table_flush(table *t);

/* The same, when no more rows come. */
void table_seal(table *t);

/* The same, and gives back the memory for rows that do not come. */
void table_shrink(table *t);

/* Room for one more row, to be filled before the next call. */
static inline void *table_append(table *t) {
    if (t->n_staged == TABLE_STAGED_ROWS)
        table_flush(t);
    t->n++;
    return t->staged + t->n_staged++ * t->row_size;
}

/* The bytes a row that values need which are not the empty one: `bits` is the magnitudes of all of
 * them, or-ed together. No width lies between that and the largest one, so that a column is as wide
 * whichever values were looked at together. any false: there are none. */
static inline uint64_t table_magnitude(table_kind kind, int64_t value) {
    return (uint64_t)(kind == TABLE_REF ? value + 1 : value < 0 ? -value : value);
}
unsigned table_width_for(table_kind kind, uint64_t bits, bool any);

/* Gives a column another number of bytes a row; the rows below `limit` keep what they hold. */
void table_widen(table *t, size_t field, unsigned width, uint64_t limit);

/* Changes one cell; a whole number, MILL_UNKNOWN or MILL_NONE. */
void table_set(table *t, size_t field, uint64_t row, int64_t value);

/* A column that is not staged: begun when all rows are there, then filled cell by cell, then ended.
 */
void table_begin(table *t, size_t field);
void table_end(table *t, size_t field);

static inline uint32_t *table_cell(const table *t, size_t field, uint64_t row) {
    return (uint32_t *)(void *)t->segments[field][row >> TABLE_SEG_SHIFT] +
           (row & (TABLE_SEG_ROWS - 1));
}

/* Frees a column; all its values are unknown then. */
void table_forget(table *t, size_t field);

/* Memory for so many rows of a column. */
char *table_segment(size_t rows, size_t width);

/* A row that was staged once, as the struct it came in. */
void table_row(const table *t, uint64_t row, void *ret_row);

/* Moves all rows of another table of the same fields behind those of this one: the segments
 * themselves, so that row numbers between the two stay unused. The other one is empty then.
 * maps[f], if not NULL: what the values of that REF become. In trace_join.c. */
void table_join(table *t, table *from, const uint32_t *const *maps);

/* Moves the columns into the value. All that may follow is table_finish. */
void table_publish(table *t);

/* How many rows each segment has memory for. */
static inline size_t table_segment_room(const table *t) {
    return t->n_segments == 1 ? t->room : TABLE_SEG_ROWS;
}

/* One cell, whatever its kind and width: a REF's MILL_NONE is UINT32_MAX. */
static inline int64_t table_get(const table *t, size_t field, uint64_t row) {
    uint64_t in_segment = row & (TABLE_SEG_ROWS - 1);
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

/* Rows of a sealed table, to be read a block at a time, for (table_block k = {0};
 * table_next_block(t, &k);). No block has a number in it that no row has. */
typedef struct table_block {
    uint64_t first;
    size_t n;
} table_block;

static inline bool table_next_block(const table *t, table_block *k) {
    k->first = k->n ? table_next(t, k->first + k->n - 1) : 0;
    if (k->first >= table_limit(t)) {
        k->n = 0;
        return false;
    }
    uint64_t rest = table_limit(t) - k->first;
    if (t->filled) { /* of the segment; the last one may be filled further than there are rows */
        uint64_t in_segment = k->first & (TABLE_SEG_ROWS - 1);
        uint64_t here = t->filled[k->first >> TABLE_SEG_SHIFT] - in_segment;
        rest = here < rest ? here : rest;
    }
    k->n = rest < TABLE_STAGED_ROWS ? (size_t)rest : TABLE_STAGED_ROWS;
    return true;
}

static inline void table_read(const table *t, size_t field, const table_block *k,
                              int64_t to[restrict TABLE_STAGED_ROWS]) {
    for (size_t i = 0; i < k->n; i++)
        to[i] = table_get(t, field, k->first + i);
}

/* ---------------------------------------------------------------- order (trace_order.c)
 * For sealed tables. All sorting is stable. Rows move a segment at a time, and a segment that all
 * rows have left is freed at once, so that beside the table there are only a few segments, and some
 * bytes for each row out of its place. What is in order costs one look. */

/* Order of rows a and b that have the same primary value: below, at, or above 0. */
typedef int (*table_compare)(const table *t, uint32_t a, uint32_t b);

/* Sorts the rows by a field, then by `tie` (NULL: then as they stand). */
void table_sort(table *t, size_t field, table_compare tie);

/* The same for row numbers alone: n of them, that rise. */
void table_sort_rows(const table *t, size_t field, table_compare tie, uint32_t *rows, uint64_t n);

/* Keeps rows order[0], order[1], … of the table, in that order. */
void table_permute(table *t, const uint32_t *order, uint64_t n);

/* Leaves out the rows whose bits are set. */
void table_drop(table *t, const uint64_t *bits);

static inline bool table_bit(const uint64_t *bits, uint64_t row) {
    return bits[row / 64] >> row % 64 & 1;
}

static inline void table_set_bit(uint64_t *bits, uint64_t row) {
    bits[row / 64] |= UINT64_C(1) << row % 64;
}

/* One bit, clear, for each row of a table; to be freed. */
uint64_t *table_bits(const table *t);

#endif
