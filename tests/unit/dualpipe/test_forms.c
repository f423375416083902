/* SPDX-License-Identifier: Apache-2.0 */
/* Closed forms and lower bounds against the simulation, and on cases that can be told by hand. */
#include "bench_host.h"
#include "forms.h"
#include "random_case.h"
#include "random_plan.h"

#include <string.h>

#define CASES 2000 /* of each family */

static pp_form form_of(bench *b, const char *id, uint32_t ranks, uint32_t micro_batches,
                       mill_chunk_cost cost) {
    const pp_family *family = pp_family_of(id);
    pp_sizes sizes = {
        .ranks = ranks, .micro_batches = micro_batches, .chunks = 2, .weight_lag = UINT32_MAX};
    g_assert_nonnull(family);
    return pp_form_of(bench_services(b), family, &sizes, &cost);
}

/* ---------------------------------------------------------------- against the simulation */

/* Whose idle time a form tells: rank 0 where all are equal, the last of a V, the middle else. */
static uint32_t told_rank(const char *id, uint32_t ranks) {
    if (!strcmp(id, "dualpipev"))
        return ranks - 1;
    return !strcmp(id, "dualpipe") ? ranks / 2 : 0;
}

static int64_t span_idle(const pp_result *result, uint32_t ranks) {
    int64_t longest = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const pp_rank_times *t = &result->ranks[rank];
        longest = MAX(longest, t->end - t->start - t->busy);
    }
    return longest;
}

static void check_form(bench *b, const pp_family *family, const random_case *c,
                       const pp_form *form) {
    pp_result result;
    g_assert_cmpint(pp_simulate(bench_services(b), c->plan, &c->timing, 0, &result), ==, MILL_OK);
    int64_t busy = result.ranks[told_rank(family->id, c->sizes.ranks)].busy;
    g_assert_cmpint(form->makespan, ==, result.makespan);
    g_assert_cmpint(form->bubble, ==, result.makespan - busy);
    if (form->span_idle != MILL_UNKNOWN)
        g_assert_cmpint(form->span_idle, ==, span_idle(&result, c->sizes.ranks));
    if (form->published == MILL_UNKNOWN)
        return;
    int64_t set_against = form->span_idle == MILL_UNKNOWN ? form->bubble : form->span_idle;
    if (form->published != set_against)
        g_assert_nonnull(form->why);
    else if (form->span_idle == MILL_UNKNOWN)
        g_assert_null(form->why);
}

static void test_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(5);
    for (const pp_family *const *f = pp_families; *f; f++) {
        bench *b = bench_create(NULL, NULL);
        unsigned known = 0;
        bool formula = false;
        for (int i = 0; i < CASES; i++) {
            random_case c = random_case_of(bench_services(b), rand, *f, 30);
            pp_form form = pp_form_of(bench_services(b), *f, &c.sizes, &c.cost);
            formula = form.exact_formula != NULL;
            g_assert_true(formula == (form.makespan != MILL_UNKNOWN || form.domain));
            if (form.makespan == MILL_UNKNOWN)
                continue;
            check_form(b, *f, &c, &form);
            known++;
        }
        g_test_message("%s: %u of %u cases have an exact form", (*f)->id, known, CASES);
        g_assert_true(formula == (known > CASES / 20));
        bench_destroy(b);
    }
}

/* ---------------------------------------------------------------- by hand */

/* Times of F, B, Bi, W, F&B; then published, exact and makespan, and words of why. */
static const struct {
    const char *id;
    uint32_t ranks, micro_batches;
    mill_chunk_cost cost;
    int64_t published, bubble, makespan;
    const char *why; /* words of it, or NULL: there is none */
} cases[] = {
    {"1f1b", 8, 20, {1, 2, 1, 1, 3}, 21, 21, 81, NULL},
    {"gpipe", 4, 2, {10, 25, 5, 20, 30}, 105, 105, 175, NULL},
    {"interleaved", 8, 24, {1, 2, 1, 1, 3}, 21, 21, 165, NULL},
    {"zb-h1", 8, 20, {1, 2, 1, 1, 3}, 7, 7, 67, NULL},
    {"zb-h1", 4, 8, {10, 25, 5, 20, 30}, -15, 30, 310, "F and than Bi"},
    {"zb-h1", 4, 8, {20, 25, 5, 20, 30}, 15, 60, 420, "longer than Bi"},
    {"zb-h2", 8, 20, {1, 2, 1, 1, 3}, 0, 7, 67, "0.000007 ms apart"},
    {"zb-h2", 4, 8, {10, 25, 5, 20, 30}, -75, 30, 310, "can't be negative"},
    {"dualpipe", 8, 20, {1, 2, 1, 1, 3}, 6, 6, 66, NULL},
    {"dualpipe", 8, 20, {10, 20, 10, 10, 20}, 30, 30, 520, NULL},
    {"dualpipe", 8, 20, {10, 20, 12, 8, 26}, 66, 60, 616, "too large by 0.000006 ms"},
    {"dualpipe", 8, 20, {18, 15, 8, 7, 33}, 81, 111, 771, "Bi is shorter than F"},
    {"dualpipe", 8, 20, {10, 25, 5, 20, 35}, 0, 60, 760, "nothing can be won back"},
    {"dualpipev", 4, 10, {1, 2, 1, 1, 3}, 6, 6, 66, NULL},
    {"chimera", 8, 8, {1, 2, 1, 1, 3}, MILL_UNKNOWN, 12, 36, NULL},
};

static void test_cases(void) {
    bench *b = bench_create(NULL, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pp_form form =
            form_of(b, cases[i].id, cases[i].ranks, cases[i].micro_batches, cases[i].cost);
        g_assert_cmpint(form.published, ==, cases[i].published);
        g_assert_cmpint(form.bubble, ==, cases[i].bubble);
        g_assert_cmpint(form.makespan, ==, cases[i].makespan);
        g_assert_null(form.domain);
        g_assert_true((form.why == NULL) == (cases[i].why == NULL));
        if (form.why)
            g_assert_nonnull(strstr(form.why, cases[i].why));
    }
    bench_destroy(b);
}

static void assert_unknown(const pp_form *form, const char *domain) {
    g_assert_cmpint(form->bubble, ==, MILL_UNKNOWN);
    g_assert_cmpint(form->makespan, ==, MILL_UNKNOWN);
    g_assert_null(form->why);
    g_assert_cmpstr(form->domain, ==, domain);
}

static void test_domains(void) {
    bench *b = bench_create(NULL, NULL);
    const mill_chunk_cost cost = {10, 20, 12, 8, 26};
    mill_chunk_cost c = cost;
    pp_form form = form_of(b, "interleaved", 4, 6, cost);
    assert_unknown(&form, "m is not a multiple of PP");
    form = form_of(b, "chimera", 4, 8, cost);
    assert_unknown(&form, "m is not PP");
    form = form_of(b, "zb-h1", 4, 3, cost);
    assert_unknown(&form, "m is less than PP");
    form = form_of(b, "zb-h2", 4, 6, cost);
    assert_unknown(&form, "m is less than 2 PP - 1");
    c.pair = 19;
    form = form_of(b, "dualpipe", 4, 8, c);
    assert_unknown(&form, "F&B is shorter than F or B by itself");
    g_assert_cmpint(form.published, ==, 19 + 20 - 24);
    c.pair = MILL_UNKNOWN;
    form = form_of(b, "dualpipev", 4, 8, c);
    assert_unknown(&form, "a duration is not known");
    g_assert_cmpint(form.published, ==, MILL_UNKNOWN);
    form = form_of(b, "1f1b", 4, 8, c);
    g_assert_cmpint(form.bubble, ==, 90);
    c.forward = INT64_MAX;
    form = form_of(b, "1f1b", 4, 8, c);
    assert_unknown(&form, "a duration is too long");
    c = cost;
    c.backward = 21;
    form = form_of(b, "dualpipe", 4, 8, c);
    assert_unknown(&form, "B is not Bi + W");
    form = form_of(b, "hanayo", 4, 8, cost);
    assert_unknown(&form, NULL);
    g_assert_null(form.exact_formula);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- lower bounds */

static pp_bound bound_of(bench *b, const char *id, uint32_t ranks, uint32_t micro_batches,
                         mill_chunk_cost cost, int64_t latency) {
    mill_run *run = bench_services(b);
    pp_sizes sizes = {.ranks = ranks, .micro_batches = micro_batches, .weight_lag = UINT32_MAX};
    const pp_plan *plan = pp_family_of(id)->plan(run, &sizes);
    pp_timing timing = {
        .forward = on_all_cells(run, plan, cost.forward),
        .backward = on_all_cells(run, plan, cost.backward),
        .input = on_all_cells(run, plan, cost.input),
        .weight = on_all_cells(run, plan, cost.weight),
        .pair = on_all_cells(run, plan, cost.pair),
        .latency = latency,
    };
    return pp_bound_of(run, plan, &timing);
}

static void test_bounds(void) {
    bench *b = bench_create(NULL, NULL);
    const mill_chunk_cost cost = {10, 20, 12, 8, 26};
    /* (m + PP - 1)(F + B), and 2(PP - 1)c around the last rank's work. */
    g_assert_cmpint(bound_of(b, "1f1b", 8, 20, cost, 0).ns, ==, 810);
    pp_bound bound = bound_of(b, "1f1b", 8, 20, cost, 3);
    g_assert_cmpint(bound.ns, ==, 810 + 14 * 3);
    g_assert_cmpuint(bound.rank, ==, 7);
    g_assert_cmpstr(bound.formula, ==,
                    "rank 7: 0.000091 ms until its first forward can start + 0.0006 ms of work + "
                    "0.000161 ms from its last backward on");
    /* (PP - 1) F + m (F + B): the W's fill the way out. */
    g_assert_cmpint(bound_of(b, "zb-h1", 8, 20, cost, 0).ns, ==, 670);
    /* One micro-batch goes there and back alone: PP (F + B), and PP (F + Bi) and a last W. */
    g_assert_cmpint(bound_of(b, "gpipe", 4, 1, cost, 0).ns, ==, 120);
    g_assert_cmpint(bound_of(b, "zb-h1", 4, 1, cost, 1).ns, ==, 4 * 22 + 6 + 8);
    /* Middle ranks: a first forward at 30, and a first gradient at 116, when a micro-batch of the
     * farther direction has gone 8 F and 3 Bi. Until then 8 F are run and begun, or 9: 586 or 588.
     */
    g_assert_cmpint(bound_of(b, "dualpipe", 8, 20, cost, 0).ns, ==, 30 + 9 * 10 + 11 * 26 + 9 * 20);
    bench_destroy(b);
}

static void check_bound(bench *b, random_case *c, unsigned *met) {
    mill_run *run = bench_services(b);
    pp_result result;
    pp_bound bound = pp_bound_of(run, c->plan, &c->timing);
    g_assert_cmpint(pp_simulate(run, c->plan, &c->timing, 0, &result), ==, MILL_OK);
    g_assert_cmpint(bound.ns, >=, 0);
    g_assert_cmpint(bound.ns, <=, result.makespan);
    *met += bound.ns == result.makespan;
}

static void test_bounds_hold(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(6);
    for (const pp_family *const *f = pp_families; *f; f++) {
        bench *b = bench_create(NULL, NULL);
        unsigned met[2] = {0, 0};
        for (int i = 0; i < CASES; i++) {
            random_case c = random_case_of(bench_services(b), rand, *f, 30);
            check_bound(b, &c, &met[0]);
            if (i % 2)
                random_stages(bench_services(b), rand, &c, 30);
            random_hardship(bench_services(b), rand, &c);
            check_bound(b, &c, &met[1]);
        }
        g_test_message("%s: bound met in %u of %u cases with equal stages, %u of %u others",
                       (*f)->id, met[0], CASES, met[1], CASES);
        bench_destroy(b);
    }
}

/* Of orders that no family has. */
static void test_bounds_of_orders(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(8);
    unsigned met = 0;
    for (int i = 0; i < 2 * CASES; i++) {
        bench *b = bench_create(NULL, NULL);
        mill_run *run = bench_services(b);
        random_case c = {.plan = random_plan(run, rand, true)};
        c.timing = random_timing(run, rand, c.plan, PP_COMM_DEP);
        check_bound(b, &c, &met);
        bench_destroy(b);
    }
    g_test_message("bound met in %u of %u random orders", met, 2 * CASES);
    g_assert_cmpuint(met, >, CASES / 20);
}

static void test_bound_unknown(void) {
    bench *b = bench_create(NULL, NULL);
    mill_chunk_cost cost = {10, 20, 12, MILL_UNKNOWN, MILL_UNKNOWN};
    g_assert_cmpint(bound_of(b, "1f1b", 4, 8, cost, 0).ns, ==, 330);
    g_assert_cmpint(bound_of(b, "zb-h1", 4, 8, cost, 0).ns, ==, MILL_UNKNOWN);
    g_assert_cmpint(bound_of(b, "dualpipe", 4, 8, cost, 0).ns, ==, MILL_UNKNOWN);
    cost.backward = INT64_MAX - 1;
    g_assert_cmpint(bound_of(b, "1f1b", 4, 8, cost, 0).ns, ==, MILL_UNKNOWN);
    g_assert_cmpint(bound_of(b, "1f1b", 4, 8, (mill_chunk_cost){10, 20, 0, 0, 0}, INT64_MAX).ns, ==,
                    MILL_UNKNOWN);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dualpipe/forms/cases", test_cases);
    g_test_add_func("/dualpipe/forms/domains", test_domains);
    g_test_add_func("/dualpipe/forms/random", test_random);
    g_test_add_func("/dualpipe/bounds/cases", test_bounds);
    g_test_add_func("/dualpipe/bounds/unknown", test_bound_unknown);
    g_test_add_func("/dualpipe/bounds/random", test_bounds_hold);
    g_test_add_func("/dualpipe/bounds/orders", test_bounds_of_orders);
    return g_test_run();
}
