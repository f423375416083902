/* SPDX-License-Identifier: Apache-2.0 */
/* Real profiles, and right values computed by other means. */
#include "data.h"

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
