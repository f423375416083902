/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class loads.join. */
#include "files.h"

#include <string.h>

static bench *begin(void) {
    return bench_create(loads_module, "loads.join");
}

static void give(bench *b, const mill_expert_load *loads, const char *key) {
    bench_input(b, "in", MILL_TYPE_EXPERT_LOAD, loads, "loads", key);
}

static void run_good(bench *b) {
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
}

static bool has_note(const bench *b, const char *id) {
    return look_note(files_report(b), id) != NULL;
}

static const double one[] = {1, 2, 3, 4}, two[] = {10, 20, 30, 40}, zero[4];

static void test_sum(void) {
    bench *b = begin();
    mill_expert_load *second = files_value(b, 1, 2, 2, two);
    second->ranks = 3;
    give(b, files_value(b, 1, 2, 2, one), "0");
    give(b, second, "1");
    run_good(b);
    static const double right[] = {11, 22, 33, 44};
    files_same(files_loads(b), 1, 2, 2, right);
    g_assert_cmpuint(files_loads(b)->ranks, ==, 4);
    g_assert_cmpuint(files_loads(b)->integral, ==, 1);
    g_assert_cmpstr(files_loads(b)->subject, ==, "test and 1 more");
    g_assert_cmpuint(files_report(b)->n_notes, ==, 0);
    bench_destroy(b);
}

/* One item stays as it is, with its labels. */
static void test_one(void) {
    static const int64_t layers[] = {3, 4}, steps[] = {7};
    bench *b = begin();
    mill_expert_load *v = files_value(b, 1, 2, 2, one);
    v->layer = layers;
    v->step = steps;
    give(b, v, "");
    run_good(b);
    files_same(files_loads(b), 1, 2, 2, one);
    g_assert_cmpint(files_loads(b)->layer[1], ==, 4);
    g_assert_cmpint(files_loads(b)->step[0], ==, 7);
    g_assert_cmpstr(files_loads(b)->subject, ==, "test");
    g_assert_cmpuint(files_loads(b)->ranks, ==, 0);
    bench_destroy(b);
}

/* Steps by number: 1 and 2, and 2 and 3. */
static void test_steps(void) {
    static const int64_t first[] = {1, 2}, second[] = {2, 3};
    bench *b = begin();
    mill_expert_load *x = files_value(b, 2, 1, 2, one), *y = files_value(b, 2, 1, 2, two);
    x->step = first;
    y->step = second;
    give(b, x, "0");
    give(b, y, "1");
    run_good(b);
    static const double right[] = {13, 24};
    files_same(files_loads(b), 1, 1, 2, right);
    g_assert_cmpint(files_loads(b)->step[0], ==, 2);
    g_assert_true(has_note(b, "incomplete_steps"));
    bench_destroy(b);
}

/* Each rank recorded its own two experts of four: the sum is whole. */
static void test_own_experts(void) {
    static const double left[] = {1, 2, 0, 0, 3, 4, 0, 0}, right[] = {0, 0, 5, 6, 0, 0, 7, 8};
    static const double sum[] = {1, 2, 5, 6, 3, 4, 7, 8};
    bench *b = begin();
    give(b, files_value(b, 1, 2, 4, left), "0");
    give(b, files_value(b, 1, 2, 4, right), "1");
    run_good(b);
    files_same(files_loads(b), 1, 2, 4, sum);
    g_assert_false(has_note(b, "one_rank"));
    bench_destroy(b);
    b = begin();
    give(b, files_value(b, 1, 2, 4, left), "0");
    run_good(b);
    g_assert_true(has_note(b, "one_rank"));
    bench_destroy(b);
}

static void test_suspicions(void) {
    bench *b = begin();
    give(b, files_value(b, 1, 2, 2, one), "0");
    give(b, files_value(b, 1, 2, 2, one), "1");
    give(b, files_value(b, 1, 2, 2, zero), "2");
    bench_missing(b, "in", "loads", "3");
    run_good(b);
    g_assert_true(has_note(b, "equal_ranks"));
    g_assert_nonnull(strstr(bench_log(b), "warning: test has exactly the loads"));
    g_assert_nonnull(strstr(look_note(files_report(b), "empty_ranks")->text, "1 of 3"));
    g_assert_nonnull(strstr(look_note(files_report(b), "missing_ranks")->text, "\"3\" of [loads]"));
    bench_destroy(b);
}

static void test_bad(void) {
    bench *b = begin();
    give(b, files_value(b, 1, 2, 2, one), "0");
    give(b, files_value(b, 1, 1, 4, two), "1");
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "no ranks of one job"));
    bench_destroy(b);
    b = begin();
    g_assert_cmpint(bench_run(b), ==, MILL_E_NOINPUT);
    bench_destroy(b);
    static const double broken[] = {1, -2};
    b = begin();
    give(b, files_value(b, 1, 1, 2, broken), "0");
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "expert 1: the load is -2"));
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    files_init();
    g_test_add_func("/loads/join/sum", test_sum);
    g_test_add_func("/loads/join/one", test_one);
    g_test_add_func("/loads/join/steps", test_steps);
    g_test_add_func("/loads/join/own-experts", test_own_experts);
    g_test_add_func("/loads/join/suspicions", test_suspicions);
    g_test_add_func("/loads/join/bad", test_bad);
    int result = g_test_run();
    files_finish();
    return result;
}
