/* SPDX-License-Identifier: Apache-2.0 */
/* Small inputs, each broken or odd in one way, and what must come of them. With --shared: the cases
 * of the data folder instead of our own, skipped where it is absent. */
#include "bench_host.h"

#include <string.h>
#include <tracemill/trace.h>

/* Sums of durations in ns by class, and every diagnostic as "kind:count " in order of appearance.
 */
typedef struct expected {
    const char *file;
    int64_t comp, comm, mem;
    uint64_t gpu, cpu, joined;
    const char *diagnostics;
    bool incomplete;
    const char *refused; /* words of the message of an E_DATA */
    const char *kinds;   /* ns of communication as "kind:ns ", in order of appearance; NULL: any */
} expected;

static const expected own[] = {
    {"begin-end.json", 4000, 0, 0, 1, 0, 0, ""},
    {"broken-event.json", 90000, 60000, 0, 3, 0, 0, "malformed:2 "},
    {"collectives.json", 50000, 350000, 0, 8, 1, 0, "duplicate:1 ",
     .kinds = "reduce-scatter:50000 all-reduce:50000 other:50000 send-recv:100000 "
              "all-gather:100000 "},
    {"cut.json", 50000, 60000, 0, 2, 0, 0, "truncated:1 ", true},
    {"escapes.json", 90000, 60000, 0, 3, 2, 0, "bad-escape:1 invalid-utf8:1 not-a-number:1 "},
    {"facts-last.json", 50000, 0, 0, 1, 1, 0, ""},
    {"hostile-names.json", 30000, 10000, 0, 4, 0, 0, "bad-escape:1 "},
    {"huge-numbers.json", 10000, 0, 0, 4, 0, 0, "no-duration:4 broken-timer:2 "},
    {"launches.json", 38000, 0, 0, 7, 5, 4, ""},
    {"legacy.json", 50000, 0, 20000, 2, 2, 1, "empty-record:1 "},
    {"mangled.json", 41000, 50000, 0, 3, 0, 0, ""},
    {"nested.json", .refused = "traceEvents is no array"},
    {"no-bracket.json", 90000, 60000, 0, 3, 0, 0, ""},
    {"odd-types.json", 13000, 0, 0, 4, 0, 0, ""},
    {"pairs.json", 10500, 0, 0, 1, 7, 1,
     "end-without-begin:2 backward-pair:1 no-duration:1 unclosed-begin:2 "},
    {"planes.json", 57000, 90000, 0, 6, 2, 0, "no-duration:1 ",
     .kinds = "other:30000 (none):60000 "},
    {"points.json", .cpu = 1, .diagnostics = "not-a-number:1 "},
    {"step-timers.json", .cpu = 1, .diagnostics = ""},
    {"syncs.json", 100000, 80000, 0, 2, 4, 2, ""},
    {"timers.json", 100124, 60000, 0, 6, 0, 0,
     "negative-duration:1 no-duration:2 broken-timer:2 cpu-negative-duration:1 duplicate:1 "
     "clipped-timer:1 "},
};

/* By the .md beside each; kernels that the default rules count otherwise than a case suggests are
 * as spec'd for the rules: the index work of a dispatch is communication (028), fused kernels that
 * no rule names are computation (048). */
static const expected shared[] = {
    {"001-backslash-in-name.json", 90000, 60000, 0, 3, 3, 3, "bad-escape:1 "},
    {"002-quote-and-newline-in-name.json", 90000, 60000, 0, 3, 3, 3, "malformed:1 "},
    {"004-invalid-utf8-in-name.json", 90000, 60000, 0, 3, 3, 3, "invalid-utf8:1 "},
    {"005-inf-nan-tokens.json", 90000, 60000, 0, 4, 3, 3, "not-a-number:2 "},
    {"006-array-no-closing-bracket.json", 90000, 60000, 0, 3, 3, 3, ""},
    {"007-truncated-mid-event.json", 50000, 60000, 0, 2, 3, 2, "truncated:1 ", true},
    {"009-legacy-array-string-pid.json", 100000, 0, 0, 2, 1, 0, ""},
    {"010-legacy-kineto-categories-ts-zero.json", 90000, 60000, 0, 3, 1, 1, "empty-record:2 "},
    {"011-ts-as-strings-array.json", 90000, 60000, 0, 3, 0, 0, ""},
    {"013-sub-us-kernels.json", 800, 0, 0, 4, 0, 0, ""},
    {"014-display-unit-ns-is-only-display.json", 90000, 60000, 0, 3, 3, 3, ""},
    {"016-clock-skew-between-nodes-rank0.json", 0, 320000, 0, 3, 0, 0, "",
     .kinds = "all-reduce:320000 "},
    {"016-clock-skew-between-nodes-rank1.json", 0, 300000, 0, 3, 0, 0, "",
     .kinds = "all-reduce:300000 "},
    {"017-negative-duration.json", 90000, 60000, 0, 3, 3, 3, "negative-duration:1 "},
    {"018-absurd-duration-on-stream.json", 100000, 60000, 0, 5, 3, 3,
     "broken-timer:1 clipped-timer:1 "},
    {"020-kernel-before-its-launch.json", 90000, 0, 0, 2, 2, 2, "launch-after-start:1 "},
    {"021-cuda-graph-shared-correlation.json", 60000, 30000, 0, 5, 1, 5, ""},
    {"023-launch-name-variants.json", 30000, 0, 10000, 4, 4, 4, ""},
    {"024-rocm-stream-zero-external-id.json", 50000, 60000, 40000, 3, 1, 0, ""},
    {"025-nccl-names-old-and-new.json", 0, 400000, 0, 8, 0, 0, ""},
    {"027-custom-allreduce-kernels.json", 700000, 350000, 0, 8, 0, 0, ""},
    {"028-expert-parallel-kernels.json", 300000, 360000, 0, 9, 0, 0, ""},
    {"030-copy-engine-communication.json", 150000, 60000, 80000, 5, 0, 0, ""},
    {"031-collective-without-metadata.json", 0, 150000, 0, 3, 0, 0, "",
     .kinds = "all-gather:100000 send-recv:50000 "},
    {"033-no-profiler-step.json", 90000, 60000, 0, 3, 4, 3, ""},
    {"034-step-boundary-and-duplicates.json", 100000, 0, 0, 2, 4, 2, "duplicate:1 "},
    {"036-rank-unknown-twice-hostA_123.1700000000.pt.trace.json", 90000, 60000, 0, 3, 3, 3, ""},
    {"036-rank-unknown-twice-hostB_456.1700000000.pt.trace.json", 90000, 60000, 0, 3, 3, 3, ""},
    {"037-containers-gzip-named.json", 90000, 60000, 0, 3, 3, 3, ""},
    {"037-containers-multimember.json.gz", 90000, 60000, 0, 3, 3, 3, ""},
    {"037-containers-truncated.json.gz", 50000, 0, 0, 1, 3, 1, "truncated:1 truncated-container:1 ",
     true},
    {"037-containers-zip.zip", .refused = "traceEvents is no array"},
    {"039-async-and-unclosed-pairs.json", .cpu = 2,
     .diagnostics = "backward-pair:1 unclosed-begin:2 "},
    {"040-gpu-events-in-few-steps.json", 185000, 0, 0, 2, 8, 0, ""},
    {"041-empty-and-cpu-only-cpuonly.json", .cpu = 1, .diagnostics = ""},
    {"041-empty-and-cpu-only-empty.json", .diagnostics = ""},
    {"043-eplb-zero-layers-3d.json", .refused = "no traceEvents"},
    {"046-kernel-name-is-not-the-operation.json", 0, 150000, 0, 3, 0, 0, "",
     .kinds = "all-reduce:50000 reduce-scatter:50000 other:50000 "},
    {"048-fused-compute-and-communication.json", 100000, 50000, 0, 3, 0, 0, ""},
};

static const char *folder; /* of the cases */

static int64_t sum_of(const mill_trace *t, mill_class cls) {
    int64_t sum = 0;
    for (uint64_t i = 0; i < t->gpu.n; i++)
        if (mill_name_class(t, mill_u32(t, &t->gpu.name, i)) == cls)
            sum += mill_i64(t, &t->gpu.dur, i);
    return sum;
}

/* ns of communication by the kind of each activity. */
static char *kinds_of(const mill_trace *t) {
    g_autoptr(GPtrArray) kinds = g_ptr_array_new();
    g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    for (uint64_t i = 0; i < t->gpu.n; i++) {
        if (mill_name_class(t, mill_u32(t, &t->gpu.name, i)) != MILL_CLASS_COMMUNICATION)
            continue;
        const char *kind = mill_gpu_kind(t, i) ?: "(none)";
        int64_t *sum = g_hash_table_lookup(sums, kind);
        if (!sum) {
            sum = g_new0(int64_t, 1);
            g_hash_table_insert(sums, (gpointer)kind, sum);
            g_ptr_array_add(kinds, (gpointer)kind);
        }
        *sum += mill_i64(t, &t->gpu.dur, i);
    }
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < kinds->len; i++)
        g_string_append_printf(text, "%s:%" G_GINT64_FORMAT " ", (const char *)kinds->pdata[i],
                               *(int64_t *)g_hash_table_lookup(sums, kinds->pdata[i]));
    return g_string_free(text, false);
}

static char *diagnostics_of(const mill_trace *t) {
    GString *text = g_string_new(NULL);
    for (uint64_t i = 0; i < t->diagnostics.n; i++)
        g_string_append_printf(text, "%s:%" G_GUINT64_FORMAT " ",
                               mill_string(t, mill_u32(t, &t->diagnostics.kind, i)),
                               mill_u64(t, &t->diagnostics.count, i));
    return g_string_free(text, false);
}

static void check_trace(const mill_trace *t, const expected *right) {
    uint64_t joined = 0;
    for (uint64_t i = 0; i < t->gpu.n; i++)
        joined += mill_u32(t, &t->gpu.launch, i) != MILL_NONE;
    g_autofree char *diagnostics = diagnostics_of(t);
    g_assert_cmpint(sum_of(t, MILL_CLASS_COMPUTATION), ==, right->comp);
    g_assert_cmpint(sum_of(t, MILL_CLASS_COMMUNICATION), ==, right->comm);
    g_assert_cmpint(sum_of(t, MILL_CLASS_MEMORY), ==, right->mem);
    g_assert_cmpuint(t->gpu.n, ==, right->gpu);
    g_assert_cmpuint(t->cpu.n, ==, right->cpu);
    g_assert_cmpuint(joined, ==, right->joined);
    g_assert_cmpstr(diagnostics, ==, right->diagnostics);
    if (right->kinds) {
        g_autofree char *kinds = kinds_of(t);
        g_assert_cmpstr(kinds, ==, right->kinds);
    }
    g_assert_cmpint(t->complete, ==, !right->incomplete);
}

static void test_case(gconstpointer data) {
    const expected *right = data;
    g_autofree char *setting = g_strconcat("path=", folder, "/", right->file, NULL);
    bench *b = bench_create(bench_open("plugins/readers/kineto/kineto.so"), "kineto.read");
    bench_option(b, setting);
    mill_status status = bench_run(b);
    if (right->refused) {
        g_assert_cmpint(status, ==, MILL_E_DATA);
        g_assert_nonnull(strstr(bench_causes(b), right->refused));
    } else {
        g_assert_cmpint(status, ==, MILL_OK);
        check_trace(bench_output(b, "trace", 0), right);
    }
    bench_destroy(b);
}

static void test_absent(void) {
    g_test_skip("skipped: the cases of the data folder (TRACEMILL_TEST_DATA) are not there");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    bool is_shared = argc > 1 && !strcmp(argv[1], "--shared");
    const char *base = g_getenv(is_shared ? "TRACEMILL_TEST_DATA" : "TRACEMILL_TEST_SOURCE");
    g_autofree char *path =
        g_build_filename(base ?: ".", is_shared ? "" : "tests/data", "cases", NULL);
    folder = path;
    const expected *cases = is_shared ? shared : own;
    size_t n = is_shared ? G_N_ELEMENTS(shared) : G_N_ELEMENTS(own);
    if (is_shared && !g_file_test(path, G_FILE_TEST_IS_DIR))
        g_test_add_func("/kineto/cases", test_absent);
    else
        for (size_t i = 0; i < n; i++) {
            g_autofree char *name = g_strconcat("/kineto/cases/", cases[i].file, NULL);
            g_test_add_data_func(name, &cases[i], test_case);
        }
    return g_test_run();
}
