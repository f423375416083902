/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `kernels` on small traces whose right values can be told by looking at them. */
#include "fixture.h"
#include "look.h"

#include <math.h>

#define COPY .cls = MILL_CLASS_MEMORY
#define US 1000

static const mill_module *module;

static bench *new_bench(void) {
    return bench_create(module, "kernels");
}

static const mill_report *report_of(bench *b, const fixture *f) {
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, f), "trace", "");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return bench_output(b, "report", 0);
}

static void test_names(void) {
    static const activity list[] = {
        {0, 7, 0, 10, "a", MILL_CLASS_COMPUTATION, .kind = "gemm"},
        {0, 7, 10, 30, "a", MILL_CLASS_COMPUTATION, .kind = "gemm"},
        {0, 7, 40, 40, "b", MILL_CLASS_COMPUTATION, .kind = "norm"},
        {0, 27, 0, 20, "c", MILL_CLASS_COMMUNICATION, .kind = "all-reduce"},
        {1, 7, 0, 5, "a", MILL_CLASS_COMPUTATION, .kind = "gemm"},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    bench_option(b, "top=2");
    const mill_report *r = report_of(b, &f);
    const mill_table *t = look_table(r, "top_kernels");
    g_assert_cmpuint(t->rows, ==, 3);                       /* two of device 0, one of device 1 */
    g_assert_cmpstr(look_cell(t, 0, "name").text, ==, "a"); /* as long as b, and before it */
    g_assert_cmpstr(look_cell(t, 1, "name").text, ==, "b");
    g_assert_cmpint(look_cell(t, 0, "n").i, ==, 2);
    g_assert_cmpint(look_cell(t, 0, "sum").i, ==, 40);
    g_assert_cmpint(look_cell(t, 0, "mean").i, ==, 20);
    g_assert_cmpint(look_cell(t, 0, "p50").i, ==, 10);
    g_assert_cmpfloat(look_cell(t, 0, "share").d, ==, 0.4);
    g_assert_cmpfloat(look_cell(t, 2, "share").d, ==, 1);
    g_assert_cmpint(look_int(r, "names", "device 0"), ==, 3);

    t = look_table(r, "kinds");
    g_assert_cmpuint(t->rows, ==, 4);
    int64_t row = look_row(t, 0, "kind", "norm");
    g_assert_cmpfloat(look_cell(t, row, "share_of_class").d, ==, 0.5);
    g_assert_cmpfloat(look_cell(t, row, "share").d, ==, 0.4);
    g_assert_cmpfloat(look_ratio(r, "gpu_busy", "device 0"), ==, 1);
    g_assert_cmpfloat(look_ratio(r, "comm_over_T", "device 0"), ==, 0.25);
    g_assert_false(look_has_figure(r, "sm_utilisation"));
    g_assert_nonnull(look_note(r, "sms_unknown"));
    g_assert_null(look_table(r, "copies"));
    g_assert_null(look_table(r, "cpu_threads"));
    bench_destroy(b);
}

/* People read a short name, the whole one stands beside it. */
static void test_short_names(void) {
    static const struct {
        const char *name, *shown;
    } names[] = {
        {"void f<1, g<2> >(int, int*)", "f<1, g<…> >"},
        {"gemm_kernel", "gemm_kernel"},
        {"Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
        {"std::enable_if<(((8)>(0))), void>::type v::norm<T, 8>(T*)", "v::norm<T, 8>"},
        {"void S::operator()(int)", "S::operator()"},
        {"void S::operator<<(int)", "S::operator<<"},
        {"void broken<(", "void broken<("},
        {"", ""},
    };
    activity list[G_N_ELEMENTS(names)] = {0};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        list[i] = (activity){.stream = 7,
                             .start = (int64_t)i * 100,
                             .dur = 100 - (int64_t)i,
                             .name = names[i].name,
                             .cls = MILL_CLASS_COMPUTATION};
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_table *t = look_table(report_of(b, &f), "top_kernels");
    g_assert_cmpuint(t->rows, ==, G_N_ELEMENTS(names));
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_assert_cmpstr(look_cell(t, (int64_t)i, "name").text, ==, names[i].name);
        g_assert_cmpstr(look_cell(t, (int64_t)i, "kernel").text, ==, names[i].shown);
    }
    bench_destroy(b);
}

/* A name of many bytes is cut between characters. */
static void test_long_name(void) {
    g_autoptr(GString) name = g_string_new("k");
    for (int i = 0; i < 200; i++)
        g_string_append(name, "é");
    const activity list[] = {{0, 7, 0, 10, name->str, MILL_CLASS_COMPUTATION}};
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const char *shown = look_cell(look_table(report_of(b, &f), "top_kernels"), 0, "kernel").text;
    g_assert_true(g_utf8_validate(shown, -1, NULL));
    g_assert_null(g_utf8_strchr(shown, -1, 0xfffd));
    g_assert_true(g_str_has_suffix(shown, "é…"));
    bench_destroy(b);
}

static void test_copies(void) {
    static const activity list[] = {
        {0, 7, 0, 100 * US, "gemm", MILL_CLASS_COMPUTATION},
        {0, 9, 90 * US, 20 * US, "Memcpy HtoD (Pinned -> Device)", COPY, .bytes = 40000},
        {0, 9, 110 * US, 20 * US, "Memcpy HtoD (Pinned -> Device)", COPY, .bytes = 40000},
        {0, 9, 130 * US, 0, "Memset (Device)", COPY, .bytes = 8},
        {0, 9, 140 * US, 5 * US, "Memcpy DtoH (Device -> Pageable)", COPY},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f);
    const mill_table *t = look_table(r, "copies");
    g_assert_cmpuint(t->rows, ==, 3);
    int64_t row = look_row(t, 0, "name", "Memcpy HtoD (Pinned -> Device)");
    g_assert_cmpint(look_cell(t, row, "n").i, ==, 2);
    g_assert_cmpint(look_cell(t, row, "bytes").i, ==, 80000);
    g_assert_cmpint(look_cell(t, row, "time").i, ==, 40 * US);
    g_assert_cmpfloat(look_cell(t, row, "rate").d, ==, 2);
    g_assert_cmpint(look_cell(t, row, "exposed").i, ==, 30 * US);
    row = look_row(t, 0, "name", "Memset (Device)");
    g_assert_cmpint(look_cell(t, row, "zero").i, ==, 1);
    g_assert_true(isnan(look_cell(t, row, "rate").d));
    row = look_row(t, 0, "name", "Memcpy DtoH (Device -> Pageable)");
    g_assert_cmpint(look_cell(t, row, "bytes").i, ==, MILL_UNKNOWN);
    g_assert_true(isnan(look_cell(t, row, "rate").d));
    g_assert_nonnull(look_note(r, "copies_floored"));
    bench_destroy(b);
}

/* Two kernels want 12 of 10 SMs for half of the time. */
static void test_sms(void) {
    static const activity list[] = {
        {0, 7, 0, 100, "a", MILL_CLASS_COMPUTATION, .grid = 8},
        {0, 9, 50, 100, "b", MILL_CLASS_COMPUTATION, .grid = 4},
    };
    fixture f = FIXTURE(list);
    f.sms = 10;
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f);
    g_assert_cmpint(look_int(r, "sm_crowded", NULL), ==, 50);
    g_assert_cmpfloat_with_epsilon(look_ratio(r, "sm_utilisation", NULL),
                                   (50. * 8 + 50 * 10 + 50 * 4) / (10 * 150), 1e-12);
    g_assert_cmpfloat_with_epsilon(look_ratio(r, "sm_efficiency_uncapped", NULL),
                                   (100. * 8 + 100 * 4) / (10 * 150), 1e-12);
    bench_destroy(b);
}

static void test_grids_unknown(void) {
    static const activity list[] = {
        {0, 7, 0, 100, "a", MILL_CLASS_COMPUTATION, .grid = 8},
        {0, 9, 50, 100, "b", MILL_CLASS_COMPUTATION},
    };
    fixture f = FIXTURE(list);
    f.sms = 10;
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f);
    g_assert_false(look_has_figure(r, "sm_utilisation"));
    g_assert_nonnull(look_note(r, "grids_unknown"));
    bench_destroy(b);
}

/* Thread 1 launches a barrier, then does nothing until it has ended; thread 2 only computes. */
static void test_threads(void) {
    static const activity list[] = {
        {0, 27, 100 * US, 800 * US, "barrier", MILL_CLASS_COMMUNICATION, .kind = "barrier"},
        {0, 27, 1000 * US, 10 * US, "send", MILL_CLASS_COMMUNICATION, .kind = "send-recv"},
    };
    static const slice slices[] = {
        {1, 0, 10 * US, "cudaLaunchKernel", MILL_CPU_RUNTIME, 1},
        {2, 0, 100 * US, "aten::add", MILL_CPU_OP, 0},
        {1, 950 * US, 10 * US, "cudaLaunchKernel", MILL_CPU_RUNTIME, 2},
        {1, 970 * US, 30 * US, "cudaDeviceSynchronize", MILL_CPU_RUNTIME, 0},
        {2, 990 * US, 10 * US, "aten::add", MILL_CPU_OP, 0},
    };
    fixture f = FIXTURE(list);
    f.slices = slices;
    f.n_slices = G_N_ELEMENTS(slices);
    bench *b = new_bench();
    const mill_table *t = look_table(report_of(b, &f), "cpu_threads");
    g_assert_cmpuint(t->rows, ==, 2);
    int64_t one = look_cell(t, 0, "tid").i == 1 ? 0 : 1;
    g_assert_cmpint(look_cell(t, one, "span").i, ==, 1000 * US);
    g_assert_cmpint(look_cell(t, one, "busy").i, ==, 20 * US);
    g_assert_cmpint(look_cell(t, one, "sync").i, ==, 30 * US);
    g_assert_cmpint(look_cell(t, one, "poll").i, ==, 940 * US);
    g_assert_cmpint(look_cell(t, one, "free").i, ==, 10 * US);
    g_assert_cmpint(look_cell(t, 1 - one, "poll").i, ==, 0);
    g_assert_cmpint(look_cell(t, 1 - one, "free").i, ==, 890 * US);
    bench_destroy(b);
}

static void test_empty(void) {
    fixture f = {.described_device = MILL_UNKNOWN};
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f);
    g_assert_cmpuint(r->n_tables, ==, 0);
    g_assert_cmpstr(r->summary, ==, "No device activity to tell of.");
    bench_destroy(b);
}

/* Without any length there is no share. */
static void test_no_length(void) {
    static const activity list[] = {{0, 7, 5, 0, "a", MILL_CLASS_COMPUTATION}};
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f);
    const mill_table *t = look_table(r, "top_kernels");
    g_assert_cmpint(look_cell(t, 0, "sum").i, ==, 0);
    g_assert_true(isnan(look_cell(t, 0, "share").d));
    g_assert_true(isnan(look_ratio(r, "gpu_busy", NULL)));
    bench_destroy(b);
}

static void test_cancelled(void) {
    static const activity list[] = {{0, 7, 0, 10, "a", MILL_CLASS_COMPUTATION}};
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &f), "trace", "");
    bench_cancel_at(b, 1);
    g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/kernels/kernels.so");
    g_test_add_func("/kernels/names", test_names);
    g_test_add_func("/kernels/short-names", test_short_names);
    g_test_add_func("/kernels/long-name", test_long_name);
    g_test_add_func("/kernels/copies", test_copies);
    g_test_add_func("/kernels/sms", test_sms);
    g_test_add_func("/kernels/grids-unknown", test_grids_unknown);
    g_test_add_func("/kernels/threads", test_threads);
    g_test_add_func("/kernels/empty", test_empty);
    g_test_add_func("/kernels/no-length", test_no_length);
    g_test_add_func("/kernels/cancelled", test_cancelled);
    return g_test_run();
}
