/* SPDX-License-Identifier: Apache-2.0 */
/* Goals of searches with given durations, for tests. */
#ifndef DUALPIPE_TESTS_SEARCH_GOAL_H
#define DUALPIPE_TESTS_SEARCH_GOAL_H

#include "search.h"

typedef struct search_costs {
    int64_t forward, backward, input, weight, pair; /* of a device's whole share */
    int64_t latency, occupied, jitter;
    pp_comm comm;
    const int64_t *scale; /* of the rank's share, in tenths; or NULL */
} search_costs;

/* All families, with no limit of memory. */
pp_goal search_goal(const search_costs *costs, uint32_t ranks, uint32_t micro_batches,
                    uint32_t chunks);

/* Durations on a plan: the goal's function, `context` being search_costs. */
const pp_timing *search_timing(mill_run *run, void *context, const pp_plan *plan);

#endif
