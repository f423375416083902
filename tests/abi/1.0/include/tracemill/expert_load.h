/* SPDX-License-Identifier: Apache-2.0 */
/* mill.expert-load/1: how many tokens each expert of each MoE layer got, step by step.
 *
 * A value of this type is a `const mill_expert_load *`; all memory it reaches belongs to it. Loads
 * are of all ranks together. Unknown is MILL_UNKNOWN, a NaN, or NULL. Constant once posted; any
 * thread may read it.
 */
#ifndef TRACEMILL_EXPERT_LOAD_H
#define TRACEMILL_EXPERT_LOAD_H

#include "tracemill.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MILL_TYPE_EXPERT_LOAD "mill.expert-load/1"

#ifndef MILL_UNKNOWN
#define MILL_UNKNOWN INT64_MIN /* of int64 values */
#endif

typedef struct mill_expert_load {
    uint32_t size;
    uint32_t integral;        /* 1: all loads are whole numbers (counts of tokens) */
    const char *subject;      /* where it comes from: a path; "forecast: mean of 10 steps" */
    const char *unit;         /* "tokens", or NULL */
    uint32_t layers, experts; /* logical experts of a layer */
    uint64_t steps;           /* at least 1 */
    const double *load;       /* [steps][layers][experts], of a step, not cumulative */
    const int64_t *step;      /* number of each step where it was recorded; NULL: from 0 */
    const int64_t *layer;     /* the model's number of each layer; NULL: from 0. DeepSeek-V3's first
                               * MoE layer is layer 3 */
    uint64_t ranks;           /* whose records were added up; 0: unknown */
} mill_expert_load;

/* The loads of one layer in one step: `experts` values. */
static inline const double *mill_expert_load_at(const mill_expert_load *l, uint64_t step,
                                                uint32_t layer) {
    return l->load + (step * l->layers + layer) * l->experts;
}

#if UINTPTR_MAX == UINT64_MAX
MILL_STATIC_ASSERT(sizeof(mill_expert_load) == 72, "mill.expert-load/1");
#endif

#ifdef __cplusplus
}
#endif
#endif
