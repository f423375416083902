/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the columns of a loaded mill.trace/1 hold what they may: who reads a trace relies on rows
 * that are there, on order, and on times that can be added. Each column is gone over once. */
#include <inttypes.h>
#include <string.h>

#include "types/trace.h"

#define BLOCK 512 /* rows: what is read of them stays in the fastest cache */

bool trace_width_fits(const trace_column *column, uint32_t width) {
    switch (column->kind) {
    case COLUMN_INT:
        return width == 0 || width == 1 || width == 2 || width == 4 || width == 8;
    case COLUMN_REF:
    case COLUMN_LENGTH:
        return width == 1 || width == 2 || width == 4;
    case COLUMN_REF_OR_NONE:
    case COLUMN_PARENT:
        return width == 0 || width == 1 || width == 2 || width == 4;
    case COLUMN_KIND:
        return width == 1;
    case COLUMN_ROW16:
        return width == 2;
    case COLUMN_WORD:
        return width == 8;
    case COLUMN_TEXT:
        return width == 0;
    }
    return false;
}

/* ---------------------------------------------------------------- cells */

/* The largest of n numbers, each with `plus` added: 1 turns MILL_NONE, the largest of every width,
 * into 0. No way out of the loop, so that it is a fast one. */
#define LARGEST(type)                                                                              \
    static uint64_t largest_##type(const type *v, uint64_t n, type plus) {                         \
        type largest = 0;                                                                          \
        for (uint64_t i = 0; i < n; i++) {                                                         \
            type number = (type)(v[i] + plus);                                                     \
            largest = number > largest ? number : largest;                                         \
        }                                                                                          \
        return largest;                                                                            \
    }
LARGEST(uint8_t)
LARGEST(uint16_t)
LARGEST(uint32_t)

static uint64_t largest(const void *cells, uint32_t width, uint64_t n, unsigned plus) {
    if (width == 4)
        return largest_uint32_t(cells, n, plus);
    if (width == 2)
        return largest_uint16_t(cells, n, (uint16_t)plus);
    return largest_uint8_t(cells, n, (uint8_t)plus);
}

/* Rows below `rows`; `none`: or MILL_NONE. */
static bool refs_fit(const void *cells, uint32_t width, uint64_t n, uint64_t rows, bool none) {
    uint64_t empty = UINT32_MAX >> (32 - 8 * width);
    if (none)
        return largest(cells, width, n, 1) <= rows;
    return largest(cells, width, n, 0) < MIN(rows, empty);
}

#define COUNT_LATE(type)                                                                           \
    for (uint64_t i = 0; i < n; i++)                                                               \
        late += (uint64_t)(type)(((const type *)cells)[i] + 1) > first + i;

static bool parents_fit(const void *cells, uint32_t width, uint64_t first, uint64_t n) {
    uint64_t late = 0;
    if (width == 4)
        COUNT_LATE(uint32_t)
    else if (width == 2)
        COUNT_LATE(uint16_t)
    else
        COUNT_LATE(uint8_t)
    return late == 0;
}

static bool kinds_fit(const uint8_t *cells, uint64_t n, uint8_t least, uint8_t most) {
    uint8_t range = (uint8_t)(most - least);
    return largest_uint8_t(cells, n, (uint8_t)-least) <= range;
}

bool trace_cells_fit(const mill_trace *t, const trace_column *column, uint32_t width,
                     const void *cells, uint64_t first, uint64_t n) {
    switch (column->kind) {
    case COLUMN_REF:
        return refs_fit(cells, width, n, trace_rows(t, column->rows), false);
    case COLUMN_REF_OR_NONE:
    case COLUMN_ROW16:
        return refs_fit(cells, width, n, trace_rows(t, column->rows), true);
    case COLUMN_LENGTH:
        return refs_fit(cells, width, n, UINT32_MAX, false);
    case COLUMN_PARENT:
        return parents_fit(cells, width, first, n);
    case COLUMN_KIND:
        return kinds_fit(cells, n, column->least, column->most);
    default:
        return true;
    }
}

/* ---------------------------------------------------------------- times */

#define WIDEN(type, unknown)                                                                       \
    for (uint64_t i = 0; i < n; i++) {                                                             \
        type value = ((const type *)from)[i];                                                      \
        to[i] = value == (unknown) ? MILL_UNKNOWN : value;                                         \
    }

/* Rows of one segment. */
static void read_ints(const mill_trace *t, const mill_column *c, uint64_t first, uint64_t n,
                      int64_t *to) {
    const void *from = c->width ? mill_cell(t, c, first) : NULL;
    switch (c->width) {
    case 8:
        memcpy(to, from, n * sizeof *to);
        break;
    case 4:
        WIDEN(int32_t, INT32_MIN)
        break;
    case 2:
        WIDEN(int16_t, INT16_MIN)
        break;
    case 1:
        WIDEN(int8_t, INT8_MIN)
        break;
    default:
        for (uint64_t i = 0; i < n; i++)
            to[i] = MILL_UNKNOWN;
    }
}

typedef struct row_time {
    int64_t start, end;
} row_time;

static bool in_order(row_time before, row_time now, trace_times times) {
    if (now.start != before.start)
        return now.start > before.start;
    if (times == TIMES_SHORTEST_FIRST)
        return now.end >= before.end;
    return times != TIMES_LONGEST_FIRST || now.end <= before.end;
}

static bool check_block(reader *r, const trace_table *table, const int64_t *start,
                        const int64_t *dur, uint64_t first, uint64_t n, row_time *before) {
    for (uint64_t i = 0; i < n; i++) {
        bool lacks = table->times == TIMES_MAY_LACK_LENGTH && dur[i] == MILL_UNKNOWN;
        row_time now = {start[i], start[i]};
        if (start[i] == MILL_UNKNOWN ||
            (!lacks && (dur[i] < 0 || __builtin_add_overflow(start[i], dur[i], &now.end))))
            return reader_wrong(r,
                                "row %" PRIu64 " of %s starts at %" PRId64 " ns and lasts %" PRId64,
                                first + i, table->name, start[i], dur[i]);
        if (first + i > 0 && !in_order(*before, now, table->times))
            return reader_wrong(r, "row %" PRIu64 " of %s should stand before the one above it",
                                first + i, table->name);
        *before = now;
    }
    return true;
}

/* How many rows from `first` on lie in one segment of the column. */
static uint64_t in_segment(const mill_column *c, uint64_t first) {
    uint64_t rows = (uint64_t)1 << c->seg_shift;
    return rows - (first & (rows - 1));
}

bool trace_check_times(reader *r, const mill_trace *t, const trace_table *table) {
    uint64_t rows = trace_rows(t, table->at), n;
    const mill_column *start = trace_column_at(t, table, 0), *dur = trace_column_at(t, table, 1);
    int64_t starts[BLOCK], durs[BLOCK];
    row_time before = {0};
    for (uint64_t first = 0; first < rows; first += n) {
        n = MIN(MIN(BLOCK, rows - first), MIN(in_segment(start, first), in_segment(dur, first)));
        read_ints(t, start, first, n, starts);
        read_ints(t, dur, first, n, durs);
        if (!check_block(r, table, starts, durs, first, n, &before))
            return false;
    }
    return true;
}
