/* SPDX-License-Identifier: Apache-2.0 */
/* Plans by eplb.py's rules worked out by hand, and what is said of sizes that it does not take. */
#include "bench_host.h"

#include "introsort.h"
#include "reference.h"

#include <math.h>

/* Loads 9 4 3 2 in eight slots. The four replicas more go to 0 (shares 4.5 4 3 2), 0 (3 4 3 2), 1
 * (3 2 3 2), and 0 again, which ties with 2 and is lower (2.25 2 3 2). By share: the one of 2, four
 * of 0, one of 1, that of 3, the other of 1. GPU 0 to 3 get the first four; the fourth of 0 goes to
 * GPU 1, the first of those at 2.25; then 1 to GPU 2, 3 to GPU 3, 1 to GPU 0, the last with room.
 */
static void test_by_hand(void) {
    const float load[4] = {9, 4, 3, 2};
    int32_t expert[8];
    uint32_t rank[8];
    ep_reference *r = ep_reference_create(4, 8, 1, 1, 4, true, EP_SORT_STABLE);
    ep_reference_plan(r, load, expert, rank);
    const int32_t right[8] = {2, 1, 0, 0, 0, 1, 0, 3};
    const uint32_t right_rank[8] = {0, 1, 0, 3, 1, 0, 2, 0};
    for (int s = 0; s < 8; s++) {
        g_assert_cmpint(expert[s], ==, right[s]);
        g_assert_cmpuint(rank[s], ==, right_rank[s]);
    }
    ep_reference_destroy(r);
}

/* The workspace holds nothing of the layer before. */
static void test_again(void) {
    const float load[2][6] = {{NAN, 1, 2, 3, 4, 5}, {5, 1, 2, 3, 4, 5}};
    int32_t expert[2][8];
    uint32_t rank[8];
    ep_reference *used = ep_reference_create(6, 8, 2, 2, 4, true, EP_SORT_LIBSTDCXX);
    ep_reference *fresh = ep_reference_create(6, 8, 2, 2, 4, true, EP_SORT_LIBSTDCXX);
    ep_reference_plan(used, load[0], expert[0], rank);
    ep_reference_plan(used, load[1], expert[0], rank);
    ep_reference_plan(fresh, load[1], expert[1], rank);
    for (int s = 0; s < 8; s++)
        g_assert_cmpint(expert[0][s], ==, expert[1][s]);
    ep_reference_destroy(used);
    ep_reference_destroy(fresh);
}

/* Whatever the order of equal loads, it is sorted and nothing is lost; stable is by index too. */
static void test_sorted(void) {
    for (size_t n = 0; n < 300; n++) {
        g_autofree ep_item *v = g_new(ep_item, n + 1);
        for (int stable = 0; stable < 2; stable++) {
            g_autofree bool *seen = g_new0(bool, n + 1);
            for (size_t i = 0; i < n; i++)
                v[i] =
                    (ep_item){i % 7 == 3 ? NAN : (float)g_test_rand_int_range(0, 9), (uint32_t)i};
            ep_introsort(v, n, stable);
            for (size_t i = 0; i < n; i++) {
                g_assert_false(seen[v[i].index]);
                seen[v[i].index] = true;
                if (i == 0)
                    continue;
                g_assert_false(isnan(v[i].load) && !isnan(v[i - 1].load));
                g_assert_false(v[i].load > v[i - 1].load);
                bool equal = v[i].load == v[i - 1].load || isnan(v[i].load) == 1;
                g_assert_true(!stable || !equal || v[i].index > v[i - 1].index);
            }
        }
    }
}

static void assert_fault(int64_t experts, int64_t replicas, int64_t groups, int64_t nodes,
                         int64_t gpus, const char *right) {
    bench *b = bench_create(NULL, NULL);
    bool hierarchical = nodes > 0 && groups % nodes == 0;
    g_assert_cmpstr(
        ep_reference_fault(bench_services(b), experts, replicas, groups, nodes, gpus, hierarchical),
        ==, right);
    bench_destroy(b);
}

static void test_faults(void) {
    assert_fault(12, 16, 4, 2, 8, NULL);
    assert_fault(
        12, 16, 10, 2, 8,
        "12 experts do not divide into 10 equal groups; nearest number of groups: 6 or 12");
    assert_fault(12, 14, 4, 2, 7,
                 "7 GPUs do not divide over 2 nodes; nearest number of GPUs: 6 or 8");
    assert_fault(12, 16, 2, 2, 1, "1 GPU does not divide over 2 nodes; nearest number of GPUs: 2");
    assert_fault(12, 15, 4, 2, 8,
                 "15 slots do not divide over 8 GPUs; nearest number of slots: 16");
    assert_fault(12, 20, 4, 2, 8,
                 "20 slots do not divide over 8 GPUs; nearest number of slots: 16 or 24");
    assert_fault(12, 8, 4, 2, 8, "8 slots do not hold 12 experts; nearest number of slots: 16");
    assert_fault(12, 16, 4, 2, 0, "there must be at least one GPU");
    assert_fault(12, 16, 4, 0, 8, "there must be at least one node");
    assert_fault(12, 16, 0, 2, 8, "there must be at least one group of experts");
    /* Groups that do not divide over nodes: eplb.py plans without them, and then looks at neither.
     */
    assert_fault(12, 16, 5, 3, 8, NULL);
    bench *b = bench_create(NULL, NULL);
    g_assert_cmpstr(ep_reference_fault(bench_services(b), 12, 16, 4, 3, 8, true), ==,
                    "4 groups do not divide over 3 nodes, as the hierarchical policy needs; "
                    "nearest number of nodes: 2 or 4");
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eplb/reference/by-hand", test_by_hand);
    g_test_add_func("/eplb/reference/again", test_again);
    g_test_add_func("/eplb/reference/sorted", test_sorted);
    g_test_add_func("/eplb/reference/faults", test_faults);
    return g_test_run();
}
