/* SPDX-License-Identifier: Apache-2.0 */
/* ZB-V, V-Half and V-Min: orders that can be written down, their steady state, their memory. */
#include "bench_host.h"
#include "families.h"
#include "order_text.h"

static bench *b;
static mill_run *run;

static const pp_plan *plan_of(const char *id, uint32_t ranks, uint32_t micro_batches) {
    return pp_family_of(id)->plan(run, &(pp_sizes){.ranks = ranks, .micro_batches = micro_batches});
}

static void check(const char *id, uint32_t micro_batches, const char *rank_0, const char *rank_1) {
    const pp_plan *plan = plan_of(id, 2, micro_batches);
    order_check(run, plan, 0, rank_0);
    order_check(run, plan, 1, rank_1);
}

static void test_zb_v(void) {
    check("zb-v", 4,
          "F0.0 F0.1 F0.2 F1.0 Bi1.0 W1.0 F1.1 Bi1.1 W1.1 F0.3 Bi0.0 W0.0 F1.2 Bi1.2 W1.2 Bi0.1 "
          "W0.1 F1.3 Bi1.3 W1.3 Bi0.2 W0.2 Bi0.3 W0.3",
          "F0.0 F1.0 F0.1 F1.1 Bi1.0 W1.0 F0.2 Bi0.0 W0.0 F1.2 Bi1.1 W1.1 F0.3 Bi0.1 W0.1 F1.3 "
          "Bi1.2 W1.2 Bi0.2 Bi1.3 Bi0.3 W0.2 W1.3 W0.3");
    /* Too few to fill the pipeline. */
    check("zb-v", 2, "F0.0 F0.1 F1.0 Bi1.0 W1.0 F1.1 Bi1.1 W1.1 Bi0.0 W0.0 Bi0.1 W0.1",
          "F0.0 F1.0 F0.1 F1.1 Bi1.0 W1.0 Bi0.0 W0.0 Bi1.1 W1.1 Bi0.1 W0.1");
}

static void test_v_half(void) {
    check("v-half", 3,
          "F0.0 F0.1 F0.2 F1.0 Bi1.0 W1.0 F1.1 Bi0.0 Bi1.1 W1.1 F1.2 Bi1.2 Bi0.1 W1.2 Bi0.2 W0.0 "
          "W0.1 W0.2",
          "F0.0 F1.0 F0.1 F1.1 Bi1.0 W1.0 Bi0.0 W0.0 F0.2 F1.2 Bi1.1 Bi0.1 Bi1.2 Bi0.2 W1.1 W1.2 "
          "W0.1 W0.2");
}

static void test_v_min(void) {
    check("v-min", 3,
          "F0.0 F0.1 F1.0 Bi1.0 W1.0 Bi0.0 W0.0 F1.1 Bi1.1 W1.1 F0.2 Bi0.1 W0.1 F1.2 Bi1.2 W1.2 "
          "Bi0.2 W0.2",
          "F0.0 F1.0 Bi1.0 Bi0.0 F0.1 F1.1 W1.0 W0.0 Bi1.1 Bi0.1 F0.2 F1.2 W1.1 W0.1 Bi1.2 Bi0.2 "
          "W1.2 W0.2");
}

/* ---------------------------------------------------------------- the steady state */

/* Kind and chunk of each operation of a rank. */
static GByteArray *kinds(const pp_plan *plan, uint32_t rank) {
    GByteArray *bytes = g_byte_array_new();
    pp_cursor *c = pp_cursor_at(run, plan, rank);
    for (pp_item item; pp_next(c, &item);) {
        uint8_t kind = (uint8_t)(item.op.kind << 4 | item.op.chunk);
        g_byte_array_append(bytes, &kind, 1);
    }
    return bytes;
}

/* `more` is `less` with six operations more somewhere. */
static bool adds_six(const GByteArray *less, const GByteArray *more) {
    guint head = 0, tail = 0;
    while (head < less->len && less->data[head] == more->data[head])
        head++;
    while (tail < less->len && less->data[less->len - 1 - tail] == more->data[more->len - 1 - tail])
        tail++;
    return more->len == less->len + 6 && head + tail >= less->len;
}

static bool each_adds_six(const pp_plan *less, const pp_plan *more) {
    bool same = true;
    for (uint32_t rank = 0; same && rank < less->ranks; rank++) {
        g_autoptr(GByteArray) x = kinds(less, rank), y = kinds(more, rank);
        same = adds_six(x, y);
    }
    return same;
}

/* Up to 2 PP + 4 micro-batches every operation is put in its place by the rule; that those of more
 * are in a loop is right if the orders have become regular well before. */
static void test_steady_state(void) {
    static const char *const ids[] = {"v-half", "v-min"};
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++)
        for (uint32_t ranks = 1; ranks <= 16; ranks++) {
            g_assert_cmpuint(plan_of(ids[i], ranks, 2 * ranks + 4)->first[1], ==, 1);
            const pp_plan *less = plan_of(ids[i], ranks, ranks + 2);
            for (uint32_t m = ranks + 3; m <= 2 * ranks + 8; m++) {
                const pp_plan *more = plan_of(ids[i], ranks, m);
                g_assert_true(each_adds_six(less, more));
                less = more;
            }
            g_assert_cmpuint(less->first[1], ==, 3);
        }
    /* Before that they are not: there is something to become regular. */
    g_assert_false(each_adds_six(plan_of("v-half", 8, 9), plan_of("v-half", 8, 10)));
}

/* ---------------------------------------------------------------- memory */

static int64_t most_live(const pp_plan *plan, bool until_weight) {
    g_autofree int64_t *live = g_new(int64_t, plan->ranks);
    int64_t most = 0;
    pp_live(plan, until_weight, live);
    for (uint32_t rank = 0; rank < plan->ranks; rank++)
        most = MAX(most, live[rank]);
    return most;
}

/* All of 1F1B's, half of it, and a third, in chunks of half a device: 2 PP are 1F1B's. */
static void test_memory(void) {
    for (uint32_t ranks = 1; ranks <= 24; ranks++) {
        uint32_t m = 3 * ranks;
        for (int until_weight = 0; until_weight < 2; until_weight++) {
            g_assert_cmpint(most_live(plan_of("zb-v", ranks, m), until_weight), ==, 2 * ranks);
            g_assert_cmpint(most_live(plan_of("v-half", ranks, m), until_weight), <=,
                            2 * (ranks / 2) + 2);
            g_assert_cmpint(most_live(plan_of("v-min", ranks, m), until_weight), <=,
                            2 * ((ranks + 4) / 3));
        }
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    b = bench_create(NULL, NULL);
    run = bench_services(b);
    g_test_add_func("/vshape/zb-v", test_zb_v);
    g_test_add_func("/vshape/v-half", test_v_half);
    g_test_add_func("/vshape/v-min", test_v_min);
    g_test_add_func("/vshape/steady-state", test_steady_state);
    g_test_add_func("/vshape/memory", test_memory);
    int failed = g_test_run();
    bench_destroy(b);
    return failed;
}
