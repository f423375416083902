/* SPDX-License-Identifier: Apache-2.0 */
/* Plans to begin a search with: counts of replicas for a target, then the largest share first. */
#include "search_start.h"

void ep_starter_init(ep_starter *s, const ep_task *task) {
    *s = (ep_starter){
        .task = task,
        .weight = kit_alloc(task->experts, sizeof *s->weight),
        .scale = kit_alloc(task->dims, sizeof *s->scale),
        .count = kit_alloc(task->experts, sizeof *s->count),
        .gpu_load = kit_alloc((size_t)task->gpus * task->dims, sizeof *s->gpu_load),
        .share = kit_alloc(task->dims, sizeof *s->share),
        .left = kit_alloc(task->gpus, sizeof *s->left),
        .items = kit_alloc(task->experts, sizeof *s->items),
    };
}

void ep_starter_finish(ep_starter *s) {
    free(s->weight);
    free(s->scale);
    free(s->count);
    free(s->gpu_load);
    free(s->share);
    free(s->left);
    free(s->items);
}

/* GPUs [gpu, gpu_end) and the experts that must be on them: a node, or all. */
typedef struct domain {
    uint32_t gpu, gpu_end, live, slots, n;
    double least_inverse; /* of the fastest GPU */
} domain;

static domain open_domain(ep_starter *s, uint32_t node) {
    const ep_task *t = s->task;
    domain d = {.gpu_end = t->gpus, .least_inverse = INFINITY};
    if (node != EP_ANY_NODE) {
        d.gpu = t->node_gpu[node];
        d.gpu_end = t->node_gpu[node + 1];
    }
    for (uint32_t g = d.gpu; g < d.gpu_end; g++) {
        if (t->inverse[g] <= 0)
            continue;
        d.live++;
        d.slots += t->shape->first[g + 1] - t->shape->first[g];
        d.least_inverse = fmin(d.least_inverse, t->inverse[g]);
    }
    for (uint32_t e = 0; e < t->experts; e++)
        if (t->home[e] == node)
            s->items[d.n++].expert = e;
    return d;
}

/* Which expert gets a spare slot: the one with the highest rank. */
static double spare_rank(ep_spare_rule rule, double share) {
    switch (rule) {
    case EP_SPARE_SMALLEST:
        return -share;
    case EP_SPARE_HALF:
        return share < 0.5 ? share : -share;
    default:
        return share;
    }
}

static void count_replicas(ep_starter *s, const domain *d, ep_spare_rule rule) {
    uint32_t cap = s->task->distinct ? d->live : d->slots, used = 0;
    for (uint32_t k = 0; k < d->n; k++) {
        uint32_t e = s->items[k].expert;
        double need = ceil(s->weight[e] * d->least_inverse);
        s->count[e] = need < 1 ? 1 : need > cap ? cap : (uint32_t)need;
        used += s->count[e];
    }
    if (used > d->slots) { /* the target is too low for these slots */
        for (uint32_t k = 0; k < d->n; k++)
            s->count[s->items[k].expert] = 1;
        used = d->n;
        rule = EP_SPARE_LARGEST;
    }
    for (; used < d->slots; used++) {
        uint32_t best = EP_END;
        double most = -INFINITY;
        for (uint32_t k = 0; k < d->n; k++) {
            uint32_t e = s->items[k].expert;
            double rank = spare_rank(rule, s->weight[e] / s->count[e]);
            if (s->count[e] < cap && rank > most) {
                most = rank;
                best = e;
            }
        }
        if (best == EP_END)
            return;
        s->count[best]++;
    }
}

static int compare_items(const void *a, const void *b) {
    const struct ep_item *x = a, *y = b;
    if (x->many != y->many)
        return x->many ? -1 : 1;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return (x->expert > y->expert) - (x->expert < y->expert);
}

static bool holds(const ep_starter *s, const int32_t *plan, uint32_t gpu, uint32_t expert) {
    const uint32_t *first = s->task->shape->first;
    for (uint32_t i = first[gpu]; i < first[gpu + 1] - s->left[gpu]; i++)
        if (plan[i] == (int32_t)expert)
            return true;
    return false;
}

/* The GPU that the replica in hand leaves with the least load. */
static uint32_t lightest(const ep_starter *s, const domain *d, const int32_t *plan, uint32_t e,
                         bool again) {
    uint32_t best = EP_END, dims = s->task->dims;
    double least = INFINITY;
    for (uint32_t g = d->gpu; g < d->gpu_end; g++) {
        const double *load = s->gpu_load + (size_t)g * dims;
        double most = 0, inverse = s->task->inverse[g];
        if (s->left[g] == 0)
            continue;
        for (uint32_t i = 0; i < dims; i++) {
            double part = load[i] + s->share[i] * inverse;
            most = part > most ? part : most;
        }
        if (most < least && (again || !holds(s, plan, g, e))) {
            least = most;
            best = g;
        }
    }
    return best;
}

static void place(ep_starter *s, const domain *d, uint32_t e, int32_t *plan) {
    const ep_task *t = s->task;
    for (uint32_t i = 0; i < t->dims; i++)
        s->share[i] = t->load[(size_t)e * t->dims + i] / s->count[e] * s->scale[i];
    for (uint32_t k = 0; k < s->count[e]; k++) {
        uint32_t g = lightest(s, d, plan, e, !t->distinct);
        if (g == EP_END)
            g = lightest(s, d, plan, e, true);
        plan[t->shape->first[g + 1] - s->left[g]--] = (int32_t)e;
        for (uint32_t i = 0; i < t->dims; i++)
            s->gpu_load[(size_t)g * t->dims + i] += s->share[i] * t->inverse[g];
    }
}

static void plan_domain(ep_starter *s, uint32_t node, ep_spare_rule rule, int32_t *plan) {
    domain d = open_domain(s, node);
    count_replicas(s, &d, rule);
    for (uint32_t k = 0; k < d.n; k++) {
        uint32_t e = s->items[k].expert;
        s->items[k].share = s->weight[e] / s->count[e];
        s->items[k].many = s->count[e] > d.live / 2;
    }
    qsort(s->items, d.n, sizeof *s->items, compare_items);
    for (uint32_t k = 0; k < d.n; k++)
        place(s, &d, s->items[k].expert, plan);
}

void ep_starter_plan(ep_starter *s, const double *target, ep_spare_rule rule, int32_t *ret_plan) {
    const ep_task *t = s->task;
    memset(s->gpu_load, 0, (size_t)t->gpus * t->dims * sizeof *s->gpu_load);
    for (uint32_t g = 0; g < t->gpus; g++)
        s->left[g] = t->inverse[g] > 0 ? t->shape->first[g + 1] - t->shape->first[g] : 0;
    for (uint32_t i = 0; i < t->slots; i++)
        ret_plan[i] = MILL_NO_EXPERT;
    for (uint32_t i = 0; i < t->dims; i++)
        s->scale[i] = target[i] > 0 ? 1 / target[i] : 0;
    for (uint32_t e = 0; e < t->experts; e++) {
        s->weight[e] = 0;
        for (uint32_t i = 0; i < t->dims; i++)
            s->weight[e] = fmax(s->weight[e], t->load[(size_t)e * t->dims + i] * s->scale[i]);
    }
    if (!t->bound_to_nodes)
        plan_domain(s, EP_ANY_NODE, rule, ret_plan);
    for (uint32_t n = 0; t->bound_to_nodes && n < t->shape->nodes; n++)
        plan_domain(s, n, rule, ret_plan);
}
