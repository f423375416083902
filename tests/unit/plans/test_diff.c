/* SPDX-License-Identifier: Apache-2.0 */
/* plan.diff on plans whose moves and loads are worked out by hand. */
#include "exchange.h"
#include "look.h"

#include <math.h>
#include <tracemill/expert_load.h>
#include <tracemill/kit/expert_plan.h>

/* Four GPUs on two nodes, two slots each, four experts. */
static const int32_t old_slots[] = {0, 1, 2, 3, 0, 1, 2, 3,  /* layer 3 */
                                    0, 1, 2, 3, 0, 1, 2, 3}; /* layer 4 */
static const int32_t new_slots[] = {
    1, 0, 2, 0, 0,
    1, 3, 0, /* layer 3: 0 and 1 change places; GPU 1 gets 0 from GPU 0 of its node;
              * GPU 3 keeps 3 in another slot, and gets 0 from GPU 2 */
    3, 1, 2, 3, 0,
    1, 2, 3, /* layer 4: GPU 0 gets 3 from GPU 1 */
};
static const int64_t layers[] = {3, 4};
static const uint32_t node[] = {0, 0, 1, 1};

static mill_expert_plan plan_like(const int32_t *expert, bool nodes) {
    return (mill_expert_plan){.layers = 2,
                              .experts = 4,
                              .slots = 8,
                              .gpus = 4,
                              .nodes = nodes ? 2 : 0,
                              .node = nodes ? node : NULL,
                              .subject = expert == old_slots ? "old.json" : "new.json",
                              .expert = expert,
                              .layer = layers};
}

static bench *diff(bench *values, const mill_expert_plan *before, const mill_expert_plan *after,
                   const mill_expert_load *loads, const char *const *settings) {
    bench *b = bench_create(exchange_module(), "plan.diff");
    mill_run *run = bench_services(values);
    for (; *settings; settings++)
        bench_option(b, *settings);
    bench_input(b, "before", MILL_TYPE_EXPERT_PLAN, kit_expert_plan(run, before), "before", "");
    bench_input(b, "after", MILL_TYPE_EXPERT_PLAN, kit_expert_plan(run, after), "after", "");
    if (loads)
        bench_input(b, "loads", MILL_TYPE_EXPERT_LOAD, loads, "loads", "");
    return b;
}

static const mill_report *report_of(bench *b) {
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    return bench_output(b, "report", 0);
}

static int64_t cell(const mill_report *r, const char *table, int64_t row, const char *column) {
    return look_cell(look_table(r, table), row, column).i;
}

static void test_moves(void) {
    bench *values = bench_create(NULL, NULL);
    mill_expert_plan before = plan_like(old_slots, true), after = plan_like(new_slots, true);
    bench *b = diff(values, &before, &after, NULL, SETTINGS("expert-bytes=42MiB"));
    const mill_report *r = report_of(b);
    g_assert_cmpstr(r->summary, ==, "6 of 16 slots change, 3 experts must be transferred.");
    g_assert_cmpstr(r->subject, ==, "old.json → new.json");
    g_assert_cmpint(look_int(r, "layers", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "slots_changed", NULL), ==, 6);
    g_assert_cmpint(look_int(r, "moves_same_gpu", NULL), ==, 3);
    g_assert_cmpint(look_int(r, "moves_same_node", NULL), ==, 3);
    g_assert_cmpint(look_int(r, "moves_cross_node", NULL), ==, 0);
    g_assert_cmpint(look_int(r, "moves_unknown", NULL), ==, 0);
    g_assert_cmpint(look_int(r, "fetched", NULL), ==, 3);
    g_assert_cmpint(look_int(r, "bytes", NULL), ==, 3 * (INT64_C(42) << 20));
    g_assert_cmpint(look_int(r, "bytes_cross_node", NULL), ==, 0);
    g_assert_cmpint(look_int(r, "replicas_changed", NULL), ==, 5);
    g_assert_cmpint(cell(r, "layers", 0, "layer"), ==, 3);
    g_assert_cmpint(cell(r, "layers", 0, "changed"), ==, 5);
    g_assert_cmpint(cell(r, "layers", 0, "same_gpu"), ==, 3);
    g_assert_cmpint(cell(r, "layers", 1, "same_node"), ==, 1);
    g_assert_cmpint(cell(r, "layers", 1, "bytes"), ==, INT64_C(42) << 20);
    /* Expert 0 of layer 3 has two more replicas, and both must be transferred. */
    g_assert_cmpint(cell(r, "experts", 0, "layer"), ==, 3);
    g_assert_cmpint(cell(r, "experts", 0, "expert"), ==, 0);
    g_assert_cmpint(cell(r, "experts", 0, "fetched"), ==, 2);
    g_assert_cmpint(cell(r, "experts", 0, "before"), ==, 2);
    g_assert_cmpint(cell(r, "experts", 0, "after"), ==, 4);
    g_assert_cmpint(cell(r, "experts", 1, "layer"), ==, 4);
    g_assert_cmpint(cell(r, "experts", 1, "expert"), ==, 3);
    g_assert_cmpuint(look_table(r, "experts")->rows, ==, 5);
    bench_destroy(b);
    bench_destroy(values);
}

/* Nodes of one plan are those of both; without any, where transfers come from is unknown. */
static void test_nodes(void) {
    bench *values = bench_create(NULL, NULL);
    mill_expert_plan before = plan_like(old_slots, false), after = plan_like(new_slots, true);
    bench *b = diff(values, &before, &after, NULL, SETTINGS("top=1"));
    const mill_report *r = report_of(b);
    g_assert_cmpint(look_int(r, "moves_same_node", NULL), ==, 3);
    g_assert_cmpint(look_int(r, "bytes", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpuint(look_table(r, "experts")->rows, ==, 1);
    g_assert_nonnull(look_note(r, "bytes_unknown"));
    g_assert_null(look_note(r, "nodes_unknown"));
    bench_destroy(b);
    after.node = NULL;
    after.nodes = 0;
    b = diff(values, &before, &after, NULL, SETTINGS("expert-bytes=1B"));
    r = report_of(b);
    g_assert_cmpint(look_int(r, "moves_same_node", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpint(look_int(r, "moves_cross_node", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpint(look_int(r, "moves_unknown", NULL), ==, 3);
    g_assert_cmpint(look_int(r, "bytes", NULL), ==, 3);
    g_assert_cmpint(look_int(r, "bytes_cross_node", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpint(cell(r, "layers", 0, "cross_node"), ==, MILL_UNKNOWN);
    g_assert_nonnull(look_note(r, "nodes_unknown"));
    bench_destroy(b);
    bench_destroy(values);
}

/* Loads 8 4 2 2 (a mean over two steps) of layer 3. Before, all have two replicas: 6 on GPUs 0 and
 * 2, 2 on 1 and 3. After, 0 has four, 1 two, 2 and 3 one: 4, 4, 4, 4. Layer 4 has no loads. */
static void test_loads(void) {
    static const double load[] = {16, 0, 4, 4, 0, 8, 0, 0};
    static const int64_t layer[] = {3};
    const mill_expert_load loads = {.size = sizeof loads,
                                    .unit = "tokens",
                                    .layers = 1,
                                    .experts = 4,
                                    .steps = 2,
                                    .load = load,
                                    .layer = layer};
    bench *values = bench_create(NULL, NULL);
    mill_expert_plan before = plan_like(old_slots, true), after = plan_like(new_slots, true);
    bench *b = diff(values, &before, &after, &loads, SETTINGS("top=20"));
    const mill_report *r = report_of(b);
    const mill_table *t = look_table(r, "layers");
    g_assert_cmpfloat(look_cell(t, 0, "max_before").d, ==, 6);
    g_assert_cmpfloat(look_cell(t, 0, "max_after").d, ==, 4);
    g_assert_cmpfloat(look_cell(t, 0, "after_over_before").d, ==, 4.0 / 6);
    g_assert_true(isnan(look_cell(t, 1, "max_before").d));
    g_assert_cmpfloat(look_ratio(r, "balance_before", NULL), ==, 4.0 / 6);
    g_assert_cmpfloat(look_ratio(r, "balance_after", NULL), ==, 1);
    g_assert_cmpfloat(look_cell(look_table(r, "experts"), 0, "load").d, ==, 8);
    g_assert_nonnull(look_note(r, "layers_without_loads"));
    g_assert_cmpstr(r->summary, ==,
                    "6 of 16 slots change, 3 experts must be transferred; balancedness goes from "
                    "0.6667 to 1.0000.");
    bench_destroy(b);
    bench_destroy(values);
}

static void test_same(void) {
    bench *values = bench_create(NULL, NULL);
    static const int64_t later[] = {4, 5};
    mill_expert_plan before = plan_like(old_slots, true), after = before;
    bench *b = diff(values, &before, &after, NULL, SETTINGS("top=20"));
    const mill_report *r = report_of(b);
    g_assert_cmpstr(r->summary, ==, "The plans are the same in all 2 layers.");
    g_assert_cmpuint(look_table(r, "experts")->rows, ==, 0);
    bench_destroy(b);
    after.layer = later;
    b = diff(values, &before, &after, NULL, SETTINGS("top=20"));
    r = report_of(b);
    g_assert_cmpint(look_int(r, "layers", NULL), ==, 1);
    g_assert_nonnull(look_note(r, "layers_apart"));
    bench_destroy(b);
    bench_destroy(values);
}

static void fails(const mill_expert_plan *before, const mill_expert_plan *after,
                  const mill_expert_load *loads, const char *cause) {
    bench *values = bench_create(NULL, NULL);
    bench *b = diff(values, before, after, loads, SETTINGS("top=20"));
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_cmpstr(bench_causes(b), ==, cause);
    bench_destroy(b);
    bench_destroy(values);
}

static void test_unlike(void) {
    static const uint32_t uneven[] = {0, 1, 4, 6, 8}, other_node[] = {0, 1, 1, 1};
    static const double load[] = {1, 2, 3};
    const mill_expert_load loads = {
        .size = sizeof loads, .layers = 1, .experts = 3, .steps = 1, .load = load};
    mill_expert_plan before = plan_like(old_slots, true), after = before;
    after.gpus = 2;
    fails(&before, &after, NULL,
          "before has 4 GPUs, after has 2: only plans for the same experts, slots and GPUs can be "
          "compared");
    after = before;
    after.first = uneven;
    fails(&before, &after, NULL,
          "GPU 0 ends at slot 2 in before and 1 in after: only plans with the same slots on each "
          "GPU can be compared");
    after = before;
    after.node = other_node;
    fails(&before, &after, NULL,
          "GPU 1 is on node 0 in before and 1 in after: only plans for the same nodes can be "
          "compared");
    after = before;
    after.layer = NULL;
    fails(&before, &after, NULL,
          "before begins with layer 3, after with layer 0, and they have none in common; where "
          "files don't number their layers, first-layer of plan.read does");
    fails(&before, &before, &loads, "loads has loads of 3 experts a layer, the plans place 4");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/plans/diff/moves", test_moves);
    g_test_add_func("/plans/diff/nodes", test_nodes);
    g_test_add_func("/plans/diff/loads", test_loads);
    g_test_add_func("/plans/diff/same", test_same);
    g_test_add_func("/plans/diff/unlike", test_unlike);
    return g_test_run();
}
