/* SPDX-License-Identifier: Apache-2.0 */
/* The services that stages call, as their contract in tracemill.h has it. */
#include <string.h>

#include "flow.h"
#include "rig.h"

#define PARALLEL(...) "[w]\nuse = works.parallel\n" __VA_ARGS__ "\n"
#define RULES "[first]\na = 1\n    2\n[second]\nb = ${x}\n"

static flow_watch *seen;

static void test_services(void) {
    rig_clean();
    rig_file("rules.txt", RULES);
    rig_prints("[w]\nuse = works.services\npath = x\n", 0, "");
}

static void test_bad_pattern(void) {
    rig_clean();
    rig_fails("[w]\nuse = works.services\npath = x\npattern = (a\n", MILL_E_CONFIG,
              "\"(a\" is no regular expression: ");
}

static void test_absent(void) {
    rig_clean();
    rig_file("stops.txt", "[a]\nb = stop\nc = 1\n");
    rig_fails("[w]\nuse = works.absent\npath = none\n", MILL_E_NOINPUT, "none");
    rig_fails("[w]\nuse = works.absent\npath = .\n", MILL_E_IO, ".");
    rig_fails("[w]\nuse = works.absent\nonly = ini\npath = none.ini\n", MILL_E_NOINPUT,
              "E_NOINPUT: cannot read none.ini: No such file or directory");
    rig_fails("[w]\nuse = works.absent\nonly = ini\npath = stops.txt\n", MILL_E_DATA,
              ": told to stop");
}

static void test_parallel(void) {
    rig_clean();
    for (unsigned jobs = 1; jobs <= 8; jobs *= 2) {
        g_auto(rig_result) r = rig_run(PARALLEL(), jobs);
        g_assert_cmpstr(r.printed, ==,
                        jobs > 1 ? "4950 by several: yes\n" : "4950 by several: no\n");
    }
    rig_prints(PARALLEL("pieces = 0"), 0, "0 by several: no\n");
    rig_prints(PARALLEL("pieces = 1"), 0, "0 by several: no\n");
}

static void test_parallel_nested(void) {
    rig_clean();
    for (unsigned jobs = 1; jobs <= 8; jobs++) {
        g_auto(rig_result) r = rig_run(PARALLEL("nested = yes\npieces = 30"), jobs);
        g_assert_cmpint(r.exit_code, ==, 0);
        g_assert_true(g_str_has_prefix(r.printed, "735 by")); /* 435 + 30 * 10 */
    }
}

/* Several stages at a time share the threads. */
static void test_parallel_shared(void) {
    rig_clean();
    rig_files("r%d", 1, 6);
    g_auto(rig_result) r = rig_run("[r]\nuse = flow.read\npath = r*\n"
                                   "[w]\nuse = works.parallel\nin = r\npieces = 20\nnested = yes\n"
                                   "[x]\nuse = works.parallel\nin = r\npieces = 20\n",
                                   4);
    g_assert_cmpstr(r.failures, ==, "");
    g_assert_cmpstr(r.counts, ==, "r 6/0/0 w 6/0/0 x 6/0/0 ");
}

/* Of the lowest piece that failed, though it was the last to do so; and only its causes. */
static void test_parallel_fails(void) {
    rig_clean();
    for (unsigned jobs = 1; jobs <= 8; jobs++) {
        g_auto(rig_result) r = rig_run(PARALLEL("fail = 5, 3, 4\nlate = 3\npieces = 50"), jobs);
        g_assert_cmpint(r.exit_code, ==, 65);
        g_assert_cmpstr(r.failures, ==,
                        "[w]  E_DATA: in parallel\n  caused by: piece 3 was told to fail\n");
    }
}

/* Held items outlive their run, and their cell. */
static void test_hold(void) {
    rig_clean();
    rig_files("r%d", 1, 9);
    *seen = (flow_watch){.seed = seen->seed};
    rig_prints("[r]\nuse = flow.read\npath = r*\n[w]\nuse = works.hold\nin = r\n", 0, "123456789");
    if (rig_isolates()) /* what is counted is in other processes */
        return;
    g_assert_cmpint(seen->most_live, ==, 9);
    *seen = (flow_watch){.seed = seen->seed};
    g_auto(rig_result) r =
        rig_run("[r]\nuse = flow.read\npath = r*\n[w]\nuse = works.hold\nin = r\ndeaf = yes\n", 1);
    g_assert_cmpstr(r.printed, ==, "9");
    g_assert_cmpint(seen->most_live, ==, 2);
    g_assert_cmpint(seen->live, ==, 0);
}

int main(int argc, char **argv) {
    rig_init(&argc, &argv);
    seen = rig_symbol("flow", "flow_seen");
    g_test_add_func("/services/all", test_services);
    g_test_add_func("/services/bad-pattern", test_bad_pattern);
    g_test_add_func("/services/absent", test_absent);
    g_test_add_func("/services/hold", test_hold);
    g_test_add_func("/parallel/sum", test_parallel);
    g_test_add_func("/parallel/nested", test_parallel_nested);
    g_test_add_func("/parallel/shared", test_parallel_shared);
    g_test_add_func("/parallel/fails", test_parallel_fails);
    return rig_finish();
}
