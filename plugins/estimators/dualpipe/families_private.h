/* SPDX-License-Identifier: Apache-2.0 */
/* The families, each defined beside its order, and what their checks of sizes share. */
#ifndef DUALPIPE_FAMILIES_PRIVATE_H
#define DUALPIPE_FAMILIES_PRIVATE_H

#include "families.h"

extern const pp_family pp_gpipe, pp_1f1b, pp_interleaved, pp_eager_1f1b;
extern const pp_family pp_zb_h1, pp_zb_h2;
extern const pp_family pp_zb_v, pp_v_half, pp_v_min;
extern const pp_family pp_chimera, pp_hanayo;
extern const pp_family pp_dualpipe, pp_dualpipev;

static inline uint32_t pp_min(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static inline uint32_t pp_max(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* The nearest multiple of `of` that is not 0; the smaller one of two. */
uint32_t pp_multiple(uint32_t n, uint32_t of);

/* Of pp_family.takes: gives `nearest` back, and whether it is what was asked for. */
bool pp_answer(const pp_sizes *sizes, pp_sizes nearest, pp_sizes *ret_nearest);

/* The rule of families that run with any sizes but 0. */
bool pp_takes_any(const pp_sizes *sizes, pp_sizes *ret_nearest);

#endif
