/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of json.write. Golden documents are made anew by
 * `TRACEMILL_GOLDEN=update meson test -C BUILD --suite exporters`; look at each change. */
#include "bench_host.h"
#include "golden.h"
#include "itemised.h"
#include "overwrite.h"
#include "samples.h"

#include <cjson/cJSON.h>
#include <string.h>

#define MODULE "plugins/exporters/json/json.so"

typedef mill_report *(*sample)(mill_run *run);

static const sample samples[] = {sample_overlap, sample_devices, sample_unknown,
                                 sample_hostile, sample_wide,    sample_empty};

static bench *json_bench(const char *setting) {
    bench *b = bench_create(bench_open(MODULE), "json.write");
    if (setting)
        bench_option(b, setting);
    return b;
}

static void add(bench *b, sample make, const char *key) {
    bench_input(b, "report", MILL_TYPE_REPORT, make(bench_services(b)), "overlap", key);
}

/* What was written, parsed: it is one valid document of valid UTF-8 and nothing else. */
static cJSON *parse(const GString *text) {
    const char *end;
    g_assert_nonnull(text);
    g_assert_true(g_utf8_validate_len(text->str, text->len, NULL));
    cJSON *root = cJSON_ParseWithLengthOpts(text->str, text->len + 1, &end, true);
    g_assert_nonnull(root);
    g_assert_true(end == text->str + text->len);
    return root;
}

static cJSON *member(const cJSON *object, const char *key) {
    cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    g_assert_nonnull(value);
    return value;
}

static void test_documents(void) {
    static const char *const names[] = {"json-overlap", "json-devices", "json-unknown",
                                        NULL,           "json-wide",    "json-empty"};
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++) {
        bench *b = json_bench(NULL);
        add(b, samples[i], "rank0");
        g_assert_cmpint(bench_run(b), ==, MILL_OK);
        cJSON *root = parse(bench_written(b, "-"));
        g_assert_cmpstr(member(root, "schema")->valuestring, ==, "tracemill.reports/1");
        g_assert_cmpint(cJSON_GetArraySize(member(root, "reports")), ==, 1);
        cJSON_Delete(root);
        if (names[i]) /* the hostile one is long */
            golden_check(names[i], bench_written(b, "-"));
        bench_destroy(b);
    }
}

/* Hostile text comes out as it went in. */
static void test_text_is_kept(void) {
    bench *b = json_bench(NULL);
    mill_report *in = sample_hostile(bench_services(b));
    bench_input(b, "report", MILL_TYPE_REPORT, in, "overlap", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    cJSON *root = parse(bench_written(b, "-"));
    const cJSON *out = cJSON_GetArrayItem(member(root, "reports"), 0);
    g_assert_cmpstr(member(out, "title")->valuestring, ==, in->title);
    g_assert_cmpstr(member(out, "summary")->valuestring, ==, in->summary);
    const cJSON *table = cJSON_GetArrayItem(member(out, "tables"), 0);
    for (int row = 0; row < 2; row++) {
        const cJSON *cells = cJSON_GetArrayItem(member(table, "rows"), row);
        g_assert_cmpstr(cJSON_GetArrayItem(cells, 0)->valuestring, ==,
                        in->tables[0]->columns[0]->cells[row].text);
    }
    cJSON_Delete(root);
    bench_destroy(b);
}

/* A report that breaks its promise of UTF-8 does not make the document invalid. */
static void test_mends_utf8(void) {
    bench *b = json_bench(NULL);
    mill_report broken = {.size = sizeof broken, .id = "broken", .title = "caf\xe9 \xc3"};
    bench_input(b, "report", MILL_TYPE_REPORT, &broken, "overlap", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    cJSON *root = parse(bench_written(b, "-"));
    const cJSON *out = cJSON_GetArrayItem(member(root, "reports"), 0);
    g_assert_cmpstr(member(out, "title")->valuestring, ==, "caf\uFFFD \uFFFD");
    g_assert_true(cJSON_IsNull(member(out, "subject")));
    cJSON_Delete(root);
    bench_destroy(b);
}

/* indent = no says the same in fewer bytes; lines = yes has a report in each line. */
static void test_layouts(void) {
    bench *pretty = json_bench(NULL), *tight = json_bench("indent=no"),
          *lines = json_bench("lines=yes");
    bench *all[] = {pretty, tight, lines};
    for (size_t k = 0; k < G_N_ELEMENTS(all); k++) {
        for (size_t i = 0; i < G_N_ELEMENTS(samples); i++)
            add(all[k], samples[i], "rank0");
        g_assert_cmpint(bench_run(all[k]), ==, MILL_OK);
    }
    cJSON *a = parse(bench_written(pretty, "-")), *b = parse(bench_written(tight, "-"));
    g_assert_true(cJSON_Compare(a, b, true));
    g_assert_cmpint(cJSON_GetArraySize(member(a, "reports")), ==, G_N_ELEMENTS(samples));
    g_assert_cmpuint(bench_written(tight, "-")->len, <, bench_written(pretty, "-")->len);

    g_auto(GStrv) split = g_strsplit(bench_written(lines, "-")->str, "\n", -1);
    g_assert_cmpuint(g_strv_length(split), ==, G_N_ELEMENTS(samples) + 1);
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++) {
        cJSON *line = cJSON_Parse(split[i]);
        g_assert_cmpstr(member(line, "schema")->valuestring, ==, "tracemill.reports/1");
        cJSON_DeleteItemFromObjectCaseSensitive(line, "schema");
        g_assert_true(cJSON_Compare(line, cJSON_GetArrayItem(member(a, "reports"), (int)i), true));
        cJSON_Delete(line);
    }
    cJSON_Delete(a);
    cJSON_Delete(b);
    for (size_t k = 0; k < G_N_ELEMENTS(all); k++)
        bench_destroy(all[k]);
}

static void test_contrary_options(void) {
    bench *b = json_bench("lines=yes");
    bench_option(b, "indent=yes");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    g_assert_nonnull(strstr(bench_causes(b), "leave one of them out"));
    bench_destroy(b);
}

static void test_missing(void) {
    bench *b = json_bench(NULL);
    bench_missing(b, "report", "overlap", "rank0");
    bench_missing(b, "report", "bubble", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    golden_check("json-missing", bench_written(b, "-"));
    bench_destroy(b);

    b = json_bench("lines=yes");
    bench_missing(b, "report", "overlap", "rank0");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpstr(bench_written(b, "-")->str, ==,
                    "{\"schema\":\"tracemill.reports/1\","
                    "\"missing\":[{\"stage\":\"overlap\",\"key\":\"rank0\"}]}\n");
    bench_destroy(b);
}

static void test_no_items(void) {
    bench *b = json_bench("indent=no");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpstr(bench_written(b, "-")->str, ==,
                    "{\"schema\":\"tracemill.reports/1\",\"reports\":[],\"missing\":[]}\n");
    bench_destroy(b);

    b = json_bench("lines=yes");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpuint(bench_written(b, "-")->len, ==, 0);
    bench_destroy(b);
}

/* Each path is one document, whatever the order in which its reports come. */
static void test_item_paths(void) {
    bench *b = itemised_run(MODULE, (const char *[]){"rank0", "rank1", "rank0", NULL});
    cJSON *two = parse(bench_written(b, "rank0.out")), *one = parse(bench_written(b, "rank1.out"));
    g_assert_cmpint(cJSON_GetArraySize(member(two, "reports")), ==, 2);
    g_assert_cmpint(cJSON_GetArraySize(member(one, "reports")), ==, 1);
    const cJSON *report = cJSON_GetArrayItem(member(one, "reports"), 0);
    g_assert_cmpstr(member(report, "key")->valuestring, ==, "rank1");
    cJSON_Delete(two);
    cJSON_Delete(one);
    bench_destroy(b);
    bench_destroy(itemised_run(MODULE, (const char *[]){NULL}));
    b = itemised_lost(MODULE);
    cJSON *of_a = parse(bench_written(b, "a.out")), *of_b = parse(bench_written(b, "b.out"));
    g_assert_cmpint(cJSON_GetArraySize(member(of_a, "missing")), ==, 3);
    g_assert_cmpint(cJSON_GetArraySize(member(of_b, "missing")), ==, 2);
    cJSON_Delete(of_a);
    cJSON_Delete(of_b);
    bench_destroy(b);
}

static void test_full_disk(void) {
    bench *b = json_bench("path=report.json");
    add(b, sample_hostile, "");
    bench_disk_size(b, 70000);
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    g_assert_null(bench_written(b, "report.json"));
    bench_destroy(b);
}

static void test_overwrite(void) {
    overwrite_check(MODULE, "json.write");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exporters/json/documents", test_documents);
    g_test_add_func("/exporters/json/text-is-kept", test_text_is_kept);
    g_test_add_func("/exporters/json/mends-utf8", test_mends_utf8);
    g_test_add_func("/exporters/json/layouts", test_layouts);
    g_test_add_func("/exporters/json/contrary-options", test_contrary_options);
    g_test_add_func("/exporters/json/missing", test_missing);
    g_test_add_func("/exporters/json/no-items", test_no_items);
    g_test_add_func("/exporters/json/item-paths", test_item_paths);
    g_test_add_func("/exporters/json/full-disk", test_full_disk);
    g_test_add_func("/exporters/json/overwrite", test_overwrite);
    return g_test_run();
}
