/* SPDX-License-Identifier: Apache-2.0 */
/* The search: against all plans of tiny layers, and the rules that every plan must keep. */
#include "moves.h"
#include "tiny.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-9

/* ---------------------------------------------------------------- tiny layers */

static void test_exhaustive(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    uint32_t found = 0, rounds = 0;
    while (rounds < 300) {
        tiny t;
        tiny_make(&t, random);
        double optimum = tiny_optimum(&t);
        if (isinf(optimum))
            continue; /* duplicates cannot be avoided */
        rounds++;
        ep_search *s = ep_search_create(&t.shape);
        ep_goal goal = {.policy = t.policy,
                        .objective = t.objective,
                        .effort = EP_SEARCH_BEST,
                        .moves = MILL_UNKNOWN};
        int32_t plan[8];
        ep_answer a;
        ep_search_plan(s, &t.loads, &goal, plan, &a);
        g_assert_true(tiny_valid(&t, plan));
        g_assert_false(a.distinct_broken);
        g_assert_cmpfloat_with_epsilon(a.value, tiny_value(&t, plan), ROUNDING * (1 + a.value));
        g_assert_cmpfloat(a.value, >=, optimum * (1 - ROUNDING));
        g_assert_cmpfloat(a.bound, <=, optimum * (1 + ROUNDING));
        if (a.proven || t.objective == EP_MEAN)
            g_assert_cmpfloat_with_epsilon(a.value, optimum, ROUNDING * (1 + optimum));
        found += a.value <= optimum * (1 + ROUNDING);
        ep_search_destroy(s);
    }
    g_test_message("%u of %u optima", found, rounds);
    g_assert_cmpuint(found * 100, >=, rounds * 95);
}

/* ---------------------------------------------------------------- larger ones */

#define EXPERTS 64
#define SLOTS 80
#define GPUS 16
#define NODES 4

typedef struct layer {
    ep_shape shape;
    uint32_t first[GPUS + 1], node[GPUS];
    double speed[GPUS], load[3 * EXPERTS];
    ep_loads loads;
    ep_search *search;
} layer;

static void layer_init(layer *l, GRand *random, uint32_t steps) {
    for (uint32_t g = 0; g < GPUS; g++) {
        l->first[g + 1] = (g + 1) * (SLOTS / GPUS);
        l->node[g] = g / (GPUS / NODES);
        l->speed[g] = 1;
    }
    l->first[0] = 0;
    for (uint32_t i = 0; i < steps * EXPERTS; i++)
        l->load[i] = 1000 * pow(g_rand_double_range(random, 0.05, 1), -1.2);
    l->shape = (ep_shape){EXPERTS, SLOTS, GPUS, NODES, 8, l->first, l->node, l->speed, true};
    l->loads = (ep_loads){EXPERTS, steps, l->load};
    l->search = ep_search_create(&l->shape);
}

static void layer_finish(layer *l) {
    ep_search_destroy(l->search);
}

static ep_answer plan(layer *l, const ep_goal *goal, int32_t *ret_plan) {
    ep_answer a;
    uint32_t count[EXPERTS];
    ep_search_plan(l->search, &l->loads, goal, ret_plan, &a);
    ep_counts(&l->shape, ret_plan, count);
    for (uint32_t e = 0; e < EXPERTS; e++)
        g_assert_cmpuint(count[e], >, 0);
    for (uint32_t i = 0; i < SLOTS; i++)
        if (l->speed[i / (SLOTS / GPUS)] == 0)
            g_assert_cmpint(ret_plan[i], ==, MILL_NO_EXPERT);
    if (goal->policy == EP_HIERARCHICAL)
        g_assert_cmpuint(ep_splits(&l->shape, ret_plan), ==, 0);
    g_assert_cmpuint(a.splits, ==, ep_splits(&l->shape, ret_plan));
    g_assert_cmpuint(ep_duplicates(&l->shape, ret_plan), ==, 0);
    g_assert_false(a.distinct_broken);
    g_assert_cmpfloat(a.value, ==, ep_value(&l->shape, &l->loads, goal->objective, ret_plan));
    g_assert_cmpfloat(a.bound, <=, a.value);
    return a;
}

static const ep_goal plain = {.effort = EP_SEARCH_FAST, .moves = MILL_UNKNOWN, .seed = 1};

static void test_rules(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(2);
    for (uint32_t round = 0; round < 24; round++) {
        layer l;
        layer_init(&l, random, 1 + round % 3);
        ep_goal goal = plain;
        goal.policy = round & 1 ? EP_HIERARCHICAL : EP_GLOBAL;
        goal.objective = (ep_objective)(round / 2 % 3);
        for (uint32_t g = 0; g < GPUS && round & 4; g++)
            l.speed[g] = g % 3 ? 1 : 1.5;
        if (round & 8)
            l.speed[3] = 0; /* 15 slots for 16 experts of the node would not do */
        ep_search_destroy(l.search);
        l.search = ep_search_create(&l.shape);
        int32_t best[SLOTS];
        if (!ep_search_fits(&l.shape, goal.policy)) {
            g_assert_true(goal.policy == EP_HIERARCHICAL && round & 8);
            goal.policy = EP_GLOBAL;
        }
        ep_answer a = plan(&l, &goal, best);
        g_assert_cmpfloat(a.value, <=, a.bound * 1.4); /* of several steps it is not tight */
        layer_finish(&l);
    }
}

/* The same plan again, from a new workspace and from one that was used for other layers. */
static void test_same(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    layer a, b;
    layer_init(&a, random, 2);
    layer_init(&b, random, 1);
    for (int policy = 0; policy < 3; policy++) {
        int32_t one[SLOTS], two[SLOTS];
        ep_goal goal = plain;
        goal.policy = (ep_policy)policy;
        goal.cap = 1.1;
        plan(&a, &goal, one);
        ep_search *used = b.search;
        plan(&b, &goal, two);
        ep_search *fresh = a.search;
        a.search = used; /* of a shape with the same numbers */
        plan(&a, &goal, two);
        a.search = fresh;
        g_assert_cmpmem(one, sizeof one, two, sizeof two);
    }
    layer_finish(&a);
    layer_finish(&b);
}

/* A start, a previous plan: the result is not worse. A start with duplicates is only a hint. */
static void test_start(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(4);
    layer l;
    layer_init(&l, random, 1);
    int32_t best[SLOTS], fast[SLOTS];
    ep_goal goal = plain;
    goal.effort = EP_SEARCH_BEST;
    double value = plan(&l, &goal, best).value;
    goal.effort = EP_SEARCH_FAST;
    goal.start = best;
    g_assert_cmpfloat(plan(&l, &goal, fast).value, <=, value);
    goal.start = NULL;
    goal.previous = best;
    g_assert_cmpfloat(plan(&l, &goal, fast).value, <=, value);
    goal.effort = EP_SEARCH_NONE;
    goal.start = best;
    plan(&l, &goal, fast);
    g_assert_cmpmem(best, sizeof best, fast, sizeof fast);
    layer_finish(&l);
}

static int64_t recount(const layer *l, const int32_t *before, const int32_t *after) {
    ep_moves m = ep_count_moves(&l->shape, before, after);
    return (int64_t)m.same_node + m.cross_node;
}

/* The limit of moves is kept, and more moves are never worse. */
static void test_limit(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(5);
    for (uint32_t round = 0; round < 6; round++) {
        layer l;
        layer_init(&l, random, 1);
        int32_t before[SLOTS], after[SLOTS];
        ep_goal goal = plain;
        goal.policy = round % 2 ? EP_HIERARCHICAL : EP_GLOBAL;
        plan(&l, &goal, before);
        for (uint32_t e = 0; e < EXPERTS; e++)
            l.load[e] *= g_rand_double_range(random, 0.7, 1.4);
        double stale = ep_value(&l.shape, &l.loads, EP_MEAN, before), last = stale;
        goal.previous = before;
        for (goal.moves = 0; goal.moves <= 16; goal.moves += 4) {
            ep_answer a = plan(&l, &goal, after);
            g_assert_cmpint(recount(&l, before, after), <=, goal.moves);
            g_assert_cmpfloat(a.value, <=, stale);
            if (goal.moves == 0)
                g_assert_cmpfloat(a.value, ==, stale);
            last = a.value;
        }
        g_assert_cmpfloat(last, <, stale);
        /* a start counts if the limit is wide enough for it */
        int32_t fresh[SLOTS];
        ep_goal other = goal;
        other.previous = NULL;
        other.effort = EP_SEARCH_BEST;
        double best = plan(&l, &other, fresh).value;
        goal.start = fresh;
        goal.moves = SLOTS;
        g_assert_cmpfloat(plan(&l, &goal, after).value, <=, best);
        layer_finish(&l);
    }
}

/* What a failed GPU held goes elsewhere; no more moves than it takes. */
static void test_failed(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(6);
    layer l;
    layer_init(&l, random, 1);
    int32_t before[SLOTS], after[SLOTS];
    uint32_t count[EXPERTS], lost = 0;
    ep_goal goal = plain;
    plan(&l, &goal, before);
    ep_search_destroy(l.search);
    l.speed[5] = 0;
    l.search = ep_search_create(&l.shape);
    ep_counts(&l.shape, before, count);
    for (uint32_t i = l.first[5]; i < l.first[6]; i++)
        lost += --count[before[i]] == 0;
    g_assert_cmpuint(lost, >, 0);
    goal.previous = before;
    goal.moves = 0;
    plan(&l, &goal, after);
    g_assert_cmpint(recount(&l, before, after), ==, lost);
    layer_finish(&l);
}

/* A cap that no group has to be split for, one that takes some, one that cannot be kept. */
static void test_soft(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(7);
    layer l;
    layer_init(&l, random, 1);
    for (uint32_t e = 0; e < EXPERTS / 8; e++)
        l.load[e] *= 3;
    double mean = ep_mean_load(&l.shape, l.load);
    int32_t best[SLOTS];
    ep_goal goal = plain;
    goal.policy = EP_HIERARCHICAL;
    double bound = plan(&l, &goal, best).bound / mean;
    g_assert_cmpfloat(bound, >, 1.1);
    goal.policy = EP_SOFT_NODES;
    goal.cap = bound * 1.1;
    ep_answer loose = plan(&l, &goal, best);
    g_assert_cmpuint(loose.splits, ==, 0);
    g_assert_cmpfloat(loose.value, <=, goal.cap * mean * (1 + ROUNDING));
    goal.cap = 1.05;
    ep_answer tight = plan(&l, &goal, best);
    g_assert_cmpfloat(tight.value, <=, goal.cap * mean * (1 + ROUNDING));
    g_assert_cmpuint(tight.splits, >, 0);
    g_assert_cmpuint(tight.splits, <, 8);
    goal.cap = 0.5;
    ep_answer none = plan(&l, &goal, best);
    g_assert_cmpfloat(none.value, <, tight.value);
    layer_finish(&l);
}

/* Fewer groups than nodes: slots of a node that had no group are filled once groups are split. */
static void test_soft_few_groups(void) {
    static const uint32_t first[] = {0, 2, 4, 6, 8, 10, 12, 14, 16},
                          node[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const double load[] = {17, 46, 859};
    ep_shape shape = {.experts = 3,
                      .slots = 16,
                      .groups = 3,
                      .nodes = 8,
                      .gpus = 8,
                      .first = first,
                      .node = node,
                      .distinct = true};
    ep_loads loads = {3, 1, load};
    ep_goal goal = plain;
    goal.policy = EP_SOFT_NODES;
    goal.cap = 1;
    ep_search *s = ep_search_create(&shape);
    int32_t best[16];
    ep_answer answer;
    ep_search_plan(s, &loads, &goal, best, &answer);
    for (uint32_t i = 0; i < 16; i++)
        g_assert_cmpint(best[i], >=, 0);
    g_assert_false(answer.distinct_broken);
    g_assert_cmpfloat(answer.value, <=, 859.0 / 8 + 17.0 / 2);
    ep_search_destroy(s);
}

static void test_fits(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(8);
    layer l;
    layer_init(&l, random, 1);
    g_assert_true(ep_search_fits(&l.shape, EP_HIERARCHICAL));
    l.speed[0] = 0; /* 15 slots for the 16 experts of a node */
    g_assert_false(ep_search_fits(&l.shape, EP_HIERARCHICAL));
    g_assert_true(ep_search_fits(&l.shape, EP_GLOBAL));
    for (uint32_t g = 1; g < 4; g++)
        l.speed[g] = 0;
    g_assert_false(ep_search_fits(&l.shape, EP_GLOBAL));
    l.shape.groups = 2;
    g_assert_false(ep_search_fits(&l.shape, EP_HIERARCHICAL));
    l.shape.groups = 8;
    layer_finish(&l);
}

/* More slots than experts on a GPU: duplicates are said. No load: any plan. */
static void test_extremes(void) {
    const uint32_t first[] = {0, 3, 6}, node[] = {0, 0};
    double load[] = {0, 0};
    ep_shape shape = {.experts = 2,
                      .slots = 6,
                      .gpus = 2,
                      .nodes = 1,
                      .groups = 1,
                      .first = first,
                      .node = node,
                      .distinct = true};
    ep_search *s = ep_search_create(&shape);
    ep_loads loads = {2, 1, load};
    int32_t best[6];
    ep_answer a;
    ep_search_plan(s, &loads, &plain, best, &a);
    g_assert_true(a.distinct_broken);
    g_assert_cmpfloat(a.value, ==, 0);
    g_assert_cmpfloat(a.bound, ==, 0);
    load[0] = 1e-300;
    load[1] = 3e-300;
    ep_search_plan(s, &loads, &plain, best, &a);
    g_assert_cmpfloat_with_epsilon(a.value / 1e-300, 2, 1e-6);
    ep_search_destroy(s);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eplb-search/exhaustive", test_exhaustive);
    g_test_add_func("/eplb-search/rules", test_rules);
    g_test_add_func("/eplb-search/same", test_same);
    g_test_add_func("/eplb-search/start", test_start);
    g_test_add_func("/eplb-search/limit", test_limit);
    g_test_add_func("/eplb-search/failed", test_failed);
    g_test_add_func("/eplb-search/soft", test_soft);
    g_test_add_func("/eplb-search/soft-few-groups", test_soft_few_groups);
    g_test_add_func("/eplb-search/fits", test_fits);
    g_test_add_func("/eplb-search/extremes", test_extremes);
    return g_test_run();
}
