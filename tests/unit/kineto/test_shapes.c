/* SPDX-License-Identifier: Apache-2.0 */
/* Events of other shapes than one whole slice with a category: pairs, planes, metadata of
 * collectives, counters, memory records, arrows. */
#include "bench_host.h"

#include <glib/gstdio.h>
#include <string.h>
#include <tracemill/trace.h>

/* Of our own cases. */
static bench *reader(const char *file, const char *const *settings) {
    bench *b = bench_create(bench_open("plugins/readers/kineto/kineto.so"), "kineto.read");
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests/data/cases", file, NULL);
    g_autofree char *setting = g_strconcat("path=", path, NULL);
    bench_option(b, setting);
    for (; settings && *settings; settings++)
        bench_option(b, *settings);
    return b;
}

static const mill_trace *trace_of(bench *b) {
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    return bench_output(b, "trace", 0);
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void assert_says(bench *b, mill_status status, const char *words) {
    g_assert_cmpint(bench_run(b), ==, status);
    if (!strstr(bench_causes(b), words))
        g_error("\"%s\" does not say \"%s\"", bench_causes(b), words);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- pairs */

/* "name:start+dur(parent) " of all CPU rows, µs. */
static char *cpu_of(const mill_trace *t) {
    GString *text = g_string_new(NULL);
    for (uint64_t i = 0; i < t->cpu.n; i++) {
        uint32_t parent = mill_u32(t, &t->cpu.parent, i);
        g_string_append_printf(text, "%s:%d+%d", mill_name(t, mill_u32(t, &t->cpu.name, i)),
                               (int)mill_i64(t, &t->cpu.start, i) / 1000,
                               (int)mill_i64(t, &t->cpu.dur, i) / 1000);
        if (parent != MILL_NONE)
            g_string_append_printf(text, "(%s)", mill_name(t, mill_u32(t, &t->cpu.name, parent)));
        g_string_append_c(text, ' ');
    }
    return g_string_free(text, false);
}

static void test_pairs(void) {
    bench *b = reader("pairs.json", NULL);
    const mill_trace *t = trace_of(b);
    g_autofree char *cpu = cpu_of(t);
    /* AllReduce outlives the outer call of its thread: it is no part of the call stack. */
    g_assert_cmpstr(cpu, ==,
                    "outer:10+20 inner:12+3(outer) other thread:13+1 AllReduce:20+15 "
                    "start:22+1(AllReduce) launch:40+2 woven:41+2 ");
    static const uint8_t kinds[] = {MILL_CPU_OP,    MILL_CPU_OP,    MILL_CPU_OTHER,
                                    MILL_CPU_OTHER, MILL_CPU_OTHER, MILL_CPU_RUNTIME,
                                    MILL_CPU_OP};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        g_assert_cmpint(mill_u8(t, &t->cpu.kind, i), ==, kinds[i]);
    g_assert_cmpint(mill_i64(t, &t->cpu.external_id, 1), ==, 5);
    uint32_t stack = mill_u32(t, &t->cpu.thread, 0), async = mill_u32(t, &t->cpu.thread, 3);
    g_assert_cmpuint(stack, !=, async);
    g_assert_cmpint(mill_i64(t, &t->threads.tid, stack), ==, mill_i64(t, &t->threads.tid, async));
    g_assert_cmpuint(t->gpu.n, ==, 1);
    g_assert_cmpint(mill_i64(t, &t->gpu.dur, 0), ==, 10500);
    g_assert_cmpuint(mill_u32(t, &t->gpu.launch, 0), ==, 5);
    bench_destroy(b);

    b = reader("pairs.json", SETTINGS("cpu=no"));
    t = trace_of(b);
    g_assert_cmpuint(t->cpu.n, ==, 0);
    g_assert_cmpuint(t->gpu.n, ==, 1);
    bench_destroy(b);
    b = reader("pairs.json", SETTINGS("python=yes"));
    g_assert_cmpuint(trace_of(b)->cpu.n, ==, 8);
    bench_destroy(b);
    b = reader("pairs.json", SETTINGS("strict=yes"));
    assert_says(b, MILL_E_DATA, "pairs.json: line 16, byte 1148: unclosed-begin");
}

/* ---------------------------------------------------------------- collectives */

static void test_collectives(void) {
    bench *b = reader("collectives.json", NULL);
    const mill_trace *t = trace_of(b);
    const mill_collectives *c = &t->collectives;
    g_assert_cmpuint(c->n, ==, 6);
    static const struct {
        const char *operation, *kind, *dtype, *group, *ranks;
        int64_t in, out, bytes, size, sequence, peer;
    } right[] = {
        {"reduce_scatter_tensor_coalesced", "reduce-scatter", "Float8_e4m3fn", "12", NULL,
         MILL_UNKNOWN, MILL_UNKNOWN, 1, MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN},
        {"allreduce", "all-reduce", "Float", "1", "[0, 1, ..., 7]", 1024, 1024, 4, 8, 4,
         MILL_UNKNOWN},
        {"send", "send-recv", "Strange", NULL, "[0, 3]", MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN,
         MILL_UNKNOWN, MILL_UNKNOWN, 3},
        {"recv", "send-recv", NULL, NULL, NULL, MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN,
         MILL_UNKNOWN, MILL_UNKNOWN, 5},
        {"unknown \"op\"", NULL, NULL, NULL, NULL, MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN,
         MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN},
        {"allreduce", "all-reduce", NULL, NULL, NULL, MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN,
         MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        uint16_t kind = mill_u16(t, &c->kind, i);
        const char *words[] = {mill_string(t, mill_u32(t, &c->operation, i)),
                               kind == UINT16_MAX ? NULL : mill_text(t, &t->kinds, kind),
                               mill_string(t, mill_u32(t, &c->dtype, i)),
                               mill_string(t, mill_u32(t, &c->group, i)),
                               mill_string(t, mill_u32(t, &c->ranks, i))};
        g_assert_cmpstr(words[0], ==, right[i].operation);
        g_assert_cmpstr(words[1], ==, right[i].kind);
        g_assert_cmpstr(words[2], ==, right[i].dtype);
        g_assert_cmpstr(words[3], ==, right[i].group);
        g_assert_cmpstr(words[4], ==, right[i].ranks);
        g_assert_cmpint(mill_i64(t, &c->in_elems, i), ==, right[i].in);
        g_assert_cmpint(mill_i64(t, &c->out_elems, i), ==, right[i].out);
        g_assert_cmpint(mill_i64(t, &c->elem_bytes, i), ==, right[i].bytes);
        g_assert_cmpint(mill_i64(t, &c->group_size, i), ==, right[i].size);
        g_assert_cmpint(mill_i64(t, &c->sequence, i), ==, right[i].sequence);
        g_assert_cmpint(mill_i64(t, &c->peer, i), ==, right[i].peer);
    }
    /* One for each activity that has one, in their order. */
    static const uint32_t rows[] = {0, 1, MILL_NONE, 2, 3, 4, MILL_NONE, 5};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        g_assert_cmpuint(mill_u32(t, &t->gpu.collective, i), ==, rows[i]);
    g_assert_cmpstr(mill_gpu_kind(t, 5), ==, "all-gather"); /* no rule: its name tells */
    g_assert_cmpstr(mill_gpu_kind(t, 7), ==, "gemm");       /* no communication by its name */
    bench_destroy(b);
}

static void test_metadata_off(void) {
    bench *b = reader("collectives.json", SETTINGS("metadata=no"));
    const mill_trace *t = trace_of(b);
    g_assert_cmpuint(t->collectives.n, ==, 0);
    g_assert_cmpstr(mill_gpu_kind(t, 1), ==, "send-recv");
    bench_destroy(b);
}

/* ---------------------------------------------------------------- planes */

static void test_planes(void) {
    bench *b = reader("planes.json", NULL);
    const mill_trace *t = trace_of(b);
    static const struct {
        const char *name, *rule;
        mill_class cls;
    } right[] = {
        {"MatMulV2", "gemm", MILL_CLASS_COMPUTATION},
        {"hcom_allReduce__123_0_1", "other-communication", MILL_CLASS_COMMUNICATION},
        {"Notify_Wait", "ascend-communication", MILL_CLASS_COMMUNICATION},
        {"mul", "computation", MILL_CLASS_COMPUTATION},
        {"a \"quoted\" name", "computation", MILL_CLASS_COMPUTATION},
        {"of its own category", "computation", MILL_CLASS_COMPUTATION},
    };
    g_assert_cmpuint(t->gpu.n, ==, G_N_ELEMENTS(right));
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        uint32_t name = mill_u32(t, &t->gpu.name, i);
        g_assert_cmpstr(mill_name(t, name), ==, right[i].name);
        g_assert_cmpint(mill_name_class(t, name), ==, right[i].cls);
        g_assert_cmpstr(mill_text(t, &t->rules, mill_u16(t, &t->names.rule, name)), ==,
                        right[i].rule);
    }
    /* One device for all planes, but a stream of its own for each line. */
    uint32_t hardware = mill_u32(t, &t->gpu.stream, 0), wait = mill_u32(t, &t->gpu.stream, 2);
    g_assert_cmpuint(mill_u32(t, &t->streams.device, hardware), ==,
                     mill_u32(t, &t->streams.device, wait));
    g_assert_cmpuint(hardware, !=, wait);
    g_assert_cmpstr(mill_string(t, mill_u32(t, &t->streams.label, hardware)), ==, "Stream 3");
    g_autofree char *cpu = cpu_of(t);
    g_assert_cmpstr(cpu, ==, "AscendCL@aclrtMemcpy:990+5 mul:1190+8 ");
    g_assert_cmpint(mill_u8(t, &t->cpu.kind, 0), ==, MILL_CPU_RUNTIME);
    bench_destroy(b);

    b = reader("planes.json", SETTINGS("planes=off"));
    t = trace_of(b);
    g_assert_cmpuint(t->gpu.n, ==, 1);
    g_assert_cmpuint(t->cpu.n, ==, 0);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- points */

static void test_points(void) {
    bench *b = reader("points.json", SETTINGS("counters=yes", "memory=yes", "flows=yes"));
    const mill_trace *t = trace_of(b);
    static const struct {
        const char *name;
        int64_t time;
        double value;
    } counters[] = {
        {"utilization[2]", 10000, 1},
        {"utilization", 20000, 85.5},
        {"utilization memory", 20000, -1000},
        {"[memory] Bytes (Device Type 1, Device Id 1)", 35000, -512},
        {"[memory] Total Allocated (Device Type 1, Device Id 1)", 35000, 2048},
        {"[memory] Total Reserved (Device Type 1, Device Id 1)", 35000, 0},
    };
    g_assert_cmpuint(t->counters.n, ==, G_N_ELEMENTS(counters));
    for (size_t i = 0; i < G_N_ELEMENTS(counters); i++) {
        g_assert_cmpstr(mill_name(t, mill_u32(t, &t->counters.name, i)), ==, counters[i].name);
        g_assert_cmpint(mill_i64(t, &t->counters.time, i), ==, counters[i].time);
        g_assert_cmpfloat(mill_f64(t, &t->counters.value, i), ==, counters[i].value);
    }
    static const struct {
        int64_t id, time;
        int end;
    } flows[] = {{4, 29500, 2}, {4, 31000, 0}, {MILL_UNKNOWN, 33000, 1}};
    g_assert_cmpuint(t->flows.n, ==, G_N_ELEMENTS(flows));
    for (size_t i = 0; i < G_N_ELEMENTS(flows); i++) {
        g_assert_cmpint(mill_i64(t, &t->flows.id, i), ==, flows[i].id);
        g_assert_cmpint(mill_i64(t, &t->flows.time, i), ==, flows[i].time);
        g_assert_cmpint(mill_u8(t, &t->flows.end, i), ==, flows[i].end);
    }
    g_autofree char *cpu = cpu_of(t);
    g_assert_cmpstr(cpu, ==, "aten::empty:30+10 [memory]:35+0(aten::empty) ");
    g_assert_cmpint(mill_u8(t, &t->cpu.kind, 1), ==, MILL_CPU_MEMORY);
    g_assert_cmpstr(mill_string(t, mill_u32(t, &t->diagnostics.kind, 1)), ==, "no-time");
    g_assert_cmpuint(mill_u64(t, &t->diagnostics.count, 1), ==, 2);
    bench_destroy(b);

    b = reader("points.json", SETTINGS("memory=yes", "cpu=no"));
    t = trace_of(b);
    g_assert_cmpuint(t->counters.n, ==, 3);
    g_assert_cmpuint(t->cpu.n, ==, 0);
    g_assert_cmpuint(t->flows.n, ==, 0);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- rules */

static void test_bad_rules(void) {
    static const struct {
        const char *option, *text, *words;
    } bad[] = {
        {"collective-rules", "[a]\nmatch = x\n", ":1: [a] has no kind"},
        {"collective-rules", "[a]\nclass = other\n", ":2: unknown key \"class\""},
        {"collective-rules", "[a]\nmatch = (\nkind = x\n", ":2: match: not a regular expression"},
        {"plane-rules", "[a]\nmatch = x\n", ":1: [a] has no category"},
        {"plane-rules", "[a]\ncategory = gpu\n", ":2: category = \"gpu\": expected kernel"},
        {"plane-rules", "[a]\nkind = x\n", ":2: unknown key \"kind\""},
    };
    g_autofree char *folder = g_dir_make_tmp("tracemill-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "rules.ini", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        FILE *f = g_fopen(path, "w");
        g_assert_nonnull(f);
        fputs(bad[i].text, f);
        g_assert_cmpint(fclose(f), ==, 0);
        g_autofree char *setting = g_strconcat(bad[i].option, "=", path, NULL);
        assert_says(reader("no-bracket.json", SETTINGS(setting)), MILL_E_CONFIG, bad[i].words);
    }
    g_remove(path);
    g_rmdir(folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kineto/shapes/pairs", test_pairs);
    g_test_add_func("/kineto/shapes/collectives", test_collectives);
    g_test_add_func("/kineto/shapes/metadata-off", test_metadata_off);
    g_test_add_func("/kineto/shapes/planes", test_planes);
    g_test_add_func("/kineto/shapes/points", test_points);
    g_test_add_func("/kineto/shapes/bad-rules", test_bad_rules);
    return g_test_run();
}
