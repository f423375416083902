/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `eplb.replay` on histories in which it can be told when a new plan pays. */
#include "bench_host.h"
#include "look.h"

#include <math.h>
#include <string.h>
#include <tracemill/expert_load.h>

#define STEPS 12

static const mill_module *module;

/* Two GPUs of two slots. Experts 0 and 1 are hot for six steps, then 0 and 2. */
static double load[STEPS][4];

static mill_expert_load history(void) {
    for (int s = 0; s < STEPS; s++) {
        bool later = s >= 6;
        load[s][0] = 10;
        load[s][later ? 2 : 1] = 8;
        load[s][later ? 1 : 2] = 2;
        load[s][3] = 0;
    }
    return (mill_expert_load){.size = sizeof(mill_expert_load),
                              .subject = "history.csv",
                              .layers = 1,
                              .experts = 4,
                              .steps = STEPS,
                              .load = &load[0][0]};
}

static bench *begin(const mill_expert_load *loads, const char *const *settings) {
    bench *b = bench_create(module, "eplb.replay");
    for (; *settings; settings++)
        bench_option(b, *settings);
    bench_input(b, "loads", MILL_TYPE_EXPERT_LOAD, loads, "loads", "");
    return b;
}

#define SETTINGS(...) ((const char *const[]){"gpus=2", __VA_ARGS__, NULL})

static mill_datum cell(const mill_report *r, const char *table, const char *planned,
                       const char *column) {
    const mill_table *t = look_table(r, table);
    for (int64_t row = 0; row < (int64_t)t->rows; row++)
        if (g_str_equal(look_cell(t, row, "planned").text, planned))
            return look_cell(t, row, column);
    g_error("%s has no row \"%s\"", table, planned);
}

/* The first two steps are only looked at. As before {0 1} {2 3}: 18 of 20 on GPU 0 for four steps,
 * then 12 for six. Planned once, {0 3} {1 2} or {0 2} {1 3}: 10 or 12, then 10 for the first one
 * and 18 for the second; the plan must be the better one for what was seen, {0 3} {1 2}, which is
 * right for both halves. */
static void test_balance(void) {
    mill_expert_load loads = history();
    bench *b = begin(&loads, SETTINGS("observe=2", "window=2", "intervals=4", "thresholds=0.9"));
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_report *r = bench_output(b, "report", 0);
    g_assert_cmpint(look_int(r, "steps", NULL), ==, 10);
    double before = cell(r, "modes", "as before", "balancedness_vllm").d;
    g_assert_cmpfloat(fabs(before - 100.0 / (4 * 18 + 6 * 12)), <, 1e-12);
    double sglang = cell(r, "modes", "as before", "balancedness_sglang").d;
    g_assert_cmpfloat(fabs(sglang - (4 * (10.0 / 18) + 6 * (10.0 / 12)) / 10), <, 1e-12);
    g_assert_cmpfloat(fabs(cell(r, "modes", "as before", "worst").d - 10.0 / 18), <, 1e-12);
    g_assert_cmpfloat(cell(r, "modes", "planned once", "balancedness_vllm").d, ==, 1);
    g_assert_cmpint(cell(r, "modes", "planned once", "replans").i, ==, 1);
    g_assert_cmpint(cell(r, "modes", "every 4 steps", "replans").i, ==, 3);
    g_assert_cmpint(cell(r, "modes", "below 90 %", "replans").i, ==, 1);
    g_assert_cmpint(cell(r, "cost", "planned once", "bytes").i, ==, MILL_UNKNOWN);
    g_assert_cmpint(cell(r, "cost", "as before", "bytes").i, ==, 0);
    g_assert_nonnull(look_note(r, "cost_unknown"));
    g_assert_cmpuint(r->n_series, ==, 4);
    g_assert_cmpfloat(r->series[0]->x[0], ==, 2);
    g_assert_cmpfloat(fabs(r->series[0]->y[9] - 10.0 / 12), <, 1e-12);
    bench_destroy(b);
}

/* With what each costs: two experts are loaded at once, one to each GPU, for 4 x (18 - 10) +
 * 6 x (12 - 10) = 44 of 100 mean loads less. */
static void test_cost(void) {
    mill_expert_load loads = history();
    bench *b = begin(&loads, SETTINGS("observe=2", "window=2", "intervals=", "thresholds=",
                                      "expert-time=1ms", "expert-bytes=1MB", "bandwidth=1GB"));
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_report *r = bench_output(b, "report", 0);
    g_assert_cmpint(cell(r, "cost", "as before", "compute").i, ==, 14400000);
    g_assert_cmpint(cell(r, "cost", "as before", "moving").i, ==, 0);
    g_assert_cmpint(cell(r, "cost", "planned once", "compute").i, ==, 10000000);
    g_assert_cmpint(cell(r, "cost", "planned once", "same_node").i, ==, 2);
    g_assert_cmpint(cell(r, "cost", "planned once", "bytes").i, ==, 2000000);
    g_assert_cmpint(cell(r, "cost", "planned once", "moving").i, ==, 1000000);
    g_assert_cmpint(cell(r, "cost", "planned once", "total").i, ==, 11000000);
    g_assert_null(look_note(r, "cost_unknown"));
    bench_destroy(b);
}

/* From step 6 on 0 and 3 are hot, which {0 3} {1 2} has on one GPU. */
static mill_expert_load turning(void) {
    mill_expert_load loads = history();
    for (int s = 6; s < STEPS; s++) {
        load[s][0] = load[s][3] = 9;
        load[s][1] = load[s][2] = 1;
    }
    return loads;
}

/* A threshold re-plans once the loads have turned, and leaves alone what is balanced. */
static void test_threshold(void) {
    mill_expert_load loads = turning();
    bench *b = begin(&loads, SETTINGS("observe=2", "window=2", "intervals=1", "thresholds=0.9"));
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_report *r = bench_output(b, "report", 0);
    /* In step 6 one GPU has 18 of 20. At step 7 the window holds it and the step before it: {0 2}
     * {1 3} is best for both, and right for those that remain. */
    double below = cell(r, "modes", "below 90 %", "balancedness_vllm").d;
    g_assert_cmpint(cell(r, "modes", "below 90 %", "replans").i, ==, 2);
    g_assert_cmpfloat(fabs(below - 100.0 / (9 * 10 + 18)), <, 1e-12);
    double once = cell(r, "modes", "planned once", "balancedness_vllm").d;
    g_assert_cmpfloat(fabs(once - 100.0 / (4 * 10 + 6 * 18)), <, 1e-12);
    bench_destroy(b);
}

/* The plan after seven steps, only the last of which is of the new kind. */
static void test_forecast(void) {
    mill_expert_load loads = turning();
    static const struct {
        const char *setting, *more;
        double right;
    } cases[] = {
        {"forecast=last", "window=0", 1},
        {"forecast=mean", "window=0", 10.0 / 18},
        {"forecast=mean", "window=1", 1},
        {"forecast=exponential", "alpha=0.9", 1},
        {"forecast=exponential", "alpha=0.01", 10.0 / 18},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bench *b = begin(&loads, SETTINGS("observe=7", cases[i].setting, cases[i].more));
        g_assert_cmpint(bench_run(b), ==, MILL_OK);
        double value =
            cell(bench_output(b, "report", 0), "modes", "planned once", "balancedness_vllm").d;
        g_assert_cmpfloat(fabs(value - cases[i].right), <, 1e-12);
        bench_destroy(b);
    }
}

static void fails(const mill_expert_load *loads, const char *const *settings, mill_status right,
                  const char *cause) {
    bench *b = begin(loads, settings);
    g_assert_cmpint(bench_run(b), ==, right);
    g_assert_cmpstr(bench_causes(b), ==, cause);
    bench_destroy(b);
}

static void test_faults(void) {
    mill_expert_load loads = history();
    fails(&loads, SETTINGS("observe=12"), MILL_E_DATA,
          "there are 12 steps of loads: observe = 12 leaves none to go through");
    fails(&loads, SETTINGS("objective=worst", "forecast=last"), MILL_E_CONFIG,
          "objective = worst looks at several steps, which only forecast = mean does");
    fails(&loads, SETTINGS("intervals=5,10,5"), MILL_E_CONFIG, "intervals: 5 stands there twice");
    fails(&loads, SETTINGS("thresholds=0.9,0.9001"), MILL_E_CONFIG,
          "thresholds: 0.9 and 0.9001 are less than 0.001 apart");
    load[3][2] = -1;
    fails(&loads, SETTINGS("policy=reference", "observe=2", "window=2"), MILL_E_DATA,
          "some loads are negative, infinite or not a number: nothing can be said of what plans "
          "are worth");
}

/* As before is what was while all GPUs worked, and nothing to choose any more. */
static void test_failed(void) {
    mill_expert_load loads = history();
    bench *b = begin(&loads, SETTINGS("observe=2", "window=2",
                                      "intervals=", "thresholds=", "slots-per-gpu=4,4", "failed=1",
                                      "expert-time=1ms", "expert-bytes=1MB", "bandwidth=1GB"));
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_report *r = bench_output(b, "report", 0);
    g_assert_cmpfloat(cell(r, "modes", "as before", "balancedness_vllm").d, ==, 1);
    g_assert_cmpfloat(cell(r, "modes", "planned once", "balancedness_vllm").d, ==, 1);
    g_assert_nonnull(look_note(r, "before_failing"));
    g_assert_nonnull(strstr(r->summary, "Planned once takes least time"));
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/planners/eplb/eplb.so");
    g_test_add_func("/eplb/replay/balance", test_balance);
    g_test_add_func("/eplb/replay/cost", test_cost);
    g_test_add_func("/eplb/replay/threshold", test_threshold);
    g_test_add_func("/eplb/replay/forecast", test_forecast);
    g_test_add_func("/eplb/replay/failed", test_failed);
    g_test_add_func("/eplb/replay/faults", test_faults);
    return g_test_run();
}
