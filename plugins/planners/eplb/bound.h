/* SPDX-License-Identifier: Apache-2.0 */
/* What no plan can be better than. */
#ifndef EPLB_BOUND_H
#define EPLB_BOUND_H

#include "search_private.h"

/* GPUs [gpu, gpu_end) and the experts that all have to be on them. */
typedef struct ep_domain {
    uint32_t gpu, gpu_end;
    uint32_t n;
    const uint32_t *expert;
} ep_domain;

/* The largest GPU load of dimension `dim` in a domain is at least this: all load over all speed,
 * and the largest share once replicas are spread as evenly as slots allow. */
double ep_bound_simple(const ep_task *t, const ep_domain *domain, uint32_t dim);

/* A better one for few slots a GPU: between a bound and the load of a plan, the nearer to the truth
 * the more rounds: 10 take a millisecond for 288 slots, 60 about five. */
double ep_bound_few_slots(const ep_task *t, const ep_domain *domain, uint32_t dim, double bound,
                          double above, uint32_t rounds);

#endif
