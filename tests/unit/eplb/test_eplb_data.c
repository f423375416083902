/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `eplb` on all cases that eplb.py planned: the same where asked for, never worse
 * where not, and the same words for sizes that eplb.py asserts. */
#include "oracle.h"

#include <math.h>
#include <string.h>
#include <tracemill/expert_load.h>
#include <tracemill/expert_plan.h>

static const mill_module *module;

static void set(bench *b, const char *name, uint32_t value) {
    g_autofree char *setting = g_strdup_printf("%s=%u", name, value);
    bench_option(b, setting);
}

static bench *begin(const ep_shape *s, uint32_t groups, uint32_t nodes,
                    const mill_expert_load *loads) {
    bench *b = bench_create(module, "eplb");
    bench_jobs(b, 2);
    set(b, "gpus", s->gpus);
    set(b, "nodes", nodes);
    set(b, "groups", groups);
    set(b, "replicas", s->slots);
    bench_option(b, "what-if=no");
    bench_input(b, "loads", MILL_TYPE_EXPERT_LOAD, loads, "loads", "");
    return b;
}

static const mill_expert_plan *run(bench *b) {
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    return bench_output(b, "plan", 0);
}

static double largest(const oracle_case *c, uint32_t layer, const int32_t *plan) {
    ep_loads loads = {c->shape.experts, 1, c->load + (size_t)layer * c->shape.experts};
    return ep_value(&c->shape, &loads, EP_MEAN, plan);
}

static void assert_case(const oracle_case *c) {
    size_t size = (size_t)c->layers * c->shape.slots * sizeof *c->plan;
    mill_expert_load loads = {.size = sizeof loads,
                              .layers = c->layers,
                              .experts = c->shape.experts,
                              .steps = 1,
                              .load = c->load};
    bench *b = begin(&c->shape, c->shape.groups, c->shape.nodes, &loads);
    bench_option(b, "policy=reference");
    bench_option(b, "sort=libstdcxx");
    const mill_expert_plan *same = run(b);
    g_assert_cmpstr(strstr(same->policy, c->hierarchical ? "hierarchical" : "global"), !=, NULL);
    if (memcmp(same->expert, c->plan, size) != 0)
        g_error("%s: the plan is another", c->name);
    bench_destroy(b);

    b = begin(&c->shape, c->shape.groups, c->shape.nodes, &loads);
    bench_option(b, "distinct=no");
    const mill_expert_plan *better = run(b);
    for (uint32_t l = 0; l < c->layers; l++) {
        size_t at = (size_t)l * c->shape.slots;
        double ours = largest(c, l, better->expert + at), right = largest(c, l, c->plan + at);
        if (ours > right * (1 + 1e-12))
            g_error("%s, layer %u: %.9g is worse than %.9g", c->name, l, ours, right);
    }
    bench_destroy(b);
}

static void test_oracle(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autoptr(GPtrArray) cases = oracle_cases(folder);
    g_assert_cmpuint(cases->len, >, 40);
    for (guint i = 0; i < cases->len; i++)
        assert_case(cases->pdata[i]);
}

static void test_errors(void) {
    static const struct {
        const char *name, *cause;
    } errors[] = {
        {"err_experts_not_multiple_of_groups",
         "12 experts do not divide into 10 equal groups; nearest number of groups: 6 or 12"},
        {"err_fewer_replicas_than_experts",
         "8 slots do not hold 12 experts; nearest number of slots: 16"},
        {"err_gpus_not_multiple_of_nodes",
         "7 GPUs do not divide over 2 nodes; nearest number of GPUs: 6 or 8"},
        {"err_replicas_not_multiple_of_gpus",
         "15 slots do not divide over 8 GPUs; nearest number of slots: 16"},
    };
    const char *folder = data_folder();
    for (size_t i = 0; folder && i < G_N_ELEMENTS(errors); i++) {
        g_autofree char *name = g_strdup_printf("oracle/eplb/%s.json", errors[i].name);
        cJSON *json = data_json(folder, name);
        g_autofree double *load = g_new0(double, 12);
        mill_expert_load loads = {
            .size = sizeof loads, .layers = 1, .experts = 12, .steps = 1, .load = load};
        ep_shape shape = {.gpus = (uint32_t)data_integer(json, "gpus"),
                          .slots = (uint32_t)data_integer(json, "replicas")};
        bench *b = begin(&shape, (uint32_t)data_integer(json, "groups"),
                         (uint32_t)data_integer(json, "nodes"), &loads);
        bench_option(b, "policy=reference");
        g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
        g_assert_cmpstr(bench_causes(b), ==, errors[i].cause);
        bench_destroy(b);
        cJSON_Delete(json);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    module = bench_open("plugins/planners/eplb/eplb.so");
    g_test_add_func("/eplb/stage/oracle", test_oracle);
    g_test_add_func("/eplb/stage/errors", test_errors);
    return g_test_run();
}
