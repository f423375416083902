/* SPDX-License-Identifier: Apache-2.0 */
/* Draws orders of operations, and durations for them. */
#include "random_plan.h"

static uint32_t below(GRand *rand, uint32_t n) {
    return (uint32_t)g_rand_int_range(rand, 0, (gint32)n);
}

/* ---------------------------------------------------------------- random orders */

/* What of a micro-batch has run on a cell. */
typedef struct done {
    bool forward, backward, owes_weight;
} done;

typedef struct draw {
    GRand *rand;
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
    uint32_t ranks = d->places->ranks, first = below(d->rand, ranks);
    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t rank = (first + i) % ranks;
        list_possible(d, rank);
        if (d->possible->len == 0)
            continue;
        run_item(d, rank, g_array_index(d->possible, pp_item, below(d->rand, d->possible->len)));
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

const pp_plan *random_plan(mill_run *run, GRand *rand, bool runs) {
    pp_place place = below(rand, 3);
    uint32_t ranks = 1 + below(rand, 5), chunks = place == PP_PLACE_BOTH ? 2 : 1 + below(rand, 3);
    pp_builder *p = pp_begin(run, "own", "Own", place, ranks, chunks, 2 + 2 * below(rand, 4));
    for (uint32_t rank = 0; rank < ranks; rank++)
        pp_rank(p);
    draw d = {
        .rand = rand,
        .places = pp_end(p),
        .counted = below(rand, 2),
        .runs = runs,
        .split = below(rand, 2),
        .pairs = below(rand, 2),
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

static const int64_t *draw_column(mill_run *run, GRand *rand, uint32_t n, uint32_t least,
                                  uint32_t most) {
    int64_t *column = mill_scratch(run, n * sizeof *column);
    for (uint32_t i = 0; i < n; i++)
        column[i] = least + below(rand, most - least + 1);
    return column;
}

pp_timing random_timing(mill_run *run, GRand *rand, const pp_plan *plan, pp_comm comm) {
    uint32_t cells = plan->ranks * plan->chunks, most = below(rand, 4) ? 30 : 2;
    return (pp_timing){
        .forward = draw_column(run, rand, cells, 0, most),
        .backward = draw_column(run, rand, cells, 0, most),
        .input = draw_column(run, rand, cells, 0, most),
        .weight = draw_column(run, rand, cells, 0, most),
        .pair = draw_column(run, rand, cells, 0, most),
        .pair_rule = below(rand, 2),
        .alpha = below(rand, 1000001),
        .comm = comm,
        .latency = below(rand, 2) * below(rand, 12),
        .occupied = comm == PP_COMM_DEP ? below(rand, 2) * below(rand, 12) : 0,
        .slowness = below(rand, 2) ? draw_column(run, rand, plan->ranks, 500000, 2000000) : NULL,
    };
}
