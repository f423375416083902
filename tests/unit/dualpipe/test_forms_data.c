/* SPDX-License-Identifier: Apache-2.0 */
/* Closed forms and lower bounds against right values computed by other means (oracle/pp). */
#include "data.h"
#include "forms.h"
#include "random_case.h"

#include <string.h>

static pp_sizes sizes_of(const cJSON *row) {
    const cJSON *chunks = cJSON_GetObjectItemCaseSensitive(row, "v");
    return (pp_sizes){
        .ranks = (uint32_t)data_integer(row, "ranks"),
        .micro_batches = (uint32_t)data_integer(row, "microbatches"),
        .chunks = chunks ? (uint32_t)chunks->valuedouble : 1,
        .weight_lag = UINT32_MAX,
    };
}

static int64_t or_unknown(const cJSON *row, const char *name) {
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(row, name);
    return cJSON_IsNumber(field) ? (int64_t)field->valuedouble : MILL_UNKNOWN;
}

/* Not all is told of orders that do not have it. */
static mill_chunk_cost cost_of(const cJSON *row) {
    return (mill_chunk_cost){
        .forward = data_integer(row, "F"),
        .backward = data_integer(row, "B"),
        .input = or_unknown(row, "Bi"),
        .weight = or_unknown(row, "W"),
        .pair = or_unknown(row, "FB"),
    };
}

/* Durations of each cell, longer by the scale of its stage. */
static const int64_t *column(mill_run *run, const pp_plan *plan, const cJSON *row, int64_t ns) {
    const cJSON *scale = cJSON_GetObjectItemCaseSensitive(row, "stage_scale");
    int64_t *cells = mill_scratch(run, plan->ranks * plan->chunks * sizeof *cells);
    for (uint32_t i = 0; i < plan->ranks * plan->chunks; i++) {
        cells[i] = ns;
        if (cJSON_IsArray(scale))
            cells[i] *= (int64_t)cJSON_GetArrayItem(scale, (int)plan->stage[i])->valuedouble;
    }
    return cells;
}

static pp_bound bound_of(mill_run *run, const pp_plan *plan, const cJSON *row) {
    mill_chunk_cost cost = cost_of(row);
    pp_timing timing = {
        .forward = column(run, plan, row, cost.forward),
        .backward = column(run, plan, row, cost.backward),
        .input = column(run, plan, row, cost.input),
        .weight = column(run, plan, row, cost.weight),
        .pair = column(run, plan, row, cost.pair),
        .latency = data_integer(row, "c"),
    };
    return pp_bound_of(run, plan, &timing);
}

/* ---------------------------------------------------------------- expected.json */

static int64_t longest_span_idle(const cJSON *row) {
    int64_t longest = 0;
    const cJSON *idle;
    cJSON_ArrayForEach(idle, data_field(row, "span_idle")) longest =
        MAX(longest, (int64_t)idle->valuedouble);
    return longest;
}

static void check_form(mill_run *run, const cJSON *row, unsigned *exact) {
    pp_sizes sizes = sizes_of(row);
    mill_chunk_cost cost = cost_of(row);
    const char *id = data_field(row, "schedule")->valuestring;
    pp_form form = pp_form_of(run, pp_family_of(id), &sizes, &cost);
    g_assert_cmpint(form.published, ==, or_unknown(row, "published_bubble"));
    if (or_unknown(row, "exact_makespan") != MILL_UNKNOWN)
        g_assert_cmpint(form.makespan, !=, MILL_UNKNOWN);
    if (form.makespan == MILL_UNKNOWN)
        return;
    g_assert_cmpint(form.makespan, ==, data_integer(row, "makespan"));
    if (form.span_idle != MILL_UNKNOWN)
        g_assert_cmpint(form.span_idle, ==, longest_span_idle(row));
    ++*exact;
}

static void test_expected(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    cJSON *expected = data_json(folder, "oracle/pp/expected.json");
    unsigned exact = 0, met = 0, n = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, data_field(expected, "rows")) {
        pp_sizes sizes = sizes_of(row);
        const pp_family *family = pp_family_of(data_field(row, "schedule")->valuestring);
        int64_t bound = bound_of(run, family->plan(run, &sizes), row).ns;
        g_assert_cmpint(bound, >, 0);
        g_assert_cmpint(bound, <=, data_integer(row, "makespan"));
        met += bound == data_integer(row, "makespan");
        n++;
        if (data_integer(row, "c") == 0 && cJSON_IsNull(data_field(row, "stage_scale")))
            check_form(run, row, &exact);
    }
    g_test_message("%u rows: %u have an exact form, %u meet the bound", n, exact, met);
    g_assert_cmpuint(exact, >, 300);
    cJSON_Delete(expected);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- optimal_small.json */

/* The least over all orders, with each limit of memory; the bound is of orders without any. */
static int64_t least_makespan(const cJSON *row) {
    int64_t least = INT64_MAX;
    const cJSON *found;
    cJSON_ArrayForEach(found, data_field(row, "by_memory_limit")) {
        if (cJSON_IsArray(found))
            least = MIN(least, (int64_t)cJSON_GetArrayItem(found, 0)->valuedouble);
    }
    return least;
}

static void test_optimal(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    cJSON *optimal = data_json(folder, "oracle/pp/optimal_small.json");
    unsigned met[2] = {0, 0}, n[2] = {0, 0}; /* of whole and of split backward chunks */
    const cJSON *row;
    cJSON_ArrayForEach(row, optimal) {
        bool split = cJSON_IsTrue(data_field(row, "split"));
        pp_sizes sizes = sizes_of(row);
        const pp_plan *plan = pp_family_of(split ? "zb-h1" : "1f1b")->plan(run, &sizes);
        int64_t bound = bound_of(run, plan, row).ns;
        g_assert_cmpint(bound, >, 0);
        g_assert_cmpint(bound, <=, least_makespan(row));
        met[split] += bound == least_makespan(row);
        n[split]++;
    }
    g_test_message("the bound is met in %u of %u cases with whole, %u of %u with split backward",
                   met[0], n[0], met[1], n[1]);
    g_assert_cmpuint(n[0] + n[1], ==, 77);
    cJSON_Delete(optimal);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dualpipe/forms/expected", test_expected);
    g_test_add_func("/dualpipe/bounds/optimal", test_optimal);
    return g_test_run();
}
