/* SPDX-License-Identifier: Apache-2.0 */
/* A better plan for a layer: what each policy, a limit of moves and an effort make of it. */
#include "search.h"

#include "search_exact.h"
#include "search_near.h"
#include "search_soft.h"

/* By measurement: a comparison takes 2 to 5 ns. */
static const ep_means means_of[] = {
    [EP_SEARCH_NONE] = {.partitions = 1, .levels = 1, .rules = 1, .rounds = 8},
    [EP_SEARCH_FAST] = {.work = 700,
                        .partitions = 2,
                        .levels = 1,
                        .rules = 2,
                        .rivals = 2,
                        .patience = 8,
                        .rounds = 8,
                        .exact = 20000,
                        .tolerance = 5e-4},
    [EP_SEARCH_BEST] = {.work = 14000,
                        .partitions = 6,
                        .levels = 3,
                        .rules = EP_SPARE_RULES,
                        .rivals = 6,
                        .patience = 20,
                        .rounds = 60,
                        .exact = 800000,
                        .tolerance = 1e-6},
};

#define MORE 8 /* times the work at most, while a start is better than all that keeps the rules */
#define PARTITION_WORK 40000 /* nodes and experts looked at */

/* ---------------------------------------------------------------- bounds */

/* With homes as they are settled, by the bound for few slots; above: the value of a plan. One
 * dimension. */
static double few_slots_bound(ep_search *s, double above, uint32_t rounds) {
    double bound = 0;
    for (uint32_t i = 0; i < ep_task_domains(s); i++) {
        ep_domain domain = ep_task_domain(s, i);
        double simple = ep_bound_simple(&s->task, &domain, 0);
        bound = fmax(bound,
                     ep_bound_few_slots(&s->task, &domain, 0, fmax(simple, bound), above, rounds));
    }
    return bound;
}

/* Finds partitions and returns a bound over all of them. */
static double find_partitions(ep_search *s) {
    const ep_shape *shape = s->task.shape;
    uint32_t *node = kit_alloc(shape->groups, sizeof *node);
    for (uint32_t g = 0; g < shape->groups; g++)
        node[g] = g % shape->nodes;
    /* Whether duplicates can be avoided is the same for all partitions. */
    ep_task_settle(s, node);
    free(node);
    ep_partitions_find(&s->groups, &s->task, PARTITION_WORK);
    if (s->groups.complete)
        return s->groups.items[0].bound;
    ep_task_settle(s, NULL);
    return ep_task_bound(s);
}

/* The least bound over the partitions, by the bound for few slots. */
static double raise_partitions(ep_run *r) {
    ep_search *s = r->s;
    const ep_partitions *p = &s->groups;
    double least = r->value;
    if (!p->complete)
        return r->floor;
    if (p->n == p->limit) /* those that were not kept have at least the bound of the last */
        least = fmin(least, p->items[p->n - 1].bound);
    for (uint32_t i = 0; i < p->n && p->items[i].bound < least; i++) {
        ep_task_settle(s, p->items[i].node);
        least = fmin(least, few_slots_bound(s, r->value, r->means->rounds));
    }
    return fmax(r->floor, least);
}

double ep_bound(ep_search *s, const ep_loads *loads, ep_policy policy, ep_objective objective) {
    double part = ep_task_load(s, loads, objective);
    ep_task_remember(s, NULL, MILL_UNKNOWN);
    if (policy == EP_HIERARCHICAL)
        return find_partitions(s) * part;
    ep_task_settle(s, NULL);
    return ep_task_bound(s) * part;
}

/* ---------------------------------------------------------------- policies */

/* A given plan as a candidate. node: [groups], for its homes. */
static ep_candidate *add_given(ep_run *r, ep_policy policy, const int32_t *plan, uint32_t *node) {
    ep_search *s = r->s;
    bool keeps = ep_task_nodes_of(s, plan, node);
    if (policy == EP_HIERARCHICAL && !keeps)
        return NULL;
    ep_task_settle(s, policy == EP_HIERARCHICAL ? node : NULL);
    ep_adopt(s, plan);
    return ep_run_add(r, policy == EP_HIERARCHICAL ? node : NULL, r->floor);
}

static void start_global(ep_run *r) {
    ep_search *s = r->s;
    ep_task_settle(s, NULL);
    r->floor = ep_task_bound(s);
    ep_run_starts(r, NULL, r->floor);
    if (s->task.dims == 1)
        r->floor = few_slots_bound(s, r->value, r->means->rounds);
}

static void start_nodes(ep_run *r) {
    ep_search *s = r->s;
    r->floor = find_partitions(s);
    for (uint32_t i = 0; i < s->groups.n && i < r->means->partitions; i++) {
        ep_task_settle(s, s->groups.items[i].node);
        ep_run_starts(r, s->groups.items[i].node, ep_task_bound(s));
    }
    if (s->task.dims == 1)
        r->floor = raise_partitions(r);
}

/* Tries all plans of a small layer. */
static void prove(ep_run *r, ep_policy policy) {
    ep_search *s = r->s;
    const ep_partitions *p = &s->groups;
    uint64_t work = r->means->exact;
    if (s->task.dims > 1 || s->task.slots > EP_EXACT_SLOTS || r->value <= r->floor * (1 + 1e-12))
        return;
    bool all = true;
    if (policy == EP_GLOBAL) {
        ep_task_settle(s, NULL);
        all = ep_run_exact(r, &work);
    } else {
        for (uint32_t i = 0; i < p->n && all && p->items[i].bound < r->value; i++) {
            ep_task_settle(s, p->items[i].node);
            all = ep_run_exact(r, &work);
        }
        all &= p->complete && (p->n < p->limit || p->items[p->n - 1].bound >= r->value);
    }
    if (all)
        r->floor = r->value;
}

/* Of a plan as it is. */
static double value_of(ep_search *s, const int32_t *plan) {
    ep_state_set(&s->state, plan);
    return ep_state_value(&s->state, NULL);
}

static void plan_free(ep_run *r, const ep_goal *goal, uint32_t *node) {
    if (goal->policy == EP_HIERARCHICAL)
        start_nodes(r);
    else
        start_global(r);
    if (goal->start)
        add_given(r, goal->policy, goal->start, node);
    if (goal->previous)
        add_given(r, goal->policy, goal->previous, node + r->s->task.shape->groups);
    for (uint32_t i = 0; i < r->n; i++)
        r->candidate[i].floor = fmax(r->candidate[i].floor, r->floor);
    ep_run_compete(r);
    /* A start with duplicates may be hard to beat without. */
    double wanted = goal->start ? value_of(r->s, goal->start) : INFINITY;
    for (uint32_t more = 0; more < MORE && r->value > wanted; more++) {
        r->end += r->means->work * r->s->task.slots;
        ep_run_compete(r);
    }
    prove(r, goal->policy);
}

/* ---------------------------------------------------------------- the whole */

static bool plan_near(ep_run *r, const ep_goal *goal) {
    ep_search *s = r->s;
    if (goal->policy == EP_HIERARCHICAL) {
        r->floor = find_partitions(s);
    } else {
        ep_task_settle(s, NULL);
        r->floor = ep_task_bound(s);
    }
    return ep_plan_near(r, goal);
}

static void plan_by_policy(ep_run *r, const ep_goal *goal, uint32_t *node) {
    ep_search *s = r->s;
    bool limited = goal->previous && goal->moves != MILL_UNKNOWN;
    ep_task_remember(s, NULL, MILL_UNKNOWN);
    if (goal->policy == EP_SOFT_NODES)
        ep_plan_soft(r, goal, node);
    else if (!limited || !plan_near(r, goal))
        plan_free(r, goal, node);
}

void ep_search_plan(ep_search *s, const ep_loads *loads, const ep_goal *goal, int32_t *ret_plan,
                    ep_answer *ret_answer) {
    const ep_shape *shape = s->task.shape;
    ep_goal within = *goal;
    if (within.moves >= (int64_t)shape->slots)
        within.moves = MILL_UNKNOWN; /* no plan takes more */
    double part = ep_task_load(s, loads, goal->objective);
    uint32_t *node = kit_alloc(2 * (size_t)shape->groups, sizeof *node);
    ep_run r;
    s->climb.random = goal->seed;
    ep_run_init(&r, s, &means_of[goal->effort], ret_plan);
    if (goal->effort == EP_SEARCH_NONE && goal->start) {
        memcpy(ret_plan, goal->start, shape->slots * sizeof *ret_plan);
        r.floor = part > 0 ? ep_bound(s, loads, goal->policy, goal->objective) / part : 0;
    } else {
        plan_by_policy(&r, &within, node);
    }
    double value = ep_value(shape, loads, goal->objective, ret_plan);
    *ret_answer = (ep_answer){
        .value = value,
        .bound = fmin(r.floor * part, value), /* but for rounding */
        .proven = r.floor * part >= value * (1 - 1e-9),
        .distinct_broken = shape->distinct && ep_duplicates(shape, ret_plan) > 0,
        .splits = ep_splits(shape, ret_plan),
    };
    ep_run_finish(&r);
    free(node);
}
