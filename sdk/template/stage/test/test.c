/* acme.thing alone: values worked out by hand, and what the ABI asks of a stage (the harness looks
 * for that by itself: kit/test.h). */
#include <string.h>
#include <tracemill/kit/test.h>
#include <tracemill/kit/trace_builder.h>

static const char *plugin;

typedef struct activity {
    const char *name;
    int64_t device, stream, start, dur; /* ns */
} activity;

static const activity tiny[] = {
    {"gemm", 0, 7, 100000, 10000},
    {"attention", 0, 8, 105000, 20500},
    {"norm", 0, 7, 130000, 10000},
    {"copy", 1, 7, 100000, 4000},
};

static const mill_trace *make_trace(mill_run *run, const activity *v, size_t n) {
    kit_trace *b = kit_trace_create(run);
    const mill_trace *trace;

    kit_trace_value(b)->path = kit_trace_text(b, "tiny", strlen("tiny"));
    for (size_t i = 0; i < n; i++) {
        kit_gpu_row row;

        memset(&row, 0, sizeof row);
        row.start = v[i].start;
        row.dur = v[i].dur;
        row.correlation = row.external_id = row.waited_event = MILL_UNKNOWN;
        row.grid = row.block = row.bytes = MILL_UNKNOWN;
        row.name = kit_trace_name(b, v[i].name, strlen(v[i].name), MILL_GPU_KERNEL);
        row.stream = kit_trace_stream(b, kit_trace_device(b, v[i].device), v[i].stream, MILL_NONE);
        row.collective = MILL_NONE;
        row.cat = MILL_GPU_KERNEL;
        kit_trace_gpu(b, &row);
    }
    trace = kit_trace_finish(b, 0);
    kit_trace_destroy(b);
    return trace;
}

/* A test of the stage on the first n activities. */
static kit_test *begin(size_t n) {
    kit_test *t = kit_test_open(plugin, "acme.thing");

    kit_test_input(t, "trace", MILL_TYPE_TRACE, make_trace(kit_test_maker(t), tiny, n));
    return t;
}

/* Device 0: [100, 110) and [105, 125.5) µs overlap, [130, 140) stands alone. */
static void test_overlapping_streams_count_once(void) {
    kit_test *t = begin(4);
    const mill_report *report;

    KIT_EXPECT_OK(t);
    report = kit_test_report(t, "report", 0);
    KIT_EXPECT_INT(kit_test_cell(report, "devices", 0, "busy").i, 35500);
    KIT_EXPECT_INT(kit_test_cell(report, "devices", 0, "span").i, 40000);
    KIT_EXPECT_REAL(kit_test_cell(report, "devices", 0, "busy_over_span").d, 0.8875, 1e-12);
    KIT_EXPECT_INT(kit_test_cell(report, "devices", 1, "busy").i, 4000);
    KIT_EXPECT_INT((int64_t)kit_test_table(report, "devices")->rows, 2);
    kit_test_destroy(t);
}

static void test_equally_long_ones_are_listed_in_order_of_time(void) {
    kit_test *t = begin(4);
    const mill_report *report;

    kit_test_option(t, "top = 3");
    KIT_EXPECT_OK(t);
    report = kit_test_report(t, "report", 0);
    KIT_EXPECT_TEXT(kit_test_cell(report, "longest", 0, "name").text, "attention");
    KIT_EXPECT_TEXT(kit_test_cell(report, "longest", 1, "name").text, "gemm");
    KIT_EXPECT_TEXT(kit_test_cell(report, "longest", 2, "name").text, "norm");
    KIT_EXPECT_INT(kit_test_cell(report, "longest", 2, "start").i, 30000);
    KIT_EXPECT_INT((int64_t)kit_test_table(report, "longest")->rows, 3);
    kit_test_destroy(t);
}

static void test_nothing_ran(void) {
    kit_test *t = begin(0);

    KIT_EXPECT_OK(t);
    KIT_EXPECT(kit_test_note(kit_test_report(t, "report", 0), "no_activities") != NULL);
    kit_test_destroy(t);
}

static void test_options_are_checked(void) {
    kit_test *t = begin(4);

    kit_test_option(t, "top = 0");
    KIT_EXPECT_FAILURE(t, MILL_E_CONFIG, "top");
    kit_test_destroy(t);
}

int main(int argc, char **argv) {
    plugin = argc > 1 ? argv[1] : "build/acme-thing.so";
    test_overlapping_streams_count_once();
    test_equally_long_ones_are_listed_in_order_of_time();
    test_nothing_ran();
    test_options_are_checked();
    return kit_test_result();
}
