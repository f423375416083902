/* SPDX-License-Identifier: Apache-2.0 */
/* Real profiles and small cases, read and attributed, against right values found by other means. */
#include "data.h"
#include "look.h"
#include "scene.h"

#include <string.h>

#define US INT64_C(1000)

typedef struct attributed {
    bench *reader, *analyzer;
    const mill_trace *trace;
    const mill_attribution *value;
    const mill_report *report;
} attributed;

static void attributed_init(attributed *a, const char *path, const char *const *settings) {
    a->reader = data_read(path);
    a->trace = bench_output(a->reader, "trace", 0);
    a->analyzer =
        bench_create(bench_open("plugins/analyzers/attribution/attribution.so"), "attribution");
    for (; settings && *settings; settings++)
        bench_option(a->analyzer, *settings);
    bench_input(a->analyzer, "trace", MILL_TYPE_TRACE, a->trace, "trace", "");
    a->value = scene_run(a->analyzer);
    a->report = bench_output(a->analyzer, "report", 0);
}

static void attributed_finish(attributed *a) {
    bench_destroy(a->analyzer);
    bench_destroy(a->reader);
}

static void train_init(attributed *a, const char *folder, const char *const *settings) {
    g_autofree char *path = g_build_filename(folder, "traces/deepseek-train.json.gz", NULL);
    attributed_init(a, path, settings);
}

/* ---------------------------------------------------------------- DeepSeek's training profile */

static void check_stage(const attributed *a, const char *stage, int64_t layer, const cJSON *right) {
    int64_t n = 0, first = INT64_MAX, last = INT64_MIN, computation = 0;
    int64_t zero = mill_i64(a->trace, &a->trace->gpu.start, 0);
    for (uint64_t row = 0; row < a->value->n_rows; row++) {
        if (!g_str_equal(scene_stage(a->value, row), stage) || scene_layer(a->value, row) != layer)
            continue;
        int64_t start = mill_i64(a->trace, &a->trace->gpu.start, row) - zero;
        int64_t dur = mill_i64(a->trace, &a->trace->gpu.dur, row);
        uint32_t name = mill_u32(a->trace, &a->trace->gpu.name, row);
        n++;
        first = MIN(first, start);
        last = MAX(last, start + dur);
        if (mill_name_class(a->trace, name) == MILL_CLASS_COMPUTATION)
            computation += dur;
    }
    g_assert_cmpint(n, ==, data_integer(right, "activities"));
    g_assert_cmpint(first, ==, data_integer(right, "gpu_start") * US);
    g_assert_cmpint(last, ==, data_integer(right, "gpu_end") * US);
    g_assert_cmpint(computation, ==, data_integer(right, "comp_dur_sum") * US);
}

/* All 983 activities, in 40 stages of 4 layers. */
static void test_train(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    attributed a;
    train_init(&a, folder, NULL);
    cJSON *expected = data_json(folder, "oracle/overlap/train_expected.json");
    const cJSON *right;
    int stages = 0;
    g_assert_cmpuint(a.value->n_rows, ==, 983);
    g_assert_cmpuint(a.value->n_places, ==, 40);
    for (uint64_t row = 0; row < a.value->n_rows; row++) {
        g_assert_nonnull(scene_stage(a.value, row));
        g_assert_cmpint(scene_step(a.value, row), ==, 1);
    }
    cJSON_ArrayForEach(right, data_field(expected, "stages")) {
        check_stage(&a, strchr(right->string, ':') + 1, g_ascii_strtoll(right->string, NULL, 10),
                    right);
        stages++;
    }
    g_assert_cmpint(stages, ==, 40);
    g_assert_cmpint(a.value->busy, ==, 128515 * US);
    g_assert_cmpint(a.value->method_busy[MILL_METHOD_ANNOTATION], ==, a.value->busy);
    g_assert_cmpint(a.value->step_whole[0], ==, 1);
    g_assert_cmpint(a.value->step_start[0] - mill_i64(a.trace, &a.trace->gpu.start, 0), ==,
                    -533 * US);
    cJSON_Delete(expected);
    attributed_finish(&a);
}

/* T5: the autograd thread, 404 launches, inherits attn(B) from the main thread; the method autograd
 * finds just these. */
static void test_train_autograd(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    attributed a, own, engine;
    train_init(&a, folder, NULL);
    train_init(&own, folder, SETTINGS("inherit=no"));
    train_init(&engine, folder, SETTINGS("method=autograd"));
    int inherited = 0;
    for (uint64_t row = 0; row < a.value->n_rows; row++) {
        bool alone = scene_stage(own.value, row) == NULL;
        bool backward = g_str_equal(scene_stage(engine.value, row), "backward(B)");
        g_assert_cmpint(alone, ==, g_str_equal(scene_stage(a.value, row), "attn(B)"));
        g_assert_cmpint(alone, ==, backward);
        inherited += alone;
    }
    g_assert_cmpint(inherited, ==, 404);
    attributed_finish(&a);
    attributed_finish(&own);
    attributed_finish(&engine);
}

/* The order of communication tells stage and layer of all 36 kernels. */
static void test_train_sequence(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    attributed a;
    train_init(&a, folder, SETTINGS("method=sequence"));
    cJSON *expected = data_json(folder, "oracle/overlap/train_expected.json");
    const cJSON *right = data_field(expected, "comm_kernels")->child;
    for (uint64_t row = 0; row < a.value->n_rows; row++) {
        uint32_t name = mill_u32(a.trace, &a.trace->gpu.name, row);
        if (mill_name_class(a.trace, name) != MILL_CLASS_COMMUNICATION) {
            g_assert_null(scene_stage(a.value, row));
            continue;
        }
        g_assert_cmpstr(scene_stage(a.value, row), ==, data_field(right, "stage")->valuestring);
        g_assert_cmpint(scene_layer(a.value, row), ==, data_integer(right, "layer"));
        right = right->next;
    }
    g_assert_null(right);
    cJSON_Delete(expected);
    attributed_finish(&a);
}

static void test_train_pipeline(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    attributed a;
    train_init(&a, folder, SETTINGS("method=pipeline"));
    for (uint64_t row = 0; row < a.value->n_rows; row++)
        g_assert_cmpstr(scene_stage(a.value, row), ==, "1F1B(F&B)");
    attributed_finish(&a);
}

/* ---------------------------------------------------------------- all profiles */

static void check_sense(const attributed *a) {
    const mill_attribution *v = a->value;
    int64_t in_steps = 0;
    g_assert_cmpuint(v->n_rows, ==, a->trace->gpu.n);
    for (uint64_t row = 0; row < v->n_rows; row++) {
        uint32_t place = v->place[row];
        g_assert_true(place == MILL_NONE || place < v->n_places);
        in_steps += place != MILL_NONE && v->step[place] != MILL_NONE;
    }
    for (uint64_t i = 0; i < v->n_places; i++) {
        g_assert_true(v->stage[i] == MILL_NONE || v->stage[i] < v->n_stages);
        g_assert_true(v->step[i] == MILL_NONE || v->step[i] < v->n_steps);
        g_assert_true(v->annotation[i] == MILL_NONE || v->annotation[i] < a->trace->cpu.n);
    }
    for (int m = 0; m < MILL_METHODS; m++)
        g_assert_cmpint(v->method_busy[m], <=, v->busy);
    const mill_table *steps = look_table(a->report, "steps");
    for (int64_t row = 0; steps && row < (int64_t)steps->rows; row++)
        in_steps -= look_cell(steps, row, "n").i;
    g_assert_cmpint(in_steps, ==, 0); /* the steps add up */
}

/* What each profile shows; steps and methods were read from the files by hand. */
static void test_profiles(void) {
    static const struct {
        const char *name;
        mill_method used;
        uint64_t steps, whole;
    } right[] = {
        {"hta-cpu-only-rank34", MILL_METHOD_NONE, 1, 0},
        {"hta-event-sync-multi-stream", MILL_METHOD_NONE, 0, 0},
        {"hta-gpu-user-annotation", MILL_METHOD_AUTOGRAD, 0, 0},
        {"hta-mi250-minitoy", MILL_METHOD_AUTOGRAD, 2, 1}, /* ended as the second step began */
        {"hta-mtia-inference", MILL_METHOD_NONE, 0, 0},
        {"hta-nccl-metadata", MILL_METHOD_AUTOGRAD, 3, 3},
        {"hta-ns-resolution", MILL_METHOD_AUTOGRAD, 5, 5},
        {"kineto-2021-resnet50", MILL_METHOD_NONE, 0, 0},
        {"megatron-tp8-rank0", MILL_METHOD_NONE, 1, 1},
        {"megatron-tp8-rank1", MILL_METHOD_NONE, 1, 1},
        {"megatron-tp8-rank2", MILL_METHOD_NONE, 1, 1},
        {"megatron-tp8-rank3", MILL_METHOD_NONE, 1, 1},
        {"tracelens-b200-eager", MILL_METHOD_NONE, 0, 0},
        {"tracelens-mi210-gpu-only", MILL_METHOD_NONE, 0, 0},
        {"tracelens-mi300-ddp-resnet18", MILL_METHOD_AUTOGRAD, 0, 0},
        {"tracelens-sglang-decode", MILL_METHOD_NONE, 0, 0},
        {"tracelens-vllm-decode-graph", MILL_METHOD_NONE, 0, 0},
        {"ascend-trace-view", MILL_METHOD_NONE, 0, 0},
        {"bytedance-pipeline-timeline-ST", MILL_METHOD_NONE, 0, 0},
    };
    const char *folder = data_folder();
    for (size_t i = 0; folder && i < G_N_ELEMENTS(right); i++) {
        g_autofree char *path = g_strdup_printf("%s/traces/%s.json.gz", folder, right[i].name);
        attributed a;
        g_test_message("%s", right[i].name);
        attributed_init(&a, path, NULL);
        check_sense(&a);
        uint64_t whole = 0;
        for (uint64_t s = 0; s < a.value->n_steps; s++)
            whole += a.value->step_whole[s];
        g_assert_cmpuint(a.value->n_steps, ==, right[i].steps);
        g_assert_cmpuint(whole, ==, right[i].whole);
        for (int m = MILL_METHOD_ANNOTATION; m < MILL_METHODS; m++)
            g_assert_cmpint(a.value->method_busy[m] > 0, ==, m == (int)right[i].used);
        attributed_finish(&a);
    }
}

/* ---------------------------------------------------------------- cases */

static void case_init(attributed *a, const char *folder, const char *name) {
    g_autofree char *path = g_strdup_printf("%s/cases/%s.json", folder, name);
    attributed_init(a, path, NULL);
}

static int64_t step_cell(const attributed *a, int64_t row, const char *column) {
    return look_cell(look_table(a->report, "steps"), row, column).i;
}

/* A launch after the start, and five kernels of one graph launch, stay joined: none is lost. */
static void test_launch_cases(void) {
    static const char *const names[] = {"020-kernel-before-its-launch",
                                        "021-cuda-graph-shared-correlation"};
    const char *folder = data_folder();
    for (size_t i = 0; folder && i < G_N_ELEMENTS(names); i++) {
        attributed a;
        case_init(&a, folder, names[i]);
        g_assert_cmpint(look_int(a.report, "launched", NULL), ==, (int64_t)a.trace->gpu.n);
        g_assert_null(look_note(a.report, "no_launch"));
        attributed_finish(&a);
    }
}

/* 033: no steps, so all is one, and the report says so. */
static void test_no_step_case(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    attributed a;
    case_init(&a, folder, "033-no-profiler-step");
    g_assert_cmpuint(a.value->n_steps, ==, 0);
    g_assert_nonnull(look_note(a.report, "no_steps"));
    g_assert_cmpuint(scene_annotation(a.value, 0), ==, scene_annotation(a.value, 2));
    attributed_finish(&a);
}

/* 034: a kernel counts once, for the step of its launch: 60 and 40 µs, which add up. */
static void test_boundary_case(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    attributed a;
    case_init(&a, folder, "034-step-boundary-and-duplicates");
    g_assert_cmpuint(a.value->n_rows, ==, 2);
    g_assert_cmpint(step_cell(&a, 0, "busy"), ==, 60 * US);
    g_assert_cmpint(step_cell(&a, 1, "busy"), ==, 40 * US);
    g_assert_cmpint(a.value->busy, ==, 100 * US);
    g_assert_cmpint(a.value->step_whole[0] && a.value->step_whole[1], ==, 1);
    attributed_finish(&a);
}

/* 040: two steps with work, six of which nothing is known. */
static void test_lost_steps_case(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    attributed a;
    case_init(&a, folder, "040-gpu-events-in-few-steps");
    g_assert_cmpint(step_cell(&a, 0, "busy"), ==, 90 * US);
    g_assert_cmpint(step_cell(&a, 1, "busy"), ==, 95 * US);
    for (int64_t i = 0; i < 8; i++) {
        g_assert_cmpint(a.value->step_number[i], ==, i);
        g_assert_cmpint(a.value->step_whole[i], ==, i < 2);
        if (i >= 2)
            g_assert_cmpint(step_cell(&a, i, "busy"), ==, MILL_UNKNOWN);
    }
    g_assert_cmpint(look_note(a.report, "empty_steps")->level, ==, MILL_WARNING);
    g_assert_true(g_str_has_prefix(look_note(a.report, "empty_steps")->text, "6 of 8 steps"));
    attributed_finish(&a);
}

/* 031, 048: no launch in the file, so nothing is claimed of stages. */
static void test_no_launch_cases(void) {
    static const char *const names[] = {"031-collective-without-metadata",
                                        "048-fused-compute-and-communication"};
    const char *folder = data_folder();
    for (size_t i = 0; folder && i < G_N_ELEMENTS(names); i++) {
        attributed a;
        case_init(&a, folder, names[i]);
        g_assert_cmpuint(a.value->n_stages, ==, 0);
        g_assert_nonnull(look_note(a.report, "no_launch"));
        g_assert_nonnull(look_note(a.report, "no_stages"));
        attributed_finish(&a);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/data/train", test_train);
    g_test_add_func("/data/train-autograd", test_train_autograd);
    g_test_add_func("/data/train-sequence", test_train_sequence);
    g_test_add_func("/data/train-pipeline", test_train_pipeline);
    g_test_add_func("/data/profiles", test_profiles);
    g_test_add_func("/data/launch-cases", test_launch_cases);
    g_test_add_func("/data/no-step-case", test_no_step_case);
    g_test_add_func("/data/boundary-case", test_boundary_case);
    g_test_add_func("/data/lost-steps-case", test_lost_steps_case);
    g_test_add_func("/data/no-launch-cases", test_no_launch_cases);
    return g_test_run();
}
