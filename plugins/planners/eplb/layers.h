/* SPDX-License-Identifier: Apache-2.0 */
/* All layers planned and measured, side by side with what was before. */
#ifndef EPLB_LAYERS_H
#define EPLB_LAYERS_H

#include "moves.h"
#include "problem.h"

/* One placement of a layer. Loads are of a step, in the unit of the input. Those before are of all
 * GPUs, those after of the ones that have not failed. */
typedef struct ep_placement {
    int32_t *expert;     /* slots */
    double *gpu;         /* load of each GPU, in the mean over the steps; NaN: it has failed */
    double mean;         /* what all of them would have in balance */
    double max;          /* the largest of them */
    double worst;        /* the largest GPU load of any step over that step's mean */
    double step_max;     /* the mean over the steps of each step's largest */
    uint32_t duplicates; /* GPUs that hold an expert twice or more */
    uint32_t splits;     /* groups on several nodes */
    uint32_t most;       /* replicas of the expert that has most */
    uint32_t replicated; /* experts with more than one */
} ep_placement;

typedef struct ep_layer {
    int64_t number;
    double *load; /* of each expert, in the mean over the steps */
    ep_placement before, after;
    uint32_t *rank; /* of the replicas in `after`, if the plan is eplb.py's as it is */
    ep_answer answer;
    ep_moves moves;
} ep_layer;

/* Plans all layers; ret_layers[p->n], in scratch. */
mill_status ep_plan_layers(const ep_problem *p, ep_layer *ret_layers);

/* Only what the plans are worth in the mean over the steps: sums over the layers of the largest GPU
 * load, of the mean one, and of the bound. */
typedef struct ep_worth {
    double max, mean, bound;
    double sglang; /* Σ over the layers with loads of mean / largest */
    uint32_t n;    /* those layers */
} ep_worth;

mill_status ep_worth_of_plans(const ep_problem *p, ep_worth *ret_worth);

void ep_add_worth(ep_worth *w, double max, double mean, double bound);

#endif
