/* SPDX-License-Identifier: Apache-2.0 */
/* Real profiles, read and analysed, against right values computed by other means. */
#include "data.h"
#include "look.h"

#include <math.h>

typedef struct analysed {
    bench *reader, *analyzer;
    const mill_report *report;
} analysed;

/* setting: an option of the analyzer, beside `top`, or NULL. */
static void analysed_init(analysed *a, const char *folder, const char *trace, const char *setting) {
    g_autofree char *path = g_strdup_printf("%s/traces/%s.json.gz", folder, trace);
    a->reader = data_read(path);
    a->analyzer = bench_create(bench_open("plugins/analyzers/overlap/overlap.so"), "overlap");
    bench_option(a->analyzer, "top=1000");
    if (setting)
        bench_option(a->analyzer, setting);
    bench_input(a->analyzer, "trace", "mill.trace/1", bench_output(a->reader, "trace", 0), "trace",
                trace);
    mill_status status = bench_run(a->analyzer);
    g_assert_cmpstr(bench_causes(a->analyzer), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    a->report = bench_output(a->analyzer, "report", 0);
}

static void analysed_finish(analysed *a) {
    bench_destroy(a->analyzer);
    bench_destroy(a->reader);
}

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
        analysed a;
        analysed_init(&a, folder, trace->string, NULL);
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

static void check_train_kinds(const mill_report *report, const cJSON *right) {
    const mill_table *table = look_table(report, "kinds");
    const cJSON *kind;
    cJSON_ArrayForEach(kind, right) {
        int64_t row = look_row(table, 0, "kind", kind->string);
        g_assert_cmpint(look_cell(table, row, "exposed").i, ==,
                        1000 * data_integer(kind, "exposed"));
        g_assert_cmpfloat_with_epsilon(look_cell(table, row, "hidden").d,
                                       data_field(kind, "hidden_over_dur")->valuedouble, 5e-7);
    }
    g_assert_cmpuint(table->rows, ==, (uint64_t)cJSON_GetArraySize(right));
}

static void check_train_streams(const mill_report *report, const cJSON *right) {
    const mill_table *table = look_table(report, "streams");
    const cJSON *stream;
    cJSON_ArrayForEach(stream, right) {
        int64_t row = look_row_of(table, 0, "stream", g_ascii_strtoll(stream->string, NULL, 10));
        g_assert_cmpint(look_cell(table, row, "n").i, ==, data_integer(stream, "activities"));
        g_assert_cmpint(look_cell(table, row, "sum").i, ==, 1000 * data_integer(stream, "dur_sum"));
        g_assert_cmpint(look_cell(table, row, "busy").i, ==, 1000 * data_integer(stream, "busy"));
        g_assert_cmpint(look_cell(table, row, "first").i, ==, 1000 * data_integer(stream, "first"));
        g_assert_cmpint(look_cell(table, row, "last").i, ==, 1000 * data_integer(stream, "last"));
    }
    g_assert_cmpuint(table->rows, ==, (uint64_t)cJSON_GetArraySize(right));
}

/* All figures that the right values of one analysis hold, in whole µs. */
static void check_figures(const mill_report *report, const cJSON *right) {
    static const char *const ratios[] = {
        "overlap_over_comm", "overlap_over_comp", "overlap_over_min", "exposed_over_comm",
        "exposed_over_T",    "serial_speedup",    "bound_efficiency"};
    static const char *const times[] = {
        "T", "busy", "idle", "comp", "comm", "mem", "overlap", "exposed_comm", "comp_without_comm"};
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        g_assert_cmpint(look_int(report, times[i], NULL), ==, 1000 * data_integer(right, times[i]));
    const cJSON *state;
    cJSON_ArrayForEach(state, data_field(right, "excl")) {
        g_autofree char *id = g_strdup_printf("excl_%s", state->string);
        g_assert_cmpint(look_int(report, id, NULL), ==, 1000 * (int64_t)state->valuedouble);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(ratios); i++)
        g_assert_cmpfloat_with_epsilon(look_ratio(report, ratios[i], NULL),
                                       data_field(right, ratios[i])->valuedouble, 5e-7);
    g_assert_cmpfloat_with_epsilon(look_ratio(report, "jaccard", NULL),
                                   data_field(right, "overlap_jaccard")->valuedouble, 5e-7);
}

/* DeepSeek's training profile, for which every figure is known. */
static void test_train(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    cJSON *right = data_json(folder, "oracle/overlap/train_expected.json");
    analysed a;
    analysed_init(&a, folder, "deepseek-train", NULL);
    check_figures(a.report, data_field(data_field(right, "overlap"), "gpu_span"));
    check_train_kinds(a.report, data_field(right, "comm_by_kind"));
    check_train_streams(a.report, data_field(right, "streams"));
    g_assert_cmpstr(a.report->summary, ==,
                    "96.3 % of communication is hidden under computation; 4 190 µs (3.2 % of the "
                    "window) are exposed.");
    analysed_finish(&a);

    analysed_init(&a, folder, "deepseek-train", "streams-as-communication=27");
    check_figures(a.report, data_field(data_field(right, "overlap_variants"), "by_stream_27"));
    analysed_finish(&a);
    cJSON_Delete(right);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/overlap/data/corpus", test_corpus);
    g_test_add_func("/overlap/data/train", test_train);
    return g_test_run();
}
