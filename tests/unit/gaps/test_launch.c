/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `launch` on small traces whose right values can be told by looking at them. */
#include "fixture.h"
#include "look.h"

#define GEMM .name = "gemm", .cls = MILL_CLASS_COMPUTATION
#define LAUNCH "cudaLaunchKernel", MILL_CPU_RUNTIME

static const mill_module *module;

static const mill_report *report_of(bench *b, const fixture *f) {
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, f), "trace", "");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return bench_output(b, "report", 0);
}

static void check_stats(const mill_table *t, int64_t row, int64_t n, int64_t sum, int64_t min,
                        int64_t p50, int64_t max) {
    g_assert_cmpint(look_cell(t, row, "n").i, ==, n);
    g_assert_cmpint(look_cell(t, row, "sum").i, ==, sum);
    g_assert_cmpint(look_cell(t, row, "min").i, ==, min);
    g_assert_cmpint(look_cell(t, row, "p50").i, ==, p50);
    g_assert_cmpint(look_cell(t, row, "max").i, ==, max);
}

/* Activity 5 has no launch call, and 4 starts before its own: how long it waited is unknown. */
static const activity activities[] = {
    {0, 7, 100, 100, GEMM}, {0, 7, 200, 100, GEMM}, {0, 9, 260, 10, GEMM},
    {0, 7, 400, 10, GEMM},  {0, 7, 500, 10, GEMM},
};
static const slice slices[] = {
    {1, 0, 300, "aten::mm", MILL_CPU_OP, 0},
    {1, 90, 4, LAUNCH, 1},
    {1, 110, 6, LAUNCH, 2},
    {2, 250, 8, LAUNCH, 3},
    {2, 405, 8, LAUNCH, 4},
    {2, 420, 100, "cudaStreamSynchronize", MILL_CPU_RUNTIME, 0},
    {2, 520, 200, "cuCtxSynchronize", MILL_CPU_DRIVER, 0},
    {2, 100, 300, "train_step", MILL_CPU_ANNOTATION, 0},
};

static fixture launches_fixture(void) {
    fixture f = FIXTURE(activities);
    f.slices = slices;
    f.n_slices = G_N_ELEMENTS(slices);
    return f;
}

static void test_early(void) {
    static const activity one[] = {{0, 7, 100, 10, GEMM}};
    static const slice late[] = {{1, 120, 4, LAUNCH, 1}};
    fixture f = FIXTURE(one);
    f.slices = late;
    f.n_slices = 1;
    bench *b = bench_create(module, "launch");
    const mill_report *r = report_of(b, &f);
    g_assert_cmpint(look_int(r, "launches", NULL), ==, 1);
    g_assert_nonnull(strstr(r->summary, "start before it"));
    bench_destroy(b);
}

static void test_launches(void) {
    fixture f = launches_fixture();
    bench *b = bench_create(module, "launch");
    const mill_report *r = report_of(b, &f);
    g_assert_cmpint(look_int(r, "launches", NULL), ==, 4);
    g_assert_cmpint(look_int(r, "launch_unknown", NULL), ==, 1);
    g_assert_cmpint(look_int(r, "negative_launches", NULL), ==, 1);
    g_assert_cmpint(look_int(r, "queue_depth_max", NULL), ==, 1);
    const mill_table *t = look_table(r, "launches");
    check_stats(t, look_row(t, 0, "quantity", "launch_start_to_kernel_start"), 3, 110, 10, 10, 90);
    check_stats(t, look_row(t, 0, "quantity", "launch_end_to_kernel_start"), 3, 92, 2, 6, 84);
    check_stats(t, look_row(t, 0, "quantity", "launch_api_dur"), 4, 26, 4, 6, 8);
    /* Stream 9 was empty, as far as the profile goes, and its first kernel was launched in the
     * window; the first one of stream 7 was not. */
    check_stats(t, look_row(t, 0, "quantity", "unqueued_launch_latency"), 1, 10, 10, 10, 10);
    t = look_table(r, "streams");
    check_stats(t, look_row_of(t, 0, "stream", 7), 2, 100, 10, 10, 90);
    check_stats(t, look_row_of(t, 0, "stream", 9), 1, 10, 10, 10, 10);
    t = look_table(r, "threads");
    g_assert_cmpuint(t->rows, ==, 2);
    g_assert_cmpint(look_cell(t, 0, "tid").i, ==, 1);
    check_stats(t, 0, 2, 100, 10, 10, 90);
    check_stats(t, 1, 1, 10, 10, 10, 10);
    g_assert_nonnull(look_note(r, "negative_launches"));
    g_assert_nonnull(look_note(r, "launch_unknown"));
    bench_destroy(b);
}

static void test_unqueued_option(void) {
    fixture f = launches_fixture();
    bench *b = bench_create(module, "launch");
    bench_option(b, "unqueued-within=10ns");
    const mill_table *t = look_table(report_of(b, &f), "launches");
    g_assert_cmpint(look_cell(t, look_row(t, 0, "quantity", "unqueued_launch_latency"), "n").i, ==,
                    0);
    bench_destroy(b);
}

static void test_cpu(void) {
    fixture f = launches_fixture();
    bench *b = bench_create(module, "launch");
    bench_option(b, "top=2");
    const mill_report *r = report_of(b, &f);
    g_assert_cmpint(look_int(r, "api_calls", NULL), ==, 6);
    g_assert_cmpint(look_int(r, "api_time", NULL), ==, 326);
    g_assert_cmpint(look_int(r, "sync_calls", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "sync_time", NULL), ==, 300);
    const mill_table *t = look_table(r, "api_calls");
    g_assert_cmpuint(t->rows, ==, 3);
    g_assert_cmpstr(look_cell(t, 0, "name").text, ==, "cuCtxSynchronize");
    g_assert_cmpstr(look_cell(t, 1, "name").text, ==, "cudaStreamSynchronize");
    g_assert_cmpstr(look_cell(t, 2, "name").text, ==, "(others)");
    g_assert_cmpint(look_cell(t, 2, "n").i, ==, 4);
    g_assert_cmpint(look_cell(t, 2, "sum").i, ==, 26);
    t = look_table(r, "explicit_sync");
    g_assert_cmpint(look_cell(t, 0, "start").i, ==, 420);
    g_assert_cmpint(look_cell(t, 0, "time").i, ==, 200);
    g_assert_cmpint(look_cell(t, 1, "start").i, ==, 320);
    g_assert_cmpint(look_cell(t, 1, "tid").i, ==, 2);
    t = look_table(r, "cpu_threads");
    g_assert_cmpint(look_cell(t, 0, "busy").i, ==, 300); /* the calls lie in the operator */
    g_assert_cmpint(look_cell(t, 0, "calls").i, ==, 2);
    g_assert_cmpint(look_cell(t, 1, "busy").i, ==, 316); /* annotations are no work */
    g_assert_cmpint(look_cell(t, 1, "span").i, ==, 470);
    bench_destroy(b);
}

/* A graph launches three kernels by one call, which counts once; all three wait in the queue. */
static void test_graph(void) {
    static const activity kernels[] = {
        {0, 7, 100, 10, GEMM}, {0, 7, 110, 10, GEMM}, {0, 7, 120, 10, GEMM}};
    static const slice call[] = {{1, 90, 7, "cudaGraphLaunch", MILL_CPU_RUNTIME, 1}};
    fixture f = FIXTURE(kernels);
    f.slices = call;
    f.n_slices = 1;
    f.one_correlation = true;
    bench *b = bench_create(module, "launch");
    const mill_report *r = report_of(b, &f);
    g_assert_cmpint(look_int(r, "queue_depth_max", NULL), ==, 3);
    const mill_table *t = look_table(r, "launches");
    check_stats(t, look_row(t, 0, "quantity", "launch_start_to_kernel_start"), 3, 60, 10, 20, 30);
    check_stats(t, look_row(t, 0, "quantity", "launch_api_dur"), 1, 7, 7, 7, 7);
    bench_destroy(b);
}

/* Without launch calls all is unknown, not 0; and without activities the CPU is still told of. */
static void test_nothing(void) {
    fixture f = FIXTURE(activities);
    bench *b = bench_create(module, "launch");
    const mill_report *r = report_of(b, &f);
    g_assert_cmpint(look_int(r, "launch_unknown", NULL), ==, 5);
    g_assert_cmpint(look_int(r, "queue_depth_max", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpint(look_int(r, "launch_ahead_p50", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpuint(look_table(r, "threads")->rows, ==, 0);
    bench_destroy(b);

    f = launches_fixture();
    f.n = 0;
    b = bench_create(module, "launch");
    r = report_of(b, &f);
    g_assert_null(look_table(r, "launches"));
    g_assert_cmpint(look_int(r, "api_calls", NULL), ==, 6);
    g_assert_cmpint(look_cell(look_table(r, "explicit_sync"), 0, "start").i, ==, MILL_UNKNOWN);
    bench_destroy(b);
}

/* Times so far apart that their difference does not fit are not computed with. */
static void test_absurd_times(void) {
    static const activity kernels[] = {{0, 7, INT64_MAX - 100, 10, GEMM}};
    static const slice call[] = {{1, INT64_MIN + 100, 7, LAUNCH, 1}};
    fixture f = FIXTURE(kernels);
    f.slices = call;
    f.n_slices = 1;
    bench *b = bench_create(module, "launch");
    g_assert_cmpint(look_int(report_of(b, &f), "launch_unknown", NULL), ==, 1);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/gaps/gaps.so");
    g_test_add_func("/launch/early", test_early);
    g_test_add_func("/launch/launches", test_launches);
    g_test_add_func("/launch/unqueued-option", test_unqueued_option);
    g_test_add_func("/launch/cpu", test_cpu);
    g_test_add_func("/launch/graph", test_graph);
    g_test_add_func("/launch/nothing", test_nothing);
    g_test_add_func("/launch/absurd-times", test_absurd_times);
    return g_test_run();
}
