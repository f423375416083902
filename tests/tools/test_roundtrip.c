/* SPDX-License-Identifier: Apache-2.0 */
/* Generated traces of many shapes through kineto.read, overlap and json.write: what comes out
 * equals what kineto-gen expects, to the nanosecond. */
#include "bench_host.h"

#include <cjson/cJSON.h>
#include <glib/gstdio.h>
#include <string.h>

static const char *program;

static const cJSON *member(const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!value)
        g_error("there is no \"%s\"", key);
    return value;
}

static int64_t integer(const cJSON *object, const char *key) {
    return (int64_t)member(object, key)->valuedouble;
}

/* The element of an array whose members `key` and `other_key` have these texts. A scope that is
 * NULL is null. */
static const cJSON *find(const cJSON *array, const char *key, const char *text,
                         const char *other_key, const char *other_text) {
    const cJSON *element;
    cJSON_ArrayForEach(element, array) {
        if (strcmp(member(element, key)->valuestring, text) == 0 &&
            (!other_key ||
             g_strcmp0(cJSON_GetStringValue(member(element, other_key)), other_text) == 0))
            return element;
    }
    g_error("there is no %s \"%s\" of %s", key, text, other_text ? other_text : "the report");
}

/* ---------------------------------------------------------------- the stages */

static bench *stage_bench(const char *module, const char *stage) {
    return bench_create(bench_open(module), stage);
}

static void run(bench *b) {
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
}

/* The report on a trace, as json.write writes it. */
static cJSON *report_of(const char *trace) {
    bench *reader = stage_bench("plugins/readers/kineto/kineto.so", "kineto.read");
    bench *overlap = stage_bench("plugins/analyzers/overlap/overlap.so", "overlap");
    bench *writer = stage_bench("plugins/exporters/json/json.so", "json.write");
    g_autofree char *path = g_strconcat("path=", trace, NULL);
    g_autofree char *rules =
        g_strdup_printf("kernel-rules=%s/etc/rules/kernels.ini", g_getenv("TRACEMILL_TEST_SOURCE"));
    bench_option(reader, path);
    bench_option(reader, rules);
    run(reader);
    bench_option(overlap, "top=1000");
    bench_input(overlap, "trace", "mill.trace/1", bench_output(reader, "trace", 0), "trace", "");
    run(overlap);
    bench_input(writer, "report", MILL_TYPE_REPORT, bench_output(overlap, "report", 0), "overlap",
                "");
    run(writer);
    const GString *text = bench_written(writer, "-");
    cJSON *document = cJSON_ParseWithLength(text->str, text->len);
    g_assert_nonnull(document);
    bench_destroy(writer);
    bench_destroy(overlap);
    bench_destroy(reader);
    return document;
}

/* ---------------------------------------------------------------- comparison */

static void check_figures(const cJSON *report, const cJSON *expect, const char *scope) {
    static const char *const names[][2] = {{"activities", "activities"},
                                           {"streams", "streams"},
                                           {"T", "span_ns"},
                                           {"busy", "busy_ns"},
                                           {"idle", "idle_ns"},
                                           {"comp", "computation_ns"},
                                           {"comm", "communication_ns"},
                                           {"mem", "memory_ns"},
                                           {"overlap", "overlap_ns"},
                                           {"exposed_comm", "exposed_communication_ns"}};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const cJSON *figure = find(member(report, "figures"), "id", names[i][0], "scope", scope);
        g_assert_cmpint(integer(figure, "value"), ==, integer(expect, names[i][1]));
    }
    const cJSON *ratio = find(member(report, "figures"), "id", "overlap_over_comm", "scope", scope);
    g_assert_cmpfloat_with_epsilon(member(ratio, "value")->valuedouble,
                                   member(expect, "overlap_over_communication")->valuedouble, 5e-7);
}

static int column_of(const cJSON *table, const char *id) {
    const cJSON *column;
    int i = 0;
    cJSON_ArrayForEach(column, member(table, "columns")) {
        if (strcmp(member(column, "id")->valuestring, id) == 0)
            return i;
        i++;
    }
    g_error("table has no column \"%s\"", id);
}

static void check_kinds(const cJSON *report, const cJSON *expect, int device) {
    const cJSON *table = find(member(report, "tables"), "id", "kinds", NULL, NULL), *row;
    int at_device = column_of(table, "device"), at_kind = column_of(table, "kind");
    int n = 0;
    cJSON_ArrayForEach(row, member(table, "rows")) {
        if (cJSON_GetArrayItem(row, at_device)->valueint != device)
            continue;
        const cJSON *right = member(member(expect, "communication_kinds"),
                                    cJSON_GetArrayItem(row, at_kind)->valuestring);
        g_assert_cmpint((int64_t)cJSON_GetArrayItem(row, column_of(table, "n"))->valuedouble, ==,
                        integer(right, "count"));
        g_assert_cmpint((int64_t)cJSON_GetArrayItem(row, column_of(table, "sum"))->valuedouble, ==,
                        integer(right, "sum_ns"));
        n++;
    }
    g_assert_cmpint(n, ==, cJSON_GetArraySize(member(expect, "communication_kinds")));
}

static void check_shape(const char *options, const char *name) {
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("kineto-gen-XXXXXX", &error), *text = NULL;
    g_autofree char *trace = g_build_filename(folder, name, NULL);
    g_autofree char *right = g_build_filename(folder, "expect.json", NULL);
    g_autofree char *line =
        g_strdup_printf("'%s' %s -o '%s' --expect '%s'", program, options, trace, right);
    int status;
    g_assert_true(g_spawn_command_line_sync(line, NULL, NULL, &status, &error));
    g_assert_cmpint(status, ==, 0);
    g_assert_true(g_file_get_contents(right, &text, NULL, &error));

    cJSON *expect = cJSON_Parse(text), *document = report_of(trace);
    const cJSON *report = cJSON_GetArrayItem(member(document, "reports"), 0), *device;
    int n = cJSON_GetArraySize(member(expect, "devices"));
    cJSON_ArrayForEach(device, member(expect, "devices")) {
        g_autofree char *scope = g_strdup_printf("device %s", device->string);
        check_figures(report, device, n > 1 ? scope : NULL);
        check_kinds(report, device, (int)g_ascii_strtoll(device->string, NULL, 10));
    }
    cJSON_Delete(document);
    cJSON_Delete(expect);
    g_remove(trace);
    g_remove(right);
    g_rmdir(folder);
}

static void test_shapes(void) {
    check_shape("--seed 1", "trace.json");
    check_shape("--seed 2 --gzip --ts decimal", "trace.json.gz");
    check_shape("--seed 3 --ts string --form array --style kineto", "trace.json");
    check_shape("--seed 4 --ts decimal --shuffle --steps 6", "trace.json");
    check_shape("--seed 5 --devices 3 --ts decimal", "trace.json");
    check_shape("--seed 6 --streams 1 --style kineto", "trace.json");
    check_shape("--seed 7 --streams 2 --form array", "trace.json");
    check_shape("--seed 8 --streams 16 --devices 2 --ts decimal --shuffle --gzip", "trace.json.gz");
    check_shape("--seed 9 --size 8MiB --shuffle --ts decimal", "trace.json");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_assert_cmpint(argc, ==, 2);
    program = argv[1];
    g_test_add_func("/roundtrip/shapes", test_shapes);
    return g_test_run();
}
