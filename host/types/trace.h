/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads mill.trace/1. A save holds the struct, with 0 or 1 for offsets of columns and
 * numbers for those of texts (writing.h), then table by table the segments of the columns, as they
 * lie in memory. Texts of a table lie behind its columns, one after another: where each lies
 * follows from their lengths. What is loaded has the struct and the offsets in memory of its own;
 * segments and texts stay in the source. */
#ifndef HOST_TYPES_TRACE_H
#define HOST_TYPES_TRACE_H

#include <tracemill/trace.h>

#include "types/reading.h"

#define TRACE_LEAST_SIZE 1576 /* of the struct in ABI 1.0, the same for all pointers */

mill_status trace_save(mill_run *run, const void *data, mill_sink *sink);
mill_status trace_load(mill_run *run, mill_source *source, void **ret_data);

/* ---------------------------------------------------------------- tables */

typedef enum column_kind {
    COLUMN_INT,         /* int64, as narrow as its values allow */
    COLUMN_REF,         /* uint32, likewise: row of a table */
    COLUMN_REF_OR_NONE, /* or MILL_NONE */
    COLUMN_PARENT,      /* uint32, likewise: an earlier row of its table, or MILL_NONE */
    COLUMN_LENGTH,      /* uint32, likewise: bytes of a text */
    COLUMN_KIND,        /* uint8 enumerator */
    COLUMN_ROW16,       /* uint16 row of a table, or UINT16_MAX */
    COLUMN_WORD,        /* of 8 bytes, any of them */
    COLUMN_TEXT,        /* mill_off of a text: not saved */
} column_kind;

typedef struct trace_column {
    const char *name;
    column_kind kind;
    uint8_t least, most; /* KIND */
    size_t rows;         /* REF, ROW16: where the mill_trace has the number of rows there are */
} trace_column;

/* What the columns `start` and `dur`, the first two, promise beside an order by start. */
typedef enum trace_times {
    TIMES_NONE, /* there are none */
    TIMES_BY_START,
    TIMES_SHORTEST_FIRST, /* of those that start at once */
    TIMES_LONGEST_FIRST,
    TIMES_MAY_LACK_LENGTH, /* by start; dur may be MILL_UNKNOWN */
} trace_times;

/* A table: a number of rows at `at`, then its columns. */
typedef struct trace_table {
    const char *name;
    size_t at, n;
    const trace_column *columns;
    trace_times times;
} trace_table;

extern const trace_table trace_tables[];
extern const size_t trace_n_tables;

static inline uint64_t trace_rows(const mill_trace *t, size_t at) {
    return *(const uint64_t *)(const void *)((const char *)t + at);
}

static inline mill_column *trace_column_at(const mill_trace *t, const trace_table *table,
                                           size_t i) {
    return (mill_column *)((uintptr_t)t + table->at + sizeof(uint64_t) + i * sizeof(mill_column));
}

/* Whether a trace of that size has the table. */
static inline bool trace_has(const trace_table *table, uint32_t size) {
    return table->at + sizeof(uint64_t) + table->n * sizeof(mill_column) <= size;
}

static inline uint64_t trace_segments(const mill_column *c, uint64_t n) {
    return (n >> c->seg_shift) + ((n & (((uint64_t)1 << c->seg_shift) - 1)) != 0);
}

/* Whether a column may have so many bytes a row where there are rows. */
bool trace_width_fits(const trace_column *column, uint32_t width);
/* Whether n cells, of row `first` and those after it, hold what they may. */
bool trace_cells_fit(const mill_trace *t, const trace_column *column, uint32_t width,
                     const void *cells, uint64_t first, uint64_t n);
/* Checks order and lengths. False: told by reader_wrong. */
bool trace_check_times(reader *r, const mill_trace *t, const trace_table *table);

#endif
