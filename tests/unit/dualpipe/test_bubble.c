/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `bubble` on durations whose right results can be told by hand, or stand in
 * published tables. */
#include "bench_host.h"
#include "look.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <tracemill/chunk_times.h>
#include <tracemill/schedule.h>

#define MS INT64_C(1000000)
#define U MILL_UNKNOWN

static const mill_module *module;

/* ---------------------------------------------------------------- running it */

/* settings: NULL-terminated. */
static bench *begin(const char *const *settings) {
    bench *b = bench_create(module, "bubble");
    for (; *settings; settings++)
        bench_option(b, *settings);
    return b;
}

static const mill_report *run(bench *b) {
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    return bench_output(b, "report", 0);
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void fails(const char *const *settings, mill_status right, const char *cause) {
    bench *b = begin(settings);
    mill_status status = bench_run(b);
    if (!strstr(bench_causes(b), cause))
        g_error("\"%s\" does not say \"%s\"", bench_causes(b), cause);
    g_assert_cmpint(status, ==, right);
    bench_destroy(b);
}

/* The first row in which the column of texts has the value, from a row on. */
static int64_t row_from(const mill_table *t, int64_t row, const char *column, const char *value) {
    g_assert_nonnull(t);
    for (; row < (int64_t)t->rows; row++)
        if (g_str_equal(look_cell(t, row, column).text, value))
            return row;
    return -1;
}

static mill_datum cell(const mill_report *r, const char *table, const char *schedule,
                       const char *column) {
    const mill_table *t = look_table(r, table);
    return look_cell(t, row_from(t, 0, "schedule", schedule), column);
}

static mill_datum changed(const mill_report *r, const char *change, const char *column) {
    const mill_table *t = look_table(r, "what_if");
    return look_cell(t, row_from(t, 0, "change", change), column);
}

/* ---------------------------------------------------------------- chunk times */

/* One basis after another, for each of n stages. */
static mill_chunk_times times_of(const mill_chunk_cost *costs, size_t n) {
    return (mill_chunk_times){
        .size = sizeof(mill_chunk_times), .subject = "rank 0 of x.json", .n = n, .costs = costs};
}

#define COST(f, bi, w, fb)                                                                         \
    { (f) * MS, ((bi) + (w)) * MS, (bi)*MS, (w)*MS, (fb)*MS }
#define NO_WEIGHT(f, b)                                                                            \
    { (f) * MS, (b)*MS, U, U, U }

/* ---------------------------------------------------------------- figures */

/* What the tables of DualPipe's README promise for F = Bi = W, in units of 10 ms. */
static void test_published(void) {
    static const struct {
        const char *schedule;
        int64_t makespan, idle, live;
    } right[] = {{"GPipe", 81, 21, 20},
                 {"1F1B", 81, 21, 8},
                 {"ZB-H1", 67, 7, 8},
                 {"ZB-H2", 67, 7, 15},
                 {"DualPipe", 66, 6, 9}};
    bench *b =
        begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms", "pair=30ms"));
    const mill_report *r = run(b);
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        const char *s = right[i].schedule;
        g_assert_cmpint(cell(r, "schedules", s, "makespan").i, ==, right[i].makespan * 10 * MS);
        g_assert_cmpint(cell(r, "schedules", s, "idle").i, ==, right[i].idle * 10 * MS);
        g_assert_cmpint(cell(r, "schedules", s, "idle_min").i, ==, right[i].idle * 10 * MS);
        g_assert_cmpint(cell(r, "schedules", s, "idle_max").i, ==, right[i].idle * 10 * MS);
        g_assert_cmpfloat_with_epsilon(cell(r, "schedules", s, "bubble").d,
                                       (double)right[i].idle / (double)right[i].makespan, 1e-12);
        g_assert_cmpint(cell(r, "memory", s, "live").i, ==, right[i].live);
        g_assert_cmpint(cell(r, "forms", s, "exact_makespan").i, ==, right[i].makespan * 10 * MS);
    }
    g_assert_cmpfloat_with_epsilon(cell(r, "schedules", "DualPipe", "over_1f1b").d, 66 / 81., 1e-9);
    g_assert_cmpint(cell(r, "memory", "DualPipe", "copies").i, ==, 2);
    g_assert_cmpstr(look_cell(look_table(r, "durations"), 0, "basis").text, ==, "given");
    /* ZB-V: chunks are half as long, so the PP - 1 of them that fill the pipeline too. */
    g_assert_cmpint(look_int(r, "best_makespan", NULL), ==, 635 * MS);
    bench_destroy(b);
}

/* A schedule with v chunks a device has durations of 1/v: here of 1 and 2 ms, so 165 ms
 * (data/oracle/pp: 8 ranks, 24 micro-batches, v = 2). */
static void test_shares(void) {
    bench *b = begin(SETTINGS("pp=8", "m=24", "forward=2ms", "backward=4ms", "v=2"));
    const mill_report *r = run(b);
    g_assert_cmpint(cell(r, "schedules", "Interleaved 1F1B", "makespan").i, ==, 165 * MS);
    g_assert_cmpint(cell(r, "memory", "Interleaved 1F1B", "live").i, ==, 23);
    g_assert_cmpfloat(cell(r, "memory", "Interleaved 1F1B", "shares").d, ==, 11.5);
    bench_destroy(b);
}

/* What is not known is told with its reason, and does not stop the others. */
static void test_unknown(void) {
    bench *b = begin(SETTINGS("pp=4", "m=8,12", "forward=1ms", "backward=2ms"));
    const mill_report *r = run(b);
    g_assert_cmpint(row_from(look_table(r, "schedules"), 0, "schedule", "ZB-H1"), ==, -1);
    g_assert_cmpstr(cell(r, "left_out", "ZB-H1", "m").text, ==, "8, 12");
    g_assert_nonnull(strstr(cell(r, "left_out", "ZB-H1", "reason").text, "weight"));
    g_assert_nonnull(strstr(cell(r, "left_out", "DualPipe", "reason").text, "weight"));
    g_assert_true(isnan(cell(r, "bubbles", "ZB-H1", "m8").d));
    bench_destroy(b);
    b = begin(SETTINGS("pp=4", "m=8", "forward=1ms", "input=1ms", "weight=1ms"));
    r = run(b);
    g_assert_nonnull(strstr(cell(r, "left_out", "DualPipe", "reason").text, "pair-rule"));
    g_assert_cmpint(cell(r, "schedules", "ZB-H1", "makespan").i, ==, (8 * 3 + 3) * MS);
    bench_destroy(b);
}

/* A size that a schedule can't have: the rule, and the nearest one. */
static void test_refused(void) {
    bench *b =
        begin(SETTINGS("pp=8", "m=12", "forward=1ms", "input=1ms", "weight=1ms", "pair=3ms"));
    const mill_report *r = run(b);
    g_assert_cmpstr(cell(r, "left_out", "DualPipe", "nearest").text, ==, "m = 16");
    g_assert_nonnull(strstr(cell(r, "left_out", "DualPipe", "reason").text, "at least 2 PP"));
    g_assert_cmpstr(cell(r, "left_out", "DualPipe", "m").text, ==, "12");
    bench_destroy(b);
    b = begin(SETTINGS("pp=7", "m=28", "forward=1ms", "input=1ms", "weight=1ms", "pair=3ms"));
    r = run(b);
    g_assert_cmpstr(cell(r, "left_out", "DualPipe", "nearest").text, ==, "PP = 6, m = 28");
    bench_destroy(b);
}

/* F&B = max(F, B) + alpha min(F, B): with alpha 1 what both take in turn. */
static void test_pair_rule(void) {
    bench *b = begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                              "pair-rule=overlap", "alpha=1"));
    g_assert_cmpint(cell(run(b), "schedules", "DualPipe", "makespan").i, ==, 660 * MS);
    bench_destroy(b);
    b = begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                       "pair-rule=overlap", "alpha=0.5"));
    const mill_report *r = run(b);
    g_assert_cmpint(cell(r, "schedules", "DualPipe", "makespan").i, ==, 590 * MS);
    g_assert_cmpint(cell(r, "forms", "DualPipe", "exact_makespan").i, ==, 590 * MS);
    bench_destroy(b);
}

/* data/oracle/pp: 8 ranks, 20 micro-batches, F = Bi = W = 10, transfers of 3. */
static void test_latency(void) {
    bench *b = begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                              "pair=30ms", "latency=3ms", "detail=1f1b"));
    const mill_report *r = run(b);
    g_assert_cmpint(cell(r, "schedules", "1F1B", "makespan").i, ==, 948 * MS);
    g_assert_cmpint(cell(r, "schedules", "ZB-H1", "makespan").i, ==, 754 * MS);
    g_assert_cmpint(cell(r, "schedules", "DualPipe", "makespan").i, ==, 738 * MS);
    g_assert_cmpint(changed(r, "no transfer time", "makespan").i, ==, 810 * MS);
    g_assert_null(look_table(r, "forms"));
    bench_destroy(b);
    /* The same by bytes and bandwidth, where links are free when they are needed. */
    b = begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                       "transfer-bytes=3MB", "bandwidth=1GB", "schedules=1f1b"));
    g_assert_cmpint(cell(run(b), "schedules", "1F1B", "makespan").i, ==, 948 * MS);
    bench_destroy(b);
}

/* data/oracle/pp: with the real program's transfers, DualPipe stands still for 121 ms, not 111. An
 * order that can't run so is told with the reason. */
static void test_blocking(void) {
    bench *b = begin(SETTINGS("pp=8", "m=20", "forward=18ms", "input=8ms", "weight=7ms",
                              "pair=33ms", "communication=blocking"));
    mill_status status = bench_run(b);
    g_assert_cmpint(status, ==, MILL_OK);
    const mill_report *r = bench_output(b, "report", 0);
    g_assert_cmpint(cell(r, "schedules", "DualPipe", "idle_max").i, ==, 121 * MS);
    g_assert_nonnull(strstr(cell(r, "left_out", "ZB-H2", "reason").text, "for ever"));
    bench_destroy(b);
}

/* ---------------------------------------------------------------- measured durations */

/* Each basis has its own results, and only the main tables are on the usual one. */
static void test_band(void) {
    static const mill_chunk_cost costs[] = {COST(1, 1, 1, 3), COST(2, 2, 1, 3), COST(3, 3, 1, 3)};
    const mill_chunk_times times = times_of(costs, 1);
    bench *b = begin(SETTINGS("pp=4", "m=8,12"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    const mill_report *r = run(b);
    g_assert_cmpstr(r->subject, ==, "rank 0 of x.json");
    g_assert_cmpint(cell(r, "schedules", "1F1B", "makespan").i, ==, 11 * 5 * MS);
    const mill_table *steps = look_table(r, "steps");
    int64_t row = row_from(steps, 0, "schedule", "1F1B");
    row = row_from(steps, row + 1, "schedule", "1F1B");
    g_assert_cmpint(look_cell(steps, row, "m").i, ==, 12);
    g_assert_cmpint(look_cell(steps, row, "makespan_compute_only").i, ==, 15 * 3 * MS);
    g_assert_cmpint(look_cell(steps, row, "makespan_serial_transfer").i, ==, 15 * 5 * MS);
    g_assert_cmpint(look_cell(steps, row, "makespan_serial_all").i, ==, 15 * 7 * MS);
    /* Computation takes 3 ms a pair, the transfers 2 ms: hidden, 3 ms are left. */
    g_assert_cmpint(changed(r, "F&B hides transfers", "makespan").i, ==,
                    changed(r, "as it is", "makespan").i);
    bench_destroy(b);
}

/* Options replace what was measured, on all bases; B stays the sum of Bi and W. */
static void test_replaced(void) {
    static const mill_chunk_cost costs[] = {NO_WEIGHT(1, 3), NO_WEIGHT(2, 4), NO_WEIGHT(2, 5)};
    const mill_chunk_times times = times_of(costs, 1);
    bench *b = begin(SETTINGS("pp=4", "m=8", "weight=1ms", "pair=5ms", "forward=3ms"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    const mill_table *durations = look_table(run(b), "durations");
    for (int64_t basis = 0; basis < MILL_BASES; basis++) {
        g_assert_cmpint(look_cell(durations, basis, "forward").i, ==, 3 * MS);
        g_assert_cmpint(look_cell(durations, basis, "backward").i, ==, costs[basis].backward);
        g_assert_cmpint(look_cell(durations, basis, "input").i, ==, costs[basis].backward - MS);
        g_assert_cmpint(look_cell(durations, basis, "weight").i, ==, MS);
        g_assert_cmpint(look_cell(durations, basis, "pair").i, ==, 5 * MS);
    }
    bench_destroy(b);
    b = begin(SETTINGS("weight=6ms"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    g_assert_nonnull(strstr(bench_causes(b), "measured"));
    bench_destroy(b);
}

/* Two stages, the second twice as slow. 1F1B with m = 2, by hand: rank 0 F 0-1, 1-2, waits for
 * B of rank 1 (F 1-3, B 3-7), B 7-9; rank 1 F 7-9, B 9-13; rank 0 B 13-15. */
static void test_uneven(void) {
    mill_chunk_cost costs[2 * MILL_BASES];
    for (int basis = 0; basis < MILL_BASES; basis++) {
        costs[basis] = (mill_chunk_cost)COST(1, 1, 1, 3);
        costs[MILL_BASES + basis] = (mill_chunk_cost)COST(2, 2, 2, 6);
    }
    const mill_chunk_times times = times_of(costs, 2);
    bench *b = begin(SETTINGS("m=2", "schedules=1f1b"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    const mill_report *r = run(b);
    g_assert_cmpint(look_int(r, "pp", NULL), ==, 2);
    g_assert_cmpint(cell(r, "schedules", "1F1B", "makespan").i, ==, 15 * MS);
    g_assert_cmpint(cell(r, "schedules", "1F1B", "idle_min").i, ==, 3 * MS);
    g_assert_cmpint(cell(r, "schedules", "1F1B", "idle_max").i, ==, 9 * MS);
    /* Alike ranks: F 1.5, B 3, so (m + 1) 4.5. */
    g_assert_cmpint(changed(r, "all ranks alike", "makespan").i, ==, 27 * MS / 2);
    g_assert_cmpint((int64_t)look_table(r, "stages")->rows, ==, 2);
    g_assert_cmpint((int64_t)look_table(r, "stage_slopes")->rows, >=, 2);
    bench_destroy(b);
    b = begin(SETTINGS("pp=3"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    g_assert_nonnull(strstr(bench_causes(b), "2 stages"));
    bench_destroy(b);
}

/* With 2 chunks a rank the model has 4 stages: the first two lie in the first row, the others in
 * the second. So each rank has one fast chunk and one slow one, and all are equally busy. */
static void test_uneven_chunks(void) {
    g_autofree char *folder = g_dir_make_tmp("tracemill-bubble-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "table.csv", NULL);
    g_autofree char *setting = g_strdup_printf("table=%s", path);
    g_assert_true(g_file_set_contents(path,
                                      "\xef\xbb\xbf# two stages\r\n"
                                      "forward_us, stage ,input_ms,weight_s,pair_ns\r\n\r\n"
                                      "4000,1,4,0.004,12000000\r\n"
                                      "2000.5,0,2,0.002,\r\n",
                                      -1, NULL));
    bench *b = begin(SETTINGS(setting, "m=4", "detail=interleaved"));
    const mill_report *r = run(b);
    const mill_table *stages = look_table(r, "stages");
    g_assert_cmpint(look_cell(stages, 0, "forward").i, ==, 2000500);
    g_assert_cmpint(look_cell(stages, 0, "backward").i, ==, 4 * MS);
    g_assert_cmpint(look_cell(stages, 0, "pair").i, ==, U);
    g_assert_cmpint(look_cell(stages, 1, "pair").i, ==, 12 * MS);
    int64_t busy = 4 * (2000500 / 2 + 2 * MS + 4 * MS + 2 * MS);
    int64_t makespan = cell(r, "schedules", "Interleaved 1F1B", "makespan").i;
    g_assert_cmpint(cell(r, "schedules", "Interleaved 1F1B", "idle_min").i, ==, makespan - busy);
    g_assert_cmpint(cell(r, "schedules", "Interleaved 1F1B", "idle_max").i, ==, makespan - busy);
    bench_destroy(b);
    g_remove(path);
    g_rmdir(folder);
}

/* ---------------------------------------------------------------- memory */

static void test_memory(void) {
    bench *b = begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                              "pair=30ms", "activations=1GiB", "parameters=10GiB",
                              "memory-limit=28GiB", "schedules=1f1b,zb-h2,dualpipe"));
    const mill_report *r = run(b);
    const int64_t gib = INT64_C(1) << 30;
    g_assert_cmpint(cell(r, "memory", "1F1B", "bytes").i, ==, 18 * gib);
    g_assert_cmpint(cell(r, "memory", "DualPipe", "bytes").i, ==, 29 * gib);
    g_assert_cmpstr(cell(r, "memory", "DualPipe", "fits").text, ==, "no");
    g_assert_cmpstr(cell(r, "memory", "1F1B", "fits").text, ==, "yes");
    /* ZB-H2 holds 15 micro-batches, and none of what fits is as short as DualPipe. */
    g_assert_cmpstr(cell(r, "what_if", "ZB-H2", "change").text, ==, "as it is");
    g_assert_cmpint(look_int(r, "best_makespan", NULL), ==, 600 * MS + 70 * MS);
    bench_destroy(b);
    b = begin(SETTINGS("pp=8", "m=20", "forward=10ms", "backward=20ms", "activations=1GiB",
                       "memory-limit=1GiB"));
    r = run(b);
    g_assert_nonnull(look_note(r, "none_fits"));
    g_assert_cmpint(look_int(r, "best_makespan", NULL), ==, U);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- why */

/* Idle times are the sum of their causes, and the path is as long as the step. */
static void test_detail(void) {
    bench *b = begin(SETTINGS("pp=4", "m=8", "forward=2ms", "input=3ms", "weight=1ms", "pair=5ms",
                              "latency=100us", "detail=1f1b,dualpipe"));
    const mill_report *r = run(b);
    const mill_table *idle = look_table(r, "idle"), *path = look_table(r, "path");
    g_assert_cmpint((int64_t)idle->rows, ==, 8);
    for (int64_t row = 0; row < 8; row++)
        g_assert_cmpint(look_cell(idle, row, "idle").i, ==,
                        look_cell(idle, row, "start").i + look_cell(idle, row, "forward").i +
                            look_cell(idle, row, "backward").i +
                            look_cell(idle, row, "transfer").i + look_cell(idle, row, "tail").i);
    int64_t sum = 0;
    for (int64_t row = row_from(path, 0, "schedule", "DualPipe"); row < (int64_t)path->rows; row++)
        sum += look_cell(path, row, "time").i;
    g_assert_cmpint(sum, ==, cell(r, "schedules", "DualPipe", "makespan").i);
    g_assert_cmpuint(r->n_lanes, ==, 8);
    g_assert_cmpstr(r->lanes[4]->id, ==, "dualpipe_rank0");
    g_assert_cmpint(r->lanes[4]->rank, ==, 0);
    bench_destroy(b);
    b = begin(SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms", "most-operations=10"));
    r = run(b);
    g_assert_null(look_table(r, "idle"));
    g_assert_nonnull(look_note(r, "no_timeline"));
    g_assert_cmpuint(bench_output_count(b, "schedules"), ==, 0);
    bench_destroy(b);
}

/* A slope is what one more ns of a duration makes of the step. */
static void test_slope(void) {
    static const char *const forward[] = {"forward=2000000ns", "forward=2000001ns"};
    int64_t makespan[2];
    double slope = 0;
    for (int i = 0; i < 2; i++) {
        bench *b = begin(SETTINGS("pp=4", "m=8", forward[i], "backward=4ms", "detail=1f1b"));
        const mill_report *r = run(b);
        const mill_table *path = look_table(r, "path");
        slope = look_cell(path, row_from(path, 0, "duration", "F"), "slope").d;
        makespan[i] = cell(r, "schedules", "1F1B", "makespan").i;
        bench_destroy(b);
    }
    g_assert_cmpfloat(slope, ==, (double)(makespan[1] - makespan[0]));
    g_assert_cmpfloat(slope, ==, 8 + 3);
}

/* ---------------------------------------------------------------- what if, and findings */

static const mill_finding *finding(const mill_report *r, const char *rule) {
    for (uint64_t i = 0; i < r->n_findings; i++)
        if (g_str_equal(r->findings[i]->rule, rule))
            return r->findings[i];
    return NULL;
}

static void test_what_if(void) {
    bench *b = begin(SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms", "schedules=1f1b"));
    const mill_report *r = run(b);
    g_assert_cmpint(changed(r, "as it is", "makespan").i, ==, 11 * 6 * MS);
    g_assert_cmpint(changed(r, "m + 1", "makespan").i, ==, 12 * 6 * MS);
    g_assert_cmpint(changed(r, "m + 1", "per_micro_batch").i, ==, 8 * MS);
    g_assert_cmpint(changed(r, "m + 1", "device_time").i, ==, 32 * MS);
    g_assert_cmpint(changed(r, "m doubled", "makespan").i, ==, 19 * 6 * MS);
    g_assert_cmpint(changed(r, "PP halved", "makespan").i, ==, 9 * 12 * MS);
    g_assert_cmpint(changed(r, "PP doubled", "makespan").i, ==, 15 * 3 * MS);
    g_assert_null(finding(r, "P1"));
    bench_destroy(b);
}

static void test_findings(void) {
    bench *b = begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                              "pair=30ms", "latency=3ms", "slowness=1,1.5", "detail=1f1b"));
    const mill_report *r = run(b);
    int64_t best = look_int(r, "best_makespan", NULL);
    int64_t base = cell(r, "schedules", "1F1B", "makespan").i;
    g_assert_cmpint(finding(r, "P1")->gain_ns, ==, base - best);
    g_assert_cmpint(finding(r, "P3")->gain_ns, ==,
                    base - changed(r, "all ranks alike", "makespan").i);
    g_assert_cmpint(finding(r, "P4")->gain_ns, ==,
                    base - changed(r, "no transfer time", "makespan").i);
    bench_destroy(b);
    b = begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms", "pair=30ms",
                       "latency=3ms", "slowness=1,1.5", "detail=1f1b", "min-gain=1"));
    g_assert_cmpuint(run(b)->n_findings, ==, 0);
    bench_destroy(b);
}

/* Of several bases the likely one has a pair that hides less than it could. */
static void test_hidden(void) {
    static const mill_chunk_cost costs[] = {COST(2, 2, 2, 12), COST(3, 4, 2, 12),
                                            COST(3, 4, 2, 12)};
    const mill_chunk_times times = times_of(costs, 1);
    bench *b = begin(SETTINGS("pp=4", "m=8", "detail=dualpipe"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    const mill_report *r = run(b);
    int64_t hidden = changed(r, "F&B hides transfers", "makespan").i;
    bench_destroy(b);
    b = begin(SETTINGS("pp=4", "m=8", "detail=dualpipe", "pair=6ms"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    g_assert_cmpint(hidden, ==, cell(run(b), "schedules", "DualPipe", "makespan").i);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- jitter and jobs */

static char *text_of(const mill_report *r) {
    GString *text = g_string_new(r->summary);
    for (uint64_t t = 0; t < r->n_tables; t++)
        for (uint64_t c = 0; c < r->tables[t]->n_columns; c++)
            for (uint64_t row = 0; row < r->tables[t]->rows; row++) {
                const mill_table_column *column = r->tables[t]->columns[c];
                if (column->kind == MILL_KIND_TEXT)
                    g_string_append_printf(text, "%s ", column->cells[row].text);
                else
                    g_string_append_printf(text, "%" G_GINT64_FORMAT " ", column->cells[row].i);
            }
    return g_string_free(text, FALSE);
}

static void test_jobs(void) {
    char *text[2];
    for (unsigned i = 0; i < 2; i++) {
        bench *b = begin(SETTINGS("pp=4", "m=8,16", "forward=2ms", "input=3ms", "weight=1ms",
                                  "pair=5ms", "jitter=0.2", "search=yes", "effort=50"));
        bench_jobs(b, 1 + 3 * i);
        text[i] = text_of(run(b));
        bench_destroy(b);
    }
    g_assert_cmpstr(text[0], ==, text[1]);
    g_free(text[0]);
    g_free(text[1]);
}

static void test_jitter(void) {
    bench *b = begin(SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms", "jitter=0.1",
                              "samples=40", "schedules=1f1b"));
    const mill_report *r = run(b);
    int64_t steady = cell(r, "jitter", "1F1B", "steady").i;
    int64_t p50 = cell(r, "jitter", "1F1B", "p50").i, p95 = cell(r, "jitter", "1F1B", "p95").i;
    g_assert_cmpint(steady, ==, cell(r, "schedules", "1F1B", "makespan").i);
    g_assert_cmpint(p50, >, steady * 9 / 10);
    g_assert_cmpint(p50, <, p95);
    g_assert_cmpint(p95, <=, cell(r, "jitter", "1F1B", "max").i);
    g_assert_cmpint(cell(r, "jitter", "1F1B", "max").i, <, steady * 11 / 10);
    bench_destroy(b);
    b = begin(SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms", "jitter=0.1", "samples=40",
                       "schedules=1f1b", "seed=2"));
    g_assert_cmpint(cell(run(b), "jitter", "1F1B", "p50").i, !=, p50);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- values */

static void test_values(void) {
    bench *b = begin(SETTINGS("pp=4", "m=8,16", "forward=2ms", "input=3ms", "weight=1ms",
                              "pair=5ms", "schedules=1f1b,dualpipe"));
    const mill_report *r = run(b);
    g_assert_cmpuint(bench_output_count(b, "schedules"), ==, 2);
    g_assert_cmpstr(bench_output_key(b, "schedules", 1), ==, "dualpipe");
    const mill_schedule *s = bench_output(b, "schedules", 1);
    g_assert_cmpstr(s->name, ==, "DualPipe");
    g_assert_cmpstr(s->communication, ==, "dep");
    g_assert_cmpuint(s->simulated, ==, 1);
    g_assert_cmpuint(s->bidirectional, ==, 1);
    g_assert_cmpuint(s->ranks, ==, 4);
    g_assert_cmpuint(s->stages, ==, 4);
    g_assert_cmpuint(s->micro_batches, ==, 8);
    g_assert_cmpint(s->makespan_ns, ==, cell(r, "schedules", "DualPipe", "makespan").i);
    g_assert_cmpuint(s->first[4], ==, s->n_ops);
    int64_t end = 0, pairs = 0;
    for (uint64_t i = 0; i < s->n_ops; i++) {
        end = MAX(end, s->ops.end[i]);
        bool pair = s->ops.kind[i] == MILL_OP_PAIR;
        pairs += pair;
        g_assert_true(pair == (s->ops.stage_back[i] != MILL_NO_OP));
        g_assert_cmpuint(s->ops.stage[i], <, 4);
        g_assert_cmpuint(s->ops.micro_batch[i], <, 4);
    }
    g_assert_cmpint(end, ==, s->makespan_ns);
    g_assert_cmpint(pairs, >, 0);
    g_assert_cmpint(s->ops.start[s->first[0]], ==, 0);
    g_assert_cmpint(s->live[0], ==, 5);
    bench_destroy(b);
}

/* A measured step tells the sizes, and stands beside the simulated ones. */
static void test_measured(void) {
    static const uint64_t first[] = {0, 3, 5};
    static const uint8_t kinds[] = {MILL_OP_FORWARD, MILL_OP_RECEIVE, MILL_OP_BACKWARD,
                                    MILL_OP_FORWARD, MILL_OP_BACKWARD};
    static const int64_t start[] = {0, 1 * MS, 7 * MS, 2 * MS, 3 * MS};
    static const int64_t end[] = {1 * MS, 7 * MS, 10 * MS, 3 * MS, 6 * MS};
    const mill_schedule step = {
        .size = sizeof step,
        .id = "1f1b",
        .name = "measured",
        .ranks = 2,
        .chunks = 1,
        .stages = 2,
        .micro_batches = 1,
        .makespan_ns = 10 * MS,
        .n_ops = 5,
        .first = first,
        .ops = {.kind = kinds, .start = start, .end = end},
    };
    bench *b = begin(SETTINGS("forward=1ms", "backward=3ms", "schedules=1f1b"));
    bench_input(b, "measured", MILL_TYPE_SCHEDULE, &step, "pipeline", "");
    const mill_report *r = run(b);
    g_assert_cmpint(look_int(r, "pp", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "m", NULL), ==, 1);
    const mill_table *t = look_table(r, "measured");
    g_assert_cmpint((int64_t)t->rows, ==, 2);
    g_assert_cmpstr(look_cell(t, 0, "kind").text, ==, "measured");
    g_assert_cmpint(look_cell(t, 0, "idle_max").i, ==, 6 * MS);
    g_assert_cmpfloat_with_epsilon(look_cell(t, 0, "bubble").d, 12 / 20., 1e-12);
    g_assert_cmpint(look_cell(t, 1, "makespan").i, ==, 8 * MS);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- a schedule of one's own */

static void test_file(void) {
    g_autofree char *folder = g_dir_make_tmp("tracemill-bubble-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "own.csv", NULL);
    g_autofree char *setting = g_strdup_printf("schedule-file=%s", path);
    g_assert_true(g_file_set_contents(path,
                                      "0F0,0F1,0B0,0B1\n"
                                      "1F0,1B0,1F1,1B1\n",
                                      -1, NULL));
    bench *b = begin(SETTINGS(setting, "forward=1ms", "backward=2ms"));
    const mill_report *r = run(b);
    g_assert_cmpint(look_int(r, "pp", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "m", NULL), ==, 2);
    g_assert_cmpint(cell(r, "schedules", "schedule-file", "makespan").i, ==,
                    cell(r, "schedules", "1F1B", "makespan").i);
    bench_destroy(b);
    b = begin(SETTINGS(setting, "forward=1ms", "backward=2ms", "m=4"));
    g_assert_cmpstr(cell(run(b), "left_out", "schedule-file", "nearest").text, ==, "m = 2");
    bench_destroy(b);
    g_remove(path);
    g_rmdir(folder);
}

/* ---------------------------------------------------------------- the search */

/* data/oracle/pp/optimal_small.json: with transfers of 2 ms, 1F1B takes 128 ms and the shortest
 * order without splits 124. */
static void test_search(void) {
    bench *b = begin(SETTINGS("pp=2", "m=3", "forward=10ms", "backward=20ms", "latency=2ms",
                              "search=yes", "effort=300", "schedules=1f1b"));
    const mill_report *r = run(b);
    const mill_table *t = look_table(r, "search");
    int64_t found = look_cell(t, 0, "makespan").i;
    g_assert_cmpint(look_int(r, "best_makespan", NULL), ==, 128 * MS);
    g_assert_cmpint(found, ==, 124 * MS);
    g_assert_cmpint(found, >=, look_cell(t, 0, "bound").i);
    g_assert_cmpstr(bench_output_key(b, "schedules", 0), ==, "search");
    const mill_schedule *s = bench_output(b, "schedules", 0);
    g_assert_cmpint(s->makespan_ns, ==, found);
    g_assert_cmpint(finding(r, "P5")->gain_ns, ==, look_int(r, "best_makespan", NULL) - found);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- mistakes */

static void test_mistakes(void) {
    fails(SETTINGS("pp=4"), MILL_E_CONFIG, "no durations");
    fails(SETTINGS("schedules=1f1b,1f2b"), MILL_E_CONFIG, "schedules = 1f2b: no such schedule");
    fails(SETTINGS("m=8,12,8"), MILL_E_CONFIG, "m lists 8 twice");
    fails(SETTINGS("detail=all"), MILL_E_CONFIG, "detail = all");
    fails(SETTINGS("forward=1ms", "backward=3ms", "input=1ms", "weight=1ms"), MILL_E_CONFIG,
          "B must be Bi + W");
    fails(SETTINGS("forward=1ms", "backward=3ms", "weight=4ms"), MILL_E_CONFIG, "B must be");
    fails(SETTINGS("memory-limit=1GiB"), MILL_E_CONFIG, "needs activations");
    fails(SETTINGS("transfer-bytes=1MB"), MILL_E_CONFIG, "needs bandwidth");
    fails(SETTINGS("transfer-bytes=10GB", "bandwidth=100B"), MILL_E_CONFIG, "a million seconds");
    fails(SETTINGS("schedules=", "forward=1ms", "backward=2ms"), MILL_E_CONFIG, "is empty");
    fails(SETTINGS("forward=1ms", "backward=2ms", "pp=2", "slowness=1,1,1"), MILL_E_CONFIG,
          "slowness lists 3 ranks");
    fails(SETTINGS("table=x.csv", "forward=1ms"), MILL_E_CONFIG, "both table and forward");
    fails(SETTINGS("table=/nowhere/x.csv"), MILL_E_NOINPUT, "x.csv");
}

static void test_no_stages(void) {
    const mill_chunk_times times = times_of(NULL, 0);
    bench *b = begin(SETTINGS("pp=4"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "no chunk was recognised"));
    bench_destroy(b);
}

static void test_tables(void) {
    static const struct {
        const char *text, *cause;
    } wrong[] = {
        {"", "is empty"},
        {"stage,forward\n0,1\n", ":1: column \"forward\""},
        {"stage,forward_us,forward_ms\n0,1,1\n", "\"forward_ms\" comes twice"},
        {"forward_us,backward_us\n1,2\n", "no column \"stage\""},
        {"stage,forward_us,backward_us\n", "no stages below"},
        {"stage,forward_us,backward_us\n0,1,2,3\n", ":2: more cells"},
        {"stage,forward_us,backward_us\n-1,1,2\n", ":2: \"-1\" is no stage"},
        {"stage,forward_us,backward_us\n65536,1,2\n", "count from 0 to 65535"},
        {"stage,forward_us,backward_us\n0,9223372036854776,2\n", "below 292 years"},
        {"stage,forward_us,backward_us\n0,1,2\n\n0,1,2\n", ":4: stage 0 comes twice"},
        {"stage,forward_us,backward_us\n0,1,2\n2,1,2\n", "stage 1 is missing"},
        {"stage,forward_us,backward_us\n0,1us,2\n", ":2: \"1us\" is no duration"},
        {"stage,forward_us,backward_us\n0,-1,2\n", ":2: \"-1\" is no duration"},
        {"stage,forward_us,backward_us\n0,1e3,2\n", ":2: \"1e3\" is no duration"},
        {"stage,forward_us,backward_us\n0,1\n", ":2: a stage needs"},
        {"forward_us,backward_us,stage\n1,2\n", ":2: the stage is missing"},
        {"stage,forward_us,backward_us,input_us,weight_us\n0,1,4,1,2\n", "input + weight"},
    };
    g_autofree char *folder = g_dir_make_tmp("tracemill-bubble-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "table.csv", NULL);
    g_autofree char *setting = g_strdup_printf("table=%s", path);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_assert_true(g_file_set_contents(path, wrong[i].text, -1, NULL));
        fails(SETTINGS(setting), MILL_E_DATA, wrong[i].cause);
    }
    static const char nul[] = "stage,forward_us,backward_us\n0,1\0,2\n";
    g_assert_true(g_file_set_contents(path, nul, sizeof nul - 1, NULL));
    fails(SETTINGS(setting), MILL_E_DATA, "is no duration");
    g_remove(path);
    g_rmdir(folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/estimators/dualpipe/dualpipe.so");
    g_test_add_func("/bubble/published", test_published);
    g_test_add_func("/bubble/shares", test_shares);
    g_test_add_func("/bubble/unknown", test_unknown);
    g_test_add_func("/bubble/refused", test_refused);
    g_test_add_func("/bubble/pair-rule", test_pair_rule);
    g_test_add_func("/bubble/latency", test_latency);
    g_test_add_func("/bubble/blocking", test_blocking);
    g_test_add_func("/bubble/band", test_band);
    g_test_add_func("/bubble/replaced", test_replaced);
    g_test_add_func("/bubble/uneven", test_uneven);
    g_test_add_func("/bubble/uneven-chunks", test_uneven_chunks);
    g_test_add_func("/bubble/memory", test_memory);
    g_test_add_func("/bubble/detail", test_detail);
    g_test_add_func("/bubble/slope", test_slope);
    g_test_add_func("/bubble/what-if", test_what_if);
    g_test_add_func("/bubble/findings", test_findings);
    g_test_add_func("/bubble/hidden", test_hidden);
    g_test_add_func("/bubble/jobs", test_jobs);
    g_test_add_func("/bubble/jitter", test_jitter);
    g_test_add_func("/bubble/values", test_values);
    g_test_add_func("/bubble/measured", test_measured);
    g_test_add_func("/bubble/file", test_file);
    g_test_add_func("/bubble/search", test_search);
    g_test_add_func("/bubble/mistakes", test_mistakes);
    g_test_add_func("/bubble/no-stages", test_no_stages);
    g_test_add_func("/bubble/tables", test_tables);
    return g_test_run();
}
