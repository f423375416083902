/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of real profiles against right values computed by other means. */
#include "data.h"
#include "look.h"

#include <string.h>

#define US 1000 /* the right values are in whole µs */

static const char *const all_rows[] = {"top=100000", NULL};

/* Fills ret_right with the right values of DeepSeek's training profile; false: skipped. */
static bool train(data_report *ret_report, cJSON **ret_right) {
    const char *folder = data_folder();
    if (!folder)
        return false;
    g_autofree char *path = g_build_filename(folder, "traces/deepseek-train.json.gz", NULL);
    data_report_init(ret_report, path, "kernels", "kernels", all_rows);
    *ret_right = data_json(folder, "oracle/overlap/train_expected.json");
    return true;
}

static void check_stats(const mill_table *t, int64_t row, const cJSON *right) {
    static const char *const times[] = {"sum", "min", "p50", "p90", "p99", "max"};
    g_assert_cmpint(look_cell(t, row, "n").i, ==, data_integer(right, "n"));
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        g_assert_cmpint(look_cell(t, row, times[i]).i, ==, US * data_integer(right, times[i]));
    /* They round the mean to ns too, but half to even. */
    g_assert_cmpfloat_with_epsilon((double)look_cell(t, row, "mean").i / US,
                                   data_field(right, "mean")->valuedouble, 1.001e-3);
}

static void check_percent(double ratio, const cJSON *right) {
    g_assert_cmpfloat_with_epsilon(100 * ratio, right->valuedouble, 5.1e-5);
}

static void test_top(void) {
    data_report a;
    cJSON *all;
    if (!train(&a, &all))
        return;
    const mill_table *t = look_table(a.report, "top_kernels");
    const cJSON *right;
    int64_t row = 0;
    cJSON_ArrayForEach(right, data_field(all, "top_kernels")) {
        /* They have the first 160 bytes of the name. */
        const char *name = data_field(right, "name")->valuestring;
        g_assert_cmpint(strncmp(look_cell(t, row, "name").text, name, strlen(name)), ==, 0);
        check_stats(t, row, right);
        check_percent(look_cell(t, row, "share").d, data_field(right, "pct_of_all_dur"));
        row++;
    }
    g_assert_cmpint(row, >=, 15);
    g_assert_cmpuint(t->rows, ==, (uint64_t)look_int(a.report, "names", NULL));
    g_assert_cmpstr(look_cell(t, 0, "kernel").text, ==,
                    "dpsk::ep::internode::combine<false, 8, __nv_bfloat16, 8, 2, 16, 24>");
    g_assert_cmpstr(look_cell(t, 0, "kind").text, ==, "combine");
    g_assert_cmpstr(a.report->summary, ==,
                    "dpsk::ep::internode::combine<false, 8, __nv_bfloat16, 8, 2, 16, 24> takes "
                    "20.3 % of the time of all activities, more than any other.");
    cJSON_Delete(all);
    data_report_finish(&a);
}

static void test_kinds(void) {
    data_report a;
    cJSON *all;
    if (!train(&a, &all))
        return;
    const mill_table *t = look_table(a.report, "kinds");
    const cJSON *classes = data_field(all, "classification"), *right;
    uint64_t n = 1; /* copies and sets */
    cJSON_ArrayForEach(right, data_field(classes, "comp_by_sub")) {
        int64_t row = look_row(t, 0, "kind", right->string);
        g_assert_cmpstr(look_cell(t, row, "class").text, ==, "computation");
        g_assert_cmpint(look_cell(t, row, "n").i, ==, data_integer(right, "n"));
        g_assert_cmpint(look_cell(t, row, "sum").i, ==, US * data_integer(right, "dur_sum"));
        check_percent(look_cell(t, row, "share_of_class").d, data_field(right, "pct_of_comp_dur"));
        n++;
    }
    cJSON_ArrayForEach(right, data_field(classes, "comm_by_kind")) {
        int64_t row = look_row(t, 0, "kind", right->string);
        g_assert_cmpstr(look_cell(t, row, "class").text, ==, "communication");
        check_stats(t, row, right);
        n++;
    }
    g_assert_cmpuint(t->rows, ==, n);
    cJSON_Delete(all);
    data_report_finish(&a);
}

static void test_copies(void) {
    data_report a;
    cJSON *all;
    if (!train(&a, &all))
        return;
    const mill_table *t = look_table(a.report, "copies");
    const cJSON *right;
    int64_t n[2] = {0}, bytes[2] = {0}, time[2] = {0}, zero[2] = {0};
    cJSON_ArrayForEach(right, data_field(all, "memcpy")) {
        int of = g_str_has_prefix(data_field(right, "name")->valuestring, "Memset");
        n[of]++;
        bytes[of] += data_integer(right, "bytes");
        time[of] += US * data_integer(right, "dur");
        zero[of] += data_integer(right, "dur") == 0;
    }
    g_assert_cmpint(bytes[0], ==, 17301504);
    g_assert_cmpuint(t->rows, ==, 2);
    for (int64_t row = 0; row < 2; row++) {
        int of = g_str_has_prefix(look_cell(t, row, "name").text, "Memset");
        g_assert_cmpint(look_cell(t, row, "n").i, ==, n[of]);
        g_assert_cmpint(look_cell(t, row, "bytes").i, ==, bytes[of]);
        g_assert_cmpint(look_cell(t, row, "time").i, ==, time[of]);
        g_assert_cmpint(look_cell(t, row, "zero").i, ==, zero[of]);
        g_assert_cmpfloat_with_epsilon(look_cell(t, row, "rate").d,
                                       (double)bytes[of] / (double)time[of], 1e-9);
    }
    g_assert_nonnull(look_note(a.report, "copies_floored"));
    cJSON_Delete(all);
    data_report_finish(&a);
}

static void test_use(void) {
    data_report a;
    cJSON *all;
    if (!train(&a, &all))
        return;
    const cJSON *right = data_field(all, "utilisation");
    const cJSON *overlap = data_field(data_field(all, "overlap"), "gpu_span");
    check_percent(look_ratio(a.report, "gpu_busy", NULL), data_field(right, "gpu_busy_pct"));
    check_percent(look_ratio(a.report, "sm_utilisation", NULL),
                  data_field(right, "sm_util_capped_pct"));
    check_percent(look_ratio(a.report, "sm_efficiency_uncapped", NULL),
                  data_field(right, "sm_efficiency_tb_plugin_pct"));
    g_assert_cmpint(look_int(a.report, "sm_crowded", NULL), ==,
                    US * data_integer(right, "sm_oversubscribed_us"));
    double window = (double)data_integer(overlap, "T");
    static const char *const parts[][2] = {
        {"comp_over_T", "comp"}, {"comm_over_T", "comm"}, {"mem_over_T", "mem"}};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        g_assert_cmpfloat_with_epsilon(look_ratio(a.report, parts[i][0], NULL),
                                       (double)data_integer(overlap, parts[i][1]) / window, 1e-12);

    const mill_table *t = look_table(a.report, "cpu_threads");
    int64_t row = 0;
    while (look_cell(t, row, "tid").i != 1166)
        row++;
    g_assert_cmpint(look_cell(t, row, "poll").i, ==,
                    US * data_integer(right, "cpu_main_thread_poll_us"));
    g_assert_cmpint(look_cell(t, row, "sync").i, ==,
                    US * data_integer(right, "cpu_explicit_sync_us"));
    g_assert_cmpint(look_cell(t, row, "busy").i + look_cell(t, row, "sync").i, ==,
                    US * data_integer(data_field(all, "cpu"), "main_thread_busy_top_level"));
    g_assert_cmpint(look_cell(t, row, "free").i, ==,
                    look_cell(t, row, "span").i - look_cell(t, row, "busy").i -
                        look_cell(t, row, "sync").i - look_cell(t, row, "poll").i);
    cJSON_Delete(all);
    data_report_finish(&a);
}

/* In every real profile each activity is counted once by name and once by kind. */
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
        data_report a;
        data_report_init(&a, path, "kernels", "kernels", all_rows);
        cJSON_ArrayForEach(device, data_field(trace, "devices")) {
            static const char *const tables[] = {"top_kernels", "kinds"};
            int64_t id = g_ascii_strtoll(device->string, NULL, 10);
            for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
                const mill_table *t = look_table(a.report, tables[i]);
                int64_t n = 0;
                for (int64_t row = 0; row < (int64_t)t->rows; row++)
                    if (look_cell(t, row, "device").i == id)
                        n += look_cell(t, row, "n").i;
                g_assert_cmpint(n, ==, data_integer(device, "activities"));
            }
            devices++;
        }
        data_report_finish(&a);
    }
    g_assert_cmpint(devices, >, 0);
    cJSON_Delete(corpus);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kernels/data/top", test_top);
    g_test_add_func("/kernels/data/kinds", test_kinds);
    g_test_add_func("/kernels/data/copies", test_copies);
    g_test_add_func("/kernels/data/use", test_use);
    g_test_add_func("/kernels/data/corpus", test_corpus);
    return g_test_run();
}
