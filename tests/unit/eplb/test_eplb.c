/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `eplb`: eplb.py's own example, figures that can be worked out by hand, and what
 * it does not take. */
#include "bench_host.h"
#include "look.h"

#include <math.h>
#include <string.h>
#include <tracemill/expert_load.h>
#include <tracemill/expert_plan.h>

static const mill_module *module;

/* ---------------------------------------------------------------- running it */

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static mill_expert_load loads_of(const double *load, uint64_t steps, uint32_t layers,
                                 uint32_t experts) {
    return (mill_expert_load){.size = sizeof(mill_expert_load),
                              .subject = "loads.csv",
                              .unit = "tokens",
                              .layers = layers,
                              .experts = experts,
                              .steps = steps,
                              .load = load};
}

static bench *begin(const mill_expert_load *loads, const mill_expert_plan *previous,
                    const char *const *settings) {
    bench *b = bench_create(module, "eplb");
    for (; *settings; settings++)
        bench_option(b, *settings);
    bench_input(b, "loads", MILL_TYPE_EXPERT_LOAD, loads, "loads", "");
    if (previous)
        bench_input(b, "previous", MILL_TYPE_EXPERT_PLAN, previous, "was", "");
    return b;
}

static bench *run(const mill_expert_load *loads, const mill_expert_plan *previous,
                  const char *const *settings) {
    bench *b = begin(loads, previous, settings);
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return b;
}

static void fails(const mill_expert_load *loads, const mill_expert_plan *previous,
                  const char *const *settings, mill_status right, const char *cause) {
    bench *b = begin(loads, previous, settings);
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, cause);
    g_assert_cmpint(status, ==, right);
    g_assert_cmpuint(bench_output_count(b, "plan"), ==, 0);
    bench_destroy(b);
}

static const mill_expert_plan *plan_of(const bench *b) {
    return bench_output(b, "plan", 0);
}

static const mill_report *report_of(const bench *b) {
    return bench_output(b, "report", 0);
}

static void assert_near(double value, double right) {
    if (!(fabs(value - right) <= 1e-9 * fabs(right)))
        g_error("%.12g is not %.12g", value, right);
}

/* Of any kind, without a scope. */
static mill_datum figure(const mill_report *r, const char *id) {
    for (uint64_t i = 0; i < r->n_figures; i++)
        if (g_str_equal(r->figures[i]->id, id) && !r->figures[i]->scope)
            return r->figures[i]->value;
    g_error("there is no figure %s", id);
}

static mill_datum cell(const mill_report *r, const char *table, const char *key, const char *value,
                       const char *column) {
    const mill_table *t = look_table(r, table);
    g_assert_nonnull(t);
    for (int64_t row = 0; row < (int64_t)t->rows; row++)
        if (g_str_equal(look_cell(t, row, key).text, value))
            return look_cell(t, row, column);
    g_error("%s has no row %s", table, value);
}

/* ---------------------------------------------------------------- eplb.py's example */

/* github.com/deepseek-ai/EPLB, README.md. */
static const double example[24] = {90, 132, 40,  61, 104, 165, 39,  4,   73,  56, 183, 86,
                                   20, 107, 104, 64, 19,  197, 187, 157, 172, 86, 16,  27};
#define EXAMPLE "gpus=8", "nodes=2", "groups=4", "replicas=16"

static void test_example(void) {
    static const int32_t right[32] = {5, 6,  5, 7, 8, 4,  3, 4, 10, 9, 10, 2, 0, 1, 11, 1,
                                      7, 10, 6, 8, 6, 11, 8, 9, 2,  4, 5,  1, 5, 0, 3,  1};
    mill_expert_load loads = loads_of(example, 1, 2, 12);
    bench *b = run(&loads, NULL, SETTINGS(EXAMPLE, "policy=reference"));
    const mill_expert_plan *p = plan_of(b);
    g_assert_cmpuint(p->layers, ==, 2);
    g_assert_cmpuint(p->slots, ==, 16);
    g_assert_cmpuint(p->nodes, ==, 2);
    for (int s = 0; s < 32; s++)
        g_assert_cmpint(p->expert[s], ==, right[s]);
    g_assert_cmpuint(p->rank[2], ==, 1);
    g_assert_cmpuint(p->replicas[5], ==, 2);
    g_assert_cmpstr(p->policy, ==, "reference, hierarchical, sort stable");

    const mill_report *r = report_of(b);
    /* The largest GPU loads are 156 and 179.5, the means 1033 / 8 and 1156 / 8. */
    assert_near(look_ratio(r, "balancedness_sglang", "after"), (129.125 / 156 + 144.5 / 179.5) / 2);
    assert_near(look_ratio(r, "balancedness_vllm", "after"), (129.125 + 144.5) / (156 + 179.5));
    assert_near(look_ratio(r, "imbalance_trtllm", "after"),
                (156 / 129.125 + 179.5 / 144.5) / 2 - 1);
    /* Slot p holds expert p mod 12: GPU 2 the whole of 4 and 5 in layer 0, GPU 3 that of 6 and 7 in
     * layer 1; the first four have two replicas. */
    assert_near(look_ratio(r, "balancedness_vllm", "before"), (129.125 + 144.5) / (269 + 344));
    assert_near(figure(r, "gain").d, (269 + 344) / (156 + 179.5));
    g_assert_cmpint(look_int(r, "splits", "after"), ==, 0);
    bench_destroy(b);
}

/* Either the whole table of GPUs, or a note. */
static void test_gpu_rows(void) {
    mill_expert_load loads = loads_of(example, 1, 2, 12);
    bench *b = run(&loads, NULL, SETTINGS(EXAMPLE, "gpu-rows=16"));
    g_assert_cmpuint(look_table(report_of(b), "gpus")->rows, ==, 16);
    g_assert_null(look_note(report_of(b), "gpus"));
    bench_destroy(b);
    b = run(&loads, NULL, SETTINGS(EXAMPLE, "gpu-rows=15"));
    g_assert_nonnull(strstr(look_note(report_of(b), "gpus")->text, "16 rows"));
    bench_destroy(b);
}

/* The search keeps the policy and is no worse than eplb.py. */
static void test_better(void) {
    mill_expert_load loads = loads_of(example, 1, 2, 12);
    bench *b = run(&loads, NULL, SETTINGS(EXAMPLE, "search=best"));
    const mill_report *r = report_of(b);
    g_assert_cmpint(look_int(r, "splits", "after"), ==, 0);
    g_assert_cmpint(look_int(r, "duplicates", "after"), ==, 0);
    g_assert_cmpfloat(cell(r, "what_if", "change", "eplb.py's plan", "over_plan").d, >, 1.01);
    g_assert_cmpfloat(cell(r, "what_if", "change", "any expert on any GPU", "over_plan").d, <,
                      0.95);
    g_assert_cmpstr(plan_of(b)->policy, ==, "hierarchical, search best");
    bench_destroy(b);
}

/* The same bytes for any number of threads. */
static void test_jobs(void) {
    g_autofree double *load = g_new(double, 40 * 64);
    for (int i = 0; i < 40 * 64; i++)
        load[i] = g_test_rand_int_range(0, 5000);
    mill_expert_load loads = loads_of(load, 1, 40, 64);
    bench *b[2];
    for (int i = 0; i < 2; i++) {
        b[i] = begin(&loads, NULL, SETTINGS("gpus=8", "replicas=72", "what-if=no"));
        bench_jobs(b[i], i ? 4 : 1);
        g_assert_cmpint(bench_run(b[i]), ==, MILL_OK);
    }
    g_assert_cmpmem(plan_of(b[0])->expert, 40 * 72 * sizeof(int32_t), plan_of(b[1])->expert,
                    40 * 72 * sizeof(int32_t));
    bench_destroy(b[0]);
    bench_destroy(b[1]);
}

/* ---------------------------------------------------------------- the plan before */

static mill_expert_plan plan_before(uint32_t experts, uint32_t gpus, const uint32_t *first,
                                    const uint32_t *node, const int32_t *expert) {
    static const uint32_t rank[4], replicas[4] = {1, 1, 1, 1};
    return (mill_expert_plan){.size = sizeof(mill_expert_plan),
                              .layers = 1,
                              .experts = experts,
                              .slots = first[gpus],
                              .gpus = gpus,
                              .nodes = node[gpus - 1] + 1,
                              .groups = 1,
                              .first = first,
                              .node = node,
                              .expert = expert,
                              .rank = rank,
                              .replicas = replicas};
}

/* Two GPUs of two slots; the loads swap what is hot. */
static void test_moves(void) {
    static const double load[4] = {10, 9, 1, 2};
    static const int32_t expert[4] = {0, 1, 2, 3};
    static const uint32_t first[3] = {0, 2, 4}, node[2] = {0, 0};
    mill_expert_plan was = plan_before(4, 2, first, node, expert);
    mill_expert_load loads = loads_of(load, 1, 1, 4);
    bench *b = run(&loads, &was, SETTINGS("expert-bytes=1MiB"));
    const mill_report *r = report_of(b);
    /* {0 2} and {1 3}: 11 each, from 19 and 3. Each GPU keeps one expert in its slot and loads one.
     */
    assert_near(look_ratio(r, "balancedness_vllm", "before"), 11.0 / 19);
    assert_near(look_ratio(r, "balancedness_vllm", "after"), 1);
    g_assert_cmpint(look_int(r, "moves_same_gpu", NULL), ==, 0);
    g_assert_cmpint(look_int(r, "moves_same_node", NULL), ==, 2);
    g_assert_cmpint(figure(r, "bytes_same_node").i, ==, 2 << 20);
    g_assert_cmpint(figure(r, "bytes_cross_node").i, ==, 0);
    int kept = 0;
    for (int s = 0; s < 4; s++)
        kept += plan_of(b)->expert[s] == expert[s];
    g_assert_cmpint(kept, ==, 2);
    g_assert_cmpint(look_int(r, "proven", NULL), ==, 1);
    bench_destroy(b);

    b = run(&loads, &was, SETTINGS("max-moves=0"));
    g_assert_cmpmem(plan_of(b)->expert, sizeof expert, expert, sizeof expert);
    bench_destroy(b);
    fails(&loads, &was, SETTINGS("replicas=6"), MILL_E_CONFIG,
          "the previous plan has 4 slots on 2 GPUs, this one 6 on 2: leave these options out, or "
          "the plan");
    fails(&loads, &was, SETTINGS("slots-per-gpu=1,3"), MILL_E_CONFIG,
          "GPU 0 has 2 slots in the previous plan and 1 in this one");
}

/* Plans whose GPUs, or slots, only have to change names to be the one before. */
static void test_names(void) {
    static const double load[2] = {5, 5};
    static const int32_t expert[2] = {1, 0};
    static const uint32_t node[2];
    static const uint32_t firsts[2][3] = {{0, 1, 2}, {0, 2}};
    static const char *const options[2] = {"relabel=no", "keep-slots=no"};
    mill_expert_load loads = loads_of(load, 1, 1, 2);
    for (uint32_t i = 0; i < 2; i++) {
        mill_expert_plan was = plan_before(2, 2 - i, firsts[i], node, expert);
        bench *b = run(&loads, &was, SETTINGS("search=none"));
        g_assert_cmpmem(plan_of(b)->expert, sizeof expert, expert, sizeof expert);
        bench_destroy(b);
        b = run(&loads, &was, SETTINGS(options[i]));
        g_assert_cmpint(plan_of(b)->expert[0], ==, 0); /* as eplb.py's plan is */
        bench_destroy(b);
    }
}

/* What a limit of moves cannot keep is refused, or told. */
static void test_limit(void) {
    static const double load[4] = {10, 9, 1, 2};
    static const int32_t expert[4] = {0, 2, 1, 3};
    static const uint32_t first[3] = {0, 2, 4}, node[2] = {0, 1};
    mill_expert_load loads = loads_of(load, 1, 1, 4);
    mill_expert_plan was = plan_before(4, 2, first, node, expert);
    fails(&loads, &was, SETTINGS("max-moves=1", "search=none"), MILL_E_CONFIG,
          "search = none takes eplb.py's plan, whatever it moves: leave max-moves out, or search");
    bench *b = run(&loads, &was, SETTINGS("max-moves=1", "groups=2", "policy=hierarchical"));
    g_assert_cmpint(look_int(report_of(b), "moves_cross_node", NULL), ==, 2);
    g_assert_nonnull(look_note(report_of(b), "moves_forced"));
    bench_destroy(b);
    b = run(&loads, &was, SETTINGS("max-moves=2", "groups=2", "policy=hierarchical"));
    g_assert_null(look_note(report_of(b), "moves_forced"));
    bench_destroy(b);
}

/* The first layer of the example: a better plan has two groups on each other's nodes, which takes
 * eight moves. */
static void test_groups_move(void) {
    static const int32_t expert[16] = {5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1};
    static const uint32_t first[9] = {0, 2, 4, 6, 8, 10, 12, 14, 16};
    static const uint32_t node[8] = {0, 0, 0, 0, 1, 1, 1, 1};
    static const uint32_t rank[16] = {0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1};
    static const uint32_t replicas[12] = {1, 2, 1, 1, 2, 2, 1, 1, 1, 1, 2, 1};
    static const struct {
        const char *limit;
        double largest;
        int64_t moves;
    } cases[] = {{"max-moves=7", 156, 0}, {"max-moves=8", 151, 8}, {"max-moves=16", 151, 8}};
    mill_expert_load loads = loads_of(example, 1, 1, 12);
    mill_expert_plan was = plan_before(12, 8, first, node, expert);
    was.groups = 4;
    was.rank = rank;
    was.replicas = replicas;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bench *b = run(&loads, &was, SETTINGS(cases[i].limit));
        const mill_report *r = report_of(b);
        assert_near(look_ratio(r, "balancedness_vllm", "after"), 129.125 / cases[i].largest);
        g_assert_cmpint(look_int(r, "moves_same_node", NULL) +
                            look_int(r, "moves_cross_node", NULL),
                        ==, cases[i].moves);
        bench_destroy(b);
    }
}

/* Nodes of unequal size are not what this plans for. */
static void test_nodes_before(void) {
    static const double load[4] = {1, 1, 1, 1};
    static const int32_t expert[4] = {0, 1, 2, 3};
    static const uint32_t first[5] = {0, 1, 2, 3, 4}, node[4] = {0, 0, 0, 1};
    mill_expert_load loads = loads_of(load, 1, 1, 4);
    mill_expert_plan was = plan_before(4, 4, first, node, expert);
    fails(&loads, &was, SETTINGS(NULL), MILL_E_CONFIG,
          "GPU 2 is on node 0 in the previous plan and would be on node 1 here: 4 GPUs on 2 nodes "
          "are as many on each");
    bench_destroy(run(&loads, &was, SETTINGS("nodes=1")));
}

/* A failed GPU holds nothing; before, it did its part. */
static void test_failed(void) {
    static const double load[4] = {4, 4, 4, 4};
    mill_expert_load loads = loads_of(load, 1, 1, 4);
    bench *b = run(&loads, NULL, SETTINGS("gpus=3", "replicas=6", "failed=1"));
    const mill_expert_plan *p = plan_of(b);
    g_assert_cmpint(p->expert[2], ==, MILL_NO_EXPERT);
    g_assert_cmpint(p->expert[3], ==, MILL_NO_EXPERT);
    for (int e = 0; e < 4; e++)
        g_assert_cmpuint(p->replicas[e], ==, 1);
    const mill_report *r = report_of(b);
    assert_near(look_ratio(r, "balancedness_vllm", "after"), 1);
    assert_near(look_ratio(r, "balancedness_vllm", "before"), (16.0 / 3) / 8);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- odd loads */

/* A layer without loads has a valid plan and no part in the balancedness; steps add up. */
static void test_zero_layer(void) {
    static const double load[32] = {0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 30, 5, 0, 55, 0, 0,
                                    0, 0, 0, 0, 0, 0, 0, 0, 12, 0, 28, 5, 0, 55, 0, 0};
    mill_expert_load loads = loads_of(load, 2, 2, 8);
    bench *b = run(&loads, NULL, SETTINGS("gpus=4", "nodes=2", "groups=4", "replicas=12"));
    const mill_expert_plan *p = plan_of(b);
    for (int i = 0; i < 16; i++)
        g_assert_cmpuint(p->replicas[i], >=, 1);
    const mill_report *r = report_of(b);
    g_assert_nonnull(look_note(r, "no_load"));
    assert_near(look_ratio(r, "balancedness_sglang", "after"),
                look_ratio(r, "balancedness_vllm", "after"));
    g_assert_true(isnan(look_cell(look_table(r, "layers"), 0, "balancedness").d));
    bench_destroy(b);
}

static void test_odd(void) {
    static const double load[8] = {1, 2, NAN, 3, 4, NAN, 6, 7};
    static const int32_t right[12] = {2, 5, 2, 2, 2, 2, 7, 3, 1, 6, 4, 0};
    mill_expert_load loads = loads_of(load, 1, 1, 8);
    bench *b = run(&loads, NULL, SETTINGS("gpus=4", "replicas=12", "policy=reference"));
    for (int s = 0; s < 12; s++)
        g_assert_cmpint(plan_of(b)->expert[s], ==, right[s]);
    g_assert_nonnull(look_note(report_of(b), "odd_loads"));
    g_assert_true(isnan(look_ratio(report_of(b), "balancedness_vllm", "after")));
    bench_destroy(b);
    fails(
        &loads, NULL, SETTINGS("gpus=4", "replicas=12"), MILL_E_DATA,
        "layer 0, expert 2, step 0: the load is nan, but loads are numbers from 0 up (only policy "
        "= reference takes others, as eplb.py does)");
}

/* ---------------------------------------------------------------- what does not fit */

static void test_faults(void) {
    static const double load[12] = {71, 12, 95, 40, 8, 133, 27, 64, 150, 19, 88, 33};
    mill_expert_load loads = loads_of(load, 1, 1, 12);
    fails(&loads, NULL, SETTINGS("groups=4", "nodes=3", "gpus=8", "replicas=16"), MILL_E_CONFIG,
          "8 GPUs do not divide over 3 nodes; nearest number of GPUs: 6 or 9");
    fails(&loads, NULL, SETTINGS("groups=5", "gpus=8", "replicas=16"), MILL_E_CONFIG,
          "12 experts do not divide into 5 equal groups; nearest number of groups: 4 or 6");
    fails(&loads, NULL, SETTINGS("gpus=8", "replicas=15"), MILL_E_CONFIG,
          "15 slots do not divide over 8 GPUs; nearest number of slots: 16; uneven = yes takes "
          "numbers that the GPUs do not divide");
    fails(
        &loads, NULL, SETTINGS("gpus=4", "nodes=4", "groups=2", "policy=hierarchical"),
        MILL_E_CONFIG,
        "2 groups do not divide over 4 nodes, as the hierarchical policy needs; nearest number of "
        "nodes: 2");
    fails(&loads, NULL, SETTINGS("replicas=16"), MILL_E_CONFIG,
          "gpus: how many GPUs hold the experts of a layer?");
    fails(&loads, NULL, SETTINGS("gpus=8", "replicas=16", "redundant=4"), MILL_E_CONFIG,
          "replicas, redundant and slots-per-gpu say the same: set one of them");
    fails(&loads, NULL, SETTINGS("gpus=8", "policy=reference", "speeds=1"), MILL_E_CONFIG,
          "policy = reference is eplb.py's plan as it is: leave out speeds, or choose another "
          "policy");
    fails(&loads, NULL, SETTINGS("gpus=4", "max-moves=3"), MILL_E_CONFIG,
          "max-moves needs a plan at the input previous");
    fails(&loads, NULL, SETTINGS("gpus=4", "failed=4"), MILL_E_CONFIG,
          "failed: there is no GPU 4; they are 0 to 3");
    fails(&loads, NULL, SETTINGS("gpus=4", "layers=1"), MILL_E_CONFIG,
          "layers: the loads have no layer 1; theirs are 0 to 0");
    fails(&loads, NULL, SETTINGS("slots-per-gpu=0,0"), MILL_E_CONFIG,
          "0 slots, less those of failed GPUs, do not hold 12 experts under this policy: more "
          "replicas, or policy = global");
}

/* Numbers of slots that do not divide, GPUs of unequal size and speed. */
static void test_uneven(void) {
    static const double load[4] = {6, 6, 6, 6};
    mill_expert_load loads = loads_of(load, 1, 1, 4);
    bench *b = run(&loads, NULL, SETTINGS("gpus=3", "replicas=4", "uneven=yes"));
    g_assert_cmpuint(plan_of(b)->first[1], ==, 2);
    assert_near(look_ratio(report_of(b), "balancedness_vllm", "after"), 8.0 / 12);
    bench *again = run(&loads, plan_of(b), SETTINGS(NULL)); /* sizes are those of the plan before */
    g_assert_cmpmem(plan_of(again)->expert, 4 * sizeof(int32_t), plan_of(b)->expert,
                    4 * sizeof(int32_t));
    bench_destroy(again);
    bench_destroy(b);
    b = run(&loads, NULL, SETTINGS("slots-per-gpu=1,3", "speeds=1,3"));
    g_assert_cmpuint(plan_of(b)->first[1], ==, 1);
    assert_near(look_ratio(report_of(b), "balancedness_vllm", "after"), 1);
    bench_destroy(b);
}

/* Other sizes than those listed for each GPU. */
static void test_other_sizes(void) {
    static const double load[4] = {9, 1, 1, 1};
    mill_expert_load loads = loads_of(load, 1, 1, 4);
    bench *b = run(&loads, NULL, SETTINGS("slots-per-gpu=3,3"));
    const mill_report *r = report_of(b);
    /* {0 1 2} {0 1 3}; {0 1} {2 3}; four slots on each GPU hold all. */
    assert_near(cell(r, "what_if", "change", "as planned", "balancedness").d, 1);
    assert_near(cell(r, "what_if", "change", "no redundant experts", "balancedness").d, 0.6);
    assert_near(cell(r, "what_if", "change", "one slot more on each GPU", "balancedness").d, 1);
    bench_destroy(b);
}

/* Layers keep the order of the loads, which plans in files need. */
static void test_layers(void) {
    static const double load[6] = {1, 2, 3, 4, 5, 6};
    mill_expert_load loads = loads_of(load, 1, 3, 2);
    bench *b = run(&loads, NULL, SETTINGS("gpus=2", "layers=2,0"));
    g_assert_cmpuint(plan_of(b)->layers, ==, 2);
    g_assert_cmpint(plan_of(b)->layer[0], ==, 0);
    g_assert_cmpint(plan_of(b)->layer[1], ==, 2);
    bench_destroy(b);
}

/* Nodes that do not divide the groups: eplb.py plans without either, and it is said. */
static void test_fallback(void) {
    static const double load[12] = {71, 12, 95, 40, 8, 133, 27, 64, 150, 19, 88, 33};
    mill_expert_load loads = loads_of(load, 1, 1, 12);
    bench *b = run(&loads, NULL, SETTINGS("gpus=8", "nodes=4", "groups=6", "replicas=16"));
    g_assert_nonnull(look_note(report_of(b), "sizes"));
    g_assert_cmpstr(plan_of(b)->policy, ==, "global, search fast");
    bench_destroy(b);
    b = run(&loads, NULL,
            SETTINGS("gpus=8", "nodes=3", "groups=5", "replicas=16", "policy=reference"));
    g_assert_nonnull(look_note(report_of(b), "sizes"));
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/planners/eplb/eplb.so");
    g_test_add_func("/eplb/stage/example", test_example);
    g_test_add_func("/eplb/stage/better", test_better);
    g_test_add_func("/eplb/stage/gpu-rows", test_gpu_rows);
    g_test_add_func("/eplb/stage/jobs", test_jobs);
    g_test_add_func("/eplb/stage/moves", test_moves);
    g_test_add_func("/eplb/stage/names", test_names);
    g_test_add_func("/eplb/stage/limit", test_limit);
    g_test_add_func("/eplb/stage/groups-move", test_groups_move);
    g_test_add_func("/eplb/stage/nodes-before", test_nodes_before);
    g_test_add_func("/eplb/stage/failed", test_failed);
    g_test_add_func("/eplb/stage/zero-layer", test_zero_layer);
    g_test_add_func("/eplb/stage/odd", test_odd);
    g_test_add_func("/eplb/stage/faults", test_faults);
    g_test_add_func("/eplb/stage/uneven", test_uneven);
    g_test_add_func("/eplb/stage/other-sizes", test_other_sizes);
    g_test_add_func("/eplb/stage/layers", test_layers);
    g_test_add_func("/eplb/stage/fallback", test_fallback);
    return g_test_run();
}
