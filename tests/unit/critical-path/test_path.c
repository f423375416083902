/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `critical-path` on small traces whose right path can be told by looking at them,
 * and against a naive walk back that looks at all activities on each step. */
#include "fixture.h"
#include "look.h"

#include <string.h>

#define GEMM .name = "gemm", .cls = MILL_CLASS_COMPUTATION, .kind = "gemm"
#define REDUCE .name = "reduce", .cls = MILL_CLASS_COMMUNICATION, .kind = "all-reduce"
#define US 1000

static const mill_module *module;

static bench *new_bench(void) {
    return bench_create(module, "critical-path");
}

static const mill_report *report_of(bench *b, const mill_trace *trace,
                                    const mill_attribution *places) {
    bench_input(b, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    if (places)
        bench_input(b, "attribution", MILL_TYPE_ATTRIBUTION, places, "attribution", "");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return bench_output(b, "report", 0);
}

static int64_t time_of(const mill_report *r, const char *kind) {
    const mill_table *t = look_table(r, "labels");
    int64_t row = look_row(t, 0, "kind", kind);
    return row < 0 ? 0 : look_cell(t, row, "time").i;
}

/* gemm 0–100 on stream 7, all-reduce 100–400 on stream 27, gemm 130–200 (not on the path), gemm
 * 420–500 on stream 7, which waits for the all-reduce; all µs. */
static const activity waits[] = {
    {0, 7, 0, 100 * US, GEMM},
    {0, 27, 100 * US, 300 * US, REDUCE},
    {0, 7, 130 * US, 70 * US, GEMM},
    {0, 7, 420 * US, 80 * US, GEMM},
};

static void test_path(void) {
    static const uint32_t place[] = {0, 1, 0, 2};
    static const char *const stages[] = {"attn(F)", "dispatch(F)", "mlp(F)"};
    bench *b = new_bench();
    bench_option(b, "lanes=yes");
    const mill_report *r =
        report_of(b, fixture_trace(b, &FIXTURE(waits)), fixture_places(b, place, 4, stages, 3));
    g_assert_cmpint(look_int(r, "T", NULL), ==, 500 * US);
    g_assert_cmpint(look_int(r, "segments", NULL), ==, 3);
    g_assert_cmpint(look_int(r, "stream_hops", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "path_comp", NULL), ==, 180 * US);
    g_assert_cmpint(look_int(r, "path_comm", NULL), ==, 300 * US);
    g_assert_cmpint(look_int(r, "path_gap", NULL), ==, 20 * US);
    g_assert_cmpint(look_int(r, "path_outside", NULL), ==, 0);
    g_assert_cmpint(look_int(r, "exposed_comm", NULL), ==, 230 * US);
    g_assert_cmpint(time_of(r, "gemm"), ==, 180 * US);
    g_assert_cmpint(time_of(r, "all-reduce"), ==, 300 * US);
    const mill_table *t = look_table(r, "stages");
    g_assert_cmpuint(t->rows, ==, 3);
    g_assert_cmpint(look_cell(t, look_row(t, 0, "stage", "mlp(F)"), "gap").i, ==, 20 * US);
    g_assert_cmpint(look_cell(t, look_row(t, 0, "stage", "dispatch(F)"), "comm").i, ==, 300 * US);
    t = look_table(r, "comm_segments");
    g_assert_cmpuint(t->rows, ==, 1);
    g_assert_cmpint(look_cell(t, 0, "start").i, ==, 100 * US);
    g_assert_cmpint(look_cell(t, 0, "stream").i, ==, 27);
    g_assert_cmpint(look_cell(t, 0, "layer").i, ==, 1);
    g_assert_cmpuint(r->n_lanes, ==, 1);
    const mill_lane *lane = r->lanes[0];
    g_assert_cmpuint(lane->n, ==, 4);
    g_assert_cmpstr(lane->texts[lane->cls[1]], ==, "communication");
    g_assert_cmpstr(lane->texts[lane->text[3]], ==, "mlp(F)");
    g_assert_cmpstr(r->summary, ==,
                    "Device 0: of the time that decides how long it takes, 36.0 % is computation, "
                    "60.0 % communication and 4.0 % gaps; 46.0 % of the window is exposed "
                    "communication.");
    bench_destroy(b);
}

/* What ended longer ago than the tolerance was not waited for. */
static void test_tolerance(void) {
    bench *b = new_bench();
    bench_option(b, "dependency-tolerance=19us");
    const mill_report *r = report_of(b, fixture_trace(b, &FIXTURE(waits)), NULL);
    g_assert_cmpint(look_int(r, "path_comm", NULL), ==, 0);
    g_assert_cmpint(look_int(r, "path_gap", NULL), ==, 250 * US);
    g_assert_cmpint(look_int(r, "stream_hops", NULL), ==, 0);
    g_assert_null(look_table(r, "stages"));
    g_assert_nonnull(look_note(r, "no_attribution"));
    bench_destroy(b);
}

/* A kernel launched when all was over waited for the CPU; the path goes on at what ended last. */
static void test_host(void) {
    static const slice launch[] = {{1, 450 * US, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 4}};
    activity late[G_N_ELEMENTS(waits)];
    memcpy(late, waits, sizeof late);
    late[3].start = 490 * US;
    fixture f = FIXTURE(late);
    f.slices = launch;
    f.n_slices = 1;
    bench *b = new_bench();
    const mill_report *r = report_of(b, fixture_trace(b, &f), NULL);
    g_assert_cmpint(time_of(r, "host"), ==, 90 * US);
    g_assert_cmpint(look_int(r, "path_comm", NULL), ==, 300 * US);
    g_assert_cmpint(look_int(r, "stream_hops", NULL), ==, 1);
    bench_destroy(b);
}

/* A stream that begins late does not end the path, whether its launch is known or not. */
static void test_new_stream(void) {
    static const activity activities[] = {
        {0, 7, 0, 100 * US, GEMM},
        {0, 9, 400 * US, 100 * US, GEMM},
    };
    static const slice launch[] = {{1, 380 * US, 1, "cudaLaunchKernel", MILL_CPU_RUNTIME, 2}};
    fixture f = FIXTURE(activities);
    for (f.n_slices = 0; f.n_slices < 2; f.n_slices++) {
        f.slices = launch;
        bench *b = new_bench();
        const mill_report *r = report_of(b, fixture_trace(b, &f), NULL);
        g_assert_cmpint(look_int(r, "segments", NULL), ==, 2);
        g_assert_cmpint(look_int(r, "path_outside", NULL), ==, 0);
        g_assert_cmpint(time_of(r, f.n_slices ? "host" : "unexplained"), ==, 300 * US);
        bench_destroy(b);
    }
}

static void test_window(void) {
    bench *b = new_bench();
    bench_option(b, "from=50us");
    bench_option(b, "to=450us");
    const mill_report *r = report_of(b, fixture_trace(b, &FIXTURE(waits)), NULL);
    g_assert_cmpint(look_int(r, "T", NULL), ==, 400 * US);
    g_assert_cmpint(look_int(r, "path_comp", NULL), ==, 80 * US);
    bench_destroy(b);
}

static void test_devices(void) {
    static const activity activities[] = {
        {0, 7, 0, 100, GEMM},
        {1, 7, 0, 50, GEMM},
        {1, 7, 60, 10, GEMM},
    };
    bench *b = new_bench();
    const mill_report *r = report_of(b, fixture_trace(b, &FIXTURE(activities)), NULL);
    g_assert_cmpint(look_int(r, "path_gap", "device 0"), ==, 0);
    g_assert_cmpint(look_int(r, "path_gap", "device 1"), ==, 10);
    bench_destroy(b);
}

static void test_zero_length(void) {
    static const activity nothing[] = {{0, 7, 100, 0, GEMM}, {0, 7, 200, 0, GEMM}};
    bench *b = new_bench();
    bench_option(b, "lanes=yes");
    const mill_report *r = report_of(b, fixture_trace(b, &FIXTURE(nothing)), NULL);
    g_assert_cmpint(look_int(r, "segments", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "path_gap", NULL), ==, 100);
    bench_destroy(b);
}

static void test_empty(void) {
    bench *b = new_bench();
    fixture f = {.described_device = MILL_UNKNOWN};
    const mill_report *r = report_of(b, fixture_trace(b, &f), NULL);
    g_assert_cmpuint(r->n_tables, ==, 0);
    g_assert_cmpstr(r->summary, ==, "No device events: there is no path.");
    bench_destroy(b);
}

static void test_cancelled(void) {
    for (unsigned n = 1; n <= 3; n++) {
        bench *b = new_bench();
        bench_cancel_at(b, n);
        bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &FIXTURE(waits)), "trace", "");
        g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
        bench_destroy(b);
    }
}

/* ---------------------------------------------------------------- the naive walk */

#define MOST 40
#define WINDOW 160
#define TOLERANCE 12
#define KERNEL_GAP 3

typedef struct naive {
    const mill_trace *trace;
    int64_t comp, comm, gap, hops, n, start;
} naive;

static int64_t start_of(const naive *w, int64_t i) {
    return mill_i64(w->trace, &w->trace->gpu.start, (uint64_t)i);
}
static int64_t end_of(const naive *w, int64_t i) {
    return start_of(w, i) + mill_i64(w->trace, &w->trace->gpu.dur, (uint64_t)i);
}
static int64_t stream_of(const naive *w, int64_t i) {
    return mill_i64(w->trace, &w->trace->streams.id,
                    mill_u32(w->trace, &w->trace->gpu.stream, (uint64_t)i));
}
static bool launched_after(const naive *w, int64_t i, int64_t time) {
    uint32_t launch = mill_u32(w->trace, &w->trace->gpu.launch, (uint64_t)i);
    return launch != MILL_NONE && mill_i64(w->trace, &w->trace->cpu.start, launch) >= time;
}

/* a is the more decisive end: later, longer, of a lower stream. */
static bool decides(const naive *w, int64_t a, int64_t b) {
    if (b < 0 || end_of(w, a) != end_of(w, b))
        return b < 0 || end_of(w, a) > end_of(w, b);
    if (start_of(w, a) != start_of(w, b))
        return start_of(w, a) < start_of(w, b);
    return stream_of(w, a) < stream_of(w, b);
}

/* Rows are in the order of starts, so what comes before k stands before it. */
static int64_t step_back(naive *w, int64_t k) {
    int64_t own = -1, other = -1, now = start_of(w, k);
    for (int64_t i = 0; i < k; i++) {
        if (end_of(w, i) > now)
            continue;
        if (stream_of(w, i) == stream_of(w, k) && (own < 0 || end_of(w, i) >= end_of(w, own)))
            own = i;
        if (end_of(w, i) > start_of(w, i) && decides(w, i, other))
            other = i;
    }
    bool later = other >= 0 && (own < 0 || end_of(w, other) > end_of(w, own));
    if (later && stream_of(w, other) != stream_of(w, k) && now - end_of(w, other) <= TOLERANCE &&
        (own < 0 || now - end_of(w, own) > KERNEL_GAP)) {
        w->hops++;
        return other;
    }
    if (own < 0 && other >= 0) {
        w->hops += !launched_after(w, k, end_of(w, other));
        return other;
    }
    bool host = own >= 0 && other >= 0 && launched_after(w, k, end_of(w, own));
    return host && end_of(w, other) >= end_of(w, own) ? other : own;
}

static void walk(naive *w) {
    int64_t k = -1;
    for (int64_t i = 0; i < (int64_t)w->trace->gpu.n; i++)
        if (end_of(w, i) > start_of(w, i) && decides(w, i, k))
            k = i;
    if (k < 0)
        k = (int64_t)w->trace->gpu.n - 1;
    for (int64_t next; k >= 0; k = next) {
        uint32_t name = mill_u32(w->trace, &w->trace->gpu.name, (uint64_t)k);
        bool comm = mill_name_class(w->trace, name) == MILL_CLASS_COMMUNICATION;
        *(comm ? &w->comm : &w->comp) += end_of(w, k) - start_of(w, k);
        w->n++;
        w->start = start_of(w, k);
        next = step_back(w, k);
        w->gap += next >= 0 ? start_of(w, k) - end_of(w, next) : 0;
    }
}

/* Whole numbers of nanoseconds, so that many times coincide. */
static const mill_trace *random_trace(bench *b) {
    activity activities[MOST];
    slice slices[MOST];
    int n = g_test_rand_int_range(1, MOST), longest = g_test_rand_int_range(1, 30);
    fixture f = {.activities = activities,
                 .n = (size_t)n,
                 .slices = slices,
                 .described_device = MILL_UNKNOWN};
    for (int i = 0; i < n; i++) {
        int64_t start = 1000 + g_test_rand_int_range(0, WINDOW);
        bool comm = g_test_rand_int_range(0, 3) == 0;
        activities[i] = (activity){.start = start,
                                   .dur = g_test_rand_int_range(0, longest),
                                   .stream = g_test_rand_int_range(0, 4),
                                   .name = comm ? "reduce" : "gemm",
                                   .cls = comm ? MILL_CLASS_COMMUNICATION : MILL_CLASS_COMPUTATION};
        if (g_test_rand_int_range(0, 5))
            slices[f.n_slices++] = (slice){1,
                                           start - g_test_rand_int_range(-2, 30),
                                           1,
                                           "cudaLaunchKernel",
                                           MILL_CPU_RUNTIME,
                                           i + 1};
    }
    return fixture_trace(b, &f);
}

static void test_random(void) {
    int hops = 0, gaps = 0;
    for (int round = 0; round < 2000; round++) {
        bench *b = new_bench();
        bench_option(b, "dependency-tolerance=12ns");
        bench_option(b, "kernel-gap=3ns");
        const mill_trace *trace = random_trace(b);
        const mill_report *r = report_of(b, trace, NULL);
        naive w = {.trace = trace};
        walk(&w);
        g_assert_cmpint(look_int(r, "segments", NULL), ==, w.n);
        g_assert_cmpint(look_int(r, "stream_hops", NULL), ==, w.hops);
        g_assert_cmpint(look_int(r, "path_comp", NULL), ==, w.comp);
        g_assert_cmpint(look_int(r, "path_comm", NULL), ==, w.comm);
        g_assert_cmpint(look_int(r, "path_gap", NULL), ==, w.gap);
        g_assert_cmpint(w.comp + w.comm + w.gap + look_int(r, "path_outside", NULL), ==,
                        look_int(r, "T", NULL));
        hops += w.hops > 0;
        gaps += w.gap > 0;
        bench_destroy(b);
    }
    g_assert_cmpint(hops, >, 0);
    g_assert_cmpint(gaps, >, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/critical-path/critical-path.so");
    g_test_add_func("/critical-path/path", test_path);
    g_test_add_func("/critical-path/tolerance", test_tolerance);
    g_test_add_func("/critical-path/host", test_host);
    g_test_add_func("/critical-path/new-stream", test_new_stream);
    g_test_add_func("/critical-path/window", test_window);
    g_test_add_func("/critical-path/devices", test_devices);
    g_test_add_func("/critical-path/zero-length", test_zero_length);
    g_test_add_func("/critical-path/empty", test_empty);
    g_test_add_func("/critical-path/cancelled", test_cancelled);
    g_test_add_func("/critical-path/random", test_random);
    return g_test_run();
}
