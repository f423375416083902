/* SPDX-License-Identifier: Apache-2.0 */
/* Reads columns of a trace a block at a time. */
#include <tracemill/kit/columns.h>

#include <string.h>

/* The rows of a segment from `first` on, at most n of them. */
static const void *piece_of(const mill_trace *trace, const mill_column *column, uint64_t first,
                            size_t n, size_t *ret_n) {
    uint64_t rows = (uint64_t)1 << column->seg_shift, left = rows - (first & (rows - 1));
    *ret_n = n < left ? n : (size_t)left;
    return mill_cell(trace, column, first);
}

#define WIDEN(type, unknown, wide_unknown)                                                         \
    for (size_t i = 0; i < n; i++) {                                                               \
        type value = ((const type *)from)[i];                                                      \
        to[i] = value == (unknown) ? (wide_unknown) : value;                                       \
    }

static void widen_i64(const void *from, uint32_t width, size_t n, int64_t *to) {
    switch (width) {
    case 8:
        memcpy(to, from, n * sizeof *to);
        break;
    case 4:
        WIDEN(int32_t, INT32_MIN, MILL_UNKNOWN);
        break;
    case 2:
        WIDEN(int16_t, INT16_MIN, MILL_UNKNOWN);
        break;
    default:
        WIDEN(int8_t, INT8_MIN, MILL_UNKNOWN);
    }
}

static void widen_u32(const void *from, uint32_t width, size_t n, uint32_t *to) {
    switch (width) {
    case 4:
        memcpy(to, from, n * sizeof *to);
        break;
    case 2:
        WIDEN(uint16_t, UINT16_MAX, MILL_NONE);
        break;
    default:
        WIDEN(uint8_t, UINT8_MAX, MILL_NONE);
    }
}

void kit_read_i64(const mill_trace *trace, const mill_column *column, uint64_t first, size_t n,
                  int64_t *ret_values) {
    if (column->width == 0)
        for (size_t i = 0; i < n; i++)
            ret_values[i] = MILL_UNKNOWN;
    for (size_t done = 0, piece; column->width && done < n; done += piece) {
        const void *from = piece_of(trace, column, first + done, n - done, &piece);
        widen_i64(from, column->width, piece, ret_values + done);
    }
}

void kit_read_u32(const mill_trace *trace, const mill_column *column, uint64_t first, size_t n,
                  uint32_t *ret_values) {
    if (column->width == 0)
        memset(ret_values, 0xff, n * sizeof *ret_values); /* MILL_NONE */
    for (size_t done = 0, piece; column->width && done < n; done += piece) {
        const void *from = piece_of(trace, column, first + done, n - done, &piece);
        widen_u32(from, column->width, piece, ret_values + done);
    }
}

void kit_read_u8(const mill_trace *trace, const mill_column *column, uint64_t first, size_t n,
                 uint8_t *ret_values) {
    for (size_t done = 0, piece; done < n; done += piece) {
        const void *from = piece_of(trace, column, first + done, n - done, &piece);
        memcpy(ret_values + done, from, piece);
    }
}
