/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of replicas where every GPU has two slots: the largest share goes with the smallest, which
 * is the best that can be done with given counts, so that only the counts are searched. */
#include "search_pairs.h"

#define HEAT 0.2     /* a move may raise the excess by this part of it, times its luck */
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
    pair_item *items;       /* [slots], rising */
    pair_item *best_items;  /* [slots]: those of the best counts */
    pair_item *next;        /* [slots]: after the move in hand */
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

/* The items in order after a replica of e became one of f: p->next. */
static void merge_items(pairs *p, uint32_t e, uint32_t f) {
    uint32_t left[2] = {p->count[e] - 1, p->count[f] + 1}, k = 0;
    pair_item own[2] = {{p->t->load[e] / left[0], e}, {p->t->load[f] / left[1], f}};
    uint32_t low = own[0].share <= own[1].share ? 0 : 1;
    for (uint32_t i = 0; i <= p->slots; i++) {
        if (i < p->slots && (p->items[i].expert == e || p->items[i].expert == f))
            continue;
        double next = i < p->slots ? p->items[i].share : INFINITY;
        for (uint32_t turn = 0; turn < 2; turn++) /* the lower of both first */
            for (uint32_t w = turn ? 1 - low : low; left[w] && own[w].share <= next; left[w]--)
                p->next[k++] = own[w];
        if (i < p->slots)
            p->next[k++] = p->items[i];
    }
}

static double excess_of(const pair_item *items, uint32_t n, double target, double *ret_most) {
    double sum = 0, most = 0;
    for (uint32_t i = 0; i < n / 2; i++) {
        double pair = items[i].share + items[n - 1 - i].share;
        if (pair > target)
            sum += (pair - target) * (pair - target);
        most = pair > most ? pair : most;
    }
    *ret_most = most;
    return sum;
}

/* Looks at the items as they are: the excess, and which pairs are over the target. */
static double look(pairs *p, double target) {
    double most;
    p->n_over = 0;
    for (uint32_t i = 0; i < p->slots / 2; i++)
        if (p->items[i].share + p->items[p->slots - 1 - i].share > target)
            p->over[p->n_over++] = i;
    return excess_of(p->items, p->slots, target, &most);
}

/* Begins again from the best counts found. */
static double restart(pairs *p, double target) {
    memcpy(p->count, p->best, p->t->experts * sizeof *p->count);
    memcpy(p->items, p->best_items, p->slots * sizeof *p->items);
    return look(p, target);
}

static void remember(pairs *p) {
    memcpy(p->best, p->count, p->t->experts * sizeof *p->best);
    memcpy(p->best_items, p->items, p->slots * sizeof *p->items);
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
    sort_items(p);
    remember(p);
    excess_of(p->items, p->slots, 0, &best);
    double target = floor + (best - floor) / 2, sum = look(p, target);
    uint32_t idle = 0;
    uint64_t done = 0;
    for (; done < work && best > floor * (1 + 1e-6); done += 4) {
        uint32_t e = p->items[ep_random(random) % p->slots].expert, f = choose(p, random);
        if (e == p->t->experts || f == p->t->experts || p->count[e] < 2 || e == f ||
            p->count[f] == p->cap)
            continue;
        done += p->slots;
        merge_items(p, e, f);
        double next = excess_of(p->next, p->slots, target, &most);
        double luck = __builtin_ctzll(ep_random(random) | 1ull << 63); /* 1 in 2, 2 in 4, … */
        if (next < sum * (1 + HEAT * luck)) {
            pair_item *old = p->items;
            p->items = p->next;
            p->next = old;
            p->count[e]--;
            p->count[f]++;
            if (most < best) {
                best = most;
                target = floor + (best - floor) / 2;
                remember(p);
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
        .best_items = kit_alloc(2 * (size_t)gpus, sizeof *p.best_items),
        .next = kit_alloc(2 * (size_t)gpus, sizeof *p.next),
        .over = kit_alloc(gpus, sizeof *p.over),
    };
    double speed = 1 / t->inverse[domain->gpu];
    uint64_t done = anneal(&p, floor * speed, work, random);
    memcpy(count, p.best, t->experts * sizeof *count);
    free(p.best);
    free(p.items);
    free(p.best_items);
    free(p.next);
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
