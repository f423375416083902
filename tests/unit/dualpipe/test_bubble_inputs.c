/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `bubble`: durations that were measured or stand in a table, a step as it ran, and
 * a schedule of one's own. */
#include "bubble_run.h"
#include "look.h"

#include <glib/gstdio.h>
#include <string.h>
#include <tracemill/schedule.h>

/* ---------------------------------------------------------------- measured durations */

/* Each basis has its own results, and only the main tables are on the usual one. */
static void test_band(void) {
    static const mill_chunk_cost costs[] = {COST(1, 1, 1, 3), COST(2, 2, 1, 3), COST(3, 3, 1, 3)};
    const mill_chunk_times times = times_of(costs, 1);
    bench *b = bubble_begin(SETTINGS("pp=4", "m=8,12"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    const mill_report *r = bubble_run(b);
    g_assert_cmpstr(r->subject, ==, "rank 0 of x.json");
    g_assert_cmpint(cell(r, "schedules", "1F1B", "makespan").i, ==, 11 * 5 * MS);
    const mill_table *steps = look_table(r, "steps");
    int64_t row = row_from(steps, 0, "schedule", "1F1B");
    row = row_from(steps, row + 1, "schedule", "1F1B");
    g_assert_cmpint(look_cell(steps, row, "m").i, ==, 12);
    g_assert_cmpint(look_cell(steps, row, "makespan_compute_only").i, ==, 15 * 3 * MS);
    g_assert_cmpint(look_cell(steps, row, "makespan_serial_transfer").i, ==, 15 * 5 * MS);
    g_assert_cmpint(look_cell(steps, row, "makespan_serial_all").i, ==, 15 * 7 * MS);
    /* Computation takes 3 ms a pair, the transfers 2 ms: hidden, 3 ms are left. */
    g_assert_cmpint(changed(r, "F&B hides transfers", "makespan").i, ==,
                    changed(r, "as it is", "makespan").i);
    bench_destroy(b);
}

/* Only the schedules that are compared have their steps on each basis. */
static void test_compare(void) {
    static const mill_chunk_cost costs[] = {COST(1, 1, 1, 3), COST(2, 2, 1, 3), COST(3, 3, 1, 3)};
    static const struct {
        const char *compare;
        uint64_t steps, bubbles;
    } right[] = {{"compare=", 2, 5}, {"compare=gpipe", 4, 7}, {"compare=all", 6, 9}};
    const mill_chunk_times times = times_of(costs, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        bench *b = bubble_begin(
            SETTINGS("pp=4", "m=8,12", "schedules=gpipe,1f1b,zb-h1", right[i].compare));
        bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
        const mill_report *r = bubble_run(b);
        g_assert_cmpuint(look_table(r, "steps")->rows, ==, right[i].steps);
        g_assert_cmpuint(look_table(r, "bubbles")->rows, ==, right[i].bubbles);
        g_assert_cmpint(row_from(look_table(r, "steps"), 0, "schedule", "ZB-H1"), >=, 0);
        bench_destroy(b);
    }
}

/* Options replace what was measured, on all bases; B stays the sum of Bi and W. */
static void test_replaced(void) {
    static const mill_chunk_cost costs[] = {NO_WEIGHT(1, 3), NO_WEIGHT(2, 4), NO_WEIGHT(2, 5)};
    const mill_chunk_times times = times_of(costs, 1);
    bench *b = bubble_begin(SETTINGS("pp=4", "m=8", "weight=1ms", "pair=5ms", "forward=3ms"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    const mill_table *durations = look_table(bubble_run(b), "durations");
    for (int64_t basis = 0; basis < MILL_BASES; basis++) {
        g_assert_cmpint(look_cell(durations, basis, "forward").i, ==, 3 * MS);
        g_assert_cmpint(look_cell(durations, basis, "backward").i, ==, costs[basis].backward);
        g_assert_cmpint(look_cell(durations, basis, "input").i, ==, costs[basis].backward - MS);
        g_assert_cmpint(look_cell(durations, basis, "weight").i, ==, MS);
        g_assert_cmpint(look_cell(durations, basis, "pair").i, ==, 5 * MS);
    }
    bench_destroy(b);
    b = bubble_begin(SETTINGS("weight=6ms"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    g_assert_nonnull(strstr(bench_causes(b), "measured"));
    bench_destroy(b);
}

/* Two stages, the second twice as slow. 1F1B with m = 2, by hand: rank 0 F 0-1, 1-2, waits for
 * B of rank 1 (F 1-3, B 3-7), B 7-9; rank 1 F 7-9, B 9-13; rank 0 B 13-15. */
static void test_uneven(void) {
    mill_chunk_cost costs[2 * MILL_BASES];
    for (int basis = 0; basis < MILL_BASES; basis++) {
        costs[basis] = (mill_chunk_cost)COST(1, 1, 1, 3);
        costs[MILL_BASES + basis] = (mill_chunk_cost)COST(2, 2, 2, 6);
    }
    const mill_chunk_times times = times_of(costs, 2);
    bench *b = bubble_begin(SETTINGS("m=2", "schedules=1f1b"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    const mill_report *r = bubble_run(b);
    g_assert_cmpint(look_int(r, "pp", NULL), ==, 2);
    g_assert_cmpint(cell(r, "schedules", "1F1B", "makespan").i, ==, 15 * MS);
    g_assert_cmpint(cell(r, "schedules", "1F1B", "idle_min").i, ==, 3 * MS);
    g_assert_cmpint(cell(r, "schedules", "1F1B", "idle_max").i, ==, 9 * MS);
    /* Alike ranks: F 1.5, B 3, so (m + 1) 4.5. */
    g_assert_cmpint(changed(r, "all ranks alike", "makespan").i, ==, 27 * MS / 2);
    g_assert_cmpint((int64_t)look_table(r, "stages")->rows, ==, 2);
    g_assert_cmpint((int64_t)look_table(r, "stage_slopes")->rows, >=, 2);
    bench_destroy(b);
    b = bubble_begin(SETTINGS("pp=3"));
    bench_input(b, "times", MILL_TYPE_CHUNK_TIMES, &times, "chunks", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    g_assert_nonnull(strstr(bench_causes(b), "2 stages"));
    bench_destroy(b);
}

/* With 2 chunks a rank the model has 4 stages: the first two lie in the first row, the others in
 * the second. So each rank has one fast chunk and one slow one, and all are equally busy. */
static void test_uneven_chunks(void) {
    g_autofree char *folder = g_dir_make_tmp("tracemill-bubble-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "table.csv", NULL);
    g_autofree char *setting = g_strdup_printf("table=%s", path);
    g_assert_true(g_file_set_contents(path,
                                      "\xef\xbb\xbf# two stages\r\n"
                                      "forward_us, stage ,input_ms,weight_s,pair_ns\r\n\r\n"
                                      "4000,1,4,0.004,12000000\r\n"
                                      "2000.5,0,2,0.002,\r\n",
                                      -1, NULL));
    bench *b = bubble_begin(SETTINGS(setting, "m=4", "detail=interleaved"));
    const mill_report *r = bubble_run(b);
    const mill_table *stages = look_table(r, "stages");
    g_assert_cmpint(look_cell(stages, 0, "forward").i, ==, 2000500);
    g_assert_cmpint(look_cell(stages, 0, "backward").i, ==, 4 * MS);
    g_assert_cmpint(look_cell(stages, 0, "pair").i, ==, U);
    g_assert_cmpint(look_cell(stages, 1, "pair").i, ==, 12 * MS);
    int64_t busy = 4 * (2000500 / 2 + 2 * MS + 4 * MS + 2 * MS);
    int64_t makespan = cell(r, "schedules", "Interleaved", "makespan").i;
    g_assert_cmpint(cell(r, "schedules", "Interleaved", "idle_min").i, ==, makespan - busy);
    g_assert_cmpint(cell(r, "schedules", "Interleaved", "idle_max").i, ==, makespan - busy);
    bench_destroy(b);
    g_remove(path);
    g_rmdir(folder);
}

/* ---------------------------------------------------------------- a step as it ran */

/* A measured step tells the sizes, and stands beside the simulated ones. */
static void test_measured(void) {
    static const uint64_t first[] = {0, 3, 5};
    static const uint8_t kinds[] = {MILL_OP_FORWARD, MILL_OP_RECEIVE, MILL_OP_BACKWARD,
                                    MILL_OP_FORWARD, MILL_OP_BACKWARD};
    static const int64_t start[] = {0, 1 * MS, 7 * MS, 2 * MS, 3 * MS};
    static const int64_t end[] = {1 * MS, 7 * MS, 10 * MS, 3 * MS, 6 * MS};
    const mill_schedule step = {
        .size = sizeof step,
        .id = "1f1b",
        .name = "measured",
        .ranks = 2,
        .chunks = 1,
        .stages = 2,
        .micro_batches = 1,
        .transfer_ns = MS / 2,
        .makespan_ns = 10 * MS,
        .n_ops = 5,
        .first = first,
        .ops = {.kind = kinds, .start = start, .end = end},
    };
    bench *b = bubble_begin(SETTINGS("forward=1ms", "backward=3ms", "schedules=1f1b"));
    bench_input(b, "measured", MILL_TYPE_SCHEDULE, &step, "pipeline", "");
    const mill_report *r = bubble_run(b);
    g_assert_cmpint(look_int(r, "pp", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "m", NULL), ==, 1);
    const mill_table *t = look_table(r, "measured");
    g_assert_cmpint((int64_t)t->rows, ==, 2);
    g_assert_cmpstr(look_cell(t, 0, "kind").text, ==, "measured");
    g_assert_cmpint(look_cell(t, 0, "idle_max").i, ==, 6 * MS);
    g_assert_cmpfloat_with_epsilon(look_cell(t, 0, "bubble").d, 12 / 20., 1e-12);
    /* Transfers take as long as measured, but where the option tells it. */
    g_assert_cmpint(look_cell(t, 1, "makespan").i, ==, 9 * MS);
    g_assert_nonnull(strstr(look_note(r, "transfers")->text, "measured"));
    bench_destroy(b);
    b = bubble_begin(SETTINGS("forward=1ms", "backward=3ms", "schedules=1f1b", "latency=0s"));
    bench_input(b, "measured", MILL_TYPE_SCHEDULE, &step, "pipeline", "");
    g_assert_cmpint(look_cell(look_table(bubble_run(b), "measured"), 1, "makespan").i, ==, 8 * MS);
    bench_destroy(b);
}

/* ---------------------------------------------------------------- a schedule of one's own */

static void test_file(void) {
    g_autofree char *folder = g_dir_make_tmp("tracemill-bubble-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "own.csv", NULL);
    g_autofree char *setting = g_strdup_printf("schedule-file=%s", path);
    g_assert_true(g_file_set_contents(path,
                                      "0F0,0F1,0B0,0B1\n"
                                      "1F0,1B0,1F1,1B1\n",
                                      -1, NULL));
    bench *b = bubble_begin(SETTINGS(setting, "forward=1ms", "backward=2ms"));
    const mill_report *r = bubble_run(b);
    g_assert_cmpint(look_int(r, "pp", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "m", NULL), ==, 2);
    g_assert_cmpint(cell(r, "schedules", "schedule-file", "makespan").i, ==,
                    cell(r, "schedules", "1F1B", "makespan").i);
    bench_destroy(b);
    b = bubble_begin(SETTINGS(setting, "forward=1ms", "backward=2ms", "m=4"));
    g_assert_cmpstr(cell(bubble_run(b), "left_out", "schedule-file", "nearest").text, ==, "m = 2");
    bench_destroy(b);
    g_remove(path);
    g_rmdir(folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bubble-inputs/band", test_band);
    g_test_add_func("/bubble-inputs/compare", test_compare);
    g_test_add_func("/bubble-inputs/replaced", test_replaced);
    g_test_add_func("/bubble-inputs/uneven", test_uneven);
    g_test_add_func("/bubble-inputs/uneven-chunks", test_uneven_chunks);
    g_test_add_func("/bubble-inputs/measured", test_measured);
    g_test_add_func("/bubble-inputs/file", test_file);
    return g_test_run();
}
