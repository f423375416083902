/* SPDX-License-Identifier: Apache-2.0 */
/* The families: their orders at sizes that can be written down, and the sizes that they take. */
#include "bench_host.h"
#include "families.h"
#include "order_text.h"

static bench *b;
static mill_run *run;

static const pp_plan *plan_of(const char *id, pp_sizes sizes) {
    const pp_family *family = pp_family_of(id);
    g_assert_nonnull(family);
    pp_sizes nearest;
    g_assert_true(family->takes(&sizes, &nearest));
    const pp_plan *plan = family->plan(run, &sizes);
    g_assert_cmpstr(plan->id, ==, family->id);
    g_assert_cmpstr(plan->name, ==, family->name);
    return plan;
}

static void check(const char *id, pp_sizes sizes, const char *const *orders) {
    const pp_plan *plan = plan_of(id, sizes);
    g_assert_cmpuint(plan->ranks, ==, g_strv_length((char **)orders));
    for (uint32_t rank = 0; rank < plan->ranks; rank++)
        order_check(run, plan, rank, orders[rank]);
}

#define ORDERS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_gpipe(void) {
    check("gpipe", (pp_sizes){2, 3},
          ORDERS("F0.0 F0.1 F0.2 B0.0 B0.1 B0.2", "F0.0 F0.1 F0.2 B0.0 B0.1 B0.2"));
}

static void test_1f1b(void) {
    check("1f1b", (pp_sizes){3, 4},
          ORDERS("F0.0 F0.1 F0.2 B0.0 F0.3 B0.1 B0.2 B0.3",
                 "F0.0 F0.1 B0.0 F0.2 B0.1 F0.3 B0.2 B0.3",
                 "F0.0 B0.0 F0.1 B0.1 F0.2 B0.2 F0.3 B0.3"));
    check("1f1b", (pp_sizes){3, 1}, ORDERS("F0.0 B0.0", "F0.0 B0.0", "F0.0 B0.0"));
}

static void test_eager_1f1b(void) {
    check("eager-1f1b", (pp_sizes){3, 4, .warm_up = 1},
          ORDERS("F0.0 F0.1 F0.2 F0.3 B0.0 B0.1 B0.2 B0.3",
                 "F0.0 F0.1 F0.2 B0.0 F0.3 B0.1 B0.2 B0.3",
                 "F0.0 B0.0 F0.1 B0.1 F0.2 B0.2 F0.3 B0.3"));
    check("eager-1f1b", (pp_sizes){2, 3, .warm_up = UINT32_MAX},
          ORDERS("F0.0 F0.1 F0.2 B0.0 B0.1 B0.2", "F0.0 B0.0 F0.1 B0.1 F0.2 B0.2"));
}

static void test_interleaved(void) {
    check("interleaved", (pp_sizes){2, 4, .chunks = 2},
          ORDERS("F0.0 F0.1 F1.0 F1.1 F0.2 B1.0 F0.3 B1.1 F1.2 B0.0 F1.3 B0.1 B1.2 B1.3 B0.2 B0.3",
                 "F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 F0.2 B0.0 F0.3 B0.1 F1.2 B1.2 F1.3 B1.3 B0.2 "
                 "B0.3"));
    /* With as many micro-batches as ranks, all forwards come first. */
    check("interleaved", (pp_sizes){2, 2, .chunks = 2},
          ORDERS("F0.0 F0.1 F1.0 F1.1 B1.0 B1.1 B0.0 B0.1",
                 "F0.0 F0.1 F1.0 F1.1 B1.0 B1.1 B0.0 B0.1"));
}

static void test_zero_bubble(void) {
    const uint32_t own = UINT32_MAX;
    check("zb-h1", (pp_sizes){3, 4, .weight_lag = own},
          ORDERS("F0.0 F0.1 F0.2 Bi0.0 W0.0 F0.3 Bi0.1 W0.1 Bi0.2 W0.2 Bi0.3 W0.3",
                 "F0.0 F0.1 Bi0.0 F0.2 Bi0.1 W0.0 F0.3 Bi0.2 W0.1 Bi0.3 W0.2 W0.3",
                 "F0.0 Bi0.0 F0.1 Bi0.1 F0.2 Bi0.2 W0.0 F0.3 Bi0.3 W0.1 W0.2 W0.3"));
    check("zb-h1", (pp_sizes){2, 2, .weight_lag = 0},
          ORDERS("F0.0 F0.1 Bi0.0 W0.0 Bi0.1 W0.1", "F0.0 Bi0.0 W0.0 F0.1 Bi0.1 W0.1"));
    /* A lag beyond the steady state, and beyond the end. */
    check("zb-h1", (pp_sizes){2, 3, .weight_lag = 2},
          ORDERS("F0.0 F0.1 Bi0.0 F0.2 Bi0.1 Bi0.2 W0.0 W0.1 W0.2",
                 "F0.0 Bi0.0 F0.1 Bi0.1 F0.2 Bi0.2 W0.0 W0.1 W0.2"));
    check("zb-h1", (pp_sizes){1, 2, .weight_lag = 9}, ORDERS("F0.0 Bi0.0 F0.1 Bi0.1 W0.0 W0.1"));
    check("zb-h2", (pp_sizes){2, 4},
          ORDERS("F0.0 F0.1 F0.2 Bi0.0 W0.0 F0.3 Bi0.1 W0.1 Bi0.2 W0.2 Bi0.3 W0.3",
                 "F0.0 Bi0.0 F0.1 Bi0.1 F0.2 Bi0.2 W0.0 F0.3 Bi0.3 W0.1 W0.2 W0.3"));
}

static void test_chimera(void) {
    check("chimera", (pp_sizes){4, 4},
          ORDERS("F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 B0.0 B0.1",
                 "F0.0 F1.0 F0.1 F1.1 B1.0 B0.0 B1.1 B0.1",
                 "F1.0 F0.0 F1.1 F0.1 B0.0 B1.0 B0.1 B1.1",
                 "F1.0 F1.1 F0.0 B0.0 F0.1 B0.1 B1.0 B1.1"));
    /* A whole unit and a half one: forwards of the second come before the last backwards. */
    const pp_plan *plan = plan_of("chimera", (pp_sizes){4, 6});
    order_check(run, plan, 0, "F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 B0.0 F0.2 B0.1 F1.2 B1.2 B0.2");
    order_check(run, plan, 1, "F0.0 F1.0 F0.1 F1.1 B1.0 B0.0 B1.1 B0.1 F0.2 F1.2 B1.2 B0.2");
}

static void test_hanayo(void) {
    /* One wave over half of the ranks is Chimera's order. */
    check("hanayo", (pp_sizes){2, 2, .chunks = 2},
          ORDERS("F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 B0.0 B0.1",
                 "F0.0 F1.0 F0.1 F1.1 B1.0 B0.0 B1.1 B0.1"));
    check("hanayo", (pp_sizes){1, 2, .chunks = 4},
          ORDERS("F0.0 F1.0 F2.0 F3.0 B3.0 B2.0 B1.0 B0.0 F0.1 F1.1 F2.1 F3.1 B3.1 B2.1 B1.1 "
                 "B0.1"));
}

static void test_dualpipe(void) {
    check("dualpipe", (pp_sizes){2, 4},
          ORDERS("F0.0 F1.0 F0.1 B1.0 FB1.1/0.0 B1.1 Bi0.1 W0.1",
                 "F1.0 F0.0 F1.1 B0.0 FB0.1/1.0 B0.1 Bi1.1 W1.1"));
    const pp_plan *plan = plan_of("dualpipe", (pp_sizes){4, 8});
    order_check(run, plan, 0,
                "F0.0 F0.1 F0.2 F1.0 Bi1.0 W1.0 F1.1 FB0.3/1.1 FB1.2/0.0 B1.2 FB1.3/0.1 B1.3 "
                "Bi0.2 W0.2 Bi0.3 W0.3");
    order_check(run, plan, 2,
                "F1.0 F0.0 F1.1 F0.1 F1.2 B0.0 FB0.2/1.0 FB1.3/0.1 FB0.3/1.1 B0.2 B1.2 Bi0.3 "
                "Bi1.3 W0.3 W1.3");
    uint8_t last = 0; /* the steps are in order, and the rank next to the middle runs all */
    for (uint32_t i = plan->loops[plan->first[0]].first; i < plan->loops[plan->first[1]].first;
         last = plan->ops[i++].step)
        g_assert_true(plan->ops[i].step == last || plan->ops[i].step == last + 1);
    g_assert_cmpuint(last, ==, 8);
}

static void test_dualpipev(void) {
    check("dualpipev", (pp_sizes){1, 3},
          ORDERS("F0.0 F1.0 F0.1 B1.0 FB1.1/0.0 FB0.2/1.1 FB1.2/0.1 B1.2 Bi0.2 W0.2"));
}

/* ---------------------------------------------------------------- whatever the size */

/* The most chunks held, by walking through the order. */
static int64_t walk_live(const pp_plan *plan, uint32_t rank, bool until_weight) {
    int64_t live = 0, most = 0;
    pp_cursor *c = pp_cursor_at(run, plan, rank);
    for (pp_item item; pp_next(c, &item);) {
        uint8_t kind = item.op.kind;
        live += kind == MILL_OP_FORWARD || kind == MILL_OP_PAIR;
        most = MAX(most, live);
        live -= kind == MILL_OP_BACKWARD || kind == MILL_OP_PAIR ||
                kind == (until_weight ? MILL_OP_WEIGHT : MILL_OP_INPUT);
    }
    return most;
}

static void check_whole(const pp_family *family, const pp_sizes *sizes) {
    const pp_plan *plan = family->plan(run, sizes);
    const char *why = NULL;
    if (!pp_whole(run, plan, &why))
        g_error("%s, PP=%u, m=%u, chunks=%u: %s", family->id, sizes->ranks, sizes->micro_batches,
                sizes->chunks, why);
    g_assert_cmpuint(plan->chunks, ==, family->choosable ? sizes->chunks : family->chunks);
    g_assert_true(plan->split == family->split);
    g_assert_cmpuint(plan->micro_batches, ==, sizes->micro_batches);
    for (int until_weight = 0; until_weight < 2; until_weight++) {
        g_autofree int64_t *live = g_new(int64_t, plan->ranks);
        pp_live(plan, until_weight, live);
        for (uint32_t rank = 0; rank < plan->ranks; rank++)
            g_assert_cmpint(live[rank], ==, walk_live(plan, rank, until_weight));
    }
}

static void test_whole(void) {
    for (const pp_family *const *f = pp_families; *f; f++) {
        unsigned taken = 0;
        for (uint32_t ranks = 0; ranks < 10; ranks++)
            for (uint32_t m = 0; m < 40; m++)
                for (uint32_t chunks = 1; chunks < ((*f)->choosable ? 7 : 2); chunks++) {
                    pp_sizes sizes = {ranks, m, chunks, ranks / 2, ranks % 3 ? m / 3 : UINT32_MAX};
                    pp_sizes nearest, same;
                    bool takes = (*f)->takes(&sizes, &nearest);
                    g_assert_true((*f)->takes(&nearest, &same)); /* what is proposed is taken */
                    if (takes)
                        check_whole(*f, &sizes);
                    taken += takes;
                }
        g_assert_cmpuint(taken, >, 50);
    }
}

/* A plan does not grow with micro-batches beyond the units of its rule. V-Half and V-Min have no
 * loops but the steady state, so their plans are as large for fewer ranks. */
static void test_small(void) {
    for (const pp_family *const *f = pp_families; *f; f++) {
        bool one_loop = *f == pp_family_of("v-half") || *f == pp_family_of("v-min");
        pp_sizes sizes = {one_loop ? 64 : 1024, 4096, 2, 0, UINT32_MAX};
        const pp_plan *plan = (*f)->plan(run, &sizes);
        g_assert_cmpuint(plan->total, >=, (uint64_t)4096 * sizes.ranks);
        g_assert_cmpuint(plan->n_ops, <=, 64 * 1024);
        g_assert_cmpuint(plan->first[sizes.ranks], <=, 32 * 1024);
    }
}

static void test_sizes(void) {
    static const struct {
        const char *id;
        pp_sizes asked, nearest;
    } cases[] = {
        {"1f1b", {0, 0}, {1, 1}},
        {"zb-h1", {4, 0}, {4, 1}},
        {"interleaved", {4, 9, 2}, {4, 8, 2}},
        {"interleaved", {4, 10, 2}, {4, 8, 2}},
        {"interleaved", {4, 11, 2}, {4, 12, 2}},
        {"interleaved", {4, 1, 2}, {4, 4, 2}},
        {"interleaved", {5, 8, 2}, {5, 10, 2}},
        {"interleaved", {4, 8, 1}, {4, 8, 2}},
        {"interleaved", {4, 8, 300}, {4, 8, 255}},
        {"interleaved", {0, 0, 0}, {1, 1, 2}},
        {"interleaved", {4, UINT32_MAX, 2}, {4, UINT32_MAX - 3, 2}},
        {"chimera", {4, 7}, {4, 6}},
        {"chimera", {5, 8}, {4, 8}},
        {"chimera", {1, 1}, {2, 2}},
        {"hanayo", {4, 7, 3}, {4, 7, 2}},
        {"hanayo", {4, 7, 1}, {4, 7, 2}},
        {"hanayo", {4, 7, 256}, {4, 7, 254}},
        {"dualpipe", {8, 15}, {8, 16}},
        {"dualpipe", {8, 17}, {8, 16}},
        {"dualpipe", {7, 20}, {6, 20}},
        {"dualpipe", {1, 20}, {2, 20}},
        {"dualpipev", {4, 7}, {4, 8}},
        {"dualpipev", {0, 0}, {1, 2}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const pp_family *family = pp_family_of(cases[i].id);
        pp_sizes nearest;
        g_assert_false(family->takes(&cases[i].asked, &nearest));
        g_assert_cmpmem(&nearest, sizeof nearest, &cases[i].nearest, sizeof nearest);
        g_assert_true(family->takes(&nearest, &nearest));
    }
}

static void test_names(void) {
    for (const pp_family *const *f = pp_families; *f; f++) {
        g_assert_true(pp_family_of((*f)->id) == *f);
        g_assert_true(pp_family_of((*f)->name) == *f);
        g_assert_nonnull((*f)->source);
        g_assert_nonnull((*f)->rule);
    }
    g_assert_cmpstr(pp_family_of("zb1p")->id, ==, "zb-h1");
    g_assert_cmpstr(pp_family_of("Interleaved1F1B")->id, ==, "interleaved");
    g_assert_cmpstr(pp_family_of("dual_pipe_v")->id, ==, "dualpipev");
    g_assert_null(pp_family_of("dualpipe2"));
    g_assert_null(pp_family_of(""));
    g_assert_null(pp_family_of("dualpipedualpipedualpipedualpipedualpipe"));
}

/* A plan that is cancelled while it is built ends there. */
static void test_cancelled(void) {
    for (const pp_family *const *f = pp_families; *f; f++) {
        bench *cancelled = bench_create(NULL, NULL);
        bench_cancel_at(cancelled, 2);
        pp_sizes sizes = {8, 16, 2, 1, UINT32_MAX};
        const pp_plan *plan = (*f)->plan(bench_services(cancelled), &sizes);
        g_assert_cmpuint(plan->first[1], ==, plan->first[8]);
        bench_destroy(cancelled);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    b = bench_create(NULL, NULL);
    run = bench_services(b);
    g_test_add_func("/orders/gpipe", test_gpipe);
    g_test_add_func("/orders/1f1b", test_1f1b);
    g_test_add_func("/orders/eager-1f1b", test_eager_1f1b);
    g_test_add_func("/orders/interleaved", test_interleaved);
    g_test_add_func("/orders/zero-bubble", test_zero_bubble);
    g_test_add_func("/orders/chimera", test_chimera);
    g_test_add_func("/orders/hanayo", test_hanayo);
    g_test_add_func("/orders/dualpipe", test_dualpipe);
    g_test_add_func("/orders/dualpipev", test_dualpipev);
    g_test_add_func("/orders/whole", test_whole);
    g_test_add_func("/orders/small", test_small);
    g_test_add_func("/orders/sizes", test_sizes);
    g_test_add_func("/orders/names", test_names);
    g_test_add_func("/orders/cancelled", test_cancelled);
    int failed = g_test_run();
    bench_destroy(b);
    return failed;
}
