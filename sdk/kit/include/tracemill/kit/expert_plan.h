/* SPDX-License-Identifier: Apache-2.0 */
/* Builder of mill.expert-plan/1 values, the map from experts to slots that serving engines ask for,
 * loads of GPUs, and what it takes to get from one plan to another. */
#ifndef TRACEMILL_KIT_EXPERT_PLAN_H
#define TRACEMILL_KIT_EXPERT_PLAN_H

#include <tracemill/expert_plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A value to post, with copies of all that `like` holds: sizes, texts, arrays. `replicas` is
 * counted anew. like->rank NULL: replicas are numbered in the order of their slots. like->first
 * NULL: all GPUs have the same number of slots. Each expert of `like` must be below like->experts
 * or MILL_NO_EXPERT. */
mill_expert_plan *kit_expert_plan(mill_run *run, const mill_expert_plan *like);

/* The most replicas that an expert has in any layer: how wide the next one's rows must be. */
uint32_t kit_most_replicas(const mill_expert_plan *plan);

/* "log2phy" of a layer: ret_slots[expert * width + rank] is the slot of that replica; -1 where the
 * expert has no more of them. */
void kit_slots_of_experts(const mill_expert_plan *plan, uint32_t layer, uint32_t width,
                          int32_t *ret_slots);

/* The load of each GPU: ret_load[gpus]. A replica takes an equal share of its expert's load.
 * `expert` and `replicas` are a layer of a plan with the GPUs of `place`, load[experts] is what its
 * experts get. Of `place` the sizes and `first` are read. */
void kit_gpu_loads(const mill_expert_plan *place, const double *load, const int32_t *expert,
                   const uint32_t *replicas, double *ret_load);

/* Slots of a layer that hold another expert than before, by where its weights can come from. */
typedef struct kit_moves {
    uint32_t same_gpu;   /* the GPU held it already, in another slot, or gets it twice */
    uint32_t same_node;  /* another GPU of the node held it */
    uint32_t cross_node; /* only other nodes did */
    uint32_t unknown;    /* no GPU held it, or nodes are not known and another GPU did */
    uint32_t emptied;    /* holds nothing now */
} kit_moves;             /* all but same_gpu and emptied: experts that GPUs must get */

/* `before` and `after` are layers of plans with the GPUs of `place`, of which the sizes, `first`
 * and `node` are read. fetched, if not NULL: what GPUs must get is added to the count of its
 * expert. */
kit_moves kit_count_moves(const mill_expert_plan *place, const int32_t *before,
                          const int32_t *after, uint32_t *fetched);

#ifdef __cplusplus
}
#endif
#endif
