/* SPDX-License-Identifier: Apache-2.0 */
/* The stage classes `rank.summary` and `ranks` on four ranks with right values computed by other
 * means, on cases from the field, and on four ranks of a real job. */
#include "data.h"
#include "job.h"
#include "look.h"

#include <string.h>

/* Reads the profiles, and what `ranks` says of them. */
static const mill_report *report_of(job *j, const char *folder, const char *format, int n) {
    bench *b = bench_create(bench_open("plugins/analyzers/ranks/ranks.so"), "ranks");
    for (int i = 0; i < n; i++) {
        g_autofree char *number = g_strdup_printf("%d", i);
        g_auto(GStrv) parts = g_strsplit(format, "%", 2);
        g_autofree char *name = g_strconcat(parts[0], number, parts[1], NULL);
        g_autofree char *path = g_build_filename(folder, name, NULL);
        bench *reader = data_read(path);
        g_ptr_array_add(j->benches, reader);
        bench_input(b, "in", "tracemill.rank/1", job_summary(j, reader), "rank", number);
    }
    g_ptr_array_add(j->benches, b);
    bench_option(b, "top=1000");
    bench_option(b, "detail=yes");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    return bench_output(b, "report", 0);
}

/* The right values are in µs and halves of them, which doubles hold exactly. */
static int64_t ns(const cJSON *value) {
    return (int64_t)(value->valuedouble * 1000);
}

static void check_collective(const mill_report *r, const cJSON *right) {
    const mill_table *t = look_table(r, "collectives"), *arrivals = look_table(r, "arrivals");
    int64_t row = 0;
    while (look_cell(t, row, "number").i != data_integer(right, "seq"))
        row++;
    g_assert_cmpint(look_cell(t, row, "skew").i, ==, ns(data_field(right, "start_skew")));
    g_assert_cmpint(look_cell(t, row, "transfer").i, ==, ns(data_field(right, "transfer")));
    g_assert_cmpint(look_cell(t, row, "last").i, ==, data_integer(right, "last_rank"));
    g_assert_cmpint(look_cell(t, row, "caused").i, ==,
                    ns(data_field(right, "wait_caused_by_last")));
    g_assert_cmpfloat_with_epsilon(look_cell(t, row, "algbw").d,
                                   data_field(right, "algbw_GBps")->valuedouble, 5e-5);
    g_assert_cmpfloat_with_epsilon(look_cell(t, row, "busbw").d,
                                   data_field(right, "busbw_GBps")->valuedouble, 5e-5);
    for (int rank = 0; rank < 4; rank++)
        g_assert_cmpint(look_cell(arrivals, 4 * row + rank, "wait").i, ==,
                        ns(cJSON_GetArrayItem(data_field(right, "wait"), rank)));
}

static void test_four(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autoptr(job) j = job_create(0);
    cJSON *right = data_json(folder, "oracle/overlap/multirank_expected.json");
    const mill_report *r = report_of(j, folder, "oracle/overlap/mr_rank%.json", 4);
    const cJSON *one;
    cJSON_ArrayForEach(one, data_field(right, "collectives")) check_collective(r, one);
    const mill_table *ranks = look_table(r, "ranks"), *clocks = look_table(r, "clocks");
    for (int i = 0; i < 4; i++) {
        g_autofree char *name = g_strdup_printf("%d", i);
        g_assert_cmpint(look_cell(ranks, i, "wait").i, ==,
                        ns(cJSON_GetArrayItem(data_field(right, "wait_per_rank"), i)));
        g_assert_cmpint(look_cell(ranks, i, "last").i, ==,
                        cJSON_GetArrayItem(data_field(right, "last_count"), i)->valueint);
        g_assert_cmpint(look_cell(ranks, i, "caused").i, ==,
                        ns(cJSON_GetArrayItem(data_field(right, "wait_caused"), i)));
        g_assert_cmpint(look_cell(clocks, i, "offset").i, ==,
                        ns(data_field(data_field(right, "clock_offset"), name)));
    }
    g_assert_cmpint(look_int(r, "transfer", NULL), ==, ns(data_field(right, "transfer_total")));
    g_assert_cmpint(look_int(r, "resolution", NULL), ==,
                    ns(data_field(right, "offset_residual_p95")));
    g_autofree char *straggler = g_strdup_printf("rank %d", (int)data_integer(right, "straggler"));
    g_assert_cmpuint(r->n_findings, ==, 1);
    g_assert_cmpstr(r->findings[0]->where, ==, straggler);
    cJSON_Delete(right);
}

/* Clocks 500 µs apart make no straggler. */
static void test_skewed_clocks(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autoptr(job) j = job_create(0);
    const mill_report *r = report_of(j, folder, "cases/016-clock-skew-between-nodes-rank%.json", 2);
    static const int64_t late[] = {20000, 0, 0}; /* the most waited for comes first */
    const mill_table *t = look_table(r, "collectives");
    g_assert_cmpint(look_cell(look_table(r, "clocks"), 1, "offset").i, ==, 500 * 1000);
    for (int i = 0; i < 3; i++)
        g_assert_cmpint(look_cell(t, i, "skew").i, ==, late[i]);
    g_assert_cmpuint(r->n_findings, ==, 0);
}

/* Rank 0 launches late again and again, and the others wait for it. Half of the ranks are missing,
 * and the files tell neither groups nor sequence numbers. */
static void test_megatron(void) {
    const char *folder = data_folder();
    if (!folder)
        return;
    g_autoptr(job) j = job_create(0);
    const mill_report *r = report_of(j, folder, "traces/megatron-tp8-rank%.json.gz", 4);
    const mill_table *ranks = look_table(r, "ranks"), *clocks = look_table(r, "clocks");
    g_assert_cmpint(look_int(r, "collectives", NULL), ==, 84);
    g_assert_nonnull(look_note(r, "missing_ranks"));
    g_assert_nonnull(look_note(r, "no_groups"));
    for (int i = 1; i < 4; i++) /* one host, one clock */
        g_assert_cmpint(llabs(look_cell(clocks, i, "offset").i), <, 50 * 1000);
    g_assert_cmpint(look_int(r, "resolution", NULL), <, 50 * 1000);
    int64_t late = look_cell(ranks, 0, "late").i;
    g_assert_cmpint(look_cell(ranks, 0, "host_late").i, >, late / 10 * 9);
    g_assert_cmpint(look_cell(ranks, 0, "host_late").i, <=, late);
    g_assert_cmpuint(r->n_findings, ==, 1);
    g_assert_cmpstr(r->findings[0]->where, ==, "rank 0");
    /* What all wait and what all cause differ by those in which several came last. */
    int64_t wait = 0, caused = 0;
    for (int i = 0; i < 4; i++) {
        wait += look_cell(ranks, i, "wait").i;
        caused += look_cell(ranks, i, "caused").i;
    }
    g_assert_cmpint(wait, ==, look_int(r, "wait", NULL));
    g_assert_cmpint(caused, <=, wait);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/ranks-data/four", test_four);
    g_test_add_func("/ranks-data/skewed-clocks", test_skewed_clocks);
    g_test_add_func("/ranks-data/megatron", test_megatron);
    return g_test_run();
}
