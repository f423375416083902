/* SPDX-License-Identifier: Apache-2.0 */
/* A bound for few slots a GPU, where large shares need small ones beside them.
 *
 * A GPU under a load T that holds a share above T - t, t <= T/2, holds no other share above t. So
 * with S slots or more on every GPU, (S - 1) #{share > T - t} <= #{share <= t} for every t. Numbers
 * of replicas are weighed against many such rules at once: if, for some weights, every choice of
 * replicas that fills all slots breaks the weighted sum of the rules, no plan is under T
 * (Lagrangian duality). Weights come from exponentiated subgradients. */
#include "bound.h"

#define RULES 512     /* at most; more thresholds are thinned out */
#define STEP 20.0     /* of the logarithm of the weight of the rule that is broken the most */
#define MOST_SLOTS 4  /* of a GPU: with more, the mean is the better bound */
#define MOST_SPARE 15 /* beyond that, shares are so small that the mean is the bound */

typedef struct trial {
    uint32_t n, others; /* experts; S - 1 */
    uint32_t spare;     /* slots beyond the fewest replicas that bring all shares under T */
    uint32_t *least;    /* [n]: the fewest replicas of each expert */
    uint16_t *rule;     /* [n][spare + 1]: of each number of replicas, see `place` */
    uint32_t *pick;     /* [n]: replicas beyond the fewest that suit the weights best */
    double *room;       /* [n]: for sorting */
    uint32_t n_rules;
    double threshold[RULES], weight[RULES], broken[RULES];
    double above[RULES + 1]; /* sums of the weights of rules r and up */
    uint16_t *choice;        /* [n][spare + 1] */
    double sum[MOST_SPARE + 1], cost[MOST_SPARE + 1];
} trial;

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The fewest replicas for T. false: more than there are slots. */
static bool count_least(trial *x, const double *load, double target, uint32_t slots, uint32_t cap) {
    uint64_t used = 0;
    for (uint32_t k = 0; k < x->n; k++) {
        double need = ceil(load[k] / target * (1 - 1e-12));
        if (need > cap)
            return false;
        x->least[k] = need < 1 ? 1 : (uint32_t)need;
        used += x->least[k];
    }
    if (used > slots)
        return false;
    x->spare = slots - (uint32_t)used;
    return true;
}

/* Thresholds where shares lie thickest: quantiles of what small shares are and large ones leave. */
static void choose_rules(trial *x, const double *load, double target) {
    double *room = x->room;
    uint32_t n = 0;
    for (uint32_t k = 0; k < x->n; k++) {
        double share = load[k] / x->least[k];
        double t = share > target / 2 ? target - share : share;
        if (t > 0)
            room[n++] = t;
    }
    qsort(room, n, sizeof *room, compare_doubles);
    x->n_rules = n < RULES ? n : RULES;
    for (uint32_t r = 0; r < x->n_rules; r++)
        x->threshold[r] = room[(size_t)(r + 1) * n / x->n_rules - 1] * (1 + 1e-9);
}

/* The first rule that counts a share as small, or RULES + the first that counts it as large. Both
 * hold for all rules from there on, as thresholds rise. */
static uint16_t place(const trial *x, double share, double target) {
    bool large = share > target / 2;
    double t = large ? target - share : share;
    uint32_t low = 0, high = x->n_rules;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (large ? x->threshold[middle] > t * (1 + 1e-12) : x->threshold[middle] >= t)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint16_t)(large ? RULES + 1 + low : low);
}

/* What a number of replicas of an expert adds to the weighted sum. */
static double cost_of(const trial *x, uint32_t k, uint32_t more) {
    uint16_t rule = x->rule[(size_t)k * (x->spare + 1) + more];
    double one = rule > RULES ? x->others * x->above[rule - RULES - 1] : -x->above[rule];
    return one * (x->least[k] + more);
}

/* The least weighted sum of what the rules are broken by, over all ways to share out the spare
 * slots: a knapsack, expert by expert. */
static double choose_replicas(trial *x) {
    uint32_t spare = x->spare;
    x->above[x->n_rules] = 0;
    for (uint32_t r = x->n_rules; r-- > 0;)
        x->above[r] = x->above[r + 1] + x->weight[r];
    for (uint32_t u = 0; u <= spare; u++)
        x->sum[u] = u ? INFINITY : 0; /* of the experts so far, that use u spare slots */
    for (uint32_t k = 0; k < x->n; k++) {
        for (uint32_t j = 0; j <= spare; j++)
            x->cost[j] = cost_of(x, k, j);
        for (uint32_t u = spare + 1; u-- > 0;) {
            double best = INFINITY;
            for (uint32_t j = 0; j <= u; j++)
                if (x->sum[u - j] + x->cost[j] < best) {
                    best = x->sum[u - j] + x->cost[j];
                    x->choice[(size_t)k * (spare + 1) + u] = (uint16_t)j;
                }
            x->sum[u] = best;
        }
    }
    for (uint32_t k = x->n, u = spare; k-- > 0; u -= x->pick[k])
        x->pick[k] = x->choice[(size_t)k * (spare + 1) + u];
    return x->sum[spare];
}

/* How far the choice breaks each rule. */
static void measure(trial *x) {
    memset(x->broken, 0, sizeof x->broken);
    for (uint32_t k = 0; k < x->n; k++) {
        uint16_t rule = x->rule[(size_t)k * (x->spare + 1) + x->pick[k]];
        double replicas = x->least[k] + x->pick[k];
        if (rule > RULES && rule - RULES - 1 < (int)x->n_rules)
            x->broken[rule - RULES - 1] += x->others * replicas;
        else if (rule < x->n_rules)
            x->broken[rule] -= replicas;
    }
    for (uint32_t r = 1; r < x->n_rules; r++)
        x->broken[r] += x->broken[r - 1];
}

/* (1 + y / 1024)^1024, near e^y: the same on every machine, unlike exp. */
static double grow(double y) {
    double x = 1 + y / 1024;
    for (int i = 0; i < 10; i++)
        x *= x;
    return x;
}

/* More weight to rules that are broken, less to those that are kept. */
static void reweigh(trial *x) {
    double most = 0, sum = 0;
    for (uint32_t r = 0; r < x->n_rules; r++)
        most = fmax(most, fabs(x->broken[r]));
    for (uint32_t r = 0; r < x->n_rules; r++) {
        x->weight[r] *= grow(STEP * x->broken[r] / most);
        sum += x->weight[r];
    }
    for (uint32_t r = 0; r < x->n_rules; r++)
        x->weight[r] /= sum;
}

/* Whether it is proven that no plan is under T. */
static bool refuted(trial *x, const double *load, double target, uint32_t slots, uint32_t cap,
                    uint32_t rounds) {
    if (!count_least(x, load, target, slots, cap))
        return true;
    if (x->spare > MOST_SPARE)
        return false;
    choose_rules(x, load, target);
    x->choice = kit_realloc(x->choice, (size_t)x->n * (x->spare + 1), sizeof *x->choice);
    x->rule = kit_realloc(x->rule, (size_t)x->n * (x->spare + 1), sizeof *x->rule);
    for (uint32_t k = 0; k < x->n; k++)
        for (uint32_t j = 0; j <= x->spare; j++)
            x->rule[(size_t)k * (x->spare + 1) + j] = place(x, load[k] / (x->least[k] + j), target);
    for (uint32_t r = 0; r < x->n_rules; r++)
        x->weight[r] = 1.0 / x->n_rules;
    for (uint32_t round = 0; round < rounds; round++) {
        if (choose_replicas(x) > 1e-9)
            return true;
        measure(x);
        reweigh(x);
    }
    return false;
}

double ep_bound_few_slots(const ep_task *t, const ep_domain *domain, uint32_t dim, double bound,
                          double above, uint32_t rounds) {
    uint32_t slots = 0, least = UINT32_MAX, gpus = domain->gpu_end - domain->gpu;
    double inverse = t->inverse[domain->gpu];
    for (uint32_t g = domain->gpu; g < domain->gpu_end; g++) {
        uint32_t n = t->shape->first[g + 1] - t->shape->first[g];
        slots += n;
        least = n < least ? n : least;
        if (t->inverse[g] != inverse)
            return bound;
    }
    if (inverse <= 0 || least < 2 || least > MOST_SLOTS)
        return bound;
    trial x = {
        .n = domain->n,
        .others = least - 1,
        .least = kit_alloc(domain->n, sizeof *x.least),
        .pick = kit_alloc(domain->n, sizeof *x.pick),
        .room = kit_alloc(domain->n, sizeof *x.room),
    };
    double *load = kit_alloc(domain->n, sizeof *load);
    for (uint32_t k = 0; k < domain->n; k++)
        load[k] = t->load[(size_t)domain->expert[k] * t->dims + dim] * inverse;
    while (above - bound > 2e-2 / rounds * bound) {
        double middle = bound + (above - bound) / 2;
        if (refuted(&x, load, middle, slots, t->distinct ? gpus : slots, rounds))
            bound = middle;
        else
            above = middle;
    }
    free(load);
    free(x.choice);
    free(x.rule);
    free(x.room);
    free(x.pick);
    free(x.least);
    return bound;
}
