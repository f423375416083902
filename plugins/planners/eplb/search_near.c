/* SPDX-License-Identifier: Apache-2.0 */
/* Plans near the one before: as it is, or with two groups on each other's nodes. */
#include "search_near.h"

#include "moves.h"

typedef struct near {
    ep_run *r;
    const ep_goal *goal;
    uint32_t *node; /* of each group in the previous plan; NULL: any */
    uint32_t empty; /* slots that it leaves so */
    /* Of each candidate, which are at most 1 + means->partitions: */
    uint32_t *nodes; /* [groups] */
    int32_t *bases;  /* [slots] */
} near;

/* The previous plan, changed as little as keeps the groups on their nodes (NULL: any); each attempt
 * to improve it begins from there. Not if that takes too many moves or leaves slots empty. */
static void add(near *x, const uint32_t *node) {
    ep_run *r = x->r;
    ep_search *s = r->s;
    const ep_task *t = &s->task;
    const uint32_t *empty = &s->state.count[t->experts];
    ep_task_settle(s, node);
    ep_adopt(s, x->goal->previous);
    if (r->n > 0 && (s->state.moves > t->moves || *empty > x->empty))
        return;
    if (s->state.moves > t->moves)
        s->task.moves = s->state.moves; /* failed GPUs leave no choice */
    x->empty = *empty;
    int32_t *base = x->bases + (size_t)r->n * t->slots;
    ep_state_get(&s->state, base);
    ep_run_add(r, node, ep_task_bound(s))->base = base;
}

/* ---------------------------------------------------------------- groups change nodes */

typedef struct exchange {
    double bound; /* of plans after it */
    uint32_t group, other;
} exchange;

static int compare(const void *a, const void *b) {
    const exchange *x = a, *y = b;
    if (x->bound != y->bound)
        return x->bound < y->bound ? -1 : 1;
    uint32_t i = x->group != y->group ? x->group : x->other;
    uint32_t j = x->group != y->group ? y->group : y->other;
    return (i > j) - (i < j);
}

static void change_nodes(const near *x, const exchange *e, uint32_t *ret_node) {
    memcpy(ret_node, x->node, x->r->s->task.shape->groups * sizeof *ret_node);
    ret_node[e->group] = x->node[e->other];
    ret_node[e->other] = x->node[e->group];
}

/* Those after which plans may be better than what is in hand. */
static uint32_t find_exchanges(near *x, exchange *ret_found) {
    ep_search *s = x->r->s;
    uint32_t groups = s->task.shape->groups, n = 0, *node = kit_alloc(groups, sizeof *node);
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t h = g + 1; h < groups; h++) {
            exchange e = {.group = g, .other = h};
            if (x->node[g] == x->node[h])
                continue;
            change_nodes(x, &e, node);
            ep_task_settle(s, node);
            e.bound = ep_task_bound(s);
            if (e.bound < x->r->value)
                ret_found[n++] = e;
        }
    free(node);
    qsort(ret_found, n, sizeof *ret_found, compare);
    return n;
}

/* The best of them become candidates. Each of the two groups' experts must be loaded. */
static void add_exchanges(near *x) {
    ep_run *r = x->r;
    const ep_task *t = &r->s->task;
    uint32_t groups = t->shape->groups;
    if (2 * (int64_t)(t->experts / groups) > t->moves)
        return;
    exchange *found = kit_alloc((size_t)groups * groups, sizeof *found);
    uint32_t n = find_exchanges(x, found);
    for (uint32_t i = 0; i < n && r->n <= r->means->partitions; i++) {
        uint32_t *node = x->nodes + (size_t)r->n * groups;
        change_nodes(x, &found[i], node);
        add(x, node);
    }
    free(found);
}

/* ---------------------------------------------------------------- the whole */

/* A start counts if it keeps the limit, at best with its sets on other GPUs. */
static void offer_start(near *x) {
    ep_search *s = x->r->s;
    bool hierarchical = x->node != NULL;
    int32_t *plan = kit_alloc(s->task.slots, sizeof *plan);
    uint32_t *node = kit_alloc(s->task.shape->groups, sizeof *node);
    memcpy(plan, x->goal->start, s->task.slots * sizeof *plan);
    ep_relabel(s->task.shape, x->goal->previous, hierarchical, plan);
    if (ep_task_nodes_of(s, plan, node) || !hierarchical) {
        ep_task_settle(s, hierarchical ? node : NULL);
        ep_adopt(s, plan);
        if (s->state.moves <= s->task.moves)
            ep_run_offer(x->r);
    }
    free(node);
    free(plan);
}

bool ep_plan_near(ep_run *r, const ep_goal *goal) {
    ep_search *s = r->s;
    size_t groups = s->task.shape->groups, n = (size_t)r->means->partitions + 1;
    near x = {.r = r,
              .goal = goal,
              .nodes = kit_alloc(n * groups, sizeof *x.nodes),
              .bases = kit_alloc(n * s->task.slots, sizeof *x.bases)};
    bool keeps = true;
    if (goal->policy == EP_HIERARCHICAL) {
        x.node = x.nodes;
        keeps = ep_task_nodes_of(s, goal->previous, x.node);
    }
    if (keeps) {
        ep_task_remember(s, goal->previous, goal->moves);
        add(&x, x.node);
        if (x.node)
            add_exchanges(&x);
        ep_run_compete(r);
        if (goal->start)
            offer_start(&x);
    }
    free(x.bases);
    free(x.nodes);
    return keeps;
}
