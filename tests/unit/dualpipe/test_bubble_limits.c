/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `bubble` where it stops: cancelled, too little memory, too long times, sizes that
 * are too large. */
#include "bubble_run.h"
#include "look.h"

#include <string.h>
#include <tracemill/schedule.h>

/* Whenever it is cancelled, with orders that are being built, or run. */
static void test_cancelled(void) {
    for (unsigned at = 1; at < 200; at += 11) {
        bench *b = bubble_begin(SETTINGS("pp=8", "m=16", "forward=2ms", "input=3ms", "weight=1ms",
                                         "pair=5ms", "search=yes"));
        bench_cancel_at(b, at);
        g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
        g_assert_cmpstr(bench_causes(b), ==, "");
        bench_destroy(b);
    }
}

static void test_no_memory(void) {
    bench *b = bubble_begin(SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms",
                                     "activations=1GiB", "memory-limit=1MiB"));
    const mill_report *r = bubble_run(b);
    g_assert_cmpstr(r->summary, ==, "No schedule fits in memory-limit with PP = 4, m = 8.");
    g_assert_nonnull(look_note(r, "none_fits"));
    g_assert_null(look_note(r, "none_runs"));
    bench_destroy(b);
    b = bubble_begin(SETTINGS("pp=4", "m=7", "forward=2ms", "backward=4ms", "schedules=chimera"));
    r = bubble_run(b);
    g_assert_cmpstr(r->summary, ==, "No schedule runs with PP = 4, m = 7.");
    g_assert_nonnull(look_note(r, "none_runs"));
    bench_destroy(b);
}

/* Room for more micro-batches than an int64 of millionths holds. */
static void test_much_memory(void) {
    bench *b = bubble_begin(SETTINGS("pp=4", "m=8", "forward=2ms", "backward=4ms", "activations=1B",
                                     "memory-limit=200000000000000B", "search=yes", "effort=50"));
    const mill_report *r = bubble_run(b);
    g_assert_null(look_note(r, "search_found_nothing"));
    g_assert_cmpint(look_cell(look_table(r, "search"), 0, "makespan").i, <=,
                    look_int(r, "best_makespan", NULL));
    bench_destroy(b);
}

/* Times that do not fit are no standstill. */
static void test_too_long(void) {
    static const char *const comms[] = {"communication=dep", "communication=blocking"};
    for (size_t i = 0; i < G_N_ELEMENTS(comms); i++) {
        bench *b =
            bubble_begin(SETTINGS("pp=16", "m=120", "forward=10us", "input=10us", "weight=10us",
                                  "latency=1000000s", "schedules=zb-h1", comms[i]));
        g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
        g_assert_nonnull(strstr(bench_causes(b), "exceed 2^63 ns"));
        bench_destroy(b);
    }
}

/* Those that take no odd m leave the bound of the others as it is. */
static void test_bound_of_some(void) {
    bench *b = bubble_begin(SETTINGS("pp=3", "m=5", "forward=2ms", "backward=4ms", "search=yes",
                                     "schedules=1f1b,chimera", "effort=50"));
    const mill_table *t = look_table(bubble_run(b), "search");
    g_assert_cmpint(look_cell(t, 0, "bound").i, ==, 42000000); /* (m + PP - 1)(F + B) */
    g_assert_cmpstr(look_cell(t, 0, "proven").text, ==, "yes");
    bench_destroy(b);
}

static void test_large(void) {
    bench *b = bubble_begin(SETTINGS("pp=65536", "m=1", "forward=2ms", "input=2ms", "weight=2ms",
                                     "schedules=v-half,v-min", "most-operations=0"));
    const mill_table *t = look_table(bubble_run(b), "left_out");
    g_assert_cmpint(t->rows, ==, 2);
    g_assert_cmpstr(look_cell(t, 0, "nearest").text, ==, "PP = 4096, m = 1");
    bench_destroy(b);
}

/* There is no share of a step that takes no time. */
static void test_no_time(void) {
    bench *b =
        bubble_begin(SETTINGS("pp=4", "m=8", "forward=0s", "backward=0s", "schedules=gpipe"));
    const mill_report *r = bubble_run(b);
    g_assert_cmpstr(r->summary, ==,
                    "GPipe has the shortest step with PP = 4, m = 8: 0 ms; unknown of it is "
                    "bubble.");
    bench_destroy(b);
}

/* A measured rank whose operations overlap is not busy twice at a time. */
static void test_measured_at_once(void) {
    static const uint64_t first[] = {0, 3};
    static const uint8_t kinds[] = {MILL_OP_FORWARD, MILL_OP_FORWARD, MILL_OP_BACKWARD};
    static const int64_t start[] = {0, 1000, 5000}, end[] = {4000, 3000, 8000};
    const mill_schedule step = {
        .size = sizeof step,
        .id = "measured",
        .name = "measured",
        .ranks = 1,
        .chunks = 1,
        .stages = 1,
        .micro_batches = 2,
        .makespan_ns = 8000,
        .n_ops = 3,
        .first = first,
        .ops = {.kind = kinds, .start = start, .end = end},
    };
    bench *b = bubble_begin(SETTINGS("forward=1us", "backward=3us", "schedules=1f1b"));
    bench_input(b, "measured", MILL_TYPE_SCHEDULE, &step, "pipeline", "");
    const mill_table *t = look_table(bubble_run(b), "measured");
    g_assert_cmpint(look_cell(t, 0, "idle_max").i, ==, 1000);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bubble-limits/cancelled", test_cancelled);
    g_test_add_func("/bubble-limits/no-memory", test_no_memory);
    g_test_add_func("/bubble-limits/much-memory", test_much_memory);
    g_test_add_func("/bubble-limits/too-long", test_too_long);
    g_test_add_func("/bubble-limits/bound-of-some", test_bound_of_some);
    g_test_add_func("/bubble-limits/large", test_large);
    g_test_add_func("/bubble-limits/no-time", test_no_time);
    g_test_add_func("/bubble-limits/measured-at-once", test_measured_at_once);
    return g_test_run();
}
