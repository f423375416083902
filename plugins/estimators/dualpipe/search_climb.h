/* SPDX-License-Identifier: Apache-2.0 */
/* Local improvement of an order by small moves along its critical path. */
#ifndef DUALPIPE_SEARCH_CLIMB_H
#define DUALPIPE_SEARCH_CLIMB_H

#include "search_shop.h"

#include <stdatomic.h>

/* How many orders were timed, by all workers; for the progress shown. */
typedef struct pp_spent {
    atomic_uint_fast64_t n;
    uint64_t total;
} pp_spent;

typedef struct pp_climb {
    int64_t effort; /* orders to time at most */
    int64_t enough; /* ns: stops at this makespan */
    uint64_t seed;
    pp_spent *spent;
    int64_t tried;  /* added to: orders timed */
    uint64_t moves; /* added to: those that led to the best order */
} pp_climb;

static inline void pp_spend(mill_run *run, pp_spent *spent, uint64_t n) {
    mill_progress(run, atomic_fetch_add(&spent->n, n) + n, spent->total, "schedules");
}

/* Replaces the order by the best that was found, which is never worse. Ends early if the run is
 * cancelled. */
void pp_order_climb(pp_order *order, mill_run *run, const pp_shop *shop, pp_climb *climb);

#endif
