/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of replicas where every GPU has two slots: the largest share goes with the smallest, which
 * is the best that can be done with given counts, so that only the counts are searched. */
#include "search_pairs.h"

#define HEAT 0.3      /* a move may raise the excess by this part of it, times -log of a chance */
#define PATIENCE 500 /* moves tried before it begins again from the best */

typedef struct pair_item {
    double share;
    uint32_t expert;
} pair_item;

typedef struct pairs {
    const ep_task *t;
    const ep_domain *domain;
    uint32_t slots, cap;    /* most replicas of an expert */
    uint32_t *count, *best; /* [experts] */
    pair_item *items; /* [slots], rising */
    double *shares;   /* [slots]: of the move in hand */
    uint32_t *over, n_over; /* pairs over the target, by their smaller item */
} pairs;

bool ep_pairs_apply(const ep_task *t, const ep_domain *domain) {
    if (t->dims != 1)
        return false;
    for (uint32_t g = domain->gpu; g < domain->gpu_end; g++)
        if (t->inverse[g] != t->inverse[domain->gpu] || t->inverse[g] <= 0 ||
            t->shape->first[g + 1] - t->shape->first[g] != 2)
            return false;
    return true;
}

static int compare_items(const void *a, const void *b) {
    const pair_item *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? -1 : 1;
    return (x->expert > y->expert) - (x->expert < y->expert);
}

static void sort_items(pairs *p) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->domain->n; k++) {
        uint32_t e = p->domain->expert[k];
        for (uint32_t i = 0; i < p->count[e]; i++)
            p->items[n++] = (pair_item){p->t->load[e] / p->count[e], e};
    }
    while (n < p->slots)
        p->items[n++] = (pair_item){0, p->t->experts};
    qsort(p->items, p->slots, sizeof *p->items, compare_items);
}

/* The shares in order after a replica of e became one of f. */
static void merge_shares(pairs *p, uint32_t e, uint32_t f) {
    uint32_t n = p->count[e] - 1, m = p->count[f] + 1, k = 0;
    double of_e = p->t->load[e] / n, of_f = p->t->load[f] / m;
    for (uint32_t i = 0; i < p->slots; i++) {
        if (p->items[i].expert == e || p->items[i].expert == f)
            continue;
        double next = p->items[i].share;
        for (; m && of_f <= next && (of_f <= of_e || !n); m--)
            p->shares[k++] = of_f;
        for (; n && of_e <= next; n--)
            p->shares[k++] = of_e;
        for (; m && of_f <= next; m--)
            p->shares[k++] = of_f;
        p->shares[k++] = next;
    }
    for (; m && (of_f <= of_e || !n); m--)
        p->shares[k++] = of_f;
    for (; n; n--)
        p->shares[k++] = of_e;
    for (; m; m--)
        p->shares[k++] = of_f;
}

static double excess_of(const double *shares, uint32_t n, double target, double *ret_most) {
    double sum = 0, most = 0;
    for (uint32_t i = 0; i < n / 2; i++) {
        double pair = shares[i] + shares[n - 1 - i];
        if (pair > target)
            sum += (pair - target) * (pair - target);
        most = pair > most ? pair : most;
    }
    *ret_most = most;
    return sum;
}

/* Looks at the counts as they are: the excess, and which pairs are over the target. */
static double look(pairs *p, double target) {
    double most;
    sort_items(p);
    p->n_over = 0;
    for (uint32_t i = 0; i < p->slots; i++) {
        p->shares[i] = p->items[i].share;
        if (i < p->slots / 2 && p->shares[i] + p->items[p->slots - 1 - i].share > target)
            p->over[p->n_over++] = i;
    }
    return excess_of(p->shares, p->slots, target, &most);
}

/* Begins again from the best counts found. */
static double restart(pairs *p, double target) {
    memcpy(p->count, p->best, p->t->experts * sizeof *p->count);
    return look(p, target);
}

/* Who gets one more replica: mostly an expert of a pair that is over the target. */
static uint32_t choose(const pairs *p, uint64_t *random) {
    uint64_t dice = ep_random(random);
    if (p->n_over == 0 || dice % 4 == 0)
        return p->domain->expert[(dice >> 8) % p->domain->n];
    uint32_t i = p->over[(dice >> 8) % p->n_over];
    return p->items[dice & 4 ? i : p->slots - 1 - i].expert;
}

/* Annealing at a constant heat on Σ max(0, pair - target)². */
static uint64_t anneal(pairs *p, double floor, uint64_t work, uint64_t *random) {
    double best, most;
    restart(p, 0);
    excess_of(p->shares, p->slots, 0, &best);
    double target = floor + (best - floor) / 2, sum = look(p, target);
    uint32_t idle = 0;
    uint64_t done = 0;
    for (; done < work && best > floor * (1 + 1e-6); done += 4) {
        uint32_t e = p->items[ep_random(random) % p->slots].expert, f = choose(p, random);
        if (e == p->t->experts || f == p->t->experts || p->count[e] < 2 || e == f ||
            p->count[f] == p->cap)
            continue;
        done += p->slots;
        merge_shares(p, e, f);
        double next = excess_of(p->shares, p->slots, target, &most);
        double chance = (double)((ep_random(random) >> 11) + 1) * 0x1p-53;
        if (next < sum * (1 - HEAT * log(chance))) {
            p->count[e]--;
            p->count[f]++;
            if (most < best) {
                best = most;
                target = floor + (best - floor) / 2;
                memcpy(p->best, p->count, p->t->experts * sizeof *p->best);
                idle = 0;
            }
            sum = look(p, target);
        }
        if (++idle % PATIENCE == 0)
            sum = restart(p, target);
    }
    return done;
}

uint64_t ep_pairs_search(const ep_task *t, const ep_domain *domain, double floor, uint64_t work,
                       uint64_t *random, uint32_t *count) {
    uint32_t gpus = domain->gpu_end - domain->gpu;
    pairs p = {
        .t = t,
        .domain = domain,
        .slots = 2 * gpus,
        .cap = t->distinct ? gpus : 2 * gpus,
        .count = count,
        .best = kit_alloc(t->experts, sizeof *p.best),
        .items = kit_alloc(2 * (size_t)gpus, sizeof *p.items),
        .shares = kit_alloc(2 * (size_t)gpus, sizeof *p.shares),
        .over = kit_alloc(gpus, sizeof *p.over),
    };
    memcpy(p.best, count, t->experts * sizeof *p.best);
    double speed = 1 / t->inverse[domain->gpu];
    uint64_t done = anneal(&p, floor * speed, work, random);
    memcpy(count, p.best, t->experts * sizeof *count);
    free(p.best);
    free(p.items);
    free(p.shares);
    free(p.over);
    return done;
}

void ep_pairs_plan(const ep_task *t, const ep_domain *domain, const uint32_t *count,
                   int32_t *plan) {
    pairs p = {.t = t, .domain = domain, .slots = 2 * (domain->gpu_end - domain->gpu)};
    p.count = (uint32_t *)count;
    p.items = kit_alloc(p.slots, sizeof *p.items);
    sort_items(&p);
    for (uint32_t i = 0; i < p.slots / 2; i++) {
        int32_t *slot = plan + t->shape->first[domain->gpu + i];
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t e = p.items[k ? i : p.slots - 1 - i].expert;
            slot[k] = e == t->experts ? MILL_NO_EXPERT : (int32_t)e;
        }
    }
    free(p.items);
}
