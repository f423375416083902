/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of detail: a row added up over bins of one width, exactly.
 *
 * Bin b holds the ticks [b·width, (b+1)·width). Nothing is sampled and no fraction arises: the
 * ticks of a class in all bins of any level add up to what it fills in the row.
 */
#ifndef HTML_LEVELS_H
#define HTML_LEVELS_H

#include "lanes.h"

/* What a class fills of a bin; or `run` bins that it fills whole, one after another. */
typedef struct levels_piece {
    uint64_t bin, run;
    uint32_t cls;
    uint64_t ticks; /* of each bin */
} levels_piece;

typedef void (*levels_take)(void *arg, const levels_piece *piece);

/* Calls take for all pieces, by bin and class; neighbouring whole bins of a class are one piece. */
void levels_walk(const lanes_row *row, const kinds *k, uint64_t width, levels_take take, void *arg);

/* ---------------------------------------------------------------- as bytes of a page */

/* Both forms are numbers of 7 bits a byte, low bits first, the top bit set in all bytes but the
 * last. */

/* Each interval: ticks since the end of the one before, duration, kind. */
void levels_exact(const lanes_row *row, GByteArray *bytes);

/* Each piece: 2·(bins since the last bin of the piece before) + 1 for whole bins, class, and then
 * how many bins are whole, or how many ticks are filled. `width` is in ticks. */
void levels_bins(const lanes_row *row, const kinds *k, uint64_t width, GByteArray *bytes);

/* The length of the latter. */
uint64_t levels_bins_size(const lanes_row *row, const kinds *k, uint64_t width);

/* The finest width, a power of two, with which the row takes at most `limit` bytes; 0 if none does.
 */
uint64_t levels_fit(const lanes_row *row, const kinds *k, int64_t span, uint64_t limit);

#endif
