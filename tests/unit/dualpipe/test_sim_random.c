/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation against the plain one, on thousands of random plans and durations. */
#include "bench_host.h"
#include "plain_sim.h"

#include <string.h>

#define ROUNDS 4000

static GRand *rng;

static uint32_t below(uint32_t n) {
    return (uint32_t)g_rand_int_range(rng, 0, (gint32)n);
}

/* ---------------------------------------------------------------- random orders */

/* What of a micro-batch has run on a cell. */
typedef struct done {
    bool forward, backward, owes_weight;
} done;

typedef struct draw {
    const pp_plan *places; /* an empty plan: where the cells are */
    bool counted;          /* micro-batches of a cell come in order */
    bool runs;             /* in an order that can't deadlock */
    bool split, pairs;
    done *done;       /* by cell and micro-batch */
    GArray **orders;  /* pp_item, of each rank */
    GArray *possible; /* pp_item, of one rank */
} draw;

static done *done_of(const draw *d, int32_t cell, uint32_t mb) {
    return &d->done[(uint32_t)cell * d->places->per_cell + mb];
}

static bool is_turn(const draw *d, int32_t cell, uint32_t mb, bool forward) {
    if (!d->counted || mb == 0)
        return true;
    const done *before = done_of(d, cell, mb - 1);
    return forward ? before->forward : before->backward;
}

static bool can_forward(const draw *d, int32_t cell, uint32_t mb) {
    int32_t prev = d->places->prev[cell];
    return !done_of(d, cell, mb)->forward && is_turn(d, cell, mb, true) &&
           (!d->runs || prev < 0 || done_of(d, prev, mb)->forward);
}

static bool can_backward(const draw *d, int32_t cell, uint32_t mb) {
    int32_t next = d->places->next[cell];
    const done *own = done_of(d, cell, mb);
    return own->forward && !own->backward && is_turn(d, cell, mb, false) &&
           (!d->runs || next < 0 || done_of(d, next, mb)->backward);
}

static void may(draw *d, mill_op_kind kind, uint32_t chunk, uint32_t mb, uint32_t chunk2,
                uint32_t mb2) {
    pp_item item = {{(uint8_t)kind, (uint8_t)chunk, (uint8_t)chunk2, 0}, mb, mb2};
    g_array_append_val(d->possible, item);
}

static void may_pair(draw *d, uint32_t rank, uint32_t chunk, uint32_t mb) {
    for (uint32_t chunk2 = 0; chunk2 < d->places->chunks; chunk2++)
        for (uint32_t mb2 = 0; mb2 < d->places->per_cell; mb2++)
            if (can_backward(d, (int32_t)(rank * d->places->chunks + chunk2), mb2))
                may(d, MILL_OP_PAIR, chunk, mb, chunk2, mb2);
}

static void list_possible(draw *d, uint32_t rank) {
    g_array_set_size(d->possible, 0);
    for (uint32_t chunk = 0; chunk < d->places->chunks; chunk++)
        for (uint32_t mb = 0; mb < d->places->per_cell; mb++) {
            int32_t cell = (int32_t)(rank * d->places->chunks + chunk);
            if (can_forward(d, cell, mb)) {
                may(d, MILL_OP_FORWARD, chunk, mb, 0, 0);
                if (d->pairs)
                    may_pair(d, rank, chunk, mb);
            }
            if (can_backward(d, cell, mb)) {
                may(d, MILL_OP_BACKWARD, chunk, mb, 0, 0);
                if (d->split)
                    may(d, MILL_OP_INPUT, chunk, mb, 0, 0);
            }
            if (done_of(d, cell, mb)->owes_weight)
                may(d, MILL_OP_WEIGHT, chunk, mb, 0, 0);
        }
}

static void run_item(draw *d, uint32_t rank, pp_item item) {
    uint32_t cells = rank * d->places->chunks;
    done *own = done_of(d, (int32_t)(cells + item.op.chunk), item.mb);
    switch (item.op.kind) {
    case MILL_OP_FORWARD:
        own->forward = true;
        break;
    case MILL_OP_PAIR:
        own->forward = true;
        done_of(d, (int32_t)(cells + item.op.chunk2), item.mb2)->backward = true;
        break;
    case MILL_OP_WEIGHT:
        own->owes_weight = false;
        break;
    default:
        own->backward = true;
        own->owes_weight = item.op.kind == MILL_OP_INPUT;
    }
    g_array_append_val(d->orders[rank], item);
}

/* One more operation, of the first rank from a random one on that has any; false: all is done. */
static bool draw_item(draw *d) {
    uint32_t ranks = d->places->ranks, first = below(ranks);
    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t rank = (first + i) % ranks;
        list_possible(d, rank);
        if (d->possible->len == 0)
            continue;
        run_item(d, rank, g_array_index(d->possible, pp_item, below(d->possible->len)));
        return true;
    }
    return false;
}

static const pp_plan *build(const draw *d, mill_run *run, pp_place place) {
    const pp_plan *places = d->places;
    pp_builder *p =
        pp_begin(run, "own", "Own", place, places->ranks, places->chunks, places->micro_batches);
    for (uint32_t rank = 0; rank < places->ranks; rank++) {
        pp_rank(p);
        for (guint i = 0; i < d->orders[rank]->len; i++) {
            pp_item item = g_array_index(d->orders[rank], pp_item, i);
            if (!d->counted)
                pp_add_at(p, item.op, item.mb, item.mb2);
            else if (item.op.kind == MILL_OP_PAIR)
                pp_add_pair(p, item.op.chunk, item.op.chunk2);
            else
                pp_add(p, item.op.kind, item.op.chunk);
        }
    }
    return pp_end(p);
}

static const pp_plan *draw_plan(mill_run *run, bool runs) {
    pp_place place = below(3);
    uint32_t ranks = 1 + below(5), chunks = place == PP_PLACE_BOTH ? 2 : 1 + below(3);
    pp_builder *p = pp_begin(run, "own", "Own", place, ranks, chunks, 2 + 2 * below(4));
    for (uint32_t rank = 0; rank < ranks; rank++)
        pp_rank(p);
    draw d = {
        .places = pp_end(p),
        .counted = below(2),
        .runs = runs,
        .split = below(2),
        .pairs = below(2),
        .orders = g_new(GArray *, ranks),
        .possible = g_array_new(FALSE, FALSE, sizeof(pp_item)),
    };
    d.done = g_new0(done, ranks * chunks * d.places->per_cell);
    for (uint32_t rank = 0; rank < ranks; rank++)
        d.orders[rank] = g_array_new(FALSE, FALSE, sizeof(pp_item));
    while (draw_item(&d)) {
    }
    const pp_plan *plan = build(&d, run, place);
    const char *fault = "";
    g_assert_true(pp_whole(run, plan, &fault));
    for (uint32_t rank = 0; rank < ranks; rank++)
        g_array_unref(d.orders[rank]);
    g_array_unref(d.possible);
    g_free(d.orders);
    g_free(d.done);
    return plan;
}

/* ---------------------------------------------------------------- random timings */

static const int64_t *draw_column(mill_run *run, uint32_t n, uint32_t least, uint32_t most) {
    int64_t *column = mill_scratch(run, n * sizeof *column);
    for (uint32_t i = 0; i < n; i++)
        column[i] = least + below(most - least + 1);
    return column;
}

static pp_timing draw_timing(mill_run *run, const pp_plan *plan, pp_comm comm) {
    uint32_t cells = plan->ranks * plan->chunks, most = below(4) ? 30 : 2;
    return (pp_timing){
        .forward = draw_column(run, cells, 0, most),
        .backward = draw_column(run, cells, 0, most),
        .input = draw_column(run, cells, 0, most),
        .weight = draw_column(run, cells, 0, most),
        .pair = draw_column(run, cells, 0, most),
        .pair_rule = below(2),
        .alpha = below(1000001),
        .comm = comm,
        .latency = below(2) * below(12),
        .occupied = comm == PP_COMM_DEP ? below(2) * below(12) : 0,
        .slowness = below(2) ? draw_column(run, plan->ranks, 500000, 2000000) : NULL,
    };
}

/* ---------------------------------------------------------------- comparing */

static void check_same(const pp_plan *plan, const pp_result *r, const pp_result *right) {
    g_assert_cmpint(r->makespan, ==, right->makespan);
    for (uint32_t rank = 0; rank < plan->ranks; rank++) {
        const pp_rank_times *a = &r->ranks[rank], *b = &right->ranks[rank];
        g_assert_cmpint(a->busy, ==, b->busy);
        g_assert_cmpint(a->start, ==, b->start);
        g_assert_cmpint(a->end, ==, b->end);
        g_assert_cmpint(a->live, ==, b->live);
        g_assert_cmpint(a->live_weight, ==, b->live_weight);
    }
}

static void check_record(const pp_plan *plan, const pp_result *r, const pp_result *right) {
    g_assert_cmpmem(r->first, (plan->ranks + 1) * sizeof *r->first, right->first,
                    (plan->ranks + 1) * sizeof *right->first);
    for (uint64_t i = 0; i < plan->total; i++) {
        g_assert_cmpint(r->start[i], ==, right->start[i]);
        g_assert_cmpint(r->end[i], ==, right->end[i]);
        g_assert_cmpmem(&r->items[i], sizeof r->items[i], &right->items[i], sizeof r->items[i]);
    }
}

/* One plan with one timing. Returns whether it ran. */
static bool compare(bench *b, pp_workspace *w, bool runs, pp_comm comm) {
    mill_run *run = bench_services(b);
    const pp_plan *plan = draw_plan(run, runs);
    pp_timing timing = draw_timing(run, plan, comm);
    pp_result result, right;
    bool ran = plain_simulate(run, plan, &timing, &right);
    mill_status status = pp_simulate(run, plan, &timing, PP_RECORD, &result);
    g_assert_cmpint(status, ==, ran ? MILL_OK : MILL_E_DATA);
    if (comm == PP_COMM_DEP)
        g_assert_cmpint(pp_makespan(w, plan, &timing), ==, ran ? right.makespan : MILL_UNKNOWN);
    if (!ran) {
        g_assert_nonnull(strstr(bench_causes(b), "waits "));
        return false;
    }
    check_same(plan, &result, &right);
    check_record(plan, &result, &right);
    g_assert_cmpint(pp_simulate(run, plan, &timing, 0, &result), ==, MILL_OK);
    g_assert_null(result.items);
    check_same(plan, &result, &right);
    return true;
}

static int count_runs(bool runs, pp_comm comm) {
    pp_workspace *w = pp_workspace_create();
    int ran = 0;
    for (int i = 0; i < ROUNDS; i++) {
        bench *b = bench_create(NULL, NULL);
        ran += compare(b, w, runs, comm);
        bench_destroy(b);
    }
    pp_workspace_destroy(w);
    return ran;
}

static void test_dep(void) {
    g_assert_cmpint(count_runs(true, PP_COMM_DEP), ==, ROUNDS);
}

/* Where orders are drawn without a look at other ranks, many deadlock and some do not. */
static void test_deadlocks(void) {
    int ran = count_runs(false, PP_COMM_DEP);
    g_assert_cmpint(ran, >, ROUNDS / 20);
    g_assert_cmpint(ran, <, ROUNDS * 19 / 20);
}

static void test_blocking(void) {
    int ran = count_runs(true, PP_COMM_BLOCKING);
    g_assert_cmpint(ran, >, ROUNDS / 20);
    g_assert_cmpint(ran, <, ROUNDS * 19 / 20);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    rng = g_rand_new_with_seed(5);
    g_test_add_func("/sim/random/dep", test_dep);
    g_test_add_func("/sim/random/deadlocks", test_deadlocks);
    g_test_add_func("/sim/random/blocking", test_blocking);
    int status = g_test_run();
    g_rand_free(rng);
    return status;
}
