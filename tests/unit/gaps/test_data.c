/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps and launches of real profiles against right values computed by other means. */
#include "data.h"
#include "look.h"

#define US 1000 /* the right values are in whole µs */

/* setting: an option of the class, or NULL. */
static void analyse(data_report *a, const char *path, const char *class, const char *setting) {
    const char *const settings[] = {"top=1000", setting, NULL};
    data_report_init(a, path, "gaps", class, settings);
}

/* Fills ret_right with the right values; false: they are not there, and the test is skipped. */
static bool train(const char *class, const char *setting, data_report *ret_report,
                  cJSON **ret_right) {
    const char *folder = data_folder();
    if (!folder)
        return false;
    g_autofree char *path = g_build_filename(folder, "traces/deepseek-train.json.gz", NULL);
    analyse(ret_report, path, class, setting);
    *ret_right = data_json(folder, "oracle/overlap/train_expected.json");
    return true;
}

/* The row of a stream and a cause; stream MILL_UNKNOWN: the table has none. -1: not there. */
static int64_t cause_row(const mill_table *t, int64_t stream, const char *cause) {
    for (int64_t row = 0; row < (int64_t)t->rows; row++)
        if ((stream == MILL_UNKNOWN || look_cell(t, row, "stream").i == stream) &&
            g_str_equal(look_cell(t, row, "cause").text, cause))
            return row;
    return -1;
}

static int rows_of(const mill_table *t, int64_t stream) {
    int n = 0;
    for (int64_t row = 0; row < (int64_t)t->rows; row++)
        n += look_cell(t, row, "stream").i == stream;
    return n;
}

static int check_causes(const mill_table *t, int64_t stream, const cJSON *right) {
    const cJSON *cause;
    int n = 0;
    cJSON_ArrayForEach(cause, right) {
        int64_t row = cause_row(t, stream, cause->string);
        if (data_integer(cause, "n") == 0) { /* they list not_launched always */
            g_assert_cmpint(row, ==, -1);
            continue;
        }
        g_assert_cmpint(look_cell(t, row, "n").i, ==, data_integer(cause, "n"));
        g_assert_cmpint(look_cell(t, row, "time").i, ==, US * data_integer(cause, "us"));
        n++;
    }
    return n;
}

/* "27:combine:3:dispatch(B)" or null; and "3:attn(B)". */
static char *blocker_of(const mill_table *t, int64_t row) {
    if (!look_cell(t, row, "blocker").text)
        return NULL;
    return g_strdup_printf("%" G_GINT64_FORMAT ":%s:%" G_GINT64_FORMAT ":%s",
                           look_cell(t, row, "blocker_stream").i, look_cell(t, row, "blocker").text,
                           look_cell(t, row, "blocker_layer").i,
                           look_cell(t, row, "blocker_stage").text);
}

/* The rows from `row` on are the right largest gaps, in order. */
static void check_largest(const mill_table *t, int64_t row, const cJSON *right, bool blockers) {
    const cJSON *gap;
    cJSON_ArrayForEach(gap, right) {
        g_assert_cmpint(look_cell(t, row, "stream").i, ==, data_integer(gap, "next_stream"));
        g_assert_cmpint(look_cell(t, row, "start").i, ==, US * data_integer(gap, "start"));
        g_assert_cmpint(look_cell(t, row, "time").i, ==, US * data_integer(gap, "dur"));
        g_assert_cmpint(look_cell(t, row, "not_launched").i, ==,
                        US * data_integer(gap, "not_launched"));
        g_assert_cmpint(look_cell(t, row, "time").i - look_cell(t, row, "not_launched").i, ==,
                        US * data_integer(gap, "rest"));
        g_assert_cmpstr(look_cell(t, row, "cause").text, ==, data_field(gap, "cause")->valuestring);
        g_assert_cmpstr(look_cell(t, row, "next").text, ==,
                        data_field(gap, "next_kind")->valuestring);
        g_autofree char *next =
            g_strdup_printf("%" G_GINT64_FORMAT ":%s", look_cell(t, row, "next_layer").i,
                            look_cell(t, row, "next_stage").text);
        g_assert_cmpstr(next, ==, data_field(gap, "next")->valuestring);
        g_autofree char *blocker = blockers ? blocker_of(t, row) : NULL;
        g_assert_cmpstr(blocker, ==, data_field(gap, "blocker")->valuestring);
        row++;
    }
}

static void test_idle(void) {
    data_report a;
    cJSON *all;
    if (!train("gaps", NULL, &a, &all))
        return;
    const cJSON *right = data_field(all, "gpu_idle");
    g_assert_cmpint(look_int(a.report, "idle_gaps", NULL), ==, data_integer(right, "n"));
    g_assert_cmpint(look_int(a.report, "idle", NULL), ==, US * data_integer(right, "us"));
    const mill_table *causes = look_table(a.report, "idle_causes");
    int n = check_causes(causes, MILL_UNKNOWN, data_field(right, "by_cause"));
    g_assert_cmpuint(causes->rows, ==, (uint64_t)n);
    const mill_table *largest = look_table(a.report, "largest_idle");
    check_largest(largest, 0, data_field(right, "largest"), false);
    g_assert_cmpuint(largest->rows, ==, (uint64_t)data_integer(right, "n"));
    g_assert_cmpstr(a.report->summary, ==,
                    "Device 0 is idle for 497 µs (0.4 % of the window); its main compute stream 7 "
                    "waits 2 035 µs for communication.");
    cJSON_Delete(all);
    data_report_finish(&a);
}

static void test_stream_gaps(void) {
    data_report a;
    cJSON *all;
    if (!train("gaps", NULL, &a, &all))
        return;
    const mill_table *streams = look_table(a.report, "streams");
    const mill_table *causes = look_table(a.report, "stream_causes");
    const mill_table *largest = look_table(a.report, "largest");
    const cJSON *stream;
    cJSON_ArrayForEach(stream, data_field(all, "stream_gaps")) {
        int64_t id = g_ascii_strtoll(stream->string, NULL, 10);
        int64_t row = look_row_of(streams, 0, "stream", id);
        g_assert_cmpint(look_cell(streams, row, "n").i, ==, data_integer(stream, "n"));
        g_assert_cmpint(look_cell(streams, row, "time").i, ==, US * data_integer(stream, "us"));
        int n = check_causes(causes, id, data_field(stream, "by_cause"));
        g_assert_cmpint(rows_of(causes, id), ==, n);
        check_largest(largest, look_row_of(largest, 0, "stream", id), data_field(stream, "largest"),
                      true);
        g_assert_cmpint(rows_of(largest, id), ==, data_integer(stream, "n"));
    }
    cJSON_Delete(all);
    data_report_finish(&a);
}

static void test_hta_rule(void) {
    data_report a;
    cJSON *all;
    if (!train("gaps", "gap-rule=hta", &a, &all))
        return;
    const mill_table *causes = look_table(a.report, "stream_causes");
    const cJSON *stream, *cause;
    cJSON_ArrayForEach(stream, data_field(all, "hta_idle_rule")) {
        cJSON_ArrayForEach(cause, stream) {
            int64_t id = g_ascii_strtoll(stream->string, NULL, 10);
            int64_t row = cause_row(causes, id, cause->string);
            g_assert_cmpint(look_cell(causes, row, "time").i, ==, US * (int64_t)cause->valuedouble);
        }
    }
    cJSON_Delete(all);
    data_report_finish(&a);
}

/* A report's lanes hold what its tables add up. */
static void test_lanes(void) {
    data_report a;
    cJSON *all;
    if (!train("gaps", "lanes=yes", &a, &all))
        return;
    const mill_table *causes = look_table(a.report, "stream_causes");
    g_assert_cmpuint(a.report->n_lanes, ==, 4);
    for (uint64_t i = 1; i < a.report->n_lanes; i++) {
        const mill_lane *lane = a.report->lanes[i];
        for (int64_t row = 0; row < (int64_t)causes->rows; row++) {
            if (look_cell(causes, row, "stream").i != lane->stream)
                continue;
            int64_t time = 0;
            for (uint64_t k = 0; k < lane->n; k++)
                if (g_str_equal(lane->texts[lane->cls[k]], look_cell(causes, row, "cause").text))
                    time += lane->end[k] - lane->start[k];
            g_assert_cmpint(time, ==, look_cell(causes, row, "time").i);
        }
    }
    cJSON_Delete(all);
    data_report_finish(&a);
}

/* ---------------------------------------------------------------- launches */

static void check_stats(const mill_table *t, int64_t row, const cJSON *right) {
    static const char *const times[] = {"sum", "min", "p50", "p90", "p99", "max"};
    g_assert_cmpint(look_cell(t, row, "n").i, ==, data_integer(right, "n"));
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        g_assert_cmpint(look_cell(t, row, times[i]).i, ==, US * data_integer(right, times[i]));
    /* Both are rounded to ns, but theirs goes to the even neighbour from half-way. */
    double mean = data_field(right, "mean")->valuedouble * US;
    g_assert_cmpfloat_with_epsilon((double)look_cell(t, row, "mean").i, mean, 1.01);
}

static void test_launch(void) {
    static const char *const quantities[] = {"launch_start_to_kernel_start",
                                             "launch_end_to_kernel_start", "launch_api_dur",
                                             "unqueued_launch_latency"};
    data_report a;
    cJSON *all;
    if (!train("launch", NULL, &a, &all))
        return;
    const cJSON *right = data_field(all, "launch"), *item;
    const mill_table *t = look_table(a.report, "launches");
    for (size_t i = 0; i < G_N_ELEMENTS(quantities); i++)
        check_stats(t, look_row(t, 0, "quantity", quantities[i]), data_field(right, quantities[i]));
    g_assert_cmpint(look_int(a.report, "negative_launches", NULL), ==,
                    data_integer(right, "negative"));
    g_assert_cmpint(look_int(a.report, "queue_depth_max", NULL), ==,
                    data_integer(right, "queue_depth_max"));
    t = look_table(a.report, "streams");
    cJSON_ArrayForEach(item, data_field(right, "by_stream")) {
        int64_t id = g_ascii_strtoll(item->string, NULL, 10);
        check_stats(t, look_row_of(t, 0, "stream", id), item);
    }
    t = look_table(a.report, "threads");
    cJSON_ArrayForEach(item, data_field(right, "by_thread")) {
        int64_t row = 0, tid = g_ascii_strtoll(item->string, NULL, 10);
        while (look_cell(t, row, "tid").i != tid)
            row++;
        g_assert_cmpint(look_cell(t, row, "n").i, ==, (int64_t)item->valuedouble);
    }
    g_assert_cmpuint(t->rows, ==, 2);
    cJSON_Delete(all);
    data_report_finish(&a);
}

static void test_cpu(void) {
    data_report a;
    cJSON *all;
    if (!train("launch", NULL, &a, &all))
        return;
    const cJSON *right = data_field(all, "cpu"), *item;
    const mill_table *t = look_table(a.report, "api_calls");
    cJSON_ArrayForEach(item, data_field(right, "api_calls")) {
        int64_t row = 0;
        while (!g_str_equal(look_cell(t, row, "name").text, item->string))
            row++;
        g_assert_cmpint(look_cell(t, row, "n").i, ==, data_integer(item, "n"));
        g_assert_cmpint(look_cell(t, row, "sum").i, ==, US * data_integer(item, "us"));
    }
    g_assert_cmpuint(t->rows, ==, (uint64_t)cJSON_GetArraySize(data_field(right, "api_calls")));
    t = look_table(a.report, "explicit_sync");
    int64_t row = 0;
    cJSON_ArrayForEach(item, data_field(right, "explicit_sync")) {
        g_assert_cmpstr(look_cell(t, row, "name").text, ==, data_field(item, "name")->valuestring);
        g_assert_cmpint(look_cell(t, row, "start").i, ==, US * data_integer(item, "start"));
        g_assert_cmpint(look_cell(t, row, "time").i, ==, US * data_integer(item, "dur"));
        row++;
    }
    g_assert_cmpuint(t->rows, ==, (uint64_t)row);
    t = look_table(a.report, "cpu_threads");
    for (row = 0; look_cell(t, row, "tid").i != 1166;)
        row++;
    g_assert_cmpint(look_cell(t, row, "busy").i, ==,
                    US * data_integer(right, "main_thread_busy_top_level"));
    cJSON_Delete(all);
    data_report_finish(&a);
}

/* ---------------------------------------------------------------- all real profiles */

/* Causes of each line of gaps add up to the line, and it to what is idle or less. */
static void check_sums(const mill_report *report) {
    const mill_table *streams = look_table(report, "streams");
    const mill_table *causes = look_table(report, "stream_causes");
    int64_t of_streams = 0, of_causes = 0;
    for (int64_t row = 0; streams && row < (int64_t)streams->rows; row++)
        of_streams += look_cell(streams, row, "time").i;
    for (int64_t row = 0; causes && row < (int64_t)causes->rows; row++) {
        g_assert_cmpint(look_cell(causes, row, "n").i, >, 0);
        g_assert_cmpint(look_cell(causes, row, "time").i, >=, 0);
        of_causes += look_cell(causes, row, "time").i;
    }
    g_assert_cmpint(of_streams, ==, of_causes);
}

static void test_all(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    cJSON *corpus = data_json(folder, "oracle/corpus.json");
    const cJSON *trace;
    cJSON_ArrayForEach(trace, corpus) {
        g_autofree char *path = g_strdup_printf("%s/traces/%s.json.gz", folder, trace->string);
        g_test_message("%s", trace->string);
        data_report a;
        const cJSON *devices = data_field(trace, "devices"), *device;
        int n = cJSON_GetArraySize(devices);
        analyse(&a, path, "gaps", "lanes=yes");
        check_sums(a.report);
        cJSON_ArrayForEach(device, devices) {
            g_autofree char *scope = g_strdup_printf("device %s", device->string);
            /* Work of no class, which they don't count, leaves less idle than that. */
            g_assert_cmpint(look_int(a.report, "idle", n > 1 ? scope : NULL), <=,
                            data_integer(device, "idle_ns"));
        }
        data_report_finish(&a);
        analyse(&a, path, "launch", NULL);
        cJSON_ArrayForEach(device, devices) {
            g_autofree char *scope = g_strdup_printf("device %s", device->string);
            const char *of = n > 1 ? scope : NULL;
            g_assert_cmpint(look_int(a.report, "launches", of) +
                                look_int(a.report, "launch_unknown", of),
                            ==, data_integer(device, "activities"));
        }
        data_report_finish(&a);
    }
    cJSON_Delete(corpus);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/gaps/data/idle", test_idle);
    g_test_add_func("/gaps/data/stream-gaps", test_stream_gaps);
    g_test_add_func("/gaps/data/hta-rule", test_hta_rule);
    g_test_add_func("/gaps/data/lanes", test_lanes);
    g_test_add_func("/gaps/data/launch", test_launch);
    g_test_add_func("/gaps/data/cpu", test_cpu);
    g_test_add_func("/gaps/data/all", test_all);
    return g_test_run();
}
