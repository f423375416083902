/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that a training program timed itself: of a file that has every sort, and of a
 * published step timeline. */
#include "data.h"

#include <tracemill/trace.h>

typedef struct right_timer {
    const char *name;
    int64_t start, dur; /* ns */
    const char *thread;
    int64_t step, chunk, micro_batch, sequence;
} right_timer;

static void check_timer(const mill_trace *t, uint64_t i, const right_timer *right) {
    const mill_timers *s = &t->timers;
    uint32_t thread = mill_u32(t, &s->thread, i);
    g_assert_cmpstr(mill_name(t, mill_u32(t, &s->name, i)), ==, right->name);
    g_assert_cmpint(mill_i64(t, &s->start, i), ==, right->start);
    g_assert_cmpint(mill_i64(t, &s->dur, i), ==, right->dur);
    g_assert_cmpstr(mill_string(t, mill_u32(t, &t->threads.name, thread)), ==, right->thread);
    g_assert_cmpint(mill_i64(t, &s->step, i), ==, right->step);
    g_assert_cmpint(mill_i64(t, &s->chunk, i), ==, right->chunk);
    g_assert_cmpint(mill_i64(t, &s->micro_batch, i), ==, right->micro_batch);
    g_assert_cmpint(mill_i64(t, &s->sequence, i), ==, right->sequence);
}

/* Events with mb_id of a category that is ours stay what they are. */
static void test_case(void) {
    static const right_timer right[] = {
        {"gc", 5000, 0, "a", 1, MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN},
        {"forward-compute", 10000, 2500, "b", 1, 0, 3, 4},
        {"forward-compute", 10000, 1500, "a", 1, 0, 2, 3}, /* threads are numbered as they come */
        {"forward-send", 10001, 1, "a", 1, MILL_UNKNOWN, MILL_UNKNOWN, 0},
    };
    g_autofree char *path = g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"),
                                             "tests/data/cases/step-timers.json", NULL);
    bench *b = data_read(path);
    const mill_trace *t = bench_output(b, "trace", 0);
    g_assert_cmpuint(mill_timer_count(t), ==, G_N_ELEMENTS(right));
    for (uint64_t i = 0; i < G_N_ELEMENTS(right); i++)
        check_timer(t, i, &right[i]);
    g_assert_cmpuint(t->cpu.n, ==, 1);
    g_assert_cmpuint(t->gpu.n, ==, 0);
    bench_destroy(b);
}

static void test_timeline(void) {
    static const right_timer first = {
        "params-all-gather", 44066, 23015976, "PP rank 1, TP rank 0, dp-comm", 23, 0,
        MILL_UNKNOWN,        0};
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *path =
        g_build_filename(folder, "traces/bytedance-pipeline-timeline-ST.json.gz", NULL);
    bench *b = data_read(path);
    const mill_trace *t = bench_output(b, "trace", 0);
    g_assert_cmpuint(mill_timer_count(t), ==, 6784);
    check_timer(t, 0, &first);
    g_assert_cmpuint(t->diagnostics.n, ==, 0);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kineto/timers/case", test_case);
    g_test_add_func("/kineto/timers/timeline", test_timeline);
    return g_test_run();
}
