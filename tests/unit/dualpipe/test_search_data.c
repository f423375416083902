/* SPDX-License-Identifier: Apache-2.0 */
/* The search on tiny pipelines, against the best of all their orders, found by exhaustion. */
#include "data.h"
#include "search_goal.h"

#include <stdlib.h>

static void check_memory(const pp_plan *plan, bool until_weight, int64_t most) {
    int64_t live[8];
    g_assert_cmpuint(plan->ranks, <=, G_N_ELEMENTS(live));
    pp_live(plan, until_weight, live);
    for (uint32_t rank = 0; rank < plan->ranks; rank++)
        g_assert_cmpint(live[rank], <=, most);
}

/* One limit of memory of a case. */
static void check_limit(const cJSON *json, const search_costs *costs, const cJSON *limit) {
    bench *b = bench_create(NULL, NULL);
    mill_run *run = bench_services(b);
    int64_t most = atoi(limit->string);
    pp_goal goal = search_goal(costs, (uint32_t)data_integer(json, "ranks"),
                               (uint32_t)data_integer(json, "microbatches"), 1);
    goal.memory = most * 1000000;
    goal.split = cJSON_IsTrue(data_field(json, "split"));
    goal.until_weight = goal.split;
    pp_found found;
    g_assert_cmpint(pp_search(run, &goal, &found), ==, MILL_OK);
    if (cJSON_IsNull(limit)) {
        g_assert_null(found.plan);
    } else {
        int64_t right = (int64_t)cJSON_GetArrayItem(limit, 0)->valuedouble;
        const char *fault;
        g_assert_nonnull(found.plan);
        g_assert_cmpint(found.makespan, ==, right);
        g_assert_cmpint(found.bound.ns, <=, right);
        g_assert_true(found.proven);
        g_assert_true(pp_whole(run, found.plan, &fault));
        check_memory(found.plan, goal.until_weight, most);
        g_test_message("%u x %u, limit %d: %d ns, %s", goal.sizes.ranks, goal.sizes.micro_batches,
                       (int)most, (int)right, found.how);
    }
    bench_destroy(b);
}

static int64_t value_or(const cJSON *json, const char *name, int64_t other) {
    return cJSON_HasObjectItem(json, name) ? data_integer(json, name) : other;
}

static void test_optimal(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    cJSON *cases = data_json(folder, "oracle/pp/optimal_small.json"), *json;
    int n = 0;
    cJSON_ArrayForEach(json, cases) {
        search_costs costs = {
            .forward = data_integer(json, "F"),
            .backward = data_integer(json, "B"),
            .input = value_or(json, "Bi", MILL_UNKNOWN),
            .weight = value_or(json, "W", MILL_UNKNOWN),
            .pair = MILL_UNKNOWN,
            .latency = data_integer(json, "c"),
        };
        const cJSON *limit;
        cJSON_ArrayForEach(limit, data_field(json, "by_memory_limit"))
            check_limit(json, &costs, limit);
        n++;
    }
    g_assert_cmpint(n, ==, 77);
    cJSON_Delete(cases);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/dualpipe/search-data/optimal", test_optimal);
    return g_test_run();
}
