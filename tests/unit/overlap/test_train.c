/* SPDX-License-Identifier: Apache-2.0 */
/* DeepSeek's training profile, for which every figure is known: whole, by parts, by other sets of
 * communication, and cut. */
#include "analysed.h"
#include "look.h"

#include <string.h>

static const char *const all_rows[] = {"top=1000", "kernels=1000", "detail=yes", "lanes=yes", NULL};

static cJSON *right;   /* train_expected.json */
static analysed whole; /* the profile with all rows */

/* ---------------------------------------------------------------- comparing */

/* A column and the field that tells its right value, in µs if the column is a time. */
typedef struct match {
    const char *column, *field;
} match;

static const mill_table_column *column_of(const mill_table *table, const char *id) {
    for (uint64_t c = 0; c < table->n_columns; c++)
        if (g_str_equal(table->columns[c]->id, id))
            return table->columns[c];
    g_error("table \"%s\" has no column \"%s\"", table->id, id);
}

static void check_cell(const mill_table *table, int64_t row, const match *m, const cJSON *object) {
    const mill_table_column *column = column_of(table, m->column);
    const cJSON *value = data_field(object, m->field);
    mill_datum cell = column->cells[row];
    switch (column->kind) {
    case MILL_KIND_TEXT:
        g_assert_cmpstr(cell.text, ==, cJSON_GetStringValue(value));
        break;
    case MILL_KIND_NS:
        g_assert_cmpint(cell.i, ==, 1000 * (int64_t)value->valuedouble);
        break;
    case MILL_KIND_RATIO:
        g_assert_cmpfloat_with_epsilon(cell.d, value->valuedouble, 5e-7);
        break;
    default:
        g_assert_cmpint(cell.i, ==, (int64_t)value->valuedouble);
    }
}

static void check_row(const mill_table *table, int64_t row, const match *matches,
                      const cJSON *object) {
    g_assert_cmpint(row, >=, 0);
    for (const match *m = matches; m->column; m++)
        check_cell(table, row, m, object);
}

/* The row with that text in one column and, unless layer is negative, that layer. */
static int64_t row_of(const mill_table *table, const char *column, const char *text,
                      int64_t layer) {
    for (int64_t row = 0; row < (int64_t)table->rows; row++)
        if (g_strcmp0(look_cell(table, row, column).text, text) == 0 &&
            (layer < 0 || look_cell(table, row, "layer").i == layer))
            return row;
    return -1;
}

/* "2:attn(F)" as its layer and stage. */
static int64_t split_key(const char *key, const char **ret_stage) {
    char *end;
    int64_t layer = g_ascii_strtoll(key, &end, 10);
    g_assert_cmpint(*end, ==, ':');
    *ret_stage = end + 1;
    return layer;
}

static const mill_table *table(const char *id) {
    const mill_table *found = look_table(whole.report, id);
    g_assert_nonnull(found);
    return found;
}

/* The table has a row for each field of the object, and no more. */
static void check_size(const mill_table *t, const cJSON *object) {
    g_assert_cmpuint(t->rows, ==, (uint64_t)cJSON_GetArraySize(object));
}

/* ---------------------------------------------------------------- figures */

/* What follows from figures, and is none itself. */
static void check_derived(const mill_report *report, const cJSON *values) {
    int64_t window = look_int(report, "T", NULL), comp = look_int(report, "comp", NULL);
    int64_t busy = look_int(report, "busy", NULL);
    g_assert_cmpint(
        window, ==,
        1000 * (data_integer(values, "window_end") - data_integer(values, "window_start")));
    g_assert_cmpint(window - comp, ==, 1000 * data_integer(values, "noncomp"));
    g_assert_cmpfloat_with_epsilon((double)comp / (double)window,
                                   data_field(values, "comp_over_T")->valuedouble, 5e-7);
    g_assert_cmpfloat_with_epsilon((double)busy / (double)window,
                                   data_field(values, "busy_over_T")->valuedouble, 5e-7);
}

/* All figures that the right values of one analysis hold, in whole µs. */
static void check_figures(const mill_report *report, const cJSON *values) {
    static const char *const ratios[] = {
        "overlap_over_comm", "overlap_over_comp", "overlap_over_min", "exposed_over_comm",
        "exposed_over_T",    "serial_speedup",    "bound_efficiency"};
    static const char *const times[] = {
        "T", "busy", "idle", "comp", "comm", "mem", "overlap", "exposed_comm", "comp_without_comm"};
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        g_assert_cmpint(look_int(report, times[i], NULL), ==,
                        1000 * data_integer(values, times[i]));
    const cJSON *state;
    cJSON_ArrayForEach(state, data_field(values, "excl")) {
        g_autofree char *id = g_strdup_printf("excl_%s", state->string);
        g_assert_cmpint(look_int(report, id, NULL), ==, 1000 * (int64_t)state->valuedouble);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(ratios); i++)
        g_assert_cmpfloat_with_epsilon(look_ratio(report, ratios[i], NULL),
                                       data_field(values, ratios[i])->valuedouble, 5e-7);
    g_assert_cmpfloat_with_epsilon(look_ratio(report, "jaccard", NULL),
                                   data_field(values, "overlap_jaccard")->valuedouble, 5e-7);
    check_derived(report, values);
}

static void test_figures(void) {
    check_figures(whole.report, data_field(data_field(right, "overlap"), "gpu_span"));
    g_assert_cmpint(look_int(whole.report, "actionable_exposed", NULL), ==,
                    1000 * data_integer(data_field(right, "exposed_comm_by_reason"), "wait_comm"));
    g_assert_cmpstr(whole.report->summary, ==,
                    "96.3 % of communication is hidden under computation; 4 190 µs (3.2 % of the "
                    "window) are exposed, of which 2 029 µs (1.6 %) are actionable, all in layer "
                    "3.");
}

static char *train_path(void) {
    return g_strdup_printf("%s/traces/deepseek-train.json.gz", data_folder());
}

static void check_settings(const char *const *settings, const cJSON *values) {
    g_autofree char *path = train_path();
    analysed a;
    analysed_init(&a, path, settings, true);
    check_figures(a.report, values);
    analysed_finish(&a);
}

static void test_variants(void) {
    static const char *const transfer[] = {"communication=dispatch, combine", NULL};
    static const char *const no_layout[] = {"communication=dispatch, combine, notify", NULL};
    static const char *const stream[] = {"streams-as-communication=27", NULL};
    static const char *const clip[] = {"steps=all", "clip=cpu", NULL};
    static const char *const step[] = {"steps=1", NULL};
    const cJSON *variants = data_field(right, "overlap_variants");
    check_settings(transfer, data_field(variants, "transfer_only_dispatch_combine"));
    check_settings(no_layout, data_field(variants, "without_layout"));
    check_settings(stream, data_field(variants, "by_stream_27"));
    check_settings(clip, data_field(data_field(right, "overlap"), "cpu_step_clip"));
    check_settings(step, data_field(data_field(right, "overlap"), "gpu_span"));
}

/* The Σ durations of each class, and how many activities. */
static void test_classes(void) {
    static const struct {
        const char *name, *field;
    } classes[] = {{"computation", "comp"}, {"communication", "comm"}, {"memory", "mem"}};
    const mill_table *t = table("classes");
    const cJSON *counts = data_field(data_field(right, "classification"), "count");
    const cJSON *sums = data_field(data_field(right, "classification"), "dur_sum");
    check_size(t, counts);
    for (size_t i = 0; i < G_N_ELEMENTS(classes); i++) {
        int64_t row = row_of(t, "class", classes[i].name, -1);
        g_assert_cmpint(look_cell(t, row, "n").i, ==, data_integer(counts, classes[i].field));
        g_assert_cmpint(look_cell(t, row, "sum").i, ==,
                        1000 * data_integer(sums, classes[i].field));
    }
}

/* ---------------------------------------------------------------- communication */

static const match part_matches[] = {
    {"n", "n"}, {"sum", "dur"}, {"exposed", "exposed"}, {"hidden", "hidden_over_dur"}, {0}};

static void check_part(const mill_table *t, int64_t row, const cJSON *one) {
    check_row(t, row, part_matches, one);
    g_assert_cmpfloat_with_epsilon(look_cell(t, row, "hidden").d *
                                       data_field(one, "dur")->valuedouble,
                                   data_field(one, "hidden")->valuedouble, 1e-6);
}

static void check_parts(const char *id, const char *column, const cJSON *object) {
    const mill_table *t = table(id);
    const cJSON *one;
    cJSON_ArrayForEach(one, object) check_part(t, row_of(t, column, one->string, -1), one);
    check_size(t, object);
}

static void test_parts(void) {
    check_parts("kinds", "kind", data_field(right, "comm_by_kind"));
    check_parts("comm_by_stage", "stage", data_field(right, "comm_by_stage"));
    check_parts("comm_by_chunk", "chunk", data_field(right, "comm_by_chunk"));

    const cJSON *one, *object = data_field(right, "comm_by_layer");
    cJSON_ArrayForEach(one, object) check_part(
        table("comm_by_layer"),
        look_row_of(table("comm_by_layer"), 0, "layer", g_ascii_strtoll(one->string, NULL, 10)),
        one);
    check_size(table("comm_by_layer"), object);

    object = data_field(right, "comm_by_layer_and_stage");
    cJSON_ArrayForEach(one, object) {
        const char *stage;
        int64_t layer = split_key(one->string, &stage);
        const mill_table *t = table("comm_by_layer_and_stage");
        check_part(t, row_of(t, "stage", stage, layer), one);
    }
    check_size(table("comm_by_layer_and_stage"), object);
}

static void test_kinds_and_stages(void) {
    const mill_table *t = table("comm_by_kind_and_stage");
    const cJSON *object = data_field(right, "comm_by_kind_and_stage");
    check_size(t, object);
    for (int64_t row = 0; row < (int64_t)t->rows; row++) {
        g_autofree char *key = g_strdup_printf("%s in %s", look_cell(t, row, "kind").text,
                                               look_cell(t, row, "stage").text);
        check_part(t, row, data_field(object, key));
        g_assert_nonnull(strstr(key, look_cell(t, row, "chunk").text));
    }
}

static void test_kernels(void) {
    static const match matches[] = {{"start", "start"},   {"dur", "dur"},
                                    {"kind", "kind"},     {"stage", "stage"},
                                    {"layer", "layer"},   {"stream", "stream"},
                                    {"sms", "sms"},       {"exposed", "exposed"},
                                    {"hidden", "hidden"}, {0}};
    const mill_table *t = table("comm_kernels");
    const cJSON *one, *list = data_field(right, "comm_kernels");
    g_assert_cmpuint(t->rows, ==, 36);
    check_size(t, list);
    cJSON_ArrayForEach(one, list)
        check_row(t, look_row_of(t, 0, "start", 1000 * data_integer(one, "start")), matches, one);
    for (int64_t row = 1; row < (int64_t)t->rows; row++)
        g_assert_cmpint(look_cell(t, row - 1, "exposed").i, >=, look_cell(t, row, "exposed").i);
}

static void test_notify(void) {
    static const match matches[] = {
        {"n", "n"}, {"sum", "sum"}, {"min", "min"}, {"excess", "excess_over_min"}, {0}};
    check_row(table("notify_wait"), 0, matches, data_field(right, "notify_wait"));
    g_assert_cmpfloat_with_epsilon(look_cell(table("notify_wait"), 0, "share").d, 32578.0 / 113440,
                                   1e-12);
}

/* ---------------------------------------------------------------- stages and layers */

static void test_stages(void) {
    static const match matches[] = {{"n", "activities"},
                                    {"cpu_start", "cpu_start"},
                                    {"cpu_time", "cpu_dur"},
                                    {"start", "gpu_start"},
                                    {"span", "gpu_span"},
                                    {"busy", "busy"},
                                    {"comp", "comp_busy"},
                                    {"comm", "comm_busy"},
                                    {"comp_sum", "comp_dur_sum"},
                                    {"comp_under_comm", "comp_busy_with_other_comm"},
                                    {0}};
    static const match totals[] = {{"n", "activities"},
                                   {"cpu_time", "cpu_dur"},
                                   {"span", "gpu_span"},
                                   {"busy", "busy"},
                                   {"comp", "comp_busy"},
                                   {"comm", "comm_busy"},
                                   {0}};
    const mill_table *t = table("stages");
    const cJSON *one;
    cJSON_ArrayForEach(one, data_field(right, "stages")) {
        const char *stage;
        int64_t layer = split_key(one->string, &stage);
        check_row(t, row_of(t, "stage", stage, layer), matches, one);
    }
    check_size(t, data_field(right, "stages"));
    t = table("stage_totals");
    cJSON_ArrayForEach(one, data_field(right, "stage_totals"))
        check_row(t, row_of(t, "stage", one->string, -1), totals, one);
    check_size(t, data_field(right, "stage_totals"));
}

static void test_layers(void) {
    static const match matches[] = {{"start", "window_start"},
                                    {"T", "T"},
                                    {"comp", "comp"},
                                    {"comm", "comm"},
                                    {"exposed_comm", "exposed_comm"},
                                    {"overlap_over_comm", "overlap_over_comm"},
                                    {"notify_wait", "notify_wait"},
                                    {0}};
    const mill_table *t = table("layers");
    const cJSON *one;
    int64_t sum = 0;
    cJSON_ArrayForEach(one, data_field(right, "layers")) {
        int64_t row = look_row_of(t, 0, "layer", g_ascii_strtoll(one->string, NULL, 10));
        check_row(t, row, matches, one);
        int64_t overlap = look_cell(t, row, "comm").i - look_cell(t, row, "exposed_comm").i;
        g_assert_cmpint(overlap, ==, 1000 * data_integer(one, "overlap"));
        g_assert_cmpint(look_cell(t, row, "comp").i - overlap, ==,
                        1000 * data_integer(one, "comp_without_comm"));
        g_assert_cmpint(look_cell(t, row, "start").i + look_cell(t, row, "T").i, ==,
                        1000 * data_integer(one, "window_end"));
        sum += look_cell(t, row, "T").i;
    }
    check_size(t, data_field(right, "layers"));
    g_assert_cmpint(sum, ==, look_int(whole.report, "T", NULL));
}

/* Layers may be said to begin elsewhere; what comes before the first is a row of its own. */
static void test_layer_start(void) {
    static const char *const settings[] = {"layer-start=^mlp\\(F\\)$", NULL};
    g_autofree char *path = train_path();
    analysed a;
    analysed_init(&a, path, settings, true);
    const mill_table *t = look_table(a.report, "layers");
    g_assert_cmpuint(t->rows, ==, 5);
    g_assert_cmpint(look_cell(t, 0, "layer").i, ==, MILL_UNKNOWN);
    g_assert_cmpint(look_cell(t, 1, "layer").i, ==, 0);
    g_assert_cmpint(look_cell(t, 1, "start").i, ==, 16397000); /* stages: 0:mlp(F) gpu_start */
    int64_t sum = 0;
    for (int64_t row = 0; row < 5; row++)
        sum += look_cell(t, row, "T").i;
    g_assert_cmpint(sum, ==, look_int(a.report, "T", NULL));
    analysed_finish(&a);
}

/* ---------------------------------------------------------------- what runs at once */

static void test_matrix(void) {
    const mill_table *t = table("overlap_matrix");
    const cJSON *object = data_field(right, "overlap_matrix_comp_stage_x_comm_stage"), *row;
    int n = 0;
    cJSON_ArrayForEach(row, object) n += cJSON_GetArraySize(row);
    g_assert_cmpuint(t->rows, ==, (uint64_t)n);
    for (int64_t i = 0; i < n; i++) {
        row = data_field(object, look_cell(t, i, "comp_stage").text);
        g_assert_cmpint(look_cell(t, i, "time").i, ==,
                        1000 * data_integer(row, look_cell(t, i, "comm_stage").text));
    }
}

static void test_stream_pairs(void) {
    const mill_table *t = table("stream_pairs");
    const cJSON *object = data_field(right, "stream_pair_overlap");
    check_size(t, object);
    for (int64_t i = 0; i < (int64_t)t->rows; i++) {
        g_autofree char *key =
            g_strdup_printf("%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT, look_cell(t, i, "stream").i,
                            look_cell(t, i, "other").i);
        g_assert_cmpint(look_cell(t, i, "time").i, ==, 1000 * data_integer(object, key));
    }
}

static void test_chunks(void) {
    static const match phases[] = {{"forward", "forward_active"},
                                   {"backward", "backward_active"},
                                   {"both", "both"},
                                   {"forward_only", "forward_only"},
                                   {"backward_only", "backward_only"},
                                   {"neither", "neither"},
                                   {0}};
    static const match forward[] = {{"comm", "fwd_comm"},
                                    {"under_forward", "fwd_comm_under_fwd_comp"},
                                    {"under_backward", "fwd_comm_under_bwd_comp"},
                                    {0}};
    static const match backward[] = {{"comm", "bwd_comm"},
                                     {"under_forward", "bwd_comm_under_fwd_comp"},
                                     {"under_backward", "bwd_comm_under_bwd_comp"},
                                     {0}};
    const cJSON *cross = data_field(right, "cross_chunk");
    check_row(table("chunk_phases"), 0, phases, data_field(right, "chunk_phases"));
    check_row(table("cross_chunk"), 0, forward, cross);
    check_row(table("cross_chunk"), 1, backward, cross);
}

static void test_streams(void) {
    static const match matches[] = {{"n", "activities"}, {"sum", "dur_sum"}, {"busy", "busy"},
                                    {"first", "first"},  {"last", "last"},   {0}};
    const mill_table *t = table("streams");
    int64_t window = look_int(whole.report, "T", NULL);
    const cJSON *one;
    cJSON_ArrayForEach(one, data_field(right, "streams")) {
        int64_t row = look_row_of(t, 0, "stream", g_ascii_strtoll(one->string, NULL, 10));
        int64_t busy = look_cell(t, row, "busy").i;
        check_row(t, row, matches, one);
        g_assert_cmpint(window - busy, ==, 1000 * data_integer(one, "idle_in_gpu_span"));
        g_assert_cmpint(look_cell(t, row, "sum").i - busy, ==,
                        1000 * data_integer(one, "same_stream_overlap"));
    }
    check_size(t, data_field(right, "streams"));
}

/* ---------------------------------------------------------------- why, and SMs */

static void test_reasons(void) {
    const mill_table *t = table("exposed_comm_by_reason");
    const cJSON *object = data_field(right, "exposed_comm_by_reason");
    int64_t sum = 0;
    for (int64_t i = 0; i < (int64_t)t->rows; i++) {
        int64_t time = look_cell(t, i, "time").i;
        g_assert_cmpint(time, ==, 1000 * data_integer(object, look_cell(t, i, "reason").text));
        sum += time;
    }
    g_assert_cmpuint(t->rows, ==, (uint64_t)cJSON_GetArraySize(object) - 2); /* stream, total */
    g_assert_cmpint(sum, ==, 1000 * data_integer(object, "total"));

    /* The longest wait: attn(B) of layer 3 waits for the combine kernel of dispatch(B). */
    t = table("exposed_gaps");
    g_assert_cmpint(look_cell(t, 0, "start").i, ==, 115100000);
    g_assert_cmpint(look_cell(t, 0, "gap").i, ==, 1761000);
    g_assert_cmpstr(look_cell(t, 0, "reason").text, ==, "wait_comm");
    g_assert_cmpstr(look_cell(t, 0, "kind").text, ==, "combine");
    g_assert_cmpstr(look_cell(t, 0, "stage").text, ==, "dispatch(B)");
    g_assert_cmpstr(look_cell(t, 0, "next").text, ==, "attn(B)");
    g_assert_cmpint(look_cell(t, 0, "layer").i, ==, 3);
    sum = 0;
    for (int64_t i = 0; i < (int64_t)t->rows; i++)
        sum += look_cell(t, i, "exposed").i;
    g_assert_cmpint(sum, ==, look_int(whole.report, "exposed_comm", NULL));
}

static double real_of(const char *id) {
    for (uint64_t i = 0; i < whole.report->n_figures; i++)
        if (g_str_equal(whole.report->figures[i]->id, id))
            return whole.report->figures[i]->value.d;
    g_error("no figure \"%s\"", id);
}

/* SM time, from which the shares follow. */
static void check_sm_time(const cJSON *sm) {
    double sms = (double)data_integer(sm, "num_sms");
    double held = look_ratio(whole.report, "comm_sm_share", NULL) * sms *
                  (double)look_int(whole.report, "T", NULL) / 1000;
    double hidden = (1 - look_ratio(whole.report, "comp_capacity_left", NULL)) * sms *
                    (double)look_int(whole.report, "overlap", NULL) / 1000;
    double exposed = sms * (double)look_int(whole.report, "exposed_comm", NULL) / 1000;
    g_assert_cmpfloat_with_epsilon(held, data_field(sm, "comm_sm_us")->valuedouble, 1e-3);
    g_assert_cmpfloat_with_epsilon(hidden, data_field(sm, "overlap_comm_sm_us")->valuedouble, 1e-3);
    g_assert_cmpfloat_with_epsilon(exposed - (held - hidden),
                                   data_field(sm, "exposed_comm_idle_sm_us")->valuedouble, 1e-3);
}

static void test_sm_view(void) {
    const cJSON *sm = data_field(right, "sm_view");
    const cJSON *held = data_field(sm, "comm_dur_by_sms_held"), *one;
    check_sm_time(sm);
    g_assert_cmpint(look_int(whole.report, "sms", NULL), ==, data_integer(sm, "num_sms"));
    g_assert_cmpfloat_with_epsilon(100 * look_ratio(whole.report, "comm_sm_share", NULL),
                                   data_field(sm, "comm_sm_share_of_gpu_span_pct")->valuedouble,
                                   5e-5);
    g_assert_cmpfloat_with_epsilon(real_of("comm_mean_sms"),
                                   data_field(sm, "comm_mean_sms_while_active")->valuedouble, 5e-5);
    g_assert_cmpfloat_with_epsilon(
        100 * look_ratio(whole.report, "comp_capacity_left", NULL),
        data_field(sm, "comp_capacity_left_during_overlap_pct")->valuedouble, 5e-5);
    g_assert_cmpfloat_with_epsilon(
        100 * look_ratio(whole.report, "sm_utilisation", NULL),
        data_field(data_field(right, "utilisation"), "sm_util_capped_pct")->valuedouble, 5e-5);
    g_assert_cmpint(look_int(whole.report, "reserved_sms", NULL), ==, 20);
    g_assert_cmpint(look_int(whole.report, "rest_kernels", NULL), ==,
                    data_integer(sm, "persistent_112_block_kernels"));
    g_assert_cmpint(look_int(whole.report, "rest_time", NULL), ==,
                    1000 * data_integer(sm, "persistent_112_dur"));
    g_assert_cmpint(look_int(whole.report, "rest_time_without_comm", NULL), ==,
                    1000 * data_integer(sm, "persistent_112_dur_without_active_comm"));
    cJSON_ArrayForEach(one, held) {
        int64_t row =
            look_row_of(table("comm_by_sms"), 0, "sms", g_ascii_strtoll(one->string, NULL, 10));
        g_assert_cmpint(look_cell(table("comm_by_sms"), row, "sum").i, ==,
                        1000 * (int64_t)one->valuedouble);
    }
    check_size(table("comm_by_sms"), held);
}

/* All SMs over time add up to their utilisation, and those of communication to its share. */
static void test_sm_curves(void) {
    double sum = 0, comm = 0;
    for (uint64_t i = 0; i < whole.report->n_series; i++) {
        const mill_series *s = whole.report->series[i];
        for (uint64_t k = 0; g_str_has_prefix(s->id, "sms_") && k < s->n; k++) {
            sum += s->y[k];
            comm += g_str_equal(s->id, "sms_comm_0") ? s->y[k] : 0;
        }
    }
    g_assert_cmpfloat_with_epsilon(sum / 480 / 132,
                                   look_ratio(whole.report, "sm_utilisation", NULL), 1e-8);
    g_assert_cmpfloat_with_epsilon(comm / 480 / 132,
                                   look_ratio(whole.report, "comm_sm_share", NULL), 1e-8);
}

/* ---------------------------------------------------------------- times of half a µs */

/* A decode trace: transfers in flight are no kernels, so nothing is hidden here. */
static void test_decode(void) {
    static const char *const settings[] = {NULL};
    g_autofree char *path = g_strdup_printf("%s/oracle/overlap/decode_synth.json", data_folder());
    cJSON *expected = data_json(data_folder(), "oracle/overlap/decode_synth_expected.json");
    const cJSON *off = data_field(expected, "mode_off"), *one;
    analysed a;
    analysed_init(&a, path, settings, true);
    cJSON_ArrayForEach(one, off) {
        if (g_str_equal(one->string, "overlap_over_comm"))
            g_assert_cmpfloat(look_ratio(a.report, one->string, NULL), ==, one->valuedouble);
        else
            g_assert_cmpint(look_int(a.report, one->string, NULL), ==,
                            (int64_t)(1000 * one->valuedouble));
    }
    cJSON_Delete(expected);
    analysed_finish(&a);
}

/* Skipped, and says why. */
static void test_no_data(void) {
    g_assert_null(data_folder());
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_autofree char *path = NULL;
    const char *folder = g_getenv("TRACEMILL_TEST_DATA");
    if (!folder || !g_file_test(folder, G_FILE_TEST_IS_DIR)) {
        g_test_add_func("/overlap/train", test_no_data);
        return g_test_run();
    }
    right = data_json(folder, "oracle/overlap/train_expected.json");
    path = train_path();
    analysed_init(&whole, path, all_rows, true);
    g_test_add_func("/overlap/train/figures", test_figures);
    g_test_add_func("/overlap/train/variants", test_variants);
    g_test_add_func("/overlap/train/classes", test_classes);
    g_test_add_func("/overlap/train/parts", test_parts);
    g_test_add_func("/overlap/train/kinds-and-stages", test_kinds_and_stages);
    g_test_add_func("/overlap/train/kernels", test_kernels);
    g_test_add_func("/overlap/train/notify", test_notify);
    g_test_add_func("/overlap/train/stages", test_stages);
    g_test_add_func("/overlap/train/layers", test_layers);
    g_test_add_func("/overlap/train/layer-start", test_layer_start);
    g_test_add_func("/overlap/train/matrix", test_matrix);
    g_test_add_func("/overlap/train/stream-pairs", test_stream_pairs);
    g_test_add_func("/overlap/train/chunks", test_chunks);
    g_test_add_func("/overlap/train/streams", test_streams);
    g_test_add_func("/overlap/train/reasons", test_reasons);
    g_test_add_func("/overlap/train/sm-view", test_sm_view);
    g_test_add_func("/overlap/train/sm-curves", test_sm_curves);
    g_test_add_func("/overlap/decode", test_decode);
    int result = g_test_run();
    analysed_finish(&whole);
    cJSON_Delete(right);
    return result;
}
