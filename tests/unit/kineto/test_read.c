/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class as a whole: columns, containers, rules, options, and its messages. */
#include "bench_host.h"

#include <glib/gstdio.h>
#include <isa-l/igzip_lib.h>
#include <string.h>
#include <sys/stat.h>
#include <tracemill/trace.h>

static char *folder; /* for files of this run */

static bench *reader(const char *path) {
    bench *b = bench_create(bench_open("plugins/readers/kineto/kineto.so"), "kineto.read");
    g_autofree char *setting = g_strconcat("path=", path, NULL);
    bench_option(b, setting);
    return b;
}

/* Of our own cases. */
static bench *reader_of_case(const char *file) {
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests/data/cases", file, NULL);
    return reader(path);
}

static const mill_trace *trace_of(bench *b) {
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_trace *t = bench_output(b, "trace", 0);
    g_assert_nonnull(t);
    return t;
}

/* Without g_file_set_contents, which waits for the disk. */
static char *write_file(const char *name, const void *data, size_t length) {
    char *path = g_build_filename(folder, name, NULL);
    FILE *f = g_fopen(path, "wb");
    g_assert_nonnull(f);
    g_assert_cmpuint(fwrite(data, 1, length, f), ==, length);
    g_assert_cmpint(fclose(f), ==, 0);
    return path;
}

static void assert_says(bench *b, mill_status status, const char *words) {
    g_assert_cmpint(bench_run(b), ==, status);
    if (!strstr(bench_causes(b), words))
        g_error("\"%s\" does not say \"%s\"", bench_causes(b), words);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- columns */

static void test_odd_types(void) {
    bench *b = reader_of_case("odd-types.json");
    const mill_trace *t = trace_of(b);
    const mill_gpu *g = &t->gpu;
    g_assert_cmpuint(g->n, ==, 4);
    g_assert_cmpint(mill_i64(t, &g->start, 0), ==, 100500);
    g_assert_cmpint(mill_i64(t, &g->dur, 0), ==, 10000);
    g_assert_cmpint(mill_i64(t, &g->correlation, 0), ==, -1); /* 2^64 - 1 wraps */
    g_assert_cmpint(mill_i64(t, &g->grid, 0), ==, 24);
    g_assert_cmpint(mill_i64(t, &g->block, 0), ==, MILL_UNKNOWN);
    g_assert_cmpint(mill_i64(t, &g->bytes, 0), ==, 64);
    g_assert_cmpint(mill_i64(t, &g->grid, 1), ==, MILL_UNKNOWN);
    g_assert_cmpint(mill_i64(t, &g->correlation, 1), ==, MILL_UNKNOWN);
    g_assert_cmpstr(mill_name(t, mill_u32(t, &g->name, 1)), ==, "last");
    g_assert_cmpstr(mill_name(t, mill_u32(t, &g->name, 3)), ==, "void gemm<8>()");
    uint32_t word = mill_u32(t, &g->stream, 2);
    g_assert_cmpint(mill_i64(t, &t->streams.id, word), ==, MILL_UNKNOWN);
    g_assert_cmpstr(mill_string(t, mill_u32(t, &t->streams.label, word)), ==, "left");
    bench_destroy(b);
}

/* Keys and phases may be written with escapes; a phase that is a NUL is no begin or end. */
static void test_escaped(void) {
    static const char text[] =
        "{\"trace\\u0045vents\": ["
        "{\"p\\u0068\": \"\\u0058\", \"cat\": \"k\\u0065rnel\", \"name\": \"k\", "
        "\"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 2}, "
        "{\"ph\": \"\0\", \"name\": \"n\"}]}";
    g_autofree char *path = write_file("escaped.json", text, sizeof text - 1);
    bench *b = reader(path);
    const mill_trace *t = trace_of(b);
    g_assert_cmpuint(t->events, ==, 2);
    g_assert_cmpuint(t->gpu.n, ==, 1);
    g_assert_cmpuint(t->diagnostics.n, ==, 0);
    bench_destroy(b);
}

/* A job that was not set up. */
static void test_no_job(void) {
    static const char text[] =
        "{\"distributedInfo\": {\"rank\": -1, \"world_size\": 0}, \"traceEvents\": []}";
    g_autofree char *path = write_file("no-job.json", text, sizeof text - 1);
    bench *b = reader(path);
    g_assert_cmpint(trace_of(b)->rank, ==, MILL_UNKNOWN);
    g_assert_cmpint(trace_of(b)->world_size, ==, MILL_UNKNOWN);
    bench_destroy(b);
}

static void test_facts(void) {
    bench *b = reader_of_case("facts-last.json");
    const mill_trace *t = trace_of(b);
    g_assert_cmpint(t->rank, ==, 5);
    g_assert_cmpint(t->world_size, ==, 8);
    g_assert_cmpint(t->base_ns, ==, G_GINT64_CONSTANT(1700000000000000000));
    g_assert_cmpuint(t->events, ==, 4);
    g_assert_cmpuint(t->devices.n, ==, 2);
    g_assert_cmpint(mill_i64(t, &t->devices.sms, 0), ==, 132);
    g_assert_cmpint(mill_i64(t, &t->devices.sms, 1), ==, MILL_UNKNOWN);
    g_assert_null(mill_string(t, mill_u32(t, &t->devices.name, 0)));
    g_assert_cmpstr(mill_string(t, mill_u32(t, &t->devices.name, 1)), ==, "B");
    g_assert_cmpstr(mill_string(t, mill_u32(t, &t->threads.process, 0)), ==, "python");
    g_assert_cmpstr(mill_string(t, mill_u32(t, &t->threads.name, 0)), ==, "main");
    g_assert_cmpstr(mill_string(t, mill_u32(t, &t->streams.label, 0)), ==, "stream 7");
    bench_destroy(b);
}

static void test_launches(void) {
    bench *b = reader_of_case("launches.json");
    const mill_trace *t = trace_of(b);
    static const struct {
        const char *kernel, *call;
    } right[] = {{"a", "cudaGraphLaunch"},
                 {"b", "cudaGraphLaunch"},
                 {"c", "cuLaunchKernelEx"},
                 {"d", "hipExtModuleLaunchKernel"},
                 {"e", NULL},
                 {"f", NULL},
                 {"g", NULL}};
    for (uint64_t i = 0; i < t->gpu.n; i++) {
        const char *kernel = mill_name(t, mill_u32(t, &t->gpu.name, i));
        uint32_t launch = mill_u32(t, &t->gpu.launch, i);
        const char *call =
            launch == MILL_NONE ? NULL : mill_name(t, mill_u32(t, &t->cpu.name, launch));
        g_assert_cmpstr(call, ==, right[kernel[0] - 'a'].call);
    }
    g_assert_cmpstr(mill_name(t, mill_u32(t, &t->cpu.name, 0)), ==, "aten::mm");
    for (uint32_t i = 1; i < 4; i++) /* the calls inside it; the last one starts after it */
        g_assert_cmpuint(mill_u32(t, &t->cpu.parent, i), ==, 0);
    g_assert_cmpuint(mill_u32(t, &t->cpu.parent, 4), ==, MILL_NONE);
    bench_destroy(b);
}

/* Kinds are numbered as the rules are, whatever the file begins with. */
static void test_kinds_order(void) {
    bench *one = reader_of_case("collectives.json"), *other = reader_of_case("planes.json");
    const mill_trace *t = trace_of(one), *u = trace_of(other);
    g_assert_cmpuint(t->kinds.n, >, 0);
    g_assert_cmpuint(t->kinds.n, ==, u->kinds.n);
    for (uint32_t i = 0; i < t->kinds.n; i++)
        g_assert_cmpstr(mill_text(t, &t->kinds, i), ==, mill_text(u, &u->kinds, i));
    bench_destroy(one);
    bench_destroy(other);
}

static void test_cpu_options(void) {
    bench *b = reader_of_case("launches.json");
    bench_option(b, "cpu=no");
    const mill_trace *t = trace_of(b);
    g_assert_cmpuint(t->cpu.n, ==, 0);
    g_assert_cmpuint(t->gpu.n, ==, 7);
    for (uint64_t i = 0; i < t->gpu.n; i++)
        g_assert_cmpuint(mill_u32(t, &t->gpu.launch, i), ==, MILL_NONE);
    bench_destroy(b);

    static const char python[] = "[{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"f\", "
                                 "\"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 2}]";
    g_autofree char *path = write_file("python.json", python, sizeof python - 1);
    for (int on = 0; on < 2; on++) {
        b = reader(path);
        bench_option(b, on ? "python=yes" : "python=no");
        g_assert_cmpuint(trace_of(b)->cpu.n, ==, (uint64_t)on);
        bench_destroy(b);
    }
}

static void test_max_overlap(void) {
    bench *b = reader_of_case("timers.json");
    bench_option(b, "max-overlap=2s");
    const mill_trace *t = trace_of(b);
    for (uint64_t i = 0; i < t->diagnostics.n; i++)
        g_assert_cmpstr(mill_string(t, mill_u32(t, &t->diagnostics.kind, i)), !=, "clipped-timer");
    bench_destroy(b);
}

/* ---------------------------------------------------------------- containers */

static GString *many_events(int n) {
    GString *text = g_string_new("{\"traceEvents\": [\n");
    for (int i = 0; i < n; i++)
        g_string_append_printf(
            text,
            "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k%d\", \"pid\": 0, "
            "\"tid\": 7, \"ts\": %d, \"dur\": 1, \"args\": {\"stream\": 7}}",
            i ? ",\n" : "", i * 7919 % 101, (n - i) * 10);
    g_string_append(text, "\n]}\n");
    return text;
}

static void add_member(GByteArray *to, const char *text, size_t length) {
    struct isal_zstream z;
    isal_deflate_stateless_init(&z);
    g_autofree uint8_t *out = g_malloc(length + 1024);
    z.next_in = (uint8_t *)text;
    z.avail_in = (uint32_t)length;
    z.next_out = out;
    z.avail_out = (uint32_t)length + 1024;
    z.end_of_stream = 1;
    z.gzip_flag = IGZIP_GZIP;
    g_assert_cmpint(isal_deflate_stateless(&z), ==, COMP_OK);
    g_byte_array_append(to, out, z.total_out);
}

/* The text as gzip members of `piece` bytes. */
static GByteArray *gzip(const GString *text, size_t piece) {
    GByteArray *to = g_byte_array_new();
    for (size_t at = 0; at < text->len; at += piece)
        add_member(to, text->str + at, MIN(piece, text->len - at));
    return to;
}

static void assert_same(const mill_trace *a, const mill_trace *b) {
    g_assert_cmpuint(a->gpu.n, ==, b->gpu.n);
    for (uint64_t i = 0; i < a->gpu.n; i++) {
        g_assert_cmpint(mill_i64(a, &a->gpu.start, i), ==, mill_i64(b, &b->gpu.start, i));
        g_assert_cmpuint(mill_u32(a, &a->gpu.name, i), ==, mill_u32(b, &b->gpu.name, i));
    }
}

/* Members end anywhere in the chunks that the file is read by. */
static void test_gzip(void) {
    g_autoptr(GString) text = many_events(70000); /* two segments of rows, about 7 MB */
    g_autofree char *plain = write_file("plain.json", text->str, text->len);
    bench *a = reader(plain);
    const mill_trace *right = trace_of(a);
    g_assert_cmpuint(right->gpu.n, ==, 70000);
    g_assert_cmpuint(right->bytes, ==, text->len);
    static const size_t pieces[] = {997, 131072, SIZE_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(pieces); i++) {
        g_autoptr(GByteArray) packed = gzip(text, MIN(pieces[i], text->len));
        g_autofree char *path = write_file("packed.json", packed->data, packed->len);
        bench *b = reader(path);
        const mill_trace *t = trace_of(b);
        g_assert_cmpuint(t->diagnostics.n, ==, 0);
        assert_same(right, t);
        bench_destroy(b);
    }
    bench_destroy(a);
}

static bool has_diagnostic(const mill_trace *t, const char *kind) {
    for (uint64_t i = 0; i < t->diagnostics.n; i++)
        if (!strcmp(mill_string(t, mill_u32(t, &t->diagnostics.kind, i)), kind))
            return true;
    return false;
}

/* Cut at any byte: what is whole is kept, and it is said. */
static void test_gzip_cut(void) {
    g_autoptr(GString) text = many_events(300);
    g_autoptr(GByteArray) packed = gzip(text, 3000);
    uint64_t before = 0;
    for (size_t length = 1; length < packed->len; length += 13) {
        g_autofree char *path = write_file("cut.json.gz", packed->data, length);
        bench *b = reader(path);
        mill_status status = bench_run(b);
        const mill_trace *t = bench_output(b, "trace", 0);
        if (status == MILL_OK) {
            g_assert_cmpint(t->complete, ==, 0);
            g_assert_cmpuint(t->events, >=, before);
            before = t->events;
        } else {
            g_assert_cmpint(status, ==, MILL_E_DATA);
            g_assert_cmpuint(before, ==, 0);
            g_assert_null(t);
        }
        bench_destroy(b);
    }
    g_assert_cmpuint(before, >, 250);
}

static void test_gzip_damage(void) {
    g_autoptr(GString) text = many_events(300);
    g_autoptr(GByteArray) packed = gzip(text, text->len);
    g_byte_array_append(packed, (const guint8 *)"rubbish", 7);
    g_autofree char *trailing = write_file("trailing.gz", packed->data, packed->len);
    bench *b = reader(trailing);
    const mill_trace *t = trace_of(b);
    g_assert_true(has_diagnostic(t, "trailing-container"));
    g_assert_cmpint(t->complete, ==, 1);
    g_assert_cmpuint(t->events, ==, 300);
    bench_destroy(b);

    packed->data[packed->len - 7 - 8] ^= 1; /* of the checksum */
    g_autofree char *corrupt = write_file("corrupt.gz", packed->data, packed->len);
    b = reader(corrupt);
    t = trace_of(b);
    g_assert_true(has_diagnostic(t, "corrupt-container"));
    g_assert_cmpint(t->complete, ==, 0);
    g_assert_cmpuint(t->events, ==, 300);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- rules */

static mill_class class_of(const mill_trace *t, const char *name, const char **ret_kind) {
    for (uint32_t i = 0; i < t->names.texts.n; i++)
        if (!strcmp(mill_name(t, i), name)) {
            *ret_kind = mill_name_kind(t, i);
            return mill_name_class(t, i);
        }
    g_error("no name \"%s\"", name);
}

static void test_user_rules(void) {
    static const char rules[] = "[mine]\nmatch =\n  ^gemm_b$\n  ^no such\nclass = communication\n"
                                "kind = mine\n[quiet]\nmatch = nccl\nclass = other\n";
    g_autofree char *path = write_file("rules.ini", rules, sizeof rules - 1);
    g_autofree char *setting = g_strconcat("rules=", path, NULL);
    bench *b = reader_of_case("no-bracket.json");
    bench_option(b, setting);
    const mill_trace *t = trace_of(b);
    const char *kind;
    g_assert_cmpint(class_of(t, "gemm_a", &kind), ==, MILL_CLASS_COMPUTATION);
    g_assert_cmpstr(kind, ==, "gemm");
    g_assert_cmpint(class_of(t, "gemm_b", &kind), ==, MILL_CLASS_COMMUNICATION);
    g_assert_cmpstr(kind, ==, "mine");
    g_assert_cmpint(class_of(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", &kind), ==,
                    MILL_CLASS_OTHER);
    g_assert_cmpstr(mill_text(t, &t->rules, 0), ==, "mine");
    g_assert_cmpstr(mill_text(t, &t->rules, 1), ==, "quiet");
    bench_destroy(b);
}

/* Names that must and must not be communication by the rules that come with the program, and what
 * sort of computation the others are. */
static void test_default_rules(void) {
    static const struct {
        const char *name, *cat;
        mill_class cls;
        const char *kind;
    } right[] = {
        {"Memset (Device)", "gpu_memset", MILL_CLASS_MEMORY, NULL},
        {"Memcpy PtoP (Device -> Device)", "gpu_memcpy", MILL_CLASS_COMMUNICATION, "p2p-copy"},
        {"Memcpy DtoD (Device -> Device)", "gpu_memcpy", MILL_CLASS_MEMORY, NULL},
        {"MEMORY_COPY_DEVICE_TO_HOST", "kernel", MILL_CLASS_MEMORY, NULL},
        {"__amd_rocclr_fillBufferAligned.kd", "kernel", MILL_CLASS_MEMORY, NULL},
        {"triton_red_fused_all_reduce_nccl_0", "kernel", MILL_CLASS_COMPUTATION, "elementwise"},
        {"ncclDevKernel_ReduceScatter_Sum_bf16", "kernel", MILL_CLASS_COMMUNICATION,
         "reduce-scatter"},
        {"NCCLKERNEL_ALLGATHER_RING", "kernel", MILL_CLASS_COMMUNICATION, "all-gather"},
        {"ncclDevKernel_Generic_1", "kernel", MILL_CLASS_COMMUNICATION, "other"},
        {"void deep_ep::internode::dispatch<false>(int)", "kernel", MILL_CLASS_COMMUNICATION,
         "dispatch"},
        {"deep_ep::intranode::cached_notify_combine<8>", "kernel", MILL_CLASS_COMMUNICATION,
         "notify"},
        {"deep_ep::dispatch_copy_epilogue_impl", "kernel", MILL_CLASS_COMPUTATION, NULL},
        {"deep_ep::internode::get_dispatch_layout<256>", "kernel", MILL_CLASS_COMMUNICATION,
         "layout"},
        {"type_specialized_broadcast_kernel_launcher", "kernel", MILL_CLASS_COMPUTATION,
         "elementwise"},
        {"cutlass::gemm::collective::CollectiveMma", "kernel", MILL_CLASS_COMPUTATION, "gemm"},
        {"kernel_gemm_rs_producer_fuse_scatter", "kernel", MILL_CLASS_COMPUTATION, "gemm"},
        {"triton_tem_fused_mm_relu_3", "kernel", MILL_CLASS_COMPUTATION, "gemm"},
        {"triton_per_fused_native_layer_norm_0", "kernel", MILL_CLASS_COMPUTATION, "norm"},
        {"triton__0d1d2d3de", "kernel", MILL_CLASS_COMPUTATION, NULL},
        {"vllm::act_and_mul_kernel<c10::BFloat16>", "kernel", MILL_CLASS_COMPUTATION, "activation"},
        {"_matmul_ogs_NNT_bf16_16x128_swiglu", "kernel", MILL_CLASS_COMPUTATION, "grouped_gemm"},
        {"flash_fwd_splitkv_kernel", "kernel", MILL_CLASS_COMPUTATION, "attention"},
        {"vllm::reshape_and_cache_flash_kernel", "kernel", MILL_CLASS_COMPUTATION, "copy"},
        {"sm80_xmma_wgrad_implicit_gemm_indexed_tf32", "kernel", MILL_CLASS_COMPUTATION,
         "convolution"},
        {"volta_scudnn_128x64_relu_small_nn_v1", "kernel", MILL_CLASS_COMPUTATION, "convolution"},
        {"ampere_fp16_s16816gemm_fp16_128x128_relu", "kernel", MILL_CLASS_COMPUTATION, "gemm"},
        {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", "kernel", MILL_CLASS_COMPUTATION, "gemm"},
        {"Cijk_Ailk_Bjlk_SB_Bias_AS_SAV", "kernel", MILL_CLASS_COMPUTATION, "gemm"},
        {"aiter::add_rmsnorm_quant_kernel", "kernel", MILL_CLASS_COMPUTATION, "norm"},
        {"vllm::rotary_embedding_kernel", "kernel", MILL_CLASS_COMPUTATION, "rope"},
        {"vllm::moe::topkGatingSoftmax", "kernel", MILL_CLASS_COMPUTATION, "router"},
        {"scaled_masked_softmax_warp_forward", "kernel", MILL_CLASS_COMPUTATION, "softmax"},
        {"at::native::multi_tensor_apply_kernel", "kernel", MILL_CLASS_COMPUTATION, "optimizer"},
    };
    g_autoptr(GString) text = g_string_new("[");
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++)
        g_string_append_printf(text,
                               "{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": 0, "
                               "\"tid\": 7, \"ts\": 1, \"dur\": 1},",
                               right[i].cat, right[i].name);
    g_autofree char *path = write_file("names.json", text->str, text->len);
    bench *b = reader(path);
    const mill_trace *t = trace_of(b);
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        const char *kind;
        g_test_message("%s", right[i].name);
        g_assert_cmpint(class_of(t, right[i].name, &kind), ==, right[i].cls);
        g_assert_cmpstr(kind, ==, right[i].kind);
    }
    bench_destroy(b);
}

static void test_bad_rules(void) {
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"[a]\nclas = other\n", "rules.ini:2: unknown key \"clas\""},
        {"[a]\nclass = fast\n", "rules.ini:2: class = \"fast\": expected computation"},
        {"[a]\ncategory = cpu_op\nclass = other\n", "rules.ini:2: category = \"cpu_op\""},
        {"[a]\nmatch = (\nclass = other\n", "rules.ini:2: match: not a regular expression"},
        {"[a]\nkind = x\n[b]\nclass = other\n", "rules.ini:1: [a] has no class"},
        {"\n[a]\n", "rules.ini:2: [a] has no class"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *path = write_file("rules.ini", bad[i].text, strlen(bad[i].text));
        g_autofree char *setting = g_strconcat("rules=", path, NULL);
        bench *b = reader_of_case("no-bracket.json");
        bench_option(b, setting);
        assert_says(b, MILL_E_CONFIG, bad[i].words);
    }
    bench *b = reader_of_case("no-bracket.json");
    bench_option(b, "kernel-rules=/nonexistent/rules.ini");
    assert_says(b, MILL_E_NOINPUT, "/nonexistent/rules.ini");
}

/* ---------------------------------------------------------------- messages */

static void test_strict(void) {
    bench *b = reader_of_case("broken-event.json");
    bench_option(b, "strict=yes");
    assert_says(b, MILL_E_DATA, "broken-event.json: line 3, byte 297: malformed (the first of 2)");
    b = reader_of_case("cut.json");
    bench_option(b, "strict=yes");
    assert_says(b, MILL_E_DATA, "cut.json: line 4, byte 542: truncated (the first of 1)");
    b = reader_of_case("escapes.json"); /* nothing is lost there */
    bench_option(b, "strict=yes");
    trace_of(b);
    bench_destroy(b);
}

static void test_refused(void) {
    static const struct {
        const char *text;
        size_t length;
        const char *words;
    } bad[] = {
        {"", 0, "the file is empty"},
        {"hello", 5, "no JSON begins here"},
        {"{\"a\": 1}", 8, "has no traceEvents"},
        {"[{\"ph\": \"X\", \"na", 16, "No event is whole"},
        {"[1, 2, 3]", 9, "No event is whole"},
        {"PK\3\4 and more", 12, "the archive holds no trace"},
        {"\x28\xb5\x2f\xfd and more", 12, "is damaged here"},
        {"BZh91AY and more", 16, "compressed with bzip2"},
        {"\x1f\x8b\x08\x00\x00", 5, "ends too early"},
        {"\x1f\x8b\xff\xff and more", 12, "is damaged here"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *path = write_file("bad.json", bad[i].text, bad[i].length);
        assert_says(reader(path), MILL_E_DATA, bad[i].words);
    }
    assert_says(reader("/nonexistent.json"), MILL_E_NOINPUT, "can't open");
    assert_says(reader(folder), MILL_E_NOINPUT, "can't read: Is a directory");
}

static void test_max_event(void) {
    g_autoptr(GString) text = g_string_new("[{\"ph\": \"X\", \"name\": \"");
    for (int i = 0; i < 100000; i++)
        g_string_append_c(text, 'n');
    g_string_append(text, "\"}]");
    g_autofree char *path = write_file("large.json", text->str, text->len);
    bench *b = reader(path);
    g_assert_cmpuint(trace_of(b)->events, ==, 1);
    bench_destroy(b);
    b = reader(path);
    bench_option(b, "max-event=64KiB");
    assert_says(b, MILL_E_DATA, "larger than max-event (65536 bytes)");
}

/* Wherever it is asked to. */
static void test_cancel(void) {
    mill_status status = MILL_E_CANCELLED;
    for (unsigned n = 1; status != MILL_OK; n++) {
        g_assert_cmpuint(n, <, 100);
        bench *b = reader_of_case("no-bracket.json");
        bench_cancel_at(b, n);
        status = bench_run(b);
        g_assert_true(status == MILL_E_CANCELLED || (status == MILL_OK && n > 2));
        bench_destroy(b);
    }
}

/* ---------------------------------------------------------------- pipes */

static char *make_pipe(void) {
    char *path = g_build_filename(folder, "pipe", NULL);
    g_remove(path);
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    return path;
}

static gpointer write_pipe(gpointer path) {
    FILE *f = g_fopen(path, "wb");
    g_assert_nonnull(f);
    g_assert_cmpint(fputs("[1, 2, 3]", f), >=, 0);
    g_assert_cmpint(fclose(f), ==, 0);
    return NULL;
}

/* A message can't tell the line, since the text can't be read a second time; to try would wait. */
static void test_pipe(void) {
    g_autofree char *path = make_pipe();
    GThread *writer = g_thread_new("writer", write_pipe, path);
    assert_says(reader(path), MILL_E_DATA, "pipe: byte 1: malformed (the first of 1)");
    g_thread_join(writer);
}

/* Nobody ever writes: it ends all the same when it is asked to. */
static void test_pipe_silent(void) {
    g_autofree char *path = make_pipe();
    bench *b = reader(path);
    bench_cancel_at(b, 3);
    g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
    bench_destroy(b);
}

static void remove_folder(void) {
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_remove(path);
    }
    g_dir_close(dir);
    g_rmdir(folder);
    g_free(folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("kineto-XXXXXX", NULL);
    g_test_add_func("/kineto/read/odd-types", test_odd_types);
    g_test_add_func("/kineto/read/escaped", test_escaped);
    g_test_add_func("/kineto/read/facts", test_facts);
    g_test_add_func("/kineto/read/no-job", test_no_job);
    g_test_add_func("/kineto/read/launches", test_launches);
    g_test_add_func("/kineto/read/kinds-order", test_kinds_order);
    g_test_add_func("/kineto/read/cpu-options", test_cpu_options);
    g_test_add_func("/kineto/read/max-overlap", test_max_overlap);
    g_test_add_func("/kineto/read/gzip", test_gzip);
    g_test_add_func("/kineto/read/gzip-cut", test_gzip_cut);
    g_test_add_func("/kineto/read/gzip-damage", test_gzip_damage);
    g_test_add_func("/kineto/read/user-rules", test_user_rules);
    g_test_add_func("/kineto/read/default-rules", test_default_rules);
    g_test_add_func("/kineto/read/bad-rules", test_bad_rules);
    g_test_add_func("/kineto/read/strict", test_strict);
    g_test_add_func("/kineto/read/refused", test_refused);
    g_test_add_func("/kineto/read/max-event", test_max_event);
    g_test_add_func("/kineto/read/cancel", test_cancel);
    g_test_add_func("/kineto/read/pipe", test_pipe);
    g_test_add_func("/kineto/read/pipe-silent", test_pipe_silent);
    int result = g_test_run();
    remove_folder();
    return result;
}
