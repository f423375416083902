/* org.acme.thing/1 and its two stages: values worked out by hand, and what the ABI asks of stages
 * and types (the harness looks for that by itself, and saves and loads each value: kit/test.h). */
#include "acme_thing.h"

#include <string.h>
#include <tracemill/kit/test.h>
#include <tracemill/kit/trace_builder.h>

static const char *plugin;

static const mill_trace *make_trace(mill_run *run) {
    static const char *const names[] = {"norm", "gemm", "norm"};
    static const int64_t starts[] = {100000, 110000, 130000}, durations[] = {10000, 10000, 4500};
    kit_trace *b = kit_trace_create(run);
    const mill_trace *trace;

    for (int i = 0; i < 3; i++) {
        kit_gpu_row row;

        memset(&row, 0, sizeof row);
        row.start = starts[i];
        row.dur = durations[i];
        row.correlation = row.external_id = row.waited_event = MILL_UNKNOWN;
        row.grid = row.block = row.bytes = MILL_UNKNOWN;
        row.name = kit_trace_name(b, names[i], strlen(names[i]), MILL_GPU_KERNEL);
        row.stream = kit_trace_stream(b, kit_trace_device(b, 0), 7, MILL_NONE);
        row.collective = MILL_NONE;
        row.cat = MILL_GPU_KERNEL;
        kit_trace_gpu(b, &row);
    }
    trace = kit_trace_finish(b, 0);
    kit_trace_destroy(b);
    return trace;
}

/* In the order of names; norm runs twice, 10 and 4.5 µs. */
static void expect_times(const acme_thing *times, int64_t profiles) {
    KIT_EXPECT_INT((int64_t)times->n, 2);
    KIT_EXPECT_TEXT(times->rows[0].name, "gemm");
    KIT_EXPECT_INT(times->rows[0].count, 1 * profiles);
    KIT_EXPECT_INT(times->rows[0].total, 10000 * profiles);
    KIT_EXPECT_TEXT(times->rows[1].name, "norm");
    KIT_EXPECT_INT(times->rows[1].count, 2 * profiles);
    KIT_EXPECT_INT(times->rows[1].total, 14500 * profiles);
}

static kit_test *measure(void) {
    kit_test *t = kit_test_open(plugin, "acme.thing.measure");

    kit_test_input(t, "trace", MILL_TYPE_TRACE, make_trace(kit_test_maker(t)));
    KIT_EXPECT_OK(t);
    return t;
}

static void test_measure(void) {
    kit_test *t = measure();
    const mill_report *report = kit_test_report(t, "times", 0);

    expect_times((const acme_thing *)kit_test_output(t, "times", 0), 1);
    KIT_EXPECT_TEXT(kit_test_cell(report, "names", 1, "name").text, "norm");
    KIT_EXPECT_INT(kit_test_cell(report, "names", 1, "total").i, 14500);
    kit_test_destroy(t);
}

static void test_sum(void) {
    kit_test *made = measure(), *t = kit_test_open(plugin, "acme.thing.sum");
    const void *times = kit_test_output(made, "times", 0);

    kit_test_input_from(t, "times", ACME_THING_TYPE, times, "measure", "rank0");
    kit_test_input_from(t, "times", ACME_THING_TYPE, times, "measure", "rank1");
    KIT_EXPECT_OK(t);
    expect_times((const acme_thing *)kit_test_output(t, "times", 0), 2);
    kit_test_destroy(t);
    kit_test_destroy(made);
}

int main(int argc, char **argv) {
    plugin = argc > 1 ? argv[1] : "build/acme-thing.so";
    test_measure();
    test_sum();
    return kit_test_result();
}
