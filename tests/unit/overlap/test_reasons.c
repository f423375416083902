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

static const mill_series *series_of(const mill_report *report, const char *id) {
    for (uint64_t i = 0; i < report->n_series; i++)
        if (g_str_equal(report->series[i]->id, id))
            return report->series[i];
    g_error("there is no series %s", id);
}

/* 10 SMs, 960 ns in 480 parts of 2 ns. Communication has 4 of them up to 481, in the middle of part
 * 240; beside it a kernel that wants all 10 from 101 on gets 6, then all. */
static void test_sm_curves(void) {
    static const activity activities[] = {
        {0, 2, 0, 481, REDUCE, .grid = 4},
        {0, 1, 101, 859, GEMM, .grid = 1000},
    };
    fixture f = FIXTURE(activities);
    f.sms = 10;
    bench *b = new_bench();
    bench_option(b, "lanes=yes");
    const mill_report *report = report_of(b, &f);
    const mill_series *comm = series_of(report, "sms_comm_0");
    const mill_series *other = series_of(report, "sms_other_0");
    double sum = 0;
    g_assert_cmpuint(comm->n, ==, 480);
    for (int i = 0; i < 480; i++) {
        g_assert_cmpfloat_with_epsilon(comm->x[i], (2 * i + 1) / 1000.0, 1e-12);
        g_assert_cmpfloat(comm->y[i], ==, i < 240 ? 4 : i == 240 ? 2 : 0);
        g_assert_cmpfloat(other->y[i], ==,
                          i < 50     ? 0
                          : i == 50  ? 3
                          : i < 240  ? 6
                          : i == 240 ? 8
                                     : 10);
        sum += comm->y[i] + other->y[i];
    }
    g_assert_cmpfloat_with_epsilon(sum / 480, 10 * look_ratio(report, "sm_utilisation", NULL),
                                   1e-9);
    bench_destroy(b);
}

/* A window shorter than its parts, and none at all. */
static void test_short_curves(void) {
    static const activity activities[] = {{0, 2, 0, 3, REDUCE, .grid = 4}};
    static const activity empty[] = {{0, 2, 5, 0, REDUCE, .grid = 4}};
    fixture f = FIXTURE(activities), none = FIXTURE(empty);
    f.sms = none.sms = 10;
    bench *b = new_bench();
    bench_option(b, "lanes=yes");
    const mill_series *comm = series_of(report_of(b, &f), "sms_comm_0");
    g_assert_cmpuint(comm->n, ==, 3);
    g_assert_cmpfloat(comm->y[2], ==, 4);
    bench_destroy(b);
    b = new_bench();
    bench_option(b, "lanes=yes");
    g_assert_cmpuint(report_of(b, &none)->n_series, ==, 0);
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
    g_test_add_func("/overlap/sm-curves", test_sm_curves);
    g_test_add_func("/overlap/sm-curves-short", test_short_curves);
    return g_test_run();
}
