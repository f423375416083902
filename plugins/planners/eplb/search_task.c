/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace of a search, and the layer in the form that it works on. */
#include "search_task.h"

#define PARTITIONS 64 /* kept for the search; small layers try all plans of each */

ep_search *ep_search_create(const ep_shape *shape) {
    ep_search *s = kit_alloc(1, sizeof *s);
    s->task = (ep_task){
        .shape = shape,
        .experts = shape->experts,
        .slots = shape->slots,
        .gpus = shape->gpus,
        .inverse = kit_alloc(shape->gpus, sizeof *s->task.inverse),
        .gpu = kit_alloc(shape->slots, sizeof *s->task.gpu),
        .home = kit_alloc((size_t)shape->experts + 1, sizeof *s->task.home),
        .node_gpu = kit_alloc((size_t)shape->nodes + 1, sizeof *s->task.node_gpu),
    };
    for (uint32_t g = 0; g < shape->gpus; g++) {
        double speed = shape->speed ? shape->speed[g] : 1;
        s->task.inverse[g] = speed > 0 ? 1 / speed : 0;
        s->task.node_gpu[shape->node[g] + 1] = g + 1;
        for (uint32_t i = shape->first[g]; i < shape->first[g + 1]; i++)
            s->task.gpu[i] = g;
    }
    s->expert = kit_alloc(shape->experts, sizeof *s->expert);
    return s;
}

/* What depends on the number of steps. */
static void close_dims(ep_search *s) {
    if (!s->task.dims)
        return;
    ep_state_finish(&s->state);
    ep_climb_finish(&s->climb);
    ep_starter_finish(&s->starter);
    ep_partitions_finish(&s->groups);
    free(s->task.load);
    free(s->target);
    free(s->most);
}

static void open_dims(ep_search *s, uint32_t dims) {
    if (s->task.dims == dims)
        return;
    close_dims(s);
    s->task.dims = dims;
    s->task.load = kit_alloc(((size_t)s->task.experts + 1) * dims, sizeof *s->task.load);
    s->target = kit_alloc(dims, sizeof *s->target);
    s->most = kit_alloc(dims, sizeof *s->most);
    ep_state_init(&s->state, &s->task);
    ep_climb_init(&s->climb, &s->task);
    ep_starter_init(&s->starter, &s->task);
    ep_partitions_init(&s->groups, &s->task, PARTITIONS);
}

void ep_search_destroy(ep_search *s) {
    if (!s)
        return;
    close_dims(s);
    free(s->task.inverse);
    free(s->task.gpu);
    free(s->task.home);
    free(s->task.node_gpu);
    free(s->task.before);
    free(s->expert);
    free(s);
}

double ep_task_load(ep_search *s, const ep_loads *loads, ep_objective objective) {
    ep_task *t = &s->task;
    double *mean_load = NULL, mean = 0;
    open_dims(s, objective == EP_MEAN ? 1 : loads->steps);
    t->objective = objective;
    if (objective == EP_MEAN) {
        mean_load = kit_alloc(t->experts, sizeof *mean_load);
        ep_mean_of_steps(loads, mean_load);
    }
    const double *from = mean_load ? mean_load : loads->load;
    for (uint32_t d = 0; d < t->dims; d++)
        mean += ep_mean_load(t->shape, from + (size_t)d * t->experts) / t->dims;
    for (uint32_t d = 0; d < t->dims; d++) {
        const double *step = from + (size_t)d * t->experts;
        double part = objective == EP_WORST ? ep_mean_load(t->shape, step) : mean;
        for (uint32_t e = 0; e < t->experts; e++)
            t->load[(size_t)e * t->dims + d] = part > 0 ? step[e] / part : 0;
    }
    free(mean_load);
    return objective == EP_WORST ? 1 : mean;
}

void ep_task_remember(ep_search *s, const int32_t *previous, int64_t moves) {
    ep_task *t = &s->task;
    size_t row = (size_t)t->experts + 1;
    free(t->before);
    t->before = NULL;
    t->moves = INT64_MAX;
    if (!previous)
        return;
    t->before = kit_alloc(t->gpus * row, sizeof *t->before);
    if (moves != MILL_UNKNOWN)
        t->moves = moves;
    for (uint32_t i = 0; i < t->slots; i++)
        if (previous[i] >= 0)
            t->before[t->gpu[i] * row + (uint32_t)previous[i]] = true;
    for (uint32_t g = 0; g < t->gpus; g++)
        t->before[g * row + t->experts] = true; /* to be empty costs nothing */
}

/* Whether every GPU can be filled without duplicates. */
static bool can_be_distinct(const ep_task *t) {
    uint32_t *experts = kit_alloc(t->shape->nodes, sizeof *experts); /* that may be on a node */
    bool can = true;
    for (uint32_t e = 0; e < t->experts; e++)
        for (uint32_t n = 0; n < t->shape->nodes; n++)
            experts[n] += t->home[e] == EP_ANY_NODE || t->home[e] == n;
    for (uint32_t g = 0; g < t->gpus; g++)
        can &= t->inverse[g] <= 0 ||
               t->shape->first[g + 1] - t->shape->first[g] <= experts[t->shape->node[g]];
    free(experts);
    return can;
}

void ep_task_settle(ep_search *s, const uint32_t *node_of_group) {
    ep_task *t = &s->task;
    uint32_t size = t->experts / t->shape->groups;
    t->bound_to_nodes = node_of_group != NULL;
    for (uint32_t e = 0; e < t->experts; e++) {
        t->home[e] = node_of_group ? node_of_group[e / size] : EP_ANY_NODE;
        t->bound_to_nodes &= t->home[e] != EP_ANY_NODE;
    }
    t->home[t->experts] = EP_ANY_NODE;
    t->distinct = t->shape->distinct && can_be_distinct(t);
}

bool ep_task_nodes_of(const ep_search *s, const int32_t *plan, uint32_t *ret_node) {
    const ep_shape *shape = s->task.shape;
    uint32_t size = shape->experts / shape->groups;
    uint32_t *filled = kit_alloc(shape->nodes, sizeof *filled);
    bool *split = kit_alloc(shape->groups, sizeof *split), fit = true;
    for (uint32_t g = 0; g < shape->groups; g++)
        ret_node[g] = EP_ANY_NODE;
    for (uint32_t i = 0; i < shape->slots; i++) {
        if (plan[i] < 0)
            continue;
        uint32_t group = (uint32_t)plan[i] / size, here = shape->node[s->task.gpu[i]];
        split[group] |= ret_node[group] != EP_ANY_NODE && ret_node[group] != here;
        ret_node[group] = here;
    }
    for (uint32_t g = 0; g < shape->groups; g++) {
        if (split[g])
            ret_node[g] = EP_ANY_NODE;
        fit &= ret_node[g] != EP_ANY_NODE && ++filled[ret_node[g]] <= shape->groups / shape->nodes;
    }
    free(split);
    free(filled);
    return fit;
}

uint32_t ep_task_domains(const ep_search *s) {
    return s->task.bound_to_nodes ? s->task.shape->nodes : 1;
}

ep_domain ep_task_domain(ep_search *s, uint32_t index) {
    const ep_task *t = &s->task;
    ep_domain domain = {0, t->gpus, 0, s->expert};
    if (t->bound_to_nodes) {
        domain.gpu = t->node_gpu[index];
        domain.gpu_end = t->node_gpu[index + 1];
    }
    for (uint32_t e = 0; e < t->experts; e++)
        if (!t->bound_to_nodes || t->home[e] == index)
            s->expert[domain.n++] = e;
    return domain;
}

double ep_task_bound(ep_search *s) {
    memset(s->most, 0, s->task.dims * sizeof *s->most);
    for (uint32_t i = 0; i < ep_task_domains(s); i++) {
        ep_domain domain = ep_task_domain(s, i);
        for (uint32_t d = 0; d < s->task.dims; d++)
            s->most[d] = fmax(s->most[d], ep_bound_simple(&s->task, &domain, d));
    }
    return ep_task_value(&s->task, s->most);
}

bool ep_search_fits(const ep_shape *shape, ep_policy policy) {
    uint32_t parts = policy == EP_HIERARCHICAL ? shape->nodes : 1;
    if (shape->experts % shape->groups || shape->groups % parts)
        return false;
    uint32_t *slots = kit_alloc(shape->nodes, sizeof *slots);
    bool fit = true;
    for (uint32_t g = 0; g < shape->gpus; g++)
        if (!shape->speed || shape->speed[g] > 0)
            slots[parts > 1 ? shape->node[g] : 0] += shape->first[g + 1] - shape->first[g];
    for (uint32_t n = 0; n < parts; n++)
        fit &= slots[n] >= shape->experts / parts;
    free(slots);
    return fit;
}
