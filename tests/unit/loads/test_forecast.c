/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class loads.forecast. */
#include "files.h"

#include <string.h>

static bench *run(uint64_t steps, const double *load, const char *const *settings) {
    bench *b = bench_create(loads_module, "loads.forecast");
    for (; settings && *settings; settings++)
        bench_option(b, *settings);
    mill_expert_load *history = files_value(b, steps, 1, 2, load);
    static const int64_t layer[] = {3};
    history->layer = layer;
    history->ranks = 8;
    bench_input(b, "loads", MILL_TYPE_EXPERT_LOAD, history, "loads", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return b;
}

/* Shares of the first expert: 3/4, 1/4, 1/4. */
static const double turning[] = {3, 1, 1, 3, 2, 6};

static void test_value(void) {
    bench *b = run(3, turning, NULL);
    const mill_expert_load *v = files_loads(b);
    static const double mean[] = {2, 10 / 3.0};
    files_same(v, 1, 1, 2, mean);
    g_assert_cmpuint(v->integral, ==, 0);
    g_assert_cmpint(v->layer[0], ==, 3);
    g_assert_cmpuint(v->ranks, ==, 8);
    g_assert_cmpstr(v->subject, ==, "test (mean of 3 steps)");
    bench_destroy(b);
    b = run(3, turning, (const char *[]){"forecast=last", NULL});
    static const double last[] = {2, 6};
    files_same(files_loads(b), 1, 1, 2, last);
    g_assert_cmpuint(files_loads(b)->integral, ==, 1);
    bench_destroy(b);
}

/* By the last step: 3/4 is forecast for 1/4, then 1/4 for 1/4. */
static void test_backtest(void) {
    bench *b = run(3, turning, (const char *[]){"forecast=last", NULL});
    const mill_report *r = files_report(b);
    g_assert_cmpint(look_int(r, "backtest", NULL), ==, 2);
    g_assert_cmpfloat(look_ratio(r, "absolute_error", NULL), ==, (2 + 2 + 1 + 3) / 12.0);
    g_assert_cmpfloat(look_ratio(r, "moved", NULL), ==, 0.25);
    g_assert_cmpfloat(look_ratio(r, "peak_error", NULL), ==, 0);
    g_assert_cmpfloat(look_ratio(r, "hit", NULL), ==, 0.5);
    const mill_table *t = look_table(r, "methods");
    g_assert_cmpuint(t->rows, ==, 5);
    g_assert_cmpstr(look_cell(t, 4, "forecast").text, ==, "last");
    g_assert_cmpfloat(look_cell(t, 4, "moved").d, ==, 0.25);
    g_assert_cmpfloat(look_cell(t, 0, "moved").d, ==, 0.375); /* then 2/4 for 1/4 */
    bench_destroy(b);
    b = run(3, turning, (const char *[]){"forecast=last", "backtest=1", NULL});
    g_assert_cmpfloat(look_ratio(files_report(b), "moved", NULL), ==, 0);
    bench_destroy(b);
}

static void test_one_step(void) {
    bench *b = run(1, turning, NULL);
    g_assert_nonnull(look_note(files_report(b), "one_step"));
    g_assert_null(look_table(files_report(b), "methods"));
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    files_init();
    g_test_add_func("/loads/forecast/value", test_value);
    g_test_add_func("/loads/forecast/backtest", test_backtest);
    g_test_add_func("/loads/forecast/one-step", test_one_step);
    int result = g_test_run();
    files_finish();
    return result;
}
