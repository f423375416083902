/* SPDX-License-Identifier: Apache-2.0 */
/* Critical paths of real profiles against right values computed by other means. */
#include "data.h"
#include "look.h"

#define US 1000 /* the right values are in whole µs */

static void analyse(data_report *a, const char *path) {
    static const char *const settings[] = {"top=1000", "lanes=yes", NULL};
    data_report_init(a, path, "critical-path", "critical-path", settings);
}

/* Our label as theirs: "comp:attention", "gap:kernel". */
static char *label_of(const mill_table *t, int64_t row) {
    static const char *const classes[][2] = {
        {"computation", "comp"}, {"communication", "comm"}, {"gap", "gap"}};
    const char *class = look_cell(t, row, "class").text, *kind = look_cell(t, row, "kind").text;
    if (g_str_equal(kind, "kernel_gap"))
        kind = "kernel";
    for (size_t i = 0; i < G_N_ELEMENTS(classes); i++)
        if (g_str_equal(class, classes[i][0]))
            return g_strdup_printf("%s:%s", classes[i][1], kind);
    g_assert_cmpstr(class, ==, "memory"); /* which they do not split up */
    return g_strdup("mem");
}

static void check_labels(const mill_report *report, const cJSON *right) {
    const mill_table *t = look_table(report, "labels");
    g_autoptr(GHashTable) times = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int64_t row = 0; row < (int64_t)t->rows; row++) {
        char *label = label_of(t, row);
        gsize time = GPOINTER_TO_SIZE(g_hash_table_lookup(times, label));
        gsize count = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, label));
        time += (gsize)look_cell(t, row, "time").i;
        count += (gsize)look_cell(t, row, "n").i;
        g_hash_table_insert(counts, g_strdup(label), GSIZE_TO_POINTER(count));
        g_hash_table_insert(times, label, GSIZE_TO_POINTER(time));
    }
    const cJSON *item;
    cJSON_ArrayForEach(item, data_field(right, "by_label")) {
        gsize time = GPOINTER_TO_SIZE(g_hash_table_lookup(times, item->string));
        g_assert_cmpuint(time, ==, (gsize)item->valuedouble * US);
    }
    cJSON_ArrayForEach(item, data_field(right, "count_by_label")) {
        gsize n = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, item->string));
        g_assert_cmpuint(n, ==, (gsize)item->valuedouble);
    }
    g_assert_cmpuint(g_hash_table_size(times), ==,
                     (guint)cJSON_GetArraySize(data_field(right, "by_label")));
}

static void check_segments(const mill_report *report, const cJSON *right) {
    const mill_table *t = look_table(report, "comm_segments");
    const cJSON *segment;
    int64_t row = 0;
    cJSON_ArrayForEach(segment, right) {
        g_autofree char *kind = g_strdup_printf("comm:%s", look_cell(t, row, "kind").text);
        g_autofree char *stage =
            g_strdup_printf("%" G_GINT64_FORMAT ":%s", look_cell(t, row, "layer").i,
                            look_cell(t, row, "stage").text);
        g_assert_cmpint(look_cell(t, row, "start").i, ==, US * data_integer(segment, "start"));
        g_assert_cmpint(look_cell(t, row, "time").i, ==, US * data_integer(segment, "us"));
        g_assert_cmpstr(kind, ==, data_field(segment, "kernel")->valuestring);
        g_assert_cmpstr(stage, ==, data_field(segment, "stage")->valuestring);
        row++;
    }
    g_assert_cmpuint(t->rows, ==, (uint64_t)row);
}

static void test_train(void) {
    static const char *const figures[][2] = {{"T", "total"},
                                             {"path_comp", "comp"},
                                             {"path_comm", "comm"},
                                             {"path_gap", "gap"},
                                             {"path_outside", "head_uncovered"}};
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *path = g_build_filename(folder, "traces/deepseek-train.json.gz", NULL);
    cJSON *all = data_json(folder, "oracle/overlap/train_expected.json");
    const cJSON *right = data_field(all, "critical_path");
    data_report a;
    analyse(&a, path);
    for (size_t i = 0; i < G_N_ELEMENTS(figures); i++)
        g_assert_cmpint(look_int(a.report, figures[i][0], NULL), ==,
                        US * data_integer(right, figures[i][1]));
    g_assert_cmpint(look_int(a.report, "segments", NULL), ==, data_integer(right, "segments"));
    g_assert_cmpint(look_int(a.report, "stream_hops", NULL), ==,
                    data_integer(right, "stream_hops"));
    check_labels(a.report, right);
    check_segments(a.report, data_field(right, "comm_segments"));
    data_report_finish(&a);
    cJSON_Delete(all);
}

/* The path, its gaps and what lies outside of it fill the window, and so does its lane. */
static void check_tiles(const mill_report *report, int64_t device, const char *scope) {
    const mill_table *t = look_table(report, "labels");
    int64_t sum = look_int(report, "path_outside", scope);
    for (int64_t row = 0; row < (int64_t)t->rows; row++)
        if (look_cell(t, row, "device").i == device)
            sum += look_cell(t, row, "time").i;
    g_assert_cmpint(sum, ==, look_int(report, "T", scope));
    for (uint64_t i = 0; i < report->n_lanes; i++) {
        const mill_lane *lane = report->lanes[i];
        for (uint64_t k = 1; k < lane->n; k++)
            g_assert_cmpint(lane->start[k], ==, lane->end[k - 1]);
    }
}

static void test_all(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    cJSON *corpus = data_json(folder, "oracle/corpus.json");
    const cJSON *trace, *device;
    cJSON_ArrayForEach(trace, corpus) {
        g_autofree char *path = g_strdup_printf("%s/traces/%s.json.gz", folder, trace->string);
        g_test_message("%s", trace->string);
        data_report a;
        analyse(&a, path);
        int n = cJSON_GetArraySize(data_field(trace, "devices"));
        cJSON_ArrayForEach(device, data_field(trace, "devices")) {
            g_autofree char *scope = g_strdup_printf("device %s", device->string);
            check_tiles(a.report, g_ascii_strtoll(device->string, NULL, 10), n > 1 ? scope : NULL);
            g_assert_cmpint(look_int(a.report, "T", n > 1 ? scope : NULL), ==,
                            data_integer(device, "span_ns"));
            g_assert_cmpint(look_int(a.report, "exposed_comm", n > 1 ? scope : NULL), ==,
                            data_integer(device, "exposed_communication_ns"));
        }
        data_report_finish(&a);
    }
    cJSON_Delete(corpus);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/critical-path/data/train", test_train);
    g_test_add_func("/critical-path/data/all", test_all);
    return g_test_run();
}
