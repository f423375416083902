/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `overlap` with an attribution: steps, layers, stages and chunks. */
#include "bench_host.h"
#include "fixture.h"
#include "look.h"

#include <math.h>
#include <string.h>
#include <tracemill/attribution.h>

#define GEMM "gemm", MILL_CLASS_COMPUTATION, NULL
#define REDUCE "ncclDevKernel_AllReduce", MILL_CLASS_COMMUNICATION, "all-reduce"
#define NOTIFY "notify_dispatch", MILL_CLASS_COMMUNICATION, "notify"

/* Two steps of two layers; of each layer one communication and one computation. */
static const activity activities[] = {
    {0, 2, 0, 10, NOTIFY},   {0, 1, 5, 20, GEMM},   /* step 3, layer 0 */
    {0, 2, 30, 10, REDUCE},  {0, 1, 30, 5, GEMM},   /* layer 1 */
    {0, 2, 100, 10, NOTIFY}, {0, 1, 100, 10, GEMM}, /* step 4, layer 0 */
    {0, 2, 120, 10, REDUCE}, {0, 1, 125, 10, GEMM}, /* layer 1 */
    {0, 1, 140, 2, GEMM},                           /* of no place */
};

/* Of each row of the trace, which are sorted by start, end and stream. A place is a stage of a
 * layer of a step: sync(F) or work(B). */
static const uint32_t place[] = {0, 1, 3, 2, 5, 4, 6, 7, MILL_NONE};
static const uint32_t annotation[] = {MILL_NONE, MILL_NONE, MILL_NONE, MILL_NONE,
                                      MILL_NONE, MILL_NONE, MILL_NONE, MILL_NONE};
static const uint32_t stage[] = {0, 1, 0, 1, 0, 1, 0, 1};
static const uint8_t chunk[] = {1, 2, 1, 2, 1, 2, 1, 2};
static const uint8_t method[] = {1, 1, 1, 1, 1, 1, 1, 1};
static const int64_t layer[] = {0, 0, 1, 1, 0, 0, 1, 1};
static const int64_t micro_batch[] = {0, 0, 0, 0, 0, 0, 0, 0};
static const uint32_t step[] = {0, 0, 0, 0, 1, 1, 1, 1};
static const char *const stages[] = {"sync(F)", "work(B)"};
static const int64_t step_number[] = {3, 4}, step_start[] = {-10, 90}, step_end[] = {50, 130};
static const uint8_t step_whole[] = {1, 1};
static const uint32_t step_annotation[] = {MILL_NONE, MILL_NONE};

static const mill_attribution places = {
    .size = sizeof places,
    .n_rows = G_N_ELEMENTS(activities),
    .place = place,
    .n_places = G_N_ELEMENTS(stage),
    .annotation = annotation,
    .stage = stage,
    .chunk = chunk,
    .method = method,
    .layer = layer,
    .micro_batch = micro_batch,
    .step = step,
    .n_stages = 2,
    .stages = stages,
    .n_steps = 2,
    .step_number = step_number,
    .step_start = step_start,
    .step_end = step_end,
    .step_whole = step_whole,
    .step_annotation = step_annotation,
};

static const mill_module *module;

/* settings: NULL-terminated. */
static bench *run_with(const mill_attribution *attribution, const char *const *settings) {
    bench *b = bench_create(module, "overlap");
    for (; *settings; settings++)
        bench_option(b, *settings);
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &FIXTURE(activities)), "trace", "");
    if (attribution)
        bench_input(b, "attribution", MILL_TYPE_ATTRIBUTION, attribution, "places", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    return b;
}

static void test_steps(void) {
    static const char *const none[] = {NULL}, *const one[] = {"steps=4", NULL};
    bench *b = run_with(&places, none), *alone = run_with(&places, one);
    const mill_report *report = bench_output(b, "report", 0);
    const mill_report *single = bench_output(alone, "report", 0);
    const mill_table *t = look_table(report, "steps");
    g_assert_cmpuint(t->rows, ==, 2);
    g_assert_cmpint(look_cell(t, 0, "step").i, ==, 3);
    g_assert_cmpint(look_cell(t, 0, "T").i, ==, 40);
    g_assert_cmpint(look_cell(t, 0, "comm").i, ==, 20);
    g_assert_cmpint(look_cell(t, 0, "exposed_comm").i, ==, 10);
    g_assert_cmpint(look_cell(t, 1, "start").i, ==, 100);

    /* A step's row is what the step alone gives. */
    static const char *const same[] = {"T", "comp", "comm", "exposed_comm"};
    for (size_t i = 0; i < G_N_ELEMENTS(same); i++)
        g_assert_cmpint(look_cell(t, 1, same[i]).i, ==, look_int(single, same[i], NULL));
    g_assert_null(look_table(single, "steps"));
    g_assert_nonnull(look_note(single, "left_out"));
    bench_destroy(alone);
    bench_destroy(b);
}

static void test_layers(void) {
    static const int64_t starts[] = {0, 30, 100, 120}, exposed[] = {5, 5, 0, 5};
    static const int64_t notify[] = {10, 0, 10, 0};
    static const char *const none[] = {NULL};
    bench *b = run_with(&places, none);
    const mill_report *report = bench_output(b, "report", 0);
    const mill_table *t = look_table(report, "layers");
    int64_t sum = 0;
    g_assert_cmpuint(t->rows, ==, 4);
    for (int64_t i = 0; i < 4; i++) {
        g_assert_cmpint(look_cell(t, i, "step").i, ==, 3 + i / 2);
        g_assert_cmpint(look_cell(t, i, "layer").i, ==, i % 2);
        g_assert_cmpint(look_cell(t, i, "start").i, ==, starts[i]);
        g_assert_cmpint(look_cell(t, i, "exposed_comm").i, ==, exposed[i]);
        g_assert_cmpint(look_cell(t, i, "notify_wait").i, ==, notify[i]);
        sum += look_cell(t, i, "T").i;
    }
    g_assert_cmpint(sum, ==, look_int(report, "T", NULL));
    bench_destroy(b);
}

static void test_stages_and_chunks(void) {
    static const char *const detail[] = {"detail=yes", "lanes=yes", NULL};
    bench *b = run_with(&places, detail);
    const mill_report *report = bench_output(b, "report", 0);
    g_assert_cmpuint(look_table(report, "stages")->rows, ==, 8);
    const mill_table *t = look_table(report, "stage_totals");
    int64_t row = look_row(t, 0, "stage", "work(B)");
    g_assert_cmpint(look_cell(t, row, "comp").i, ==, 45);
    g_assert_cmpint(look_cell(t, row, "cpu_time").i, ==, MILL_UNKNOWN);
    t = look_table(report, "overlap_matrix");
    g_assert_cmpuint(t->rows, ==, 1);
    g_assert_cmpint(look_cell(t, 0, "time").i, ==, look_int(report, "overlap", NULL));
    t = look_table(report, "cross_chunk");
    g_assert_cmpint(look_cell(t, 0, "under_backward").i, ==, look_int(report, "overlap", NULL));
    g_assert_cmpint(look_cell(t, 0, "under_forward").i, ==, 0);
    g_assert_cmpint(look_cell(t, 1, "comm").i, ==, 0);
    t = look_table(report, "chunk_phases");
    g_assert_cmpint(look_cell(t, 0, "both").i, ==, look_int(report, "overlap", NULL));
    g_assert_cmpint(look_cell(t, 0, "neither").i, ==, 142 - 25 - 10 - 10 - 15);
    g_assert_cmpuint(report->n_series, ==, 1);
    g_assert_cmpuint(report->series[0]->n, ==, 4);
    bench_destroy(b);
}

static const char *const by_place[] = {
    "layers",       "steps",        "comm_by_chunk", "comm_by_stage", "comm_by_kind_and_stage",
    "stage_totals", "chunk_phases", "cross_chunk",   "overlap_matrix"};

static void test_nothing_placed(void) {
    static const char *const none[] = {NULL};
    bench *b = run_with(NULL, none);
    const mill_report *report = bench_output(b, "report", 0);
    for (size_t i = 0; i < G_N_ELEMENTS(by_place); i++)
        g_assert_null(look_table(report, by_place[i]));
    g_assert_nonnull(look_note(report, "no_attribution"));
    g_assert_nonnull(look_table(report, "comm_kernels"));
    bench_destroy(b);
}

/* Only the first activity has a place: too little to tell by. */
static void test_too_little_placed(void) {
    static const char *const none[] = {NULL}, *const any[] = {"min-coverage=0", NULL};
    uint32_t few[G_N_ELEMENTS(activities)];
    for (size_t i = 0; i < G_N_ELEMENTS(few); i++)
        few[i] = i == 0 ? 0 : MILL_NONE;
    mill_attribution sparse = places;
    sparse.place = few;
    bench *b = run_with(&sparse, none), *all = run_with(&sparse, any);
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "coverage_low"));
    g_assert_null(look_table(bench_output(b, "report", 0), "layers"));
    g_assert_nonnull(look_note(bench_output(all, "report", 0), "coverage"));
    g_assert_cmpuint(look_table(bench_output(all, "report", 0), "layers")->rows, ==, 1);
    bench_destroy(all);
    bench_destroy(b);
}

static void test_empty_window(void) {
    static const char *const far[] = {"from=1s", NULL};
    bench *b = run_with(&places, far);
    const mill_report *report = bench_output(b, "report", 0);
    g_assert_cmpstr(report->summary, ==, "No activity lies in the steps and the window asked for.");
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/overlap/overlap.so");
    g_test_add_func("/overlap/steps", test_steps);
    g_test_add_func("/overlap/layers", test_layers);
    g_test_add_func("/overlap/stages-and-chunks", test_stages_and_chunks);
    g_test_add_func("/overlap/nothing-placed", test_nothing_placed);
    g_test_add_func("/overlap/too-little-placed", test_too_little_placed);
    g_test_add_func("/overlap/empty-window", test_empty_window);
    return g_test_run();
}
