/* SPDX-License-Identifier: Apache-2.0 */
/* Plans near the one before: within a limit of moves. */
#ifndef EPLB_SEARCH_NEAR_H
#define EPLB_SEARCH_NEAR_H

#include "search_run.h"

/* From the previous plan, also with two groups on each other's nodes, and from the start where it
 * keeps the limit. false: the previous plan does not keep the policy. r->floor is known. */
bool ep_plan_near(ep_run *r, const ep_goal *goal);

#endif
