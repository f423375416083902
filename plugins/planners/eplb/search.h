/* SPDX-License-Identifier: Apache-2.0 */
/* A better plan for a layer, and how far from the best any plan can be. */
#ifndef EPLB_SEARCH_H
#define EPLB_SEARCH_H

#include "layer.h"

/* Whether every expert gets a slot under a policy, on the GPUs that have not failed, and groups are
 * as many on every node where they have to be. The search takes no other shape. */
bool ep_search_fits(const ep_shape *shape, ep_policy policy);

typedef enum ep_effort {
    EP_SEARCH_NONE, /* the start as it is; without one, a plan as eplb.py makes them */
    EP_SEARCH_FAST, /* about a millisecond for 288 slots */
    EP_SEARCH_BEST, /* some tens of them */
} ep_effort;

typedef struct ep_goal {
    ep_policy policy;
    ep_objective objective;
    ep_effort effort;
    double cap;              /* EP_SOFT_NODES: the largest value over the mean GPU load */
    const int32_t *start;    /* a plan that the result is never worse than, if it keeps the rules;
                              * or NULL */
    const int32_t *previous; /* what the slots hold now; or NULL */
    int64_t moves;           /* most slots that may get an expert which their GPU does not hold in
                              * `previous`; MILL_UNKNOWN: no limit */
    uint64_t seed;
} ep_goal;

typedef struct ep_answer {
    double value;         /* ep_value of the plan */
    double bound;         /* no plan under the same rules has less; NaN: unknown */
    bool proven;          /* the value is the bound */
    bool distinct_broken; /* the plan has duplicates though it should have none */
    uint32_t splits;      /* groups on several nodes */
} ep_answer;

/* Writes ret_plan[slots]. What is wanted is kept in this order: every expert has a slot and none is
 * on a GPU that has failed; the policy; the limit of moves; no duplicates; the value. So a plan may
 * take more moves than the limit where failed GPUs or the policy leave no choice, have duplicates
 * where GPUs have more slots than there are experts or the limit keeps them, and be worse than a
 * start that has duplicates or breaks the policy. All slots are filled but for those that the limit
 * keeps empty, and with EP_SOFT_NODES those that it does not need.
 *
 * The amount of work depends on the input alone, never on time, so that plans are the same on every
 * machine and for any --jobs. It is up to nine times as much where a start has duplicates and is
 * better than the plans without. The workspace is used again by the next layer; one thread each. */
typedef struct ep_search ep_search;
ep_search *ep_search_create(const ep_shape *shape);
void ep_search_destroy(ep_search *s);
void ep_search_plan(ep_search *s, const ep_loads *loads, const ep_goal *goal, int32_t *ret_plan,
                    ep_answer *ret_answer);

/* The bound alone: of the largest GPU load under policy and objective. */
double ep_bound(ep_search *s, const ep_loads *loads, ep_policy policy, ep_objective objective);

#endif
