/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation against the plain one, on thousands of random plans and durations. */
#include "bench_host.h"
#include "plain_sim.h"
#include "random_plan.h"

#include <string.h>

#define ROUNDS 4000

static GRand *rng;

/* ---------------------------------------------------------------- comparing */

static void check_same(const pp_plan *plan, const pp_result *r, const pp_result *right) {
    g_assert_cmpint(r->makespan, ==, right->makespan);
    for (uint32_t rank = 0; rank < plan->ranks; rank++) {
        const pp_rank_times *a = &r->ranks[rank], *b = &right->ranks[rank];
        g_assert_cmpint(a->busy, ==, b->busy);
        g_assert_cmpint(a->start, ==, b->start);
        g_assert_cmpint(a->end, ==, b->end);
        g_assert_cmpint(a->live, ==, b->live);
        g_assert_cmpint(a->live_weight, ==, b->live_weight);
    }
}

static void check_record(const pp_plan *plan, const pp_result *r, const pp_result *right) {
    g_assert_cmpmem(r->first, (plan->ranks + 1) * sizeof *r->first, right->first,
                    (plan->ranks + 1) * sizeof *right->first);
    for (uint64_t i = 0; i < plan->total; i++) {
        g_assert_cmpint(r->start[i], ==, right->start[i]);
        g_assert_cmpint(r->end[i], ==, right->end[i]);
        g_assert_cmpmem(&r->items[i], sizeof r->items[i], &right->items[i], sizeof r->items[i]);
    }
}

/* One plan with one timing. Returns whether it ran. */
static bool compare(bench *b, pp_workspace *w, bool runs, pp_comm comm) {
    mill_run *run = bench_services(b);
    const pp_plan *plan = random_plan(run, rng, runs);
    pp_timing timing = random_timing(run, rng, plan, comm);
    pp_result result, right;
    bool ran = plain_simulate(run, plan, &timing, &right);
    mill_status status = pp_simulate(run, plan, &timing, PP_RECORD, &result);
    g_assert_cmpint(status, ==, ran ? MILL_OK : MILL_E_DATA);
    if (comm == PP_COMM_DEP)
        g_assert_cmpint(pp_makespan(w, plan, &timing), ==, ran ? right.makespan : MILL_UNKNOWN);
    if (!ran) {
        g_assert_nonnull(strstr(bench_causes(b), "waits "));
        return false;
    }
    check_same(plan, &result, &right);
    check_record(plan, &result, &right);
    g_assert_cmpint(pp_simulate(run, plan, &timing, 0, &result), ==, MILL_OK);
    g_assert_null(result.items);
    check_same(plan, &result, &right);
    return true;
}

static int count_runs(bool runs, pp_comm comm) {
    pp_workspace *w = pp_workspace_create();
    int ran = 0;
    for (int i = 0; i < ROUNDS; i++) {
        bench *b = bench_create(NULL, NULL);
        ran += compare(b, w, runs, comm);
        bench_destroy(b);
    }
    pp_workspace_destroy(w);
    return ran;
}

static void test_dep(void) {
    g_assert_cmpint(count_runs(true, PP_COMM_DEP), ==, ROUNDS);
}

/* Where orders are drawn without a look at other ranks, many deadlock and some do not. */
static void test_deadlocks(void) {
    int ran = count_runs(false, PP_COMM_DEP);
    g_assert_cmpint(ran, >, ROUNDS / 20);
    g_assert_cmpint(ran, <, ROUNDS * 19 / 20);
}

static void test_blocking(void) {
    int ran = count_runs(true, PP_COMM_BLOCKING);
    g_assert_cmpint(ran, >, ROUNDS / 20);
    g_assert_cmpint(ran, <, ROUNDS * 19 / 20);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    rng = g_rand_new_with_seed(5);
    g_test_add_func("/sim/random/dep", test_dep);
    g_test_add_func("/sim/random/deadlocks", test_deadlocks);
    g_test_add_func("/sim/random/blocking", test_blocking);
    int status = g_test_run();
    g_rand_free(rng);
    return status;
}
