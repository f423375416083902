/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of deepseek-ai/EPLB's eplb.py, bit for bit: float32 arithmetic, its ties and its order.
 */
#ifndef EPLB_REFERENCE_H
#define EPLB_REFERENCE_H

#include "layer.h"

typedef enum ep_sort {
    EP_SORT_STABLE,    /* equal loads in order of expert */
    EP_SORT_LIBSTDCXX, /* as torch's unstable sort leaves them where it is libstdc++'s std::sort */
} ep_sort;

/* Why eplb.py does not take these sizes, as a sentence with the nearest valid ones, in the run's
 * scratch; NULL: it does. hierarchical: what eplb.py chooses is groups % nodes == 0. */
const char *ep_reference_fault(mill_run *run, int64_t experts, int64_t replicas, int64_t groups,
                               int64_t nodes, int64_t gpus, bool hierarchical);

/* Plans one layer of float32 loads (NaN, infinite, negative: as eplb.py takes them). Sizes were
 * checked; all GPUs have replicas / gpus slots. ret_expert: [replicas]; ret_rank likewise, or NULL.
 * The workspace is used again by the next layer; one thread each. */
typedef struct ep_reference ep_reference;
ep_reference *ep_reference_create(uint32_t experts, uint32_t replicas, uint32_t groups,
                                  uint32_t nodes, uint32_t gpus, bool hierarchical, ep_sort sort);
void ep_reference_destroy(ep_reference *r);
void ep_reference_plan(ep_reference *r, const float *load, int32_t *ret_expert, uint32_t *ret_rank);

#endif
