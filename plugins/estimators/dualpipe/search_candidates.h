/* SPDX-License-Identifier: Apache-2.0 */
/* The families of a goal with all their parameters, and how long each of these plans takes. */
#ifndef DUALPIPE_SEARCH_CANDIDATES_H
#define DUALPIPE_SEARCH_CANDIDATES_H

#include "search.h"

typedef struct pp_candidate {
    const pp_family *family;
    pp_sizes sizes;
    const pp_plan *plan;
    const pp_timing *timing; /* NULL: not known for this plan */
    bool fits;               /* within the memory */
    int64_t makespan;        /* MILL_UNKNOWN: not known, or it does not run */
} pp_candidate;

typedef struct pp_candidates {
    pp_candidate *v; /* by families, then parameters */
    size_t n;
    pp_candidate *others; /* a plan of a size that each family runs with instead of the goal's, for
                           * those that refuse it but could place the same ranks and chunks */
    size_t n_others;
} pp_candidates;

/* Most chunks of this plan's kind that a rank may hold; INT64_MAX: no limit. */
int64_t pp_goal_most(const pp_goal *goal, const pp_plan *plan);

/* Most chunks that a rank of the plan holds. */
int64_t pp_most_live(mill_run *run, const pp_plan *plan, bool until_weight);

/* In the run's scratch. */
void pp_candidates_make(mill_run *run, const pp_goal *goal, pp_candidates *ret);
/* Simulates those that fit. Those that the effort does not allow are dropped. MILL_OK,
 * E_CANCELLED. */
mill_status pp_candidates_run(mill_run *run, const pp_goal *goal, pp_candidates *all);
/* "Eager 1F1B, warm-up +2" */
const char *pp_candidate_text(mill_run *run, const pp_candidate *c);

/* MILL_UNKNOWN: the plan does not run. [any thread] */
int64_t pp_makespan_of(const pp_plan *plan, const pp_timing *timing);

#endif
