/* SPDX-License-Identifier: Apache-2.0 */
/* The search: it keeps its limits, is no worse than any family, and the same for any number of
 * jobs. */
#include "bench_host.h"
#include "search_candidates.h"
#include "search_goal.h"

#include <string.h>

static const search_costs even = {
    .forward = 1000, .backward = 2000, .input = 1000, .weight = 1000, .pair = 3000};
static const int64_t last_longer[] = {10, 13, 10, 8};
static const search_costs uneven = {.forward = 1000,
                                    .backward = 2000,
                                    .input = 1000,
                                    .weight = 1000,
                                    .pair = 3000,
                                    .latency = 10,
                                    .scale = last_longer};

/* Integers that two and four chunks a rank share without rest. */
static search_costs random_costs(void) {
    search_costs costs = {
        .forward = 80 * g_test_rand_int_range(1, 20),
        .input = 80 * g_test_rand_int_range(1, 20),
        .weight = 80 * g_test_rand_int_range(1, 20),
        .latency = g_test_rand_int_range(0, 3) * g_test_rand_int_range(0, 100),
        .occupied = g_test_rand_int_range(0, 3) == 0 ? g_test_rand_int_range(0, 200) : 0,
    };
    costs.backward = costs.input + costs.weight;
    costs.pair = (costs.forward + costs.backward) / 80 * g_test_rand_int_range(50, 90);
    return costs;
}

static pp_goal random_goal(const search_costs *costs) {
    pp_goal goal =
        search_goal(costs, (uint32_t)g_test_rand_int_range(1, 7),
                    (uint32_t)g_test_rand_int_range(1, 13), (uint32_t)g_test_rand_int_range(1, 4));
    goal.split = g_test_rand_int_range(0, 3);
    goal.until_weight = g_test_rand_int_range(0, 2);
    goal.effort = 1500;
    if (g_test_rand_int_range(0, 3))
        goal.memory = g_test_rand_int_range(1, 20) * INT64_C(500000);
    return goal;
}

static pp_found found_by(mill_run *run, const pp_goal *goal) {
    pp_found found;
    g_assert_cmpint(pp_search(run, goal, &found), ==, MILL_OK);
    g_assert_cmpint(found.tried, <=, goal->effort);
    return found;
}

/* What any result must be, whatever was asked. */
static void check_sound(mill_run *run, const pp_goal *goal, const pp_found *found) {
    const char *fault = "";
    g_assert_true(pp_whole(run, found->plan, &fault));
    g_assert_nonnull(found->how);
    const pp_timing *timing = goal->timing(run, goal->context, found->plan);
    g_assert_cmpint(pp_makespan_of(found->plan, timing), ==, found->makespan);
    g_assert_cmpint(found->bound.ns, <=, found->makespan);
    g_assert_nonnull(found->bound.formula);
    if (found->bound.ns == found->makespan)
        g_assert_true(found->proven);
    g_assert_cmpuint(found->plan->micro_batches, ==, goal->sizes.micro_batches);
    g_assert_cmpuint(found->plan->chunks, <=, goal->sizes.chunks);
    g_assert_true(goal->split || !found->plan->split);
    if (goal->memory == MILL_UNKNOWN)
        return;
    /* Chunks of a share of ranks / stages each. */
    int64_t live = pp_most_live(run, found->plan, goal->until_weight);
    g_assert_cmpint(live * 1000000 * found->plan->ranks / found->plan->stages, <=, goal->memory);
}

/* The shortest of the families with their usual parameters that keep to the limit. */
static int64_t best_family(mill_run *run, const pp_goal *goal) {
    int64_t best = INT64_MAX;
    for (const pp_family *const *f = goal->families; *f; f++) {
        pp_sizes sizes = goal->sizes, nearest;
        sizes.warm_up = 1;
        sizes.weight_lag = UINT32_MAX;
        if ((!(*f)->choosable && (*f)->chunks > sizes.chunks) || ((*f)->split && !goal->split) ||
            !(*f)->takes(&sizes, &nearest))
            continue;
        const pp_plan *plan = (*f)->plan(run, &sizes);
        int64_t live = pp_most_live(run, plan, goal->until_weight);
        if (goal->memory != MILL_UNKNOWN &&
            live * 1000000 * plan->ranks / plan->stages > goal->memory)
            continue;
        int64_t makespan = pp_makespan_of(plan, goal->timing(run, goal->context, plan));
        if (makespan != MILL_UNKNOWN)
            best = MIN(best, makespan);
    }
    return best;
}

static void test_random(void) {
    int better = 0;
    for (int round = 0; round < 90; round++) {
        bench *b = bench_create(NULL, NULL);
        mill_run *run = bench_services(b);
        search_costs costs = random_costs();
        pp_goal goal = random_goal(&costs);
        pp_found found = found_by(run, &goal);
        int64_t family = best_family(run, &goal);
        if (found.plan) {
            check_sound(run, &goal, &found);
            g_assert_cmpint(found.makespan, <=, family);
            better += found.makespan < family;
        } else {
            g_assert_cmpint(family, ==, INT64_MAX);
        }
        bench_destroy(b);
    }
    g_assert_cmpint(better, >, 10); /* for which there is a search */
}

/* A named schedule that reaches the bound is the answer, and the one that holds least. */
static void test_named(void) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    pp_goal goal = search_goal(&even, 4, 12, 1);
    goal.split = false;
    pp_found found = found_by(run, &goal);
    g_assert_cmpstr(found.how, ==, "1F1B"); /* not GPipe, which is as short */
    g_assert_cmpint(found.makespan, ==, (12 + 3) * 3000);
    g_assert_true(found.proven);
    goal.split = true;
    found = found_by(run, &goal);
    g_assert_cmpstr(found.how, ==, "ZB-H1");
    g_assert_cmpint(found.makespan, ==, 3 * 1000 + 12 * 3000);
    g_assert_true(found.proven);
    bench_destroy(b);
}

/* With stages of unlike length no family reaches the bound, and the search does. */
static void test_uneven(void) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    pp_goal goal = search_goal(&uneven, 4, 10, 1);
    goal.memory = 4000000;
    goal.until_weight = true;
    pp_found found = found_by(run, &goal);
    check_sound(run, &goal, &found);
    g_assert_true(found.proven);
    g_assert_cmpint(found.makespan, ==, 1010 + 10 * 3900); /* the second rank's way in and work */
    g_assert_cmpint(best_family(run, &goal), >, found.makespan);
    bench_destroy(b);
}

/* Fewer chunks than a schedule needs: none. One micro-batch at a time: each goes there and back. */
static void test_memory(void) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    pp_goal goal = search_goal(&even, 3, 5, 1);
    goal.memory = 999999;
    pp_found found = found_by(run, &goal);
    g_assert_null(found.plan);
    g_assert_cmpint(found.makespan, ==, MILL_UNKNOWN);
    g_assert_false(found.proven);
    goal.memory = 1000000;
    goal.split = false;
    found = found_by(run, &goal);
    check_sound(run, &goal, &found);
    g_assert_cmpint(found.makespan, ==, 5 * 3 * 3000);
    g_assert_true(found.proven);
    bench_destroy(b);
}

static bool same_plan(const pp_plan *x, const pp_plan *y) {
    return x->n_ops == y->n_ops && x->total == y->total && x->chunks == y->chunks &&
           !memcmp(x->stage, y->stage, x->ranks * x->chunks * sizeof *x->stage) &&
           !memcmp(x->ops, y->ops, x->n_ops * sizeof *x->ops) &&
           !memcmp(x->first, y->first, (x->ranks + 1) * sizeof *x->first);
}

static void test_jobs(void) {
    search_costs costs = {.forward = 1200,
                          .backward = 2800,
                          .input = 2000,
                          .weight = 800,
                          .pair = 3600,
                          .latency = 60};
    for (uint32_t ranks = 2; ranks < 6; ranks++) {
        bench *b[4];
        pp_found found[4];
        for (unsigned jobs = 1; jobs < 4; jobs++) {
            b[jobs] = bench_create(NULL, NULL);
            bench_jobs(b[jobs], jobs);
            pp_goal goal = search_goal(&costs, ranks, 9, 2);
            goal.memory = (ranks - 1) * INT64_C(1000000);
            goal.until_weight = true;
            goal.effort = 4000;
            found[jobs] = found_by(bench_services(b[jobs]), &goal);
            g_assert_cmpstr(found[jobs].how, ==, found[1].how);
            g_assert_cmpint(found[jobs].makespan, ==, found[1].makespan);
            g_assert_cmpint(found[jobs].tried, ==, found[1].tried);
            g_assert_true(same_plan(found[jobs].plan, found[1].plan));
        }
        for (unsigned jobs = 1; jobs < 4; jobs++)
            bench_destroy(b[jobs]);
    }
}

/* More effort is never worse, and hardly any is enough for the first family. */
static void test_effort(void) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    int64_t before = INT64_MAX;
    static const int64_t efforts[] = {1, 50, 5000};
    for (size_t i = 0; i < G_N_ELEMENTS(efforts); i++) {
        pp_goal goal = search_goal(&uneven, 4, 8, 2);
        goal.effort = efforts[i];
        pp_found found = found_by(run, &goal);
        check_sound(run, &goal, &found);
        g_assert_cmpint(found.makespan, <=, before);
        before = found.makespan;
    }
    bench_destroy(b);
}

/* Where transfers block, what counts is the simulation of that. Some orders don't run then: ZB-H2,
 * for one. */
static void test_blocking(void) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    search_costs costs = even;
    costs.latency = 100;
    costs.comm = PP_COMM_BLOCKING;
    pp_goal goal = search_goal(&costs, 4, 8, 1);
    pp_found found = found_by(run, &goal);
    check_sound(run, &goal, &found);
    g_assert_cmpint(found.makespan, <=, best_family(run, &goal));
    pp_sizes sizes = {4, 8, 1, 0, UINT32_MAX};
    const pp_plan *zb_h2 = pp_family_of("zb-h2")->plan(run, &sizes);
    g_assert_cmpint(pp_makespan_of(zb_h2, search_timing(run, &costs, zb_h2)), ==, MILL_UNKNOWN);
    bench_destroy(b);
}

/* With jitter too: what is found is the best as it was found, jitter included. */
static void test_jitter(void) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    search_costs costs = uneven;
    costs.jitter = 50000;
    pp_goal goal = search_goal(&costs, 4, 8, 2);
    goal.effort = 3000;
    pp_found found = found_by(run, &goal);
    check_sound(run, &goal, &found);
    g_assert_cmpint(found.makespan, <=, best_family(run, &goal));
    bench_destroy(b);
}

static void test_cancelled(void) {
    for (unsigned at = 1; at < 400; at += 57) {
        bench *b = bench_create(NULL, NULL);
        mill_run *run = bench_services(b);
        pp_goal goal = search_goal(&uneven, 4, 12, 2);
        goal.memory = 3000000;
        goal.effort = 200000;
        pp_found found;
        bench_cancel_at(b, at);
        g_assert_cmpint(pp_search(run, &goal, &found), ==, MILL_E_CANCELLED);
        bench_destroy(b);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dualpipe/search/random", test_random);
    g_test_add_func("/dualpipe/search/named", test_named);
    g_test_add_func("/dualpipe/search/uneven", test_uneven);
    g_test_add_func("/dualpipe/search/memory", test_memory);
    g_test_add_func("/dualpipe/search/jobs", test_jobs);
    g_test_add_func("/dualpipe/search/effort", test_effort);
    g_test_add_func("/dualpipe/search/blocking", test_blocking);
    g_test_add_func("/dualpipe/search/jitter", test_jitter);
    g_test_add_func("/dualpipe/search/cancelled", test_cancelled);
    return g_test_run();
}
