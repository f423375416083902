/* SPDX-License-Identifier: Apache-2.0 */
/* Builder of mill.expert-plan/1 values, and the map from experts to slots that serving engines ask
 * for. */
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

#ifdef __cplusplus
}
#endif
#endif
