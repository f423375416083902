/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation against right values computed by other means (oracle/pp/expected.json). */
#include "data.h"
#include "families.h"
#include "sim.h"

#include <math.h>
#include <string.h>

static bench *b;
static GHashTable *plans; /* by schedule and sizes, since many rows have the same */

static const pp_plan *plan_of(const cJSON *row) {
    const cJSON *chunks = cJSON_GetObjectItemCaseSensitive(row, "v");
    pp_sizes sizes = {
        .ranks = (uint32_t)data_integer(row, "ranks"),
        .micro_batches = (uint32_t)data_integer(row, "microbatches"),
        .chunks = chunks ? (uint32_t)chunks->valuedouble : 1,
        .weight_lag = UINT32_MAX,
    };
    const char *id = data_field(row, "schedule")->valuestring;
    g_autofree char *key =
        g_strdup_printf("%s %u %u %u", id, sizes.ranks, sizes.micro_batches, sizes.chunks);
    const pp_plan *plan = g_hash_table_lookup(plans, key);
    if (plan)
        return plan;
    const pp_family *family = pp_family_of(id);
    g_assert_nonnull(family);
    pp_sizes nearest;
    g_assert_true(family->takes(&sizes, &nearest));
    plan = family->plan(bench_services(b), &sizes);
    g_hash_table_insert(plans, g_steal_pointer(&key), (void *)plan);
    return plan;
}

/* Durations of each cell: `name` of the row, times the scale of its stage. */
static const int64_t *column(const pp_plan *plan, const cJSON *row, const char *name) {
    const cJSON *scale = cJSON_GetObjectItemCaseSensitive(row, "stage_scale");
    uint32_t cells = plan->ranks * plan->chunks;
    int64_t *ns = g_new(int64_t, cells);
    for (uint32_t c = 0; c < cells; c++) {
        ns[c] = data_integer(row, name);
        if (cJSON_IsArray(scale))
            ns[c] *= (int64_t)cJSON_GetArrayItem(scale, (int)plan->stage[c])->valuedouble;
    }
    return ns;
}

static pp_timing timing_of(const pp_plan *plan, const cJSON *row, pp_comm comm) {
    return (pp_timing){
        .forward = column(plan, row, "F"),
        .backward = column(plan, row, "B"),
        .input = column(plan, row, "Bi"),
        .weight = column(plan, row, "W"),
        .pair = column(plan, row, "FB"),
        .comm = comm,
        .latency = data_integer(row, "c"),
    };
}

static void free_timing(pp_timing *timing) {
    g_free((void *)timing->forward);
    g_free((void *)timing->backward);
    g_free((void *)timing->input);
    g_free((void *)timing->weight);
    g_free((void *)timing->pair);
}

static int64_t element(const cJSON *row, const char *name, uint32_t i) {
    return (int64_t)cJSON_GetArrayItem(data_field(row, name), (int)i)->valuedouble;
}

static void check_row(const pp_plan *plan, const cJSON *row, const pp_result *r) {
    int64_t idle = 0, longest = 0;
    g_assert_cmpint(r->makespan, ==, data_integer(row, "makespan"));
    g_assert_cmpint(plan->stages, ==, data_integer(row, "stages"));
    for (uint32_t i = 0; i < plan->ranks; i++) {
        const pp_rank_times *t = &r->ranks[i];
        g_assert_cmpint(t->busy, ==, element(row, "busy", i));
        g_assert_cmpint(r->makespan - t->busy, ==, element(row, "idle", i));
        g_assert_cmpint(t->start, ==, element(row, "start", i));
        g_assert_cmpint(t->end, ==, element(row, "end", i));
        g_assert_cmpint(t->end - t->start - t->busy, ==, element(row, "span_idle", i));
        g_assert_cmpint(t->live, ==, element(row, "peak_act", i));
        g_assert_cmpint(t->live_weight, ==, element(row, "peak_act_w", i));
        idle += r->makespan - t->busy;
        longest = MAX(longest, t->end - t->start);
    }
    g_assert_cmpint(longest, ==, data_integer(row, "max_span"));
    double ratio = (double)idle / ((double)plan->ranks * (double)r->makespan);
    g_assert_cmpfloat(fabs(ratio - data_field(row, "bubble_ratio")->valuedouble), <, 1e-12);
}

static cJSON *begin(void) {
    const char *folder = data_folder();
    if (!folder)
        return NULL;
    b = bench_create(NULL, NULL);
    plans = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return data_json(folder, "oracle/pp/expected.json");
}

static void end(cJSON *expected) {
    cJSON_Delete(expected);
    g_hash_table_destroy(plans);
    bench_destroy(b);
}

static void simulate(const pp_plan *plan, const cJSON *row, pp_comm comm, pp_result *ret_result) {
    pp_timing timing = timing_of(plan, row, comm);
    mill_status status = pp_simulate(bench_services(b), plan, &timing, 0, ret_result);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    free_timing(&timing);
}

static void test_dep(void) {
    cJSON *expected = begin();
    if (!expected)
        return;
    int n = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, data_field(expected, "rows")) {
        const pp_plan *plan = plan_of(row);
        pp_result result;
        simulate(plan, row, PP_COMM_DEP, &result);
        check_row(plan, row, &result);
        n++;
    }
    g_assert_cmpint(n, ==, 1360);
    end(expected);
}

static void test_blocking(void) {
    cJSON *expected = begin();
    if (!expected)
        return;
    int n = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, data_field(expected, "blocking")) {
        pp_result result;
        simulate(plan_of(row), row, PP_COMM_BLOCKING, &result);
        g_assert_cmpint(result.makespan, ==, data_integer(row, "makespan_blocking"));
        n++;
    }
    g_assert_cmpint(n, ==, 480);
    end(expected);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sim/data/dep", test_dep);
    g_test_add_func("/sim/data/blocking", test_blocking);
    return g_test_run();
}
