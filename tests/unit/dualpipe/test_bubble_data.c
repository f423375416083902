/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `bubble` on DeepSeek's training profile, against right values that were
 * simulated by other means, and on a pipeline that was measured. */
#include "data.h"
#include "look.h"

#include <string.h>
#include <tracemill/attribution.h>
#include <tracemill/chunk_times.h>
#include <tracemill/schedule.h>

#define SIZES "m=32,40,60,80,100,120"

static const int64_t sizes[] = {32, 40, 60, 80, 100, 120};
static const char *const bases[MILL_BASES] = {"compute_only", "serial_transfer", "serial_all"};

typedef struct simulated {
    bench *reader, *places, *chunks;
    const mill_chunk_times *times;
} simulated;

static bench *run(bench *b) {
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    return b;
}

static void simulated_init(simulated *s, const char *folder) {
    g_autofree char *path = g_build_filename(folder, "traces", "deepseek-train.json.gz", NULL);
    s->reader = data_read(path);
    const mill_trace *trace = bench_output(s->reader, "trace", 0);
    s->places =
        bench_create(bench_open("plugins/analyzers/attribution/attribution.so"), "attribution");
    bench_input(s->places, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    run(s->places);
    s->chunks = bench_create(bench_open("plugins/analyzers/chunks/chunks.so"), "chunks");
    bench_input(s->chunks, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    bench_input(s->chunks, "attribution", MILL_TYPE_ATTRIBUTION,
                bench_output(s->places, "attribution", 0), "attribution", "");
    s->times = bench_output(run(s->chunks), "times", 0);
}

static void simulated_finish(simulated *s) {
    bench_destroy(s->chunks);
    bench_destroy(s->places);
    bench_destroy(s->reader);
}

static bench *bubble(const simulated *s, const char *const *settings) {
    bench *b = bench_create(bench_open("plugins/estimators/dualpipe/dualpipe.so"), "bubble");
    for (; *settings; settings++)
        bench_option(b, *settings);
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, s->times, "chunks", "");
    return run(b);
}

static int64_t row_of(const mill_table *t, int64_t m, const char *schedule) {
    for (int64_t row = 0; row < (int64_t)t->rows; row++)
        if ((m == 0 || look_cell(t, row, "m").i == m) &&
            g_str_equal(look_cell(t, row, "schedule").text, schedule))
            return row;
    g_error("table %s has no %s", t->id, schedule);
}

/* The right values are whole µs, or have one decimal. */
static int64_t us(const cJSON *object, const char *name) {
    return (int64_t)(data_field(object, name)->valuedouble * 1000 + 0.5);
}

static void check_basis(const mill_report *r, int basis, const cJSON *right) {
    g_autofree char *column = g_strdup_printf("makespan_%s", bases[basis]);
    const mill_table *steps = look_table(r, "steps"), *bubbles = look_table(r, "bubbles");
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *m = g_strdup_printf("%" G_GINT64_FORMAT, sizes[i]);
        g_autofree char *id = g_strdup_printf("m%s", m);
        const cJSON *at = data_field(data_field(right, "simulated"), m);
        int64_t makespan = us(at, "makespan");
        g_assert_cmpint(look_cell(steps, row_of(steps, sizes[i], "DualPipe"), column).i, ==,
                        makespan);
        g_assert_cmpint(look_cell(steps, row_of(steps, sizes[i], "1F1B"), column).i, ==,
                        us(at, "time_1F1B"));
        g_assert_cmpint(look_cell(steps, row_of(steps, sizes[i], "ZB-H1"), column).i, ==,
                        us(at, "time_ZB1P"));
        double mean = (double)us(at, "idle_mean") / (double)makespan;
        int64_t row = row_of(bubbles, 0, "DualPipe") + basis;
        g_assert_cmpstr(look_cell(bubbles, row, "basis").text, ==, bases[basis]);
        g_assert_cmpfloat_with_epsilon(look_cell(bubbles, row, id).d, mean, 1e-7);
        const cJSON *shares = cJSON_GetObjectItem(data_field(right, "fraction_by_microbatches"), m);
        if (!shares) /* whole tens only */
            continue;
        row = row_of(bubbles, 0, "1F1B") + basis;
        g_assert_cmpfloat_with_epsilon(look_cell(bubbles, row, id).d,
                                       data_field(shares, "1F1B")->valuedouble, 1e-6);
    }
}

static void check_main(const mill_report *r, const cJSON *right) {
    const cJSON *at = data_field(data_field(right, "simulated"), "32");
    const mill_table *t = look_table(r, "schedules");
    int64_t row = row_of(t, 0, "DualPipe");
    g_assert_cmpint(look_cell(t, row, "makespan").i, ==, us(at, "makespan"));
    g_assert_cmpint(look_cell(t, row, "idle_min").i, ==, us(at, "idle_min"));
    g_assert_cmpint(look_cell(t, row, "idle_max").i, ==, us(at, "idle_max"));
    t = look_table(r, "forms");
    g_assert_cmpint(look_cell(t, row_of(t, 0, "1F1B"), "published").i, ==, us(right, "1F1B"));
    g_assert_cmpint(look_cell(t, row_of(t, 0, "ZB-H1"), "published").i, ==, us(right, "ZB1P"));
    row = row_of(t, 0, "DualPipe");
    g_assert_cmpint(look_cell(t, row, "published").i, ==, us(right, "DualPipe"));
    g_assert_cmpint(look_cell(t, row, "exact").i, ==, us(at, "idle_max"));
    g_assert_cmpint(look_cell(t, row, "exact_makespan").i, ==, us(at, "makespan"));
}

static void test_train(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    simulated s;
    simulated_init(&s, folder);
    cJSON *expected = data_json(folder, "oracle/overlap/train_expected.json");
    const cJSON *right = data_field(expected, "bubble");
    bench *b = bubble(&s, (const char *const[]){"pp=16", SIZES, NULL});
    const mill_report *r = bench_output(b, "report", 0);
    for (int basis = 0; basis < MILL_BASES; basis++)
        check_basis(r, basis, data_field(right, bases[basis]));
    check_main(r, data_field(right, bases[MILL_BASIS_TRANSFER]));
    bench_destroy(b);
    cJSON_Delete(expected);
    simulated_finish(&s);
}

/* The step timeline ST ran 1F1B: with its mean durations, the simulation comes within 0.1 % of the
 * step that was measured. */
static void test_measured(void) {
    const char *folder = data_folder(), module[] = "plugins/analyzers/pipeline/pipeline.so";
    if (!folder)
        return;
    g_autofree char *path =
        g_build_filename(folder, "traces", "bytedance-pipeline-timeline-ST.json.gz", NULL);
    bench *reader = data_read(path);
    bench *operations = bench_create(bench_open(module), "pipeline.operations");
    bench_input(operations, "trace", MILL_TYPE_TRACE, bench_output(reader, "trace", 0), "trace",
                "");
    run(operations);
    bench *pipeline = bench_create(bench_open(module), "pipeline");
    bench_input(pipeline, "in", "tracemill.pipeline/1", bench_output(operations, "operations", 0),
                "operations", "");
    run(pipeline);
    bench *b = bench_create(bench_open("plugins/estimators/dualpipe/dualpipe.so"), "bubble");
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, bench_output(pipeline, "times", 0), "pipeline",
                "");
    bench_input(b, "measured", MILL_TYPE_SCHEDULE, bench_output(pipeline, "schedule", 0),
                "pipeline", "");
    const mill_report *r = bench_output(run(b), "report", 0);
    g_assert_cmpint(look_int(r, "pp", NULL), ==, 4);
    g_assert_cmpint(look_int(r, "m", NULL), ==, 4);
    const mill_table *t = look_table(r, "measured");
    g_assert_cmpstr(look_cell(t, 0, "kind").text, ==, "measured");
    g_assert_cmpstr(look_cell(t, 2, "schedule").text, ==, "1F1B");
    int64_t ran = look_cell(t, 0, "makespan").i, right = look_cell(t, 2, "makespan").i;
    g_assert_cmpint(ABS(ran - right), <, ran / 1000);
    bench_destroy(b);
    bench_destroy(pipeline);
    bench_destroy(operations);
    bench_destroy(reader);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bubble/train", test_train);
    g_test_add_func("/bubble/measured", test_measured);
    return g_test_run();
}
