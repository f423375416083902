/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be planned: options, loads and the plan before, put together and found to fit. */
#ifndef EPLB_PROBLEM_H
#define EPLB_PROBLEM_H

#include "reference.h"
#include "search.h"

/* In the order of the choices. */
typedef enum ep_choice {
    EP_CHOOSE_AUTO,
    EP_CHOOSE_REFERENCE,
    EP_CHOOSE_GLOBAL,
    EP_CHOOSE_HIERARCHICAL,
    EP_CHOOSE_SOFT_NODES
} ep_choice;

/* Options that the two stages share (options.c). 0 is "not given" where nothing else is said. */
typedef struct ep_options {
    int64_t gpus, nodes, groups, replicas, redundant;
    mill_list slots_per_gpu, speeds, failed, layers;
    int policy, sort, search, objective;
    bool uneven, distinct, keep_slots, relabel;
    double cap;
    int64_t max_moves, expert_bytes, seed;
} ep_options;

extern const char *const ep_policies[], *const ep_sorts[], *const ep_searches[],
                                                               *const ep_objectives[];

/* Rules between options. */
mill_status ep_check_options(mill_run *run, const ep_options *o);

typedef struct ep_problem {
    mill_run *run;
    const ep_options *options;
    const mill_expert_load *loads;
    const mill_expert_plan *previous; /* or NULL */
    uint32_t n;                       /* layers to plan */
    const uint32_t *layer;            /* of each: its place in the loads */
    const uint32_t *was;              /* its place in `previous` */
    ep_shape shape;
    const double *speed; /* of the shape as it was before GPUs failed */
    ep_policy policy;
    bool reference;      /* eplb.py's plan as it is */
    bool starts;         /* eplb.py takes these sizes, and its plan keeps the policy */
    bool odd;            /* loads that are NaN, infinite or negative: only eplb.py's plan */
    int64_t max_moves;   /* or MILL_UNKNOWN */
    const char *warning; /* about the sizes, or NULL */
} ep_problem;

/* All memory is the run's scratch. E_CONFIG and E_DATA tell what does not fit, before any work. */
mill_status ep_problem_init(ep_problem *p, mill_run *run, const ep_options *o,
                            const mill_expert_load *loads, const mill_expert_plan *previous);

/* The same with other sizes, without the plan before; false where they do not fit. All GPUs have
 * the same number of slots. */
bool ep_problem_like(const ep_problem *p, uint32_t slots, ep_policy policy, ep_problem *ret_p);

/* The number of layer i in the model. */
int64_t ep_layer_number(const ep_problem *p, uint32_t i);

/* Loads of layer i, all steps or [first, first + steps): to be freed by the caller. */
double *ep_layer_loads(const ep_problem *p, uint32_t i, uint64_t first, uint64_t steps);

/* The placement that engines begin with, slot p holds expert p % E; or that of `previous`. */
void ep_before(const ep_problem *p, uint32_t i, int32_t *ret_plan);

/* What GPUs that have not failed hold of it. */
void ep_held(const ep_problem *p, const int32_t *before, int32_t *ret_held);

/* Plans one layer: [any thread]. held: what the slots hold, where moves are to be few; or NULL.
 * ret_rank: of the replicas, where eplb.py's plan is taken as it is; or NULL. */
void ep_plan_layer(const ep_problem *p, const ep_loads *loads, const int32_t *held,
                   int32_t *ret_plan, uint32_t *ret_rank, ep_answer *ret_answer);

/* "hierarchical, searched (fast)": how plans are made. */
const char *ep_policy_text(const ep_problem *p);

#endif
