/* SPDX-License-Identifier: Apache-2.0 */
/* The step timeline ST of ByteDance-Seed/StragglerAnalysis: 4 stages, 2 data parallel ranks, 4
 * micro-batches, 32 steps. Right values were computed from the JSON text by a script that shares
 * nothing with the module: decimal times rounded to ns (half up), unions of intervals by sorting,
 * both ends joined by (name, step, DP rank, stage, seq_id), a transfer counted from the later of
 * both starts, and replays by recursion on the dependencies. */
#include "data.h"
#include "look.h"

#include <tracemill/chunk_times.h>
#include <tracemill/schedule.h>

#define PASSES 64 /* 32 steps of 2 pipelines */

typedef struct timeline {
    bench *reader, *operations, *pipeline;
} timeline;

static bool timeline_init(timeline *t, const char *setting) {
    const char *folder = data_folder();
    const char module[] = "plugins/analyzers/pipeline/pipeline.so";
    if (!folder)
        return false;
    g_autofree char *path =
        g_build_filename(folder, "traces/bytedance-pipeline-timeline-ST.json.gz", NULL);
    t->reader = data_read(path);
    t->operations = bench_create(bench_open(module), "pipeline.operations");
    bench_input(t->operations, "trace", "mill.trace/1", bench_output(t->reader, "trace", 0),
                "trace", "");
    g_assert_cmpint(bench_run(t->operations), ==, MILL_OK);
    t->pipeline = bench_create(bench_open(module), "pipeline");
    bench_input(t->pipeline, "in", "tracemill.pipeline/1",
                bench_output(t->operations, "operations", 0), "operations", "");
    if (setting)
        bench_option(t->pipeline, setting);
    g_assert_cmpint(bench_run(t->pipeline), ==, MILL_OK);
    return true;
}

static void timeline_finish(timeline *t) {
    bench_destroy(t->pipeline);
    bench_destroy(t->operations);
    bench_destroy(t->reader);
}

static int64_t mean(int64_t sum, int64_t n) {
    return (2 * sum + n) / (2 * n); /* half up */
}

/* Sums over all passes, in ns. */
static void test_stages(void) {
    static const struct {
        int64_t compute, bubble, startup, wait_forward, wait_backward, transfer, own, tail, kept;
    } right[] = {
        {53738368799, 74702724938, 0, 0, 74382129671, 205138280, 115456987, 0, 107300757058},
        {53838994280, 74602099457, 4233973504, 106872744, 60693952663, 416398623, 0, 9150901923,
         107250311790},
        {54094413146, 74346680591, 8510485714, 114778448, 46981979551, 408333699, 0, 18331103179,
         107252603841},
        {87869124355, 40571969382, 12806960887, 1193810, 0, 201333520, 1073550, 27561407615,
         134864003711},
    };
    timeline t;
    if (!timeline_init(&t, NULL))
        return;
    const mill_table *table = look_table(bench_output(t.pipeline, "report", 0), "stages");
    for (int64_t s = 0; s < 4; s++) {
        const int64_t *values = (const int64_t *)&right[s];
        static const char *const columns[] = {"compute",      "bubble",        "startup",
                                              "wait_forward", "wait_backward", "transfer",
                                              "own",          "tail"};
        for (size_t i = 0; i < G_N_ELEMENTS(columns); i++)
            g_assert_cmpint(look_cell(table, s, columns[i]).i, ==, mean(values[i], PASSES));
        g_assert_cmpint(look_cell(table, s, "inside").i, ==, 0);
        g_assert_cmpfloat_with_epsilon(look_cell(table, s, "slowdown").d,
                                       (double)right[s].kept / 109517387328.0, 1e-12);
    }
    timeline_finish(&t);
}

/* What the authors published for the whole step, with its gradient exchange (data/result-ST.json):
 * slowdown 1.1787, and 1.2323 of stage 3. The pipeline's part alone comes near. */
static void test_figures(void) {
    timeline t;
    if (!timeline_init(&t, NULL))
        return;
    const mill_report *r = bench_output(t.pipeline, "report", 0);
    g_assert_cmpint(look_int(r, "span", NULL), ==, mean(128441093737, PASSES));
    g_assert_cmpint(look_int(r, "step_time", NULL), ==, mean(70858845004, 32));
    g_assert_cmpint(look_int(r, "transfer", NULL), ==, 536307);
    g_assert_cmpint(look_int(r, "replayed", NULL), ==, mean(128321456304, PASSES));
    g_assert_cmpint(look_int(r, "ideal", NULL), ==, mean(109517387328, PASSES));
    g_assert_cmpint(look_int(r, "slowest_stage", NULL), ==, 3);
    g_assert_cmpfloat_with_epsilon(look_ratio(r, "bubble_ratio", NULL), 0.514289209707744, 1e-12);
    double slowdown = look_ratio(r, "slowdown", NULL);
    g_assert_cmpfloat_with_epsilon(slowdown, 1.1716993934459248, 1e-12);
    g_assert_cmpfloat_with_epsilon(slowdown, 1.1787, 0.01);
    g_assert_cmpfloat_with_epsilon(look_cell(look_table(r, "stages"), 3, "slowdown").d, 1.2323,
                                   0.01);
    g_assert_cmpuint(r->n_findings, ==, 1);
    g_assert_cmpint(r->findings[0]->gain_ns, ==, mean(128321456304 - 102837545329, PASSES));
    g_assert_cmpuint(r->n_notes, ==, 0);
    timeline_finish(&t);
}

static void test_times(void) {
    static const int64_t right[][2] = {{67218557, 143744484},
                                       {67626558, 144390509},
                                       {67969024, 145573035},
                                       {140148669, 204939306}};
    timeline t;
    if (!timeline_init(&t, NULL))
        return;
    const mill_chunk_times *times = bench_output(t.pipeline, "times", 0);
    g_assert_cmpuint(times->n, ==, 4);
    for (size_t s = 0; s < 4; s++) {
        g_assert_cmpint(times->costs[s * MILL_BASES + MILL_BASIS_COMPUTE].forward, ==, right[s][0]);
        g_assert_cmpint(times->costs[s * MILL_BASES + MILL_BASIS_ALL].backward, ==, right[s][1]);
        g_assert_cmpint(times->samples[s], ==, 256);
    }
    timeline_finish(&t);
}

/* Step 538 is the one of median span of DP rank 0. */
static void test_schedule(void) {
    timeline t;
    if (!timeline_init(&t, NULL))
        return;
    const mill_schedule *s = bench_output(t.pipeline, "schedule", 0);
    g_assert_cmpstr(s->id, ==, "1f1b");
    g_assert_true(g_str_has_prefix(s->subject, "step 538 "));
    g_assert_cmpint(s->makespan_ns, ==, 2018180027);
    g_assert_cmpuint(s->micro_batches, ==, 4);
    uint64_t computes = 0;
    for (uint64_t i = 0; i < s->n_ops; i++)
        computes += s->ops.kind[i] <= MILL_OP_PAIR;
    g_assert_cmpuint(computes, ==, 32);
    for (uint32_t r = 0; r < 4; r++)
        g_assert_cmpint(s->live[r], ==, 4 - r);
    timeline_finish(&t);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pipeline/timeline/stages", test_stages);
    g_test_add_func("/pipeline/timeline/figures", test_figures);
    g_test_add_func("/pipeline/timeline/times", test_times);
    g_test_add_func("/pipeline/timeline/schedule", test_schedule);
    return g_test_run();
}
