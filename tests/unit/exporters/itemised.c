/* SPDX-License-Identifier: Apache-2.0 */
/* A run in which ${item} gives each key a file of its own: see itemised.h. */
#include "itemised.h"
#include "samples.h"

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

bench *itemised_run(const char *module_path, const char *const *keys) {
    return itemised_run_missing(module_path, keys, NULL);
}

bench *itemised_run_missing(const char *module_path, const char *const *keys, const char *missing) {
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
    if (missing)
        bench_missing(b, "report", "bubble", missing);
    g_assert_cmpint(bench_end(b), ==, MILL_OK);
    g_assert_null(bench_written(b, "${item}.out"));
    return b;
}
