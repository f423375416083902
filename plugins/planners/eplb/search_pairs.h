/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of replicas where every GPU has two slots. */
#ifndef EPLB_SEARCH_PAIRS_H
#define EPLB_SEARCH_PAIRS_H

#include "bound.h"

/* Whether the search for pairs can be used: two slots a GPU, equal speeds, one dimension. */
bool ep_pairs_apply(const ep_task *t, const ep_domain *domain);

/* Changes the counts of a domain's experts so that the largest pair falls, towards `floor`, by
 * `work` comparisons at most. count: [experts] of the layer. Returns the work done. */
uint64_t ep_pairs_search(const ep_task *t, const ep_domain *domain, double floor, uint64_t work,
                         uint64_t *random, uint32_t *count);

/* The largest share with the smallest, and so on: into the domain's slots of a plan. May put two
 * replicas of an expert on one GPU. */
void ep_pairs_plan(const ep_task *t, const ep_domain *domain, const uint32_t *count, int32_t *plan);

#endif
