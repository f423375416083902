/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules in torch's CSV: what is read of them, and what is said of files that are not right. */
#include "bench_host.h"
#include "order_text.h"
#include "torch_csv.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct reading {
    bench *b;
    mill_run *run;
    mill_status status;
    const pp_plan *plan;
    uint64_t left_out;
} reading;

/* A file whose name ends in .csv. */
static char *new_file(const char *text, size_t length) {
    char *path = NULL;
    g_close(g_file_open_tmp("schedule-XXXXXX.csv", &path, NULL), NULL);
    g_assert_true(g_file_set_contents(path, text, (gssize)length, NULL));
    return path;
}

static reading read_bytes(const char *text, size_t length) {
    g_autofree char *path = new_file(text, length);
    reading r = {.b = bench_create(NULL, NULL)};
    r.run = bench_services(r.b);
    r.status = pp_torch_read(r.run, path, &r.plan, &r.left_out);
    g_unlink(path);
    return r;
}

static reading read_good(const char *text) {
    reading r = read_bytes(text, strlen(text));
    g_assert_cmpstr(bench_causes(r.b), ==, "");
    g_assert_cmpint(r.status, ==, MILL_OK);
    const char *fault;
    g_assert_true(pp_whole(r.run, r.plan, &fault));
    return r;
}

static void check_orders(const char *text, const char *rank_0, const char *rank_1) {
    reading r = read_good(text);
    order_check(r.run, r.plan, 0, rank_0);
    order_check(r.run, r.plan, 1, rank_1);
    bench_destroy(r.b);
}

/* ---------------------------------------------------------------- good files */

static void test_plain(void) {
    reading r = read_good("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
    g_assert_cmpstr(r.plan->id, ==, "torch-csv");
    g_assert_true(g_str_has_suffix(r.plan->name, ".csv") && !strchr(r.plan->name, '/'));
    g_assert_cmpuint(r.plan->ranks, ==, 2);
    g_assert_cmpuint(r.plan->chunks, ==, 1);
    g_assert_cmpuint(r.plan->micro_batches, ==, 2);
    g_assert_false(r.plan->split);
    g_assert_null(r.plan->mb); /* in turn, so counting is enough */
    g_assert_cmpuint(r.left_out, ==, 0);
    g_assert_cmpint(r.plan->next[0], ==, 1);
    g_assert_cmpint(r.plan->prev[1], ==, 0);
    order_check(r.run, r.plan, 0, "F0.0 F0.1 B0.0 B0.1");
    order_check(r.run, r.plan, 1, "F0.0 B0.0 F0.1 B0.1");
    bench_destroy(r.b);
}

/* Each rank's stages are its chunks in rising order. */
static void test_places(void) {
    reading r = read_good("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n");
    static const uint32_t stages[] = {0, 3, 1, 2};
    static const int32_t next[] = {2, -1, 3, 1}, prev[] = {-1, 3, 0, 2};
    g_assert_cmpuint(r.plan->stages, ==, 4);
    g_assert_cmpmem(r.plan->stage, 4 * sizeof *stages, stages, sizeof stages);
    g_assert_cmpmem(r.plan->next, 4 * sizeof *next, next, sizeof next);
    g_assert_cmpmem(r.plan->prev, 4 * sizeof *prev, prev, sizeof prev);
    order_check(r.run, r.plan, 0, "F0.0 F1.0 B1.0 B0.0");
    bench_destroy(r.b);
    r = read_good("1F0,1B0\n0F0,0B0"); /* no rule says that rank 0 has the first stage */
    g_assert_cmpuint(r.plan->stage[0], ==, 1);
    g_assert_cmpint(r.plan->next[1], ==, 0);
    bench_destroy(r.b);
}

static void test_split(void) {
    check_orders("0F0,0F1,0I0,0I1,0W0,0W1\n1F0,1B0,1F1,1I1,1W1\n",
                 "F0.0 F0.1 Bi0.0 Bi0.1 W0.0 W0.1", "F0.0 B0.0 F0.1 Bi0.1 W0.1");
    /* Before torch 2.6: B is Bi where a W follows, BW is B. */
    check_orders("0F0,0F1,0B0,0B1,0W0,0W1\n1F0,1BW0,1F1,1B1,1W1\n",
                 "F0.0 F0.1 Bi0.0 Bi0.1 W0.0 W0.1", "F0.0 B0.0 F0.1 Bi0.1 W0.1");
}

static void test_pairs(void) {
    reading r =
        read_good("0F0,1F0,(0F1;1B0)OVERLAP_F_B,1F1,( 1B1 ; 0F2 )OVERLAP_F_B,0B0,1F2,1B2,0B1,0B2");
    order_check(r.run, r.plan, 0, "F0.0 F1.0 FB0.1/1.0 F1.1 FB0.2/1.1 B0.0 F1.2 B1.2 B0.1 B0.2");
    bench_destroy(r.b);
}

/* Micro-batches that are not in turn. */
static void test_any_order(void) {
    reading r = read_good("0F1,0F0,0I0,0I1,0W1,0W0\n1F1,1F0,1B0,1B1\n");
    g_assert_nonnull(r.plan->mb);
    order_check(r.run, r.plan, 0, "F0.1 F0.0 Bi0.0 Bi0.1 W0.1 W0.0");
    order_check(r.run, r.plan, 1, "F0.1 F0.0 B0.0 B0.1");
    bench_destroy(r.b);
}

static void test_communication(void) {
    reading r = read_good("0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD,0RESHARD\n"
                          "1RECV_F0,1F0,1B0,1SEND_B0,1SEND_F_RECV_B7\n");
    g_assert_cmpuint(r.left_out, ==, 8);
    g_assert_cmpuint(r.plan->total, ==, 4);
    bench_destroy(r.b);
}

/* The same schedule however the file was written. */
static void test_forms(void) {
    static const char *const texts[] = {
        "0F0,0B0\r\n1F0,1B0\r\n",
        "0F0,0B0\r1F0,1B0",
        "0F0,0B0\n1F0,1B0\n\n \n\r\n",
        "\357\273\2770F0,0B0\n1F0,1B0\n", /* a byte order mark */
        "0F0,,,0B0,\n,1F0, ,1B0,,,\n",
        " 0F0 ,\t0B0\n1F0 , 1B0 \n",
        "\"0F0\", \"0B0\" ,\"\"\n\" 1F0\",1B0\n",
        "00F00,0B0\n01F0,1B000\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        check_orders(texts[i], "F0.0 B0.0", "F0.0 B0.0");
}

/* ---------------------------------------------------------------- bad files */

static const struct {
    const char *text, *said;
} wrong[] = {
    {"", ": nothing in it; expected a line for each rank"},
    {"\n \n", ": nothing in it"},
    {"\xEF\xBB\xBF", ": nothing in it"},
    {"0F0,0B0\n\n1F0,1B0\n", ": line 2 is blank, and lines follow"},
    {"0F0,0B0\n,,\n", ": line 2 has no computation"},
    {"0F0,0B0\n1UNSHARD\n", ": line 2 has no computation"},
    {"0F0,0B0\n1F0,1X0\n", ": line 2, cell 2: \"1X0\" is no action; expected stage, kind and"},
    {"F0\n", ": line 1, cell 1: \"F0\" is no action"},
    {"0F\n", "\"0F\" is no action"},
    {"0F0x\n", "\"0F0x\" is no action"},
    {"-1F0\n", "\"-1F0\" is no action"},
    {"0F0 1B0\n", "\"0F0 1B0\" is no action"},
    {"0F0;0B0\n", "\"0F0;0B0\" is no action"},
    {"0F2147483648\n", "\"0F2147483648\" is no action"},
    {"99999999999999999999999F0\n", "is no action"},
    {"0F\x1b[31m\xff\n", "\"0F?[31m?\" is no action"},
    {"0F0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "aaa...\" is no action"},
    {"(0F0;1B0)\n", "is no action"},
    {"(0F0;1B0)OVERLAP_F_BB\n", "is no action"},
    {"(0F0)OVERLAP_F_B\n", "is no action"},
    {"(0F0;1I0)OVERLAP_F_B\n", "is no action"},
    {"(0F0;1F0)OVERLAP_F_B\n", "is no action"},
    {"(0B0;1B0)OVERLAP_F_B\n", "is no action"},
    {"(0F0;1B0;0F1)OVERLAP_F_B\n", "is no action"},
    {"(0F0;0UNSHARD)OVERLAP_F_B\n", "is no action"},
    {"(;)OVERLAP_F_B\n", "is no action"},
    {"(0F0\n", "is no action"},
    {"\"0F0\n0B0\"\n", ": line 1, cell 1: the quote is not closed in its line"},
    {"0F0,\"0B0", ": line 1, cell 2: the quote is not closed in its line"},
    {"\"0F0\"0B0\n", ": line 1, cell 1: expected a comma behind the closing quote"},
    {"0F0,0B0\n1F0,0F1\n", ": line 2, cell 2: stage 0, which line 1 runs, too"},
    {"0F0,0B0\n2F0,2B0\n", ": no line runs stage 1, and there is a stage 2"},
    {"2147483647F0\n", ": no line runs stage 0, and there is a stage 2147483647"},
    {"0F0,0B0,1F0,1B0\n2F0,2B0\n", ": stages on line 2: 1, on line 1: 2; expected the same"},
    {"0F0,0B0\n1F0,1F1,1B0,1B1\n", ": line 1: forwards of stage 0: 1; expected 2, since"},
    {"0F2147483647,0B0\n", "expected 2147483648, since micro-batches go up to 2147483647"},
    {"0B0\n", ": line 1: forwards of stage 0: 0; expected 1"},
    {"0F0,0F0,0B0,0B1\n", ": rank 0, stage 0, micro-batch 0: a second forward"},
    {"0B0,0F0\n", ": rank 0, stage 0, micro-batch 0: backward before forward"},
    {"0F0,0B0,0B0\n", ": rank 0, stage 0, micro-batch 0: a second backward"},
    {"0F0,0I0\n", ": rank 0, stage 0, micro-batch 0: Bi without W"},
    {"0F0,0W0,0I0\n", ": rank 0, stage 0, micro-batch 0: W without Bi before it"},
    {"0F0,0BW0,0W0\n", ": rank 0, stage 0, micro-batch 0: W without Bi before it"},
    {"0F0,0F1,0B0\n", ": rank 0, stage 0, micro-batch 1: no backward"},
};

static void test_wrong(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        reading r = read_bytes(wrong[i].text, strlen(wrong[i].text));
        g_assert_cmpint(r.status, ==, MILL_E_DATA);
        if (!strstr(bench_causes(r.b), wrong[i].said))
            g_error("%s: said \"%s\", expected \"%s\"", wrong[i].text, bench_causes(r.b),
                    wrong[i].said);
        g_assert_nonnull(strstr(bench_causes(r.b), ".csv: "));
        bench_destroy(r.b);
    }
}

static void test_nul(void) {
    static const char text[] = "0F0,0B0\0\n";
    reading r = read_bytes(text, sizeof text - 1);
    g_assert_cmpint(r.status, ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(r.b), "line 1, cell 2: \"0B0?\" is no action"));
    bench_destroy(r.b);
}

/* A rank's chunks are numbered in a byte. */
static void test_many_chunks(void) {
    for (uint32_t stages = 256; stages <= 257; stages++) {
        g_autoptr(GString) text = g_string_new(NULL);
        for (uint32_t stage = 0; stage < stages; stage++)
            g_string_append_printf(text, "%uF0,%uB0,", stage, stage);
        reading r = read_bytes(text->str, text->len);
        g_assert_cmpint(r.status, ==, stages == 256 ? MILL_OK : MILL_E_DATA);
        g_assert_true(
            stages == 256 ||
            strstr(bench_causes(r.b), ": line 1 has 257 stages; expected at most 256 on a rank"));
        bench_destroy(r.b);
    }
}

static void test_no_file(void) {
    bench *b = bench_create(NULL, NULL);
    const pp_plan *plan;
    uint64_t left_out;
    g_assert_cmpint(pp_torch_read(bench_services(b), "/nowhere/x.csv", &plan, &left_out), ==,
                    MILL_E_NOINPUT);
    bench_destroy(b);
}

static void test_cancel(void) {
    bench *b = bench_create(NULL, NULL);
    g_autofree char *path = new_file("0F0,0B0\n", 8);
    const pp_plan *plan;
    uint64_t left_out;
    bench_cancel_at(b, 1);
    g_assert_cmpint(pp_torch_read(bench_services(b), path, &plan, &left_out), ==, MILL_E_CANCELLED);
    g_unlink(path);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/torch-csv/plain", test_plain);
    g_test_add_func("/torch-csv/places", test_places);
    g_test_add_func("/torch-csv/split", test_split);
    g_test_add_func("/torch-csv/pairs", test_pairs);
    g_test_add_func("/torch-csv/any-order", test_any_order);
    g_test_add_func("/torch-csv/communication", test_communication);
    g_test_add_func("/torch-csv/forms", test_forms);
    g_test_add_func("/torch-csv/wrong", test_wrong);
    g_test_add_func("/torch-csv/nul", test_nul);
    g_test_add_func("/torch-csv/many-chunks", test_many_chunks);
    g_test_add_func("/torch-csv/no-file", test_no_file);
    g_test_add_func("/torch-csv/cancel", test_cancel);
    return g_test_run();
}
