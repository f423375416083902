/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a plugin written in C++: loaded, filled with options, run. */
#include <bench_host.h>

static const char *path;

static void test_run(void) {
    bench *b = bench_create(bench_open(path), "cxx");
    bench_option(b, "top=7");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_report *report = bench_output(b, "report", 0);
    g_assert_cmpstr(report->title, ==, "From C++");
    g_assert_cmpint(report->figures[0]->value.i, ==, 7 + 1);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    path = argv[1];
    g_test_add_func("/kit/cxx/run", test_run);
    return g_test_run();
}
