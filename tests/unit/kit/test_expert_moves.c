/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of GPUs and moves between plans, by hand. */
#include <glib.h>
#include <tracemill/kit/expert_plan.h>

/* GPUs of 1, 2 and 1 slots; the last is a node of its own. */
static const uint32_t first[] = {0, 1, 3, 4}, node[] = {0, 0, 1};
static const mill_expert_plan place = {
    .experts = 3, .slots = 4, .gpus = 3, .nodes = 2, .first = first, .node = node};

static void assert_moves(const mill_expert_plan *p, const int32_t *before, const int32_t *after,
                         kit_moves right) {
    kit_moves m = kit_count_moves(p, before, after, NULL);
    g_assert_cmpuint(m.same_gpu, ==, right.same_gpu);
    g_assert_cmpuint(m.same_node, ==, right.same_node);
    g_assert_cmpuint(m.cross_node, ==, right.cross_node);
    g_assert_cmpuint(m.unknown, ==, right.unknown);
    g_assert_cmpuint(m.emptied, ==, right.emptied);
}

static void test_moves(void) {
    static const int32_t before[] = {0, 1, 2, 0};
    static const struct {
        int32_t after[4];
        kit_moves right;
    } cases[] = {
        {{0, 1, 2, 0}, {0}},
        {{0, 2, 1, 0}, {.same_gpu = 2}},
        {{1, 1, 2, 0}, {.same_node = 1}},
        {{0, 1, 2, 1}, {.cross_node = 1}},
        {{0, 0, 0, 0}, {.same_gpu = 1, .same_node = 1}}, /* transferred once, copied once */
        {{0, 1, 2, MILL_NO_EXPERT}, {.emptied = 1}},
        {{2, 1, 0, 2}, {.same_node = 2, .cross_node = 1}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_moves(&place, before, cases[i].after, cases[i].right);
    static const int32_t lost[] = {0, MILL_NO_EXPERT, 1, 0}, filled[] = {0, 2, 1, 0};
    assert_moves(&place, lost, filled, (kit_moves){.unknown = 1}); /* no GPU held 2 */
    mill_expert_plan flat = place;
    flat.node = NULL;
    flat.nodes = 0;
    assert_moves(&flat, before, cases[6].after, (kit_moves){.unknown = 3});
}

/* What GPUs must get is added up, expert by expert. */
static void test_fetched(void) {
    static const int32_t before[] = {0, 1, 2, 0}, after[] = {2, 0, 0, 2};
    uint32_t fetched[3] = {10, 0, 0};
    kit_count_moves(&place, before, after, fetched);
    g_assert_cmpuint(fetched[0], ==, 11);
    g_assert_cmpuint(fetched[1], ==, 0);
    g_assert_cmpuint(fetched[2], ==, 2);
}

static void test_loads(void) {
    static const double load[] = {9, 4, 2};
    static const int32_t expert[] = {0, 1, 0, MILL_NO_EXPERT}, other[] = {0, 0, 2, 0};
    static const uint32_t replicas[] = {2, 1, 0}, others[] = {3, 0, 1};
    double gpu[3];
    kit_gpu_loads(&place, load, expert, replicas, gpu);
    g_assert_cmpfloat(gpu[0], ==, 4.5);
    g_assert_cmpfloat(gpu[1], ==, 8.5);
    g_assert_cmpfloat(gpu[2], ==, 0);
    kit_gpu_loads(&place, load, other, others, gpu);
    g_assert_cmpfloat(gpu[0], ==, 3);
    g_assert_cmpfloat(gpu[1], ==, 5);
    g_assert_cmpfloat(gpu[2], ==, 3);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/expert-moves/moves", test_moves);
    g_test_add_func("/kit/expert-moves/fetched", test_fetched);
    g_test_add_func("/kit/expert-moves/loads", test_loads);
    return g_test_run();
}
