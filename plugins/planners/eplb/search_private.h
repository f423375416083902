/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the search share: the layer as it is worked on, and a plan under change. */
#ifndef EPLB_SEARCH_PRIVATE_H
#define EPLB_SEARCH_PRIVATE_H

#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define EP_ANY_NODE UINT32_MAX

/* A layer, its objective in one form: each expert has a vector of `dims` loads, each GPU the vector
 * of the sums of its replicas' shares over its speed. Expert number `experts` stands for an empty
 * slot: it has no load and any number of replicas. */
typedef struct ep_task {
    const ep_shape *shape;
    ep_objective objective;
    uint32_t experts, slots, gpus, dims;
    bool distinct;
    double *load;        /* [experts + 1][dims] */
    double *inverse;     /* 1 / speed of each GPU; 0: it has failed, its slots stay empty */
    uint32_t *gpu;       /* of each slot */
    uint32_t *home;      /* [experts + 1]: the node that an expert must be on, or EP_ANY_NODE */
    uint32_t *node_gpu;  /* nodes + 1: GPUs of each node */
    bool bound_to_nodes; /* every expert has a home */
    bool *before;        /* [gpus][experts + 1]: held in the previous plan; empty slots are */
    int64_t moves;       /* most slots that `before` does not hold; INT64_MAX: no limit */
} ep_task;

/* A plan that moves change. */
typedef struct ep_state {
    const ep_task *task;
    uint32_t *expert;             /* of each slot */
    uint32_t *count;              /* [experts + 1] */
    double *share;                /* [experts + 1][dims]: load of one replica */
    double *gpu_load;             /* [gpus][dims] */
    uint16_t *held;               /* [gpus][experts + 1]: replicas of an expert on a GPU */
    uint32_t *head, *next, *prev; /* slots of an expert as a list; UINT32_MAX ends it */
    int64_t moves;
} ep_state;

#define EP_END UINT32_MAX

void ep_state_init(ep_state *s, const ep_task *task);
void ep_state_finish(ep_state *s);

/* Takes a plan over, -1 for empty slots. */
void ep_state_set(ep_state *s, const int32_t *plan);
void ep_state_get(const ep_state *s, int32_t *ret_plan);

/* A slot gets another expert. */
void ep_state_put(ep_state *s, uint32_t slot, uint32_t expert);
void ep_state_swap(ep_state *s, uint32_t i, uint32_t j);

/* Largest GPU load in each dimension (ret_most, or NULL), and the objective that they make. */
double ep_state_value(const ep_state *s, double *ret_most);
double ep_task_value(const ep_task *t, const double *most);

static inline bool ep_may_hold(const ep_task *t, uint32_t gpu, uint32_t expert) {
    return t->home[expert] == EP_ANY_NODE || t->home[expert] == t->shape->node[gpu];
}

/* 1 where a GPU must load an expert that it did not hold. */
static inline int64_t ep_move_cost(const ep_task *t, uint32_t gpu, uint32_t expert) {
    return t->before && !t->before[(size_t)gpu * (t->experts + 1) + expert];
}

/* A small generator (SplitMix64, Steele, Lea and Flood 2014): same numbers on every machine. */
static inline uint64_t ep_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
