/* SPDX-License-Identifier: Apache-2.0 */
/* What sort of computation the bundled rules say that kernels of real profiles are. */
#include "data.h"

#include <string.h>

#include <tracemill/trace.h>

typedef struct sum {
    int64_t n, dur;
} sum;

static bool is_computation(const mill_trace *t, uint64_t row) {
    return mill_name_class(t, mill_u32(t, &t->gpu.name, row)) == MILL_CLASS_COMPUTATION;
}

/* All computation of the kind; kind NULL: of any. */
static sum computation(const mill_trace *t, const char *kind) {
    sum all = {0};
    for (uint64_t row = 0; row < t->gpu.n; row++) {
        const char *own = mill_gpu_kind(t, row);
        if (!is_computation(t, row) || !own || (kind && strcmp(own, kind) != 0))
            continue;
        all.n++;
        all.dur += mill_i64(t, &t->gpu.dur, row);
    }
    return all;
}

static void test_train(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *path = g_build_filename(folder, "traces/deepseek-train.json.gz", NULL);
    bench *b = data_read(path);
    const mill_trace *t = bench_output(b, "trace", 0);
    cJSON *expected = data_json(folder, "oracle/overlap/train_expected.json");
    const cJSON *right;
    int64_t n = 0;
    cJSON_ArrayForEach(right, data_field(data_field(expected, "classification"), "comp_by_sub")) {
        sum found = computation(t, right->string);
        g_test_message("%s", right->string);
        g_assert_cmpint(found.n, ==, data_integer(right, "n"));
        g_assert_cmpint(found.dur, ==, data_integer(right, "dur_sum") * 1000);
        n += found.n;
    }
    g_assert_cmpint(n, ==, 927);
    cJSON_Delete(expected);
    bench_destroy(b);
}

/* How much of the computation of each profile has a kind, in per mille of Σ durations, at least. */
static void test_coverage(void) {
    static const struct {
        const char *name;
        int64_t least;
    } right[] = {
        {"hta-event-sync-multi-stream", 1000},
        {"hta-gpu-user-annotation", 1000},
        {"hta-mi250-minitoy", 1000},
        {"hta-nccl-metadata", 1000},
        {"hta-ns-resolution", 1000},
        {"kineto-2021-resnet50", 1000},
        {"megatron-tp8-rank0", 917}, /* triton__0d1d2d3d: a name that tells nothing */
        {"tracelens-b200-eager", 1000},
        {"tracelens-mi210-gpu-only", 1000},
        {"tracelens-mi300-ddp-resnet18", 1000},
        {"tracelens-sglang-decode", 998},
        {"tracelens-vllm-decode-graph", 1000},
    };
    const char *folder = data_folder();
    for (size_t i = 0; folder && i < G_N_ELEMENTS(right); i++) {
        g_autofree char *path = g_strdup_printf("%s/traces/%s.json.gz", folder, right[i].name);
        bench *b = data_read(path);
        const mill_trace *t = bench_output(b, "trace", 0);
        int64_t all = 0;
        for (uint64_t row = 0; row < t->gpu.n; row++)
            all += is_computation(t, row) ? mill_i64(t, &t->gpu.dur, row) : 0;
        g_test_message("%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " ns", right[i].name,
                       computation(t, NULL).dur, all);
        g_assert_cmpint(computation(t, NULL).dur * 1000, >=, all * right[i].least);
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kinds/train", test_train);
    g_test_add_func("/kinds/coverage", test_coverage);
    return g_test_run();
}
