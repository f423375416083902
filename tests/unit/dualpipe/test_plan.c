/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: placements, loops, the order that a cursor reads, and what is not whole. */
#include "bench_host.h"
#include "order_text.h"

static bench *b;
static mill_run *run;

static pp_builder *begin(pp_place place, uint32_t ranks, uint32_t chunks, uint32_t micro_batches) {
    return pp_begin(run, "own", "Own", place, ranks, chunks, micro_batches);
}

static void check_cells(const uint32_t *stage, const int32_t *next, const int32_t *prev,
                        const pp_plan *plan) {
    for (uint32_t cell = 0; cell < plan->ranks * plan->chunks; cell++) {
        g_assert_cmpuint(plan->stage[cell], ==, stage[cell]);
        g_assert_cmpint(plan->next[cell], ==, next[cell]);
        g_assert_cmpint(plan->prev[cell], ==, prev[cell]);
    }
}

static const pp_plan *empty(pp_place place, uint32_t ranks, uint32_t chunks) {
    pp_builder *p = begin(place, ranks, chunks, 4);
    for (uint32_t rank = 0; rank < ranks; rank++)
        pp_rank(p);
    return pp_end(p);
}

static void test_places(void) {
    const pp_plan *loop = empty(PP_PLACE_LOOP, 3, 2);
    check_cells((uint32_t[]){0, 3, 1, 4, 2, 5}, (int32_t[]){2, 3, 4, 5, 1, -1},
                (int32_t[]){-1, 4, 0, 1, 2, 3}, loop);
    g_assert_cmpuint(loop->stages, ==, 6);
    g_assert_cmpuint(loop->per_cell, ==, 4);
    g_assert_false(loop->bidirectional);

    const pp_plan *wave = empty(PP_PLACE_WAVE, 2, 3);
    check_cells((uint32_t[]){0, 3, 4, 1, 2, 5}, (int32_t[]){3, 2, 5, 4, 1, -1},
                (int32_t[]){-1, 4, 1, 0, 3, 2}, wave);

    const pp_plan *both = empty(PP_PLACE_BOTH, 3, 2);
    check_cells((uint32_t[]){0, 2, 1, 1, 2, 0}, (int32_t[]){2, -1, 4, 1, -1, 3},
                (int32_t[]){-1, 3, 0, 5, 2, -1}, both);
    g_assert_cmpuint(both->stages, ==, 3);
    g_assert_cmpuint(both->per_cell, ==, 2);
    g_assert_true(both->bidirectional);
}

static void test_loops(void) {
    pp_builder *p = begin(PP_PLACE_LOOP, 2, 1, 4);
    for (uint32_t rank = 0; rank < 2; rank++) {
        pp_rank(p);
        pp_loop_begin(p, 1 - rank); /* nothing on rank 1 */
        pp_step(p, 1);
        pp_add(p, MILL_OP_FORWARD, 0);
        pp_loop_begin(p, 3 + rank);
        pp_step(p, 2);
        pp_add(p, MILL_OP_FORWARD, 0);
        pp_add(p, MILL_OP_BACKWARD, 0);
        pp_loop_begin(p, 5); /* no operations */
        pp_loop_begin(p, 1 - rank);
        pp_add(p, MILL_OP_BACKWARD, 0);
    }
    const pp_plan *plan = pp_end(p);
    order_check(run, plan, 0, "F0.0 F0.1 B0.0 F0.2 B0.1 F0.3 B0.2 B0.3");
    order_check(run, plan, 1, "F0.0 B0.0 F0.1 B0.1 F0.2 B0.2 F0.3 B0.3");
    g_assert_cmpuint(plan->total, ==, 16);
    g_assert_cmpuint(plan->n_ops, ==, 6);
    g_assert_cmpuint(plan->first[1], ==, 3);
    g_assert_cmpuint(plan->first[2], ==, 4);
    g_assert_cmpuint(plan->ops[0].step, ==, 1);
    g_assert_cmpuint(plan->ops[1].step, ==, 2);
    g_assert_false(plan->split);

    const char *why = NULL;
    g_assert_true(pp_whole(run, plan, &why));
    int64_t live[2];
    pp_live(plan, false, live);
    g_assert_cmpint(live[0], ==, 2);
    g_assert_cmpint(live[1], ==, 1);
}

/* A W is of the oldest Bi of its chunk, whatever B's are between them; the oldest one of a rank may
 * be of any chunk. */
static void test_weights(void) {
    pp_builder *p = begin(PP_PLACE_WAVE, 1, 2, 3);
    pp_rank(p);
    pp_loop_begin(p, 3);
    pp_add(p, MILL_OP_FORWARD, 0);
    pp_add(p, MILL_OP_FORWARD, 1);
    pp_loop_begin(p, 1);
    pp_add(p, MILL_OP_INPUT, 1);
    pp_add(p, MILL_OP_BACKWARD, 1);
    pp_add(p, MILL_OP_INPUT, 0);
    pp_add_oldest_weight(p); /* of chunk 1 */
    pp_add(p, MILL_OP_INPUT, 1);
    pp_add(p, MILL_OP_WEIGHT, 1);
    pp_loop_begin(p, 2);
    pp_add_oldest_weight(p); /* of chunk 0: the other chunk's have been taken */
    pp_add(p, MILL_OP_INPUT, 0);
    pp_loop_begin(p, 0);
    pp_add_oldest_weight(p);
    pp_loop_begin(p, 1);
    pp_add_oldest_weight(p);
    const pp_plan *plan = pp_end(p);
    order_check(run, plan, 0,
                "F0.0 F1.0 F0.1 F1.1 F0.2 F1.2 Bi1.0 B1.1 Bi0.0 W1.0 Bi1.2 W1.2 "
                "W0.0 Bi0.1 W0.1 Bi0.2 W0.2");
    g_assert_true(plan->split);
    const char *why = NULL;
    g_assert_true(pp_whole(run, plan, &why));
    int64_t live;
    pp_live(plan, false, &live);
    g_assert_cmpint(live, ==, 6);
}

/* Many W's behind: the ring of the cursor grows while it is turned. */
static void test_far_behind(void) {
    pp_builder *p = begin(PP_PLACE_LOOP, 1, 1, 40);
    pp_rank(p);
    pp_loop_begin(p, 40);
    pp_add(p, MILL_OP_FORWARD, 0);
    pp_loop_begin(p, 5);
    pp_add(p, MILL_OP_INPUT, 0);
    pp_loop_begin(p, 3);
    pp_add_oldest_weight(p);
    pp_loop_begin(p, 35);
    pp_add(p, MILL_OP_INPUT, 0);
    pp_loop_begin(p, 37);
    pp_add_oldest_weight(p);
    const pp_plan *plan = pp_end(p);
    const char *why = NULL;
    g_assert_true(pp_whole(run, plan, &why));
    uint32_t next = 0;
    pp_cursor *c = pp_cursor_at(run, plan, 0);
    for (pp_item item; pp_next(c, &item);)
        if (item.op.kind == MILL_OP_WEIGHT)
            g_assert_cmpuint(item.mb, ==, next++);
    g_assert_cmpuint(next, ==, 40);
}

static void test_live(void) {
    /* Rising and falling loops, a pair that holds both of its chunks, and both rules. */
    pp_builder *p = begin(PP_PLACE_WAVE, 1, 2, 5);
    pp_rank(p);
    pp_loop_begin(p, 4);
    pp_add(p, MILL_OP_FORWARD, 0);
    pp_add(p, MILL_OP_FORWARD, 1);
    pp_add(p, MILL_OP_INPUT, 1); /* rises by 1; by 2 where W frees */
    pp_loop_begin(p, 1);
    pp_add_pair(p, 0, 0);
    pp_loop_begin(p, 4);
    pp_add_oldest_weight(p);
    pp_add(p, MILL_OP_BACKWARD, 0);
    pp_loop_begin(p, 1);
    pp_add(p, MILL_OP_FORWARD, 1);
    pp_add(p, MILL_OP_BACKWARD, 1);
    const pp_plan *plan = pp_end(p);
    const char *why = NULL;
    g_assert_true(pp_whole(run, plan, &why));
    order_check(run, plan, 0,
                "F0.0 F1.0 Bi1.0 F0.1 F1.1 Bi1.1 F0.2 F1.2 Bi1.2 F0.3 F1.3 Bi1.3 FB0.4/0.0 "
                "W1.0 B0.1 W1.1 B0.2 W1.2 B0.3 W1.3 B0.4 F1.4 B1.4");
    int64_t live;
    pp_live(plan, false, &live);
    g_assert_cmpint(live, ==, 5);
    pp_live(plan, true, &live);
    g_assert_cmpint(live, ==, 9);
}

/* One rank, two chunks, two micro-batches, and what is wrong with each order. */
static void test_not_whole(void) {
    enum { F = MILL_OP_FORWARD, B = MILL_OP_BACKWARD, I = MILL_OP_INPUT, W = MILL_OP_WEIGHT };
    static const struct {
        struct {
            uint8_t kind;
            uint32_t mb;
        } ops[9];
        const char *fault;
    } cases[] = {
        {{{F, 0}, {F, 1}, {B, 0}, {I, 1}, {W, 1}}, NULL},
        {{{F, 1}, {B, 1}, {F, 0}, {I, 0}, {W, 0}}, NULL},
        {{{F, 0}, {B, 0}}, "rank 0, stage 0, micro-batch 1: no forward"},
        {{{F, 0}, {F, 1}, {B, 1}}, "rank 0, stage 0, micro-batch 0: no backward"},
        {{{F, 0}, {F, 1}, {I, 0}, {B, 1}}, "rank 0, stage 0, micro-batch 0: Bi without W"},
        {{{F, 0}, {F, 0}}, "rank 0, stage 0, micro-batch 0: a second forward"},
        {{{F, 0}, {B, 0}, {B, 0}}, "rank 0, stage 0, micro-batch 0: a second backward"},
        {{{F, 0}, {B, 0}, {I, 0}}, "rank 0, stage 0, micro-batch 0: a second backward"},
        {{{B, 0}, {F, 0}}, "rank 0, stage 0, micro-batch 0: backward before forward"},
        {{{F, 0}, {I, 0}, {W, 0}, {W, 0}}, "rank 0, stage 0, micro-batch 0: a second W"},
        {{{F, 0}, {W, 0}, {I, 0}}, "rank 0, stage 0, micro-batch 0: W without Bi before it"},
        {{{F, 0}, {B, 0}, {W, 0}}, "rank 0, stage 0, micro-batch 0: W without Bi before it"},
        {{{F, 2}}, "rank 0, stage 0, micro-batch 2: there is no such micro-batch"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        pp_builder *p = begin(PP_PLACE_LOOP, 1, 1, 2);
        pp_rank(p);
        for (size_t j = 0; cases[i].ops[j].kind; j++)
            pp_add_at(p, (pp_op){.kind = cases[i].ops[j].kind}, cases[i].ops[j].mb, 0);
        const char *why = NULL;
        g_assert_true(pp_whole(run, pp_end(p), &why) == !cases[i].fault);
        g_assert_cmpstr(why, ==, cases[i].fault);
    }
}

static void test_not_whole_counted(void) {
    pp_builder *p = begin(PP_PLACE_LOOP, 2, 1, 1);
    for (uint32_t rank = 0; rank < 2; rank++) {
        pp_rank(p);
        pp_add(p, MILL_OP_FORWARD, 0);
        pp_add(p, rank ? MILL_OP_WEIGHT : MILL_OP_BACKWARD, 0);
    }
    const char *why = NULL;
    g_assert_false(pp_whole(run, pp_end(p), &why));
    g_assert_cmpstr(why, ==, "rank 1, stage 1: W without Bi before it");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    b = bench_create(NULL, NULL);
    run = bench_services(b);
    g_test_add_func("/plan/places", test_places);
    g_test_add_func("/plan/loops", test_loops);
    g_test_add_func("/plan/weights", test_weights);
    g_test_add_func("/plan/far-behind", test_far_behind);
    g_test_add_func("/plan/live", test_live);
    g_test_add_func("/plan/not-whole", test_not_whole);
    g_test_add_func("/plan/not-whole-counted", test_not_whole_counted);
    int failed = g_test_run();
    bench_destroy(b);
    return failed;
}
