/* SPDX-License-Identifier: Apache-2.0 */
/* The stage classes `rank.summary` and `ranks` on small jobs whose right values can be told by
 * looking at them. */
#include "fixture.h"
#include "job.h"
#include "look.h"

#include <string.h>

#define US 1000
#define MS (1000 * US)

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"
#define ALL_TO_ALL "ncclDevKernel_AllToAll_RING_LL(x)"
#define SEND_RECV "ncclDevKernel_SendRecv(x)"

/* The row of a rank, where it stands first. */
static int64_t row_of(const mill_table *t, int64_t rank) {
    for (int64_t row = 0; row < (int64_t)t->rows; row++)
        if (look_cell(t, row, "rank").i == rank)
            return row;
    g_error("table %s has no rank %" G_GINT64_FORMAT, t->id, rank);
}

static int64_t of_rank(const mill_report *r, const char *table, int64_t rank, const char *column) {
    const mill_table *t = look_table(r, table);
    g_assert_nonnull(t);
    return look_cell(t, row_of(t, rank), column).i;
}

static const char *clock_of(const mill_report *r, int64_t rank) {
    const mill_table *t = look_table(r, "clocks");
    return look_cell(t, row_of(t, rank), "clock").text;
}

/* Three all-reduces that end together; rank 1 begins 10, 20, 40 µs later, on a clock 5 ms ahead. */
static job *two_ranks(void) {
    job *j = job_create(2);
    static const int64_t late[] = {10 * US, 20 * US, 40 * US};
    for (int i = 0; i < 3; i++) {
        job_all_reduce(j, 0, i * MS, 100 * US);
        job_all_reduce(j, 1, i * MS + 5 * MS + late[i], 100 * US - late[i]);
    }
    return j;
}

static void test_waits(void) {
    g_autoptr(job) j = two_ranks();
    const mill_report *r = job_report(j, NULL);
    g_assert_cmpint(look_int(r, "collectives", NULL), ==, 3);
    g_assert_cmpint(look_int(r, "resolution", NULL), ==, 0);
    g_assert_cmpint(look_int(r, "wait", NULL), ==, 70 * US);
    g_assert_cmpint(look_int(r, "transfer", NULL), ==, 230 * US);
    g_assert_cmpint(of_rank(r, "clocks", 1, "offset"), ==, 5 * MS);
    g_assert_cmpint(of_rank(r, "ranks", 0, "wait"), ==, 70 * US);
    g_assert_cmpint(of_rank(r, "ranks", 1, "wait"), ==, 0);
    g_assert_cmpint(of_rank(r, "ranks", 1, "last"), ==, 3);
    g_assert_cmpint(of_rank(r, "ranks", 1, "caused"), ==, 70 * US);
    g_assert_cmpint(of_rank(r, "ranks", 1, "late"), ==, 70 * US);
    g_assert_cmpint(of_rank(r, "ranks", 1, "host_late"), ==, MILL_UNKNOWN);
    /* The one in which most is waited comes first: 0 and 40 µs after the first start. */
    const mill_table *t = look_table(r, "arrivals");
    g_assert_cmpint(look_cell(t, 0, "wait").i, ==, 40 * US);
    g_assert_cmpint(look_cell(t, 1, "start").i, ==, 40 * US);
    g_assert_cmpuint(r->n_findings, ==, 1);
    g_assert_cmpstr(r->findings[0]->where, ==, "rank 1");
    g_assert_cmpint(r->findings[0]->gain_ns, ==, 70 * US);
    g_assert_null(look_note(r, "missing_ranks"));
}

static void test_thresholds(void) {
    static const char *const settings[] = {"straggler-wait=0.1", "straggler-share=0.5"};
    static const guint findings[] = {0, 1}; /* 70 µs of 2.1 ms are 3 % */
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
        g_autoptr(job) j = two_ranks();
        g_assert_cmpuint(job_report(j, settings[i])->n_findings, ==, findings[i]);
    }
}

/* The last one's launch call begins 30 of its 40 µs late. */
static void test_host_late(void) {
    g_autoptr(job) j = job_create(2);
    for (int i = 0; i < 3; i++) {
        job_kernel(j, 0, i * MS, 100 * US, ALL_REDUCE, i * MS - 50 * US, NULL, -1);
        job_kernel(j, 1, i * MS + 40 * US, 60 * US, ALL_REDUCE, i * MS + 30 * US, NULL, -1);
    }
    const mill_report *r = job_report(j, NULL);
    g_assert_cmpint(of_rank(r, "ranks", 1, "late"), ==, 120 * US);
    g_assert_cmpint(of_rank(r, "ranks", 1, "host_late"), ==, 90 * US);
    g_assert_nonnull(strstr(r->findings[0]->advice, "host"));
}

/* What differs by no more than clocks are known says nothing. */
static void test_resolution(void) {
    g_autoptr(job) j = job_create(2);
    for (int i = 0; i < 20; i++) {
        int64_t jitter = (i % 2 ? 3 : -3) * US; /* of the ends */
        job_all_reduce(j, 0, i * MS, 100 * US);
        job_all_reduce(j, 1, i * MS + 5 * US, 95 * US + jitter);
    }
    const mill_report *r = job_report(j, NULL);
    g_assert_cmpint(look_int(r, "resolution", NULL), ==, 6 * US);
    g_assert_cmpint(of_rank(r, "ranks", 1, "told"), ==, 20);
    g_assert_cmpint(of_rank(r, "ranks", 1, "last"), ==, 20);
    /* The median is -3 µs, so that rank 1 begins 8 µs late: more than 6. Not so 5 µs less. */
    g_autoptr(job) k = job_create(2);
    for (int i = 0; i < 20; i++) {
        int64_t jitter = (i % 2 ? 3 : -3) * US;
        job_all_reduce(k, 0, i * MS, 100 * US);
        job_all_reduce(k, 1, i * MS, 100 * US + jitter);
    }
    r = job_report(k, NULL);
    g_assert_cmpint(of_rank(r, "ranks", 1, "told"), ==, 0);
    g_assert_cmpint(look_int(r, "wait", NULL), ==, 0);
    g_assert_cmpint(look_cell(look_table(r, "arrivals"), 0, "wait").i, ==, MILL_UNKNOWN);
}

/* A clock that gains 2 µs from one collective to the next. */
static void test_drift(void) {
    g_autoptr(job) j = job_create(2);
    for (int i = 0; i < 64; i++) {
        job_all_reduce(j, 0, i * MS, 100 * US);
        job_all_reduce(j, 1, i * MS + 2 * i * US + 10 * US, 90 * US);
    }
    const mill_report *r = job_report(j, NULL);
    g_assert_cmpint(of_rank(r, "clocks", 1, "drift"), >, 80 * US);
    g_assert_cmpint(of_rank(r, "clocks", 1, "spread"), >, 20 * US);
    g_assert_cmpint(look_int(r, "resolution", NULL), <, 3 * US);
    g_assert_cmpint(of_rank(r, "ranks", 1, "last"), ==, 64);
    g_assert_cmpint(llabs(of_rank(r, "ranks", 1, "caused") - 640 * US), <, 64 * 3 * US);
}

/* Without collectives that end together, durations tell. */
static void test_durations(void) {
    g_autoptr(job) j = job_create(2);
    for (int i = 0; i < 4; i++) {
        job_kernel(j, 0, i * MS, 80 * US, ALL_TO_ALL, MILL_UNKNOWN, NULL, -1);
        job_kernel(j, 1, i * MS + 3 * MS, 50 * US, ALL_TO_ALL, MILL_UNKNOWN, NULL, -1);
    }
    const mill_report *r = job_report(j, NULL);
    g_assert_null(look_table(r, "clocks"));
    g_assert_nonnull(look_note(r, "clocks"));
    g_assert_cmpstr(look_cell(look_table(r, "collectives"), 0, "method").text, ==, "durations");
    g_assert_cmpint(of_rank(r, "ranks", 0, "wait"), ==, 120 * US);
    g_assert_cmpint(look_int(r, "transfer", NULL), ==, 200 * US);
    g_assert_cmpint(of_rank(r, "ranks", 1, "last"), ==, 0); /* a dispatch ends when data is there */
    g_assert_cmpuint(r->n_findings, ==, 0);
}

/* Ends that lie apart without a rule are no clock. */
static void test_untrusted(void) {
    g_autoptr(job) j = job_create(2);
    for (int i = 0; i < 12; i++) {
        job_all_reduce(j, 0, i * MS, 100 * US);
        job_all_reduce(j, 1, i * MS, 100 * US + (i * 5 % 12) * 50 * US);
    }
    const mill_report *r = job_report(j, NULL);
    g_assert_cmpstr(clock_of(r, 0), ==, "reference");
    g_assert_cmpstr(clock_of(r, 1), ==, "not known");
    g_assert_cmpint(look_int(r, "resolution", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpstr(look_cell(look_table(r, "collectives"), 0, "method").text, ==, "durations");
}

/* Ordinals of ranks with different counts would match what does not belong together. */
static void test_counts_differ(void) {
    g_autoptr(job) j = two_ranks();
    job_all_reduce(j, 1, 20 * MS, 100 * US);
    const mill_report *r = job_report(j, NULL);
    const mill_table *t = look_table(r, "missing");
    g_assert_cmpint(look_int(r, "collectives", NULL), ==, 0);
    g_assert_nonnull(look_note(r, "refused"));
    g_assert_cmpuint(t->rows, ==, 1);
    g_assert_cmpint(look_cell(t, 0, "rank").i, ==, 0);
    g_assert_cmpint(look_cell(t, 0, "n").i, ==, 3);
    g_assert_cmpint(look_cell(t, 0, "of").i, ==, 4);
    g_assert_cmpstr(look_cell(t, 0, "matched").text, ==, "no");
}

/* Sequence numbers tell which one is missing, and the others match. */
static void test_sequence(void) {
    g_autoptr(job) j = job_create(2);
    for (int i = 0; i < 6; i++) {
        job_kernel(j, 0, i * MS, 100 * US, ALL_REDUCE, MILL_UNKNOWN, "7", 40 + i);
        if (i != 2)
            job_kernel(j, 1, i * MS + 10 * US, 90 * US, ALL_REDUCE, MILL_UNKNOWN, "7", 40 + i);
    }
    const mill_report *r = job_report(j, NULL);
    const mill_table *t = look_table(r, "missing");
    g_assert_cmpint(look_int(r, "collectives", NULL), ==, 5);
    g_assert_nonnull(look_note(r, "incomplete"));
    g_assert_cmpint(look_cell(t, 0, "rank").i, ==, 1);
    g_assert_cmpint(look_cell(t, 0, "first").i, ==, 42);
    g_assert_cmpstr(look_cell(t, 0, "group").text, ==, "7");
    g_assert_cmpint(of_rank(r, "ranks", 1, "caused"), ==, 50 * US);
}

/* Operations launched together share a number; they match in order. */
static void test_same_sequence(void) {
    g_autoptr(job) j = job_create(2);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            int64_t start = (2 * i + k) * MS;
            job_kernel(j, 0, start, 100 * US, ALL_REDUCE, MILL_UNKNOWN, "7", i);
            job_kernel(j, 1, start + 10 * US, 90 * US, ALL_REDUCE, MILL_UNKNOWN, "7", i);
        }
    const mill_report *r = job_report(j, NULL);
    g_assert_cmpint(look_int(r, "collectives", NULL), ==, 4);
    g_assert_cmpint(of_rank(r, "ranks", 1, "caused"), ==, 40 * US);
}

/* Rank 2 shares no group with rank 0, but one with rank 1. */
static void test_chain(void) {
    g_autoptr(job) j = job_create(3);
    for (int i = 0; i < 3; i++) {
        job_kernel(j, 0, i * MS, 100 * US, ALL_REDUCE, MILL_UNKNOWN, "a", i);
        job_kernel(j, 1, i * MS + 2 * MS, 100 * US, ALL_REDUCE, MILL_UNKNOWN, "a", i);
        job_kernel(j, 1, i * MS + 2 * MS + 200 * US, 100 * US, ALL_REDUCE, MILL_UNKNOWN, "b", i);
        job_kernel(j, 2, i * MS + 9 * MS + 200 * US, 100 * US, ALL_REDUCE, MILL_UNKNOWN, "b", i);
    }
    const mill_report *r = job_report(j, NULL);
    g_assert_cmpint(of_rank(r, "clocks", 1, "offset"), ==, 2 * MS);
    g_assert_cmpint(of_rank(r, "clocks", 2, "offset"), ==, 9 * MS);
    g_assert_cmpstr(clock_of(r, 2), ==, "aligned");
}

static void test_pairs_are_skipped(void) {
    g_autoptr(job) j = two_ranks();
    job_kernel(j, 0, 20 * MS, 100 * US, SEND_RECV, MILL_UNKNOWN, NULL, -1);
    const mill_report *r = job_report(j, NULL);
    g_assert_cmpint(look_int(r, "collectives", NULL), ==, 3);
    g_assert_nonnull(look_note(r, "skipped"));
    g_assert_null(look_table(r, "missing"));
}

static void expect_failure(job *j, const char *cause) {
    bench *b = job_bench(j);
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), cause));
}

static void test_ranks(void) {
    g_autoptr(job) twice = two_ranks();
    twice->rank[1] = 0;
    expect_failure(twice, "rank 0 twice");
    g_autoptr(job) some = two_ranks();
    some->rank[1] = MILL_UNKNOWN;
    expect_failure(some, "does not tell its rank");
    g_autoptr(job) none = two_ranks();
    none->rank[0] = none->rank[1] = MILL_UNKNOWN;
    const mill_report *r = job_report(none, NULL);
    g_assert_nonnull(look_note(r, "ranks_counted"));
    g_assert_cmpint(of_rank(r, "ranks", 1, "caused"), ==, 70 * US);
}

static void test_missing_ranks(void) {
    g_autoptr(job) j = two_ranks();
    j->rank[0] = 2;
    j->rank[1] = 5;
    j->world_size = 8;
    const mill_report *r = job_report(j, NULL);
    g_assert_nonnull(strstr(look_note(r, "missing_ranks")->text, "2 of 8"));
    g_assert_nonnull(strstr(look_note(r, "missing_ranks")->text, "0 to 1, 3 to 4, 6 to 7"));
    g_assert_cmpint(of_rank(r, "ranks", 5, "caused"), ==, 70 * US);

    g_autoptr(job) beyond = two_ranks();
    beyond->rank[1] = 10;
    beyond->world_size = 4;
    r = job_report(beyond, NULL);
    g_assert_nonnull(strstr(look_note(r, "rank_beyond")->text, "Rank 10 is none of the 4"));
    g_assert_null(look_note(r, "missing_ranks"));
    g_assert_cmpint(look_int(r, "world_size", NULL), ==, MILL_UNKNOWN);

    g_autoptr(job) lost = two_ranks();
    bench *b = job_bench(lost);
    bench_missing(b, "in", "rank", "7");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_nonnull(look_note(bench_output(b, "report", 0), "lost"));
}

static void test_few(void) {
    g_autoptr(job) one = job_create(1);
    job_all_reduce(one, 0, 0, 100 * US);
    const mill_report *r = job_report(one, NULL);
    g_assert_cmpint(look_int(r, "collectives", NULL), ==, 0);
    g_assert_cmpint(look_int(r, "wait", NULL), ==, MILL_UNKNOWN);
    g_assert_cmpint(of_rank(r, "ranks", 0, "caused"), ==, MILL_UNKNOWN);
    g_autoptr(job) empty = job_create(2);
    r = job_report(empty, NULL);
    g_assert_cmpint(look_int(r, "ranks", NULL), ==, 0);
    g_assert_null(look_table(r, "ranks"));
    g_assert_nonnull(strstr(look_note(r, "without_devices")->text, "2, the first is"));
    g_autoptr(job) silent = job_create(2);
    for (size_t i = 0; i < 2; i++)
        job_kernel(silent, i, 0, 100 * US, "gemm", MILL_UNKNOWN, NULL, -1);
    r = job_report(silent, NULL);
    g_assert_cmpint(look_int(r, "ranks", NULL), ==, 2);
    g_assert_cmpint(look_int(r, "collectives", NULL), ==, 0);
}

static void test_zero_length(void) {
    g_autoptr(job) j = two_ranks();
    for (size_t i = 0; i < 2; i++)
        job_all_reduce(j, i, 30 * MS + (int64_t)i * 5 * MS, 0);
    const mill_report *r = job_report(j, NULL);
    g_assert_cmpint(look_int(r, "collectives", NULL), ==, 4);
    g_assert_cmpint(look_int(r, "wait", NULL), ==, 70 * US);
}

/* A process with two devices: each is a member, on one clock. */
static void test_devices(void) {
#define REDUCE "ar", MILL_CLASS_COMMUNICATION, "all-reduce"
    static const activity list[] = {
        {0, 7, 0, 100 * US, REDUCE},         {1, 7, 10 * US, 90 * US, REDUCE},
        {0, 7, 1000 * US, 100 * US, REDUCE}, {1, 7, 1010 * US, 90 * US, REDUCE},
        {0, 7, 2000 * US, 100 * US, REDUCE}, {1, 7, 2010 * US, 90 * US, REDUCE},
    };
#undef REDUCE
    g_autoptr(job) j = job_create(0);
    bench *values = bench_create(NULL, NULL);
    g_ptr_array_add(j->benches, values);
    bench *b = bench_create(bench_open("plugins/analyzers/ranks/ranks.so"), "ranks");
    bench_input(b, "in", "tracemill.rank/1",
                job_summary_of(j, fixture_trace(values, &FIXTURE(list))), "rank", "");
    g_ptr_array_add(j->benches, b);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const mill_report *r = bench_output(b, "report", 0);
    const mill_table *t = look_table(r, "ranks"), *collectives = look_table(r, "collectives");
    g_assert_cmpint(look_int(r, "ranks", NULL), ==, 1);
    g_assert_cmpint(look_cell(t, 1, "device").i, ==, 1);
    g_assert_cmpint(look_cell(t, 1, "caused").i, ==, 30 * US);
    g_assert_cmpint(look_cell(collectives, 0, "device").i, ==, 1);
    g_assert_cmpstr(r->findings[0]->where, ==, "rank 0, device 1");
    g_assert_null(look_note(r, "ranks_counted"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ranks/waits", test_waits);
    g_test_add_func("/ranks/thresholds", test_thresholds);
    g_test_add_func("/ranks/host-late", test_host_late);
    g_test_add_func("/ranks/resolution", test_resolution);
    g_test_add_func("/ranks/drift", test_drift);
    g_test_add_func("/ranks/durations", test_durations);
    g_test_add_func("/ranks/untrusted", test_untrusted);
    g_test_add_func("/ranks/counts-differ", test_counts_differ);
    g_test_add_func("/ranks/sequence", test_sequence);
    g_test_add_func("/ranks/same-sequence", test_same_sequence);
    g_test_add_func("/ranks/chain", test_chain);
    g_test_add_func("/ranks/pairs-are-skipped", test_pairs_are_skipped);
    g_test_add_func("/ranks/ranks", test_ranks);
    g_test_add_func("/ranks/missing-ranks", test_missing_ranks);
    g_test_add_func("/ranks/devices", test_devices);
    g_test_add_func("/ranks/few", test_few);
    g_test_add_func("/ranks/zero-length", test_zero_length);
    return g_test_run();
}
