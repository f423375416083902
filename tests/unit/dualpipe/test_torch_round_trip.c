/* SPDX-License-Identifier: Apache-2.0 */
/* Every family, written by schedule.write in torch's format and read back, is the same. */
#include "bench_host.h"
#include "families.h"
#include "order_text.h"
#include "torch_csv.h"

#include <glib/gstdio.h>

#define MODULE "plugins/exporters/schedule/schedule.so"

/* The operations of a plan, without times. */
static const mill_schedule *untimed(mill_run *run, const pp_plan *plan) {
    uint64_t n = 0, total = plan->total;
    uint32_t *columns = mill_scratch(run, 6 * total * sizeof *columns);
    uint8_t *kind = mill_scratch(run, total);
    uint64_t *first = mill_scratch(run, (plan->ranks + 1) * sizeof *first);
    for (uint32_t rank = 0; rank < plan->ranks; rank++) {
        const uint32_t *stage = plan->stage + rank * plan->chunks;
        pp_cursor *c = pp_cursor_at(run, plan, rank);
        for (pp_item item; pp_next(c, &item); n++) {
            bool pair = item.op.kind == MILL_OP_PAIR;
            const uint32_t row[] = {item.op.chunk,
                                    stage[item.op.chunk],
                                    item.mb,
                                    pair ? item.op.chunk2 : MILL_NO_OP,
                                    pair ? stage[item.op.chunk2] : MILL_NO_OP,
                                    pair ? item.mb2 : MILL_NO_OP};
            kind[n] = item.op.kind;
            for (uint64_t i = 0; i < 6; i++)
                columns[i * total + n] = row[i];
        }
        first[rank + 1] = n;
    }
    mill_schedule *s = mill_scratch(run, sizeof *s);
    *s = (mill_schedule){
        .size = sizeof *s,
        .simulated = 1,
        .id = plan->id,
        .name = plan->name,
        .ranks = plan->ranks,
        .chunks = plan->chunks,
        .stages = plan->stages,
        .micro_batches = plan->micro_batches,
        .bidirectional = plan->bidirectional,
        .n_ops = total,
        .first = first,
        .ops = {.kind = kind,
                .chunk = columns,
                .stage = columns + total,
                .micro_batch = columns + 2 * total,
                .chunk_back = columns + 3 * total,
                .stage_back = columns + 4 * total,
                .micro_batch_back = columns + 5 * total},
    };
    return s;
}

/* What was written, read again. */
static const pp_plan *read_back(mill_run *run, const GString *text) {
    g_autofree char *path = NULL;
    g_close(g_file_open_tmp("schedule-XXXXXX.csv", &path, NULL), NULL);
    g_assert_true(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
    const pp_plan *plan;
    uint64_t left_out;
    g_assert_cmpint(pp_torch_read(run, path, &plan, &left_out), ==, MILL_OK);
    g_assert_cmpuint(left_out, ==, 0);
    g_unlink(path);
    return plan;
}

static void same_plan(mill_run *run, const pp_plan *x, const pp_plan *y) {
    size_t cells = x->ranks * x->chunks;
    g_assert_cmpuint(x->ranks, ==, y->ranks);
    g_assert_cmpuint(x->chunks, ==, y->chunks);
    g_assert_cmpuint(x->stages, ==, y->stages);
    g_assert_cmpuint(x->micro_batches, ==, y->micro_batches);
    g_assert_cmpuint(x->per_cell, ==, y->per_cell);
    g_assert_cmpuint(x->total, ==, y->total);
    g_assert_true(x->split == y->split && !y->mb);
    g_assert_cmpmem(x->stage, cells * sizeof *x->stage, y->stage, cells * sizeof *y->stage);
    g_assert_cmpmem(x->next, cells * sizeof *x->next, y->next, cells * sizeof *y->next);
    g_assert_cmpmem(x->prev, cells * sizeof *x->prev, y->prev, cells * sizeof *y->prev);
    for (uint32_t rank = 0; rank < x->ranks; rank++) {
        g_autofree char *right = order_text(run, x, rank);
        order_check(run, y, rank, right);
    }
}

static void check_family(const pp_family *family, const pp_sizes *sizes) {
    bench *own = bench_create(NULL, NULL), *b = bench_create(bench_open(MODULE), "schedule.write");
    mill_run *run = bench_services(own);
    const pp_plan *plan = family->plan(run, sizes);
    bench_option(b, "format=torch");
    bench_input(b, "schedule", MILL_TYPE_SCHEDULE, untimed(run, plan), "bubble", "");
    if (plan->bidirectional) {
        g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    } else {
        g_assert_cmpint(bench_run(b), ==, MILL_OK);
        same_plan(run, plan, read_back(run, bench_written(b, "-")));
    }
    bench_destroy(b);
    bench_destroy(own);
}

static void test_round_trip(void) {
    for (const pp_family *const *f = pp_families; *f; f++)
        for (uint32_t ranks = 1; ranks <= 4; ranks++) {
            pp_sizes sizes = {ranks, 2 * ranks + 1, 2, 1, UINT32_MAX}, nearest;
            (*f)->takes(&sizes, &nearest);
            check_family(*f, &nearest);
        }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/torch-csv/round-trip", test_round_trip);
    return g_test_run();
}
