/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds: never above the optimum of tiny layers, and as tight as they are said to be. */
#include "tiny.h"

#include <math.h>

static void test_valid(void) {
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    uint32_t tight = 0, rounds = 400;
    for (uint32_t i = 0; i < rounds; i++) {
        tiny t;
        tiny_make(&t, random);
        double optimum = tiny_optimum(&t);
        ep_search *s = ep_search_create(&t.shape);
        double bound = ep_bound(s, &t.loads, t.policy, t.objective);
        g_assert_cmpfloat(bound, <=, optimum * (1 + 1e-9));
        tight += bound >= optimum * (1 - 1e-9);
        ep_search_destroy(s);
    }
    g_test_message("%u of %u bounds are the optimum", tight, rounds);
    g_assert_cmpuint(tight, >, rounds / 4);
}

/* One node, GPUs with the same number of slots. */
static double bound_of(uint32_t gpus, uint32_t slots, uint32_t experts, const double *load) {
    g_autofree uint32_t *first = g_new(uint32_t, gpus + 1), *node = g_new0(uint32_t, gpus);
    for (uint32_t g = 0; g <= gpus; g++)
        first[g] = g * slots;
    ep_shape shape = {.experts = experts,
                      .slots = gpus * slots,
                      .gpus = gpus,
                      .nodes = 1,
                      .groups = 1,
                      .first = first,
                      .node = node};
    ep_search *s = ep_search_create(&shape);
    ep_loads loads = {experts, 1, load};
    double bound = ep_bound(s, &loads, EP_GLOBAL, EP_MEAN);
    ep_search_destroy(s);
    return bound;
}

static void test_known(void) {
    const double even[] = {3, 3, 3, 3}, hot[] = {100, 1, 1, 1}, none[] = {0, 0, 0, 0};
    g_assert_cmpfloat_with_epsilon(bound_of(2, 2, 4, even), 6, 1e-9);
    g_assert_cmpfloat_with_epsilon(bound_of(2, 2, 4, hot), 101, 1e-9); /* with the coldest */
    g_assert_cmpfloat_with_epsilon(bound_of(8, 1, 4, hot), 20, 1e-6);  /* five replicas */
    g_assert_cmpfloat_with_epsilon(bound_of(1, 4, 4, hot), 103, 1e-9);
    g_assert_cmpfloat(bound_of(2, 2, 4, none), ==, 0);
}

/* The heaviest group decides, and two heavy ones do not share a node. */
static void test_groups(void) {
    const uint32_t first[] = {0, 2, 4}, node[] = {0, 1};
    const double load[] = {8, 7, 2, 1};
    ep_shape shape = {
        .experts = 4, .slots = 4, .gpus = 2, .nodes = 2, .groups = 4, .first = first, .node = node};
    ep_search *s = ep_search_create(&shape);
    ep_loads loads = {4, 1, load};
    g_assert_cmpfloat_with_epsilon(ep_bound(s, &loads, EP_HIERARCHICAL, EP_MEAN), 9, 1e-9);
    shape.groups = 2;
    g_assert_cmpfloat_with_epsilon(ep_bound(s, &loads, EP_HIERARCHICAL, EP_MEAN), 15, 1e-9);
    ep_search_destroy(s);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eplb-bound/valid", test_valid);
    g_test_add_func("/eplb-bound/known", test_known);
    g_test_add_func("/eplb-bound/groups", test_groups);
    return g_test_run();
}
