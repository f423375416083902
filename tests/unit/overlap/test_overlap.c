/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `overlap` on small traces whose right values can be told by looking at them. */
#include "bench_host.h"
#include "fixture.h"
#include "look.h"

#include <math.h>
#include <string.h>

#define GEMM "gemm", MILL_CLASS_COMPUTATION, NULL
#define REDUCE "ncclDevKernel_AllReduce", MILL_CLASS_COMMUNICATION, "all-reduce"
#define GATHER "ncclDevKernel_AllGather", MILL_CLASS_COMMUNICATION, "all-gather"
#define BARRIER "mesh_barrier", MILL_CLASS_COMMUNICATION, NULL
#define COPY "Memcpy HtoD", MILL_CLASS_MEMORY, NULL
#define IDLER "spin", MILL_CLASS_OTHER, NULL

static const mill_module *module;

/* Runs the class on the activities with the options (NULL-terminated) and gives its report. */
static const mill_report *report_of(bench *b, const fixture *f) {
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, f), "trace", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return bench_output(b, "report", 0);
}

static bench *new_bench(void) {
    return bench_create(module, "overlap");
}

static const char *const unknown_without_communication[] = {
    "overlap_over_comm", "overlap_over_comp", "overlap_over_min", "jaccard",
    "exposed_over_comm", "exposed_over_T",    "serial_speedup",   "bound_efficiency"};

static void assert_ratio(const mill_report *report, const char *id, double value) {
    g_assert_cmpfloat_with_epsilon(look_ratio(report, id, NULL), value, 1e-12);
}

/* gemm 100–150 and 160–200, all-reduce 120–180, a copy 190–230, a memset of no length at 250. */
static void test_figures(void) {
    static const activity activities[] = {
        {0, 7, 100, 50, GEMM}, {0, 27, 120, 60, REDUCE}, {0, 7, 160, 40, GEMM},
        {0, 7, 190, 40, COPY}, {0, 7, 250, 0, COPY},
    };
    static const struct {
        const char *id;
        int64_t value;
    } expected[] = {
        {"activities", 5},
        {"streams", 2},
        {"T", 150},
        {"busy", 130},
        {"idle", 20},
        {"comp", 90},
        {"comm", 60},
        {"mem", 40},
        {"overlap", 50},
        {"exposed_comm", 10},
        {"comp_without_comm", 40},
        {"excl_comp_only", 30},
        {"excl_comm_only", 10},
        {"excl_mem_only", 30},
        {"excl_comp_comm", 50},
        {"excl_comp_mem", 10},
        {"excl_comm_mem", 0},
        {"excl_comp_comm_mem", 0},
        {"excl_idle", 20},
    };
    bench *b = new_bench();
    const mill_report *report = report_of(b, &FIXTURE(activities));
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++)
        g_assert_cmpint(look_int(report, expected[i].id, NULL), ==, expected[i].value);
    assert_ratio(report, "overlap_over_comm", 50.0 / 60);
    assert_ratio(report, "overlap_over_comp", 50.0 / 90);
    assert_ratio(report, "overlap_over_min", 50.0 / 60);
    assert_ratio(report, "jaccard", 50.0 / 100);
    assert_ratio(report, "exposed_over_comm", 10.0 / 60);
    assert_ratio(report, "exposed_over_T", 10.0 / 150);
    assert_ratio(report, "serial_speedup", 150.0 / 100);
    assert_ratio(report, "bound_efficiency", 90.0 / 150);
    g_assert_false(look_has_figure(report, "other"));
    g_assert_cmpstr(report->id, ==, "overlap");
    g_assert_cmpstr(report->subject, ==, FIXTURE_PATH);
    g_assert_cmpstr(report->summary, ==,
                    "83.3 % of communication is hidden under computation; 0.01 µs (6.7 % of the "
                    "window) are exposed, of which 0 µs (0.0 %) are actionable.");
    g_assert_cmpstr(look_note(report, "communication_set")->text, ==,
                    "Device 0: counted as communication: all-reduce.");
    g_assert_null(look_note(report, "no_communication"));
    g_assert_null(look_table(report, "unmatched_names"));
    bench_destroy(b);
}

static void test_tables(void) {
    static const activity activities[] = {
        {0, 7, 100, 50, GEMM},     {0, 27, 120, 60, REDUCE}, {0, 28, 130, 60, GATHER},
        {0, 28, 150, 10, BARRIER}, {0, 7, 160, 40, GEMM},
    };
    bench *b = new_bench();
    const mill_report *report = report_of(b, &FIXTURE(activities));

    const mill_table *kinds = look_table(report, "kinds");
    g_assert_cmpuint(kinds->rows, ==, 3);
    g_assert_cmpstr(look_cell(kinds, 0, "kind").text, ==, "all-gather"); /* ties go by name */
    g_assert_cmpstr(look_cell(kinds, 1, "kind").text, ==, "all-reduce");
    g_assert_cmpstr(look_cell(kinds, 2, "kind").text, ==, "(no kind)");
    g_assert_cmpint(look_cell(kinds, 0, "exposed").i, ==, 0); /* owns only 180–190 */
    g_assert_cmpint(look_cell(kinds, 1, "exposed").i, ==, 10);
    g_assert_cmpint(look_cell(kinds, 2, "exposed").i, ==, 0);
    g_assert_cmpint(look_cell(kinds, 0, "n").i, ==, 1);
    g_assert_cmpint(look_cell(kinds, 0, "sum").i, ==, 60);
    g_assert_cmpint(look_cell(kinds, 0, "busy").i, ==, 60);
    g_assert_cmpfloat_with_epsilon(look_cell(kinds, 0, "hidden").d, 50.0 / 60, 1e-12);
    g_assert_cmpfloat(look_cell(kinds, 2, "hidden").d, ==, 0);

    const mill_table *streams = look_table(report, "streams");
    g_assert_cmpuint(streams->rows, ==, 3);
    int64_t row = look_row_of(streams, 0, "stream", 28);
    g_assert_cmpint(row, ==, 2);
    g_assert_cmpint(look_cell(streams, row, "n").i, ==, 2);
    g_assert_cmpint(look_cell(streams, row, "sum").i, ==, 70);
    g_assert_cmpint(look_cell(streams, row, "busy").i, ==, 60);
    g_assert_cmpint(look_cell(streams, row, "comm").i, ==, 60);
    g_assert_cmpint(look_cell(streams, row, "comp").i, ==, 0);
    g_assert_cmpint(look_cell(streams, row, "first").i, ==, 30);
    g_assert_cmpint(look_cell(streams, row, "last").i, ==, 90);

    const mill_table *classes = look_table(report, "classes");
    g_assert_cmpuint(classes->rows, ==, 3);
    row = look_row(classes, 0, "class", "communication");
    g_assert_cmpint(look_cell(classes, row, "n").i, ==, 3);
    g_assert_cmpint(look_cell(classes, row, "sum").i, ==, 130);
    g_assert_cmpint(look_cell(classes, row, "busy").i, ==, 70);

    const mill_table *devices = look_table(report, "devices");
    g_assert_cmpuint(devices->rows, ==, 1);
    g_assert_cmpint(look_cell(devices, 0, "exposed_comm").i, ==, 10);
    bench_destroy(b);
}

/* Device 1 computes while device 0 communicates: nothing of it is hidden. */
static void test_devices_are_not_mixed(void) {
    static const activity activities[] = {
        {3, 7, 50, 200, GEMM},
        {0, 27, 100, 100, REDUCE},
        {3, 27, 120, 40, REDUCE},
        {0, 7, 190, 20, GEMM},
    };
    fixture f = FIXTURE(activities);
    f.described_device = 5;
    bench *b = new_bench();
    const mill_report *report = report_of(b, &f);
    g_assert_cmpint(look_int(report, "T", "device 0"), ==, 110);
    g_assert_cmpint(look_int(report, "overlap", "device 0"), ==, 10);
    g_assert_cmpint(look_int(report, "exposed_comm", "device 0"), ==, 90);
    g_assert_cmpint(look_int(report, "T", "device 3"), ==, 200);
    g_assert_cmpint(look_int(report, "overlap", "device 3"), ==, 40);
    g_assert_cmpint(look_int(report, "exposed_comm", "device 3"), ==, 0);

    const mill_table *devices = look_table(report, "devices");
    g_assert_cmpuint(devices->rows, ==, 2); /* 5 is only described */
    g_assert_cmpint(look_cell(devices, 0, "device").i, ==, 0);
    g_assert_cmpint(look_cell(devices, 1, "device").i, ==, 3);
    g_assert_cmpstr(report->figures[0]->scope, ==, "device 0");
    g_assert_cmpstr(report->summary, ==,
                    "From 10.0 % (device 0) to 100.0 % (device 3) of communication is hidden under "
                    "computation.");
    bench_destroy(b);
}

static void test_no_communication(void) {
    static const activity activities[] = {
        {0, 7, 100, 10, "short", MILL_CLASS_COMPUTATION, NULL},
        {0, 7, 110, 50, GEMM},
        {0, 7, 160, 30, COPY},
        {0, 7, 190, 50, GEMM},
        {0, 7, 240, 60, "dispatch_v9", MILL_CLASS_COMPUTATION, NULL},
    };
    bench *b = new_bench();
    bench_option(b, "top=2");
    const mill_report *report = report_of(b, &FIXTURE(activities));
    for (size_t i = 0; i < G_N_ELEMENTS(unknown_without_communication); i++)
        g_assert_true(isnan(look_ratio(report, unknown_without_communication[i], NULL)));
    g_assert_cmpint(look_int(report, "comp", NULL), ==, 170);
    g_assert_cmpint(look_note(report, "no_communication")->level, ==, MILL_WARNING);
    g_assert_null(look_note(report, "communication_set"));
    const mill_table *names = look_table(report, "unmatched_names");
    g_assert_cmpuint(names->rows, ==, 2);
    g_assert_cmpstr(look_cell(names, 0, "name").text, ==, "gemm");
    g_assert_cmpint(look_cell(names, 0, "n").i, ==, 2);
    g_assert_cmpint(look_cell(names, 0, "sum").i, ==, 100);
    g_assert_cmpstr(look_cell(names, 1, "name").text, ==, "dispatch_v9");
    g_assert_cmpstr(report->summary, ==,
                    "No communication kernels recognised: how much communication is hidden is "
                    "unknown.");
    bench_destroy(b);
}

static void test_no_device_events(void) {
    fixture f = {.described_device = 0};
    bench *b = new_bench();
    const mill_report *report = report_of(b, &f);
    g_assert_cmpint(look_note(report, "no_device_events")->level, ==, MILL_WARNING);
    g_assert_cmpint(look_int(report, "T", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpint(look_int(report, "exposed_comm", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpint(look_int(report, "activities", NULL), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(unknown_without_communication); i++)
        g_assert_true(isnan(look_ratio(report, unknown_without_communication[i], NULL)));
    g_assert_cmpuint(report->n_tables, ==, 0);
    bench_destroy(b);
}

/* A trace of one activity of no length: a window of 0, and nothing to divide by. */
static void test_empty_window(void) {
    static const activity activities[] = {{0, 7, -5, 0, REDUCE}};
    bench *b = new_bench();
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpint(look_int(report, "activities", NULL), ==, 1);
    g_assert_cmpint(look_int(report, "T", NULL), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(unknown_without_communication); i++)
        g_assert_true(isnan(look_ratio(report, unknown_without_communication[i], NULL)));
    g_assert_true(isnan(look_cell(look_table(report, "kinds"), 0, "hidden").d));
    g_assert_null(look_note(report, "no_communication"));
    g_assert_cmpstr(report->summary, ==,
                    "All communication has zero duration: there is nothing to hide.");
    bench_destroy(b);
}

static void test_streams_as_communication(void) {
    static const activity activities[] = {
        {0, 7, 100, 50, GEMM},
        {0, 27, 120, 60, REDUCE},
        {0, 9, 180, 10, COPY},
        {0, 9, 190, 10, GEMM},
    };
    bench *b = new_bench();
    bench_option(b, "streams-as-communication=9, 4");
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpint(look_int(report, "comm", NULL), ==, 80);
    g_assert_cmpint(look_int(report, "comp", NULL), ==, 50);
    g_assert_cmpint(look_int(report, "mem", NULL), ==, 0);
    const mill_table *kinds = look_table(report, "kinds");
    g_assert_cmpint(look_cell(kinds, look_row(kinds, 0, "kind", "all-reduce"), "sum").i, ==, 60);
    g_assert_cmpint(look_cell(kinds, look_row(kinds, 0, "kind", "(by stream)"), "sum").i, ==, 20);
    g_assert_nonnull(strstr(look_note(report, "communication_set")->text, "(by stream)"));
    const mill_note *absent = look_note(report, "stream_absent");
    g_assert_cmpint(absent->level, ==, MILL_WARNING);
    g_assert_nonnull(strstr(absent->text, "stream 4"));
    bench_destroy(b);
}

/* What the file says of an operation beats the name of its kernel, if that communicates. */
static void test_kinds_of_collectives(void) {
    static const activity activities[] = {
        {0, 1, 0, 10, "generic", MILL_CLASS_COMMUNICATION, "other", "all-reduce"},
        {0, 1, 20, 20, "generic", MILL_CLASS_COMMUNICATION, "other", NULL},
        {0, 1, 50, 40, "gemm", MILL_CLASS_COMPUTATION, NULL, "all-reduce"},
    };
    bench *b = new_bench();
    const mill_table *kinds = look_table(report_of(b, &FIXTURE(activities)), "kinds");
    g_assert_cmpuint(kinds->rows, ==, 2);
    g_assert_cmpint(look_cell(kinds, look_row(kinds, 0, "kind", "all-reduce"), "sum").i, ==, 10);
    g_assert_cmpint(look_cell(kinds, look_row(kinds, 0, "kind", "other"), "sum").i, ==, 20);
    bench_destroy(b);
}

static void test_kinds_beyond_top(void) {
    static const activity activities[] = {
        {0, 1, 0, 50, REDUCE},
        {0, 1, 60, 30, GATHER},
        {0, 1, 100, 20, BARRIER},
        {0, 2, 100, 5, GEMM},
    };
    bench *b = new_bench();
    bench_option(b, "top=1");
    const mill_report *report = report_of(b, &FIXTURE(activities));
    const mill_table *kinds = look_table(report, "kinds");
    g_assert_cmpuint(kinds->rows, ==, 2);
    g_assert_cmpstr(look_cell(kinds, 1, "kind").text, ==, "(others)");
    g_assert_cmpint(look_cell(kinds, 1, "n").i, ==, 2);
    g_assert_cmpint(look_cell(kinds, 1, "sum").i, ==, 50);
    g_assert_cmpint(look_cell(kinds, 1, "busy").i, ==, MILL_UNKNOWN);
    g_assert_cmpint(look_cell(kinds, 0, "exposed").i + look_cell(kinds, 1, "exposed").i, ==,
                    look_int(report, "exposed_comm", NULL));
    g_assert_cmpfloat_with_epsilon(look_cell(kinds, 1, "hidden").d, 5.0 / 50, 1e-12);
    bench_destroy(b);
}

static void test_other_work(void) {
    static const activity activities[] = {
        {0, 1, 0, 50, REDUCE},
        {0, 2, 40, 30, IDLER},
        {0, 1, 90, 10, GEMM},
    };
    bench *b = new_bench();
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpint(look_int(report, "busy", NULL), ==, 60);
    g_assert_cmpint(look_int(report, "idle", NULL), ==, 40);
    g_assert_cmpint(look_int(report, "other", NULL), ==, 30);
    g_assert_cmpint(look_int(report, "other_in_idle", NULL), ==, 20);
    g_assert_nonnull(look_note(report, "other_work"));
    const mill_table *classes = look_table(report, "classes");
    g_assert_cmpint(look_cell(classes, look_row(classes, 0, "class", "other"), "sum").i, ==, 30);
    bench_destroy(b);
}

static void test_notes_of_the_reader(void) {
    static const activity activities[] = {{0, 1, 0, 50, REDUCE}};
    fixture f = FIXTURE(activities);
    f.diagnostics = true;
    bench *b = new_bench();
    const mill_report *report = report_of(b, &f);
    const mill_note *lost = look_note(report, "negative_duration");
    g_assert_cmpint(lost->level, ==, MILL_WARNING);
    g_assert_nonnull(strstr(lost->text, FIXTURE_LOST));
    g_assert_nonnull(strstr(lost->text, "(count 2, first at byte 1234)"));
    g_assert_cmpint(look_note(report, "incomplete")->level, ==, MILL_WARNING);
    bench_destroy(b);
}

/* The column adds up to the exposed communication of all devices. */
static void check_sums(const mill_report *report, const char *id, const char *column) {
    const mill_table *table = look_table(report, id);
    int64_t sum = 0, right = 0;
    for (int64_t row = 0; table && row < (int64_t)table->rows; row++)
        sum += look_cell(table, row, column).i;
    for (uint64_t i = 0; i < report->n_figures; i++)
        if (g_str_equal(report->figures[i]->id, "exposed_comm"))
            right += report->figures[i]->value.i;
    g_assert_cmpint(sum, ==, right);
}

/* Touching, nested, equal and empty activities: each moment of communication has one owner. */
static void test_ownership(void) {
    static const activity activities[] = {
        {0, 1, 0, 10, GEMM},    {0, 2, 10, 40, REDUCE}, {0, 3, 20, 10, GATHER},
        {0, 4, 20, 10, GATHER}, {0, 2, 50, 20, REDUCE}, {0, 3, 60, 0, REDUCE},
        {0, 1, 65, 35, GEMM},
    };
    bench *b = new_bench();
    const mill_report *report = report_of(b, &FIXTURE(activities));
    g_assert_cmpint(look_int(report, "comm", NULL), ==, 60);
    g_assert_cmpint(look_int(report, "exposed_comm", NULL), ==, 55);
    const mill_table *kernels = look_table(report, "comm_kernels");
    g_assert_cmpuint(kernels->rows, ==, 5);
    g_assert_cmpint(look_cell(kernels, 0, "start").i, ==, 10);
    g_assert_cmpint(look_cell(kernels, 0, "exposed").i, ==, 40);
    g_assert_cmpint(look_cell(kernels, 1, "exposed").i, ==, 15);
    g_assert_cmpint(look_cell(kernels, 1, "hidden").i, ==, 5);
    g_assert_cmpint(look_cell(kernels, 2, "exposed").i, ==, 0);
    g_assert_cmpint(look_cell(kernels, 0, "sms").i, ==, MILL_UNKNOWN);
    bench_destroy(b);
}

static void assert_refused(const fixture *f, const char *cause) {
    bench *b = new_bench();
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, f), "trace", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), cause));
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    bench_destroy(b);
}

static void test_broken_timers(void) {
    static const activity far_apart[] = {{0, 1, -(INT64_MAX / 3 * 2), 5, GEMM},
                                         {0, 2, INT64_MAX / 3 * 2, 5, REDUCE}};
    assert_refused(&FIXTURE(far_apart), "device 0: its activities span more than 146 years");
}

/* Beyond what the kit's builder lets through, but another reader might. */
static void test_end_beyond_int64(void) {
    static const activity activities[] = {{0, 1, 100, 50, GEMM}};
    bench *b = new_bench();
    mill_trace *trace = fixture_trace(b, &FIXTURE(activities));
    *(int64_t *)mill_segment(trace, &trace->gpu.start, 0) = INT64_MAX - 10;
    bench_input(b, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "device 0: an activity ends beyond"));
    bench_destroy(b);
}

/* Streams told apart by a word, on a device without a number. */
static void test_unknown_numbers(void) {
    static const activity activities[] = {{MILL_UNKNOWN, MILL_UNKNOWN, 0, 50, REDUCE}};
    fixture f = FIXTURE(activities);
    f.stream_label = "0x0";
    bench *b = new_bench();
    const mill_report *report = report_of(b, &f);
    const mill_table *streams = look_table(report, "streams");
    g_assert_cmpint(look_cell(streams, 0, "device").i, ==, MILL_UNKNOWN);
    g_assert_cmpint(look_cell(streams, 0, "stream").i, ==, MILL_UNKNOWN);
    g_assert_cmpstr(look_cell(streams, 0, "label").text, ==, "0x0");
    g_assert_true(
        g_str_has_prefix(look_note(report, "communication_set")->text, "Device unknown:"));
    bench_destroy(b);
}

static void test_too_many_devices(void) {
    g_autofree activity *activities = g_new0(activity, 1025);
    for (int i = 0; i < 1025; i++)
        activities[i] = (activity){i, 1, i, 1, GEMM};
    fixture f = {.activities = activities, .n = 1025, .described_device = MILL_UNKNOWN};
    assert_refused(&f, "1025 devices");
}

static void test_cancelled(void) {
    static const activity activities[] = {{0, 1, 0, 50, REDUCE}};
    bench *b = new_bench();
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &FIXTURE(activities)), "trace", "");
    bench_cancel_at(b, 2);
    g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
    bench_destroy(b);
}

static bool runs_at(const fixture *f, int64_t device, int64_t stream, int64_t time) {
    for (size_t i = 0; i < f->n; i++) {
        const activity *a = &f->activities[i];
        if (a->device == device && a->stream == stream && a->start <= time &&
            time < a->start + a->dur)
            return true;
    }
    return false;
}

/* Pairs of streams, nanosecond by nanosecond. */
static void check_pairs(const mill_report *report, const fixture *f) {
    const mill_table *table = look_table(report, "stream_pairs");
    int64_t sum = 0, right = 0;
    for (int64_t row = 0; table && row < (int64_t)table->rows; row++)
        sum += look_cell(table, row, "time").i;
    for (int64_t device = 0; device < 2; device++)
        for (int64_t time = 0; time < 600; time++) {
            int running = 0;
            for (int64_t stream = 0; stream < 4; stream++)
                running += runs_at(f, device, stream, time);
            right += running * (running - 1) / 2;
        }
    g_assert_cmpint(sum, ==, right);
}

static int64_t lane_time(const mill_lane *lane, const char *cls) {
    int64_t time = 0;
    for (uint64_t i = 0; i < lane->n; i++)
        if (!cls || g_str_equal(lane->texts[lane->cls[i]], cls))
            time += lane->end[i] - lane->start[i];
    return time;
}

/* The strip fills the window, its states are those of the figures; what is exposed is all there. */
static void check_lanes(const mill_report *report) {
    int64_t strips = 0, exposed = 0, comp_only = 0, windows = 0, right = 0, right_comp = 0;
    for (uint64_t i = 0; i < report->n_lanes; i++) {
        const mill_lane *lane = report->lanes[i];
        if (g_str_has_prefix(lane->id, "strip_")) {
            strips += lane_time(lane, NULL);
            comp_only += lane_time(lane, "compute only");
            for (uint64_t k = 1; k < lane->n; k++)
                g_assert_cmpint(lane->start[k], ==, lane->end[k - 1]);
        }
        if (g_str_has_prefix(lane->id, "exposed_"))
            exposed += lane_time(lane, NULL);
    }
    for (uint64_t i = 0; i < report->n_figures; i++) {
        const mill_figure *figure = report->figures[i];
        windows += g_str_equal(figure->id, "T") ? figure->value.i : 0;
        right += g_str_equal(figure->id, "exposed_comm") ? figure->value.i : 0;
        right_comp += g_str_equal(figure->id, "comp_without_comm") ? figure->value.i : 0;
    }
    g_assert_cmpint(strips, ==, windows);
    g_assert_cmpint(exposed, ==, right);
    g_assert_cmpint(comp_only, ==, right_comp);
}

/* Any activities: what must hold for each device and between figures and tables. */
static void test_invariants(void) {
    static const activity sorts[] = {{0, 0, 0, 0, GEMM},   {0, 0, 0, 0, REDUCE},
                                     {0, 0, 0, 0, GATHER}, {0, 0, 0, 0, BARRIER},
                                     {0, 0, 0, 0, COPY},   {0, 0, 0, 0, IDLER}};
    for (int round = 0; round < 200; round++) {
        activity activities[60];
        size_t n = (size_t)g_test_rand_int_range(1, G_N_ELEMENTS(activities) + 1);
        for (size_t i = 0; i < n; i++) {
            activities[i] = sorts[g_test_rand_int_range(0, G_N_ELEMENTS(sorts))];
            activities[i].device = g_test_rand_int_range(0, 2);
            activities[i].stream = g_test_rand_int_range(0, 4);
            activities[i].start = g_test_rand_int_range(0, 500);
            activities[i].dur = g_test_rand_int_range(0, 60);
        }
        fixture f = {.activities = activities, .n = n, .described_device = MILL_UNKNOWN};
        bench *b = new_bench();
        bench_option(b, "kernels=1000");
        bench_option(b, "lanes=yes");
        const mill_report *report = report_of(b, &f);
        const mill_table *devices = look_table(report, "devices");
        check_sums(report, "exposed_comm_by_reason", "time");
        check_sums(report, "exposed_gaps", "exposed");
        check_sums(report, "comm_kernels", "exposed");
        check_pairs(report, &f);
        check_lanes(report);
        for (int64_t d = 0; d < (int64_t)devices->rows; d++) {
            int64_t id = look_cell(devices, d, "device").i, states = 0, exposed = 0, count = 0;
            g_autofree char *name = g_strdup_printf("device %" G_GINT64_FORMAT, id);
            const char *scope = devices->rows > 1 ? name : NULL;
            for (uint64_t i = 0; i < report->n_figures; i++)
                if (g_str_has_prefix(report->figures[i]->id, "excl_") &&
                    g_strcmp0(report->figures[i]->scope, scope) == 0)
                    states += report->figures[i]->value.i;
            const mill_table *kinds = look_table(report, "kinds");
            for (int64_t row = 0; row < (int64_t)kinds->rows; row++)
                if (look_cell(kinds, row, "device").i == id)
                    exposed += look_cell(kinds, row, "exposed").i;
            const mill_table *streams = look_table(report, "streams");
            for (int64_t row = 0; row < (int64_t)streams->rows; row++)
                if (look_cell(streams, row, "device").i == id)
                    count += look_cell(streams, row, "n").i;
            const mill_table *classes = look_table(report, "classes");
            int64_t comm = look_row(classes, id, "class", "communication");
            g_assert_cmpint(states, ==, look_int(report, "T", scope));
            g_assert_cmpint(exposed, ==, look_int(report, "exposed_comm", scope));
            g_assert_cmpint(count, ==, look_int(report, "activities", scope));
            g_assert_cmpint(look_cell(classes, comm, "busy").i, ==,
                            look_int(report, "comm", scope));
            g_assert_cmpint(look_int(report, "overlap", scope) +
                                look_int(report, "exposed_comm", scope),
                            ==, look_int(report, "comm", scope));
            g_assert_cmpint(look_int(report, "overlap", scope) +
                                look_int(report, "comp_without_comm", scope),
                            ==, look_int(report, "comp", scope));
        }
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/overlap/overlap.so");
    g_test_add_func("/overlap/figures", test_figures);
    g_test_add_func("/overlap/tables", test_tables);
    g_test_add_func("/overlap/devices-are-not-mixed", test_devices_are_not_mixed);
    g_test_add_func("/overlap/no-communication", test_no_communication);
    g_test_add_func("/overlap/no-device-events", test_no_device_events);
    g_test_add_func("/overlap/empty-window", test_empty_window);
    g_test_add_func("/overlap/streams-as-communication", test_streams_as_communication);
    g_test_add_func("/overlap/kinds-of-collectives", test_kinds_of_collectives);
    g_test_add_func("/overlap/kinds-beyond-top", test_kinds_beyond_top);
    g_test_add_func("/overlap/other-work", test_other_work);
    g_test_add_func("/overlap/notes-of-the-reader", test_notes_of_the_reader);
    g_test_add_func("/overlap/ownership", test_ownership);
    g_test_add_func("/overlap/broken-timers", test_broken_timers);
    g_test_add_func("/overlap/end-beyond-int64", test_end_beyond_int64);
    g_test_add_func("/overlap/unknown-numbers", test_unknown_numbers);
    g_test_add_func("/overlap/too-many-devices", test_too_many_devices);
    g_test_add_func("/overlap/cancelled", test_cancelled);
    g_test_add_func("/overlap/invariants", test_invariants);
    return g_test_run();
}
