/* SPDX-License-Identifier: Apache-2.0 */
/* Real profiles, read and analysed, against right values computed by other means. */
#include "analysed.h"
#include "look.h"

#include <math.h>

static void check_classes(const mill_report *report, int64_t device, const cJSON *right) {
    static const struct {
        const char *ours, *theirs;
    } classes[] = {{"computation", "comp"}, {"communication", "comm"}, {"memory", "mem"}};
    const mill_table *table = look_table(report, "classes");
    for (size_t i = 0; i < G_N_ELEMENTS(classes); i++) {
        int64_t row = look_row(table, device, "class", classes[i].ours);
        g_assert_cmpint(look_cell(table, row, "n").i, ==,
                        data_integer(data_field(right, "count"), classes[i].theirs));
        g_assert_cmpint(look_cell(table, row, "sum").i, ==,
                        data_integer(data_field(right, "sum_duration_ns"), classes[i].theirs));
    }
}

static void check_kinds(const mill_report *report, int64_t device, const cJSON *right) {
    const mill_table *table = look_table(report, "kinds");
    const cJSON *kind;
    int n = 0;
    cJSON_ArrayForEach(kind, data_field(right, "communication_kinds")) {
        int64_t row = look_row(table, device, "kind", kind->string);
        g_assert_cmpint(look_cell(table, row, "n").i, ==, data_integer(kind, "count"));
        g_assert_cmpint(look_cell(table, row, "sum").i, ==, data_integer(kind, "sum_ns"));
        n++;
    }
    int rows = 0;
    for (int64_t row = 0; row < (int64_t)table->rows; row++)
        rows += look_cell(table, row, "device").i == device;
    g_assert_cmpint(rows, ==, n);
}

static void check_device(const mill_report *report, const cJSON *right, const char *scope) {
    static const struct {
        const char *ours, *theirs;
    } figures[] = {
        {"activities", "activities"},
        {"streams", "streams"},
        {"T", "span_ns"},
        {"busy", "busy_ns"},
        {"idle", "idle_ns"},
        {"comp", "computation_ns"},
        {"comm", "communication_ns"},
        {"mem", "memory_ns"},
        {"overlap", "overlap_ns"},
        {"exposed_comm", "exposed_communication_ns"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(figures); i++)
        g_assert_cmpint(look_int(report, figures[i].ours, scope), ==,
                        data_integer(right, figures[i].theirs));
    const cJSON *ratio = data_field(right, "overlap_over_communication");
    double ours = look_ratio(report, "overlap_over_comm", scope);
    g_assert_cmpint(isnan(ours), ==, cJSON_IsNull(ratio));
    if (!isnan(ours))
        g_assert_cmpfloat_with_epsilon(ours, ratio->valuedouble, 5e-7);

    int64_t device = g_ascii_strtoll(right->string, NULL, 10);
    check_classes(report, device, right);
    check_kinds(report, device, right);
}

static void test_corpus(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    cJSON *corpus = data_json(folder, "oracle/corpus.json");
    const cJSON *trace, *device;
    int devices = 0;
    cJSON_ArrayForEach(trace, corpus) {
        g_test_message("%s", trace->string);
        g_autofree char *path = g_strdup_printf("%s/traces/%s.json.gz", folder, trace->string);
        const char *settings[] = {"top=1000", NULL};
        analysed a;
        analysed_init(&a, path, settings, false);
        int n = cJSON_GetArraySize(data_field(trace, "devices"));
        g_assert_true((n == 0) == (look_note(a.report, "no_device_events") != NULL));
        cJSON_ArrayForEach(device, data_field(trace, "devices")) {
            g_autofree char *scope = g_strdup_printf("device %s", device->string);
            check_device(a.report, device, n > 1 ? scope : NULL);
            devices++;
        }
        if (n > 0)
            g_assert_cmpuint(look_table(a.report, "devices")->rows, ==, (uint64_t)n);
        analysed_finish(&a);
    }
    g_assert_cmpint(devices, >, 0);
    cJSON_Delete(corpus);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/overlap/data/corpus", test_corpus);
    return g_test_run();
}
