/* SPDX-License-Identifier: Apache-2.0 */
/* Findings on real profiles against right values computed by other means. */
#include "data.h"
#include "look.h"

#include <math.h>

#define US 1000 /* the right values are in whole µs */

static bool train(const char *const *settings, data_report *ret_report, cJSON **ret_right) {
    const char *folder = data_folder();
    if (!folder)
        return false;
    g_autofree char *path = g_build_filename(folder, "traces/deepseek-train.json.gz", NULL);
    data_report_init(ret_report, path, "findings", "findings", settings);
    *ret_right = data_json(folder, "oracle/overlap/train_expected.json");
    return true;
}

static const mill_finding *finding(const mill_report *r, const char *id) {
    for (uint64_t i = 0; i < r->n_findings; i++)
        if (g_str_equal(r->findings[i]->id, id))
            return r->findings[i];
    g_error("no finding %s", id);
}

static void check(const mill_report *r, const char *id, int64_t cost_us, int64_t gain_us) {
    const mill_finding *f = finding(r, id);
    g_assert_cmpint(f->cost_ns, ==, US * cost_us);
    g_assert_cmpint(f->gain_ns, ==, US * gain_us);
}

static int64_t gap_us(const cJSON *all, const char *stream, const char *cause) {
    const cJSON *gaps = data_field(data_field(all, "stream_gaps"), stream);
    return data_integer(data_field(data_field(gaps, "by_cause"), cause), "us");
}

/* The findings, in order, and nothing else: neither G8 nor G12. */
static void check_which(const mill_report *r) {
    static const char *const ids[] = {"G6_1", "G1_1", "G3_1",  "G10_1", "G2_1",
                                      "G7_1", "G5_1", "G11_1", "G4_1",  "G9_1"};
    /* Equal bounds stand in the order of the rules. */
    g_assert_cmpuint(r->n_findings, ==, G_N_ELEMENTS(ids));
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++)
        g_assert_cmpstr(r->findings[i]->id, ==, ids[i]);
}

static void test_train(void) {
    data_report a;
    cJSON *all;
    if (!train(NULL, &a, &all))
        return;
    const mill_report *r = a.report;
    const cJSON *span = data_field(data_field(all, "overlap"), "gpu_span");
    int64_t window = data_integer(span, "T"), left = window - data_integer(span, "comp");
    check_which(r);
    check(r, "G1_1", left, left);
    check(r, "G2_1", gap_us(all, "7", "wait_comm"), gap_us(all, "7", "wait_comm"));
    check(r, "G3_1", data_integer(data_field(all, "notify_wait"), "excess_over_min"), left);
    check(r, "G4_1", gap_us(all, "27", "sm_wait"), gap_us(all, "27", "sm_wait"));
    const cJSON *sms = data_field(all, "sm_view");
    int64_t without = data_integer(sms, "persistent_112_dur_without_active_comm");
    g_assert_cmpint(finding(r, "G5_1")->gain_ns, ==, without * US * 20 / 132);
    const cJSON *casts =
        data_field(data_field(data_field(all, "classification"), "comp_by_sub"), "cast_transpose");
    check(r, "G6_1", data_integer(casts, "dur_sum"), data_integer(casts, "dur_sum"));
    check(r, "G7_1", gap_us(all, "7", "kernel_gap"), gap_us(all, "7", "kernel_gap"));
    check(r, "G9_1", 25 + 38 + 49 + 67, 25 + 38 + 49 + 67);
    int64_t longest = 0, sum = 0;
    for (int layer = 0; layer < 4; layer++) {
        g_autofree char *of = g_strdup_printf("%d:mlp(F)", layer);
        int64_t comp = data_integer(data_field(data_field(all, "stages"), of), "comp_busy");
        longest = MAX(longest, comp);
        sum += comp;
    }
    check(r, "G10_1", 4 * longest - sum, 4 * longest - sum);
    cJSON_Delete(all);
    data_report_finish(&a);
}

/* What they say: places and numbers. */
static void test_words(void) {
    data_report a;
    cJSON *all;
    if (!train(NULL, &a, &all))
        return;
    static const struct {
        const char *id, *where, *evidence; /* evidence: a part of it */
    } said[] = {
        {"G1_1", "device 0", "computation runs in 96.4 % of the window, communication in 87.9 %"},
        {"G2_1", "stream 7, before elementwise of attn(B) in layer 3",
         "2 gaps, 2 035 µs (1.6 % of the window). In the longest, 1 761 µs, elementwise of attn(B) "
         "in layer 3 waits for combine of dispatch(B) in layer 3."},
        {"G3_1", "device 0", "32 578 µs, 28.7 % of all communication; 20 530 µs of it exceed"},
        {"G3_1", "device 0", "2.7 times as long"},
        {"G4_1", "stream 27, before notify of dispatch(B) in layer 3", "664 µs (0.5 %"},
        {"G5_1", "device 0", "164 kernels of 112 blocks leave 20 of 132 SMs"},
        {"G6_1", "device 0", "15 414 µs, 11.8 % of all computation"},
        {"G7_1", "device 0", "305 of 927 kernels of computation last at most 5 µs (938 µs in all)"},
        {"G7_1", "device 0", "903 pauses"},
        {"G9_1", "device 0", "66 344 µs in all"},
        {"G10_1", "mlp(F) in layer 2", "5 175 µs in layer 2 and for 4 603.75 µs on average"},
        {"G11_1", "kernels of the kind norm", "1.42 to 1.68 times as long"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(said); i++) {
        const mill_finding *f = finding(a.report, said[i].id);
        g_assert_cmpstr(f->where, ==, said[i].where);
        if (!g_strstr_len(f->evidence, -1, said[i].evidence))
            g_error("%s: \"%s\" is not in \"%s\"", f->id, said[i].evidence, f->evidence);
        g_assert_nonnull(f->advice);
    }
    g_assert_cmpint(finding(a.report, "G2_1")->at_ns, ==, 115100 * US);
    g_assert_cmpint(finding(a.report, "G1_1")->level, ==, MILL_INFO);
    g_assert_cmpint(finding(a.report, "G9_1")->level, ==, MILL_INFO);
    g_assert_cmpstr(a.report->summary, ==,
                    "8 findings of what could be won, 11.9 % of the window at most: G6 (casts and "
                    "transposes).");
    cJSON_Delete(all);
    data_report_finish(&a);
}

static const char *verdict(const mill_report *r, const char *rule) {
    const mill_table *t = look_table(r, "rules");
    return look_cell(t, look_row(t, 0, "rule", rule), "verdict").text;
}

/* min-gain and each threshold decide. */
static void test_thresholds(void) {
    static const char *const settings[] = {"min-gain=2", "not-launched-share=0.2", "cast-share=12",
                                           NULL};
    data_report a;
    cJSON *all;
    if (!train(settings, &a, &all))
        return;
    static const char *const ids[] = {"G1_1", "G3_1", "G9_1"};
    g_assert_cmpuint(a.report->n_findings, ==, G_N_ELEMENTS(ids));
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++)
        g_assert_cmpstr(a.report->findings[i]->id, ==, ids[i]);
    g_assert_cmpstr(verdict(a.report, "G2"), ==, "below min-gain");
    g_assert_cmpstr(verdict(a.report, "G6"), ==, "below its threshold");
    g_assert_cmpstr(verdict(a.report, "G8"), ==, "below min-gain");
    const mill_table *t = look_table(a.report, "rules");
    g_assert_cmpint(look_cell(t, look_row(t, 0, "rule", "G8"), "cost").i, ==, 350 * US);
    cJSON_Delete(all);
    data_report_finish(&a);
}

static int compare_numbers(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* By nearest rank, of whole µs. */
static int64_t median_of(const cJSON *list) {
    int n = cJSON_GetArraySize(list), i = 0;
    g_autofree int64_t *v = g_new(int64_t, n);
    const cJSON *one;
    cJSON_ArrayForEach(one, list) v[i++] = US * one->valueint;
    qsort(v, (size_t)n, sizeof *v, compare_numbers);
    return v[(n + 1) / 2 - 1];
}

static void check_op(const mill_table *t, int64_t row, const cJSON *right) {
    g_assert_cmpstr(look_cell(t, row, "stage").text, ==, data_field(right, "stage")->valuestring);
    g_assert_cmpstr(look_cell(t, row, "kind").text, ==, data_field(right, "sub")->valuestring);
    g_assert_true(
        g_str_has_prefix(look_cell(t, row, "name").text, data_field(right, "name")->valuestring));
    g_assert_cmpint(look_cell(t, row, "ordinal").i, ==, data_integer(right, "ordinal"));
    g_assert_cmpint(look_cell(t, row, "n_with").i, ==,
                    cJSON_GetArraySize(data_field(right, "with_comm")));
    g_assert_cmpint(look_cell(t, row, "n_without").i, ==,
                    cJSON_GetArraySize(data_field(right, "without_comm")));
    g_assert_cmpint(look_cell(t, row, "with").i, ==, median_of(data_field(right, "with_comm")));
    g_assert_cmpint(look_cell(t, row, "without").i, ==,
                    median_of(data_field(right, "without_comm")));
    g_assert_cmpfloat_with_epsilon(look_cell(t, row, "ratio").d,
                                   data_field(right, "ratio")->valuedouble, 5.1e-5);
}

static void test_ops(void) {
    static const char *const settings[] = {"top=1000", NULL};
    data_report a;
    cJSON *all;
    if (!train(settings, &a, &all))
        return;
    const cJSON *right = data_field(all, "contention_same_op_with_vs_without_comm"), *op;
    g_assert_cmpint(look_int(a.report, "contention_ops", NULL), ==, data_integer(right, "n_ops"));
    g_assert_cmpint(look_int(a.report, "contention_with", NULL), ==,
                    US * data_integer(right, "sum_with_p50"));
    g_assert_cmpint(look_int(a.report, "contention_without", NULL), ==,
                    US * data_integer(right, "sum_without_p50"));
    const mill_table *t = look_table(a.report, "contention");
    g_assert_cmpint((int64_t)t->rows, ==, data_integer(right, "n_ops"));
    cJSON_ArrayForEach(op, data_field(right, "ops")) {
        int64_t row = 0; /* theirs are in another order */
        while (
            !g_str_equal(look_cell(t, row, "stage").text, data_field(op, "stage")->valuestring) ||
            !g_str_has_prefix(look_cell(t, row, "name").text,
                              data_field(op, "name")->valuestring) ||
            look_cell(t, row, "ordinal").i != data_integer(op, "ordinal"))
            row++;
        check_op(t, row, op);
    }
    right = data_field(all, "noise_same_op_across_layers");
    g_assert_cmpint(look_int(a.report, "noise_ops", NULL), ==, data_integer(right, "n_ops"));
    static const char *const shares[][2] = {
        {"noise_p50", "p50"}, {"noise_p90", "p90"}, {"noise_max", "max"}};
    for (size_t i = 0; i < G_N_ELEMENTS(shares); i++)
        g_assert_cmpfloat_with_epsilon(look_ratio(a.report, shares[i][0], NULL),
                                       data_field(right, shares[i][1])->valuedouble, 5.1e-5);
    cJSON_Delete(all);
    data_report_finish(&a);
}

/* On every real profile: in order, nothing advised that is not worth it, and a verdict of each rule
 * on each device. */
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
        data_report_init(&a, path, "findings", "findings", NULL);
        int64_t shortest = INT64_MAX, before = INT64_MAX;
        cJSON_ArrayForEach(device, data_field(trace, "devices")) {
            const mill_table *t = look_table(a.report, "rules");
            int64_t id = g_ascii_strtoll(device->string, NULL, 10);
            shortest = MIN(shortest, data_integer(device, "span_ns"));
            for (int rule = 1; rule <= 12; rule++) {
                g_autofree char *name = g_strdup_printf("G%d", rule);
                g_assert_cmpint(look_row(t, id, "rule", name), >=, 0);
            }
        }
        for (uint64_t i = 0; i < a.report->n_findings; i++) {
            const mill_finding *f = a.report->findings[i];
            g_assert_cmpint(f->gain_ns, <=, before);
            g_assert_cmpint(f->gain_ns, <=, f->cost_ns);
            if (f->level != MILL_INFO)
                g_assert_cmpint(f->gain_ns, >=, shortest / 200);
            before = f->gain_ns;
        }
        data_report_finish(&a);
    }
    cJSON_Delete(corpus);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/findings/data/train", test_train);
    g_test_add_func("/findings/data/words", test_words);
    g_test_add_func("/findings/data/thresholds", test_thresholds);
    g_test_add_func("/findings/data/ops", test_ops);
    g_test_add_func("/findings/data/corpus", test_corpus);
    return g_test_run();
}
