/* SPDX-License-Identifier: Apache-2.0 */
/* Plans one layer: eplb.py's plan, the search from there, and what keeps moves few. */
#include "problem.h"

#include "moves.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

void ep_before(const ep_problem *p, uint32_t i, int32_t *ret_plan) {
    const ep_shape *s = &p->shape;
    if (p->previous) {
        memcpy(ret_plan, p->previous->expert + (size_t)p->was[i] * s->slots,
               s->slots * sizeof *ret_plan);
        return;
    }
    for (uint32_t slot = 0; slot < s->slots; slot++)
        ret_plan[slot] = (int32_t)(slot % s->experts);
}

void ep_held(const ep_problem *p, const int32_t *before, int32_t *ret_held) {
    const ep_shape *s = &p->shape;
    for (uint32_t g = 0; g < s->gpus; g++)
        for (uint32_t slot = s->first[g]; slot < s->first[g + 1]; slot++)
            ret_held[slot] = s->speed && s->speed[g] == 0 ? MILL_NO_EXPERT : before[slot];
}

/* eplb.py is given the sum over the steps. */
static void plan_reference(const ep_problem *p, const ep_loads *loads, int32_t *ret_plan,
                           uint32_t *ret_rank) {
    const ep_shape *s = &p->shape;
    float *load = kit_alloc(s->experts, sizeof *load);
    for (uint32_t e = 0; e < s->experts; e++) {
        double sum = 0;
        for (uint32_t step = 0; step < loads->steps; step++)
            sum += loads->load[(size_t)step * s->experts + e];
        load[e] = (float)sum;
    }
    ep_reference *r = ep_reference_create(s->experts, s->slots, s->groups, s->nodes, s->gpus,
                                          p->policy != EP_GLOBAL, (ep_sort)p->options->sort);
    ep_reference_plan(r, load, ret_plan, ret_rank);
    ep_reference_destroy(r);
    free(load);
}

/* What is known of a plan that no search made. */
static void judge(const ep_problem *p, const ep_loads *loads, const int32_t *plan,
                  ep_answer *ret_answer) {
    ep_objective objective = (ep_objective)p->options->objective;
    *ret_answer = (ep_answer){.value = NAN, .bound = NAN, .splits = ep_splits(&p->shape, plan)};
    if (p->odd)
        return;
    ep_search *s = ep_search_create(&p->shape);
    ret_answer->value = ep_value(&p->shape, loads, objective, plan);
    double bound = ep_bound(s, loads, p->policy, objective);
    ret_answer->bound = fmin(bound, ret_answer->value); /* but for rounding */
    ret_answer->proven = bound >= ret_answer->value * (1 - 1e-9);
    ep_search_destroy(s);
}

static void search(const ep_problem *p, const ep_loads *loads, const int32_t *held, int32_t *plan,
                   ep_answer *ret_answer) {
    int32_t *start = kit_alloc(p->shape.slots, sizeof *start);
    memcpy(start, plan, p->shape.slots * sizeof *start);
    ep_search *s = ep_search_create(&p->shape);
    ep_search_plan(s, loads,
                   &(ep_goal){.policy = p->policy,
                              .objective = (ep_objective)p->options->objective,
                              .effort = (ep_effort)p->options->search,
                              .cap = p->options->cap,
                              .start = p->starts ? start : NULL,
                              .previous = held,
                              .moves = held ? p->max_moves : MILL_UNKNOWN,
                              .seed = (uint64_t)p->options->seed},
                   plan, ret_answer);
    ep_search_destroy(s);
    free(start);
}

void ep_plan_layer(const ep_problem *p, const ep_loads *loads, const int32_t *held,
                   int32_t *ret_plan, uint32_t *ret_rank, ep_answer *ret_answer) {
    if (p->starts)
        plan_reference(p, loads, ret_plan, ret_rank);
    if (p->reference) {
        judge(p, loads, ret_plan, ret_answer);
        return;
    }
    search(p, loads, held, ret_plan, ret_answer);
    if (held && p->options->relabel)
        ep_relabel(&p->shape, held, p->policy != EP_GLOBAL, ret_plan);
    if (held && p->options->keep_slots)
        ep_keep_slots(&p->shape, held, ret_plan);
}

const char *ep_policy_text(const ep_problem *p) {
    const char *policy = p->policy == EP_GLOBAL         ? "global"
                         : p->policy == EP_HIERARCHICAL ? "hierarchical"
                                                        : "soft-nodes";
    if (p->reference)
        return ep_text(p->run, "reference, %s, sort %s", policy, ep_sorts[p->options->sort]);
    return ep_text(p->run, "%s, search %s", policy, ep_searches[p->options->search]);
}
