/* SPDX-License-Identifier: Apache-2.0 */
/* loads.read on assignments that torchtitan recorded; right values counted by other means. */
#include "data.h"
#include "files.h"

static double load_of(const mill_expert_load *v, int64_t layer, uint32_t expert) {
    for (uint32_t l = 0; l < v->layers; l++)
        if ((v->layer ? v->layer[l] : l) == layer)
            return mill_expert_load_at(v, 0, l)[expert];
    g_error("there is no layer %" G_GINT64_FORMAT, layer);
}

static void check(const mill_expert_load *v, int64_t first_layer) {
    double total = 0;
    for (size_t i = 0; i < (size_t)v->layers * v->experts; i++)
        total += v->load[i];
    g_assert_cmpuint(v->layers, ==, 26);
    g_assert_cmpuint(v->experts, ==, 54);
    g_assert_cmpfloat(total, ==, 219 * 26);
    g_assert_cmpfloat(load_of(v, first_layer, 8), ==, 10);
    g_assert_cmpfloat(load_of(v, first_layer + 19, 7), ==, 83);
    g_assert_cmpfloat(load_of(v, first_layer + 20, 3), ==, 85);
    g_assert_cmpfloat(load_of(v, first_layer + 25, 9), ==, 16);
}

/* The same tokens as text and as an array. */
static void test_torchtitan(void) {
    if (!data_folder())
        return;
    g_autofree char *csv =
        g_build_filename(data_folder(), "loads/torchtitan-expert_assignments.csv", NULL);
    g_autofree char *npy =
        g_build_filename(data_folder(), "loads/torchtitan-experts_assignments.npy", NULL);
    bench *b = files_good(csv, NULL);
    check(files_loads(b), 1);
    g_assert_cmpint(look_int(files_report(b), "unused", NULL), ==, 659);
    bench_destroy(b);
    b = files_good(npy, (const char *[]){"content=assignments", NULL});
    check(files_loads(b), 0);
    bench_destroy(b);
    b = files_good(npy, NULL);
    g_assert_nonnull(look_note(files_report(b), "maybe_assignments"));
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    files_init();
    g_test_add_func("/loads/data/torchtitan", test_torchtitan);
    int result = g_test_run();
    files_finish();
    return result;
}
