/* SPDX-License-Identifier: Apache-2.0 */
/* mill.expert-plan/1: which expert each physical slot of each layer holds.
 *
 * A value of this type is a `const mill_expert_plan *`; all memory it reaches belongs to it. A GPU
 * has a run of slots, a node a run of GPUs. Unknown is MILL_UNKNOWN, a NaN, NULL, or
 * MILL_NO_EXPERT. Constant once posted; any thread may read it.
 */
#ifndef TRACEMILL_EXPERT_PLAN_H
#define TRACEMILL_EXPERT_PLAN_H

#include "tracemill.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MILL_TYPE_EXPERT_PLAN "mill.expert-plan/1"

#define MILL_NO_EXPERT (-1) /* of a slot: empty, as on a GPU that has failed */

typedef struct mill_expert_plan {
    uint32_t size;
    uint32_t layers, experts; /* logical experts of a layer */
    uint32_t slots;           /* physical experts of a layer, over all GPUs */
    uint32_t gpus;
    uint32_t nodes;  /* 0: unknown */
    uint32_t groups; /* of experts, contiguous and equal; 0: unknown or none */
    uint32_t reserved;
    const char *subject;      /* "eplb of loads.csv", or the file it was read from */
    const char *policy;       /* how it was made: "reference, hierarchical"; NULL: unknown */
    const uint32_t *first;    /* gpus + 1: slots of GPU g are first[g] … first[g + 1] - 1 */
    const uint32_t *node;     /* of each GPU; NULL: unknown */
    const int32_t *expert;    /* [layers][slots], or MILL_NO_EXPERT */
    const uint32_t *rank;     /* [layers][slots]: which of the expert's replicas it is, from 0 */
    const uint32_t *replicas; /* [layers][experts]: how many slots hold it */
    const int64_t *layer;     /* the model's number of each layer; NULL: from 0 */
} mill_expert_plan;

#if UINTPTR_MAX == UINT64_MAX
MILL_STATIC_ASSERT(sizeof(mill_expert_plan) == 96, "mill.expert-plan/1");
#endif

#ifdef __cplusplus
}
#endif
#endif
