/* SPDX-License-Identifier: Apache-2.0 */
/* The best schedule for given durations and memory, and how far from the lower bound it is.
 *
 * All families with all their parameters come first. Then, on the placements of these families
 * (also of those that don't run with just this number of micro-batches), orders of our own: by list
 * scheduling, and by moves from the best of all. Where a pipeline is tiny all orders are gone
 * through. Of schedules that are equally short the one that holds less is taken, and a family
 * before an order of our own.
 */
#ifndef DUALPIPE_SEARCH_H
#define DUALPIPE_SEARCH_H

#include "forms.h"
#include "sim.h"

typedef struct pp_goal {
    const pp_family *const *families; /* candidates, NULL-terminated */
    pp_sizes sizes; /* ranks, micro_batches; `chunks`: most chunks of a rank, so that with 1 there
                     * are no V's and no two directions */
    /* The timing of a plan: durations are of a device's whole share of the model, a plan with v
     * chunks a rank gets 1/v of them. Called for each candidate; NULL: not known for this plan. */
    const pp_timing *(*timing)(mill_run *run, void *context, const pp_plan *plan);
    void *context;
    int64_t memory;    /* most chunks-worth of activations a rank may hold, in millionths of a
                        * device's whole share of one micro-batch (so that V's halves count half);
                        * MILL_UNKNOWN: no limit */
    bool until_weight; /* which of the two rules */
    bool split;        /* may split B into Bi and W */
    int64_t effort;    /* plans and orders that are timed, at most */
    uint64_t seed;
} pp_goal;

typedef struct pp_found {
    const pp_plan *plan; /* NULL: nothing fits */
    const char *how;     /* "Eager 1F1B, warm-up +2", "ZB-V; then 762 moves" */
    int64_t makespan;
    pp_bound bound; /* of all placements that were tried the least, the limit of memory included */
    bool proven;    /* no order on these placements is shorter: by the bound, or all were tried */
    int64_t tried;  /* plans and orders timed */
} pp_found;

/* MILL_OK, E_CANCELLED. The same result for any number of jobs. Orders of our own are sought
 * without jitter, and as if transfers never blocked; which of them is the best is decided with
 * both. */
mill_status pp_search(mill_run *run, const pp_goal *goal, pp_found *ret_found);

#endif
