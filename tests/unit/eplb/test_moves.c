/* SPDX-License-Identifier: Apache-2.0 */
/* Moves between plans: counting, relabelling against all permutations, keeping slots. */
#include "moves.h"

#include <glib.h>
#include <string.h>

/* Two nodes of two GPUs with two slots. */
static const uint32_t first[] = {0, 2, 4, 6, 8}, node[] = {0, 0, 1, 1};
static const ep_shape small = {
    .experts = 6, .slots = 8, .gpus = 4, .nodes = 2, .groups = 1, .first = first, .node = node};

static void test_count(void) {
    const int32_t before[] = {0, 1, 2, 3, 4, 5, 0, -1};
    const int32_t same[] = {1, 0, 2, 3, 4, 5, 0, -1}, moved[] = {2, 1, 2, 3, 4, 1, 5, 5};
    ep_moves m = ep_count_moves(&small, before, before);
    g_assert_cmpuint(m.same_gpu + m.same_node + m.cross_node, ==, 0);
    m = ep_count_moves(&small, before, same);
    g_assert_cmpuint(m.same_gpu, ==, 2);
    g_assert_cmpuint(m.same_node + m.cross_node, ==, 0);
    /* 2 from the next GPU, 1 from the other node, 5 from the next GPU and then a copy of it. */
    m = ep_count_moves(&small, before, moved);
    g_assert_cmpuint(m.same_gpu, ==, 1);
    g_assert_cmpuint(m.same_node, ==, 2);
    g_assert_cmpuint(m.cross_node, ==, 1);
    g_assert_cmpuint(ep_busiest(&small, before, same), ==, 0);
    g_assert_cmpuint(ep_busiest(&small, before, moved), ==, 1);
    const int32_t busy[] = {2, 3, 2, 3, 4, 5, 2, 2};
    g_assert_cmpuint(ep_busiest(&small, before, busy), ==, 2);
}

static void test_keep_slots(void) {
    const int32_t before[] = {0, 1, 2, 3, 4, 5, 0, -1};
    int32_t plan[] = {3, 0, 3, 2, 1, 2, -1, 0};
    ep_keep_slots(&small, before, plan);
    const int32_t right[] = {0, 3, 2, 3, 1, 2, 0, -1};
    g_assert_cmpmem(plan, sizeof plan, right, sizeof right);
}

static uint32_t pairs(const ep_shape *shape, const int32_t *before, const int32_t *plan) {
    ep_moves m = ep_count_moves(shape, before, plan);
    return m.same_node + m.cross_node;
}

/* All ways to give the sets of a plan to GPUs, by exchanging GPU `at` with each after it. */
static uint32_t least_pairs(const ep_shape *shape, const int32_t *before, int32_t *plan,
                            uint32_t at, bool whole_nodes) {
    if (at == shape->gpus) {
        for (uint32_t g = 0; whole_nodes && g < shape->gpus; g += 2) {
            /* marks in the last slot tell which node a set came from */
            if (plan[shape->first[g + 1] - 1] != plan[shape->first[g + 2] - 1])
                return UINT32_MAX;
        }
        return pairs(shape, before, plan);
    }
    uint32_t best = UINT32_MAX, n = shape->first[at + 1] - shape->first[at];
    for (uint32_t h = at; h < shape->gpus; h++) {
        int32_t *a = plan + shape->first[at], *b = plan + shape->first[h], keep[8];
        if (shape->first[h + 1] - shape->first[h] != n)
            continue;
        for (int turn = 0; turn < 2; turn++) {
            memcpy(keep, a, n * sizeof *keep);
            memcpy(a, b, n * sizeof *keep);
            memcpy(b, keep, n * sizeof *keep);
            if (turn == 0)
                best = MIN(best, least_pairs(shape, before, plan, at + 1, whole_nodes));
        }
    }
    return best;
}

static int compare(const void *a, const void *b) {
    return memcmp(a, b, 3 * sizeof(int32_t));
}

static void test_relabel(void) {
    const uint32_t starts[] = {0, 3, 6, 9, 12, 15, 18}, nodes[] = {0, 0, 1, 1, 2, 2};
    ep_shape shape = {.experts = 9,
                      .slots = 18,
                      .gpus = 6,
                      .nodes = 3,
                      .groups = 1,
                      .first = starts,
                      .node = nodes};
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    for (int round = 0; round < 60; round++) {
        bool whole_nodes = round % 2;
        int32_t before[18], plan[18], old[18];
        for (int i = 0; i < 18; i++) {
            before[i] = g_rand_int_range(random, 0, 6);
            plan[i] = g_rand_int_range(random, 0, 6);
            if (i % 3 == 2) { /* marks: 6, 7, 8 for the nodes */
                before[i] = 6 + i / 6;
                plan[i] = whole_nodes ? 6 + i / 6 : plan[i];
            }
        }
        memcpy(old, plan, sizeof old);
        uint32_t best = least_pairs(&shape, before, plan, 0, whole_nodes);
        g_assert_cmpmem(plan, sizeof plan, old, sizeof old);
        ep_relabel(&shape, before, whole_nodes, plan);
        g_assert_cmpuint(pairs(&shape, before, plan), ==, best);
        qsort(old, 6, 3 * sizeof *old, compare);
        qsort(plan, 6, 3 * sizeof *plan, compare);
        g_assert_cmpmem(plan, sizeof plan, old, sizeof old); /* the same sets */
    }
}

/* GPUs that are not alike keep their sets. */
static void test_unlike(void) {
    const double speed[] = {1, 2, 1, 0};
    ep_shape shape = small;
    shape.speed = speed;
    const int32_t before[] = {0, 1, 2, 3, 4, 5, -1, -1};
    int32_t plan[] = {4, 5, 0, 1, 2, 3, -1, -1};
    const int32_t right[] = {2, 3, 0, 1, 4, 5, -1, -1};
    ep_relabel(&shape, before, false, plan);
    g_assert_cmpmem(plan, sizeof plan, right, sizeof right);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eplb-moves/count", test_count);
    g_test_add_func("/eplb-moves/keep-slots", test_keep_slots);
    g_test_add_func("/eplb-moves/relabel", test_relabel);
    g_test_add_func("/eplb-moves/unlike", test_unlike);
    return g_test_run();
}
