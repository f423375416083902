/* SPDX-License-Identifier: Apache-2.0 */
/* The plans of eplb.py itself, by both sorts: where replicas are, which they are, how many. */
#include "data.h"

#include "reference.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/expert_plan.h>

typedef struct oracle_case {
    cJSON *json;
    uint32_t layers, experts, replicas, groups, nodes, gpus;
    bool hierarchical;
} oracle_case;

static float weight(const cJSON *v) {
    if (!cJSON_IsString(v))
        return (float)v->valuedouble;
    return g_str_equal(v->valuestring, "nan")   ? NAN
           : g_str_equal(v->valuestring, "inf") ? INFINITY
                                                : -INFINITY;
}

/* All numbers of nested lists, in their order. */
static void flatten(const cJSON *v, GArray *to) {
    if (cJSON_IsNumber(v)) {
        gint64 number = (gint64)v->valuedouble;
        g_array_append_val(to, number);
    }
    for (const cJSON *child = v->child; child; child = child->next)
        flatten(child, to);
}

/* The right value of a field; where the stable sort's differs, it stands apart. Large cases have
 * only the sum of some. NULL: it is not there. */
static const cJSON *right(const oracle_case *c, ep_sort sort, const char *group,
                          const char *field) {
    const cJSON *stable = cJSON_GetObjectItemCaseSensitive(c->json, "stable");
    const cJSON *from = c->json, *apart = NULL;
    if (group) {
        from = data_field(from, group);
        stable = stable ? cJSON_GetObjectItemCaseSensitive(stable, group) : NULL;
    }
    if (sort == EP_SORT_STABLE && stable)
        apart = cJSON_GetObjectItemCaseSensitive(stable, field);
    return apart ? apart : cJSON_GetObjectItemCaseSensitive(from, field);
}

/* SHA-256 of int64, little endian, as the oracle has it. */
static char *sum_of(const int32_t *values, size_t n) {
    g_autofree gint64 *wide = g_new(gint64, n);
    for (size_t i = 0; i < n; i++)
        wide[i] = GINT64_TO_LE((gint64)values[i]);
    return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)wide, n * sizeof *wide);
}

static void assert_values(const oracle_case *c, ep_sort sort, const char *field,
                          const int32_t *values, size_t n) {
    const char *name = data_field(c->json, "name")->valuestring;
    const cJSON *list = right(c, sort, NULL, field), *sum = right(c, sort, "sha256", field);
    g_assert_true(list || sum);
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(gint64));
    if (list)
        flatten(list, numbers);
    for (guint i = 0; i < numbers->len; i++)
        if (numbers->len != n || g_array_index(numbers, gint64, i) != values[i])
            g_error("%s: %s[%u] is %d", name, field, i, values[i]);
    g_autofree char *ours = sum_of(values, n);
    if (sum && !g_str_equal(ours, sum->valuestring))
        g_error("%s: %s is another", name, field);
}

static mill_expert_plan *plan(bench *b, const oracle_case *c, ep_sort sort) {
    size_t slots = c->replicas;
    g_autofree float *load = g_new(float, c->experts);
    g_autofree int32_t *expert = g_new(int32_t, c->layers * slots);
    g_autofree uint32_t *rank = g_new(uint32_t, c->layers * slots);
    ep_reference *r = ep_reference_create(c->experts, c->replicas, c->groups, c->nodes, c->gpus,
                                          c->hierarchical, sort);
    const cJSON *row = data_field(c->json, "weights")->child;
    for (uint32_t l = 0; l < c->layers; l++, row = row->next) {
        uint32_t e = 0;
        for (const cJSON *w = row->child; w; w = w->next)
            load[e++] = weight(w);
        ep_reference_plan(r, load, expert + l * slots, rank + l * slots);
    }
    ep_reference_destroy(r);
    mill_expert_plan like = {sizeof like,          .layers = c->layers, .experts = c->experts,
                             .slots = c->replicas, .gpus = c->gpus,     .expert = expert,
                             .rank = rank};
    return kit_expert_plan(bench_services(b), &like);
}

static void assert_plan(bench *b, const oracle_case *c, ep_sort sort) {
    const mill_expert_plan *p = plan(b, c, sort);
    size_t slots = (size_t)p->layers * p->slots, experts = (size_t)p->layers * p->experts;
    assert_values(c, sort, "phy2log", p->expert, slots);
    assert_values(c, sort, "phyrank", (const int32_t *)p->rank, slots);
    assert_values(c, sort, "logcnt", (const int32_t *)p->replicas, experts);

    uint32_t width = kit_most_replicas(p);
    g_autofree int32_t *log2phy = g_new(int32_t, experts * width);
    for (uint32_t l = 0; l < p->layers; l++)
        kit_slots_of_experts(p, l, width, log2phy + (size_t)l * p->experts * width);
    assert_values(c, sort, "log2phy", log2phy, experts * width);
}

static uint32_t size(const cJSON *json, const char *name) {
    return (uint32_t)data_integer(json, name);
}

static void test_case(const cJSON *file, bool *ret_fault) {
    oracle_case c = {
        (cJSON *)file,        size(file, "layers"), size(file, "experts"), size(file, "replicas"),
        size(file, "groups"), size(file, "nodes"),  size(file, "gpus"),    false};
    c.hierarchical = c.nodes > 0 && c.groups % c.nodes == 0;
    bench *b = bench_create(NULL, NULL);
    const char *fault = ep_reference_fault(bench_services(b), c.experts, c.replicas, c.groups,
                                           c.nodes, c.gpus, c.hierarchical);
    *ret_fault = cJSON_HasObjectItem(file, "error");
    if (*ret_fault)
        g_assert_nonnull(fault);
    else {
        g_assert_null(fault);
        g_assert_cmpint(c.hierarchical, ==,
                        g_str_equal(data_field(file, "policy")->valuestring, "hierarchical"));
        assert_plan(b, &c, EP_SORT_STABLE);
        assert_plan(b, &c, EP_SORT_LIBSTDCXX);
    }
    bench_destroy(b);
}

static void test_oracle(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *path = g_build_filename(folder, "oracle/eplb", NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    g_assert_nonnull(dir);
    unsigned plans = 0, faults = 0;
    for (const char *name; (name = g_dir_read_name(dir));) {
        if (!g_str_has_suffix(name, ".json"))
            continue;
        bool fault;
        cJSON *json = data_json(path, name);
        test_case(json, &fault);
        cJSON_Delete(json);
        *(fault ? &faults : &plans) += 1;
    }
    g_assert_cmpuint(plans, >=, 48);
    g_assert_cmpuint(faults, >=, 6);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eplb/reference/oracle", test_oracle);
    return g_test_run();
}
