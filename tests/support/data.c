/* SPDX-License-Identifier: Apache-2.0 */
/* Real profiles, and right values computed by other means. */
#include "data.h"

#include <tracemill/attribution.h>

const char *data_folder(void) {
    const char *folder = g_getenv("TRACEMILL_TEST_DATA");
    if (folder && g_file_test(folder, G_FILE_TEST_IS_DIR))
        return folder;
    g_test_skip("skipped: the folder of real profiles is not there (meson option data_dir)");
    return NULL;
}

cJSON *data_json(const char *folder, const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    cJSON *json = cJSON_Parse(text);
    g_assert_nonnull(json);
    return json;
}

const cJSON *data_field(const cJSON *object, const char *name) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!value)
        g_error("the right values have no \"%s\"", name);
    return value;
}

int64_t data_integer(const cJSON *object, const char *name) {
    return (int64_t)data_field(object, name)->valuedouble;
}

bench *data_read(const char *path) {
    g_autofree char *option = g_strdup_printf("path=%s", path);
    g_autofree char *rules =
        g_strdup_printf("kernel-rules=%s/etc/rules/kernels.ini", g_getenv("TRACEMILL_TEST_SOURCE"));
    bench *b = bench_create(bench_open("plugins/readers/kineto/kineto.so"), "kineto.read");
    bench_option(b, option);
    bench_option(b, rules);
    bench_option(b, "planes=off");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    return b;
}

static bench *run_analyzer(const char *module, const char *class, const void *trace,
                           const void *attribution, const char *const *settings) {
    g_autofree char *path = g_strdup_printf("plugins/analyzers/%s/%s.so", module, module);
    bench *b = bench_create(bench_open(path), class);
    for (; settings && *settings; settings++)
        bench_option(b, *settings);
    bench_input(b, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    if (attribution)
        bench_input(b, "attribution", MILL_TYPE_ATTRIBUTION, attribution, "attribution", "");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return b;
}

void data_report_init(data_report *r, const char *path, const char *module, const char *class,
                      const char *const *settings) {
    r->reader = data_read(path);
    const void *trace = bench_output(r->reader, "trace", 0);
    r->attribution = run_analyzer("attribution", "attribution", trace, NULL, NULL);
    r->analyzer = run_analyzer(module, class, trace, bench_output(r->attribution, "attribution", 0),
                               settings);
    r->report = bench_output(r->analyzer, "report", 0);
}

void data_report_finish(data_report *r) {
    bench_destroy(r->analyzer);
    bench_destroy(r->attribution);
    bench_destroy(r->reader);
}
