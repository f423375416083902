/* SPDX-License-Identifier: Apache-2.0 */
/* Plans to files and back, by the stages of the module. */
#include "exchange.h"

#include <glib/gstdio.h>

const mill_module *exchange_module(void) {
    static const mill_module *module;
    if (!module)
        module = bench_open("plugins/planners/plans/plans.so");
    return module;
}

static char *folder;

const char *exchange_folder(void) {
    if (!folder)
        folder = g_dir_make_tmp("plans-XXXXXX", NULL);
    g_assert_nonnull(folder);
    return folder;
}

void exchange_remove_folder(void) {
    GDir *dir = g_dir_open(exchange_folder(), 0, NULL);
    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir)) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_assert_cmpint(g_unlink(path), ==, 0);
    }
    g_dir_close(dir);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    g_clear_pointer(&folder, g_free);
}

char *exchange_put(const char *name, const void *bytes, size_t length) {
    char *path = g_build_filename(exchange_folder(), name, NULL);
    g_assert_true(g_file_set_contents(path, bytes, (gssize)length, NULL));
    return path;
}

bench *exchange_write(const mill_expert_plan *plan, const char *const *settings) {
    bench *b = bench_create(exchange_module(), "plan.write");
    for (; *settings; settings++)
        bench_option(b, *settings);
    bench_input(b, "plan", MILL_TYPE_EXPERT_PLAN, plan, "eplb", "");
    return b;
}

bench *exchange_read(const char *path, const char *const *settings, mill_status *ret_status) {
    bench *b = bench_create(exchange_module(), "plan.read");
    g_autofree char *setting = g_strdup_printf("path=%s", path);
    bench_option(b, setting);
    for (; *settings; settings++)
        bench_option(b, *settings);
    *ret_status = bench_run(b);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return b;
}

const mill_expert_plan *exchange_plan(const bench *b) {
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpuint(bench_output_count(b, "plan"), ==, 1);
    return bench_output(b, "plan", 0);
}

#define ASSERT_SAME(a, b, n)                                                                       \
    do {                                                                                           \
        g_assert_true((a) != NULL);                                                                \
        g_assert_true((b) != NULL);                                                                \
        g_assert_cmpmem((a), (n) * sizeof *(a), (b), (n) * sizeof *(b));                           \
    } while (0)

void exchange_assert_same(const mill_expert_plan *a, const mill_expert_plan *b) {
    g_assert_cmpuint(a->layers, ==, b->layers);
    g_assert_cmpuint(a->experts, ==, b->experts);
    g_assert_cmpuint(a->slots, ==, b->slots);
    g_assert_cmpuint(a->gpus, ==, b->gpus);
    g_assert_cmpuint(a->nodes, ==, b->nodes);
    g_assert_cmpuint(a->groups, ==, b->groups);
    ASSERT_SAME(a->first, b->first, a->gpus + 1);
    ASSERT_SAME(a->expert, b->expert, (size_t)a->layers * a->slots);
    ASSERT_SAME(a->rank, b->rank, (size_t)a->layers * a->slots);
    ASSERT_SAME(a->replicas, b->replicas, (size_t)a->layers * a->experts);
    if (a->node || b->node)
        ASSERT_SAME(a->node, b->node, a->gpus);
    if (a->layer || b->layer)
        ASSERT_SAME(a->layer, b->layer, a->layers);
}
