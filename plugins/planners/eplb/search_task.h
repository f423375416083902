/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace of a search, and the layer in the form that it works on. */
#ifndef EPLB_SEARCH_TASK_H
#define EPLB_SEARCH_TASK_H

#include "search_climb.h"
#include "search_groups.h"
#include "search_start.h"

struct ep_search {
    ep_task task;
    ep_state state;
    ep_climb climb;
    ep_starter starter;
    ep_partitions groups;
    double *target, *most; /* [dims] */
    uint32_t *expert;      /* [experts]: of the domain in hand */
};

/* Loads in parts of the mean GPU load, so that no sum or square of them is too small or too large.
 * Returns what one such part is of the objective. */
double ep_task_load(ep_search *s, const ep_loads *loads, ep_objective objective);

/* Remembers what the GPUs hold; NULL: nothing is known, and moves cost nothing. */
void ep_task_remember(ep_search *s, const int32_t *previous, int64_t moves);

/* The node that each expert must be on, by its group, or EP_ANY_NODE; NULL: any. Duplicates are
 * forbidden if the shape says so and GPUs can be filled without them. */
void ep_task_settle(ep_search *s, const uint32_t *node_of_group);

/* The node of each group in a plan; EP_ANY_NODE: several, or none. Returns whether each has one,
 * and every node as many groups. */
bool ep_task_nodes_of(const ep_search *s, const int32_t *plan, uint32_t *ret_node);

/* How many parts the layer falls into: nodes if every expert has a home, else 1. */
uint32_t ep_task_domains(const ep_search *s);
ep_domain ep_task_domain(ep_search *s, uint32_t index);

/* A bound with homes as they are settled: of each dimension in s->most, and of the objective. */
double ep_task_bound(ep_search *s);

#endif
