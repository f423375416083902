/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule.write. That torch's format is read back as the same schedule is a test of the
 * reader's (tests/unit/dualpipe). */
#include "bench_host.h"
#include "golden.h"
#include "overwrite.h"

#include <string.h>
#include <tracemill/schedule.h>

#define MODULE "plugins/exporters/schedule/schedule.so"
#define NONE MILL_NO_OP

/* Two ranks with two chunks each; operations as they come, four a rank. */
typedef struct sample {
    mill_schedule schedule;
    uint64_t first[3];
    uint8_t kind[8];
    uint32_t chunk[8], stage[8], mb[8], chunk_back[8], stage_back[8], mb_back[8];
    int64_t start[8], end[8];
    const char *label[8];
} sample;

static void put(sample *s, uint8_t kind, uint32_t chunk, uint32_t stage, uint32_t mb) {
    uint64_t i = s->schedule.n_ops++, rank = i / 4;
    s->kind[i] = kind;
    s->chunk[i] = chunk;
    s->stage[i] = stage;
    s->mb[i] = mb;
    s->chunk_back[i] = s->stage_back[i] = s->mb_back[i] = NONE;
    s->start[i] = (int64_t)(10 * i);
    s->end[i] = (int64_t)(10 * i + 7);
    s->first[rank + 1] = i + 1;
}

static sample *sample_begin(bench *b) {
    sample *s = mill_value_alloc(bench_services(b), NULL, sizeof *s);
    s->schedule = (mill_schedule){
        .size = sizeof s->schedule,
        .simulated = 1,
        .id = "own",
        .name = "Own",
        .ranks = 2,
        .chunks = 2,
        .stages = 4,
        .micro_batches = 1,
        .first = s->first,
        .ops = {.kind = s->kind,
                .chunk = s->chunk,
                .stage = s->stage,
                .micro_batch = s->mb,
                .chunk_back = s->chunk_back,
                .stage_back = s->stage_back,
                .micro_batch_back = s->mb_back,
                .start = s->start,
                .end = s->end},
    };
    return s;
}

/* All kinds that torch has. */
static sample *simulated(bench *b) {
    sample *s = sample_begin(b);
    put(s, MILL_OP_FORWARD, 0, 0, 0);
    put(s, MILL_OP_PAIR, 1, 3, 0);
    s->chunk_back[1] = 0;
    s->stage_back[1] = 0;
    s->mb_back[1] = 12;
    put(s, MILL_OP_BACKWARD, 1, 3, 0);
    put(s, MILL_OP_BACKWARD, 0, 0, 0);
    put(s, MILL_OP_FORWARD, 0, 1, 0);
    put(s, MILL_OP_FORWARD, 1, 2, 0);
    put(s, MILL_OP_INPUT, 1, 2, 0);
    put(s, MILL_OP_WEIGHT, 1, 2, 0);
    return s;
}

/* What a profile tells: names, transfers, and things that are not known. */
static sample *measured(bench *b) {
    sample *s = sample_begin(b);
    s->schedule.simulated = 0;
    s->schedule.id = "profile";
    s->schedule.ops.label = s->label;
    put(s, MILL_OP_FORWARD, 0, 0, 0);
    s->label[0] = "forward, \"chunk\" 0";
    put(s, MILL_OP_SEND, NONE, NONE, NONE);
    s->end[1] = MILL_UNKNOWN;
    put(s, MILL_OP_RECEIVE, NONE, NONE, NONE);
    s->label[2] = "two\nlines";
    put(s, MILL_OP_OTHER, NONE, NONE, NONE);
    put(s, 77, NONE, NONE, NONE); /* of a newer SDK */
    put(s, MILL_OP_BACKWARD, 0, 1, 0);
    s->start[5] = INT64_MAX - 7;
    s->end[5] = INT64_MAX;
    return s;
}

static bench *begin(const char *format) {
    bench *b = bench_create(bench_open(MODULE), "schedule.write");
    bench_option(b, format);
    return b;
}

static void add(bench *b, sample *s, const char *key) {
    bench_input(b, "schedule", MILL_TYPE_SCHEDULE, &s->schedule, "bubble", key);
}

static void test_csv(void) {
    bench *b = begin("format=csv");
    add(b, simulated(b), "own");
    add(b, measured(b), "rank0, again");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    golden_check("schedule-csv", bench_written(b, "-"));
    bench_destroy(b);
}

/* Nothing to name a file by, and no empty file for torch: but it is said. */
static void test_none(void) {
    bench *b = begin("format=torch");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_nonnull(strstr(bench_log(b), "no schedule came, so nothing is written to -"));
    bench_destroy(b);
    b = begin("path=x-${item}.csv");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_nonnull(strstr(bench_log(b), "nothing is written to x-${item}.csv"));
    bench_destroy(b);
}

static void test_csv_none(void) {
    bench *b = begin("format=csv");
    bench_missing(b, "schedule", "bubble", "rank3");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_true(g_str_has_prefix(bench_written(b, "-")->str, "item,schedule,rank,op,"));
    g_assert_cmpstr(bench_log(b), ==,
                    "warning: no schedule from bubble for rank3: what makes it failed\n");
    bench_destroy(b);
}

static void test_torch(void) {
    bench *b = begin("format=torch");
    add(b, simulated(b), "own");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpstr(bench_written(b, "-")->str, ==,
                    "0F0,(3F0;0B12)OVERLAP_F_B,3B0,0B0\n1F0,2F0,2I0,2W0\n");
    bench_destroy(b);
}

/* Transfers are not in it: torch adds its own. */
static void test_torch_measured(void) {
    bench *b = begin("format=torch");
    add(b, measured(b), "rank0");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpstr(bench_written(b, "-")->str, ==, "0F0\n1B0\n");
    bench_destroy(b);
}

static void check_refused(bench *b, const char *said) {
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), said));
    g_assert_null(bench_written(b, "-"));
    bench_destroy(b);
}

static void test_torch_refuses(void) {
    bench *b = begin("format=torch");
    sample *s = simulated(b);
    s->schedule.bidirectional = 1;
    add(b, s, "own");
    check_refused(b, "Own runs each stage on two ranks");

    b = begin("format=torch");
    s = simulated(b);
    s->mb_back[1] = NONE;
    add(b, s, "own");
    check_refused(b, "micro-batch of operation 1 of rank 0 is not known");

    b = begin("format=torch");
    s = simulated(b);
    s->stage[6] = NONE;
    add(b, s, "own");
    check_refused(b, "micro-batch of operation 2 of rank 1 is not known");

    b = begin("format=torch");
    s = measured(b);
    s->kind[5] = MILL_OP_OTHER;
    add(b, s, "own");
    check_refused(b, "rank 1 computes nothing");
}

/* Two in a file would be one schedule of more ranks: the second is refused, the first stays. */
static void test_torch_two(void) {
    bench *b = begin("format=torch");
    add(b, simulated(b), "x");
    add(b, simulated(b), "y");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    g_assert_nonnull(strstr(bench_causes(b), "${item} in `path`"));
    g_assert_true(g_str_has_suffix(bench_written(b, "-")->str, "\n1F0,2F0,2I0,2W0\n"));
    g_assert_cmpuint(bench_written(b, "-")->len, <, 60);
    bench_destroy(b);
}

/* More than one piece of text; and the sink's failure is the stage's. */
static void test_large(void) {
    bench *b = begin("format=csv");
    for (int i = 0; i < 1000; i++)
        add(b, simulated(b), "many");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpuint(bench_written(b, "-")->len, >, 128 * 1024);
    bench_destroy(b);

    b = begin("format=csv");
    bench_disk_size(b, 100);
    add(b, simulated(b), "full");
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    bench_destroy(b);

    b = begin("format=csv");
    bench_cancel_at(b, 1);
    add(b, simulated(b), "stopped");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
    bench_destroy(b);
}

static void test_overwrite(void) {
    overwrite_check(MODULE, "schedule.write");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/schedule/csv", test_csv);
    g_test_add_func("/schedule/csv-none", test_csv_none);
    g_test_add_func("/schedule/none", test_none);
    g_test_add_func("/schedule/torch", test_torch);
    g_test_add_func("/schedule/torch-measured", test_torch_measured);
    g_test_add_func("/schedule/torch-refuses", test_torch_refuses);
    g_test_add_func("/schedule/torch-two", test_torch_two);
    g_test_add_func("/schedule/large", test_large);
    g_test_add_func("/schedule/overwrite", test_overwrite);
    return g_test_run();
}
