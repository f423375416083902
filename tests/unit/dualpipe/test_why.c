/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time by cause, critical paths, slopes and slack: by hand, against themselves, and against
 * simulations with other durations. */
#include "bench_host.h"
#include "plain_sim.h"
#include "random_case.h"
#include "random_plan.h"
#include "why.h"

#include <math.h>

#define CASES 120 /* of each family and mode */

/* ---------------------------------------------------------------- by hand */

/* 1F1B on two ranks, two micro-batches: rank 0 runs F F B B, rank 1 F B F B. */
typedef struct small {
    bench *b;
    const pp_plan *plan;
    pp_timing timing;
    pp_result result;
} small;

static void small_init(small *s, pp_comm comm, int64_t occupied) {
    s->b = bench_create(NULL, NULL);
    mill_run *run = bench_services(s->b);
    pp_sizes sizes = {.ranks = 2, .micro_batches = 2};
    s->plan = pp_family_of("1f1b")->plan(run, &sizes);
    s->timing = (pp_timing){
        .forward = on_all_cells(run, s->plan, 10),
        .backward = on_all_cells(run, s->plan, 20),
        .comm = comm,
        .latency = 3,
        .occupied = occupied,
    };
    s->result = recorded(run, s->plan, &s->timing);
}

static void assert_idle(const pp_idle *idle, const int64_t *right) {
    for (int cause = 0; cause < PP_CAUSES; cause++)
        g_assert_cmpint(idle->ns[cause], ==, right[cause]);
}

static void check_small(pp_comm comm, int64_t makespan, const int64_t right[2][PP_CAUSES],
                        const uint8_t how[6], int64_t latencies) {
    static const uint64_t ops[] = {0, 4, 5, 6, 7, 3}; /* F0 of both ranks, rank 1's others, B1 */
    small s;
    small_init(&s, comm, 0);
    pp_idle idle[2];
    pp_path path;
    pp_why_idle(s.plan, &s.result, idle);
    pp_why_path(bench_services(s.b), s.plan, &s.timing, &s.result, &path);
    g_assert_cmpint(s.result.makespan, ==, makespan);
    for (int rank = 0; rank < 2; rank++)
        assert_idle(&idle[rank], right[rank]);
    g_assert_cmpuint(path.n, ==, G_N_ELEMENTS(ops));
    for (size_t i = 0; i < path.n; i++) {
        g_assert_cmpuint(path.op[i], ==, ops[i]);
        g_assert_cmpuint(path.rank[i], ==, ops[i] > 3);
        g_assert_cmpuint(path.how[i], ==, how[i]);
    }
    pp_slopes slopes = pp_path_slopes(s.plan, &s.timing, &s.result, &path), stages[2];
    g_assert_cmpfloat(slopes.forward, ==, 3);
    g_assert_cmpfloat(slopes.backward, ==, 3);
    g_assert_cmpfloat(slopes.latency, ==, (double)latencies);
    pp_path_stage_slopes(s.plan, &s.timing, &s.result, &path, stages);
    g_assert_cmpfloat(stages[0].forward, ==, 1);
    g_assert_cmpfloat(stages[0].backward, ==, 1);
    g_assert_cmpfloat(stages[1].forward, ==, 2);
    g_assert_true(isnan(stages[1].latency));
    bench_destroy(s.b);
}

/* Rank 0: F 0–10, 10–20, B 46–66, 76–96. Rank 1: F 13–23, B 23–43, F 43–53, B 53–73. */
static void test_small_dep(void) {
    static const int64_t idle[2][PP_CAUSES] = {{0, 0, 30, 6, 0}, {13, 0, 0, 0, 23}};
    static const uint8_t how[] = {PP_BY_RANK, PP_BY_TRANSFER, PP_BY_RANK,
                                  PP_BY_RANK, PP_BY_RANK,     PP_BY_TRANSFER};
    check_small(PP_COMM_DEP, 96, idle, how, 2);
}

/* Rank 0: F 0–10, 13–23, B 46–66, 79–99. Rank 1: F 13–23, B 23–43, F 46–56, B 56–76. The transfer
 * of the second F is posted by rank 0 at 23, and by rank 1, which is late, at 43. */
static void test_small_blocking(void) {
    static const int64_t idle[2][PP_CAUSES] = {{0, 0, 30, 9, 0}, {13, 0, 0, 3, 23}};
    static const uint8_t how[] = {PP_BY_RANK,  PP_BY_TRANSFER, PP_BY_RANK,
                                  PP_BY_BATCH, PP_BY_RANK,     PP_BY_TRANSFER};
    check_small(PP_COMM_BLOCKING, 99, idle, how, 3);
}

static void test_small_slack(void) {
    /* Rank 0's second F may end at 40 for rank 1's to start at 43, its first B before its second.
     */
    static const int64_t right[] = {0, 20, 10, 0, 0, 0, 0, 0};
    for (int comm = PP_COMM_DEP; comm <= PP_COMM_BLOCKING; comm++) {
        small s;
        int64_t slack[8];
        small_init(&s, (pp_comm)comm, 0);
        pp_why_slack(s.plan, &s.timing, &s.result, slack);
        for (int i = 0; i < 8; i++)
            g_assert_cmpint(slack[i], ==, right[i]);
        bench_destroy(s.b);
    }
}

/* A link that is taken 31 ns by each transfer: the second activation waits for the first. */
static void test_small_links(void) {
    small s;
    pp_path path;
    small_init(&s, PP_COMM_DEP, 31);
    g_assert_cmpint(s.result.start[6], ==, 75);
    pp_why_path(bench_services(s.b), s.plan, &s.timing, &s.result, &path);
    g_assert_cmpuint(path.n, ==, 4);
    g_assert_cmpuint(path.op[1], ==, 6);
    g_assert_cmpuint(path.links[1], ==, 2);
    g_assert_cmpuint(path.op[3], ==, 3);
    pp_slopes slopes = pp_path_slopes(s.plan, &s.timing, &s.result, &path);
    g_assert_cmpfloat(slopes.occupied, ==, 3);
    g_assert_cmpint(s.result.makespan, ==, 2 * 10 + 2 * 20 + 2 * 3 + 3 * 31);
    bench_destroy(s.b);
}

/* ---------------------------------------------------------------- random cases */

/* Some orders deadlock where transfers block; in dualpipe.py's own, none does. */
static bool can_run(mill_run *run, const random_case *c) {
    pp_result result;
    return c->timing.comm == PP_COMM_DEP || g_str_has_prefix(c->plan->id, "dualpipe") ||
           plain_simulate(run, c->plan, &c->timing, &result);
}

/* family NULL: a random order. */
static random_case next_case(mill_run *run, GRand *rand, const pp_family *family, pp_comm comm) {
    random_case c = {0};
    if (!family) {
        c.plan = random_plan(run, rand, true);
        c.timing = random_timing(run, rand, c.plan, comm);
        return c;
    }
    c = random_case_of(run, rand, family, 30);
    if (g_rand_boolean(rand))
        random_stages(run, rand, &c, 30);
    random_hardship(run, rand, &c);
    c.timing.comm = comm;
    return c;
}

/* The parts of each rank's idle time are its idle time. */
static void check_idle(mill_run *run, const random_case *c) {
    pp_result result = recorded(run, c->plan, &c->timing);
    g_autofree pp_idle *idle = g_new(pp_idle, c->plan->ranks);
    pp_why_idle(c->plan, &result, idle);
    int64_t least = INT64_MAX;
    for (uint32_t rank = 0; rank < c->plan->ranks; rank++) {
        int64_t sum = 0;
        for (int cause = 0; cause < PP_CAUSES; cause++) {
            g_assert_cmpint(idle[rank].ns[cause], >=, 0);
            sum += idle[rank].ns[cause];
        }
        g_assert_cmpint(sum, ==, result.makespan - result.ranks[rank].busy);
        least = MIN(least, idle[rank].imbalance);
    }
    g_assert_cmpint(least, ==, 0);
}

/* The path begins at 0, ends at the makespan, and has no gaps: each operation starts when the one
 * before it has ended and its transfer has come. */
static void check_path(mill_run *run, const random_case *c) {
    pp_result result = recorded(run, c->plan, &c->timing);
    g_autofree int64_t *slack = g_new(int64_t, c->plan->total);
    pp_path path;
    pp_why_path(run, c->plan, &c->timing, &result, &path);
    pp_why_slack(c->plan, &c->timing, &result, slack);
    int64_t time = 0;
    for (uint64_t i = 0; i < path.n; i++) {
        uint64_t op = path.op[i];
        if (path.how[i] != PP_BY_RANK)
            time += c->timing.latency + path.links[i] * c->timing.occupied;
        g_assert_true(i == 0 || path.how[i] == PP_BY_TRANSFER || path.op[i - 1] == op - 1);
        g_assert_cmpint(result.start[op], ==, time);
        g_assert_cmpint(slack[op], ==, 0);
        time = result.end[op];
    }
    g_assert_cmpint(time, ==, result.makespan);
    for (uint64_t op = 0; op < c->plan->total; op++)
        g_assert_cmpint(slack[op], >=, 0);
}

/* An operation that is longer by its slack leaves the makespan, by 1 ns more does not. The plain
 * simulation knows neither jitter nor, in mode blocking, links and dualpipe.py's order of sends. */
static void check_slack(mill_run *run, GRand *rand, const random_case *c) {
    bool blocking = c->timing.comm == PP_COMM_BLOCKING;
    if (blocking && g_str_has_prefix(c->plan->id, "dualpipe"))
        return;
    pp_timing timing = c->timing;
    timing.jitter = 0;
    if (blocking)
        timing.occupied = 0;
    pp_result result = recorded(run, c->plan, &timing), longer;
    g_autofree int64_t *slack = g_new(int64_t, c->plan->total);
    pp_why_slack(c->plan, &timing, &result, slack);
    uint64_t op = g_rand_int(rand) % c->plan->total;
    g_assert_true(plain_simulate_longer(run, c->plan, &timing, op, slack[op], &longer));
    g_assert_cmpint(longer.makespan, ==, result.makespan);
    g_assert_true(plain_simulate_longer(run, c->plan, &timing, op, slack[op] + 1, &longer));
    g_assert_cmpint(longer.makespan, ==, result.makespan + 1);
}

/* ---------------------------------------------------------------- slopes */

#define STEP 1000000 /* ns: against this, what slowness, alpha and jitter round is little */

enum { LATENCY = 5, OCCUPIED, DURATIONS };

/* The timing in steps, with one duration (a column, or as above) longer by `more`. */
static pp_timing in_steps(mill_run *run, const random_case *c, int which, int64_t more) {
    const pp_timing *t = &c->timing;
    const int64_t *const from[] = {t->forward, t->backward, t->input, t->weight, t->pair};
    uint32_t cells = c->plan->ranks * c->plan->chunks;
    int64_t *to[LATENCY];
    for (int i = 0; i < LATENCY; i++) {
        to[i] = mill_scratch(run, cells * sizeof *to[i]);
        for (uint32_t cell = 0; cell < cells; cell++)
            to[i][cell] = from[i][cell] * STEP + (i == which ? more : 0);
    }
    pp_timing stepped = *t;
    stepped.forward = to[0];
    stepped.backward = to[1];
    stepped.input = to[2];
    stepped.weight = to[3];
    stepped.pair = to[4];
    stepped.latency = t->latency * STEP + (which == LATENCY ? more : 0);
    stepped.occupied = t->occupied * STEP + (which == OCCUPIED ? more : 0);
    return stepped;
}

static double makespan_of(mill_run *run, const random_case *c, int which, int64_t more) {
    pp_timing timing = in_steps(run, c, which, more);
    pp_result result;
    g_assert_cmpint(pp_simulate(run, c->plan, &timing, 0, &result), ==, MILL_OK);
    return (double)result.makespan / STEP;
}

/* Nothing can be taken off a 0. */
static bool can_shrink(const random_case *c, int which) {
    const pp_timing *t = &c->timing;
    const int64_t *const columns[] = {t->forward, t->backward, t->input, t->weight, t->pair};
    if (which >= LATENCY)
        return which == LATENCY ? t->latency > 0 : t->occupied > 0;
    for (uint32_t cell = 0; cell < c->plan->ranks * c->plan->chunks; cell++)
        if (columns[which][cell] == 0)
            return false;
    return true;
}

static unsigned pinned; /* slopes that are the same on both sides */

/* A makespan is the longest of many sums, so what a path says is at most what is added by a longer
 * duration, and at least what is taken off by a shorter one. */
static void check_slopes(mill_run *run, const random_case *c) {
    pp_timing timing = in_steps(run, c, DURATIONS, 0);
    pp_result result = recorded(run, c->plan, &timing);
    pp_path path;
    pp_why_path(run, c->plan, &timing, &result, &path);
    pp_slopes s = pp_path_slopes(c->plan, &timing, &result, &path);
    const double slopes[] = {s.forward, s.backward, s.input,   s.weight,
                             s.pair,    s.latency,  s.occupied};
    double makespan = (double)result.makespan / STEP;
    for (int which = 0; which < DURATIONS; which++) {
        double above = makespan_of(run, c, which, STEP) - makespan;
        g_assert_cmpfloat(slopes[which], <, above + 0.01);
        if (!can_shrink(c, which))
            continue;
        double below = makespan - makespan_of(run, c, which, -STEP);
        g_assert_cmpfloat(slopes[which], >, below - 0.01);
        pinned += above > 0.5 && above - below < 0.01;
    }
}

static void check_stages(mill_run *run, const random_case *c) {
    pp_result result = recorded(run, c->plan, &c->timing);
    g_autofree pp_slopes *stages = g_new(pp_slopes, c->plan->stages);
    pp_slopes sum = {0}, all;
    pp_path path;
    pp_why_path(run, c->plan, &c->timing, &result, &path);
    all = pp_path_slopes(c->plan, &c->timing, &result, &path);
    pp_path_stage_slopes(c->plan, &c->timing, &result, &path, stages);
    for (uint32_t stage = 0; stage < c->plan->stages; stage++) {
        sum.forward += stages[stage].forward;
        sum.backward += stages[stage].backward;
        sum.input += stages[stage].input;
        sum.weight += stages[stage].weight;
        sum.pair += stages[stage].pair;
    }
    g_assert_cmpfloat(fabs(sum.forward - all.forward), <, 1e-6);
    g_assert_cmpfloat(fabs(sum.backward - all.backward), <, 1e-6);
    g_assert_cmpfloat(fabs(sum.input - all.input), <, 1e-6);
    g_assert_cmpfloat(fabs(sum.weight - all.weight), <, 1e-6);
    g_assert_cmpfloat(fabs(sum.pair - all.pair), <, 1e-6);
}

/* ---------------------------------------------------------------- all of them */

static void check_family(GRand *rand, const pp_family *family, pp_comm comm) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    int n = 0;
    for (int i = 0; i < CASES; i++) {
        random_case c = next_case(run, rand, family, comm);
        if (!can_run(run, &c))
            continue;
        check_idle(run, &c);
        check_path(run, &c);
        check_slack(run, rand, &c);
        check_slopes(run, &c);
        check_stages(run, &c);
        n++;
    }
    g_test_message("%s: %d of %d orders run", family ? family->id : "random", n, CASES);
    g_assert_cmpint(n, >, CASES / 20);
    bench_destroy(b);
}

static void check_families(pp_comm comm) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (const pp_family *const *f = pp_families; *f; f++)
        check_family(rand, *f, comm);
    check_family(rand, NULL, comm);
    g_test_message("%u slopes are the same on both sides", pinned);
    g_assert_cmpuint(pinned, >, 5 * CASES);
}

static void test_dep(void) {
    check_families(PP_COMM_DEP);
}

static void test_blocking(void) {
    pinned = 0;
    check_families(PP_COMM_BLOCKING);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dualpipe/why/small/dep", test_small_dep);
    g_test_add_func("/dualpipe/why/small/blocking", test_small_blocking);
    g_test_add_func("/dualpipe/why/small/slack", test_small_slack);
    g_test_add_func("/dualpipe/why/small/links", test_small_links);
    g_test_add_func("/dualpipe/why/random/dep", test_dep);
    g_test_add_func("/dualpipe/why/random/blocking", test_blocking);
    return g_test_run();
}
