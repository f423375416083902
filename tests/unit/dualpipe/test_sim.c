/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation on small plans whose times are worked out by hand. */
#include "bench_host.h"
#include "families.h"
#include "plain_sim.h"
#include "sim.h"

#include <string.h>

static bench *b;
static mill_run *run;

/* ---------------------------------------------------------------- plans and timings */

static mill_op_kind kind_of(const char *word) {
    return g_str_has_prefix(word, "FB")   ? MILL_OP_PAIR
           : g_str_has_prefix(word, "Bi") ? MILL_OP_INPUT
           : *word == 'F'                 ? MILL_OP_FORWARD
           : *word == 'B'                 ? MILL_OP_BACKWARD
                                          : MILL_OP_WEIGHT;
}

/* orders: of each rank, words as "F0", "Bi1", "FB01": kind and chunks. Need not be whole. */
static const pp_plan *any_plan_of(pp_place place, uint32_t chunks, uint32_t micro_batches,
                                  const char *const *orders) {
    uint32_t ranks = g_strv_length((char **)orders);
    pp_builder *p = pp_begin(run, "own", "Own", place, ranks, chunks, micro_batches);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        g_auto(GStrv) words = g_strsplit(orders[rank], " ", -1);
        pp_rank(p);
        for (char **word = words; *word; word++) {
            uint32_t last = (uint32_t)(word[0][strlen(*word) - 1] - '0');
            if (kind_of(*word) == MILL_OP_PAIR)
                pp_add_pair(p, (uint32_t)(word[0][2] - '0'), last);
            else
                pp_add(p, kind_of(*word), last);
        }
    }
    return pp_end(p);
}

static const pp_plan *plan_of(pp_place place, uint32_t chunks, uint32_t micro_batches,
                              const char *const *orders) {
    const pp_plan *plan = any_plan_of(place, chunks, micro_batches, orders);
    const char *fault = "";
    if (!pp_whole(run, plan, &fault))
        g_error("%s", fault);
    return plan;
}

#define PLAN(place, chunks, m, ...)                                                                \
    plan_of(place, chunks, m, (const char *const[]){__VA_ARGS__, NULL})

static const int64_t *all(const pp_plan *plan, int64_t ns) {
    int64_t *column = mill_scratch(run, plan->ranks * plan->chunks * sizeof *column);
    for (uint32_t cell = 0; cell < plan->ranks * plan->chunks; cell++)
        column[cell] = ns;
    return column;
}

/* F 10, B 20, Bi 12, W 8, F&B 25 on each cell. */
static pp_timing timing_of(const pp_plan *plan) {
    return (pp_timing){
        .forward = all(plan, 10),
        .backward = all(plan, 20),
        .input = all(plan, 12),
        .weight = all(plan, 8),
        .pair = all(plan, 25),
    };
}

static pp_result simulated(const pp_plan *plan, const pp_timing *timing) {
    pp_result result;
    mill_status status = pp_simulate(run, plan, timing, PP_RECORD, &result);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    return result;
}

static void check_starts(const pp_result *result, uint32_t rank, const int64_t *starts) {
    uint64_t first = result->first[rank], n = result->first[rank + 1] - first;
    g_assert_cmpmem(result->start + first, n * sizeof *starts, starts, n * sizeof *starts);
}

static void check_fails(const pp_plan *plan, const pp_timing *timing, const char *cause) {
    pp_result result;
    g_assert_cmpint(pp_simulate(run, plan, timing, 0, &result), ==, MILL_E_DATA);
    g_assert_cmpstr(bench_causes(b), ==, cause);
}

/* ---------------------------------------------------------------- dep */

static void test_1f1b(void) {
    const pp_plan *plan = PLAN(PP_PLACE_LOOP, 1, 2, "F0 F0 B0 B0", "F0 B0 F0 B0");
    pp_timing timing = timing_of(plan);
    timing.latency = 3;
    pp_result r = simulated(plan, &timing);
    check_starts(&r, 0, (int64_t[]){0, 10, 46, 76});
    check_starts(&r, 1, (int64_t[]){13, 23, 43, 53});
    g_assert_cmpint(r.makespan, ==, 96);
    g_assert_cmpint(r.ranks[0].busy, ==, 60);
    g_assert_cmpint(r.ranks[1].start, ==, 13);
    g_assert_cmpint(r.ranks[1].end, ==, 73);
    g_assert_cmpint(r.ranks[0].live, ==, 2);
    g_assert_cmpint(r.ranks[1].live, ==, 1);
}

/* The turn of the V is within rank 1: no latency there. */
static void test_v(void) {
    const pp_plan *plan = PLAN(PP_PLACE_WAVE, 2, 1, "F0 F1 Bi1 W1 B0", "F0 F1 B1 B0");
    pp_timing timing = timing_of(plan);
    timing.latency = 5;
    pp_result r = simulated(plan, &timing);
    check_starts(&r, 1, (int64_t[]){15, 25, 67, 87});
    check_starts(&r, 0, (int64_t[]){0, 40, 50, 62, 112});
    g_assert_cmpint(r.ranks[0].live, ==, 2);
    g_assert_cmpint(r.ranks[0].live_weight, ==, 2);
}

/* A pair needs both inputs to start, and gives both outputs when it ends. */
static void test_pair(void) {
    const pp_plan *plan = PLAN(PP_PLACE_LOOP, 1, 2, "F0 F0 B0 B0", "F0 FB00 B0");
    pp_timing timing = timing_of(plan);
    pp_result r = simulated(plan, &timing);
    check_starts(&r, 1, (int64_t[]){10, 20, 45});
    check_starts(&r, 0, (int64_t[]){0, 10, 45, 65});
    timing.pair_rule = PP_PAIR_OVERLAP;
    timing.alpha = 250000;
    r = simulated(plan, &timing);
    check_starts(&r, 1, (int64_t[]){10, 20, 43}); /* 20 + 10 / 4, rounded */
}

static void test_durations(void) {
    const pp_plan *plan = PLAN(PP_PLACE_BOTH, 2, 2, "F0 F1 B1 B0", "F1 F0 B0 B1");
    pp_timing timing = timing_of(plan);
    timing.pair = (int64_t[]){7, 10, 31, 40};
    timing.slowness = (int64_t[]){1000000, 1050000};
    pp_op pair = {MILL_OP_PAIR, 1, 0, 0}, forward = {MILL_OP_FORWARD, 1, 0, 0};
    g_assert_cmpint(pp_duration(plan, &timing, 0, pair), ==, 8);  /* 8.5, down */
    g_assert_cmpint(pp_duration(plan, &timing, 1, pair), ==, 37); /* 35 · 1.05 = 36.75 */
    g_assert_cmpint(pp_duration(plan, &timing, 0, forward), ==, 10);
    g_assert_cmpint(pp_duration(plan, &timing, 1, forward), ==, 11); /* 10.5, up */
    timing.pair = (int64_t[]){MILL_UNKNOWN, 10, INT64_MAX, INT64_MAX};
    g_assert_cmpint(pp_duration(plan, &timing, 0, pair), ==, MILL_UNKNOWN);
    g_assert_cmpint(pp_duration(plan, &timing, 1, pair), ==, INT64_MAX); /* and not more */
}

/* Three transfers that could begin at 10, 20, 30, over a link that each keeps for 15. */
static void test_link(void) {
    const pp_plan *plan = PLAN(PP_PLACE_LOOP, 1, 3, "F0 F0 F0 B0 B0 B0", "F0 F0 F0 B0 B0 B0");
    pp_timing timing = timing_of(plan);
    timing.latency = 2;
    timing.occupied = 15;
    pp_result r = simulated(plan, &timing);
    check_starts(&r, 1, (int64_t[]){27, 42, 57, 67, 87, 107});
    check_starts(&r, 0, (int64_t[]){0, 10, 20, 104, 124, 144});
}

/* DualPipe on two ranks. The first pair ends at 75 and sends both outputs to the other rank, over
 * the one link: they are there at 105 and 135. In both modes, since both ranks do the same. */
static void test_shared_link(void) {
    const pp_plan *plan =
        PLAN(PP_PLACE_BOTH, 2, 4, "F0 F1 FB01 FB10 B1 B0", "F1 F0 FB10 FB01 B0 B1");
    pp_timing timing = timing_of(plan);
    timing.occupied = 30;
    for (timing.comm = PP_COMM_DEP; timing.comm <= PP_COMM_BLOCKING; timing.comm++) {
        pp_result r = simulated(plan, &timing);
        check_starts(&r, 0, (int64_t[]){0, 40, 50, 135, 160, 210});
        check_starts(&r, 1, (int64_t[]){0, 40, 50, 135, 160, 210});
    }
}

/* Each chunk of each rank's order runs `m` times before the next one. */
static const pp_plan *in_blocks(pp_place place, uint32_t m, const char *const *orders) {
    const pp_plan *once = any_plan_of(place, 2, place == PP_PLACE_BOTH ? 2 : 1, orders);
    pp_builder *p =
        pp_begin(run, "own", "Own", place, once->ranks, 2, place == PP_PLACE_BOTH ? 2 * m : m);
    for (uint32_t rank = 0; rank < once->ranks; rank++) {
        pp_cursor *cursor = pp_cursor_at(run, once, rank);
        pp_rank(p);
        for (pp_item item; pp_next(cursor, &item);) {
            pp_loop_begin(p, m);
            pp_add(p, item.op.kind, item.op.chunk);
        }
    }
    return pp_end(p);
}

/* Each rank looks at what it gets only when all has been sent, which is more than its rings begin
 * with. */
static void test_far_ahead(void) {
    const pp_plan *plan =
        in_blocks(PP_PLACE_BOTH, 300, (const char *[]){"F0 F1 B1 B0", "F1 F0 B0 B1", NULL});
    pp_timing timing = timing_of(plan);
    timing.latency = 7;
    pp_result right, r = simulated(plan, &timing);
    g_assert_true(plain_simulate(run, plan, &timing, &right));
    g_assert_cmpmem(r.start, plan->total * sizeof *r.start, right.start,
                    plan->total * sizeof *right.start);
    g_assert_cmpint(r.ranks[0].live, ==, 600);
}

static void test_far_ahead_within(void) {
    const pp_plan *plan = in_blocks(PP_PLACE_WAVE, 100, (const char *[]){"F0 F1 B1 B0", NULL});
    pp_timing timing = timing_of(plan);
    timing.latency = 7;
    for (timing.comm = PP_COMM_DEP; timing.comm <= PP_COMM_BLOCKING; timing.comm++)
        g_assert_cmpint(simulated(plan, &timing).makespan, ==, 6000);
}

static void test_nothing(void) {
    const pp_plan *plan = PLAN(PP_PLACE_LOOP, 1, 0, "", "");
    pp_timing timing = timing_of(plan);
    pp_result r = simulated(plan, &timing);
    g_assert_cmpint(r.makespan, ==, 0);
    g_assert_cmpint(r.ranks[1].start, ==, 0);
    g_assert_cmpint(r.ranks[1].end, ==, 0);
}

/* ---------------------------------------------------------------- blocking */

/* Rank 0 has its second F at 23, but rank 1 asks for it at 43, with the batch that sends the
 * gradients of the first one. */
static void test_blocking(void) {
    const pp_plan *plan = PLAN(PP_PLACE_LOOP, 1, 2, "F0 F0 B0 B0", "F0 B0 F0 B0");
    pp_timing timing = timing_of(plan);
    timing.comm = PP_COMM_BLOCKING;
    timing.latency = 3;
    pp_result r = simulated(plan, &timing);
    check_starts(&r, 0, (int64_t[]){0, 13, 46, 79});
    check_starts(&r, 1, (int64_t[]){13, 23, 46, 56});
    g_assert_cmpint(r.makespan, ==, 99);
}

/* ---------------------------------------------------------------- what can't run */

static void test_deadlock(void) {
    const pp_plan *plan = PLAN(PP_PLACE_LOOP, 1, 2, "F0 B0 F0 B0", "F0 F0 B0 B0");
    pp_timing timing = timing_of(plan);
    check_fails(plan, &timing,
                "Own can't run in this order: rank 0 waits at B of micro-batch 0, chunk 0, for "
                "rank 1, which waits at F of micro-batch 1, chunk 0, for rank 0");
    pp_workspace *w = pp_workspace_create();
    g_assert_cmpint(pp_makespan(w, plan, &timing), ==, MILL_UNKNOWN);
    pp_workspace_destroy(w);
}

static void test_deadlock_of_one(void) {
    const pp_plan *plan = PLAN(PP_PLACE_WAVE, 2, 1, "F1 F0 B1 B0");
    pp_timing timing = timing_of(plan);
    check_fails(plan, &timing,
                "Own can't run in this order: rank 0 waits at F of micro-batch 0, chunk 1, for "
                "rank 0");
}

static void test_long_deadlock(void) {
    const char *orders[11] = {NULL};
    for (int rank = 0; rank < 10; rank++)
        orders[rank] = "F1 F0 B1 B0";
    const pp_plan *plan = plan_of(PP_PLACE_LOOP, 2, 1, orders);
    pp_timing timing = timing_of(plan);
    pp_result result;
    g_assert_cmpint(pp_simulate(run, plan, &timing, 0, &result), ==, MILL_E_DATA);
    g_assert_true(g_str_has_suffix(bench_causes(b),
                                   "which waits at F of micro-batch 0, chunk 1, for rank 2, "
                                   "which waits for others in turn"));
}

static void test_not_whole(void) {
    const pp_plan *plan =
        any_plan_of(PP_PLACE_LOOP, 1, 2, (const char *[]){"F0 B0", "F0 B0 F0 B0", NULL});
    pp_timing timing = timing_of(plan);
    check_fails(plan, &timing,
                "Own can't run in this order: rank 1 waits at F of micro-batch 1, chunk 0, for "
                "rank 0, which has ended");
}

static void test_blocking_deadlock(void) {
    const pp_plan *plan =
        PLAN(PP_PLACE_BOTH, 2, 4, "F0 F0 F1 F1 B1 B1 B0 B0", "F1 F1 F0 F0 B0 B0 B1 B1");
    pp_timing timing = timing_of(plan);
    simulated(plan, &timing);
    timing.comm = PP_COMM_BLOCKING;
    check_fails(plan, &timing,
                "Own can't run in this order with transfers that block: rank 0 waits before F of "
                "micro-batch 1, chunk 0, for a transfer with rank 1, which waits before F of "
                "micro-batch 1, chunk 1, for a transfer with rank 0");
}

static void test_too_long(void) {
    const pp_plan *plan = PLAN(PP_PLACE_LOOP, 1, 1, "F0 B0");
    pp_timing timing = timing_of(plan);
    timing.forward = (int64_t[]){INT64_MAX - 21};
    g_assert_cmpint(simulated(plan, &timing).makespan, ==, INT64_MAX - 1);
    static const char cause[] = "Own: all durations and transfers together exceed 2^63 ns (292 "
                                "years); check the durations and their units";
    timing.forward = (int64_t[]){INT64_MAX - 20};
    check_fails(plan, &timing, cause);
}

static void test_latency_too_long(void) {
    const pp_plan *plan = PLAN(PP_PLACE_LOOP, 1, 1, "F0 B0", "F0 B0");
    pp_timing timing = timing_of(plan);
    timing.latency = INT64_MAX / 4;
    pp_result result;
    g_assert_cmpint(pp_simulate(run, plan, &timing, 0, &result), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "292 years"));
}

static void test_unknown(void) {
    const pp_plan *plan = PLAN(PP_PLACE_LOOP, 1, 1, "F0 B0", "F0 Bi0 W0");
    pp_timing timing = timing_of(plan);
    timing.weight = (int64_t[]){MILL_UNKNOWN, 8}; /* of an operation that is not there */
    timing.pair = NULL;
    simulated(plan, &timing);
    timing.input = (int64_t[]){12, MILL_UNKNOWN};
    check_fails(plan, &timing, "Own: the duration of Bi on rank 1, chunk 0, is not known");
}

/* ---------------------------------------------------------------- jitter, cancelling */

static const pp_plan *family_plan(const char *id, uint32_t ranks, uint32_t micro_batches) {
    pp_sizes sizes = {.ranks = ranks, .micro_batches = micro_batches, .weight_lag = UINT32_MAX};
    return pp_family_of(id)->plan(run, &sizes);
}

static void test_jitter(void) {
    const pp_plan *plan = family_plan("1f1b", 4, 40);
    pp_timing timing = timing_of(plan);
    timing.forward = timing.backward = all(plan, 10000);
    timing.jitter = 100000;
    timing.seed = 1;
    pp_result r = simulated(plan, &timing), again = simulated(plan, &timing), bare;
    g_assert_cmpmem(r.end, plan->total * sizeof *r.end, again.end, plan->total * sizeof *r.end);
    g_assert_cmpint(pp_simulate(run, plan, &timing, 0, &bare), ==, MILL_OK);
    g_assert_cmpint(bare.makespan, ==, r.makespan);

    int64_t least = INT64_MAX, most = 0, sum = 0;
    for (uint64_t i = 0; i < plan->total; i++) {
        int64_t duration = r.end[i] - r.start[i];
        least = MIN(least, duration);
        most = MAX(most, duration);
        sum += duration;
    }
    g_assert_cmpint(least, >, 9000);
    g_assert_cmpint(least, <, 9050);
    g_assert_cmpint(most, <, 11000);
    g_assert_cmpint(most, >, 10950);
    g_assert_cmpint(ABS(sum / (int64_t)plan->total - 10000), <, 100); /* 3 of its deviations */
    int64_t busy = 0;
    for (uint32_t rank = 0; rank < 4; rank++)
        busy += r.ranks[rank].busy;
    g_assert_cmpint(busy, ==, sum);

    timing.seed = 2;
    g_assert_cmpint(simulated(plan, &timing).makespan, !=, r.makespan);
    timing.jitter = 1000000;
    r = simulated(plan, &timing);
    for (uint64_t i = 0; i < plan->total; i++)
        g_assert_cmpint(r.end[i], >=, r.start[i]);
    pp_result brief;
    g_assert_cmpint(pp_simulate(run, plan, &timing, PP_MAKESPAN, &brief), ==, MILL_OK);
    g_assert_cmpint(brief.makespan, ==, r.makespan);
    g_assert_null(brief.ranks);
}

static void test_cancelled(void) {
    const pp_plan *plan = family_plan("1f1b", 64, 1024);
    pp_timing timing = timing_of(plan);
    pp_result result;
    bench_cancel_at(b, 3);
    g_assert_cmpint(pp_simulate(run, plan, &timing, 0, &result), ==, MILL_E_CANCELLED);
    g_assert_cmpstr(bench_causes(b), ==, "");
}

/* ---------------------------------------------------------------- all */

struct test {
    const char *path;
    void (*fn)(void);
};

static void with_bench(gconstpointer test) {
    b = bench_create(NULL, NULL);
    run = bench_services(b);
    ((const struct test *)test)->fn();
    bench_destroy(b);
}

int main(int argc, char **argv) {
    static const struct test tests[] = {
        {"/sim/1f1b", test_1f1b},
        {"/sim/v", test_v},
        {"/sim/pair", test_pair},
        {"/sim/durations", test_durations},
        {"/sim/link", test_link},
        {"/sim/shared-link", test_shared_link},
        {"/sim/far-ahead", test_far_ahead},
        {"/sim/far-ahead-within", test_far_ahead_within},
        {"/sim/nothing", test_nothing},
        {"/sim/blocking", test_blocking},
        {"/sim/deadlock", test_deadlock},
        {"/sim/deadlock-of-one", test_deadlock_of_one},
        {"/sim/long-deadlock", test_long_deadlock},
        {"/sim/not-whole", test_not_whole},
        {"/sim/blocking-deadlock", test_blocking_deadlock},
        {"/sim/too-long", test_too_long},
        {"/sim/latency-too-long", test_latency_too_long},
        {"/sim/unknown", test_unknown},
        {"/sim/jitter", test_jitter},
        {"/sim/cancelled", test_cancelled},
    };
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add_data_func(tests[i].path, &tests[i], with_bench);
    return g_test_run();
}
