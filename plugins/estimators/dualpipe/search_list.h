/* SPDX-License-Identifier: Apache-2.0 */
/* Orders made by list scheduling: in the order of time, each rank that is free runs the operation
 * that a rule prefers. */
#ifndef DUALPIPE_SEARCH_LIST_H
#define DUALPIPE_SEARCH_LIST_H

#include "search_rule.h"

/* Makes the order and its makespan, MILL_UNKNOWN if the rule comes to no end. */
void pp_list_schedule(const pp_shop *shop, const pp_rule *rule, pp_front *front, pp_order *order);

#endif
