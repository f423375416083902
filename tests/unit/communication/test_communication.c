/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `communication` on small traces whose right values can be told by looking at
 * them. */
#include "fixture.h"
#include "look.h"

#include <math.h>

#define GEMM .name = "gemm", .cls = MILL_CLASS_COMPUTATION
/* The kind is one of the name. */
#define COMM(kind_name) .name = kind_name, .cls = MILL_CLASS_COMMUNICATION, .kind = kind_name
#define NCCL .name = "nccl", .cls = MILL_CLASS_COMMUNICATION
#define US 1000

static const mill_module *module;

static bench *new_bench(void) {
    return bench_create(module, "communication");
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

static void test_inventory(void) {
    static const activity list[] = {
        {0, 27, 0, 10, COMM("all-reduce"), .grid = 20},
        {0, 27, 10, 30, COMM("all-reduce"), .grid = 8},
        {0, 28, 10, 5, COMM("all-reduce")},
        {1, 27, 0, 7, COMM("all-reduce"), .grid = 20},
        {0, 7, 0, 99, GEMM},
    };
    fixture f = FIXTURE(list);
    f.sms = 16;
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    const mill_table *t = look_table(r, "by_kind");
    g_assert_cmpuint(t->rows, ==, 2);
    g_assert_cmpint(look_cell(t, 0, "n").i, ==, 3);
    g_assert_cmpint(look_cell(t, 0, "sum").i, ==, 45);
    g_assert_cmpint(look_cell(t, 0, "sms_min").i, ==, MILL_UNKNOWN); /* of one it is unknown */
    t = look_table(r, "by_stream");
    g_assert_cmpuint(t->rows, ==, 3);
    g_assert_cmpint(look_cell(t, 0, "stream").i, ==, 27);
    g_assert_cmpint(look_cell(t, 0, "sms_min").i, ==, 8);
    g_assert_cmpint(look_cell(t, 0, "sms_max").i, ==, 16);
    g_assert_cmpfloat_with_epsilon(look_cell(t, 0, "share").d, 40. / 45, 1e-12);
    g_assert_null(look_table(r, "by_stage"));
    g_assert_null(look_table(r, "waiting"));
    g_assert_null(look_table(r, "moe_rows"));
    g_assert_cmpstr(r->summary, ==, "4 communication kernels, 0.052 µs in all.");
    bench_destroy(b);
}

/* The sequence of kinds, a letter each, on one stream. */
static const mill_report *sequence_of(bench *b, const char *kinds) {
    activity list[64];
    static const char *const names[] = {"notify", "dispatch", "combine"};
    fixture f = {.activities = list, .described_device = MILL_UNKNOWN};
    for (; *kinds; kinds++, f.n++)
        list[f.n] = (activity){0, 27, (int64_t)f.n * 10, 10, COMM(names[*kinds - 'a'])};
    return report_of(b, &f, NULL);
}

static void check_sequence(const char *kinds, const char *setting, int64_t period,
                           int64_t deviations) {
    bench *b = new_bench();
    if (setting)
        bench_option(b, setting);
    const mill_report *r = sequence_of(b, kinds);
    g_assert_cmpint(look_int(r, "sequence_period", NULL), ==, period);
    g_assert_cmpint(look_int(r, "sequence_deviations", NULL), ==, deviations);
    g_assert_true((look_table(r, "sequence") != NULL) == (period != MILL_UNKNOWN));
    bench_destroy(b);
}

static void test_sequence(void) {
    check_sequence("abcabcabc", NULL, 3, 0);
    check_sequence("abcabcab", NULL, 3, 0); /* cut within a cycle */
    check_sequence("aaaa", NULL, 1, 0);
    check_sequence("abaab", NULL, MILL_UNKNOWN, MILL_UNKNOWN);
    check_sequence("a", NULL, MILL_UNKNOWN, MILL_UNKNOWN);
    /* One exception is unlike what is before it, and what follows is unlike it. */
    check_sequence("abababababcbabababababababababababababab", NULL, 2, 2);
    check_sequence("abababababcbabababababababababababababab", "max-deviation=2", MILL_UNKNOWN,
                   MILL_UNKNOWN);
    check_sequence("abababababcbabababababababababababababab", "max-period=1", MILL_UNKNOWN,
                   MILL_UNKNOWN);
}

/* nccl-tests' factors: twice (n-1)/n for an all-reduce, (n-1)/n for an all-gather, 1 for others. */
static void test_rates(void) {
    static const activity list[] = {
        {0, 27, 0, 1000, NCCL, .operation = "all-reduce", .elems = 2500, .ranks = 4},
        {0, 27, 1000, 3000, NCCL, .operation = "all-reduce", .elems = 2500, .ranks = 4},
        {0, 27, 5000, 1000, NCCL, .operation = "all-gather", .elems = 5000, .ranks = 8},
        {0, 27, 6000, 100, NCCL, .operation = "send-recv", .elems = 100},
        {0, 27, 7000, 100, NCCL, .operation = "all-to-all", .elems = 100},
        {0, 27, 8000, 100, NCCL, .operation = "barrier", .ranks = 8},
        {0, 27, 9000, 0, NCCL, .operation = "broadcast", .elems = 100, .ranks = 8},
        {0, 27, 9100, 10, COMM("all-reduce")},
    };
    static const struct {
        const char *kind;
        double algbw, factor; /* NAN: unknown */
    } right[] = {
        {"all-reduce", 5, 1.5}, {"all-gather", 20, 7. / 8}, {"send-recv", 4, 1},
        {"all-to-all", 4, NAN}, {"broadcast", NAN, NAN},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    const mill_table *t = look_table(r, "rates");
    g_assert_cmpuint(t->rows, ==, G_N_ELEMENTS(right));
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        int64_t row = look_row(t, 0, "kind", right[i].kind);
        double algbw = look_cell(t, row, "algbw").d, busbw = look_cell(t, row, "busbw").d;
        g_assert_cmpint(isnan(algbw), ==, isnan(right[i].algbw));
        g_assert_cmpint(isnan(busbw), ==, isnan(right[i].factor));
        if (!isnan(algbw))
            g_assert_cmpfloat_with_epsilon(algbw, right[i].algbw, 1e-12);
        if (!isnan(busbw))
            g_assert_cmpfloat_with_epsilon(busbw, right[i].algbw * right[i].factor, 1e-12);
    }
    /* The barrier has no elements, the last all-reduce tells nothing. */
    const mill_note *note = look_note(r, "sizes_unknown");
    g_assert_nonnull(g_strstr_len(note->text, -1, "of 2 of 8"));
    bench_destroy(b);
}

static void test_waiting(void) {
    static const uint32_t place[] = {0, 0, 1, 1};
    static const char *const stages[] = {"a", "b"}; /* in layers 0 and 1 */
    static const activity list[] = {
        {0, 27, 0, 10, COMM("notify")},
        {0, 27, 100, 50, COMM("dispatch")},
        {0, 27, 200, 30, COMM("notify")},
        {0, 27, 300, 10, COMM("barrier")},
    };
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r =
        report_of(b, &f, fixture_places(b, place, G_N_ELEMENTS(place), stages, 2));
    const mill_table *t = look_table(r, "waiting");
    g_assert_cmpint(look_cell(t, 0, "n").i, ==, 3);
    g_assert_cmpint(look_cell(t, 0, "sum").i, ==, 50);
    g_assert_cmpfloat(look_cell(t, 0, "share").d, ==, 0.5);
    g_assert_cmpint(look_cell(t, 0, "excess").i, ==, 20);
    t = look_table(r, "waiting_by_layer");
    g_assert_cmpuint(t->rows, ==, 2);
    g_assert_cmpint(look_cell(t, 1, "sum").i, ==, 40);
    g_assert_cmpint(look_cell(t, 1, "max").i, ==, 30);
    g_assert_cmpint(look_cell(t, 1, "step").i, ==, MILL_UNKNOWN);
    g_assert_cmpuint(look_table(r, "by_stage")->rows, ==, 4);
    bench_destroy(b);

    b = new_bench();
    bench_option(b, "notify-kinds=barrier");
    g_assert_cmpint(look_cell(look_table(report_of(b, &f, NULL), "waiting"), 0, "n").i, ==, 1);
    bench_destroy(b);
}

/* A thread that launches a notify at 0 and goes on at 2 ms; the notify ends at `end`. */
static int64_t polls(const char *first, int64_t end, const char *setting) {
    const activity list[] = {
        {0, 27, 50 * US, end - 50 * US, COMM(first)},
        {0, 27, 2100 * US, 10 * US, COMM("dispatch")},
    };
    static const slice slices[] = {
        {1, 0, 10 * US, "cudaLaunchKernel", MILL_CPU_RUNTIME, 1},
        {1, 2000 * US, 10 * US, "cudaLaunchKernel", MILL_CPU_RUNTIME, 2},
    };
    fixture f = FIXTURE(list);
    f.slices = slices;
    f.n_slices = G_N_ELEMENTS(slices);
    bench *b = new_bench();
    if (setting)
        bench_option(b, setting);
    const mill_report *r = report_of(b, &f, NULL);
    const mill_table *t = look_table(r, "host_polls");
    int64_t cost = -1;
    if (t) {
        g_assert_cmpuint(t->rows, ==, 1);
        g_assert_cmpint(look_cell(t, 0, "time").i, ==, 1990 * US);
        g_assert_cmpint(look_cell(t, 0, "next_launch").i, ==, 1950 * US);
        g_assert_cmpint(look_cell(t, 0, "after").i, ==, 2000 * US - end);
        cost = look_int(r, "poll_cost", NULL);
        g_assert_cmpint(look_cell(t, 0, "cost").i, ==, cost);
    }
    bench_destroy(b);
    return cost;
}

static void test_polls(void) {
    g_assert_cmpint(polls("notify", 1950 * US, NULL), ==, 150 * US);
    g_assert_cmpint(polls("notify", 2050 * US, NULL), ==, 50 * US); /* it goes on before the end */
    g_assert_cmpint(polls("notify", 1900 * US, NULL), ==, 200 * US);
    g_assert_cmpint(polls("notify", 1899 * US, NULL), ==, -1); /* too long after it */
    g_assert_cmpint(polls("notify", 1899 * US, "poll-late=101us"), ==, 201 * US);
    g_assert_cmpint(polls("notify", 1950 * US, "poll-stall=1990us"), ==, -1);
    g_assert_cmpint(polls("dispatch", 1950 * US, NULL), ==, -1); /* no waiting kind */
}

static const mill_lane *lane_of(const mill_report *r, const char *id) {
    for (uint64_t i = 0; i < r->n_lanes; i++)
        if (g_str_equal(r->lanes[i]->id, id))
            return r->lanes[i];
    g_error("there is no lane %s", id);
}

static void check_interval(const mill_lane *lane, uint64_t i, int64_t start, int64_t end,
                           const char *text, const char *cls) {
    g_assert_cmpuint(i, <, lane->n);
    g_assert_cmpint(lane->start[i], ==, start);
    g_assert_cmpint(lane->end[i], ==, end);
    g_assert_cmpstr(lane->texts[lane->text[i]], ==, text);
    g_assert_cmpstr(lane->texts[lane->cls[i]], ==, cls);
}

/* An annotation in another: at each time the innermost. The device begins at 50 µs. */
static void test_lanes(void) {
    static const activity list[] = {
        {0, 27, 50 * US, 1900 * US, COMM("notify")},
        {0, 27, 2100 * US, 10 * US, COMM("dispatch")},
        {0, 7, 2200 * US, 10 * US, COMM("combine")},
    };
    static const slice slices[] = {
        {1, 0, 10 * US, "cudaLaunchKernel", MILL_CPU_RUNTIME, 1},
        {1, 10 * US, 30 * US, "outer(F)", MILL_CPU_ANNOTATION, 0},
        {1, 15 * US, 5 * US, "inner(B)", MILL_CPU_ANNOTATION, 0},
        {1, 2000 * US, 10 * US, "cudaLaunchKernel", MILL_CPU_RUNTIME, 2},
        {2, 2001 * US, 10 * US, "cudaLaunchKernel", MILL_CPU_RUNTIME, 3},
    };
    static const char *const stages[] = {"outer", "inner", "outer"};
    static const uint32_t place[] = {0, 1, 2}, annotation[] = {1, 2, 1};
    static const uint8_t chunk[] = {MILL_CHUNK_FORWARD, MILL_CHUNK_BACKWARD, MILL_CHUNK_FORWARD};
    fixture f = FIXTURE(list);
    f.slices = slices;
    f.n_slices = G_N_ELEMENTS(slices);
    bench *b = new_bench();
    bench_option(b, "lanes=yes");
    mill_attribution *places = fixture_places(b, place, G_N_ELEMENTS(place), stages, 3);
    places->annotation = annotation;
    places->chunk = chunk;
    const mill_report *r = report_of(b, &f, places);
    const mill_lane *lane = lane_of(r, "cpu_stages_0");
    g_assert_cmpuint(r->n_lanes, ==, 2);
    g_assert_cmpint(lane->base_ns, ==, 50 * US);
    g_assert_cmpuint(lane->n, ==, 3);
    check_interval(lane, 0, -40 * US, -35 * US, "outer", "F");
    check_interval(lane, 1, -35 * US, -30 * US, "inner", "B");
    check_interval(lane, 2, -30 * US, -10 * US, "outer", "F");
    lane = lane_of(r, "cpu_polls_0");
    g_assert_cmpuint(lane->n, ==, 1);
    check_interval(lane, 0, -40 * US, 1950 * US, "outer", "poll");
    bench_destroy(b);
}

/* Grids tell rows and tokens; sizes make rates of them. */
static void test_model(void) {
    static const uint32_t place[] = {0, 0, 0, 0, 0, 0, 1, 1};
    static const char *const stages[] = {"moe(F)", "moe(B)"};
    static const uint8_t chunks[] = {MILL_CHUNK_FORWARD, MILL_CHUNK_BACKWARD};
    static const int64_t layers[] = {3, 3};
    static const activity list[] = {
        {0, 27, 0, 1000, COMM("dispatch")},
        {0, 7, 0, 10, "rows", MILL_CLASS_COMPUTATION, .grid = 200},
        {0, 7, 10, 100, "m_grouped", MILL_CLASS_COMPUTATION, .kind = "grouped_gemm", .grid = 9},
        {0, 7, 110, 50, "m_grouped", MILL_CLASS_COMPUTATION, .kind = "grouped_gemm", .grid = 9},
        {0, 7, 160, 10, "tokens", MILL_CLASS_COMPUTATION, .grid = 50},
        {0, 27, 2000, 500, COMM("combine")},
        {0, 7, 3000, 10, "tokens", MILL_CLASS_COMPUTATION, .grid = 60},
        {0, 7, 3010, 10, "rows", MILL_CLASS_COMPUTATION, .grid = 5},
    };
    fixture f = FIXTURE(list);
    f.sms = 10;
    bench *b = new_bench();
    static const char *const settings[] = {"rows-forward=^moe.F. rows$",
                                           "rows-backward=^moe.B. rows$",
                                           "received-tokens= tokens$",
                                           "min-rows=5",
                                           "dispatch-bytes=40",
                                           "balanced-rows=100",
                                           "hidden=10",
                                           "expert-hidden=5"};
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
        bench_option(b, settings[i]);
    mill_attribution *places = fixture_places(b, place, G_N_ELEMENTS(place), stages, 2);
    places->chunk = chunks;
    places->layer = layers;
    const mill_report *r = report_of(b, &f, places);
    const mill_table *t = look_table(r, "moe_rows");
    g_assert_cmpuint(t->rows, ==, 1);
    g_assert_cmpint(look_cell(t, 0, "layer").i, ==, 3);
    g_assert_cmpint(look_cell(t, 0, "rows_forward").i, ==, 200);
    g_assert_cmpfloat(look_cell(t, 0, "forward_over_balanced").d, ==, 2);
    g_assert_cmpint(look_cell(t, 0, "rows_backward").i, ==, MILL_UNKNOWN); /* min-rows */
    g_assert_cmpint(look_cell(t, 0, "tokens_forward").i, ==, 50);
    g_assert_cmpint(look_cell(t, 0, "tokens_backward").i, ==, 60);
    t = look_table(r, "model");
    g_assert_cmpint(look_cell(t, 0, "dispatch_bytes").i, ==, 2000);
    g_assert_cmpfloat(look_cell(t, 0, "dispatch_rate").d, ==, 2);
    g_assert_cmpint(look_cell(t, 0, "combine_bytes").i, ==, MILL_UNKNOWN); /* not given */
    g_assert_true(isnan(look_cell(t, 0, "combine_rate").d));
    g_assert_cmpfloat_with_epsilon(look_cell(t, 0, "gemm_1").d, 2. * 200 * 10 * 10 / 100 / 1e3,
                                   1e-12);
    g_assert_cmpfloat_with_epsilon(look_cell(t, 0, "gemm_2").d, 2. * 200 * 5 * 10 / 50 / 1e3,
                                   1e-12);
    bench_destroy(b);
}

static void test_none(void) {
    static const activity list[] = {{0, 7, 0, 99, GEMM}};
    fixture computes = FIXTURE(list), empty = {.described_device = MILL_UNKNOWN};
    const fixture *const both[] = {&computes, &empty};
    for (size_t i = 0; i < G_N_ELEMENTS(both); i++) {
        bench *b = new_bench();
        const mill_report *r = report_of(b, both[i], NULL);
        g_assert_cmpuint(r->n_tables + r->n_figures, ==, 0);
        g_assert_cmpstr(r->summary, ==, "No communication kernels recognised.");
        bench_destroy(b);
    }
}

/* No length, no launch, no name of a kind. */
static void test_bare(void) {
    static const activity list[] = {{0, 27, 5, 0, NCCL}};
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    const mill_report *r = report_of(b, &f, NULL);
    const mill_table *t = look_table(r, "by_kind");
    g_assert_cmpstr(look_cell(t, 0, "kind").text, ==, "(no kind)");
    g_assert_true(isnan(look_cell(t, 0, "share").d));
    g_assert_cmpint(look_int(r, "sequence_length", NULL), ==, 1);
    bench_destroy(b);
}

static void test_cancelled(void) {
    static const activity list[] = {{0, 27, 0, 10, NCCL}};
    fixture f = FIXTURE(list);
    bench *b = new_bench();
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &f), "trace", "");
    bench_cancel_at(b, 3);
    g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/communication/communication.so");
    g_test_add_func("/communication/inventory", test_inventory);
    g_test_add_func("/communication/sequence", test_sequence);
    g_test_add_func("/communication/rates", test_rates);
    g_test_add_func("/communication/waiting", test_waiting);
    g_test_add_func("/communication/polls", test_polls);
    g_test_add_func("/communication/lanes", test_lanes);
    g_test_add_func("/communication/model", test_model);
    g_test_add_func("/communication/none", test_none);
    g_test_add_func("/communication/bare", test_bare);
    g_test_add_func("/communication/cancelled", test_cancelled);
    return g_test_run();
}
