/* SPDX-License-Identifier: Apache-2.0 */
/* The search on the cases of the oracle: beside eplb.py's plans, the best ones known, bounds and
 * optima. */
#include "oracle.h"
#include "reference.h"
#include "search.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-8 /* the tables have nine digits */

typedef struct outcome {
    double value, bound, eplb;
    bool proven;
} outcome;

static ep_goal goal_of(const oracle_case *c, uint32_t layer, ep_effort effort) {
    return (ep_goal){
        .policy = c->hierarchical ? EP_HIERARCHICAL : EP_GLOBAL,
        .effort = effort,
        .start = c->plan + (size_t)layer * c->shape.slots,
        .moves = MILL_UNKNOWN,
        .seed = 1,
    };
}

static ep_loads loads_of(const oracle_case *c, uint32_t layer) {
    return (ep_loads){c->shape.experts, 1, c->load + (size_t)layer * c->shape.experts};
}

static outcome plan(ep_search *s, const oracle_case *c, const ep_shape *shape, uint32_t layer,
                    ep_effort effort) {
    ep_goal goal = goal_of(c, layer, effort);
    ep_loads loads = loads_of(c, layer);
    g_autofree int32_t *plan = g_new(int32_t, shape->slots);
    g_autofree uint32_t *count = g_new(uint32_t, shape->experts);
    ep_answer answer;
    ep_search_plan(s, &loads, &goal, plan, &answer);
    ep_counts(shape, plan, count);
    for (uint32_t e = 0; e < shape->experts; e++)
        g_assert_cmpuint(count[e], >, 0);
    if (c->hierarchical)
        g_assert_cmpuint(answer.splits, ==, 0);
    if (shape->distinct && !answer.distinct_broken)
        g_assert_cmpuint(ep_duplicates(shape, plan), ==, 0);
    return (outcome){answer.value, answer.bound, ep_value(shape, &loads, EP_MEAN, goal.start),
                     answer.proven};
}

/* Where duplicates are forbidden, some tiny layers cannot be as good as eplb.py's plans with them
 * (two GPUs of two slots each for three experts). Then every plan was tried. */
static void check_layer(const oracle_case *c, uint32_t layer, const outcome *o, bool distinct) {
    const struct oracle_layer *known = &c->known[layer];
    double best = distinct ? known->best_distinct : known->best;
    if (o->value > o->eplb * (1 + ROUNDING) && !(distinct && o->proven))
        g_error("%s, layer %u: %g is worse than eplb.py's %g", c->name, layer, o->value, o->eplb);
    if (!isnan(best))
        g_assert_cmpfloat(o->bound, <=, best * (1 + ROUNDING));
    if (!isnan(known->lower_bound))
        g_assert_cmpfloat(o->bound, >=, known->lower_bound * (1 - 5e-3));
    if (!isnan(known->optimum))
        g_assert_cmpfloat(o->value, >=, known->optimum * (1 - ROUNDING));
}

static void test_never_worse(void) {
    uint32_t worse = 0;
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autoptr(GPtrArray) cases = oracle_cases(folder);
    for (guint i = 0; i < cases->len; i++) {
        const oracle_case *c = cases->pdata[i];
        for (int distinct = 0; distinct < 2; distinct++) {
            ep_shape shape = c->shape;
            shape.distinct = distinct;
            ep_search *s = ep_search_create(&shape);
            for (uint32_t l = 0; l < c->layers; l++) {
                outcome o = plan(s, c, &shape, l, EP_SEARCH_FAST);
                check_layer(c, l, &o, distinct);
                worse += o.value > o.eplb * (1 + ROUNDING);
            }
            ep_search_destroy(s);
        }
    }
    g_assert_cmpuint(worse, ==, 7); /* 1 of groups_eq_nodes, 6 of exhaustive_e3_r4_n1_g2 */
}

/* Gaps to the better of the oracle's bound and our own, in percent, over layers. */
typedef struct gaps {
    double mean, most, eplb_mean;
} gaps;

static gaps gaps_of(const oracle_case *c, ep_effort effort) {
    gaps g = {0};
    ep_shape shape = c->shape;
    shape.distinct = true;
    ep_search *s = ep_search_create(&shape);
    uint32_t layers = MIN(c->layers, 8);
    for (uint32_t l = 0; l < layers; l++) {
        outcome o = plan(s, c, &shape, l, effort);
        double bound = fmax(o.bound, isnan(c->known[l].lower_bound) ? 0 : c->known[l].lower_bound);
        check_layer(c, l, &o, true);
        g.mean += 100 * (o.value / bound - 1) / layers;
        g.most = fmax(g.most, 100 * (o.value / bound - 1));
        g.eplb_mean += 100 * (o.eplb / bound - 1) / layers;
    }
    ep_search_destroy(s);
    return g;
}

static const struct goal {
    const char *name;
    double mean, most; /* of `best`, in percent */
} goals[] = {
    /* log-normal loads, four slots a GPU or more */
    {"dsv3_prefill_ep32", 0.1, 0.3},
    {"dsv3_ep64", 0.1, 0.3},
    {"dsv3_ep72", 0.1, 0.3},
    {"qwen3_ep8", 0.1, 0.3},
    {"kimi_k2_ep128", 0.1, 0.3},
    {"gptoss_ep8", 0.1, 0.3},
    {"no_redundancy_ep32", 0.1, 0.3},
    {"dsv3_prefill_ep32_zipf", 2, 3},
    /* two slots, one slot */
    {"dsv3_decode_ep144", 0.3, 0.7},
    {"dsv3_decode_ep320", 1e-6, 1e-6},
};

static void test_goals(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autoptr(GPtrArray) cases = oracle_cases(folder);
    for (size_t k = 0; k < G_N_ELEMENTS(goals); k++) {
        const oracle_case *c = NULL;
        for (guint i = 0; i < cases->len; i++)
            if (strcmp(((oracle_case *)cases->pdata[i])->name, goals[k].name) == 0)
                c = cases->pdata[i];
        gaps best = gaps_of(c, EP_SEARCH_BEST), fast = gaps_of(c, EP_SEARCH_FAST);
        g_test_message("%s: best %.3f/%.3f %%, fast %.3f/%.3f %%, eplb.py %.3f %%", c->name,
                       best.mean, best.most, fast.mean, fast.most, fast.eplb_mean);
        g_assert_cmpfloat(best.mean, <=, goals[k].mean);
        g_assert_cmpfloat(best.most, <=, goals[k].most);
        g_assert_cmpfloat(fast.mean, <=, fmax(0.3, fast.eplb_mean / 2));
    }
}

/* The optima allow duplicates. Twice the same step is not a case for branch and bound, nor for the
 * search for pairs, so that it tells how good the search itself is. */
static void test_optima(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autoptr(GPtrArray) cases = oracle_cases(folder);
    uint32_t rows = 0, proven = 0, found = 0;
    for (guint i = 0; i < cases->len; i++) {
        const oracle_case *c = cases->pdata[i];
        uint32_t n = c->shape.experts;
        ep_search *s = ep_search_create(&c->shape);
        for (uint32_t l = 0; l < c->layers; l++) {
            double optimum = c->known[l].optimum;
            if (isnan(optimum))
                continue;
            outcome o = plan(s, c, &c->shape, l, EP_SEARCH_BEST);
            rows++;
            g_assert_cmpfloat_with_epsilon(o.value, optimum, optimum * ROUNDING);
            proven += o.proven;
            g_autofree double *twice = g_new(double, 2 * n);
            for (uint32_t e = 0; e < 2 * n; e++)
                twice[e] = c->load[l * n + e % n];
            ep_goal goal = goal_of(c, l, EP_SEARCH_BEST);
            goal.objective = EP_STEP_MAX;
            g_autofree int32_t *plan = g_new(int32_t, c->shape.slots);
            ep_loads loads = {n, 2, twice};
            ep_answer answer;
            ep_search_plan(s, &loads, &goal, plan, &answer);
            found += answer.value <= optimum * (1 + ROUNDING);
        }
        ep_search_destroy(s);
    }
    g_test_message("%u rows: %u proven, %u found by search alone", rows, proven, found);
    g_assert_cmpuint(rows, ==, 285);
    g_assert_cmpuint(proven, ==, rows);
    g_assert_cmpuint(found * 100, >=, rows * 95);
}

/* Loads drift by 10 %; 32 of 288 slots may change. */
static void test_few_moves(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autoptr(GPtrArray) cases = oracle_cases(folder);
    const oracle_case *c = NULL;
    for (guint i = 0; i < cases->len; i++)
        if (strcmp(((oracle_case *)cases->pdata[i])->name, "dsv3_prefill_ep32") == 0)
            c = cases->pdata[i];
    ep_shape shape = c->shape;
    shape.distinct = true;
    ep_search *s = ep_search_create(&shape);
    g_autofree int32_t *before = g_new(int32_t, shape.slots), *after = g_new(int32_t, shape.slots);
    g_autofree double *load = g_new(double, shape.experts);
    g_autofree float *single = g_new(float, shape.experts);
    ep_reference *eplb = ep_reference_create(shape.experts, shape.slots, shape.groups, shape.nodes,
                                             shape.gpus, c->hierarchical, EP_SORT_STABLE);
    g_autoptr(GRand) random = g_rand_new_with_seed(6);
    double ours = 0, fresh = 0;
    for (uint32_t l = 0; l < 8; l++) {
        ep_goal goal = goal_of(c, l, EP_SEARCH_BEST);
        ep_loads loads = loads_of(c, l);
        ep_answer answer;
        ep_search_plan(s, &loads, &goal, before, &answer);
        for (uint32_t e = 0; e < shape.experts; e++) {
            double normal = sqrt(-2 * log(1 - g_rand_double(random))) *
                            cos(2 * G_PI * g_rand_double(random)); /* Box, Muller */
            load[e] = loads.load[e] * exp(0.1 * normal);
        }
        loads.load = load;
        for (uint32_t e = 0; e < shape.experts; e++)
            single[e] = (float)load[e];
        ep_reference_plan(eplb, single, after, NULL);
        fresh += ep_value(&shape, &loads, EP_MEAN, after);
        goal.start = NULL;
        goal.previous = before;
        goal.moves = 32;
        ep_search_plan(s, &loads, &goal, after, &answer);
        ours += answer.value;
        fresh -= answer.bound;
        ours -= answer.bound;
    }
    g_test_message("with 32 moves %.4f of a fresh plan's gap", ours / fresh);
    g_assert_cmpfloat(ours, <=, fresh);
    ep_reference_destroy(eplb);
    ep_search_destroy(s);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eplb-search-data/never-worse", test_never_worse);
    g_test_add_func("/eplb-search-data/goals", test_goals);
    g_test_add_func("/eplb-search-data/optima", test_optima);
    g_test_add_func("/eplb-search-data/few-moves", test_few_moves);
    return g_test_run();
}
