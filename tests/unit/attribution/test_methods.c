/* SPDX-License-Identifier: Apache-2.0 */
/* How a method is taken, and what each one says. */
#include "look.h"
#include "scene.h"

#include <glib/gstdio.h>
#include <string.h>

static void assert_stages(const mill_attribution *a, const char *const *stages, size_t n,
                          mill_method method) {
    g_assert_cmpuint(a->n_rows, ==, n);
    for (size_t i = 0; i < n; i++) {
        g_assert_cmpstr(scene_stage(a, i), ==, stages[i]);
        if (stages[i])
            g_assert_cmpint(a->method[a->place[i]], ==, method);
    }
}

/* ---------------------------------------------------------------- which one */

/* 90 ns under a stage, all of 100 under a pipeline annotation. */
static const slice mixed[] = {NOTE(1, 0, 100, "forward_chunk"), NOTE(1, 0, 50, "attn(F)"),
                              CALL(1, 10, 1), CALL(1, 60, 2)};
static const kernel mixed_kernels[] = {{1, 200, 90, "a"}, {2, 300, 10, "a"}};

static void test_auto(void) {
    static const struct {
        const char *setting;
        mill_method used;
        bool warns;
    } right[] = {
        {"min-coverage=90", MILL_METHOD_ANNOTATION, false},
        {"min-coverage=91", MILL_METHOD_PIPELINE, false},
        {"method=annotation", MILL_METHOD_ANNOTATION, true},
        {"method=pipeline", MILL_METHOD_PIPELINE, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        bench *b = scene_bench(&SCENE(mixed, mixed_kernels), SETTINGS(right[i].setting));
        const mill_attribution *a = scene_run(b);
        const mill_report *report = bench_output(b, "report", 0);
        for (int m = MILL_METHOD_ANNOTATION; m < MILL_METHODS; m++)
            g_assert_cmpint(a->method_busy[m] > 0, ==, m == (int)right[i].used);
        g_assert_cmpint(look_note(report, "low_coverage") != NULL, ==, right[i].warns);
        g_assert_cmpint(strstr(bench_log(b), "only 90.0 %") != NULL, ==, right[i].warns);
        /* What the others would place is told all the same. */
        const mill_table *methods = look_table(report, "methods");
        g_assert_cmpint(look_cell(methods, 0, "busy").i, ==, 90);
        g_assert_cmpint(look_cell(methods, 4, "busy").i, ==, 100);
        bench_destroy(b);
    }
}

/* Where none covers enough, the one that covers most, with a warning. */
static void test_auto_below(void) {
    static const slice slices[] = {NOTE(1, 0, 10, "attn(F)"), NOTE(1, 20, 10, "forward_chunk"),
                                   CALL(1, 5, 1), CALL(1, 25, 2), CALL(1, 40, 3)};
    static const kernel kernels[] = {{1, 200, 20, "a"}, {2, 300, 30, "a"}, {3, 400, 50, "a"}};
    static const char *const stages[] = {NULL, "forward_chunk(F)", NULL};
    bench *b = scene_bench(&SCENE(slices, kernels), NULL);
    assert_stages(scene_run(b), stages, 3, MILL_METHOD_PIPELINE);
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "low_coverage"));
    bench_destroy(b);
}

static void test_nothing(void) {
    static const slice slices[] = {NOTE(1, 0, 10, "decode"), CALL(1, 5, 1)};
    static const kernel kernels[] = {{1, 200, 20, "a"}};
    bench *b = scene_bench(&SCENE(slices, kernels), NULL);
    const mill_attribution *a = scene_run(b);
    g_assert_cmpuint(a->n_stages, ==, 0);
    g_assert_cmpuint(scene_annotation(a, 0), ==, 0);
    const mill_report *report = bench_output(b, "report", 0);
    g_assert_cmpint(look_note(report, "no_stages")->level, ==, MILL_INFO);
    g_assert_cmpstr(look_cell(look_table(report, "unplaced"), 0, "annotation").text, ==, "decode");
    bench_destroy(b);

    b = scene_bench(&SCENE(slices, kernels), SETTINGS("method=sequence"));
    scene_run(b);
    report = bench_output(b, "report", 0);
    g_assert_cmpint(look_note(report, "no_stages")->level, ==, MILL_WARNING);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- rules */

/* The setting for a rules file of this text; the file is gone once the bench is opened. */
static char *rules_setting(const char *text) {
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    int file = g_file_open_tmp("rules-XXXXXX.ini", &path, &error);
    g_assert_no_error(error);
    g_close(file, NULL);
    g_file_set_contents(path, text, -1, &error);
    g_assert_no_error(error);
    return g_strconcat("rules=", path, NULL);
}

static void drop_rules(const char *setting) {
    g_unlink(setting + strlen("rules="));
}

static void test_rules(void) {
    static const slice slices[] = {
        NOTE(1, 0, 50, "layer3"),
        OP(1, 0, 20, "aten::matmul"),
        OP(1, 20, 20, "aten::outer"),
        OP(1, 22, 10, "aten::matmul"),
        NOTE(1, 60, 20, "micro"),
        NOTE(1, 80, 20, "micro"),
        NOTE(1, 65, 5, "inside"),
        CALL(1, 5, 1),
        CALL(1, 25, 2),
        CALL(1, 45, 3),
        CALL(1, 66, 4),
        CALL(1, 85, 5),
        CALL(1, 120, 6),
    };
    static const kernel kernels[] = {{1, 200, 9, "gemm"},       {2, 210, 9, "gemm"},
                                     {3, 220, 9, "wgrad_gemm"}, {4, 230, 9, "x"},
                                     {5, 240, 9, "x"},          {6, 250, 9, "expert5_gemm"}};
    static const char *const stages[] = {"mm(B)",    "mm(B)",    "weights(W)",
                                         "micro(F)", "micro(F)", "expert"};
    static const int64_t layers[] = {3, 3, MILL_UNKNOWN, 0, 1, 5};
    g_autofree char *setting = rules_setting("[weights]\nkernel = wgrad\nchunk = W\n"
                                             "[both]\nannotation = ^layer(?<layer>\\d+)$\n"
                                             "op = ^aten::matmul$\nstage = mm\nchunk = backward\n"
                                             "[micro]\nannotation = ^micro$\nchunk = F\n"
                                             "micro-batch = 2\n"
                                             "[expert]\nkernel = ^expert(?<layer>\\d+)\n");
    bench *b = scene_bench(&SCENE(slices, kernels), SETTINGS("method=rules", setting));
    const mill_attribution *a = scene_run(b);
    assert_stages(a, stages, G_N_ELEMENTS(stages), MILL_METHOD_RULE);
    for (size_t i = 0; i < G_N_ELEMENTS(layers); i++)
        g_assert_cmpint(scene_layer(a, i), ==, layers[i]);
    g_assert_cmpint(a->micro_batch[a->place[3]], ==, 2);
    g_assert_cmpint(a->micro_batch[a->place[0]], ==, MILL_UNKNOWN);
    bench_destroy(b);
    drop_rules(setting);
}

/* The default stage-regex as a rule says the same as the method annotation. */
static void test_rules_as_annotation(void) {
    g_autofree char *setting =
        rules_setting("[all]\nannotation = ^(?<stage>[A-Za-z_]+)\\((?<chunk>[FBW])\\)$\n");
    const char *const settings[][3] = {{NULL}, {"method=rules", setting, NULL}};
    static const slice slices[] = {NOTE(1, 0, 10, "attn(F)"),
                                   NOTE(1, 10, 10, "attn(F)"),
                                   NOTE(1, 20, 10, "mlp(W)"),
                                   NOTE(1, 21, 3, "noise"),
                                   CALL(1, 5, 1),
                                   CALL(1, 15, 2),
                                   CALL(2, 22, 3)};
    static const kernel kernels[] = {{1, 200, 9, "a"}, {2, 210, 9, "a"}, {3, 220, 9, "b"}};
    bench *b[2];
    const mill_attribution *a[2];
    for (int i = 0; i < 2; i++) {
        b[i] = scene_bench(&SCENE(slices, kernels), settings[i]);
        a[i] = scene_run(b[i]);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_assert_cmpstr(scene_stage(a[0], i), ==, scene_stage(a[1], i));
        g_assert_cmpint(scene_layer(a[0], i), ==, scene_layer(a[1], i));
        g_assert_cmpuint(scene_annotation(a[0], i), ==, scene_annotation(a[1], i));
    }
    bench_destroy(b[0]);
    bench_destroy(b[1]);
    drop_rules(setting);
}

static void test_bad_rules(void) {
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"stage = x\n", ":1: "},
        {"[a]\nstage = x\n", ":1: [a] matches nothing: add annotation, op or kernel"},
        {"[a]\nop = x\n[b]\nchunk = F\n", ":3: [b] matches nothing"},
        {"[a]\nop = (\n", ":2: not a regular expression"},
        {"[a]\nop = x\nchunk = Q\n", ":3: chunk = \"Q\": expected F, B, W or F&B"},
        {"[a]\nop = x\nlayer = -1\n", ":3: layer = \"-1\": expected a number from 0 up"},
        {"[a]\nop = x\nmicro-batch = no\n", ":3: micro-batch = \"no\""},
        {"[a]\nop = x\nstages = y\n", ":3: unknown key \"stages\": a rule has annotation, op"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *setting = rules_setting(bad[i].text);
        bench *b = scene_bench(&(scene){0}, SETTINGS(setting));
        g_test_message("%s", bad[i].text);
        g_assert_cmpint(bench_run(b), <, MILL_OK);
        g_assert_nonnull(strstr(bench_causes(b), bad[i].words));
        bench_destroy(b);
        drop_rules(setting);
    }
    GString *many = g_string_new(NULL);
    for (int i = 0; i <= 64; i++)
        g_string_append_printf(many, "[r%d]\nop = x\n", i);
    g_autofree char *setting = rules_setting(many->str);
    bench *b = scene_bench(&(scene){0}, SETTINGS(setting));
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    g_assert_nonnull(strstr(bench_causes(b), "too many rules: at most 64 are allowed"));
    bench_destroy(b);
    drop_rules(setting);
    g_string_free(many, TRUE);
    b = scene_bench(&(scene){0}, SETTINGS("rules=/nonexistent/rules.ini"));
    g_assert_cmpint(bench_run(b), ==, MILL_E_NOINPUT);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- autograd */

#define ENGINE "autograd::engine::evaluate_function: "

/* Thread 2 is the engine's: what it launches beside its ops is backward too. Thread 1 runs one of
 * its ops, and launches there too, but is no thread of the engine. */
static void test_autograd(void) {
    static const slice slices[] = {
        OP(1, 0, 10, "aten::mm"),
        OP(1, 20, 10, ENGINE "ViewBackward0"),
        NOTE(1, 100, 20, "Optimizer.step#SGD.step"),
        OP(2, 30, 20, ENGINE "MmBackward0"),
        OP(2, 32, 10, "aten::mm"),
        CALL(1, 5, 1),
        CALL(1, 15, 2),
        CALL(1, 25, 3),
        CALL(2, 35, 4),
        CALL(2, 36, 5),
        CALL(2, 60, 6),
        CALL(1, 110, 7),
    };
    static const kernel kernels[] = {{1, 200, 9, "gemm"},  {2, 210, 9, "gemm"}, {3, 220, 9, "gemm"},
                                     {4, 230, 9, "wgrad"}, {5, 240, 9, "gemm"}, {6, 250, 9, "gemm"},
                                     {7, 260, 9, "gemm"}};
    static const char *const stages[] = {"forward(F)",  "forward(F)",  "backward(B)", "backward(B)",
                                         "backward(B)", "backward(B)", "optimizer"};
    bench *b = scene_bench(&SCENE(slices, kernels), NULL);
    assert_stages(scene_run(b), stages, G_N_ELEMENTS(stages), MILL_METHOD_AUTOGRAD);
    g_assert_nonnull(strstr(look_note(bench_output(b, "report", 0), "autograd_limits")->text,
                            "Gradients of weights are part of B"));
    bench_destroy(b);

    b = scene_bench(&SCENE(slices, kernels), SETTINGS("wgrad-regex=wgrad"));
    const mill_attribution *a = scene_run(b);
    g_assert_cmpstr(scene_stage(a, 3), ==, "backward(W)");
    g_assert_cmpint(a->chunk[a->place[3]], ==, MILL_CHUNK_WEIGHT);
    g_assert_cmpstr(scene_stage(a, 4), ==, "backward(B)");
    bench_destroy(b);
}

/* ---------------------------------------------------------------- sequence */

/* A combine before any dispatch, and a notify after the last combine, can't be told. */
static void test_sequence(void) {
    static const kernel kernels[] = {
        {0, 0, 5, "notify", "notify", 0, 9},
        {0, 10, 5, "combine", "combine", 0, 9},
        {0, 20, 5, "x::cached_notify<false>", "notify", 0, 9},
        {0, 30, 5, "x::dispatch<1>", "dispatch", 0, 9},
        {0, 40, 5, "layout", "layout", 0, 9},
        {0, 50, 5, "notify", "notify", 0, 9},
        {0, 60, 5, "x::dispatch<false, 8, false>", "dispatch", 0, 9},
        {0, 62, 5, "x::dispatch<false, 8, true>", "dispatch", 0, 8}, /* of another stream */
        {0, 70, 5, "x::cached_notify<false>", "notify", 0, 9},
        {0, 80, 5, "combine", "combine", 0, 9},
        {0, 90, 5, "combine", "combine", 0, 9},
        {0, 100, 5, "x::dispatch<false, 8, false>", "dispatch", 0, 9},
        {0, 110, 5, "notify", "notify", 0, 9},
        {0, 120, 5, "gemm", NULL, 0, 9},
    };
    static const char *const stages[] = {NULL,          NULL,          "combine(B)",  "combine(B)",
                                         "dispatch(F)", "dispatch(F)", "dispatch(F)", "combine(B)",
                                         "dispatch(B)", "dispatch(B)", "combine(F)",  "dispatch(F)",
                                         NULL,          NULL};
    bench *b =
        scene_bench(&(scene){NULL, 0, kernels, G_N_ELEMENTS(kernels)}, SETTINGS("method=sequence"));
    const mill_attribution *a = scene_run(b);
    assert_stages(a, stages, G_N_ELEMENTS(stages), MILL_METHOD_SEQUENCE);
    g_assert_cmpint(scene_layer(a, 4), ==, 0);
    g_assert_cmpint(scene_layer(a, 6), ==, 0);
    g_assert_cmpint(scene_layer(a, 11), ==, 1);
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "sequence_limits"));
    bench_destroy(b);
}

/* ---------------------------------------------------------------- pipeline */

static void test_pipeline(void) {
    static const struct {
        const char *name, *stage;
        mill_chunk chunk;
    } right[] = {
        {"1F1B", "1F1B(F&B)", MILL_CHUNK_PAIR},
        {"forward_chunk", "forward_chunk(F)", MILL_CHUNK_FORWARD},
        {"backward_chunk", "backward_chunk(B)", MILL_CHUNK_BACKWARD},
        {"weight_chunk", "weight_chunk(W)", MILL_CHUNK_WEIGHT},
        {"forward_backward_chunk", "forward_backward_chunk(F&B)", MILL_CHUNK_PAIR},
        {"## backward ##", "## backward ##(B)", MILL_CHUNK_BACKWARD},
        {"## optimizer ##", NULL, MILL_CHUNK_NONE},
        {"feedforward", NULL, MILL_CHUNK_NONE},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        const slice slices[] = {NOTE(1, 0, 10, right[i].name), CALL(1, 5, 1)};
        static const kernel kernels[] = {{1, 200, 9, "a"}};
        bench *b = scene_bench(&SCENE(slices, kernels), SETTINGS("method=pipeline"));
        const mill_attribution *a = scene_run(b);
        g_assert_cmpstr(scene_stage(a, 0), ==, right[i].stage);
        g_assert_cmpint(a->chunk[a->place[0]], ==, right[i].chunk);
        g_assert_cmpint(scene_layer(a, 0), ==, MILL_UNKNOWN);
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/methods/auto", test_auto);
    g_test_add_func("/methods/auto-below", test_auto_below);
    g_test_add_func("/methods/nothing", test_nothing);
    g_test_add_func("/methods/rules", test_rules);
    g_test_add_func("/methods/rules-as-annotation", test_rules_as_annotation);
    g_test_add_func("/methods/bad-rules", test_bad_rules);
    g_test_add_func("/methods/autograd", test_autograd);
    g_test_add_func("/methods/sequence", test_sequence);
    g_test_add_func("/methods/pipeline", test_pipeline);
    return g_test_run();
}
