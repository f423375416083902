/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `bubble` on durations whose right results can be told by hand, or stand in
 * published tables. */
#include "bubble_run.h"
#include "look.h"

#include <glib/gstdio.h>
#include <string.h>
#include <tracemill/schedule.h>

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
    bench *b = bubble_begin(
        SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms", "pair=30ms"));
    const mill_report *r = bubble_run(b);
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        const char *s = right[i].schedule;
        g_assert_cmpint(cell(r, "schedules", s, "makespan").i, ==, right[i].makespan * 10 * MS);
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
    bench *b = bubble_begin(SETTINGS("pp=8", "m=24", "forward=2ms", "backward=4ms", "v=2"));
    const mill_report *r = bubble_run(b);
    g_assert_cmpint(cell(r, "schedules", "Interleaved", "makespan").i, ==, 165 * MS);
    g_assert_cmpint(cell(r, "memory", "Interleaved", "live").i, ==, 23);
    g_assert_cmpfloat(cell(r, "memory", "Interleaved", "shares").d, ==, 11.5);
    bench_destroy(b);
}

/* What is not known is told with its reason, and does not stop the others. */
static void test_unknown(void) {
    bench *b = bubble_begin(SETTINGS("pp=4", "m=8,12", "forward=1ms", "backward=2ms"));
    const mill_report *r = bubble_run(b);
    g_assert_cmpint(row_from(look_table(r, "schedules"), 0, "schedule", "ZB-H1"), ==, -1);
    g_assert_cmpstr(cell(r, "left_out", "ZB-H1", "m").text, ==, "8, 12");
    g_assert_nonnull(strstr(cell(r, "left_out", "ZB-H1", "reason").text, "weight"));
    g_assert_nonnull(strstr(cell(r, "left_out", "DualPipe", "reason").text, "weight"));
    g_assert_cmpint(row_from(look_table(r, "bubbles"), 0, "schedule", "ZB-H1"), ==, -1);
    bench_destroy(b);
    b = bubble_begin(SETTINGS("pp=4", "m=8", "forward=1ms", "input=1ms", "weight=1ms"));
    r = bubble_run(b);
    g_assert_nonnull(strstr(cell(r, "left_out", "DualPipe", "reason").text, "pair-rule"));
    g_assert_cmpint(cell(r, "schedules", "ZB-H1", "makespan").i, ==, (8 * 3 + 3) * MS);
    bench_destroy(b);
}

/* A size that a schedule can't have: the rule, and the nearest one. */
static void test_refused(void) {
    bench *b = bubble_begin(
        SETTINGS("pp=8", "m=12", "forward=1ms", "input=1ms", "weight=1ms", "pair=3ms"));
    const mill_report *r = bubble_run(b);
    g_assert_cmpstr(cell(r, "left_out", "DualPipe", "nearest").text, ==, "m = 16");
    g_assert_nonnull(strstr(cell(r, "left_out", "DualPipe", "reason").text, "at least 2 PP"));
    g_assert_cmpstr(cell(r, "left_out", "DualPipe", "m").text, ==, "12");
    bench_destroy(b);
    b = bubble_begin(
        SETTINGS("pp=7", "m=28", "forward=1ms", "input=1ms", "weight=1ms", "pair=3ms"));
    r = bubble_run(b);
    g_assert_cmpstr(cell(r, "left_out", "DualPipe", "nearest").text, ==, "PP = 6, m = 28");
    bench_destroy(b);
}

/* F&B = max(F, B) + alpha min(F, B): with alpha 1 what both take in turn. */
static void test_pair_rule(void) {
    bench *b = bubble_begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                                     "pair-rule=overlap", "alpha=1"));
    g_assert_cmpint(cell(bubble_run(b), "schedules", "DualPipe", "makespan").i, ==, 660 * MS);
    bench_destroy(b);
    b = bubble_begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                              "pair-rule=overlap", "alpha=0.5"));
    const mill_report *r = bubble_run(b);
    g_assert_cmpint(cell(r, "schedules", "DualPipe", "makespan").i, ==, 590 * MS);
    g_assert_cmpint(cell(r, "forms", "DualPipe", "exact_makespan").i, ==, 590 * MS);
    bench_destroy(b);
}

/* data/oracle/pp: 8 ranks, 20 micro-batches, F = Bi = W = 10, transfers of 3. */
static void test_latency(void) {
    bench *b = bubble_begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                                     "pair=30ms", "latency=3ms", "detail=1f1b"));
    const mill_report *r = bubble_run(b);
    g_assert_cmpint(cell(r, "schedules", "1F1B", "makespan").i, ==, 948 * MS);
    g_assert_cmpint(cell(r, "schedules", "ZB-H1", "makespan").i, ==, 754 * MS);
    g_assert_cmpint(cell(r, "schedules", "DualPipe", "makespan").i, ==, 738 * MS);
    g_assert_cmpint(changed(r, "no transfer time", "makespan").i, ==, 810 * MS);
    g_assert_null(look_table(r, "forms"));
    bench_destroy(b);
    /* The same by bytes and bandwidth, where links are free when they are needed. */
    b = bubble_begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                              "transfer-bytes=3MB", "bandwidth=1GB", "schedules=1f1b"));
    g_assert_cmpint(cell(bubble_run(b), "schedules", "1F1B", "makespan").i, ==, 948 * MS);
    bench_destroy(b);
}

/* data/oracle/pp: with the real program's transfers, DualPipe stands still for 121 ms, not 111. An
 * order that can't run so is told with the reason. */
static void test_blocking(void) {
    bench *b = bubble_begin(SETTINGS("pp=8", "m=20", "forward=18ms", "input=8ms", "weight=7ms",
                                     "pair=33ms", "communication=blocking"));
    mill_status status = bench_run(b);
    g_assert_cmpint(status, ==, MILL_OK);
    const mill_report *r = bench_output(b, "report", 0);
    g_assert_cmpint(cell(r, "schedules", "DualPipe", "idle_max").i, ==, 121 * MS);
    g_assert_nonnull(strstr(cell(r, "left_out", "ZB-H2", "reason").text, "for ever"));
    bench_destroy(b);
}

/* ---------------------------------------------------------------- memory */

static void test_memory(void) {
    bench *b = bubble_begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                                     "pair=30ms", "activations=1GiB", "parameters=10GiB",
                                     "memory-limit=28GiB", "schedules=1f1b,zb-h2,dualpipe"));
    const mill_report *r = bubble_run(b);
    const int64_t gib = INT64_C(1) << 30;
    g_assert_cmpint(cell(r, "memory", "1F1B", "bytes").i, ==, 18 * gib);
    g_assert_cmpint(cell(r, "memory", "DualPipe", "bytes").i, ==, 29 * gib);
    g_assert_cmpstr(cell(r, "memory", "DualPipe", "fits").text, ==, "no");
    g_assert_cmpstr(cell(r, "memory", "1F1B", "fits").text, ==, "yes");
    /* ZB-H2 holds 15 micro-batches, and none of what fits is as short as DualPipe. */
    g_assert_cmpstr(cell(r, "what_if", "ZB-H2", "change").text, ==, "as it is");
    g_assert_cmpint(look_int(r, "best_makespan", NULL), ==, 600 * MS + 70 * MS);
    bench_destroy(b);
    b = bubble_begin(SETTINGS("pp=8", "m=20", "forward=10ms", "backward=20ms", "activations=1GiB",
                              "memory-limit=1GiB"));
    r = bubble_run(b);
    g_assert_nonnull(look_note(r, "none_fits"));
    g_assert_cmpint(look_int(r, "best_makespan", NULL), ==, U);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- why */

/* Idle times are the sum of their causes, and the path is as long as the step. */
static void test_detail(void) {
    bench *b = bubble_begin(SETTINGS("pp=4", "m=8", "forward=2ms", "input=3ms", "weight=1ms",
                                     "pair=5ms", "latency=100us", "detail=1f1b,dualpipe"));
    const mill_report *r = bubble_run(b);
    const mill_table *idle = look_table(r, "idle"), *path = look_table(r, "path");
    g_assert_cmpint((int64_t)idle->rows, ==, 8);
    for (int64_t row = 0; row < 8; row++)
        g_assert_cmpint(look_cell(idle, row, "idle").i, ==,
                        look_cell(idle, row, "start").i + look_cell(idle, row, "forward").i +
                            look_cell(idle, row, "backward").i +
                            look_cell(idle, row, "transfer").i + look_cell(idle, row, "tail").i);
    const mill_table *ranks = look_table(r, "ranks");
    for (int64_t row = 0; row < 8; row++) {
        g_assert_cmpint(look_cell(ranks, row, "idle").i, ==, look_cell(idle, row, "idle").i);
        g_assert_cmpint(look_cell(ranks, row, "span_idle").i, ==,
                        look_cell(idle, row, "idle").i - look_cell(idle, row, "start").i -
                            look_cell(idle, row, "tail").i);
    }
    g_assert_cmpint(look_cell(ranks, 0, "busy").i, ==, 8 * (2 + 3 + 1) * MS); /* 1F1B: PP - rank */
    g_assert_cmpint(look_cell(ranks, 0, "live").i, ==, 4);
    g_assert_cmpint(look_cell(ranks, 3, "live").i, ==, 1);
    int64_t sum = 0;
    for (int64_t row = row_from(path, 0, "schedule", "DualPipe"); row < (int64_t)path->rows; row++)
        sum += look_cell(path, row, "time").i;
    g_assert_cmpint(sum, ==, cell(r, "schedules", "DualPipe", "makespan").i);
    const mill_table *stretches = look_table(r, "critical_path");
    int64_t last = row_from(stretches, 0, "schedule", "DualPipe") - 1, n = 0;
    for (int64_t row = 0; row <= last; row++)
        n += look_cell(stretches, row, "n").i;
    g_assert_cmpstr(look_cell(stretches, 0, "from").text, ==, "F 0");
    g_assert_cmpint(look_cell(stretches, 0, "start").i, ==, 0);
    g_assert_cmpstr(look_cell(stretches, last, "to").text, ==, "B 7");
    g_assert_cmpint(look_cell(stretches, last, "end").i, ==,
                    cell(r, "schedules", "1F1B", "makespan").i);
    g_assert_cmpint(n, ==, look_cell(path, 0, "n").i + look_cell(path, 1, "n").i);
    g_assert_cmpuint(r->n_lanes, ==, 8);
    g_assert_cmpstr(r->lanes[4]->id, ==, "dualpipe_rank0");
    g_assert_cmpint(r->lanes[4]->rank, ==, 0);
    bench_destroy(b);
    b = bubble_begin(SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms", "most-operations=10"));
    r = bubble_run(b);
    g_assert_null(look_table(r, "idle"));
    g_assert_nonnull(look_note(r, "no_timeline"));
    g_assert_cmpuint(bench_output_count(b, "schedules"), ==, 0);
    bench_destroy(b);
}

/* Timelines do not hang on the schedules in detail, and the best one's come first. */
static void test_lanes(void) {
    bench *b = bubble_begin(SETTINGS("pp=4", "m=8", "forward=2ms", "input=3ms", "weight=1ms",
                                     "pair=5ms", "schedules=gpipe,1f1b,dualpipe", "lanes=all"));
    const mill_report *r = bubble_run(b);
    static const char *const first[] = {"dualpipe_rank0", "gpipe_rank0", "1f1b_rank0"};
    g_assert_cmpuint(r->n_lanes, ==, 12);
    for (size_t i = 0; i < 3; i++)
        g_assert_cmpstr(r->lanes[4 * i]->id, ==, first[i]);
    g_assert_cmpint((int64_t)look_table(r, "idle")->rows, ==, 4);
    bench_destroy(b);
    b = bubble_begin(
        SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms", "detail=1f1b,gpipe", "lanes=gpipe"));
    r = bubble_run(b);
    g_assert_cmpuint(r->n_lanes, ==, 4);
    g_assert_cmpstr(r->lanes[0]->id, ==, "gpipe_rank0");
    bench_destroy(b);
}

/* A slope is what one more ns of a duration makes of the step. */
static void test_slope(void) {
    static const char *const forward[] = {"forward=2000000ns", "forward=2000001ns"};
    int64_t makespan[2];
    double slope = 0;
    for (int i = 0; i < 2; i++) {
        bench *b = bubble_begin(SETTINGS("pp=4", "m=8", forward[i], "backward=4ms", "detail=1f1b"));
        const mill_report *r = bubble_run(b);
        const mill_table *path = look_table(r, "path");
        slope = look_cell(path, row_from(path, 0, "duration", "F"), "slope").d;
        /* The last rank never stands still between its first start and last end; on the first one
         * the forwards after the first have slack. */
        const mill_table *ranks = look_table(r, "ranks");
        g_assert_cmpint(look_cell(ranks, 3, "critical").i, ==, look_cell(ranks, 3, "busy").i);
        g_assert_cmpint(look_cell(ranks, 0, "critical").i, <, look_cell(ranks, 0, "busy").i);
        /* Down through ranks 0 to 2, all of rank 3, and back. */
        const mill_table *stretches = look_table(r, "critical_path");
        g_assert_cmpuint(stretches->rows, ==, 7);
        g_assert_cmpint(look_cell(stretches, 3, "n").i, ==, 16);
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
    bench *b =
        bubble_begin(SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms", "schedules=1f1b"));
    const mill_report *r = bubble_run(b);
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
    bench *b = bubble_begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                                     "pair=30ms", "latency=3ms", "slowness=1,1.5", "detail=1f1b"));
    const mill_report *r = bubble_run(b);
    int64_t best = look_int(r, "best_makespan", NULL);
    int64_t base = cell(r, "schedules", "1F1B", "makespan").i;
    g_assert_cmpint(finding(r, "P1")->gain_ns, ==, base - best);
    g_assert_cmpint(finding(r, "P3")->gain_ns, ==,
                    base - changed(r, "all ranks alike", "makespan").i);
    g_assert_cmpint(finding(r, "P4")->gain_ns, ==,
                    base - changed(r, "no transfer time", "makespan").i);
    bench_destroy(b);
    b = bubble_begin(SETTINGS("pp=8", "m=20", "forward=10ms", "input=10ms", "weight=10ms",
                              "pair=30ms", "latency=3ms", "slowness=1,1.5", "detail=1f1b",
                              "min-gain=1"));
    g_assert_cmpuint(bubble_run(b)->n_findings, ==, 0);
    bench_destroy(b);
}

/* Of several bases the likely one has a pair that hides less than it could. */
static void test_hidden(void) {
    static const mill_chunk_cost costs[] = {COST(2, 2, 2, 12), COST(3, 4, 2, 12),
                                            COST(3, 4, 2, 12)};
    const mill_chunk_times times = times_of(costs, 1);
    bench *b = bubble_begin(SETTINGS("pp=4", "m=8", "detail=dualpipe"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    const mill_report *r = bubble_run(b);
    int64_t hidden = changed(r, "F&B hides transfers", "makespan").i;
    bench_destroy(b);
    b = bubble_begin(SETTINGS("pp=4", "m=8", "detail=dualpipe", "pair=6ms"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    g_assert_cmpint(hidden, ==, cell(bubble_run(b), "schedules", "DualPipe", "makespan").i);
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
        bench *b = bubble_begin(SETTINGS("pp=4", "m=8,16", "forward=2ms", "input=3ms", "weight=1ms",
                                         "pair=5ms", "jitter=0.2", "search=yes", "effort=50"));
        bench_jobs(b, 1 + 3 * i);
        text[i] = text_of(bubble_run(b));
        bench_destroy(b);
    }
    g_assert_cmpstr(text[0], ==, text[1]);
    g_free(text[0]);
    g_free(text[1]);
}

static void test_jitter(void) {
    bench *b = bubble_begin(SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms", "jitter=0.1",
                                     "samples=40", "schedules=1f1b"));
    const mill_report *r = bubble_run(b);
    int64_t steady = cell(r, "jitter", "1F1B", "steady").i;
    int64_t p50 = cell(r, "jitter", "1F1B", "p50").i, p95 = cell(r, "jitter", "1F1B", "p95").i;
    g_assert_cmpint(steady, ==, cell(r, "schedules", "1F1B", "makespan").i);
    g_assert_cmpint(p50, >, steady * 9 / 10);
    g_assert_cmpint(p50, <, p95);
    g_assert_cmpint(p95, <=, cell(r, "jitter", "1F1B", "max").i);
    g_assert_cmpint(cell(r, "jitter", "1F1B", "max").i, <, steady * 11 / 10);
    bench_destroy(b);
    b = bubble_begin(SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms", "jitter=0.1",
                              "samples=40", "schedules=1f1b", "seed=2"));
    g_assert_cmpint(cell(bubble_run(b), "jitter", "1F1B", "p50").i, !=, p50);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- values */

static void test_values(void) {
    bench *b = bubble_begin(SETTINGS("pp=4", "m=8,16", "forward=2ms", "input=3ms", "weight=1ms",
                                     "pair=5ms", "schedules=1f1b,dualpipe"));
    const mill_report *r = bubble_run(b);
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

/* ---------------------------------------------------------------- the search */

/* data/oracle/pp/optimal_small.json: with transfers of 2 ms, 1F1B takes 128 ms and the shortest
 * order without splits 124. */
static void test_search(void) {
    bench *b = bubble_begin(SETTINGS("pp=2", "m=3", "forward=10ms", "backward=20ms", "latency=2ms",
                                     "search=yes", "effort=300", "schedules=1f1b"));
    const mill_report *r = bubble_run(b);
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
    bubble_fails(SETTINGS("pp=4"), MILL_E_CONFIG, "no durations");
    bubble_fails(SETTINGS("schedules=1f1b,1f2b"), MILL_E_CONFIG,
                 "schedules = 1f2b: no such schedule");
    bubble_fails(SETTINGS("m=8,12,8"), MILL_E_CONFIG, "m lists 8 twice");
    bubble_fails(SETTINGS("detail=all"), MILL_E_CONFIG, "detail = all");
    bubble_fails(SETTINGS("forward=1ms", "backward=3ms", "input=1ms", "weight=1ms"), MILL_E_CONFIG,
                 "B must be Bi + W");
    bubble_fails(SETTINGS("forward=1ms", "backward=3ms", "weight=4ms"), MILL_E_CONFIG, "B must be");
    bubble_fails(SETTINGS("memory-limit=1GiB"), MILL_E_CONFIG, "needs activations");
    bubble_fails(SETTINGS("transfer-bytes=1MB"), MILL_E_CONFIG, "needs bandwidth");
    bubble_fails(SETTINGS("transfer-bytes=10GB", "bandwidth=100B"), MILL_E_CONFIG,
                 "a million seconds");
    bubble_fails(SETTINGS("schedules=", "forward=1ms", "backward=2ms"), MILL_E_CONFIG, "is empty");
    bubble_fails(SETTINGS("forward=1ms", "backward=2ms", "pp=2", "slowness=1,1,1"), MILL_E_CONFIG,
                 "slowness lists 3 ranks");
    bubble_fails(SETTINGS("table=x.csv", "forward=1ms"), MILL_E_CONFIG, "both table and forward");
    bubble_fails(SETTINGS("table=/nowhere/x.csv"), MILL_E_NOINPUT, "x.csv");
}

static void test_no_stages(void) {
    const mill_chunk_times times = times_of(NULL, 0);
    bench *b = bubble_begin(SETTINGS("pp=4"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "no chunk was recognised"));
    bench_destroy(b);
    b = bubble_begin(SETTINGS("pp=4", "m=8", "forward=1ms", "backward=2ms"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    g_assert_cmpint(cell(bubble_run(b), "schedules", "1F1B", "makespan").i, ==, 11 * 3 * MS);
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
        bubble_fails(SETTINGS(setting), MILL_E_DATA, wrong[i].cause);
    }
    static const char nul[] = "stage,forward_us,backward_us\n0,1\0,2\n";
    g_assert_true(g_file_set_contents(path, nul, sizeof nul - 1, NULL));
    bubble_fails(SETTINGS(setting), MILL_E_DATA, "is no duration");
    g_remove(path);
    g_rmdir(folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bubble/published", test_published);
    g_test_add_func("/bubble/shares", test_shares);
    g_test_add_func("/bubble/unknown", test_unknown);
    g_test_add_func("/bubble/refused", test_refused);
    g_test_add_func("/bubble/pair-rule", test_pair_rule);
    g_test_add_func("/bubble/latency", test_latency);
    g_test_add_func("/bubble/blocking", test_blocking);
    g_test_add_func("/bubble/memory", test_memory);
    g_test_add_func("/bubble/detail", test_detail);
    g_test_add_func("/bubble/lanes", test_lanes);
    g_test_add_func("/bubble/slope", test_slope);
    g_test_add_func("/bubble/what-if", test_what_if);
    g_test_add_func("/bubble/findings", test_findings);
    g_test_add_func("/bubble/hidden", test_hidden);
    g_test_add_func("/bubble/jobs", test_jobs);
    g_test_add_func("/bubble/jitter", test_jitter);
    g_test_add_func("/bubble/values", test_values);
    g_test_add_func("/bubble/search", test_search);
    g_test_add_func("/bubble/mistakes", test_mistakes);
    g_test_add_func("/bubble/no-stages", test_no_stages);
    g_test_add_func("/bubble/tables", test_tables);
    return g_test_run();
}
