/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader finds in DeepSeek's training profile, counted by other means. */
#include "data.h"

#include <tracemill/trace.h>

#define US 1000

typedef struct facts {
    const mill_trace *t;
    const cJSON *right;
} facts;

static void check(const facts *f, const char *name, int64_t found) {
    g_test_message("%s", name);
    g_assert_cmpint(found, ==, data_integer(f->right, name));
}

static int64_t gpu_rows(const mill_trace *t, mill_gpu_cat cat) {
    int64_t n = 0;
    for (uint64_t row = 0; row < t->gpu.n; row++)
        n += mill_u8(t, &t->gpu.cat, row) == cat;
    return n;
}

static int64_t cpu_rows(const mill_trace *t, mill_cpu_kind kind) {
    int64_t n = 0;
    for (uint64_t row = 0; row < t->cpu.n; row++)
        n += mill_u8(t, &t->cpu.kind, row) == kind;
    return n;
}

static void check_activities(const facts *f) {
    const mill_trace *t = f->t;
    g_autoptr(GHashTable) names = g_hash_table_new(NULL, NULL);
    int64_t zero = 0, no_launch = 0, last = 0;
    int64_t first = mill_i64(t, &t->gpu.start, 0);
    for (uint64_t row = 0; row < t->gpu.n; row++) {
        int64_t dur = mill_i64(t, &t->gpu.dur, row);
        zero += dur == 0;
        last = MAX(last, mill_i64(t, &t->gpu.start, row) + dur - first);
        no_launch += mill_u32(t, &t->gpu.launch, row) == MILL_NONE;
        if (mill_u8(t, &t->gpu.cat, row) == MILL_GPU_KERNEL)
            g_hash_table_add(names, GUINT_TO_POINTER(mill_u32(t, &t->gpu.name, row)));
    }
    check(f, "gpu_activities", (int64_t)t->gpu.n);
    check(f, "kernels", gpu_rows(t, MILL_GPU_KERNEL));
    check(f, "memcpy", gpu_rows(t, MILL_GPU_MEMCPY));
    check(f, "memset", gpu_rows(t, MILL_GPU_MEMSET));
    check(f, "distinct_kernel_names", g_hash_table_size(names));
    check(f, "zero_duration", zero);
    check(f, "without_launch", no_launch);
    check(f, "duplicates_dropped", (int64_t)t->diagnostics.n); /* nothing had to be mended */
    check(f, "t0_abs_us", first / US);
    const cJSON *span = data_field(f->right, "gpu_span");
    g_assert_cmpint(cJSON_GetArrayItem(span, 0)->valueint, ==, 0);
    g_assert_cmpint(last, ==, cJSON_GetArrayItem(span, 1)->valueint * US);
}

static void check_events(const facts *f) {
    const mill_trace *t = f->t;
    const facts by_cat = {t, data_field(f->right, "events_by_ph_cat")};
    check(f, "events_total", (int64_t)t->events);
    check(&by_cat, "X/kernel", gpu_rows(t, MILL_GPU_KERNEL));
    check(&by_cat, "X/gpu_memcpy", gpu_rows(t, MILL_GPU_MEMCPY));
    check(&by_cat, "X/gpu_memset", gpu_rows(t, MILL_GPU_MEMSET));
    check(&by_cat, "X/cpu_op", cpu_rows(t, MILL_CPU_OP));
    check(&by_cat, "X/cuda_runtime", cpu_rows(t, MILL_CPU_RUNTIME));
    check(&by_cat, "X/cuda_driver", cpu_rows(t, MILL_CPU_DRIVER));
    check(&by_cat, "X/user_annotation", cpu_rows(t, MILL_CPU_ANNOTATION));
}

/* The step lasts from 533 µs before the first activity until long before the last one ends. */
static void check_step(const facts *f) {
    const mill_trace *t = f->t;
    const cJSON *window = data_field(f->right, "step_cpu_window");
    int64_t first = mill_i64(t, &t->gpu.start, 0);
    int n = 0;
    for (uint64_t row = 0; row < t->cpu.n; row++) {
        if (!g_str_equal(mill_name(t, mill_u32(t, &t->cpu.name, row)), "ProfilerStep#1"))
            continue;
        int64_t start = mill_i64(t, &t->cpu.start, row) - first;
        g_assert_cmpint(start, ==, cJSON_GetArrayItem(window, 0)->valueint * US);
        g_assert_cmpint(start + mill_i64(t, &t->cpu.dur, row), ==,
                        cJSON_GetArrayItem(window, 1)->valueint * US);
        n++;
    }
    g_assert_cmpint(n, ==, 1);
}

/* A kernel is found again by its correlation: when it starts, and how long after its launch. */
static void check_launches(const mill_trace *t, const cJSON *kernels) {
    const cJSON *one;
    int64_t first = mill_i64(t, &t->gpu.start, 0);
    cJSON_ArrayForEach(one, kernels) {
        uint64_t row = 0;
        while (mill_i64(t, &t->gpu.correlation, row) != data_integer(one, "corr"))
            g_assert_cmpuint(++row, <, t->gpu.n);
        int64_t start = mill_i64(t, &t->gpu.start, row);
        int64_t launch = mill_i64(t, &t->cpu.start, mill_u32(t, &t->gpu.launch, row));
        g_assert_cmpint(start - first, ==, data_integer(one, "start") * US);
        g_assert_cmpint(start - launch, ==, data_integer(one, "launch_to_start") * US);
    }
}

/* How many activities of each class are on each stream. */
static void check_streams(const mill_trace *t, const cJSON *streams) {
    static const char *const classes[] = {NULL, "comp", "comm", "mem", NULL};
    const cJSON *stream, *n;
    cJSON_ArrayForEach(stream, streams) {
        int64_t found[G_N_ELEMENTS(classes)] = {0}, all = 0;
        for (uint64_t row = 0; row < t->gpu.n; row++)
            if (mill_i64(t, &t->streams.id, mill_u32(t, &t->gpu.stream, row)) ==
                g_ascii_strtoll(stream->string, NULL, 10))
                found[mill_name_class(t, mill_u32(t, &t->gpu.name, row))]++;
        cJSON_ArrayForEach(n, data_field(stream, "by_class")) all += n->valueint;
        g_assert_cmpint(all, ==, data_integer(stream, "activities"));
        for (size_t c = 0; c < G_N_ELEMENTS(classes); c++)
            if (!classes[c])
                g_assert_cmpint(found[c], ==, 0);
            else if (cJSON_HasObjectItem(data_field(stream, "by_class"), classes[c]))
                g_assert_cmpint(found[c], ==,
                                data_integer(data_field(stream, "by_class"), classes[c]));
            else
                g_assert_cmpint(found[c], ==, 0);
    }
}

static void test_train(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *path = g_build_filename(folder, "traces/deepseek-train.json.gz", NULL);
    bench *b = data_read(path);
    cJSON *expected = data_json(folder, "oracle/overlap/train_expected.json");
    facts f = {bench_output(b, "trace", 0), data_field(expected, "meta")};
    check_activities(&f);
    check_events(&f);
    check_step(&f);
    check_launches(f.t, data_field(expected, "comm_kernels"));
    check_streams(f.t, data_field(expected, "streams"));
    check(&f, "num_sms", mill_i64(f.t, &f.t->devices.sms, 0));
    cJSON_Delete(expected);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kineto/facts/train", test_train);
    return g_test_run();
}
