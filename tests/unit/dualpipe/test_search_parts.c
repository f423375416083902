/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the search: orders are timed as the simulation times plans, list scheduling ends,
 * bounds hold, and branch and bound finds what going through all orders finds. */
#include "bench_host.h"
#include "search_bound.h"
#include "search_candidates.h"
#include "search_climb.h"
#include "search_exact.h"
#include "search_goal.h"
#include "search_list.h"

static search_costs random_costs(int64_t most_occupied) {
    search_costs costs = {
        .forward = 4 * g_test_rand_int_range(1, 20),
        .backward = 4 * g_test_rand_int_range(1, 40),
        .input = 4 * g_test_rand_int_range(1, 20),
        .weight = 4 * g_test_rand_int_range(1, 20),
        .pair = 4 * g_test_rand_int_range(1, 50),
        .latency = g_test_rand_int_range(0, 10),
        .occupied = most_occupied ? g_test_rand_int_range(0, (gint32)most_occupied) : 0,
    };
    return costs;
}

typedef struct scene {
    bench *b;
    mill_run *run;
    kit_arena memory;
    search_costs costs;
    pp_goal goal;
    pp_shop shop;
    pp_front front;
    pp_order order;
} scene;

static void scene_init(scene *s, uint32_t ranks, uint32_t micro_batches, pp_place place,
                       uint32_t chunks) {
    s->b = bench_create(NULL, NULL);
    s->run = bench_services(s->b);
    s->memory = (kit_arena){0};
    s->goal.context = &s->costs;
    s->goal.timing = search_timing;
    s->goal.sizes = (pp_sizes){.ranks = ranks, .micro_batches = micro_batches};
    bool pairs = chunks == 2;
    g_assert_true(pp_shop_init(&s->shop, s->run, &s->goal, place, chunks, pairs));
    pp_front_init(&s->front, &s->memory, &s->shop);
    pp_order_init(&s->order, &s->memory, &s->shop);
}

static void scene_finish(scene *s) {
    kit_arena_finish(&s->memory);
    bench_destroy(s->b);
}

static void check_order(scene *s) {
    const pp_shop *shop = &s->shop;
    const char *fault = "";
    g_assert_cmpint(s->order.makespan, !=, MILL_UNKNOWN);
    for (uint32_t rank = 0; rank < shop->ranks; rank++)
        g_assert_true(pp_order_allowed(&s->order, &s->front, shop, rank));
    g_assert_cmpint(pp_order_time(&s->order, &s->front, shop, NULL), ==, s->order.makespan);
    const pp_plan *plan = pp_order_plan(&s->order, s->run, shop);
    g_assert_true(pp_whole(s->run, plan, &fault));
    g_assert_cmpint(pp_makespan_of(plan, shop->timing), ==, s->order.makespan);
    g_assert_cmpint(pp_most_live(s->run, plan, shop->until_weight), <=, shop->most);
    g_assert_cmpint(pp_shop_bound(s->run, shop).ns, <=, s->order.makespan);
}

/* All rules on all placements, and some moves. */
static void test_lists(void) {
    static const struct {
        pp_place place;
        uint32_t chunks;
    } places[] = {{PP_PLACE_LOOP, 1},
                  {PP_PLACE_LOOP, 3},
                  {PP_PLACE_WAVE, 2},
                  {PP_PLACE_WAVE, 4},
                  {PP_PLACE_BOTH, 2}};
    for (int round = 0; round < 20; round++) {
        size_t at = (size_t)round % G_N_ELEMENTS(places);
        scene s = {.costs = random_costs(20),
                   .goal = {.memory = MILL_UNKNOWN,
                            .split = g_test_rand_int_range(0, 3),
                            .until_weight = g_test_rand_int_range(0, 2)}};
        uint32_t ranks = (uint32_t)g_test_rand_int_range(1, 6);
        if (round % 2) /* from the least in which all chunks of a micro-batch fit */
            s.goal.memory = INT64_C(1000000) * g_test_rand_int_range(2, 6);
        scene_init(&s, ranks, 2 * (uint32_t)g_test_rand_int_range(1, 5), places[at].place,
                   places[at].chunks);
        pp_rule rule;
        size_t n = 0;
        for (; pp_rule_at(&s.shop, n, &rule); n++) {
            pp_list_schedule(&s.shop, &rule, &s.front, &s.order);
            /* Only blocks may get stuck, and only for lack of memory. */
            if (!rule.block || s.shop.most == INT64_MAX)
                g_assert_cmpint(s.order.makespan, !=, MILL_UNKNOWN);
            if (n % 7 == 0 && s.order.makespan != MILL_UNKNOWN)
                check_order(&s);
        }
        g_assert_cmpuint(n, >=, 19 * 4 * 2);
        int64_t before = s.order.makespan;
        pp_spent spent = {.total = 500};
        pp_climb climb = {.effort = 500, .seed = (uint64_t)round, .spent = &spent};
        pp_order_climb(&s.order, s.run, &s.shop, &climb);
        g_assert_cmpint(s.order.makespan, <=, before);
        check_order(&s);
        scene_finish(&s);
    }
}

/* ---------------------------------------------------------------- all orders */

/* All orders of one rank. */
typedef struct rank_orders {
    GArray *ops; /* of pp_op, `n` of them in each */
    uint32_t n;
} rank_orders;

static void add_orders(scene *s, uint32_t rank, uint32_t n, rank_orders *all) {
    pp_op *ops = s->order.ops + (size_t)rank * s->shop.stride;
    s->order.n[rank] = n;
    if (pp_order_allowed(&s->order, &s->front, &s->shop, rank)) {
        all->n = n;
        g_array_append_vals(all->ops, ops, n);
        return;
    }
    for (uint8_t kind = MILL_OP_FORWARD; n < s->shop.stride && kind <= MILL_OP_WEIGHT; kind++)
        for (uint8_t chunk = 0; chunk < s->shop.chunks; chunk++) {
            bool of_split = kind == MILL_OP_INPUT || kind == MILL_OP_WEIGHT;
            if (kind != MILL_OP_FORWARD && of_split != s->shop.split)
                continue;
            /* The counts of what comes before. */
            s->order.n[rank] = n;
            pp_order_allowed(&s->order, &s->front, &s->shop, rank);
            ops[n] = (pp_op){kind, chunk, 0, 0};
            if (pp_front_allows(&s->front, &s->shop, rank, ops[n]))
                add_orders(s, rank, n + 1, all);
        }
}

/* The shortest of two ranks' orders, MILL_UNKNOWN if none fits. */
static int64_t shortest_of_all(scene *s) {
    rank_orders all[2];
    int64_t shortest = INT64_MAX;
    for (uint32_t rank = 0; rank < 2; rank++) {
        all[rank].ops = g_array_new(FALSE, FALSE, sizeof(pp_op));
        add_orders(s, rank, 0, &all[rank]);
        s->order.n[rank] = all[rank].n;
    }
    pp_op *ops[2] = {s->order.ops, s->order.ops + s->shop.stride};
    for (size_t x = 0; x < all[0].ops->len; x += all[0].n)
        for (size_t y = 0; y < all[1].ops->len; y += all[1].n) {
            memcpy(ops[0], (pp_op *)all[0].ops->data + x, all[0].n * sizeof(pp_op));
            memcpy(ops[1], (pp_op *)all[1].ops->data + y, all[1].n * sizeof(pp_op));
            int64_t makespan = pp_order_time(&s->order, &s->front, &s->shop, NULL);
            if (makespan != MILL_UNKNOWN && makespan < shortest)
                shortest = makespan;
        }
    g_array_unref(all[0].ops);
    g_array_unref(all[1].ops);
    return shortest;
}

static void check_exact(scene *s) {
    int64_t shortest = shortest_of_all(s);
    s->order.makespan = MILL_UNKNOWN;
    g_assert_true(pp_exact_fits(&s->shop));
    g_assert_true(pp_order_exact(&s->order, s->run, &s->shop, UINT64_MAX));
    g_assert_cmpint(s->order.makespan, ==, shortest);
    check_order(s);
    /* From the shortest on there is nothing left to find; the order stays as it is. */
    g_assert_true(pp_order_exact(&s->order, s->run, &s->shop, UINT64_MAX));
    g_assert_cmpint(s->order.makespan, ==, shortest);
}

static void test_exact_line(void) {
    for (int round = 0; round < 60; round++) {
        scene s = {.costs = random_costs(0),
                   .goal = {.memory = INT64_C(1000000) * g_test_rand_int_range(1, 5),
                            .split = round % 2,
                            .until_weight = g_test_rand_int_range(0, 2)}};
        s.costs.backward = s.costs.input + s.costs.weight;
        scene_init(&s, 2, 3, PP_PLACE_LOOP, 1);
        check_exact(&s);
        scene_finish(&s);
    }
}

static void test_exact_wave(void) {
    for (int round = 0; round < 8; round++) {
        scene s = {.costs = random_costs(0), .goal = {.memory = MILL_UNKNOWN}};
        s.costs.pair = s.costs.forward + s.costs.backward;
        scene_init(&s, 2, 2, PP_PLACE_WAVE, 2);
        check_exact(&s);
        scene_finish(&s);
    }
}

static void test_too_long(void) {
    scene s = {.costs = {.forward = INT64_MAX / 4, .backward = INT64_MAX / 4},
               .goal = {.memory = MILL_UNKNOWN,
                        .timing = search_timing,
                        .context = &s.costs,
                        .sizes = {.ranks = 4, .micro_batches = 8}}};
    s.b = bench_create(NULL, NULL);
    g_assert_false(pp_shop_init(&s.shop, bench_services(s.b), &s.goal, PP_PLACE_LOOP, 1, false));
    bench_destroy(s.b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dualpipe/search/lists", test_lists);
    g_test_add_func("/dualpipe/search/exact-line", test_exact_line);
    g_test_add_func("/dualpipe/search/exact-wave", test_exact_wave);
    g_test_add_func("/dualpipe/search/too-long", test_too_long);
    return g_test_run();
}
