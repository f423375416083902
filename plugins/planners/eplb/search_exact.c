/* SPDX-License-Identifier: Apache-2.0 */
/* Every plan of a small layer: all counts of replicas, and for each all ways to place them, but for
 * those that are the same or cannot be better than the best so far (branch and bound). */
#include "search_exact.h"

typedef struct item {
    double load;
    uint32_t expert, count;
} item;

typedef struct exact {
    const ep_task *t;
    const ep_domain *domain;
    uint32_t slots, live;
    item *items;         /* [n]: experts, the hottest first, with their counts */
    item *sorted;        /* [n]: the same, the largest share first */
    double *load;        /* of each GPU */
    uint32_t *filled;    /* slots of each GPU */
    int32_t *trial;      /* [slots of the layer] */
    double total, speed; /* all load, all speed */
    double value;        /* the best so far */
    int32_t *plan;
    uint64_t work;
} exact;

static int by_load(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->load != y->load)
        return x->load < y->load ? 1 : -1;
    return (x->expert > y->expert) - (x->expert < y->expert);
}

static int by_share(const void *a, const void *b) {
    const item *x = a, *y = b;
    double s = x->load / x->count, r = y->load / y->count;
    if (s != r)
        return s < r ? 1 : -1;
    return (x->expert > y->expert) - (x->expert < y->expert);
}

static uint32_t size_of(const exact *x, uint32_t g) {
    return x->t->shape->first[g + 1] - x->t->shape->first[g];
}

/* Below the best by more than rounding. */
static double limit(const exact *x) {
    return x->value * (1 - 1e-12);
}

static bool holds(const exact *x, uint32_t g, uint32_t expert) {
    const int32_t *slot = x->trial + x->t->shape->first[g];
    for (uint32_t i = 0; i < x->filled[g]; i++)
        if (slot[i] == (int32_t)expert)
            return true;
    return false;
}

/* An empty GPU like one before it would only repeat what was tried there. */
static bool repeats(const exact *x, uint32_t g) {
    for (uint32_t h = x->domain->gpu; h < g && !x->filled[g]; h++)
        if (!x->filled[h] && size_of(x, h) == size_of(x, g) && x->t->inverse[h] == x->t->inverse[g])
            return true;
    return false;
}

static void keep(exact *x) {
    double most = 0;
    for (uint32_t g = x->domain->gpu; g < x->domain->gpu_end; g++)
        most = fmax(most, x->load[g]);
    if (most >= limit(x))
        return; /* a better plan was found meanwhile */
    x->value = most;
    uint32_t first = x->t->shape->first[x->domain->gpu];
    memcpy(x->plan + first, x->trial + first,
           (x->t->shape->first[x->domain->gpu_end] - first) * sizeof *x->plan);
}

/* Load and speed of the GPUs that are full. */
typedef struct taken {
    double load, speed;
} taken;

/* Places replica `copy` of the k-th expert and all after it. Replicas of an expert go to GPUs from
 * `from` on, in rising order. */
static void pack(exact *x, uint32_t k, uint32_t copy, uint32_t from, taken full) {
    if (k < x->domain->n && copy == x->sorted[k].count) {
        k++;
        copy = 0;
        from = x->domain->gpu;
    }
    if (k == x->domain->n) {
        keep(x);
        return;
    }
    const item *it = &x->sorted[k];
    for (uint32_t g = from; g < x->domain->gpu_end && x->work; g++) {
        double inverse = x->t->inverse[g], old = x->load[g];
        double load = old + it->load / it->count * inverse;
        if (inverse <= 0 || x->filled[g] == size_of(x, g) || load >= limit(x) || repeats(x, g) ||
            (x->t->distinct && holds(x, g, it->expert)))
            continue;
        x->work--;
        taken now = full;
        if (x->filled[g] + 1 == size_of(x, g))
            now = (taken){full.load + load / inverse, full.speed + 1 / inverse};
        if (x->total - now.load > limit(x) * (x->speed - now.speed) + 1e-12 * x->total)
            continue; /* the others cannot take what is left */
        x->trial[x->t->shape->first[g] + x->filled[g]++] = (int32_t)it->expert;
        x->load[g] = load;
        pack(x, k, copy + 1, g, now);
        x->load[g] = old;
        x->trial[x->t->shape->first[g] + --x->filled[g]] = MILL_NO_EXPERT;
    }
}

static uint32_t least_count(const exact *x, uint32_t k, double fastest) {
    double need = ceil(x->items[k].load / (limit(x) * fastest));
    return need < 1 ? 1 : need > x->slots ? x->slots + 1 : (uint32_t)need;
}

/* Counts of the k-th expert and those after it, of `left` slots. */
static void choose_counts(exact *x, uint32_t k, uint32_t left, double fastest) {
    if (k == x->domain->n) {
        if (left)
            return;
        memcpy(x->sorted, x->items, x->domain->n * sizeof *x->sorted);
        qsort(x->sorted, x->domain->n, sizeof *x->sorted, by_share);
        pack(x, 0, 0, x->domain->gpu, (taken){0, 0});
        return;
    }
    uint32_t cap = x->t->distinct ? x->live : x->slots, after = 0;
    for (uint32_t i = k + 1; i < x->domain->n; i++)
        after += least_count(x, i, fastest);
    for (uint32_t c = least_count(x, k, fastest); c <= cap && c + after <= left && x->work; c++) {
        if (c < least_count(x, k, fastest))
            continue; /* a better plan was found meanwhile */
        x->work--;
        x->items[k].count = c;
        choose_counts(x, k + 1, left - c, fastest);
    }
}

double ep_exact(const ep_task *t, const ep_domain *domain, double value, uint64_t *work,
                int32_t *plan) {
    exact x = {
        .t = t,
        .domain = domain,
        .items = kit_alloc(domain->n, sizeof *x.items),
        .sorted = kit_alloc(domain->n, sizeof *x.sorted),
        .load = kit_alloc(t->gpus, sizeof *x.load),
        .filled = kit_alloc(t->gpus, sizeof *x.filled),
        .trial = kit_alloc(t->slots, sizeof *x.trial),
        .value = value,
        .plan = plan,
        .work = *work,
    };
    double fastest = 0;
    memset(x.trial, 0xff, t->slots * sizeof *x.trial);
    for (uint32_t k = 0; k < domain->n; k++) {
        x.items[k] = (item){t->load[domain->expert[k]], domain->expert[k], 0};
        x.total += x.items[k].load;
    }
    for (uint32_t g = domain->gpu; g < domain->gpu_end; g++) {
        if (t->inverse[g] <= 0)
            continue;
        x.live++;
        x.slots += size_of(&x, g);
        x.speed += 1 / t->inverse[g];
        fastest = fmax(fastest, 1 / t->inverse[g]);
    }
    qsort(x.items, domain->n, sizeof *x.items, by_load);
    choose_counts(&x, 0, x.slots, fastest);
    *work = x.work;
    free(x.items);
    free(x.sorted);
    free(x.load);
    free(x.filled);
    free(x.trial);
    return x.value;
}
