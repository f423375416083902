/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for names: what they say, what is wrong with a file, and that the reader of Kineto, which
 * has a faster way to apply them, says the same of the same names. */
#include "data.h"

#include <glib/gstdio.h>
#include <string.h>
#include <tracemill/kit/kernel_rules.h>
#include <unistd.h>

static char *bundled(void) {
    return g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "etc/rules/kernels.ini", NULL);
}

/* A file with that text, to be removed by the caller. */
static char *write_rules(const char *text) {
    g_autoptr(GError) error = NULL;
    char *path;
    int fd = g_file_open_tmp("kernel-rules-XXXXXX.ini", &path, &error);
    g_assert_no_error(error);
    g_assert_cmpint(write(fd, text, strlen(text)), ==, (ssize_t)strlen(text));
    g_assert_cmpint(close(fd), ==, 0);
    return path;
}

/* ---------------------------------------------------------------- what is said */

typedef struct named {
    const char *text;
    mill_gpu_cat cat;
} named;

/* A trace of one activity of each name, 10 ns after the one before. */
static const mill_trace *classify(bench *b, const kit_kernel_rules *rules, const named *names,
                                  size_t n) {
    mill_run *run = bench_services(b);
    kit_trace *t = kit_trace_create(run);
    uint32_t stream = kit_trace_stream(t, kit_trace_device(t, 0), 7, MILL_NONE);
    for (size_t i = 0; i < n; i++) {
        kit_gpu_row row = {.start = 100 + 10 * (int64_t)i, .dur = 5, .stream = stream};
        row.correlation = row.external_id = row.grid = row.block = MILL_UNKNOWN;
        row.bytes = row.waited_event = MILL_UNKNOWN;
        row.collective = MILL_NONE;
        row.cat = (uint8_t)names[i].cat;
        row.name = kit_trace_name(t, names[i].text, strlen(names[i].text), names[i].cat);
        kit_trace_gpu(t, &row);
    }
    g_assert_cmpint(kit_kernel_rules_apply(run, rules, t), ==, MILL_OK);
    const mill_trace *trace = kit_trace_finish(t, 0);
    kit_trace_destroy(t);
    g_assert_cmpuint(trace->gpu.n, ==, n);
    return trace;
}

static const char *rule_of(const mill_trace *t, uint32_t name) {
    uint16_t rule = mill_u16(t, &t->names.rule, name);
    return rule == UINT16_MAX ? NULL : mill_text(t, &t->rules, rule);
}

static kit_kernel_rules *load(bench *b, const char *path, const char *then) {
    kit_kernel_rules *rules = kit_kernel_rules_create();
    g_assert_cmpint(kit_kernel_rules_load(bench_services(b), rules, path), ==, MILL_OK);
    if (then)
        g_assert_cmpint(kit_kernel_rules_load(bench_services(b), rules, then), ==, MILL_OK);
    return rules;
}

static void test_first_that_fits(void) {
    g_autofree char *path = write_rules("[copies]\ncategory = memcpy\nclass = memory\n"
                                        "[scatter]\nmatch =\n    ^fused_scatter\n    two$\n"
                                        "class = communication\nkind = reduce-scatter\n"
                                        "[any]\ncategory = kernel\nclass = computation\n");
    static const named names[] = {
        {"FUSED_scatter", MILL_GPU_KERNEL}, {"one and two", MILL_GPU_KERNEL},
        {"two and one", MILL_GPU_KERNEL},   {"fused_scatter", MILL_GPU_MEMCPY},
        {"fill", MILL_GPU_MEMSET},
    };
    static const struct {
        mill_class cls;
        const char *kind, *rule;
    } right[] = {
        {MILL_CLASS_COMMUNICATION, "reduce-scatter", "scatter"},
        {MILL_CLASS_COMMUNICATION, "reduce-scatter", "scatter"},
        {MILL_CLASS_COMPUTATION, NULL, "any"},
        {MILL_CLASS_MEMORY, NULL, "copies"},
        {MILL_CLASS_OTHER, NULL, NULL},
    };
    bench *b = bench_create(NULL, NULL);
    kit_kernel_rules *rules = load(b, path, NULL);
    const mill_trace *t = classify(b, rules, names, G_N_ELEMENTS(names));
    for (uint64_t row = 0; row < t->gpu.n; row++) {
        uint32_t name = mill_u32(t, &t->gpu.name, row);
        g_assert_cmpint(mill_name_class(t, name), ==, right[row].cls);
        g_assert_cmpstr(mill_name_kind(t, name), ==, right[row].kind);
        g_assert_cmpstr(rule_of(t, name), ==, right[row].rule);
    }
    g_assert_cmpuint(t->rules.n, ==, 3);
    kit_kernel_rules_destroy(rules);
    bench_destroy(b);
    g_assert_cmpint(g_remove(path), ==, 0);
}

/* A user's own rules, loaded first, come before the bundled ones. */
static void test_own_rules(void) {
    g_autofree char *path = write_rules("[mine]\nmatch = ^nccl\nclass = other\n"),
                    *then = bundled();
    static const named names[] = {{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", MILL_GPU_KERNEL}};
    bench *b = bench_create(NULL, NULL);
    kit_kernel_rules *rules = load(b, path, then);
    const mill_trace *t = classify(b, rules, names, 1);
    g_assert_cmpint(mill_name_class(t, mill_u32(t, &t->gpu.name, 0)), ==, MILL_CLASS_OTHER);
    kit_kernel_rules_destroy(rules);
    bench_destroy(b);
    g_assert_cmpint(g_remove(path), ==, 0);
}

/* ---------------------------------------------------------------- as Kineto's reader says */

static void same_as_kineto(const char *path) {
    bench *read = data_read(path), *b = bench_create(NULL, NULL);
    const mill_trace *theirs = bench_output(read, "trace", 0);
    g_autofree char *file = bundled();
    kit_kernel_rules *rules = load(b, file, NULL);
    g_autofree named *names = g_new(named, theirs->gpu.n);
    for (uint64_t row = 0; row < theirs->gpu.n; row++)
        names[row] = (named){mill_name(theirs, mill_u32(theirs, &theirs->gpu.name, row)),
                             (mill_gpu_cat)mill_u8(theirs, &theirs->gpu.cat, row)};
    const mill_trace *ours = classify(b, rules, names, theirs->gpu.n);
    for (uint64_t row = 0; row < theirs->gpu.n; row++) {
        uint32_t a = mill_u32(theirs, &theirs->gpu.name, row);
        uint32_t c = mill_u32(ours, &ours->gpu.name, row);
        g_assert_cmpint(mill_name_class(ours, c), ==, mill_name_class(theirs, a));
        g_assert_cmpstr(mill_name_kind(ours, c), ==, mill_name_kind(theirs, a));
        g_assert_cmpstr(rule_of(ours, c), ==, rule_of(theirs, a));
    }
    g_assert_cmpuint(theirs->gpu.n, >, 100);
    kit_kernel_rules_destroy(rules);
    bench_destroy(b);
    bench_destroy(read);
}

static void test_sample(void) {
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests/data/sample.json.gz", NULL);
    same_as_kineto(path);
}

static void test_real(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *path = g_build_filename(folder, "traces/deepseek-train.json.gz", NULL);
    same_as_kineto(path);
}

/* ---------------------------------------------------------------- what is wrong */

static void test_wrong(void) {
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"[a]\nmatch = x\n", ":1: [a] has no class: add"},
        {"[a]\nclass = computation\n[b]\nkind = gemm\n", ":3: [b] has no class"},
        {"[a]\nclass = work\n", ":2: class = \"work\": expected computation"},
        {"[a]\nclass = other\ncategory = cpu_op\n", ":3: category = \"cpu_op\": expected kernel"},
        {"[a]\nclass = other\nmatch = (\n", ":3: match: \"(\" is not a regular expression"},
        {"[a]\nclass = other\nnane = x\n", ":3: unknown key \"nane\""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bench *b = bench_create(NULL, NULL);
        kit_kernel_rules *rules = kit_kernel_rules_create();
        g_autofree char *path = write_rules(cases[i].text);
        g_assert_cmpint(kit_kernel_rules_load(bench_services(b), rules, path), ==, MILL_E_CONFIG);
        if (!strstr(bench_causes(b), cases[i].told) || !strstr(bench_causes(b), path))
            g_error("%s: %s", cases[i].told, bench_causes(b));
        kit_kernel_rules_destroy(rules);
        bench_destroy(b);
        g_assert_cmpint(g_remove(path), ==, 0);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/kernel-rules/first-that-fits", test_first_that_fits);
    g_test_add_func("/kit/kernel-rules/own-rules", test_own_rules);
    g_test_add_func("/kit/kernel-rules/sample", test_sample);
    g_test_add_func("/kit/kernel-rules/real", test_real);
    g_test_add_func("/kit/kernel-rules/wrong", test_wrong);
    return g_test_run();
}
