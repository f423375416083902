/* SPDX-License-Identifier: Apache-2.0 */
/* One MoE layer as a placement problem: slots of GPUs, loads of experts, and what is allowed.
 *
 * A plan of a layer is `int32_t expert[slots]`. A replica of an expert takes an equal share of its
 * load; the load of a GPU is the sum of the shares of its slots, divided by its speed. What is made
 * small is the largest of these. */
#ifndef EPLB_LAYER_H
#define EPLB_LAYER_H

#include <stdbool.h>
#include <tracemill/expert_load.h>
#include <tracemill/expert_plan.h>

/* The same for all layers. GPUs of a node are contiguous, slots of a GPU too. */
typedef struct ep_shape {
    uint32_t experts, slots, gpus, nodes;
    uint32_t groups;       /* divides experts: so many contiguous ones are a group; 1: none */
    const uint32_t *first; /* gpus + 1: slots of each GPU */
    const uint32_t *node;  /* of each GPU */
    const double *speed;   /* of each GPU, 1 is usual, 0: it has failed and holds nothing; NULL: all
                            * are equal */
    bool distinct;         /* no two replicas of one expert on a GPU, where that can be */
} ep_shape;

typedef enum ep_objective {
    EP_MEAN,     /* the largest GPU load of the mean over the steps */
    EP_WORST,    /* the largest GPU load of any step, over that step's ep_mean_load */
    EP_STEP_MAX, /* the mean over the steps of the step's largest GPU load */
} ep_objective;

/* Loads of one layer. */
typedef struct ep_loads {
    uint32_t experts, steps;
    const double *load; /* [steps][experts], finite, not negative */
} ep_loads;

typedef enum ep_policy {
    EP_GLOBAL,       /* any expert on any GPU */
    EP_HIERARCHICAL, /* a group is on one node, every node has as many groups */
    EP_SOFT_NODES,   /* as few groups split over nodes as the cap on imbalance allows */
} ep_policy;

/* Its GPUs in the form that the kit takes. */
mill_expert_plan ep_place(const ep_shape *shape);

/* Σ over the slots of each GPU, over speed: ret_load[gpus]. NaN for a failed GPU. */
void ep_gpu_loads(const ep_shape *shape, const double *load, const int32_t *plan, double *ret_load);

/* Counts of replicas: ret_count[experts]. */
void ep_counts(const ep_shape *shape, const int32_t *plan, uint32_t *ret_count);

/* What each GPU's load would be if they were all equal: all load over all speed. */
double ep_mean_load(const ep_shape *shape, const double *load);

/* The mean over the steps: ret_load[experts]. */
void ep_mean_of_steps(const ep_loads *loads, double *ret_load);

/* What a plan is worth: the objective, lower is better. In loads, but EP_WORST, which is a ratio.
 */
double ep_value(const ep_shape *shape, const ep_loads *loads, ep_objective objective,
                const int32_t *plan);

/* GPUs that hold an expert twice or more; groups whose experts are on several nodes. */
uint32_t ep_duplicates(const ep_shape *shape, const int32_t *plan);
uint32_t ep_splits(const ep_shape *shape, const int32_t *plan);

#endif
