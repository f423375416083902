/* SPDX-License-Identifier: Apache-2.0 */
/* The policy "soft nodes": a group is on one node unless the cap on imbalance asks for more. */
#include "search_soft.h"

/* Groups to nodes, the heaviest first to the node with the least load that has room for all of its
 * experts; a group that no node has room for may be on any. */
static void seat_groups(const ep_task *t, uint32_t *ret_node) {
    const ep_shape *shape = t->shape;
    uint32_t size = shape->experts / shape->groups;
    double *group = kit_alloc(shape->groups, sizeof *group);
    double *load = kit_alloc(shape->nodes, sizeof *load);
    uint32_t *room = kit_alloc(shape->nodes, sizeof *room);
    for (uint32_t e = 0; e < shape->experts; e++)
        for (uint32_t d = 0; d < t->dims; d++)
            group[e / size] += t->load[(size_t)e * t->dims + d];
    for (uint32_t i = 0; i < t->slots; i++)
        room[shape->node[t->gpu[i]]] += t->inverse[t->gpu[i]] > 0;
    for (uint32_t k = 0; k < shape->groups; k++) {
        uint32_t g = 0, best = EP_ANY_NODE;
        for (uint32_t i = 1; i < shape->groups; i++)
            if (group[i] > group[g])
                g = i;
        for (uint32_t n = 0; n < shape->nodes; n++)
            if (room[n] >= size && (best == EP_ANY_NODE || load[n] < load[best]))
                best = n;
        ret_node[g] = best;
        if (best != EP_ANY_NODE) {
            load[best] += group[g];
            room[best] -= size;
        }
        group[g] = -1; /* seated */
    }
    free(room);
    free(load);
    free(group);
}

/* The heaviest group of the node of the GPU that has the most load, or of any node. */
static bool free_group(ep_search *s, uint32_t *node) {
    const ep_task *t = &s->task;
    uint32_t size = t->experts / t->shape->groups, worst = 0, best = EP_END;
    double most = -1;
    for (uint32_t g = 0; g < t->gpus; g++)
        if (s->state.gpu_load[(size_t)g * t->dims] > s->state.gpu_load[(size_t)worst * t->dims])
            worst = g;
    for (uint32_t g = 0; g < t->shape->groups; g++) {
        double load = 0;
        if (node[g] == EP_ANY_NODE)
            continue;
        for (uint32_t e = g * size; e < (g + 1) * size; e++)
            load += t->load[(size_t)e * t->dims];
        if (node[g] == t->shape->node[worst])
            load += 1e6; /* in parts of the mean GPU load */
        if (load > most) {
            most = load;
            best = g;
        }
    }
    if (best != EP_END)
        node[best] = EP_ANY_NODE;
    return best != EP_END;
}

/* From the previous plan where moves are limited, else the best start. */
static ep_candidate *begin(ep_run *r, const int32_t *previous, const uint32_t *node) {
    ep_search *s = r->s;
    ep_task_settle(s, node);
    if (!previous && s->task.bound_to_nodes) {
        ep_run_starts(r, node, ep_task_bound(s));
        ep_candidate *best = r->candidate;
        for (uint32_t i = 1; i < r->n; i++)
            if (r->candidate[i].value < best->value)
                best = &r->candidate[i];
        best->floor = r->floor; /* homes will be given up */
        return best;
    }
    ep_adopt(s, previous);
    if (s->state.moves > s->task.moves)
        s->task.moves = s->state.moves; /* failed GPUs leave no choice */
    return ep_run_add(r, node, r->floor);
}

/* The cap cannot be kept, or was not found to: what is best with any expert on any node. */
static void plan_without_homes(ep_run *r, const ep_goal *goal) {
    ep_search *s = r->s;
    ep_task_settle(s, NULL);
    if (goal->start) {
        ep_adopt(s, goal->start);
        ep_run_offer(r);
    }
    ep_run_starts(r, NULL, r->floor);
    r->end = s->climb.work + r->means->work * s->task.slots;
    ep_run_compete(r);
}

/* Groups are freed from their nodes one by one until the cap is kept. */
void ep_plan_soft(ep_run *r, const ep_goal *goal, uint32_t *node) {
    ep_search *s = r->s;
    bool limited = goal->previous && goal->moves != MILL_UNKNOWN;
    ep_task_settle(s, NULL);
    r->floor = ep_task_bound(s);
    double cap = fmax(goal->cap, r->floor);
    if (limited) {
        ep_task_nodes_of(s, goal->previous, node);
        ep_task_remember(s, goal->previous, goal->moves);
    } else {
        seat_groups(&s->task, node);
    }
    ep_candidate *c = begin(r, limited ? goal->previous : NULL, node);
    uint64_t share = r->end / (s->task.shape->groups + 1);
    do {
        ep_task_settle(s, node);
        ep_adopt(s, c->plan); /* slots that no group with a home could fill */
        ep_state_get(&s->state, c->plan);
        ep_run_improve(r, c, cap, share);
        ep_state_set(&s->state, c->plan);
    } while (r->value > cap && free_group(s, node));
    if (r->value > cap && !limited)
        plan_without_homes(r, goal);
}
