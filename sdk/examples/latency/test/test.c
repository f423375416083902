/* SPDX-License-Identifier: Apache-2.0 */
/* The stages and the type alone: values worked out by hand, and what the ABI asks of stages and
 * types (the harness looks for that by itself, and saves and loads each value: kit/test.h). */
#include "latency.h"

#include <string.h>
#include <tracemill/kit/test.h>
#include <tracemill/kit/trace_builder.h>

static const char *plugin;

/* An activity, and when its call begins; MILL_UNKNOWN: there is none. */
typedef struct activity {
    mill_gpu_cat cat;
    int64_t call, start; /* ns */
} activity;

/* Kernels wait 1000, 1024, 5000 and 1 000 000 ns; one has no call, one starts 10 ns too early. The
 * copy waits 3000 ns. */
static const activity some[] = {
    {MILL_GPU_KERNEL, 10000, 11000},        {MILL_GPU_KERNEL, 20000, 21024},
    {MILL_GPU_KERNEL, 30000, 35000},        {MILL_GPU_KERNEL, 40000, 1040000},
    {MILL_GPU_KERNEL, MILL_UNKNOWN, 50000}, {MILL_GPU_KERNEL, 60010, 60000},
    {MILL_GPU_MEMCPY, 70000, 73000},
};

static void add_call(kit_trace *b, const activity *a, int64_t correlation, uint32_t thread) {
    kit_cpu_row call = {.start = a->call, .dur = 100, .correlation = correlation};
    call.external_id = MILL_UNKNOWN;
    call.name = kit_trace_name(b, "cudaLaunchKernel", strlen("cudaLaunchKernel"), 0);
    call.thread = thread;
    call.kind = MILL_CPU_RUNTIME;
    kit_trace_cpu(b, &call);
}

static const mill_trace *make_trace(mill_run *run) {
    kit_trace *b = kit_trace_create(run);
    uint32_t thread = kit_trace_thread(b, 1, 1);
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        int64_t correlation = (int64_t)i + 1;
        kit_gpu_row row = {.start = some[i].start, .dur = 50, .correlation = correlation};
        row.external_id = row.waited_event = row.grid = row.block = row.bytes = MILL_UNKNOWN;
        row.name = kit_trace_name(b, "it", 2, some[i].cat);
        row.stream = kit_trace_stream(b, kit_trace_device(b, 0), 7, MILL_NONE);
        row.collective = MILL_NONE;
        row.cat = (uint8_t)some[i].cat;
        kit_trace_gpu(b, &row);
        if (some[i].call != MILL_UNKNOWN)
            add_call(b, &some[i], correlation, thread);
    }
    const mill_trace *trace = kit_trace_finish(b, 0);
    kit_trace_destroy(b);
    return trace;
}

static kit_test *measure(const char *option) {
    kit_test *t = kit_test_open(plugin, "latency.measure");
    kit_test_input(t, "trace", MILL_TYPE_TRACE, make_trace(kit_test_maker(t)));
    if (option)
        kit_test_option(t, option);
    KIT_EXPECT_OK(t);
    return t;
}

static void test_measure(void) {
    kit_test *t = measure(NULL);
    const latency *l = kit_test_output(t, "latency", 0);
    KIT_EXPECT_INT(l->launched, 5);
    KIT_EXPECT_INT(l->others, 1);
    KIT_EXPECT_INT(l->early, 1);
    KIT_EXPECT_INT(l->sum, 1007024);
    KIT_EXPECT_INT(l->longest, 1000000);
    KIT_EXPECT_INT(l->bins[0], 1);  /* below 1024 */
    KIT_EXPECT_INT(l->bins[1], 1);  /* [1024, 2048) */
    KIT_EXPECT_INT(l->bins[3], 1);  /* [4096, 8192) */
    KIT_EXPECT_INT(l->bins[10], 1); /* [524288, 1048576) */
    kit_test_destroy(t);
}

static void test_report(void) {
    kit_test *t = measure(NULL);
    const mill_report *report = kit_test_report(t, "latency", 0);
    KIT_EXPECT_INT(kit_test_figure(report, "mean", NULL).i, 251756); /* 1007024 / 4 */
    KIT_EXPECT_INT(kit_test_figure(report, "median_within", NULL).i, 2048);
    KIT_EXPECT_INT(kit_test_figure(report, "p99_within", NULL).i, 1000000);
    KIT_EXPECT_INT(kit_test_cell(report, "bins", 2, "from").i, 4096);
    KIT_EXPECT_REAL(kit_test_cell(report, "bins", 2, "share").d, 0.25, 1e-12);
    KIT_EXPECT(kit_test_note(report, "early") != NULL);
    kit_test_destroy(t);
}

static void test_copies(void) {
    kit_test *t = measure("copies = yes");
    const latency *l = kit_test_output(t, "latency", 0);
    KIT_EXPECT_INT(l->launched, 6);
    KIT_EXPECT_INT(l->bins[2], 1); /* [2048, 4096) */
    kit_test_destroy(t);
}

static void test_merge(void) {
    kit_test *made = measure(NULL), *t = kit_test_open(plugin, "latency.merge");
    const void *value = kit_test_output(made, "latency", 0);
    kit_test_input_from(t, "latency", LATENCY_TYPE, value, "measure", "rank0");
    kit_test_input_from(t, "latency", LATENCY_TYPE, value, "measure", "rank1");
    KIT_EXPECT_OK(t);
    const latency *l = kit_test_output(t, "latency", 0);
    KIT_EXPECT_INT(l->profiles, 2);
    KIT_EXPECT_INT(l->launched, 10);
    KIT_EXPECT_INT(l->sum, 2014048);
    KIT_EXPECT_INT(l->longest, 1000000);
    KIT_EXPECT_INT(l->bins[10], 2);
    kit_test_destroy(t);
    kit_test_destroy(made);
}

int main(int argc, char **argv) {
    plugin = argc > 1 ? argv[1] : "build/latency.so";
    test_measure();
    test_report();
    test_copies();
    test_merge();
    return kit_test_result();
}
