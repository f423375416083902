/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `compare` on pairs of small traces. */
#include "bench_host.h"
#include "fixture.h"
#include "look.h"

#include <math.h>
#include <string.h>

#define US 1000
#define COMP MILL_CLASS_COMPUTATION, NULL
#define NOTIFY MILL_CLASS_COMMUNICATION, "notify"
#define COMBINE MILL_CLASS_COMMUNICATION, "combine"

static const mill_module *module;

/* A comparison: the traces live in one bench, which must outlive that of the class. */
typedef struct comparison {
    bench *values, *b;
    mill_trace *base, *now;
} comparison;

static comparison begin(const fixture *base, const fixture *now) {
    comparison c = {.values = bench_create(NULL, NULL), .b = bench_create(module, "compare")};
    c.base = fixture_trace(c.values, base);
    c.now = fixture_trace(c.values, now);
    return c;
}

static mill_status run(comparison *c) {
    bench_input(c->b, "base", MILL_TYPE_TRACE, c->base, "base", "a");
    bench_input(c->b, "new", MILL_TYPE_TRACE, c->now, "new", "b");
    mill_status status = bench_run(c->b);
    g_assert_cmpuint(bench_leaked(c->b), ==, 0);
    return status;
}

static void attribute(comparison *c, const mill_attribution *base, const mill_attribution *now) {
    bench_input(c->b, "base-attribution", MILL_TYPE_ATTRIBUTION, base, "base-places", "a");
    bench_input(c->b, "new-attribution", MILL_TYPE_ATTRIBUTION, now, "new-places", "b");
}

static const mill_report *report_of(const comparison *c) {
    return bench_output(c->b, "report", 0);
}

static void finish(comparison *c) {
    bench_destroy(c->b);
    bench_destroy(c->values);
}

static guint count_rule(const mill_report *r, const char *rule) {
    guint n = 0;
    for (uint64_t i = 0; i < r->n_findings; i++)
        n += strcmp(r->findings[i]->rule, rule) == 0;
    return n;
}

static const char *cell_of(const mill_report *r, const char *table, const char *id,
                           const char *column) {
    const mill_table *t = look_table(r, table);
    for (int64_t row = 0; row < (int64_t)t->rows; row++)
        if (strcmp(look_cell(t, row, "id").text, id) == 0)
            return look_cell(t, row, column).text;
    g_error("table %s has no row %s", table, id);
}

/* Two kernels, three times. */
static const activity plain[] = {
    {0, 7, 0, 100 * US, "gemm", COMP, NULL, 8},
    {0, 7, 100 * US, 50 * US, "norm", COMP, NULL, 8},
    {0, 7, 200 * US, 101 * US, "gemm", COMP, NULL, 8},
    {0, 7, 301 * US, 51 * US, "norm", COMP, NULL, 8},
    {0, 7, 400 * US, 99 * US, "gemm", COMP, NULL, 8},
    {0, 7, 499 * US, 50 * US, "norm", COMP, NULL, 8},
};

/* The same, but gemm takes longer. */
static void slow_down(activity to[G_N_ELEMENTS(plain)], int64_t more) {
    memcpy(to, plain, sizeof plain);
    for (size_t i = 0; i < G_N_ELEMENTS(plain); i += 2)
        to[i].dur += more;
}

static void test_self(void) {
    comparison c = begin(&FIXTURE(plain), &FIXTURE(plain));
    g_assert_cmpint(run(&c), ==, MILL_OK);
    const mill_report *r = report_of(&c);
    g_assert_cmpuint(r->n_findings, ==, 0);
    g_assert_null(look_table(r, "kernels"));
    g_assert_null(look_table(r, "unmatched"));
    g_assert_cmpfloat(look_ratio(r, "matched_base", NULL), ==, 1);
    finish(&c);
}

static void test_slower_kernel(void) {
    static const struct {
        const char *setting;
        mill_status status;
        guint found;
    } cases[] = {
        {"fail-over=0.02", MILL_GATE, 1}, /* 90 of 549 µs */
        {"fail-over=0.5", MILL_OK, 1},    {"min-change=0.4", MILL_OK, 0},
        {"min-time=91us", MILL_OK, 0},    {"noise=100", MILL_OK, 0},
    };
    activity slow[G_N_ELEMENTS(plain)];
    slow_down(slow, 30 * US);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%s", cases[i].setting);
        comparison c = begin(&FIXTURE(plain), &FIXTURE(slow));
        bench_option(c.b, cases[i].setting);
        bench_option(c.b, "window-share=1");
        bench_option(c.b, "stage-change=1");
        g_assert_cmpint(run(&c), ==, cases[i].status);
        const mill_report *r = report_of(&c);
        g_assert_cmpuint(count_rule(r, "kernel"), ==, cases[i].found);
        g_assert_cmpuint(r->n_findings, ==, cases[i].found);
        g_assert_true((look_note(r, "gate") != NULL) == (cases[i].status == MILL_GATE));
        if (cases[i].found) {
            g_assert_cmpstr(r->findings[0]->where, ==, "gemm");
            g_assert_cmpint(r->findings[0]->cost_ns, ==, 90 * US);
            const mill_table *t = look_table(r, "kernels");
            g_assert_cmpint(look_cell(t, 0, "median_base").i, ==, 100 * US);
            g_assert_cmpint(look_cell(t, 0, "mad_base").i, ==, 1 * US);
            g_assert_cmpint(look_cell(t, 0, "median_new").i, ==, 130 * US);
            g_assert_cmpfloat_with_epsilon(look_cell(t, 0, "change").d, 30, 1e-9);
        }
        finish(&c);
    }
}

static void test_faster(void) {
    activity fast[G_N_ELEMENTS(plain)];
    slow_down(fast, -30 * US);
    comparison c = begin(&FIXTURE(plain), &FIXTURE(fast));
    g_assert_cmpint(run(&c), ==, MILL_OK);
    const mill_report *r = report_of(&c);
    g_assert_cmpuint(r->n_findings, ==, 0);
    g_assert_cmpstr(look_cell(look_table(r, "kernels"), 0, "verdict").text, ==, "improvement");
    finish(&c);
}

static void test_headlines(void) {
    static const activity base[] = {{0, 7, 0, 1000 * US, "gemm", COMP},
                                    {0, 9, 0, 900 * US, "a2a", COMBINE},
                                    {0, 7, 1500 * US, 500 * US, "gemm", COMP}};
    static const activity now[] = {{0, 7, 0, 1000 * US, "gemm", COMP},
                                   {0, 9, 550 * US, 900 * US, "a2a", COMBINE},
                                   {0, 7, 1500 * US, 500 * US, "gemm", COMP}};
    comparison c = begin(&FIXTURE(base), &FIXTURE(now));
    g_assert_cmpint(run(&c), ==, MILL_GATE);
    const mill_report *r = report_of(&c);
    g_assert_cmpstr(cell_of(r, "times", "T", "verdict"), ==, "same");
    g_assert_cmpstr(cell_of(r, "times", "exposed_comm", "verdict"), ==, "regression");
    g_assert_cmpstr(cell_of(r, "times", "actionable_exposed", "verdict"), ==, "regression");
    g_assert_cmpstr(cell_of(r, "shares", "overlap_over_comm", "verdict"), ==, "regression");
    g_assert_cmpuint(count_rule(r, "time"), ==, 3); /* busy too */
    g_assert_cmpuint(count_rule(r, "share"), ==, 1);
    finish(&c);
}

/* Other ranks decide how long it takes. */
static void test_skew(void) {
    activity base[] = {{0, 7, 0, 1000 * US, "gemm", COMP}, {0, 9, 0, 100 * US, "wait", NOTIFY}};
    activity now[] = {{0, 7, 0, 1000 * US, "gemm", COMP}, {0, 9, 0, 900 * US, "wait", NOTIFY}};
    comparison c = begin(&FIXTURE(base), &FIXTURE(now));
    g_assert_cmpint(run(&c), ==, MILL_OK);
    const mill_report *r = report_of(&c);
    g_assert_cmpuint(r->n_findings, ==, 0);
    g_assert_cmpstr(cell_of(r, "times", "notify", "verdict"), ==, "skew");
    g_assert_cmpstr(look_cell(look_table(r, "kernels"), 0, "verdict").text, ==, "skew");
    finish(&c);
}

static void test_casts(void) {
    activity base[] = {
        {0, 7, 0, 900 * US, "gemm", COMP},
        {0, 7, 900 * US, 100 * US, "cast", MILL_CLASS_COMPUTATION, "cast_transpose"}};
    activity now[] = {{0, 7, 0, 880 * US, "gemm", COMP},
                      {0, 7, 880 * US, 120 * US, "cast", MILL_CLASS_COMPUTATION, "cast_transpose"}};
    comparison c = begin(&FIXTURE(base), &FIXTURE(now));
    bench_option(c.b, "min-time=1ms");
    g_assert_cmpint(run(&c), ==, MILL_OK);
    const mill_report *r = report_of(&c);
    g_assert_cmpstr(cell_of(r, "shares", "cast_share", "verdict"), ==, "regression");
    g_assert_cmpuint(r->n_findings, ==, 1);
    finish(&c);
}

/* ---------------------------------------------------------------- finding work again */

static const char *level_of(const activity *base, const activity *now, const char *setting) {
    fixture x = {.activities = base, .n = 2, .described_device = MILL_UNKNOWN};
    fixture y = {.activities = now, .n = 2, .described_device = MILL_UNKNOWN};
    comparison c = begin(&x, &y);
    if (setting)
        bench_option(c.b, setting);
    g_assert_cmpint(run(&c), >=, MILL_OK);
    const mill_report *r = report_of(&c);
    const char *level = NULL;
    for (uint64_t i = 0; i < r->n_figures; i++)
        if (strcmp(r->figures[i]->id, "matched_by") == 0)
            level = g_intern_string(r->figures[i]->value.text);
    finish(&c);
    return level;
}

static void test_levels(void) {
#define PAIR(name, grid)                                                                           \
    (const activity[]) {                                                                           \
        {0, 7, 0, 100 * US, name, MILL_CLASS_COMPUTATION, "gemm", NULL, grid},                     \
            {0, 7, 100 * US, 10 * US, "other", COMP, NULL, 8},                                     \
    }
    const activity *base = PAIR("void gemm<128, f<2>>(int*, {lambda(int)#1})", 8);
    const char *size = "name and size (grid, block)", *name = "name", *kind = "class and kind";
    g_assert_cmpstr(level_of(base, PAIR("void gemm<128, f<2>>(char*)", 8), NULL), ==, size);
    g_assert_cmpstr(level_of(base, PAIR("void gemm<128, f<2>>(int*)", 9), NULL), ==, name);
    g_assert_cmpstr(level_of(base, PAIR("void gemm<64, f<2>>(int*)", 8), NULL), ==, kind);
    g_assert_cmpstr(level_of(base, PAIR("void gemm<64, f<3>>(int*)", 8), "template-numbers=no"), ==,
                    size);
    g_assert_cmpstr(level_of(base, PAIR("hemm", 8), "min-matched=0.05"), ==, size);
    base = PAIR("(anonymous namespace)::f::{lambda(int)#1}::operator()(int) const", 8);
    const activity *other =
        PAIR("(anonymous namespace)::f::{lambda(long)#22}::operator()(long) const", 8);
    g_assert_cmpstr(level_of(base, other, NULL), ==, size);
    g_assert_cmpstr(level_of(base, PAIR("(anonymous namespace)::g", 8), NULL), ==, kind);
    base = PAIR("f_0x7f00", 8);
    g_assert_cmpstr(level_of(base, PAIR("f_0x7f01", 8), NULL), ==, kind); /* part of a word */
    base = PAIR("f<0x7f00>", 8);
    g_assert_cmpstr(level_of(base, PAIR("f<0x7f01>", 8), NULL), ==, size);
#undef PAIR
}

static void test_unmatched(void) {
    activity now[] = {{0, 7, 0, 100 * US, "gemm", COMP, NULL, 8},
                      {0, 7, 100 * US, 3 * US, "new one", COMP, NULL, 8}};
    activity base[] = {{0, 7, 0, 100 * US, "gemm", COMP, NULL, 8},
                       {0, 7, 100 * US, 2 * US, "old one", COMP, NULL, 8}};
    comparison c = begin(&FIXTURE(base), &FIXTURE(now));
    g_assert_cmpint(run(&c), ==, MILL_OK);
    const mill_table *t = look_table(report_of(&c), "unmatched");
    g_assert_cmpuint(t->rows, ==, 2);
    g_assert_cmpstr(look_cell(t, 0, "side").text, ==, "added");
    g_assert_cmpstr(look_cell(t, 0, "name").text, ==, "new one");
    g_assert_cmpint(look_cell(t, 0, "sum").i, ==, 3 * US);
    g_assert_cmpstr(look_cell(t, 1, "side").text, ==, "removed");
    finish(&c);
}

/* ---------------------------------------------------------------- stages and steps */

static void test_stage(void) {
    static const char *const stages[] = {"attn(F)", "mlp(F)"};
    static const uint32_t place[] = {0, 0, 1, 1, 0, 0};
    activity slow[G_N_ELEMENTS(plain)];
    memcpy(slow, plain, sizeof plain);
    slow[2].dur += 40 * US; /* both of mlp(F) */
    slow[3].start += 40 * US;
    slow[3].dur += 20 * US;
    comparison c = begin(&FIXTURE(plain), &FIXTURE(slow));
    attribute(&c, fixture_places(c.values, place, 6, stages, 2),
              fixture_places(c.values, place, 6, stages, 2));
    bench_option(c.b, "window-share=1");
    g_assert_cmpint(run(&c), ==, MILL_GATE);
    const mill_report *r = report_of(&c);
    g_assert_cmpuint(r->n_findings, ==, 1);
    g_assert_cmpstr(r->findings[0]->rule, ==, "stage");
    g_assert_cmpstr(r->findings[0]->where, ==, "mlp(F)");
    g_assert_cmpint(r->findings[0]->cost_ns, ==, 60 * US);
    finish(&c);
}

#define STEPS 5

/* One kernel in each of five steps. */
static mill_attribution *steps_of(bench *values, const char *const *stages) {
    static uint32_t place[STEPS];
    static uint8_t whole[STEPS];
    static int64_t number[STEPS];
    static uint32_t step[STEPS];
    for (uint32_t i = 0; i < STEPS; i++) {
        place[i] = step[i] = i;
        number[i] = i;
        whole[i] = 1;
    }
    mill_attribution *a = fixture_places(values, place, STEPS, stages, STEPS);
    a->step = step;
    a->n_steps = STEPS;
    a->step_number = number;
    a->step_whole = whole;
    return a;
}

static double p_of(const int64_t base[STEPS], const int64_t now[STEPS], mill_status *ret_status,
                   const char **ret_verdict) {
    static const char *const stages[] = {"s", "s", "s", "s", "s"};
    activity x[STEPS], y[STEPS];
    for (int i = 0; i < STEPS; i++) {
        x[i] = (activity){0, 7, i * 1000 * US, base[i] * US, "gemm", COMP};
        y[i] = (activity){0, 7, i * 1000 * US, now[i] * US, "gemm", COMP};
    }
    comparison c = begin(&FIXTURE(x), &FIXTURE(y));
    attribute(&c, steps_of(c.values, stages), steps_of(c.values, stages));
    bench_option(c.b, "window-share=1");
    *ret_status = run(&c);
    const mill_table *t = look_table(report_of(&c), "stages");
    double p = look_cell(t, 0, "p").d;
    *ret_verdict = g_intern_string(look_cell(t, 0, "verdict").text);
    finish(&c);
    return p;
}

static void test_steps(void) {
    static const int64_t base[STEPS] = {400, 410, 420, 430, 440};
    static const int64_t above[STEPS] = {441, 450, 460, 470, 480};
    static const int64_t once[STEPS] = {400, 411, 421, 431, 700}; /* one step alone */
    mill_status status;
    const char *verdict;
    /* All above: 2 of the 252 ways to choose 5 of 10 are as far out. */
    g_assert_cmpfloat_with_epsilon(p_of(base, above, &status, &verdict), 2.0 / 252, 1e-12);
    g_assert_cmpint(status, ==, MILL_GATE);
    g_assert_cmpstr(verdict, ==, "regression");
    g_assert_cmpfloat(p_of(base, once, &status, &verdict), >, 0.3);
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpstr(verdict, ==, "same");
    g_assert_true(isnan(p_of(base, base, &status, &verdict))); /* not asked */
}

/* ---------------------------------------------------------------- like with like */

static void test_not_alike(void) {
    static const char *const stages[] = {"a(F)"}, *const others[] = {"b(F)"};
    static const uint32_t place[] = {0, 0, 0, 0, 0, 0};
    static const struct {
        int64_t sms;
        int64_t rank, world;
        const char *const *stages;
        const char *cause;
    } cases[] = {
        {108, 0, 2, stages, "SMs: 132, now 108"},
        {132, 1, 2, stages, "rank: 0, now 1"},
        {132, 0, 4, stages, "ranks in the job: 2, now 4"},
        {132, 0, 2, others, "stage: a(F), now none; stage: none, now b(F)"},
        {132, 0, MILL_UNKNOWN, stages, NULL},
    };
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
        fixture x = FIXTURE(plain), y = FIXTURE(plain);
        bool force = i >= G_N_ELEMENTS(cases);
        const char *cause = cases[i % G_N_ELEMENTS(cases)].cause;
        x.sms = 132;
        y.sms = cases[i % G_N_ELEMENTS(cases)].sms;
        comparison c = begin(&x, &y);
        c.base->rank = 0;
        c.base->world_size = 2;
        c.now->rank = cases[i % G_N_ELEMENTS(cases)].rank;
        c.now->world_size = cases[i % G_N_ELEMENTS(cases)].world;
        attribute(&c, fixture_places(c.values, place, 6, stages, 1),
                  fixture_places(c.values, place, 6, cases[i % G_N_ELEMENTS(cases)].stages, 1));
        bench_option(c.b, force ? "force=yes" : "force=no");
        mill_status status = run(&c);
        if (!cause || force)
            g_assert_cmpint(status, ==, MILL_OK);
        else
            g_assert_cmpint(status, ==, MILL_E_DATA);
        if (cause && force)
            g_assert_nonnull(look_table(report_of(&c), "differences"));
        else if (cause)
            g_assert_nonnull(strstr(bench_causes(c.b), cause));
        finish(&c);
    }
}

static void test_inputs(void) {
    static const uint32_t place[] = {0, 0, 0, 0, 0, 0};
    static const char *const stages[] = {"a(F)"};
    comparison two = begin(&FIXTURE(plain), &FIXTURE(plain));
    bench_input(two.b, "base", MILL_TYPE_TRACE, two.now, "base", "c");
    g_assert_cmpint(run(&two), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(two.b), "one of each side"));
    finish(&two);

    comparison half = begin(&FIXTURE(plain), &FIXTURE(plain));
    bench_input(half.b, "new-attribution", MILL_TYPE_ATTRIBUTION,
                fixture_places(half.values, place, 6, stages, 1), "places", "b");
    g_assert_cmpint(run(&half), ==, MILL_E_CONFIG);
    finish(&half);
}

/* No gate is met by a profile that tells nothing, whether or not the traces must be alike. */
static void test_nothing(void) {
    static const fixture none = {.described_device = MILL_UNKNOWN};
    const struct {
        const fixture *base, *now;
        const char *setting, *words;
    } cases[] = {
        {&none, &none, "force=no", "base (rank0.json) has nothing to compare: it holds no device"},
        {&FIXTURE(plain), &none, "force=yes", "new (rank0.json) has nothing to compare: it holds"},
        {&none, &FIXTURE(plain), "force=yes", "base (rank0.json) has nothing to compare"},
        {&FIXTURE(plain), &FIXTURE(plain), "from=1s", "no activity lies in the steps and the"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_test_message("%zu", i);
        comparison c = begin(cases[i].base, cases[i].now);
        bench_option(c.b, cases[i].setting);
        g_assert_cmpint(run(&c), ==, MILL_E_DATA);
        g_assert_nonnull(strstr(bench_causes(c.b), cases[i].words));
        finish(&c);
    }
}

static void test_zero_length(void) {
    static const activity zero[] = {{0, 7, 0, 0, "set", COMP}, {0, 7, 5, 0, "set", COMP}};
    comparison z = begin(&FIXTURE(zero), &FIXTURE(zero));
    g_assert_cmpint(run(&z), ==, MILL_OK);
    g_assert_cmpuint(report_of(&z)->n_findings, ==, 0);
    g_assert_cmpstr(cell_of(report_of(&z), "shares", "cast_share", "verdict"), ==, "unknown");
    finish(&z);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/analyzers/compare/compare.so");
    g_test_add_func("/compare/self", test_self);
    g_test_add_func("/compare/slower-kernel", test_slower_kernel);
    g_test_add_func("/compare/faster", test_faster);
    g_test_add_func("/compare/headlines", test_headlines);
    g_test_add_func("/compare/skew", test_skew);
    g_test_add_func("/compare/casts", test_casts);
    g_test_add_func("/compare/levels", test_levels);
    g_test_add_func("/compare/unmatched", test_unmatched);
    g_test_add_func("/compare/stage", test_stage);
    g_test_add_func("/compare/steps", test_steps);
    g_test_add_func("/compare/not-alike", test_not_alike);
    g_test_add_func("/compare/inputs", test_inputs);
    g_test_add_func("/compare/nothing", test_nothing);
    g_test_add_func("/compare/zero-length", test_zero_length);
    return g_test_run();
}
