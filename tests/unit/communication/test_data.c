/* SPDX-License-Identifier: Apache-2.0 */
/* Communication of real profiles against right values computed by other means. */
#include "data.h"
#include "look.h"

#include <string.h>

#include <math.h>

#define US 1000 /* the right values are in whole µs */

/* The sizes that DeepSeek's right values are computed with. */
static const char *const sizes[] = {
    "hidden=7168",         "expert-hidden=2048", "dispatch-bytes=7392", "combine-bytes=14336",
    "balanced-rows=32768", "top=100000",         "lanes=yes",           NULL};

/* Fills ret_right with the right values of DeepSeek's training profile; false: skipped. */
static bool train(data_report *ret_report, cJSON **ret_right) {
    const char *folder = data_folder();
    if (!folder)
        return false;
    g_autofree char *path = g_build_filename(folder, "traces/deepseek-train.json.gz", NULL);
    data_report_init(ret_report, path, "communication", "communication", sizes);
    *ret_right = data_json(folder, "oracle/overlap/train_expected.json");
    return true;
}

static void check_time(const mill_table *t, int64_t row, const char *column, const cJSON *right,
                       const char *field) {
    g_assert_cmpint(look_cell(t, row, column).i, ==, US * data_integer(right, field));
}

static void test_inventory(void) {
    data_report a;
    cJSON *all;
    if (!train(&a, &all))
        return;
    static const char *const times[] = {"sum", "min", "p50", "p90", "p99", "max"};
    static const char *const tables[] = {"by_kind", "by_stream"}; /* one stream communicates */
    const cJSON *right;
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
        const mill_table *t = look_table(a.report, tables[i]);
        uint64_t n = 0;
        cJSON_ArrayForEach(right, data_field(data_field(all, "classification"), "comm_by_kind")) {
            int64_t row = look_row(t, 0, "kind", right->string);
            g_assert_cmpint(look_cell(t, row, "n").i, ==, data_integer(right, "n"));
            for (size_t k = 0; k < G_N_ELEMENTS(times); k++)
                check_time(t, row, times[k], right, times[k]);
            n++;
        }
        g_assert_cmpuint(t->rows, ==, n);
    }
    const mill_table *t = look_table(a.report, "by_kind");
    int64_t notify = look_row(t, 0, "kind", "notify");
    g_assert_cmpint(look_cell(t, notify, "sms_min").i, ==, 9);
    g_assert_cmpint(look_cell(t, notify, "sms_max").i, ==, 20);

    t = look_table(a.report, "by_stage");
    for (int64_t row = 0; row < (int64_t)t->rows; row++) {
        g_autofree char *of = g_strdup_printf("%s in %s", look_cell(t, row, "kind").text,
                                              look_cell(t, row, "stage").text);
        right = data_field(data_field(all, "comm_by_kind_and_stage"), of);
        g_assert_cmpint(look_cell(t, row, "n").i, ==, data_integer(right, "n"));
        check_time(t, row, "sum", right, "dur");
    }
    g_assert_cmpuint(t->rows, ==,
                     (uint64_t)cJSON_GetArraySize(data_field(all, "comm_by_kind_and_stage")));
    cJSON_Delete(all);
    data_report_finish(&a);
}

static void test_sequence(void) {
    data_report a;
    cJSON *all;
    if (!train(&a, &all))
        return;
    const cJSON *right = data_field(all, "comm_sequence"), *pair;
    g_assert_cmpint(look_int(a.report, "sequence_period", NULL), ==, data_integer(right, "period"));
    g_assert_cmpint(look_int(a.report, "sequence_length", NULL), ==,
                    data_integer(right, "period") * data_integer(right, "repeats"));
    g_assert_cmpint(look_int(a.report, "sequence_deviations", NULL), ==, 0);
    const mill_table *t = look_table(a.report, "sequence");
    int64_t row = 0;
    cJSON_ArrayForEach(pair, data_field(right, "cycle")) {
        g_assert_cmpstr(look_cell(t, row, "kind").text, ==,
                        cJSON_GetArrayItem(pair, 0)->valuestring);
        g_assert_cmpstr(look_cell(t, row, "stage").text, ==,
                        cJSON_GetArrayItem(pair, 1)->valuestring);
        row++;
    }
    g_assert_cmpint((int64_t)t->rows, ==, row);
    cJSON_Delete(all);
    data_report_finish(&a);
}

static void test_waiting(void) {
    data_report a;
    cJSON *all;
    if (!train(&a, &all))
        return;
    const cJSON *right = data_field(all, "notify_wait"), *layer, *value;
    const mill_table *t = look_table(a.report, "waiting");
    g_assert_cmpint(look_cell(t, 0, "n").i, ==, data_integer(right, "n"));
    check_time(t, 0, "sum", right, "sum");
    check_time(t, 0, "min", right, "min");
    check_time(t, 0, "excess", right, "excess_over_min");
    t = look_table(a.report, "waiting_by_layer");
    cJSON_ArrayForEach(layer, data_field(right, "by_layer")) {
        int64_t row = look_row_of(t, 0, "layer", g_ascii_strtoll(layer->string, NULL, 10));
        int64_t n = 0, sum = 0, min = INT64_MAX, max = 0;
        cJSON_ArrayForEach(value, layer) {
            int64_t of = US * (int64_t)value->valuedouble;
            n++;
            sum += of;
            min = MIN(min, of);
            max = MAX(max, of);
        }
        g_assert_cmpint(look_cell(t, row, "n").i, ==, n);
        g_assert_cmpint(look_cell(t, row, "sum").i, ==, sum);
        g_assert_cmpint(look_cell(t, row, "min").i, ==, min);
        g_assert_cmpint(look_cell(t, row, "max").i, ==, max);
    }
    cJSON_Delete(all);
    data_report_finish(&a);
}

static void test_polls(void) {
    data_report a;
    cJSON *all;
    if (!train(&a, &all))
        return;
    const mill_table *t = look_table(a.report, "host_polls");
    const cJSON *right;
    int64_t row = 0, time = 0;
    cJSON_ArrayForEach(right, data_field(data_field(all, "cpu"), "host_poll_stalls_dispatchF")) {
        check_time(t, row, "start", right, "stall_start");
        check_time(t, row, "time", right, "stall_dur");
        check_time(t, row, "notify_start", right, "notify_start");
        check_time(t, row, "notify_end", right, "notify_end");
        check_time(t, row, "after", right, "resume_minus_notify_end");
        check_time(t, row, "next_launch", right, "next_comm_launch");
        check_time(t, row, "next_start", right, "next_comm_start");
        g_assert_cmpstr(look_cell(t, row, "stage").text, ==,
                        data_field(right, "notify_stage")->valuestring);
        time += US * data_integer(right, "stall_dur");
        row++;
    }
    g_assert_cmpint((int64_t)t->rows, ==, row);
    g_assert_cmpint(look_int(a.report, "poll_time", NULL), ==, time);
    g_assert_cmpint(look_int(a.report, "poll_cost", NULL), ==, US * (25 + 38 + 49 + 67));
    cJSON_Delete(all);
    data_report_finish(&a);
}

static void check_real(const mill_table *t, int64_t row, const char *column, const cJSON *right,
                       double rounding) {
    g_assert_cmpfloat_with_epsilon(look_cell(t, row, column).d, right->valuedouble, rounding);
}

static void test_model(void) {
    data_report a;
    cJSON *all;
    if (!train(&a, &all))
        return;
    const mill_table *rows = look_table(a.report, "moe_rows");
    const mill_table *model = look_table(a.report, "model");
    const cJSON *right;
    uint64_t n = 0;
    cJSON_ArrayForEach(right, data_field(all, "model_based_estimates")) {
        int64_t layer = g_ascii_strtoll(right->string, NULL, 10);
        int64_t row = look_row_of(rows, 0, "layer", layer);
        const cJSON *found =
            data_field(data_field(data_field(all, "layers"), right->string), "moe_rows");
        static const char *const columns[][2] = {{"rows_forward", "fwd_expert_rows"},
                                                 {"rows_backward", "bwd_expert_rows"},
                                                 {"tokens_forward", "fwd_recv_tokens"},
                                                 {"tokens_backward", "bwd_recv_tokens"}};
        for (size_t i = 0; i < G_N_ELEMENTS(columns); i++)
            g_assert_cmpint(look_cell(rows, row, columns[i][0]).i, ==,
                            data_integer(found, columns[i][1]));
        g_assert_cmpint(data_integer(right, "expert_rows_padded"), ==,
                        data_integer(found, "fwd_expert_rows"));
        g_assert_cmpint(data_integer(right, "recv_tokens"), ==,
                        data_integer(found, "fwd_recv_tokens"));
        check_real(rows, row, "forward_over_balanced",
                   data_field(right, "rows_over_balanced_32768"), 5.1e-5);
        g_assert_cmpfloat_with_epsilon(look_cell(rows, row, "backward_over_balanced").d,
                                       (double)data_integer(found, "bwd_expert_rows") / 32768,
                                       1e-12);
        row = look_row_of(model, 0, "layer", layer);
        g_assert_cmpint(look_cell(model, row, "dispatch_bytes").i, ==,
                        data_integer(right, "dispatch_recv_bytes"));
        g_assert_cmpint(look_cell(model, row, "combine_bytes").i, ==,
                        data_integer(right, "combine_sent_bytes"));
        check_real(model, row, "dispatch_rate", data_field(right, "dispatch_recv_GBps"), 5.1e-4);
        check_real(model, row, "combine_rate", data_field(right, "combine_sent_GBps"), 5.1e-4);
        const cJSON *gemms = data_field(right, "grouped_gemm_TFLOPS");
        check_real(model, row, "gemm_1", cJSON_GetArrayItem(gemms, 0), 0.051);
        check_real(model, row, "gemm_2", cJSON_GetArrayItem(gemms, 1), 0.051);
        n++;
    }
    g_assert_cmpuint(rows->rows, ==, n);
    g_assert_nonnull(look_note(a.report, "sizes_unknown"));
    g_assert_null(look_table(a.report, "rates"));
    cJSON_Delete(all);
    data_report_finish(&a);
}

/* All communication of a device, by kind. */
static void check_kinds(const mill_report *report, const cJSON *device) {
    const mill_table *t = look_table(report, "by_kind");
    int64_t id = g_ascii_strtoll(device->string, NULL, 10);
    const cJSON *kind;
    cJSON_ArrayForEach(kind, data_field(device, "communication_kinds")) {
        int64_t row = look_row(t, id, "kind", kind->string);
        g_assert_cmpint(look_cell(t, row, "n").i, ==, data_integer(kind, "count"));
        g_assert_cmpint(look_cell(t, row, "sum").i, ==, data_integer(kind, "sum_ns"));
    }
}

static void test_corpus(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    cJSON *corpus = data_json(folder, "oracle/corpus.json");
    const cJSON *trace, *device;
    cJSON_ArrayForEach(trace, corpus) {
        g_test_message("%s", trace->string);
        g_autofree char *path = g_strdup_printf("%s/traces/%s.json.gz", folder, trace->string);
        data_report a;
        data_report_init(&a, path, "communication", "communication", sizes);
        cJSON_ArrayForEach(device, data_field(trace, "devices")) check_kinds(a.report, device);
        data_report_finish(&a);
    }
    cJSON_Delete(corpus);
}

/* A profile whose kernels tell the sizes of their messages. */
static void test_rates(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *path = g_build_filename(folder, "traces/hta-nccl-metadata.json.gz", NULL);
    data_report a;
    data_report_init(&a, path, "communication", "communication", sizes);
    const mill_table *t = look_table(a.report, "rates");
    g_assert_null(look_note(a.report, "sizes_unknown"));
    int64_t n = 0;
    for (int64_t row = 0; row < (int64_t)t->rows; row++) {
        double algbw = look_cell(t, row, "algbw").d, busbw = look_cell(t, row, "busbw").d;
        int64_t ranks = look_cell(t, row, "ranks").i;
        bool reduces = g_str_equal(look_cell(t, row, "kind").text, "all-reduce");
        g_assert_cmpfloat_with_epsilon(algbw,
                                       (double)look_cell(t, row, "bytes").i *
                                           (double)look_cell(t, row, "n").i /
                                           (double)look_cell(t, row, "sum").i,
                                       1e-9);
        g_assert_cmpfloat_with_epsilon(
            busbw, reduces ? algbw * 2 * (double)(ranks - 1) / (double)ranks : algbw, 1e-9);
        n += look_cell(t, row, "n").i;
    }
    g_assert_cmpint(n, ==, 21);
    data_report_finish(&a);
}

/* The stages of the thread that launches are the annotations in the file, and its polls are those
 * of the table. */
static void test_lanes(void) {
    data_report a;
    cJSON *all;
    if (!train(&a, &all))
        return;
    const mill_lane *stages = a.report->lanes[0], *polls = a.report->lanes[1];
    const cJSON *right;
    int64_t n = 0, time = 0;
    g_assert_cmpuint(a.report->n_lanes, ==, 2);
    cJSON_ArrayForEach(right, data_field(all, "stages")) {
        int64_t start = US * data_integer(right, "cpu_start");
        uint64_t i = 0;
        while (i < stages->n && stages->start[i] != start)
            i++;
        g_assert_cmpuint(i, <, stages->n);
        g_assert_cmpint(stages->end[i], ==, start + US * data_integer(right, "cpu_dur"));
        const char *name = stages->texts[stages->text[i]];
        g_assert_cmpstr(name, ==, strchr(right->string, ':') + 1);
        g_assert_cmpint(stages->texts[stages->cls[i]][0], ==, strchr(name, '(')[1]);
        n++;
    }
    g_assert_cmpint((int64_t)stages->n, ==, n);
    for (uint64_t i = 0; i < polls->n; i++)
        time += polls->end[i] - polls->start[i];
    g_assert_cmpint(time, ==, look_int(a.report, "poll_time", NULL));
    cJSON_Delete(all);
    data_report_finish(&a);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/communication/data/inventory", test_inventory);
    g_test_add_func("/communication/data/sequence", test_sequence);
    g_test_add_func("/communication/data/waiting", test_waiting);
    g_test_add_func("/communication/data/polls", test_polls);
    g_test_add_func("/communication/data/lanes", test_lanes);
    g_test_add_func("/communication/data/model", test_model);
    g_test_add_func("/communication/data/rates", test_rates);
    g_test_add_func("/communication/data/corpus", test_corpus);
    return g_test_run();
}
