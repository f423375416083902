/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine keeps small: items in flight, instances, threads, and the time of large runs. */
#include <string.h>

#include "flow.h"
#include "rig.h"

static flow_watch *seen;

static void set_up(int files) {
    rig_clean();
    rig_files("r%d", 1, files);
    *seen = (flow_watch){.seed = seen->seed};
}

static void check_freed(void) {
    g_assert_cmpint(seen->live, ==, 0);
    g_assert_cmpint(seen->opened, ==, seen->closed);
    g_assert_cmpint(seen->clashes, ==, 0);
}

/* An item is in use until the last stage that takes it has ended. */
static void test_in_flight(void) {
    for (unsigned jobs = 1; jobs <= 8; jobs *= 2) {
        set_up(40);
        g_auto(rig_result) r = rig_run("[r]\nuse = flow.read\npath = r*\nnap = 1ms\n"
                                       "[m]\nuse = flow.map\nin = r\nnap = 2ms\n"
                                       "[j]\nuse = flow.join\nin.a = m\nin.b = r\nnap = 1ms\n"
                                       "[w]\nuse = flow.sink\nin = j\n",
                                       jobs);
        g_assert_cmpint(r.exit_code, ==, 0);
        g_assert_cmpint(seen->most_live, <=, (int)jobs);
        g_assert_cmpint(seen->most_open, <=, (int)jobs);
        g_assert_cmpint(seen->most_running, <=, (int)jobs);
        check_freed();
    }
}

/* A SINGLE reader runs ahead no further than others. */
static void test_in_flight_single(void) {
    set_up(30);
    g_auto(rig_result) r = rig_run("[r]\nuse = flow.read-single\npath = r*\n"
                                   "[m]\nuse = flow.map\nin = r\nnap = 5ms\n"
                                   "[w]\nuse = flow.sink\nin = m\n",
                                   3);
    g_assert_cmpint(r.exit_code, ==, 0);
    g_assert_cmpint(seen->most_live, <=, 3);
    check_freed();
}

/* Two readers that are joined come in together, though one alone could fill the bound. */
static void test_in_flight_joined(void) {
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        set_up(30);
        g_auto(rig_result) r = rig_run("[a]\nuse = flow.read\npath = r*\n"
                                       "[b]\nuse = flow.read\npath = r*\nnap = 1ms\n"
                                       "[j]\nuse = flow.join\nin.a = a\nin.b = b\n"
                                       "[w]\nuse = flow.sink\nin = j\n",
                                       jobs);
        g_assert_cmpint(r.exit_code, ==, 0);
        g_assert_cmpint(seen->most_live, <=, (int)jobs * 2);
        check_freed();
    }
}

/* A stage that needs all items at once gets them, read by all threads. */
static void test_bound_is_soft(void) {
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        set_up(20);
        g_auto(rig_result) r = rig_run("[r]\nuse = flow.read\npath = r*\nnap = 2ms\n"
                                       "[g]\nuse = flow.gather\nin = r\n"
                                       "[w]\nuse = flow.write\nin = g\n",
                                       jobs);
        g_assert_cmpint(r.exit_code, ==, 0);
        g_assert_cmpint(seen->most_live, ==, 20);
        g_assert_cmpint(seen->most_running, <=, (int)jobs); /* how many: up to the machine */
        check_freed();
    }
}

/* One instance serves many items, and no more are made than run at a time. */
static void test_instances(void) {
    set_up(50);
    g_auto(rig_result) r = rig_run("[r]\nuse = flow.read\npath = r*\n"
                                   "[m]\nuse = flow.map\nin = r\nnap = 1ms\n"
                                   "[w]\nuse = flow.sink\nin = m\n",
                                   4);
    g_assert_cmpstr(r.counts, ==, "r 50/0/0 m 50/0/0 w 50/0/0 ");
    g_assert_cmpint(seen->most_open, <=, 4);
    g_assert_cmpint(seen->opened, <=, 4 + 4 + 1);
    g_assert_cmpint(seen->finished, ==, seen->opened);
    check_freed();
}

static void run_large(const char *ini, const char *counts, double limit) {
    g_test_timer_start();
    g_auto(rig_result) r = rig_run(ini, 4);
    double took = g_test_timer_elapsed();
    g_test_message("%s took %.2f s", counts, took);
    g_assert_cmpint(r.exit_code, ==, 0);
    g_assert_cmpstr(r.counts, ==, counts);
    g_assert_cmpfloat(took, <, limit);
    check_freed();
}

static void test_thousand(void) {
    set_up(1000);
    run_large("[r]\nuse = flow.read\npath = r*\n[m]\nuse = flow.map\nin = r\n"
              "[j]\nuse = flow.join\nin.a = m\nin.b = r\n[w]\nuse = flow.sink\nin = j\n",
              "r 1000/0/0 m 1000/0/0 j 1000/0/0 w 1000/0/0 ", 20);
}

/* All of one file, with every list that may be searched for each of them. */
static void test_ten_thousand(void) {
    set_up(1);
    GString *ini = g_string_new("[s]\nuse = flow.split\npath = r1\nsubs =");
    for (int i = 0; i < 10000; i++)
        g_string_append_printf(ini, "\n    %d", i);
    g_string_append(ini, "\n[m]\nuse = flow.map\nin = s\n[j]\nuse = flow.join\nin.a = m\nin.b = s\n"
                         "[g]\nuse = flow.gather\nin = j\n[w]\nuse = flow.sink\nin = j\n"
                         "[x]\nuse = flow.write\nin = j\n");
    run_large(ini->str, "s 1/0/0 m 10000/0/0 j 10000/0/0 g 1/0/0 w 10000/0/0 x 10000/0/0 ", 60);
    g_string_free(ini, TRUE);
}

int main(int argc, char **argv) {
    rig_init(&argc, &argv);
    seen = rig_symbol("flow", "flow_seen");
    g_test_add_func("/bounds/in-flight", test_in_flight);
    g_test_add_func("/bounds/in-flight-single", test_in_flight_single);
    g_test_add_func("/bounds/in-flight-joined", test_in_flight_joined);
    g_test_add_func("/bounds/soft", test_bound_is_soft);
    g_test_add_func("/bounds/instances", test_instances);
    g_test_add_func("/bounds/1000-items", test_thousand);
    g_test_add_func("/bounds/10000-items", test_ten_thousand);
    return rig_finish();
}
