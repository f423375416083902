/* SPDX-License-Identifier: Apache-2.0 */
/* The best schedule for given durations and memory: all families with their parameters, then orders
 * of our own, and how far from the lower bound the result is. */
#ifndef DUALPIPE_SEARCH_H
#define DUALPIPE_SEARCH_H

#include "forms.h"
#include "sim.h"

typedef struct pp_goal {
    const pp_family *const *families; /* candidates, NULL-terminated */
    pp_sizes sizes;                   /* ranks, micro_batches; `chunks`: the most to try */
    /* The timing of a plan: durations are of a device's whole share of the model, a plan with v
     * chunks a rank gets 1/v of them. Called for each candidate. */
    const pp_timing *(*timing)(mill_run *run, void *context, const pp_plan *plan);
    void *context;
    int64_t memory;    /* most chunks-worth of activations a rank may hold, in millionths of a
                        * device's whole share of one micro-batch (so that V's halves count half);
                        * MILL_UNKNOWN: no limit */
    bool until_weight; /* which of the two rules */
    bool split;        /* may split B into Bi and W */
    int64_t effort;    /* simulations at most */
    uint64_t seed;
} pp_goal;

typedef struct pp_found {
    const pp_plan *plan; /* NULL: nothing fits */
    const char *how;     /* "eager 1F1B, warm-up +2", "1F1B, then 3 swaps" */
    int64_t makespan;
    pp_bound bound; /* over all candidates: the least */
    bool proven;    /* the makespan is the bound, or every order was tried */
    int64_t tried;  /* plans simulated */
} pp_found;

/* MILL_OK, E_CANCELLED. The same result for any number of jobs. */
mill_status pp_search(mill_run *run, const pp_goal *goal, pp_found *ret_found);

#endif
