/* SPDX-License-Identifier: Apache-2.0 */
/* Orders against records of the real programs, and the chunks held against right values that were
 * computed by other means (oracle/pp/README.md). */
#include "data.h"
#include "families.h"

#include <string.h>

static bench *b;
static mill_run *run;

static const pp_plan *plan_of(const cJSON *row) {
    const pp_family *family = pp_family_of(data_field(row, "schedule")->valuestring);
    if (!family)
        return NULL;
    pp_sizes sizes = {
        .ranks = (uint32_t)data_integer(row, "ranks"),
        .micro_batches = (uint32_t)data_integer(row, "microbatches"),
        .weight_lag = UINT32_MAX,
    };
    if (family->choosable)
        sizes.chunks = (uint32_t)data_integer(row, "v");
    pp_sizes nearest;
    g_assert_true(family->takes(&sizes, &nearest));
    return family->plan(run, &sizes);
}

/* ---------------------------------------------------------------- recorded orders */

static uint8_t kind_of(const char *op) {
    static const char *const names[] = {"F", "B", "Bi", "W", "FB"};
    for (uint8_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (!strcmp(op, names[i]))
            return i + 1;
    g_error("%s is no operation", op);
}

static uint32_t stage_of(const pp_plan *plan, uint32_t rank, uint32_t chunk) {
    return plan->stage[rank * plan->chunks + chunk];
}

static void check_op(const pp_plan *plan, uint32_t rank, const pp_item *item, const cJSON *op) {
    g_assert_cmpuint(item->op.kind, ==, kind_of(data_field(op, "op")->valuestring));
    g_assert_cmpuint(item->op.chunk, ==, data_integer(op, "chunk"));
    g_assert_cmpuint(item->mb, ==, data_integer(op, "mb"));
    g_assert_cmpuint(item->op.step, ==, data_integer(op, "step"));
    g_assert_cmpuint(stage_of(plan, rank, item->op.chunk), ==, data_integer(op, "stage"));
    if (item->op.kind == MILL_OP_PAIR) {
        g_assert_cmpuint(item->op.chunk2, ==, data_integer(op, "chunk2"));
        g_assert_cmpuint(item->mb2, ==, data_integer(op, "mb2"));
        g_assert_cmpuint(stage_of(plan, rank, item->op.chunk2), ==, data_integer(op, "stage2"));
    }
}

static void check_record(const char *folder, const char *name) {
    cJSON *record = data_json(folder, name);
    const pp_plan *plan = plan_of(record);
    g_assert_cmpuint(plan->stages, ==, data_integer(record, "stages"));
    const cJSON *ranks = data_field(record, "ops");
    g_assert_cmpint(cJSON_GetArraySize(ranks), ==, plan->ranks);
    const cJSON *order, *op;
    uint32_t rank = 0;
    cJSON_ArrayForEach(order, ranks) {
        pp_cursor *c = pp_cursor_at(run, plan, rank);
        pp_item item;
        cJSON_ArrayForEach(op, order) {
            g_assert_true(pp_next(c, &item));
            check_op(plan, rank, &item, op);
        }
        g_assert_false(pp_next(c, &item));
        rank++;
    }
    cJSON_Delete(record);
}

static void test_records(void) {
    if (!data_folder())
        return;
    g_autofree char *path = g_build_filename(data_folder(), "oracle", "pp", NULL);
    GDir *folder = g_dir_open(path, 0, NULL);
    g_assert_nonnull(folder);
    unsigned n = 0;
    for (const char *name; (name = g_dir_read_name(folder));)
        if (g_str_has_prefix(name, "dualpipe")) {
            g_test_message("%s", name);
            check_record(path, name);
            n++;
        }
    g_dir_close(folder);
    g_assert_cmpuint(n, >=, 11);
}

/* ---------------------------------------------------------------- memory */

static void check_live(const pp_plan *plan, const cJSON *row, const char *field,
                       bool until_weight) {
    const cJSON *right = data_field(row, field);
    g_autofree int64_t *live = g_new(int64_t, plan->ranks);
    pp_live(plan, until_weight, live);
    g_assert_cmpint(cJSON_GetArraySize(right), ==, plan->ranks);
    for (uint32_t rank = 0; rank < plan->ranks; rank++)
        g_assert_cmpint(live[rank], ==, cJSON_GetArrayItem(right, (int)rank)->valuedouble);
}

static void test_live(void) {
    if (!data_folder())
        return;
    cJSON *expected = data_json(data_folder(), "oracle/pp/expected.json");
    const cJSON *row;
    unsigned n = 0;
    cJSON_ArrayForEach(row, data_field(expected, "rows")) {
        const pp_plan *plan = plan_of(row);
        if (!plan)
            continue;
        check_live(plan, row, "peak_act", false);
        check_live(plan, row, "peak_act_w", true);
        n++;
    }
    g_assert_cmpuint(n, >=, 1122);
    cJSON_Delete(expected);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    b = bench_create(NULL, NULL);
    run = bench_services(b);
    g_test_add_func("/orders-data/records", test_records);
    g_test_add_func("/orders-data/live", test_live);
    int failed = g_test_run();
    bench_destroy(b);
    return failed;
}
