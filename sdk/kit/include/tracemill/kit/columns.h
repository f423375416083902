/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a trace, read many rows at a time: how wide a column is gets asked once a block, not
 * once a row. What goes over all rows should read them this way. */
#ifndef TRACEMILL_KIT_COLUMNS_H
#define TRACEMILL_KIT_COLUMNS_H

#include <tracemill/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KIT_BLOCK 512 /* rows of a good block: what is read of it stays in the fastest cache */

/* Rows [first, first + n) of a column, as mill_i64, mill_u32 and mill_u8 give each. The table must
 * have them. */
void kit_read_i64(const mill_trace *trace, const mill_column *column, uint64_t first, size_t n,
                  int64_t *ret_values);
void kit_read_u32(const mill_trace *trace, const mill_column *column, uint64_t first, size_t n,
                  uint32_t *ret_values);
void kit_read_u8(const mill_trace *trace, const mill_column *column, uint64_t first, size_t n,
                 uint8_t *ret_values);

/* How many rows the block has that begins at `first`, in a table of n rows. */
static inline size_t kit_block_rows(uint64_t n, uint64_t first) {
    return n - first < KIT_BLOCK ? (size_t)(n - first) : KIT_BLOCK;
}

#ifdef __cplusplus
}
#endif
#endif
