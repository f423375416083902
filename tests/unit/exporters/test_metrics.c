/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of metrics.write. What it wrote is read by a strict reader of the grammar that OpenMetrics
 * and node_exporter's textfile collector have in common, below. */
#include "bench_host.h"
#include "golden.h"
#include "itemised.h"
#include "overwrite.h"
#include "samples.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/report.h>

#define MODULE "plugins/exporters/metrics/metrics.so"

static bench *metrics_bench(const char *setting) {
    bench *b = bench_create(bench_open(MODULE), "metrics.write");
    if (setting)
        bench_option(b, setting);
    return b;
}

static void add(bench *b, mill_report *report, const char *key) {
    bench_input(b, "report", MILL_TYPE_REPORT, report, "overlap", key);
}

/* ---------------------------------------------------------------- a strict reader */

static char *match(const char *line, const char *pattern, int group) {
    g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_DOLLAR_ENDONLY, 0, NULL);
    g_autoptr(GMatchInfo) info = NULL;
    if (!g_regex_match(regex, line, 0, &info))
        g_error("\"%s\" is not as \"%s\" says", line, pattern);
    return g_match_info_fetch(info, group);
}

#define NAME "([a-zA-Z_:][a-zA-Z0-9_:]*)"
#define LABEL "[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\\\\n]|\\\\[\\\\n\"])*\""
#define SAMPLE "^(" NAME "(?:\\{" LABEL "(?:," LABEL ")*\\})?) (-?[0-9][0-9.e+-]*)$"

/* Every sample of a text, "name{labels}" to its value. Fails unless each family has HELP and TYPE
 * before its samples, once, and ends with its unit. */
static GHashTable *read_samples(const GString *text) {
    g_assert_nonnull(text);
    g_assert_true(g_utf8_validate_len(text->str, text->len, NULL));
    g_assert_true(g_str_has_suffix(text->str, "\n# EOF\n"));
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    GHashTable *samples = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GHashTable) families = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char *family = NULL;
    for (char **line = lines; strcmp(*line, "# EOF") != 0; line++) {
        if (g_str_has_prefix(*line, "# HELP ")) {
            g_free(family);
            family = match(*line, "^# HELP " NAME " (?:[^\\\\\"]|\\\\[\\\\n])+$", 1);
            g_assert_true(g_hash_table_add(families, g_strdup(family)));
            g_autofree char *type = match(*++line, "^# TYPE " NAME " gauge$", 1);
            g_assert_cmpstr(type, ==, family);
        } else if (g_str_has_prefix(*line, "# UNIT ")) {
            g_autofree char *unit = match(*line, "^# UNIT " NAME " ([a-z_]+)$", 2);
            g_assert_true(g_str_has_suffix(family, unit));
        } else {
            g_autofree char *name = match(*line, SAMPLE, 2);
            g_assert_cmpstr(name, ==, family);
            g_assert_true(
                g_hash_table_insert(samples, match(*line, SAMPLE, 1), match(*line, SAMPLE, 3)));
        }
    }
    return samples;
}

static void check_sample(GHashTable *samples, const char *name, const char *value) {
    g_assert_cmpstr(g_hash_table_lookup(samples, name), ==, value);
}

/* ---------------------------------------------------------------- figures */

static void test_files(void) {
    static const struct {
        const char *name;
        mill_report *(*make)(mill_run *run);
    } files[] = {{"metrics-overlap", sample_overlap}, {"metrics-devices", sample_devices}};
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        bench *b = metrics_bench(NULL);
        add(b, files[i].make(bench_services(b)), "rank0");
        g_assert_cmpint(bench_run(b), ==, MILL_OK);
        g_hash_table_unref(read_samples(bench_written(b, "-")));
        golden_check(files[i].name, bench_written(b, "-"));
        bench_destroy(b);
    }
}

/* Base units, exact; and what is not known is no sample, but counted. */
static void test_units(void) {
    static const struct {
        const char *unit;
        double value;
        const char *name, *want;
    } reals[] = {{"GB/s", 1.5, "tracemill_r_x0_bytes_per_second", "1500000000"},
                 {"%", 25, "tracemill_r_x1_ratio", "0.25"},
                 {"µs", 3, "tracemill_r_x2_seconds", "3e-06"},
                 {"tokens", 7, "tracemill_r_x3", "7"},
                 {NULL, 0.1, "tracemill_r_x4", "0.1"}};
    bench *b = metrics_bench(NULL);
    kit_report *r = kit_report_begin(bench_services(b), "r", "R", NULL);
    kit_figure_int(r, MILL_KIND_NS, "t", "t", NULL, NULL, -1500000001);
    kit_figure_int(r, MILL_KIND_NS, "max", "max", NULL, NULL, INT64_MAX);
    kit_figure_int(r, MILL_KIND_BYTES, "sent_bytes", "sent", NULL, NULL, 12);
    kit_figure_int(r, MILL_KIND_COUNT, "n", "n", NULL, NULL, MILL_UNKNOWN);
    kit_figure_share(r, "s", "s", NULL, NULL, NAN);
    kit_figure_real(r, "i", "i", NULL, NULL, "GB/s", INFINITY);
    kit_figure_text(r, "name", "name", NULL, NULL, "H800");
    for (size_t i = 0; i < G_N_ELEMENTS(reals); i++) {
        g_autofree char *id = g_strdup_printf("x%zu", i);
        kit_figure_real(r, id, id, NULL, NULL, reals[i].unit, reals[i].value);
    }
    add(b, kit_report_end(r), "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_autoptr(GHashTable) samples = read_samples(bench_written(b, "-"));
#define LABELS "{report=\"r\",source=\"overlap\"}"
    check_sample(samples, "tracemill_r_t_seconds" LABELS, "-1.500000001");
    check_sample(samples, "tracemill_r_max_seconds" LABELS, "9223372036.854775807");
    check_sample(samples, "tracemill_r_sent_bytes" LABELS, "12");
    for (size_t i = 0; i < G_N_ELEMENTS(reals); i++) {
        g_autofree char *name = g_strconcat(reals[i].name, LABELS, NULL);
        check_sample(samples, name, reals[i].want);
    }
    check_sample(samples, "tracemill_figures_left_out{reason=\"unknown\"}", "3");
    check_sample(samples, "tracemill_figures_left_out{reason=\"text\"}", "1");
    check_sample(samples, "tracemill_figures_left_out{reason=\"repeated\"}", "0");
    check_sample(samples, "tracemill_reports", "1");
    g_assert_cmpuint(g_hash_table_size(samples), ==, 3 + G_N_ELEMENTS(reals) + 5);
    bench_destroy(b);
}

static void test_hostile(void) {
    bench *b = metrics_bench(NULL);
    kit_report *r = kit_report_begin(bench_services(b), "a-b c", "R", NULL);
    kit_figure_int(r, MILL_KIND_COUNT, "9/\n", "a \"label\"\\\n# EOF", "s\"\\\n} 1", "h\xff", 1);
    mill_report *report = kit_report_end(r);
    add(b, report, "k\xff");
    add(b, sample_hostile(bench_services(b)), "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_autoptr(GHashTable) samples = read_samples(bench_written(b, "-"));
    check_sample(samples,
                 "tracemill_a_b_c_9__{report=\"a-b c\",scope=\"s\\\"\\\\\\n} 1\",item=\"k\uFFFD\","
                 "source=\"overlap\"}",
                 "1");
    g_assert_nonnull(strstr(bench_written(b, "-")->str,
                            "# HELP tracemill_a_b_c_9__ a 'label'\\\\\\n# EOF: h\uFFFD\n"));
    bench_destroy(b);
}

/* ---------------------------------------------------------------- files */

/* The samples of a family stand together, whatever came between them. A second report that says the
 * same of the same makes no second sample. */
static void test_many(void) {
    bench *b = metrics_bench("path=m.prom");
    for (int i = 0; i < 200; i++) {
        g_autofree char *key = g_strdup_printf("rank%d", i / 2);
        add(b, i % 2 ? sample_overlap(bench_services(b)) : sample_hostile(bench_services(b)), key);
    }
    add(b, sample_hostile(bench_services(b)), "rank0");
    bench_missing(b, "report", "overlap", "rank100");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_autoptr(GHashTable) samples = read_samples(bench_written(b, "m.prom"));
    check_sample(samples,
                 "tracemill_overlap_exposed_comm_seconds{report=\"overlap\",item=\"rank77\","
                 "source=\"overlap\"}",
                 "0.004190125");
    check_sample(samples, "tracemill_figures_left_out{reason=\"repeated\"}", "1");
    check_sample(samples, "tracemill_reports", "201");
    check_sample(samples, "tracemill_reports_missing", "1");
    bench_destroy(b);
}

static void test_nothing(void) {
    bench *b = metrics_bench(NULL);
    bench_missing(b, "report", "overlap", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_autoptr(GHashTable) samples = read_samples(bench_written(b, "-"));
    check_sample(samples, "tracemill_reports", "0");
    check_sample(samples, "tracemill_reports_missing", "1");
    bench_destroy(b);
}

static void test_item_paths(void) {
    bench *b = itemised_run(MODULE, (const char *[]){"rank0", "rank1", "rank0", NULL});
    g_autoptr(GHashTable) two = read_samples(bench_written(b, "rank0.out"));
    g_autoptr(GHashTable) one = read_samples(bench_written(b, "rank1.out"));
    check_sample(two, "tracemill_reports{item=\"rank0\"}", "2");
    check_sample(one, "tracemill_reports{item=\"rank1\"}", "1");
    check_sample(one, "tracemill_figures_left_out{reason=\"text\",item=\"rank1\"}", "0");
    bench_destroy(b);
    bench_destroy(itemised_run(MODULE, (const char *[]){NULL}));
    b = itemised_lost(MODULE);
    g_autoptr(GHashTable) of_a = read_samples(bench_written(b, "a.out"));
    g_autoptr(GHashTable) of_b = read_samples(bench_written(b, "b.out"));
    check_sample(of_a, "tracemill_reports_missing{item=\"a\"}", "3");
    check_sample(of_b, "tracemill_reports_missing{item=\"b\"}", "2");
    bench_destroy(b);
}

static void test_overwrite(void) {
    overwrite_check(MODULE, "metrics.write");
}

static void test_full_disk(void) {
    bench *b = metrics_bench("path=m.prom");
    bench_disk_size(b, 100);
    add(b, sample_overlap(bench_services(b)), "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    g_assert_null(bench_written(b, "m.prom"));
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exporters/metrics/files", test_files);
    g_test_add_func("/exporters/metrics/units", test_units);
    g_test_add_func("/exporters/metrics/hostile", test_hostile);
    g_test_add_func("/exporters/metrics/many", test_many);
    g_test_add_func("/exporters/metrics/nothing", test_nothing);
    g_test_add_func("/exporters/metrics/item-paths", test_item_paths);
    g_test_add_func("/exporters/metrics/overwrite", test_overwrite);
    g_test_add_func("/exporters/metrics/full-disk", test_full_disk);
    return g_test_run();
}
