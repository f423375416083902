/* SPDX-License-Identifier: Apache-2.0 */
/* Why communication is exposed, and how many SMs it holds, on small traces. */
#include "bench_host.h"
#include "fixture.h"
#include "look.h"

#define GEMM "gemm", MILL_CLASS_COMPUTATION, NULL
#define REDUCE "ncclDevKernel_AllReduce", MILL_CLASS_COMMUNICATION, "all-reduce"
#define GATHER "ncclDevKernel_AllGather", MILL_CLASS_COMMUNICATION, "all-gather"
#define COPY "Memcpy HtoD", MILL_CLASS_MEMORY, NULL

static const mill_module *module;

static bench *new_bench(void) {
    return bench_create(module, "overlap");
}

static const mill_report *report_of(bench *b, const fixture *f) {
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, f), "trace", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    return bench_output(b, "report", 0);
}

static void assert_ratio(const mill_report *report, const char *id, double value) {
    g_assert_cmpfloat_with_epsilon(look_ratio(report, id, NULL), value, 1e-12);
}

static int64_t reason_time(const mill_report *report, const char *reason) {
    const mill_table *table = look_table(report, "exposed_comm_by_reason");
    int64_t row = look_row(table, 0, "reason", reason);
    return row < 0 ? 0 : look_cell(table, row, "time").i;
}

/* Stream 1 computes; what it does while communication is exposed is the reason. */
static void test_reasons(void) {
    static const activity activities[] = {
        {0, 2, 0, 10, REDUCE},        /* before the first computation */
        {0, 1, 10, 1000, GEMM},       /* ends at 1010 */
        {0, 2, 1000, 200000, REDUCE}, /* the next one waits for this */
        {0, 1, 201005, 1000, GEMM},   /* and starts 5 ns after it */
        {0, 1, 202005, 100, COPY},    /* a copy on the stream that computes */
        {0, 2, 202005, 50, GATHER},   {0, 1, 202105, 100, REDUCE}, /* on that stream itself */
        {0, 1, 202205, 100, GEMM},    {0, 2, 202300, 40, REDUCE},  /* 35 ns after all is computed */
    };
    bench *b = new_bench();
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpint(reason_time(report, "before_first_compute"), ==, 10);
    g_assert_cmpint(reason_time(report, "wait_comm"), ==, 201000 - 1010);
    g_assert_cmpint(reason_time(report, "memcpy_memset"), ==, 50);
    g_assert_cmpint(reason_time(report, "same_stream"), ==, 100);
    g_assert_cmpint(reason_time(report, "after_last_compute"), ==, 35);
    g_assert_cmpint(look_int(report, "actionable_exposed", NULL), ==, 201000 - 1010);
    const mill_table *gaps = look_table(report, "exposed_gaps");
    g_assert_cmpint(look_cell(gaps, 0, "gap").i, ==, 201005 - 1010);
    g_assert_cmpstr(look_cell(gaps, 0, "kind").text, ==, "all-reduce");
    bench_destroy(b);
}

/* The trace records that computation waits for the copy, not for the communication beside it. */
static void test_recorded(void) {
    static const activity activities[] = {
        {0, 1, 0, 1000, GEMM},
        {0, 2, 500, 100000, REDUCE},
        {0, 3, 500, 90000, COPY},
        {0, 1, 100600, 1000, GEMM},
    };
    static const slice launches[] = {
        {1, -90, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 1},
        {1, -80, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 2},
        {1, -70, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 3},
        {1, -20, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 4},
    };
    static const stream_wait waits[] = {{1, 3, .records = -40, .waits = -30}};
    fixture f = FIXTURE(activities);
    f.slices = launches;
    f.n_slices = G_N_ELEMENTS(launches);
    f.waits = waits;
    for (f.n_waits = 0; f.n_waits < 2; f.n_waits++) {
        bench *b = new_bench();
        const mill_report *report = report_of(b, &f);
        g_assert_cmpint(look_int(report, "actionable_exposed", NULL), ==, f.n_waits ? 0 : 99500);
        g_assert_cmpint(reason_time(report, "wait_compute"), ==, f.n_waits ? 99500 : 0);
        g_assert_cmpint(look_note(report, "waits_recorded") != NULL, ==, f.n_waits > 0);
        bench_destroy(b);
    }
}

/* A device that only communicates has no stream that could wait. */
static void test_no_computation(void) {
    static const activity activities[] = {{0, 1, 0, 50, REDUCE}};
    bench *b = new_bench();
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpint(reason_time(report, "no_computation"), ==, 50);
    g_assert_cmpint(look_int(report, "actionable_exposed", NULL), ==, 0);
    bench_destroy(b);
}

/* Of a device of 100 SMs communication holds 20, which a gemm of 80 blocks leaves free. */
static void test_sms(void) {
    static const activity activities[] = {
        {0, 1, 0, 100, "gemm", MILL_CLASS_COMPUTATION, NULL, NULL, 80},
        {0, 2, 50, 100, "ncclDevKernel_AllReduce", MILL_CLASS_COMMUNICATION, "all-reduce", NULL,
         20},
        {0, 1, 100, 50, "norm", MILL_CLASS_COMPUTATION, NULL, NULL, 500},
        {0, 3, 150, 50, COPY},
    };
    fixture f = FIXTURE(activities);
    f.sms = 100;
    bench *b = new_bench();
    const mill_report *report = report_of(b, &f);
    g_assert_cmpint(look_int(report, "sms", NULL), ==, 100);
    assert_ratio(report, "sm_utilisation", (80.0 * 50 + 100.0 * 100) / (100 * 200));
    assert_ratio(report, "comm_sm_share", 20.0 * 100 / (100 * 200));
    assert_ratio(report, "comp_capacity_left", 0.8);
    g_assert_cmpint(look_int(report, "reserved_sms", NULL), ==, 20);
    g_assert_cmpint(look_int(report, "rest_kernels", NULL), ==, 1);
    g_assert_cmpint(look_int(report, "rest_time", NULL), ==, 100);
    g_assert_cmpint(look_int(report, "rest_time_without_comm", NULL), ==, 50);
    g_assert_null(look_note(report, "sms_unknown"));
    g_assert_null(look_note(report, "grids_unknown"));
    bench_destroy(b);
}

/* What is not known is not told, and a note says so. */
static void test_sms_unknown(void) {
    static const activity activities[] = {
        {0, 1, 0, 100, GEMM},
        {0, 2, 50, 100, REDUCE},
    };
    fixture f = FIXTURE(activities);
    bench *b = new_bench();
    const mill_report *report = report_of(b, &f);
    g_assert_nonnull(look_note(report, "sms_unknown"));
    g_assert_false(look_has_figure(report, "sms"));
    bench_destroy(b);
    f.sms = 100;
    b = new_bench();
    report = report_of(b, &f);
    g_assert_nonnull(look_note(report, "grids_unknown"));
    g_assert_cmpint(look_int(report, "sms", NULL), ==, 100);
    g_assert_false(look_has_figure(report, "comm_sm_share"));
    g_assert_false(look_has_figure(report, "sm_utilisation"));
    g_assert_null(look_table(report, "comm_by_sms"));
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/overlap/overlap.so");
    g_test_add_func("/overlap/reasons", test_reasons);
    g_test_add_func("/overlap/recorded", test_recorded);
    g_test_add_func("/overlap/no-computation", test_no_computation);
    g_test_add_func("/overlap/sms", test_sms);
    g_test_add_func("/overlap/sms-unknown", test_sms_unknown);
    return g_test_run();
}
