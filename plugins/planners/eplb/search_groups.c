/* SPDX-License-Identifier: Apache-2.0 */
/* Which groups of experts go to which node: all partitions, judged by what no plan can beat. */
#include "search_groups.h"

typedef struct walk {
    ep_partitions *found;
    const ep_task *t;
    uint32_t groups, nodes, size, per_node; /* experts of a group, groups of a node */
    double *group_load;                     /* [groups][dims] */
    uint32_t *order;                        /* groups, the heaviest first */
    double *speed, *node_load;              /* [nodes]; [nodes][dims] */
    uint32_t *filled, *node;                /* groups on each node; of each group */
    double *most;                           /* [dims] */
    uint32_t *expert;                       /* of the node in hand */
    bool *tried;                            /* [groups][nodes]: at each depth */
    uint64_t work;                          /* left */
} walk;

void ep_partitions_init(ep_partitions *p, const ep_task *t, uint32_t limit) {
    *p = (ep_partitions){.limit = limit, .items = kit_alloc((size_t)limit + 1, sizeof *p->items)};
    for (uint32_t i = 0; i <= limit; i++)
        p->items[i].node = kit_alloc(t->shape->groups, sizeof *p->items[i].node);
}

void ep_partitions_finish(ep_partitions *p) {
    for (uint32_t i = 0; i <= p->limit; i++)
        free(p->items[i].node);
    free(p->items);
}

/* Whether two nodes are the same to a plan. */
static bool nodes_alike(const ep_task *t, uint32_t a, uint32_t b) {
    const uint32_t *first = t->shape->first;
    uint32_t g = t->node_gpu[a], h = t->node_gpu[b], n = t->node_gpu[a + 1] - g;
    if (t->node_gpu[b + 1] - h != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (first[g + i + 1] - first[g + i] != first[h + i + 1] - first[h + i] ||
            t->inverse[g + i] != t->inverse[h + i])
            return false;
    return true;
}

/* Of the groups placed so far, by their sums alone. */
static double sums_bound(const walk *w) {
    const ep_task *t = w->t;
    for (uint32_t d = 0; d < t->dims; d++) {
        w->most[d] = 0;
        for (uint32_t n = 0; n < w->nodes; n++)
            w->most[d] = fmax(w->most[d], w->node_load[(size_t)n * t->dims + d] / w->speed[n]);
    }
    return ep_task_value(t, w->most);
}

static double whole_bound(walk *w) {
    const ep_task *t = w->t;
    memset(w->most, 0, t->dims * sizeof *w->most);
    for (uint32_t n = 0; n < w->nodes; n++) {
        ep_domain domain = {t->node_gpu[n], t->node_gpu[n + 1], 0, w->expert};
        for (uint32_t g = 0; g < w->groups; g++)
            for (uint32_t k = 0; w->node[g] == n && k < w->size; k++)
                w->expert[domain.n++] = g * w->size + k;
        for (uint32_t d = 0; d < t->dims; d++)
            w->most[d] = fmax(w->most[d], ep_bound_simple(t, &domain, d));
        w->work -= w->work < domain.n * t->dims ? w->work : domain.n * t->dims;
    }
    return ep_task_value(t, w->most);
}

static double worst_kept(const ep_partitions *p) {
    return p->n < p->limit ? INFINITY : p->items[p->n - 1].bound;
}

static void keep(walk *w, double bound) {
    ep_partitions *p = w->found;
    uint32_t i = p->n;
    ep_partition item = p->items[i]; /* one more than is kept: room for the new one */
    memcpy(item.node, w->node, w->groups * sizeof *item.node);
    item.bound = bound;
    for (; i > 0 && p->items[i - 1].bound > bound; i--)
        p->items[i] = p->items[i - 1];
    p->items[i] = item;
    if (p->n < p->limit)
        p->n++;
}

static void place_group(walk *w, uint32_t group, uint32_t node, double sign) {
    uint32_t dims = w->t->dims;
    for (uint32_t d = 0; d < dims; d++)
        w->node_load[(size_t)node * dims + d] += sign * w->group_load[(size_t)group * dims + d];
}

/* The lightest node that may take the group and was not tried: the first descent is LPT. */
static uint32_t next_node(const walk *w, const bool *tried) {
    uint32_t best = UINT32_MAX;
    double least = INFINITY;
    for (uint32_t n = 0; n < w->nodes; n++) {
        double load = w->node_load[(size_t)n * w->t->dims] / w->speed[n];
        bool same = false;
        for (uint32_t m = 0; m < n && !w->filled[n] && !same; m++)
            same = !w->filled[m] && nodes_alike(w->t, m, n);
        if (!tried[n] && w->filled[n] < w->per_node && !same && load < least) {
            least = load;
            best = n;
        }
    }
    return best;
}

static void visit(walk *w, uint32_t depth) {
    if (w->work == 0) {
        w->found->complete = false;
        return;
    }
    w->work -= w->work < w->nodes ? w->work : w->nodes;
    if (depth > 0 && sums_bound(w) >= worst_kept(w->found))
        return;
    if (depth == w->groups) {
        double bound = whole_bound(w);
        if (bound < worst_kept(w->found))
            keep(w, bound);
        return;
    }
    bool *tried = w->tried + (size_t)depth * w->nodes;
    memset(tried, 0, w->nodes * sizeof *tried);
    uint32_t group = w->order[depth], n;
    while ((n = next_node(w, tried)) != UINT32_MAX) {
        tried[n] = true;
        w->node[group] = n;
        w->filled[n]++;
        place_group(w, group, n, 1);
        visit(w, depth + 1);
        place_group(w, group, n, -1);
        w->filled[n]--;
    }
}

static void walk_init(walk *w, ep_partitions *p, const ep_task *t, uint64_t work) {
    uint32_t groups = t->shape->groups, nodes = t->shape->nodes, dims = t->dims;
    *w = (walk){
        .found = p,
        .t = t,
        .groups = groups,
        .nodes = nodes,
        .size = t->experts / groups,
        .per_node = groups / nodes,
        .group_load = kit_alloc((size_t)groups * dims, sizeof *w->group_load),
        .order = kit_alloc(groups, sizeof *w->order),
        .speed = kit_alloc(nodes, sizeof *w->speed),
        .node_load = kit_alloc((size_t)nodes * dims, sizeof *w->node_load),
        .filled = kit_alloc(nodes, sizeof *w->filled),
        .node = kit_alloc(groups, sizeof *w->node),
        .most = kit_alloc(dims, sizeof *w->most),
        .expert = kit_alloc(t->experts, sizeof *w->expert),
        .tried = kit_alloc((size_t)groups * nodes, sizeof *w->tried),
        .work = work,
    };
    for (uint32_t e = 0; e < t->experts; e++)
        for (uint32_t d = 0; d < dims; d++)
            w->group_load[(size_t)(e / w->size) * dims + d] += t->load[(size_t)e * dims + d];
    for (uint32_t n = 0; n < nodes; n++)
        for (uint32_t g = t->node_gpu[n]; g < t->node_gpu[n + 1]; g++)
            w->speed[n] += t->inverse[g] > 0 ? 1 / t->inverse[g] : 0;
    for (uint32_t g = 0; g < groups; g++) { /* insertion: groups are few */
        uint32_t i = g;
        for (; i > 0 &&
               w->group_load[(size_t)w->order[i - 1] * dims] < w->group_load[(size_t)g * dims];
             i--)
            w->order[i] = w->order[i - 1];
        w->order[i] = g;
    }
}

void ep_partitions_find(ep_partitions *p, const ep_task *t, uint64_t work) {
    walk w;
    p->n = 0;
    p->complete = true;
    walk_init(&w, p, t, work);
    visit(&w, 0);
    free(w.group_load);
    free(w.order);
    free(w.speed);
    free(w.node_load);
    free(w.filled);
    free(w.node);
    free(w.most);
    free(w.expert);
    free(w.tried);
}
