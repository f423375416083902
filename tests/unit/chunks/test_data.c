/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `chunks` on real profiles, against right values computed by other means. */
#include "data.h"
#include "look.h"

#include <math.h>
#include <string.h>
#include <tracemill/attribution.h>
#include <tracemill/chunk_times.h>

typedef struct analysed {
    bench *reader, *places, *analyzer;
    const mill_report *report;
    const mill_chunk_times *times;
} analysed;

static void analysed_init(analysed *a, const char *folder, const char *name) {
    g_autofree char *path = g_build_filename(folder, "traces", name, NULL);
    a->reader = data_read(path);
    const mill_trace *trace = bench_output(a->reader, "trace", 0);
    a->places =
        bench_create(bench_open("plugins/analyzers/attribution/attribution.so"), "attribution");
    bench_input(a->places, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    mill_status status = bench_run(a->places);
    g_assert_cmpstr(bench_causes(a->places), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    a->analyzer = bench_create(bench_open("plugins/analyzers/chunks/chunks.so"), "chunks");
    bench_option(a->analyzer, "m=20,30,40,50,60,70,80,90,100,110,120");
    bench_input(a->analyzer, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    bench_input(a->analyzer, "attribution", MILL_TYPE_ATTRIBUTION,
                bench_output(a->places, "attribution", 0), "attribution", "");
    status = bench_run(a->analyzer);
    g_assert_cmpstr(bench_causes(a->analyzer), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    a->report = bench_output(a->analyzer, "report", 0);
    a->times = bench_output(a->analyzer, "times", 0);
}

static void analysed_finish(analysed *a) {
    bench_destroy(a->analyzer);
    bench_destroy(a->places);
    bench_destroy(a->reader);
}

/* The right values are whole µs. */
static int64_t ns(const cJSON *object, const char *name) {
    return 1000 * data_integer(object, name);
}

static const char *const bases[MILL_BASES] = {"compute_only", "serial_transfer", "serial_all"};

static void check_costs(const analysed *a, const cJSON *right) {
    static const char *const forward[] = {"F_comp", "F_serial_transfer", "F_serial_all"};
    static const char *const backward[] = {NULL, "B_serial_transfer", "B_serial_all"};
    g_assert_cmpuint(a->times->n, ==, 1);
    for (int basis = 0; basis < MILL_BASES; basis++) {
        const mill_chunk_cost *c = &a->times->costs[basis];
        int64_t whole = backward[basis] ? ns(right, backward[basis])
                                        : ns(right, "Bin_comp") + ns(right, "W_comp");
        g_assert_cmpint(c->forward, ==, ns(right, forward[basis]));
        g_assert_cmpint(c->backward, ==, whole);
        g_assert_cmpint(c->weight, ==, ns(right, "W"));
        g_assert_cmpint(c->input + c->weight, ==, c->backward);
        g_assert_cmpint(c->pair, ==, ns(right, "F&B_gpu_span"));
    }
    g_assert_cmpint(a->times->layers[0], ==, 4);
    g_assert_cmpint(a->times->samples[0], ==, 1);
    g_assert_cmpint(a->times->ranks[0], ==, 0);
    g_assert_cmpfloat(a->times->coverage[0], ==, 1);
    g_assert_cmpstr(a->times->methods[0], ==, "annotation");
}

static int64_t row_of(const mill_table *table, const char *column, const char *value,
                      const char *second, const char *second_value) {
    for (int64_t row = 0; row < (int64_t)table->rows; row++)
        if (g_str_equal(look_cell(table, row, column).text, value) &&
            (!second || g_str_equal(look_cell(table, row, second).text, second_value)))
            return row;
    g_error("table %s has no row %s", table->id, value);
}

static void check_parts(const analysed *a, const cJSON *right) {
    const mill_table *parts = look_table(a->report, "parts");
    int64_t f = row_of(parts, "chunk", "F", NULL, NULL);
    int64_t b = row_of(parts, "chunk", "Bi", NULL, NULL);
    g_assert_cmpint(look_cell(parts, f, "comp").i, ==, ns(right, "F_comp"));
    g_assert_cmpint(look_cell(parts, f, "transfer").i, ==, ns(right, "F_comm_transfer"));
    g_assert_cmpint(look_cell(parts, f, "comm").i, ==, ns(right, "F_comm_all"));
    g_assert_cmpint(look_cell(parts, b, "comp").i, ==, ns(right, "Bin_comp"));
    g_assert_cmpint(look_cell(parts, b, "transfer").i, ==, ns(right, "B_comm_transfer"));
    g_assert_cmpint(look_cell(parts, b, "comm").i, ==, ns(right, "B_comm_all"));
    g_assert_cmpint(look_int(a->report, "pair_bound", NULL), ==,
                    ns(right, "F&B_ideal_max_comp_comm"));
    static const char *const over_serial[] = {NULL, "F&B_over_F_plus_B_transfer",
                                              "F&B_over_F_plus_B_all"};
    const mill_table *durations = look_table(a->report, "durations");
    for (int basis = 1; basis < MILL_BASES; basis++) {
        int64_t row = row_of(durations, "basis", bases[basis], NULL, NULL);
        g_assert_cmpfloat_with_epsilon(look_cell(durations, row, "pair_over_serial").d,
                                       data_field(right, over_serial[basis])->valuedouble, 5e-7);
    }
}

/* The stages' computation by layer adds up to the layer's. */
static void check_layers(const analysed *a, const cJSON *stages) {
    static const struct {
        const char *chunk, *stages[4];
    } chunks[] = {{"F", {"attn(F)", "mlp(F)", "dispatch(F)", "combine(F)"}},
                  {"Bi", {"attn(B)", "mlp(B)", "dispatch(B)", "combine(B)"}},
                  {"W", {"attn(W)", "mlp(W)"}}};
    const mill_table *t = look_table(a->report, "layers");
    g_assert_cmpuint(t->rows, ==, 4 * G_N_ELEMENTS(chunks));
    for (int64_t row = 0; row < (int64_t)t->rows; row++) {
        size_t c = (size_t)row % G_N_ELEMENTS(chunks);
        int64_t comp = 0, comm = 0;
        for (size_t s = 0; s < 4 && chunks[c].stages[s]; s++) {
            g_autofree char *key = g_strdup_printf(
                "%" G_GINT64_FORMAT ":%s", look_cell(t, row, "layer").i, chunks[c].stages[s]);
            comp += ns(data_field(stages, key), "comp_busy");
            comm += ns(data_field(stages, key), "comm_busy");
        }
        g_assert_cmpstr(look_cell(t, row, "chunk").text, ==, chunks[c].chunk);
        g_assert_cmpint(look_cell(t, row, "comp").i, ==, comp);
        g_assert_cmpint(look_cell(t, row, "comm").i, ==, comm);
    }
}

static void check_share(double ours, const cJSON *right) {
    g_assert_cmpint(isnan(ours), ==, cJSON_IsNull(right));
    if (!isnan(ours))
        g_assert_cmpfloat_with_epsilon(ours, right->valuedouble, 5e-7);
}

static void check_bubbles(const mill_report *report, const char *basis, const cJSON *right) {
    static const struct {
        const char *name, *column;
    } schedules[] = {{"1F1B", "1f1b"}, {"ZB1P", "zb1p"}, {"DualPipe", "dualpipe"}};
    const mill_table *bubbles = look_table(report, "bubbles");
    const mill_table *shares = look_table(report, "bubble_shares");
    const cJSON *all = data_field(right, "fraction_by_microbatches");
    int checked = 0;
    for (size_t s = 0; s < G_N_ELEMENTS(schedules); s++) {
        int64_t row = row_of(bubbles, "basis", basis, "schedule", schedules[s].name);
        g_assert_cmpint(look_cell(bubbles, row, "bubble").i, ==, ns(right, schedules[s].name));
    }
    for (int64_t row = 0; row < (int64_t)shares->rows; row++) {
        if (!g_str_equal(look_cell(shares, row, "basis").text, basis))
            continue;
        g_autofree char *m = g_strdup_printf("%" G_GINT64_FORMAT, look_cell(shares, row, "m").i);
        const cJSON *share = data_field(all, m);
        for (size_t s = 0; s < G_N_ELEMENTS(schedules); s++)
            check_share(look_cell(shares, row, schedules[s].column).d,
                        data_field(share, schedules[s].name));
        checked++;
    }
    g_assert_cmpint(checked, ==, cJSON_GetArraySize(all));
}

static void test_train(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    cJSON *right = data_json(folder, "oracle/overlap/train_expected.json");
    analysed a;
    analysed_init(&a, folder, "deepseek-train.json.gz");
    check_costs(&a, data_field(right, "FBW"));
    check_parts(&a, data_field(right, "FBW"));
    check_layers(&a, data_field(right, "stages"));
    for (int basis = 0; basis < MILL_BASES; basis++)
        check_bubbles(a.report, bases[basis],
                      data_field(data_field(right, "bubble"), bases[basis]));
    const mill_table *shares = look_table(a.report, "bubble_shares");
    g_assert_cmpint(look_cell(shares, 0, "m").i, ==, 20);
    g_assert_nonnull(strstr(look_cell(shares, 0, "remark").text, "nearest m is 32"));
    analysed_finish(&a);
    cJSON_Delete(right);
}

/* Whatever a profile holds, durations fit together, or are unknown. */
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
        analysed a;
        analysed_init(&a, folder, name);
        g_assert_true((a.times->n == 0) == (look_note(a.report, "no_chunks") != NULL));
        for (uint64_t i = 0; i < a.times->n * MILL_BASES; i++) {
            const mill_chunk_cost *c = &a.times->costs[i];
            if (c->weight != MILL_UNKNOWN && c->input != MILL_UNKNOWN)
                g_assert_cmpint(c->input + c->weight, ==, c->backward);
            g_assert_true(c->forward >= 0 || c->forward == MILL_UNKNOWN);
            if (i % MILL_BASES > 0)
                g_assert_cmpint(c->forward, >=, a.times->costs[i - 1].forward);
        }
        analysed_finish(&a);
        n++;
    }
    g_assert_cmpint(n, >, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/chunks/data/train", test_train);
    g_test_add_func("/chunks/data/real", test_real);
    return g_test_run();
}
