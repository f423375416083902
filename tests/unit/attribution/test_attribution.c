/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations, steps and places on small traces. */
#include "look.h"
#include "scene.h"

#include <string.h>

/* ---------------------------------------------------------------- annotations */

/* [start, end) of the innermost that names a stage; a launch belongs to where it starts. */
static void test_innermost(void) {
    static const slice slices[] = {
        NOTE(1, 0, 100, "attn(F)"),
        NOTE(1, 10, 50, "mlp(B)"),
        NOTE(1, 20, 10, "detail"),
        CALL(1, 0, 1),
        CALL(1, 10, 2),
        CALL(1, 20, 3),
        CALL(1, 59, 4),
        CALL(1, 60, 5),
        CALL(1, 100, 6),
    };
    static const kernel kernels[] = {{1, 200, 9, "a"}, {2, 210, 9, "a"}, {3, 220, 9, "a"},
                                     {4, 230, 9, "a"}, {5, 240, 9, "a"}, {6, 250, 9, "a"}};
    static const char *const stages[] = {"attn(F)", "mlp(B)", "mlp(B)", "mlp(B)", "attn(F)", NULL};
    bench *b = scene_bench(&SCENE(slices, kernels), NULL);
    const mill_attribution *a = scene_run(b);
    for (size_t i = 0; i < G_N_ELEMENTS(stages); i++)
        g_assert_cmpstr(scene_stage(a, i), ==, stages[i]);
    g_assert_cmpuint(a->n_rows, ==, 6);
    g_assert_cmpuint(a->n_places, ==, 3); /* rows 1 and 3 share one, as rows 0 and 4 do */
    g_assert_cmpuint(a->place[1], ==, a->place[3]);
    g_assert_cmpuint(a->place[2], !=, a->place[1]); /* its annotation is another */
    g_assert_cmpuint(a->place[5], ==, MILL_NONE);
    g_assert_cmpint(a->chunk[a->place[0]], ==, MILL_CHUNK_FORWARD);
    g_assert_cmpint(a->chunk[a->place[1]], ==, MILL_CHUNK_BACKWARD);
    g_assert_cmpint(a->busy, ==, 54);
    g_assert_cmpint(a->method_busy[MILL_METHOD_ANNOTATION], ==, 45);
    bench_destroy(b);
}

/* Annotations that are not nested: the shortest; of equally long ones the latest. */
static void test_not_nested(void) {
    static const slice slices[] = {
        NOTE(1, 0, 30, "long(F)"),
        NOTE(1, 5, 27, "late(F)"),
        NOTE(1, 6, 27, "later(F)"),
        NOTE(1, 8, 60, "outer(F)"),
        CALL(1, 9, 1),
        CALL(1, 32, 2),
        CALL(1, 33, 3),
    };
    static const kernel kernels[] = {{1, 200, 9, "a"}, {2, 210, 9, "a"}, {3, 220, 9, "a"}};
    bench *b = scene_bench(&SCENE(slices, kernels), NULL);
    const mill_attribution *a = scene_run(b);
    g_assert_cmpstr(scene_stage(a, 0), ==, "later(F)");
    g_assert_cmpstr(scene_stage(a, 1), ==, "later(F)");
    g_assert_cmpstr(scene_stage(a, 2), ==, "outer(F)");
    bench_destroy(b);
}

/* An annotation that begins with the launch, but is shorter, comes after it in the trace. */
static void test_same_start(void) {
    static const slice slices[] = {{MILL_CPU_RUNTIME, 1, 1, 10, 20, "cudaLaunchKernel", 1},
                                   NOTE(1, 10, 5, "short(F)"),
                                   NOTE(1, 10, 0, "empty(F)")};
    static const kernel kernels[] = {{1, 200, 9, "a"}};
    bench *b = scene_bench(&SCENE(slices, kernels), NULL);
    g_assert_cmpstr(scene_stage(scene_run(b), 0), ==, "short(F)");
    bench_destroy(b);
}

static const slice two_threads[] = {
    NOTE(1, 0, 100, "attn(B)"),
    NOTE(2, 50, 10, "nccl:all_reduce"),
    CALL(2, 20, 1),
    CALL(2, 55, 2),
    {MILL_CPU_RUNTIME, 2, 2, 20, 1, "cudaLaunchKernel", 3}, /* of another process */
};
static const kernel three_kernels[] = {{1, 200, 10, "a"}, {2, 210, 10, "a"}, {3, 220, 10, "a"}};

static void test_inherit(void) {
    bench *b = scene_bench(&SCENE(two_threads, three_kernels), NULL);
    const mill_attribution *a = scene_run(b);
    g_assert_cmpstr(scene_stage(a, 0), ==, "attn(B)");
    g_assert_cmpstr(scene_stage(a, 1), ==, "attn(B)"); /* its own annotation names no stage */
    g_assert_cmpuint(scene_annotation(a, 1), !=, scene_annotation(a, 0));
    g_assert_null(scene_stage(a, 2));
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "low_coverage"));
    bench_destroy(b);

    b = scene_bench(&SCENE(two_threads, three_kernels), SETTINGS("inherit=no"));
    a = scene_run(b);
    for (size_t i = 0; i < G_N_ELEMENTS(three_kernels); i++)
        g_assert_null(scene_stage(a, i));
    g_assert_cmpuint(scene_annotation(a, 0), ==, MILL_NONE);
    g_assert_cmpuint(scene_annotation(a, 1), !=, MILL_NONE);
    bench_destroy(b);
}

/* A graph's kernels share one launch. */
static void test_graph(void) {
    static const slice slices[] = {NOTE(1, 0, 100, "attn(F)"), CALL(1, 10, 7)};
    static const kernel kernels[] = {
        {7, 200, 5, "a"}, {7, 210, 5, "b"}, {7, 210, 5, "c", NULL, 0, 20}, {7, 220, 5, "d"}};
    bench *b = scene_bench(&SCENE(slices, kernels), NULL);
    const mill_attribution *a = scene_run(b);
    for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++)
        g_assert_cmpstr(scene_stage(a, i), ==, "attn(F)");
    g_assert_cmpuint(a->n_places, ==, 1);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- layers and micro-batches */

static void test_layers(void) {
    static const slice slices[] = {
        NOTE(1, 0, 100, "ProfilerStep#3"),
        NOTE(1, 0, 10, "attn(F)"),
        NOTE(1, 10, 10, "mlp(F)"),
        NOTE(1, 20, 10, "attn(F)"),
        NOTE(1, 100, 100, "ProfilerStep#4"),
        NOTE(1, 110, 10, "attn(F)"),
        NOTE(2, 120, 10, "attn(F)"),
        CALL(1, 5, 1),
        CALL(1, 15, 2),
        CALL(1, 25, 3),
        CALL(1, 115, 4),
        CALL(2, 125, 5),
    };
    static const kernel kernels[] = {
        {1, 200, 9, "a"}, {2, 210, 9, "a"}, {3, 220, 9, "a"}, {4, 230, 9, "a"}, {5, 240, 9, "a"}};
    static const int64_t layers[] = {0, 0, 1, 0, 1}, steps[] = {3, 3, 3, 4, 4};
    bench *b = scene_bench(&SCENE(slices, kernels), NULL);
    const mill_attribution *a = scene_run(b);
    for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_assert_cmpint(scene_layer(a, i), ==, layers[i]);
        g_assert_cmpint(scene_step(a, i), ==, steps[i]);
        g_assert_cmpint(a->micro_batch[a->place[i]], ==, MILL_UNKNOWN);
    }
    bench_destroy(b);
}

static void test_groups(void) {
    static const slice slices[] = {
        NOTE(1, 0, 10, "L07 b fwd attn"),
        NOTE(1, 10, 10, "L07 b bwd attn"),
        NOTE(1, 20, 10, "L08 x wgrad mlp"),
        NOTE(1, 30, 10, "L09 c odd mlp"),
        CALL(1, 5, 1),
        CALL(1, 15, 2),
        CALL(1, 25, 3),
        CALL(1, 35, 4),
    };
    static const kernel kernels[] = {
        {1, 200, 9, "a"}, {2, 210, 9, "a"}, {3, 220, 9, "a"}, {4, 230, 9, "a"}};
    static const char *const stages[] = {"attn(F)", "attn(B)", "mlp(W)", "mlp"};
    static const int64_t layers[] = {7, 7, 8, 9}, micro_batches[] = {1, 1, 23, 2};
    bench *b = scene_bench(
        &SCENE(slices, kernels),
        SETTINGS("stage-regex=^L(?<layer>\\d+) (?<mb>[a-z]) (?<chunk>\\w+) (?<stage>\\w+)$"));
    const mill_attribution *a = scene_run(b);
    for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_assert_cmpstr(scene_stage(a, i), ==, stages[i]);
        g_assert_cmpint(scene_layer(a, i), ==, layers[i]);
        g_assert_cmpint(a->micro_batch[a->place[i]], ==, micro_batches[i]);
    }
    g_assert_cmpint(a->chunk[a->place[3]], ==, MILL_CHUNK_NONE);
    bench_destroy(b);
}

static void test_unreadable_layer(void) {
    static const slice slices[] = {NOTE(1, 0, 10, "L-1 attn"),
                                   CALL(1, 1, 1),
                                   NOTE(1, 20, 10, "L99999999999999999999 attn"),
                                   CALL(1, 21, 2),
                                   NOTE(1, 40, 10, "L attn"),
                                   CALL(1, 41, 3)};
    static const kernel kernels[] = {{1, 200, 9, "a"}, {2, 210, 9, "a"}, {3, 220, 9, "a"}};
    static const int64_t layers[] = {MILL_UNKNOWN, MILL_UNKNOWN, 0}; /* none: the ordinal */
    bench *b = scene_bench(&SCENE(slices, kernels),
                           SETTINGS("stage-regex=^L(?<layer>[-0-9]*) (?<stage>\\w+)$"));
    const mill_attribution *a = scene_run(b);
    for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++)
        g_assert_cmpint(scene_layer(a, i), ==, layers[i]);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- steps */

/* The first and the last step hold no work, the sixth less than half of what the others do. */
static void test_cut_steps(void) {
    GArray *slices = g_array_new(FALSE, FALSE, sizeof(slice));
    GArray *kernels = g_array_new(FALSE, FALSE, sizeof(kernel));
    static const int counts[] = {0, 4, 4, 0, 4, 1, 0};
    static const uint8_t whole[] = {0, 1, 1, 1, 1, 0, 0};
    int64_t correlation = 0;
    for (int i = 0; i < (int)G_N_ELEMENTS(counts); i++) {
        g_autofree char *name = g_strdup_printf("ProfilerStep#%d", i);
        slice note = NOTE(1, i * 100, 100, g_intern_string(name));
        g_array_append_val(slices, note);
        for (int k = 0; k < counts[i]; k++) {
            slice call = CALL(1, i * 100 + k, ++correlation);
            kernel run = {correlation, 1000 + correlation, 1, "a", NULL, 0, 0};
            g_array_append_val(slices, call);
            g_array_append_val(kernels, run);
        }
    }
    scene s = {(slice *)(void *)slices->data, slices->len, (kernel *)(void *)kernels->data,
               kernels->len};
    bench *b = scene_bench(&s, NULL);
    const mill_attribution *a = scene_run(b);
    g_assert_cmpuint(a->n_steps, ==, G_N_ELEMENTS(whole));
    for (size_t i = 0; i < G_N_ELEMENTS(whole); i++)
        g_assert_cmpint(a->step_whole[i], ==, whole[i]);
    const mill_report *report = bench_output(b, "report", 0);
    const mill_table *steps = look_table(report, "steps");
    g_assert_cmpint(look_cell(steps, 1, "n").i, ==, 4);
    g_assert_cmpint(look_cell(steps, 0, "busy").i, ==, MILL_UNKNOWN);
    g_assert_nonnull(look_note(report, "empty_steps"));
    g_assert_nonnull(look_note(report, "cut_steps"));
    bench_destroy(b);

    b = scene_bench(&s, SETTINGS("partial-below=25"));
    g_assert_cmpint(scene_run(b)->step_whole[5], ==, 1);
    bench_destroy(b);
    g_array_unref(slices);
    g_array_unref(kernels);
}

/* What was open when profiling ended ends with it. */
static void test_open_step(void) {
    static const slice slices[] = {
        NOTE(1, 0, 100, "ProfilerStep#1"),
        NOTE(1, 100, 50, "ProfilerStep#2"),
        NOTE(1, 140, 10, "## forward ##"),
        CALL(1, 10, 1),
        CALL(1, 145, 2),
        OP(2, 160, 10, "of another thread"),
        OP(1, 150, 1, "after"),
    };
    static const kernel kernels[] = {{1, 200, 9, "a"}, {2, 210, 9, "a"}};
    scene s = SCENE(slices, kernels);
    bench *b = scene_bench(&s, NULL);
    g_assert_cmpint(scene_run(b)->step_whole[1], ==, 1); /* something follows it */
    bench_destroy(b);
    s.n_slices--;
    b = scene_bench(&s, NULL);
    const mill_attribution *a = scene_run(b);
    g_assert_cmpint(a->step_whole[0], ==, 1);
    g_assert_cmpint(a->step_whole[1], ==, 0);
    g_assert_cmpint(a->step_start[1], ==, 100);
    g_assert_cmpint(a->step_end[1], ==, 150);
    bench_destroy(b);
}

/* Without any launch calls a step is told by the start, unless the option says no. */
static void test_no_launch(void) {
    static const slice slices[] = {NOTE(1, 0, 100, "ProfilerStep#0"),
                                   NOTE(1, 100, 100, "ProfilerStep#1"), NOTE(1, 0, 50, "attn(F)")};
    static const kernel kernels[] = {{0, 5, 90, "a"}, {0, 100, 95, "a"}, {0, 200, 5, "a"}};
    static const int64_t steps[] = {0, 1, MILL_UNKNOWN};
    bench *b = scene_bench(&SCENE(slices, kernels), NULL);
    const mill_attribution *a = scene_run(b);
    for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++) {
        g_assert_cmpint(scene_step(a, i), ==, steps[i]);
        g_assert_null(scene_stage(a, i));
        g_assert_cmpuint(scene_annotation(a, i), ==, MILL_NONE);
    }
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "no_launch"));
    bench_destroy(b);

    b = scene_bench(&SCENE(slices, kernels), SETTINGS("steps-by-start=no"));
    a = scene_run(b);
    for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++)
        g_assert_cmpuint(a->place[i], ==, MILL_NONE);
    bench_destroy(b);

    /* One with a launch: the others' steps are unknown. */
    static const slice more[] = {NOTE(1, 0, 100, "ProfilerStep#0"), CALL(1, 5, 9)};
    static const kernel some[] = {{0, 5, 90, "a"}, {9, 100, 95, "a"}};
    b = scene_bench(&SCENE(more, some), NULL);
    a = scene_run(b);
    g_assert_cmpint(scene_step(a, 0), ==, MILL_UNKNOWN);
    g_assert_cmpint(scene_step(a, 1), ==, 0);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- odd traces */

static void test_empty(void) {
    bench *b = scene_bench(&(scene){0}, NULL);
    const mill_attribution *a = scene_run(b);
    g_assert_cmpuint(a->n_rows, ==, 0);
    g_assert_cmpuint(a->n_places, ==, 0);
    g_assert_cmpuint(a->n_steps, ==, 0);
    g_assert_cmpint(a->busy, ==, 0);
    const mill_report *report = bench_output(b, "report", 0);
    g_assert_true(g_str_has_prefix(report->summary, "No device events"));
    g_assert_null(look_note(report, "no_stages"));
    bench_destroy(b);
}

/* Coverage counts each device's busy time by itself, and no activity twice. */
static void test_devices(void) {
    static const slice slices[] = {NOTE(1, 0, 10, "attn(F)"), CALL(1, 5, 1), CALL(1, 6, 2),
                                   CALL(1, 7, 3), CALL(1, 20, 4)};
    static const kernel kernels[] = {{1, 100, 30, "a", NULL, 0, 1},
                                     {2, 110, 10, "b", NULL, 0, 2},
                                     {3, 100, 20, "a", NULL, 1, 1},
                                     {4, 120, 0, "a", NULL, 1, 1}};
    bench *b = scene_bench(&SCENE(slices, kernels), NULL);
    const mill_attribution *a = scene_run(b);
    g_assert_cmpint(a->busy, ==, 50);
    g_assert_cmpint(a->method_busy[MILL_METHOD_ANNOTATION], ==, 50);
    const mill_report *report = bench_output(b, "report", 0);
    g_assert_cmpint(look_int(report, "placed", NULL), ==, 3);
    g_assert_cmpint(look_cell(look_table(report, "stages"), 0, "busy").i, ==, 50);
    g_assert_cmpint(look_cell(look_table(report, "stages"), 0, "sum").i, ==, 60);
    g_assert_cmpstr(look_cell(look_table(report, "unplaced"), 0, "annotation").text, ==,
                    "(no annotation)");
    bench_destroy(b);
}

static void test_broken_timers(void) {
    static const kernel kernels[] = {{0, -(INT64_MAX / 3 * 2), 5, "a"},
                                     {0, INT64_MAX / 3 * 2, 5, "a"}};
    bench *b = scene_bench(&(scene){NULL, 0, kernels, 2}, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "device 0: its activities span more than 146 years"));
    bench_destroy(b);
}

static void test_cancelled(void) {
    for (unsigned n = 1; n <= 4; n++) {
        bench *b = scene_bench(&SCENE(two_threads, three_kernels), NULL);
        bench_cancel_at(b, n);
        g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
        g_assert_cmpuint(bench_output_count(b, "attribution"), ==, 0);
        bench_destroy(b);
    }
}

static void test_bad_options(void) {
    static const struct {
        const char *setting, *words;
    } bad[] = {
        {"stage-regex=^[a-z]+$", "stage-regex has no group that names the stage"},
        {"method=rules", "method = rules needs rules"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        bench *b = scene_bench(&(scene){0}, SETTINGS(bad[i].setting));
        g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
        g_assert_nonnull(strstr(bench_causes(b), bad[i].words));
        bench_destroy(b);
    }
}

/* ---------------------------------------------------------------- against a naive search */

static const slice *naive(const slice *slices, size_t n, const slice *call, bool steps) {
    for (int pass = 0; pass < 2; pass++) {
        const slice *best = NULL;
        for (size_t i = 0; i < n; i++) {
            const slice *s = &slices[i];
            if (s->kind != MILL_CPU_ANNOTATION || s->pid != call->pid ||
                (pass == 0 && s->tid != call->tid) ||
                (steps && !g_str_has_prefix(s->name, "ProfilerStep#")) || call->start < s->start ||
                call->start >= s->start + s->dur)
                continue;
            if (!best || s->dur < best->dur || (s->dur == best->dur && s->start > best->start))
                best = s;
        }
        if (best)
            return best;
    }
    return NULL;
}

/* Any annotations on threads of two processes, of different lengths so that no two tie. */
static void test_random(void) {
    enum { NOTES = 40, CALLS = 40 };
    for (int round = 0; round < 300; round++) {
        slice slices[NOTES + CALLS];
        kernel kernels[CALLS];
        for (int i = 0; i < NOTES + CALLS; i++) {
            bool note = i < NOTES;
            slices[i] = (slice){note ? MILL_CPU_ANNOTATION : MILL_CPU_RUNTIME,
                                g_test_rand_int_range(1, 3),
                                g_test_rand_int_range(1, 4),
                                g_test_rand_int_range(0, 200),
                                note ? i + g_test_rand_int_range(0, 3) * NOTES : 1,
                                note && i % 4 == 0 ? "ProfilerStep#1" : "attn(F)",
                                note ? 0 : i};
            if (!note)
                kernels[i - NOTES] = (kernel){i, 1000 + i, 1, "a", NULL, 0, 0};
        }
        scene s = SCENE(slices, kernels);
        bench *b = scene_bench(&s, NULL);
        const mill_trace *trace = scene_trace(b, &s);
        const mill_attribution *a = scene_run(b);
        for (uint64_t row = 0; row < CALLS; row++) {
            const slice *call = &slices[NOTES + row];
            const slice *right = naive(slices, NOTES, call, false);
            const slice *step = naive(slices, NOTES, call, true);
            uint32_t found = scene_annotation(a, row);
            g_assert_cmpint(found == MILL_NONE, ==, right == NULL);
            if (right) {
                g_assert_cmpint(mill_i64(trace, &trace->cpu.start, found), ==, right->start);
                g_assert_cmpint(mill_i64(trace, &trace->cpu.dur, found), ==, right->dur);
            }
            uint32_t place = a->place[row];
            uint32_t in = place == MILL_NONE ? MILL_NONE : a->step[place];
            g_assert_cmpint(in == MILL_NONE, ==, step == NULL);
            if (step) {
                g_assert_cmpint(a->step_start[in], ==, step->start);
                g_assert_cmpint(a->step_end[in], ==, step->start + step->dur);
            }
        }
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/attribution/innermost", test_innermost);
    g_test_add_func("/attribution/not-nested", test_not_nested);
    g_test_add_func("/attribution/same-start", test_same_start);
    g_test_add_func("/attribution/inherit", test_inherit);
    g_test_add_func("/attribution/graph", test_graph);
    g_test_add_func("/attribution/layers", test_layers);
    g_test_add_func("/attribution/unreadable-layer", test_unreadable_layer);
    g_test_add_func("/attribution/groups", test_groups);
    g_test_add_func("/attribution/cut-steps", test_cut_steps);
    g_test_add_func("/attribution/open-step", test_open_step);
    g_test_add_func("/attribution/no-launch", test_no_launch);
    g_test_add_func("/attribution/empty", test_empty);
    g_test_add_func("/attribution/devices", test_devices);
    g_test_add_func("/attribution/broken-timers", test_broken_timers);
    g_test_add_func("/attribution/cancelled", test_cancelled);
    g_test_add_func("/attribution/bad-options", test_bad_options);
    g_test_add_func("/attribution/random", test_random);
    return g_test_run();
}
