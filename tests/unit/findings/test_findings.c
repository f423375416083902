/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `findings` on small traces, one for each rule. */
#include "fixture.h"
#include "look.h"

#include <math.h>

#define GEMM .name = "gemm", .cls = MILL_CLASS_COMPUTATION
/* The kind is one of the name. */
#define COMM(kind_name) .name = kind_name, .cls = MILL_CLASS_COMMUNICATION, .kind = kind_name
#define US 1000

static const mill_module *module;

static bench *new_bench(void) {
    return bench_create(module, "findings");
}

static const mill_report *report_of(bench *b, const fixture *f, const mill_attribution *places) {
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, f), "trace", "");
    if (places)
        bench_input(b, "attribution", MILL_TYPE_ATTRIBUTION, places, "attribution", "");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return bench_output(b, "report", 0);
}

/* NULL: it is not there. */
static const mill_finding *finding(const mill_report *r, const char *id) {
    for (uint64_t i = 0; i < r->n_findings; i++)
        if (g_str_equal(r->findings[i]->id, id))
            return r->findings[i];
    return NULL;
}

static const char *verdict(const mill_report *r, const char *rule) {
    const mill_table *t = look_table(r, "rules");
    return look_cell(t, look_row(t, 0, "rule", rule), "verdict").text;
}

static void check(const mill_report *r, const char *id, int64_t cost, int64_t gain, int64_t at) {
    const mill_finding *f = finding(r, id);
    g_assert_nonnull(f);
    g_assert_cmpint(f->cost_ns, ==, cost);
    g_assert_cmpint(f->gain_ns, ==, gain);
    g_assert_cmpint(f->at_ns, ==, at);
}

/* Which side dominates, or none. */
static void test_dominant(void) {
    static const struct {
        int64_t comp, comm, start, gain; /* computation from 0, communication from `start` */
        const char *word;                /* NULL: no finding */
    } cases[] = {
        {100, 40, 60, 0, "compute-bound"},
        {40, 100, 0, 0, "communication-bound"},
        {10, 10, 90, 80, "mostly idle"},
        {40, 40, 60, 0, NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const activity list[] = {{0, 7, 0, cases[i].comp, GEMM},
                                 {0, 27, cases[i].start, cases[i].comm, COMM("all-reduce")}};
        fixture f = FIXTURE(list);
        bench *b = new_bench();
        const mill_report *r = report_of(b, &f, NULL);
        const mill_finding *g1 = finding(r, "G1_1");
        g_assert_true((g1 != NULL) == (cases[i].word != NULL));
        if (g1) {
            g_assert_nonnull(g_strstr_len(g1->evidence, -1, cases[i].word));
            g_assert_cmpint(g1->gain_ns, ==, cases[i].gain);
        }
        bench_destroy(b);
    }
}

/* Computation waits 30 µs for communication. */
static void test_waits(void) {
    static const activity list[] = {
        {0, 7, 1000, 50 * US, GEMM},
        {0, 27, 20 * US, 60 * US, COMM("all-reduce")},
        {0, 7, 81 * US, 20 * US, GEMM},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    check(r, "G2_1", 30 * US, 30 * US, 50 * US); /* at: from the window's start */
    g_assert_cmpstr(finding(r, "G2_1")->where, ==, "stream 7, before gemm");
    g_assert_cmpstr(verdict(r, "G3"), ==, "does not apply");
    g_assert_cmpstr(verdict(r, "G4"), ==, "does not apply");
    g_assert_cmpstr(verdict(r, "G10"), ==, "does not apply");
    bench_destroy(b);

    b = new_bench();
    bench_option(b, "min-gain=31");
    r = report_of(b, &f, NULL);
    g_assert_null(finding(r, "G2_1"));
    g_assert_cmpstr(verdict(r, "G2"), ==, "below min-gain");
    bench_destroy(b);
}

/* Each device counts from the start of its own window, and says when that is. */
static void test_clocks(void) {
    static const activity list[] = {
        {0, 7, 1000, 200 * US, GEMM},
        {1, 7, 20 * US, 50 * US, GEMM},
        {1, 27, 30 * US, 70 * US, COMM("all-reduce")},
        {1, 7, 101 * US, 20 * US, GEMM},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    check(r, "G2_1", 31 * US, 31 * US, 50 * US);
    g_assert_cmpint(finding(r, "G2_1")->at_base_ns, ==, 20 * US);
    bench_destroy(b);
}

/* Notifies of 10 and 40 µs; all but 100 µs of the window compute. */
static void test_skew(void) {
    static const activity list[] = {
        {0, 7, 0, 300 * US, GEMM},
        {0, 27, 0, 10 * US, COMM("notify")},
        {0, 27, 20 * US, 50 * US, COMM("dispatch")},
        {0, 27, 300 * US, 40 * US, COMM("notify")},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    check(r, "G3_1", 30 * US, 30 * US, MILL_UNKNOWN);
    bench_destroy(b);

    b = new_bench();
    bench_option(b, "notify-share=51");
    r = report_of(b, &f, NULL);
    g_assert_cmpstr(verdict(r, "G3"), ==, "below its threshold");
    bench_destroy(b);

    /* From layer 0 to layer 1 it becomes four times as long. */
    static const uint32_t place[] = {0, MILL_NONE, MILL_NONE, 1}; /* of rows by time */
    static const char *const stages[] = {"a", "b"};
    b = new_bench();
    bench_option(b, "notify-share=51");
    r = report_of(b, &f, fixture_places(b, place, G_N_ELEMENTS(place), stages, 2));
    g_assert_nonnull(finding(r, "G3_1"));
    bench_destroy(b);
}

/* Computation leaves at most 4 of 10 SMs while communication, which wants all, waits. */
static void test_crowded(void) {
    static const activity list[] = {
        {0, 27, 0, 100 * US, COMM("dispatch"), .grid = 4},
        {0, 7, 0, 200 * US, GEMM, .grid = 6},
        {0, 23, 90 * US, 100 * US, GEMM, .grid = 4},
        {0, 27, 260 * US, 400 * US, COMM("combine"), .grid = 10},
        {0, 7, 200 * US, 300 * US, GEMM, .grid = 6},
    };
    fixture f = FIXTURE(list);
    f.sms = 10;
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    check(r, "G4_1", 160 * US, 160 * US, 100 * US);
    bench_destroy(b);
}

/* Communication holds 2 of 10 SMs; for 60 of 100 µs a kernel of 8 blocks runs without it. */
static void test_reserved(void) {
    static const activity list[] = {
        {0, 27, 0, 40 * US, COMM("dispatch"), .grid = 2},
        {0, 7, 0, 100 * US, GEMM, .grid = 8},
    };
    fixture f = FIXTURE(list);
    f.sms = 10;
    bench *b = new_bench();
    check(report_of(b, &f, NULL), "G5_1", 12 * US, 12 * US, MILL_UNKNOWN);
    bench_destroy(b);
}

static void test_computation(void) {
    static const activity list[] = {
        {0, 7, 0, 80 * US, GEMM},
        {0, 7, 82 * US, 12 * US, .name = "cast", .cls = MILL_CLASS_COMPUTATION,
         .kind = "cast_transpose"},
        {0, 7, 98 * US, 5 * US, GEMM},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    check(r, "G6_1", 12 * US, 12 * US, MILL_UNKNOWN);
    check(r, "G7_1", 6 * US, 6 * US, MILL_UNKNOWN); /* pauses of 2 and 4 µs */
    g_assert_cmpstr(verdict(r, "G8"), ==, "below its threshold");
    bench_destroy(b);

    b = new_bench();
    bench_option(b, "cast-share=13");
    bench_option(b, "small-kernel=4us");
    r = report_of(b, &f, NULL);
    g_assert_cmpstr(verdict(r, "G6"), ==, "below its threshold");
    g_assert_cmpstr(verdict(r, "G7"), ==, "below its threshold");
    bench_destroy(b);
}

/* The second kernel is launched 60 µs after the first has ended. */
static void test_launches(void) {
    static const activity list[] = {{0, 7, 0, 40 * US, GEMM}, {0, 7, 105 * US, 40 * US, GEMM}};
    static const slice slices[] = {
        {1, -10 * US, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 1},
        {1, 100 * US, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 2},
    };
    fixture f = FIXTURE(list);
    f.slices = slices;
    f.n_slices = G_N_ELEMENTS(slices);
    bench *b = new_bench();
    check(report_of(b, &f, NULL), "G8_1", 60 * US, 60 * US, 40 * US);
    bench_destroy(b);
}

/* A poll only informs, however little it costs. */
static void test_polls(void) {
    static const activity list[] = {
        {0, 7, 0, 100000 * US, GEMM},
        {0, 27, 100 * US, 800 * US, COMM("notify")},
        {0, 27, 910 * US, 10 * US, COMM("dispatch")},
    };
    static const slice slices[] = {
        {1, 0, 10 * US, "cudaLaunchKernel", MILL_CPU_RUNTIME, 2},
        {1, 890 * US, 5 * US, "cudaLaunchKernel", MILL_CPU_RUNTIME, 3},
    };
    fixture f = FIXTURE(list);
    f.slices = slices;
    f.n_slices = G_N_ELEMENTS(slices);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    check(r, "G9_1", 10 * US, 10 * US, 10 * US);
    g_assert_cmpint(finding(r, "G9_1")->level, ==, MILL_INFO);
    bench_destroy(b);
}

/* Stage s runs in layers 0 to 3 for 10, 10, 10 and 20 µs: 30 µs less than if all took 20. */
static void test_layers(void) {
    static const uint32_t place[] = {0, 1, 2, 3};
    static const char *const stages[] = {"s", "s", "s", "s"};
    static const uint32_t stage[] = {0, 0, 0, 0};
    static const activity list[] = {
        {0, 7, 0, 10 * US, GEMM},
        {0, 7, 10 * US, 10 * US, GEMM},
        {0, 7, 20 * US, 10 * US, GEMM},
        {0, 7, 30 * US, 20 * US, GEMM},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    mill_attribution *places = fixture_places(b, place, G_N_ELEMENTS(place), stages, 4);
    places->stage = stage;
    const mill_report *r = report_of(b, &f, places);
    check(r, "G10_1", 30 * US, 30 * US, 30 * US);
    g_assert_cmpstr(finding(r, "G10_1")->where, ==, "s in layer 3");
    bench_destroy(b);

    b = new_bench();
    bench_option(b, "imbalance=1.7");
    places = fixture_places(b, place, G_N_ELEMENTS(place), stages, 4);
    places->stage = stage;
    r = report_of(b, &f, places);
    g_assert_cmpstr(verdict(r, "G10"), ==, "below its threshold");
    bench_destroy(b);
}

/* One operation in two layers: 60 µs beside communication, 30 µs without. */
static const mill_report *contended(bench *b, int64_t grid) {
    static const uint32_t place[] = {0, 0, 1};
    static const char *const stages[] = {"s", "s"};
    static const uint32_t stage[] = {0, 0};
    const activity list[] = {
        {0, 27, 0, 60 * US, COMM("dispatch")},
        {0, 7, 0, 60 * US, .name = "n", .cls = MILL_CLASS_COMPUTATION, .kind = "norm", .grid = 5},
        {0, 7, 100 * US, 30 * US, .name = "n", .cls = MILL_CLASS_COMPUTATION, .kind = "norm",
         .grid = grid},
    };
    fixture f = FIXTURE(list);
    mill_attribution *places = fixture_places(b, place, G_N_ELEMENTS(place), stages, 2);
    places->stage = stage;
    return report_of(b, &f, places);
}

static void test_contention(void) {
    bench *b = new_bench();
    const mill_report *r = contended(b, 5);
    check(r, "G11_1", 30 * US, 30 * US, MILL_UNKNOWN);
    g_assert_cmpint(look_int(r, "contention_with", NULL), ==, 60 * US);
    g_assert_cmpint(look_int(r, "contention_without", NULL), ==, 30 * US);
    g_assert_cmpint(look_int(r, "noise_ops", NULL), ==, 1);
    g_assert_cmpfloat_with_epsilon(look_ratio(r, "noise_max", NULL), 30. / 45, 1e-12);
    g_assert_cmpint(look_cell(look_table(r, "contention"), 0, "n_with").i, ==, 1);
    bench_destroy(b);

    /* Of another size, of a stage that varies, or too short: not compared. */
    static const char *const settings[] = {"top=1", "varying-stages=^s$", "min-op=61us"};
    static const int64_t grids[] = {6, 5, 5};
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
        b = new_bench();
        bench_option(b, settings[i]);
        r = contended(b, grids[i]);
        g_assert_cmpstr(verdict(r, "G11"), ==, "does not apply");
        g_assert_null(look_table(r, "contention"));
        bench_destroy(b);
    }
}

static void test_copies(void) {
    static const activity list[] = {
        {0, 7, 0, 100 * US, GEMM},
        {0, 9, 90 * US, 50 * US, "Memcpy HtoD (Pageable -> Device)", MILL_CLASS_MEMORY},
        {0, 9, 150 * US, 20 * US, "Memcpy DtoD (Device -> Device)", MILL_CLASS_MEMORY},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    check(r, "G12_1", 40 * US, 40 * US, 90 * US);
    g_assert_nonnull(g_strstr_len(finding(r, "G12_1")->evidence, -1, "1 of them are of pageable"));
    bench_destroy(b);
}

/* Devices are told apart. */
static void test_devices(void) {
    static const activity list[] = {
        {0, 7, 0, 50 * US, GEMM},
        {1, 7, 0, 50 * US, GEMM},
        {1, 7, 50 * US, 40 * US, .name = "cast", .cls = MILL_CLASS_COMPUTATION,
         .kind = "cast_transpose"},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    const mill_finding *g6 = finding(r, "G6_1");
    g_assert_cmpstr(g6->where, ==, "device 1");
    g_assert_null(finding(r, "G6_2"));
    g_assert_nonnull(finding(r, "G1_2"));
    bench_destroy(b);
}

static void test_empty(void) {
    fixture f = {.described_device = MILL_UNKNOWN};
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    g_assert_cmpuint(r->n_findings + r->n_tables, ==, 0);
    g_assert_cmpstr(r->summary, ==, "No device activity to check.");
    bench_destroy(b);
}

static void test_no_length(void) {
    static const activity list[] = {{0, 7, 5, 0, GEMM}};
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    g_assert_cmpuint(r->n_findings, ==, 0);
    g_assert_cmpint(look_int(r, "findings", NULL), ==, 0);
    static const char *const rules[] = {"G1", "G7", "G12"};
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        g_assert_cmpstr(verdict(r, rules[i]), ==, "does not apply");
    bench_destroy(b);
}

static void test_cancelled(void) {
    static const activity list[] = {{0, 7, 0, 10, GEMM}};
    fixture f = FIXTURE(list);
    mill_status status = MILL_E_CANCELLED;
    unsigned at = 0; /* the last look at `cancelled`, and one more, which none is */
    while (status == MILL_E_CANCELLED) {
        bench *b = new_bench();
        bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &f), "trace", "");
        bench_cancel_at(b, ++at);
        status = bench_run(b);
        bench_destroy(b);
    }
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(at, >, 4);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/findings/findings.so");
    g_test_add_func("/findings/dominant", test_dominant);
    g_test_add_func("/findings/waits", test_waits);
    g_test_add_func("/findings/clocks", test_clocks);
    g_test_add_func("/findings/skew", test_skew);
    g_test_add_func("/findings/crowded", test_crowded);
    g_test_add_func("/findings/reserved", test_reserved);
    g_test_add_func("/findings/computation", test_computation);
    g_test_add_func("/findings/launches", test_launches);
    g_test_add_func("/findings/polls", test_polls);
    g_test_add_func("/findings/layers", test_layers);
    g_test_add_func("/findings/contention", test_contention);
    g_test_add_func("/findings/copies", test_copies);
    g_test_add_func("/findings/devices", test_devices);
    g_test_add_func("/findings/empty", test_empty);
    g_test_add_func("/findings/no-length", test_no_length);
    g_test_add_func("/findings/cancelled", test_cancelled);
    return g_test_run();
}
