/* SPDX-License-Identifier: Apache-2.0 */
/* Local improvement of an order by small moves along its critical path. */
#ifndef DUALPIPE_SEARCH_CLIMB_H
#define DUALPIPE_SEARCH_CLIMB_H

#include "search_shop.h"

typedef struct pp_climb {
    int64_t effort; /* orders to time at most */
    int64_t enough; /* ns: stops at this makespan */
    uint64_t seed;
    int64_t tried;   /* set: orders timed */
    uint64_t moves;  /* set: those that led to the best order */
} pp_climb;

/* Replaces the order by the best that was found, which is never worse. Ends early if the run is
 * cancelled. */
void pp_order_climb(pp_order *order, mill_run *run, const pp_shop *shop, pp_climb *climb);

#endif
