/* SPDX-License-Identifier: Apache-2.0 */
/* A run in which ${item} gives each key a file of its own: see itemised.h. */
#include "itemised.h"
#include "samples.h"

#include <string.h>

/* Gives the options their values, like the host, but for the path: paths and whole numbers are all
 * that the exporters need here. */
static const char **set_options(const mill_stage *stage, char *opts) {
    const char **path = NULL;
    for (const mill_option *o = stage->options; o->name; o++) {
        if (o->type == MILL_OPT_PATH)
            path = (const char **)(void *)(opts + o->offset);
        else if (o->type == MILL_OPT_INT)
            *(int64_t *)(void *)(opts + o->offset) = g_ascii_strtoll(o->def, NULL, 10);
    }
    g_assert_nonnull(path);
    *path = "${item}.out";
    return path;
}

/* Named by the key that misses them. */
static void lose(bench *b) {
    bench_missing(b, "report", "lost-of-a", "a");
    bench_missing(b, "report", "lost-of-a-x", "a:x");
    bench_missing(b, "report", "lost-of-ab", "ab");
    bench_missing(b, "report", "lost-of-b", "b");
    bench_missing(b, "report", "lost-of-all", "");
}

static bench *run(const char *module_path, const char *const *keys, bool some_lost) {
    const mill_module *module = bench_open(module_path);
    const mill_stage *stage = module->stages[0];
    bench *b = bench_create(module, stage->name);
    g_autofree char *opts = g_malloc0(stage->options_size);
    const char **path = set_options(stage, opts);
    bench_options(b, opts);
    g_assert_cmpint(bench_begin(b), ==, MILL_OK);
    for (; *keys; keys++) {
        g_autofree char *own = g_strconcat(*keys, ".out", NULL);
        *path = own;
        bench_clear_inputs(b);
        bench_input(b, "report", MILL_TYPE_REPORT, sample_empty(bench_services(b)), "overlap",
                    *keys);
        g_assert_cmpint(bench_item(b), ==, MILL_OK);
    }
    *path = "${item}.out";
    if (some_lost)
        lose(b);
    g_assert_cmpint(bench_end(b), ==, MILL_OK);
    g_assert_null(bench_written(b, "${item}.out"));
    return b;
}

bench *itemised_run(const char *module_path, const char *const *keys) {
    return run(module_path, keys, false);
}

bench *itemised_lost(const char *module_path) {
    return run(module_path, (const char *[]){"a", "b", NULL}, true);
}

void itemised_check_lost(const char *module_path) {
    bench *b = itemised_lost(module_path);
    const char *of_a = bench_written(b, "a.out")->str, *of_b = bench_written(b, "b.out")->str;
    g_assert_nonnull(strstr(of_a, "lost-of-a "));
    g_assert_nonnull(strstr(of_a, "lost-of-a-x"));
    g_assert_null(strstr(of_a, "lost-of-ab"));
    g_assert_null(strstr(of_a, "lost-of-b"));
    g_assert_nonnull(strstr(of_b, "lost-of-b"));
    g_assert_nonnull(strstr(of_a, "lost-of-all"));
    g_assert_nonnull(strstr(of_b, "lost-of-all"));
    g_assert_null(strstr(of_b, "lost-of-a "));
    bench_destroy(b);
}
