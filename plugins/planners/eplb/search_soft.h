/* SPDX-License-Identifier: Apache-2.0 */
/* The policy "soft nodes": a group is on one node unless the cap on imbalance asks for more. */
#ifndef EPLB_SEARCH_SOFT_H
#define EPLB_SEARCH_SOFT_H

#include "search_run.h"

/* node: [groups], for the homes. */
void ep_plan_soft(ep_run *r, const ep_goal *goal, uint32_t *node);

#endif
