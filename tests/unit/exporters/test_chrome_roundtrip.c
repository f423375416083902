/* SPDX-License-Identifier: Apache-2.0 */
/* What chrome.write writes of a trace is read as the same trace: of the sample, of each case of the
 * reader's tests and, in suite data, of every profile of the data folder. */
#include "bench_host.h"
#include "equal_trace.h"

#include <glib/gstdio.h>
#include <string.h>

#define CHROME "plugins/exporters/chrome/chrome.so"

/* All that a file can give. */
static bench *read_all(const char *path) {
    static const char *const all[] = {"cpu=yes",      "python=yes", "memory=yes",
                                      "counters=yes", "flows=yes",  NULL};
    const char *source = g_getenv("TRACEMILL_TEST_SOURCE");
    static const char *const rules[][2] = {{"kernel-rules", "kernels"},
                                           {"collective-rules", "collectives"},
                                           {"plane-rules", "planes"}};
    bench *b = bench_create(bench_open("plugins/readers/kineto/kineto.so"), "kineto.read");
    g_autofree char *setting = g_strconcat("path=", path, NULL);
    bench_option(b, setting);
    for (size_t i = 0; all[i]; i++)
        bench_option(b, all[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++) {
        g_autofree char *file =
            g_strdup_printf("%s=%s/etc/rules/%s.ini", rules[i][0], source, rules[i][1]);
        bench_option(b, file);
    }
    bench_run(b);
    return b;
}

static char *write_file(const mill_trace *t, const char *gzip) {
    bench *b = bench_create(bench_open(CHROME), "chrome.write");
    bench_option(b, gzip);
    bench_input(b, "trace", MILL_TYPE_TRACE, t, "trace", "");
    if (bench_run(b) != MILL_OK)
        g_error("%s", bench_causes(b));
    const GString *text = bench_written(b, "-");
    char *path = NULL;
    int fd = g_file_open_tmp("chrome-XXXXXX.json", &path, NULL);
    g_assert_cmpint(fd, >=, 0);
    g_assert_true(g_close(fd, NULL));
    g_assert_true(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
    bench_destroy(b);
    return path;
}

static void check(const char *path, const char *gzip) {
    bench *first = read_all(path);
    const mill_trace *t = bench_output(first, "trace", 0);
    if (!t) {
        g_test_skip("this case is no trace");
        bench_destroy(first);
        return;
    }
    g_autofree char *copy = write_file(t, gzip);
    bench *again = read_all(copy);
    if (!bench_output(again, "trace", 0))
        g_error("%s, written again: %s", path, bench_causes(again));
    equal_trace(path, t, bench_output(again, "trace", 0));
    bench_destroy(again);
    bench_destroy(first);
    g_unlink(copy);
}

static void test_file(gconstpointer path) {
    check(path, "gzip=no");
    check(path, "gzip=yes");
}

/* Right values, and a file whose streams are those of several planes: what tells them apart is the
 * process that they were on, which no trace holds. */
static bool is_left_out(const char *name) {
    return !strcmp(name, "sample.expect.json") || !strcmp(name, "planes.json") ||
           !strcmp(name, "011-ts-as-strings-array.json");
}

static void add_folder(const char *folder, const char *group) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; dir && (name = g_dir_read_name(dir)) != NULL;)
        if (g_regex_match_simple("\\.json(\\.gz)?$", name, 0, 0) && !is_left_out(name))
            g_ptr_array_add(names, g_strdup(name));
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *test = g_strdup_printf("/chrome/%s/%s", group, (char *)names->pdata[i]);
        g_test_add_data_func_full(test, g_build_filename(folder, names->pdata[i], NULL), test_file,
                                  g_free);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    const char *source = g_getenv("TRACEMILL_TEST_SOURCE"), *data = g_getenv("TRACEMILL_TEST_DATA");
    g_autofree char *sample = g_build_filename(source, "tests", "data", NULL);
    g_autofree char *cases = g_build_filename(source, "tests", "data", "cases", NULL);
    g_autofree char *real = g_build_filename(data ?: ".", "traces", NULL);
    g_autofree char *made = g_build_filename(data ?: ".", "cases", NULL);
    add_folder(sample, "own");
    add_folder(cases, "cases");
    add_folder(real, "real");
    add_folder(made, "made");
    return g_test_run();
}
