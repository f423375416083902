/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `inflight` on a decoding profile made by rules of its own, whole and cut, and on
 * real profiles. */
#include "data.h"
#include "look.h"

#include <glib/gstdio.h>
#include <string.h>
#include <tracemill/trace.h>

typedef struct analysed {
    bench *reader, *analyzer;
    const mill_report *report;
} analysed;

static void analysed_init(analysed *a, const char *path, const char *setting) {
    a->reader = data_read(path);
    a->analyzer = bench_create(bench_open("plugins/analyzers/inflight/inflight.so"), "inflight");
    bench_option(a->analyzer, "top=1000");
    if (setting)
        bench_option(a->analyzer, setting);
    bench_input(a->analyzer, "trace", MILL_TYPE_TRACE, bench_output(a->reader, "trace", 0), "trace",
                "");
    mill_status status = bench_run(a->analyzer);
    g_assert_cmpstr(bench_causes(a->analyzer), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    a->report = bench_output(a->analyzer, "report", 0);
}

static void analysed_finish(analysed *a) {
    bench_destroy(a->analyzer);
    bench_destroy(a->reader);
}

/* The right values are in µs and halves of them, which doubles hold exactly. */
static int64_t ns(const cJSON *object, const char *name) {
    return (int64_t)(data_field(object, name)->valuedouble * 1000);
}

static int64_t row_at(const mill_table *table, int64_t start) {
    for (int64_t row = 0; row < (int64_t)table->rows; row++)
        if (look_cell(table, row, "start").i == start)
            return row;
    g_error("no transfer starts at %" G_GINT64_FORMAT, start);
}

static void check_pairs(const mill_report *report, const cJSON *right) {
    static const struct {
        const char *ours, *theirs;
    } columns[] = {{"send", "send_us"},
                   {"flight", "flight_us"},
                   {"flight_hidden", "flight_hidden_us"},
                   {"flight_idle", "flight_idle_us"},
                   {"recv", "recv_us"},
                   {"recv_base", "recv_base_us"},
                   {"recv_wait", "recv_wait_us"},
                   {"latency", "latency_us"},
                   {"exposed", "exposed_us"}};
    const mill_table *table = look_table(report, "transfers");
    const cJSON *pair;
    cJSON_ArrayForEach(pair, right) {
        int64_t row = row_at(table, ns(pair, "send_start"));
        g_assert_cmpstr(look_cell(table, row, "kind").text, ==,
                        data_field(pair, "kind")->valuestring);
        for (size_t i = 0; i < G_N_ELEMENTS(columns); i++)
            g_assert_cmpint(look_cell(table, row, columns[i].ours).i, ==,
                            ns(pair, columns[i].theirs));
    }
    g_assert_cmpuint(table->rows, ==, (uint64_t)cJSON_GetArraySize(right));
}

static void check_totals(const mill_report *report, const cJSON *right) {
    const cJSON *total;
    cJSON_ArrayForEach(total, data_field(right, "totals")) {
        g_autofree char *id = g_strndup(total->string, strlen(total->string) - strlen("_us"));
        g_assert_cmpint(look_int(report, id, NULL), ==, (int64_t)(total->valuedouble * 1000));
    }
    g_assert_cmpfloat_with_epsilon(look_ratio(report, "hidden_over_latency", NULL),
                                   data_field(right, "hidden_over_latency")->valuedouble, 5e-7);
    g_assert_cmpfloat_with_epsilon(look_ratio(report, "flight_hidden_ratio", NULL),
                                   data_field(right, "flight_hidden_ratio")->valuedouble, 5e-7);
}

static void check_modes(const mill_report *report, const cJSON *right) {
    const cJSON *off = data_field(right, "mode_off"), *on = data_field(right, "mode_on");
    static const char *const times[] = {"T", "comp", "comm", "overlap", "idle"};
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        g_assert_cmpint(look_int(report, times[i], NULL), ==, ns(off, times[i]));
    g_assert_cmpfloat(look_ratio(report, "overlap_over_comm", NULL), ==, 0);
    g_assert_cmpint(look_int(report, "comm_with_flight", NULL), ==, ns(on, "comm_with_flight"));
    g_assert_cmpint(look_int(report, "overlap_with_flight", NULL), ==, ns(on, "overlap"));
    g_assert_cmpint(look_int(report, "exposed_comm_with_flight", NULL), ==, ns(on, "exposed_comm"));
}

static void test_decode(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    cJSON *right = data_json(folder, "oracle/overlap/decode_synth_expected.json");
    g_autofree char *path = g_build_filename(folder, "oracle/overlap/decode_synth.json", NULL);
    analysed a;
    analysed_init(&a, path, NULL);
    check_pairs(a.report, data_field(right, "pairs"));
    check_totals(a.report, right);
    check_modes(a.report, right);
    g_assert_null(look_table(a.report, "unpaired"));
    g_assert_cmpuint(a.report->n_lanes, ==, 1);
    g_assert_cmpuint(a.report->lanes[0]->n, ==, 4);
    analysed_finish(&a);
    cJSON_Delete(right);
}

/* Its first kernel is missing, so that the profile begins inside a pair. */
static void test_decode_cut(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    cJSON *trace = data_json(folder, "oracle/overlap/decode_synth.json");
    cJSON_DeleteItemFromArray(cJSON_GetObjectItemCaseSensitive(trace, "traceEvents"), 0);
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    int file = g_file_open_tmp("decode-XXXXXX.json", &path, &error);
    g_assert_no_error(error);
    g_close(file, NULL);
    char *text = cJSON_PrintUnformatted(trace);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    cJSON_free(text);
    cJSON_Delete(trace);

    analysed a;
    analysed_init(&a, path, NULL);
    const mill_table *unpaired = look_table(a.report, "unpaired");
    g_assert_cmpint(look_int(a.report, "pairs", NULL), ==, 3);
    g_assert_cmpuint(unpaired->rows, ==, 1);
    /* At 111 µs of the whole profile; this one begins at 13.5. */
    g_assert_cmpint(look_cell(unpaired, 0, "start").i, ==, 111000 - 13500);
    g_assert_cmpstr(look_cell(unpaired, 0, "phase").text, ==, "receive");
    g_assert_nonnull(look_note(a.report, "unpaired"));
    analysed_finish(&a);
    g_assert_cmpint(g_unlink(path), ==, 0);
}

/* Real profiles: without transfers in two phases nothing changes, whatever else they hold. */
static void test_real(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autofree char *traces = g_build_filename(folder, "traces", NULL);
    g_autoptr(GDir) dir = g_dir_open(traces, 0, NULL);
    int n = 0;
    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir)) {
        if (!g_str_has_suffix(name, ".json.gz"))
            continue;
        g_test_message("%s", name);
        g_autofree char *path = g_build_filename(traces, name, NULL);
        analysed a;
        analysed_init(&a, path, NULL);
        for (uint64_t i = 0; i < a.report->n_figures; i++) {
            const mill_figure *f = a.report->figures[i];
            if (strcmp(f->id, "pairs") == 0 || strcmp(f->id, "idle_in_flight") == 0)
                g_assert_cmpint(f->value.i, ==, 0);
            if (strcmp(f->id, "comm_with_flight") == 0)
                g_assert_cmpint(f->value.i, ==, look_int(a.report, "comm", f->scope));
        }
        analysed_finish(&a);
        n++;
    }
    g_assert_cmpint(n, >, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/inflight/data/decode", test_decode);
    g_test_add_func("/inflight/data/decode-cut", test_decode_cut);
    g_test_add_func("/inflight/data/real", test_real);
    return g_test_run();
}
