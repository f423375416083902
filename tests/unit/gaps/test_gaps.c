/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `gaps` on small traces whose right values can be told by looking at them. */
#include "fixture.h"
#include "look.h"

#define GEMM .name = "gemm", .cls = MILL_CLASS_COMPUTATION
#define REDUCE .name = "reduce", .cls = MILL_CLASS_COMMUNICATION, .kind = "all-reduce"
#define US 1000

static const mill_module *module;

static bench *new_bench(void) {
    return bench_create(module, "gaps");
}

static const mill_report *report_of(bench *b, const fixture *f, const mill_attribution *places) {
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, f), "trace", "");
    if (places)
        bench_input(b, "attribution", MILL_TYPE_ATTRIBUTION, places, "attribution", "");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return bench_output(b, "report", 0);
}

/* Stream 7 computes 0–100, 105–200, 500–600, 700–800 µs; stream 27 reduces 150–480 µs. The last
 * gemm is launched at 680 µs. */
static const activity three_gaps[] = {
    {0, 7, 0, 100 * US, GEMM},           {0, 7, 105 * US, 95 * US, GEMM},
    {0, 27, 150 * US, 330 * US, REDUCE}, {0, 7, 500 * US, 100 * US, GEMM},
    {0, 7, 700 * US, 100 * US, GEMM},
};
static const slice launches[] = {
    {1, -10 * US, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 1},
    {1, -9 * US, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 2},
    {1, -8 * US, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 3},
    {1, -7 * US, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 4},
    {1, 680 * US, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 5},
};

static fixture three_gaps_fixture(void) {
    fixture f = FIXTURE(three_gaps);
    f.slices = launches;
    f.n_slices = G_N_ELEMENTS(launches);
    return f;
}

static void check_cause(const mill_table *t, int64_t row, const char *cause, int64_t n,
                        int64_t time) {
    g_assert_cmpstr(look_cell(t, row, "cause").text, ==, cause);
    g_assert_cmpint(look_cell(t, row, "n").i, ==, n);
    g_assert_cmpint(look_cell(t, row, "time").i, ==, time);
}

static void test_causes(void) {
    static const uint32_t place[] = {0, 0, 1, 2, 2};
    static const char *const stages[] = {"attn(F)", "dispatch(F)", "mlp(F)"};
    fixture f = three_gaps_fixture();
    bench *b = new_bench();
    const mill_report *r =
        report_of(b, &f, fixture_places(b, place, G_N_ELEMENTS(place), stages, 3));
    const mill_table *t = look_table(r, "stream_causes");
    g_assert_cmpuint(t->rows, ==, 4);
    check_cause(t, 0, "not_launched", 1, 80 * US);
    check_cause(t, 1, "launch_latency", 1, 20 * US);
    check_cause(t, 2, "kernel_gap", 1, 5 * US);
    check_cause(t, 3, "wait_comm", 1, 300 * US);
    g_assert_cmpfloat_with_epsilon(look_cell(t, 3, "share").d, 300. / 405, 1e-12);

    t = look_table(r, "largest");
    g_assert_cmpuint(t->rows, ==, 3);
    g_assert_cmpint(look_cell(t, 0, "start").i, ==, 200 * US);
    g_assert_cmpint(look_cell(t, 0, "time").i, ==, 300 * US);
    g_assert_cmpint(look_cell(t, 0, "not_launched").i, ==, 0);
    g_assert_cmpstr(look_cell(t, 0, "next_stage").text, ==, "mlp(F)");
    g_assert_cmpint(look_cell(t, 0, "next_layer").i, ==, 2);
    g_assert_cmpstr(look_cell(t, 0, "next").text, ==, "gemm");
    g_assert_cmpint(look_cell(t, 0, "blocker_stream").i, ==, 27);
    g_assert_cmpstr(look_cell(t, 0, "blocker_stage").text, ==, "dispatch(F)");
    g_assert_cmpint(look_cell(t, 0, "blocker_layer").i, ==, 1);
    g_assert_cmpstr(look_cell(t, 0, "blocker").text, ==, "all-reduce");
    g_assert_cmpint(look_cell(t, 0, "blocker_end").i, ==, 480 * US);
    g_assert_cmpint(look_cell(t, 1, "not_launched").i, ==, 80 * US);
    g_assert_null(look_cell(t, 1, "blocker").text);
    g_assert_cmpint(look_cell(t, 1, "blocker_end").i, ==, MILL_UNKNOWN);

    /* The device itself is idle at 100–105, 480–500 and 600–700 µs. */
    g_assert_cmpint(look_int(r, "idle", NULL), ==, 125 * US);
    g_assert_cmpint(look_int(r, "idle_gaps", NULL), ==, 3);
    g_assert_cmpfloat_with_epsilon(look_ratio(r, "idle_over_T", NULL), 125. / 800, 1e-12);
    t = look_table(r, "idle_causes");
    check_cause(t, 3, "unexplained", 1, 20 * US);
    g_assert_cmpstr(r->summary, ==,
                    "Device 0 is idle for 125 µs (15.6 % of the window); its main compute stream 7 "
                    "waits 300 µs for communication.");
    g_assert_null(look_note(r, "launch_unknown"));
    g_assert_nonnull(look_note(r, "sms_unknown"));
    g_assert_cmpuint(r->n_lanes, ==, 0);
    bench_destroy(b);
}

/* The thresholds decide, and are options. */
/* The gap before 500 µs is a wait by timing; where the trace records it, by its word. A copy that
 * ends later is then not asked. */
static void test_recorded(void) {
    static const activity activities[] = {
        {0, 7, 0, 100 * US, GEMM},           {0, 7, 105 * US, 95 * US, GEMM},
        {0, 27, 150 * US, 330 * US, REDUCE}, {0, 7, 500 * US, 100 * US, GEMM},
        {0, 7, 700 * US, 100 * US, GEMM},    {0, 30, 150 * US, 340 * US, "copy", MILL_CLASS_MEMORY},
    };
    static const stream_wait waits[] = {{7, 27, .records = -7600, .waits = -7300}};
    fixture f = three_gaps_fixture();
    f.activities = activities;
    f.n = G_N_ELEMENTS(activities);
    for (f.n_waits = 0; f.n_waits < 2; f.n_waits++) {
        f.waits = waits;
        bench *b = new_bench();
        const mill_report *r = report_of(b, &f, NULL);
        g_assert_cmpint(look_int(r, "gaps_recorded", NULL), ==, (int64_t)f.n_waits);
        g_assert_cmpint(look_int(r, "gaps_by_timing", NULL), ==, 1 - (int64_t)f.n_waits);
        const mill_table *t = look_table(r, "largest");
        g_assert_cmpstr(look_cell(t, 0, "method").text, ==, f.n_waits ? "recorded" : "by timing");
        g_assert_cmpint(look_cell(t, 0, "blocker_stream").i, ==, f.n_waits ? 27 : 30);
        g_assert_cmpstr(look_cell(t, 0, "cause").text, ==,
                        f.n_waits ? "wait_comm" : "wait_compute");
        g_assert_cmpstr(look_cell(t, 1, "method").text, ==, "by length");
        g_assert_cmpint(strstr(look_note(r, "rule")->text, "why 1 of") != NULL, ==, f.n_waits > 0);
        bench_destroy(b);
    }
    f.n_waits = 1;
    bench *b = new_bench();
    bench_option(b, "gap-rule=hta"); /* which has no methods */
    const mill_report *r = report_of(b, &f, NULL);
    g_assert_false(look_has_figure(r, "gaps_recorded"));
    g_assert_null(look_cell(look_table(r, "largest"), 0, "method").text);
    bench_destroy(b);
}

static void test_thresholds(void) {
    fixture f = three_gaps_fixture();
    bench *b = new_bench();
    bench_option(b, "dependency-tolerance=19us");
    bench_option(b, "kernel-gap=4us");
    const mill_table *t = look_table(report_of(b, &f, NULL), "stream_causes");
    g_assert_cmpuint(t->rows, ==, 2);
    check_cause(t, 0, "not_launched", 1, 80 * US);
    check_cause(t, 1, "unexplained", 3, 325 * US);
    bench_destroy(b);
}

/* HolisticTraceAnalysis gives the whole gap to the host if the launch came late. */
static void test_hta(void) {
    fixture f = three_gaps_fixture();
    bench *b = new_bench();
    bench_option(b, "gap-rule=hta");
    bench_option(b, "lanes=yes");
    const mill_report *r = report_of(b, &f, NULL);
    const mill_table *t = look_table(r, "stream_causes");
    g_assert_cmpuint(t->rows, ==, 3);
    check_cause(t, 0, "host_wait", 1, 100 * US);
    check_cause(t, 1, "kernel_wait", 1, 5 * US);
    check_cause(t, 2, "other", 1, 300 * US);
    g_assert_null(look_cell(look_table(r, "largest"), 0, "blocker").text);
    g_assert_cmpuint(r->n_lanes, ==, 3);
    bench_destroy(b);

    b = new_bench();
    bench_option(b, "gap-rule=hta");
    bench_option(b, "hta-threshold=5us"); /* below it, not at it */
    t = look_table(report_of(b, &f, NULL), "stream_causes");
    g_assert_cmpint(look_row(t, 0, "cause", "kernel_wait"), ==, -1);
    bench_destroy(b);
}

/* Two kernels of 8 blocks on a device of 10 SMs: the second waits for the first. */
static void test_sm_wait(void) {
    static const activity activities[] = {
        {0, 7, 0, 100 * US, GEMM, .grid = 8},
        {0, 23, 50 * US, 250 * US, GEMM, .grid = 8},
        {0, 7, 300 * US, 10 * US, GEMM, .grid = 8},
        {0, 7, 400 * US, 10 * US, GEMM},
    };
    static const uint32_t one[] = {0, 0, 0, 0}, two[] = {0, 0, 1, 1};
    static const char *const stages[] = {"mlp(W)", "attn(W)"};
    fixture f = FIXTURE(activities);
    f.sms = 10;
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, fixture_places(b, one, 4, stages, 2));
    check_cause(look_table(r, "stream_causes"), 0, "sm_wait", 1, 200 * US);
    check_cause(look_table(r, "stream_causes"), 1, "unexplained", 1, 90 * US);
    g_assert_nonnull(look_note(r, "grid_unknown"));
    g_assert_nonnull(look_note(r, "launch_unknown"));
    bench_destroy(b);

    b = new_bench(); /* from one stage to the next, a dependency is likelier */
    r = report_of(b, &f, fixture_places(b, two, 4, stages, 2));
    check_cause(look_table(r, "stream_causes"), 0, "wait_compute", 1, 200 * US);
    bench_destroy(b);

    b = new_bench(); /* places that are not known are not one */
    r = report_of(b, &f, NULL);
    check_cause(look_table(r, "stream_causes"), 0, "wait_compute", 1, 200 * US);
    g_assert_nonnull(look_note(r, "no_attribution"));
    bench_destroy(b);

    f.sms = 0;
    b = new_bench();
    bench_option(b, "dependency-tolerance=0us");
    bench_option(b, "top=1");
    r = report_of(b, &f, fixture_places(b, one, 4, stages, 2));
    g_assert_nonnull(look_note(r, "sms_unknown"));
    g_assert_cmpuint(look_table(r, "largest")->rows, ==, 1);
    bench_destroy(b);
}

static void test_devices(void) {
    static const activity activities[] = {
        {0, 7, 0, 10, GEMM},
        {1, 7, 5, 100, GEMM},
        {0, 7, 100, 10, GEMM},
        {1, 7, 105, 10, GEMM},
    };
    bench *b = new_bench();
    const mill_report *r = report_of(b, &FIXTURE(activities), NULL);
    g_assert_cmpint(look_int(r, "idle", "device 0"), ==, 90);
    g_assert_cmpint(look_int(r, "idle", "device 1"), ==, 0);
    const mill_table *t = look_table(r, "streams");
    g_assert_cmpuint(t->rows, ==, 2);
    g_assert_cmpint(look_cell(t, 0, "n").i, ==, 1);
    g_assert_cmpint(look_cell(t, 1, "n").i, ==, 0);
    bench_destroy(b);
}

/* A memset of no length ends a gap of its stream, but nothing of the device's idle time. */
static void test_zero_length(void) {
    static const activity activities[] = {
        {0, 7, 0, 10, GEMM},
        {0, 7, 50, 0, "memset", MILL_CLASS_MEMORY},
        {0, 7, 100, 10, GEMM},
    };
    bench *b = new_bench();
    const mill_report *r = report_of(b, &FIXTURE(activities), NULL);
    g_assert_cmpint(look_int(r, "idle_gaps", NULL), ==, 1);
    g_assert_cmpint(look_int(r, "idle", NULL), ==, 90);
    g_assert_cmpint(look_cell(look_table(r, "streams"), 0, "n").i, ==, 2);
    g_assert_cmpint(look_cell(look_table(r, "streams"), 0, "time").i, ==, 90);
    bench_destroy(b);
}

static void test_empty(void) {
    bench *b = new_bench();
    fixture f = {.described_device = MILL_UNKNOWN};
    bench_option(b, "lanes=yes");
    const mill_report *r = report_of(b, &f, NULL);
    g_assert_cmpuint(r->n_tables, ==, 0);
    g_assert_nonnull(look_note(r, "no_device_events"));
    g_assert_cmpstr(r->summary, ==, "No device events: nothing can be said of gaps.");
    bench_destroy(b);
}

static void test_bad_selection(void) {
    bench *b = new_bench();
    fixture f = three_gaps_fixture();
    bench_option(b, "steps=3");
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &f), "trace", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    bench_destroy(b);
}

static void test_cancelled(void) {
    for (unsigned n = 1; n <= 3; n++) {
        bench *b = new_bench();
        fixture f = three_gaps_fixture();
        bench_cancel_at(b, n);
        bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &f), "trace", "");
        g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/gaps/gaps.so");
    g_test_add_func("/gaps/causes", test_causes);
    g_test_add_func("/gaps/recorded", test_recorded);
    g_test_add_func("/gaps/thresholds", test_thresholds);
    g_test_add_func("/gaps/hta", test_hta);
    g_test_add_func("/gaps/sm-wait", test_sm_wait);
    g_test_add_func("/gaps/devices", test_devices);
    g_test_add_func("/gaps/zero-length", test_zero_length);
    g_test_add_func("/gaps/empty", test_empty);
    g_test_add_func("/gaps/bad-selection", test_bad_selection);
    g_test_add_func("/gaps/cancelled", test_cancelled);
    return g_test_run();
}
