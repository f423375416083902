/* SPDX-License-Identifier: Apache-2.0 */
/* Puts V-Half and V-Min in order: a grid of slots, a row for each rank, in which every operation
 * takes one slot.
 *
 * The rule is that of sail-sg/zero-bubble-pipeline-parallelism (zbv_greedy.py), which its paper
 * calls squeezing and reordering (arXiv:2405.15362): W's take the free slots; what is before the
 * first end of a micro-batch and after the last begin of one moves up; then all starts as early as
 * it can. That is done twice: first with W's as operations of their own, then with W's that only
 * fill what the others leave free.
 */
#include "vshape.h"

#include "families_private.h"

#include <assert.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>

/* A micro-batch passes each rank four times; a leg goes down the ranks or up. */
enum { LEG_F0, LEG_F1, LEG_I1, LEG_I0, WEIGHT, FREE };

/* What a rank holds after a slot: chunks that have not had their W, and how many of them have had
 * their Bi. */
typedef struct hold {
    uint32_t chunks, owed;
} hold;

typedef struct row {
    uint8_t *slots;        /* `width` */
    uint32_t *at[VS_LEGS]; /* slot of each leg, by micro-batch: those that the sweep has passed */
    uint32_t done[VS_LEGS];
    uint32_t end;    /* the slot after the last operation that the sweep has placed */
    uint32_t weight; /* the slot after the last W of those */
    hold held;       /* before slot `end` */
} row;

typedef struct grid {
    uint32_t ranks, micro_batches, width;
    row *rows;
    uint8_t *slots;
    uint32_t *at;
} grid;

static void grid_init(grid *g, vs_block block, uint32_t ranks, uint32_t micro_batches) {
    size_t m = micro_batches;
    /* The last block ends before 6 (m + PP), and the W's owed then are of chunks still held. */
    uint32_t width = VS_PERIOD * micro_batches + 8 * ranks + 8;
    *g = (grid){.ranks = ranks, .micro_batches = micro_batches, .width = width};
    g->rows = kit_alloc(ranks, sizeof *g->rows);
    g->slots = kit_alloc((size_t)ranks * width, sizeof *g->slots);
    g->at = kit_alloc(ranks * VS_LEGS * m, sizeof *g->at);
    for (uint32_t r = 0; r < ranks; r++) {
        row *w = &g->rows[r];
        w->slots = g->slots + (size_t)r * width;
        for (uint32_t t = 0; t < width; t++)
            w->slots[t] = FREE;
        uint32_t first[VS_LEGS];
        block(ranks, r, first);
        for (uint8_t leg = 0; leg < VS_LEGS; leg++) {
            w->at[leg] = g->at + (r * VS_LEGS + leg) * m;
            for (uint32_t i = 0; i < micro_batches; i++)
                w->slots[first[leg] + i * VS_PERIOD] = leg;
        }
    }
}

static void grid_finish(grid *g) {
    free(g->at);
    free(g->slots);
    free(g->rows);
}

static void begin_sweep(grid *g) {
    for (uint32_t r = 0; r < g->ranks; r++) {
        row *w = &g->rows[r];
        for (int leg = 0; leg < VS_LEGS; leg++)
            w->done[leg] = 0;
        w->end = w->weight = 0;
        w->held = (hold){0, 0};
    }
}

/* ---------------------------------------------------------------- what is held */

static void pass(hold *h, uint8_t slot) {
    h->chunks += slot == LEG_F0 || slot == LEG_F1;
    h->owed += slot == LEG_I0 || slot == LEG_I1;
    h->chunks -= slot == WEIGHT;
    h->owed -= slot == WEIGHT;
}

static void pass_back(hold *h, uint8_t slot) {
    h->chunks -= slot == LEG_F0 || slot == LEG_F1;
    h->owed -= slot == LEG_I0 || slot == LEG_I1;
    h->chunks += slot == WEIGHT;
    h->owed += slot == WEIGHT;
}

/* What becomes of a slot if W's fill what is free. */
static uint8_t fill(const hold *h, uint8_t slot) {
    if (slot < WEIGHT)
        return slot;
    return h->owed ? WEIGHT : FREE;
}

/* Puts W's into the free slots, each as early as can be. Returns the most chunks that a rank holds.
 */
static uint32_t fill_weights(grid *g) {
    uint32_t most = 0;
    for (uint32_t r = 0; r < g->ranks; r++) {
        uint8_t *slots = g->rows[r].slots;
        hold h = {0, 0};
        for (uint32_t t = 0; t < g->width; t++) {
            slots[t] = fill(&h, slots[t]);
            pass(&h, slots[t]);
            if (h.chunks > most)
                most = h.chunks;
        }
        assert(!h.owed);
    }
    return most;
}

/* ---------------------------------------------------------------- what an operation waits for */

static void wait_for(uint32_t *slot, uint32_t other) {
    if (*slot <= other)
        *slot = other + 1;
}

/* The first slot in which the next operation of a leg could be. */
static uint32_t leg_earliest(const grid *g, uint32_t rank, uint8_t leg) {
    const row *w = &g->rows[rank];
    uint32_t k = w->done[leg], slot = 0;
    bool down = leg == LEG_F0 || leg == LEG_I1;
    if (k)
        wait_for(&slot, w->at[leg][k - 1]);
    if (leg > 0)
        wait_for(&slot, w->at[leg - 1][k]);
    if (down && rank > 0)
        wait_for(&slot, w[-1].at[leg][k]);
    if (!down && rank + 1 < g->ranks)
        wait_for(&slot, w[1].at[leg][k]);
    return slot;
}

/* The same for a W: after the W before it, and after the Bi that it is of, if W's go in the order
 * of the Bi's. */
static uint32_t weight_earliest(const row *w) {
    uint32_t slot = w->weight, t = w->end;
    for (uint32_t owed = w->held.owed; owed;) {
        t--;
        owed -= w->slots[t] == LEG_I0 || w->slots[t] == LEG_I1;
    }
    wait_for(&slot, t);
    return slot;
}

/* ---------------------------------------------------------------- moving up */

/* Goes on to a slot, with nothing or W's before it. */
static void go_on(row *w, uint32_t slot, bool filling) {
    for (; w->end < slot; w->end++)
        if (filling) {
            w->slots[w->end] = fill(&w->held, FREE);
            pass(&w->held, w->slots[w->end]);
        }
}

/* Puts an operation into a slot before `end`, unless the rank would then hold more than `limit`. */
static bool insert(row *w, uint32_t slot, uint8_t what, bool filling, uint32_t limit) {
    hold before = w->held;
    for (uint32_t t = w->end; t > slot; t--)
        pass_back(&before, w->slots[t - 1]);
    hold held = before;
    for (uint32_t t = slot; t < w->end; t++) {
        uint8_t now = t == slot ? what : w->slots[t];
        pass(&held, filling ? fill(&held, now) : now);
        if (held.chunks > limit)
            return false;
    }
    w->held = before;
    w->slots[slot] = what;
    for (uint32_t t = slot; t < w->end; t++) {
        w->slots[t] = filling ? fill(&w->held, w->slots[t]) : w->slots[t];
        pass(&w->held, w->slots[t]);
    }
    return true;
}

/* Puts an operation that was in slot `latest` into the first one from `slot` on that it may have.
 * Returns that. */
static uint32_t pull_up(row *w, uint8_t what, uint32_t slot, uint32_t latest, bool filling,
                        uint32_t limit) {
    for (; slot < w->end; slot++) {
        bool open = w->slots[slot] == FREE || (filling && w->slots[slot] == WEIGHT);
        if (open && insert(w, slot, what, filling, limit))
            return slot;
    }
    go_on(w, slot, filling);
    bool forward = what == LEG_F0 || what == LEG_F1;
    while (forward && w->held.chunks >= limit && w->end < latest)
        go_on(w, w->end + 1, filling);
    w->slots[w->end] = what;
    pass(&w->held, what);
    return w->end++;
}

/* Before the first end of a micro-batch; until the last begin of one; after it. */
typedef enum stretch { WARM_UP, STEADY, COOL_DOWN } stretch;

static stretch next_stretch(const grid *g, stretch now, uint32_t rank, uint8_t what) {
    if (now == WARM_UP && rank == 0 && what == LEG_I0)
        return STEADY;
    bool last = what == LEG_F0 && g->rows[rank].done[LEG_F0] == g->micro_batches - 1;
    return now == STEADY && last ? COOL_DOWN : now;
}

/* filling: W's only fill what others leave free, and the warm-up stays as it is. False: cancelled.
 */
static bool pull(grid *g, pp_builder *b, bool filling) {
    uint32_t limit = fill_weights(g);
    stretch at = WARM_UP;
    begin_sweep(g);
    for (uint32_t t = 0; t < g->width; t++) {
        if (pp_cancelled(b))
            return false;
        for (uint32_t r = 0; r < g->ranks; r++) {
            row *w = &g->rows[r];
            uint8_t what = w->slots[t];
            w->slots[t] = FREE;
            if (what == FREE || (filling && what == WEIGHT))
                continue;
            stretch before = at;
            at = next_stretch(g, at, r, what);
            bool stays = at == STEADY || before == STEADY || (filling && at == WARM_UP);
            uint32_t slot = t;
            if (!stays)
                slot = what == WEIGHT ? weight_earliest(w) : leg_earliest(g, r, what);
            slot = pull_up(w, what, slot, t, filling, limit);
            if (what == WEIGHT)
                w->weight = slot + 1;
            else
                w->at[what][w->done[what]++] = slot;
        }
    }
    return true;
}

/* All ranks keep their orders, each operation starts as early as it can. False: cancelled. */
static bool squeeze(grid *g, pp_builder *b) {
    begin_sweep(g);
    for (uint32_t t = 0; t < g->width; t++) {
        if (pp_cancelled(b))
            return false;
        for (uint32_t r = 0; r < g->ranks; r++) {
            row *w = &g->rows[r];
            uint8_t what = w->slots[t];
            if (what == FREE)
                continue;
            uint32_t slot = what == WEIGHT ? 0 : leg_earliest(g, r, what);
            if (slot < w->end)
                slot = w->end;
            w->slots[t] = FREE;
            w->slots[slot] = what;
            w->end = slot + 1;
            if (what < WEIGHT)
                w->at[what][w->done[what]++] = slot;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- the orders */

/* With more micro-batches than PP + 1, each further one adds six operations in the middle of each
 * rank's order, always the same, and changes nothing else: so the tests find for all PP that they
 * try. So this many are put in order, and further ones repeat the operations in their middle. */
static uint32_t enough(uint32_t ranks) {
    return 2 * ranks + 4;
}

/* Adds an operation of which `n` are before it in the order; the middle runs 1 + `further` times.
 */
static void add_op(pp_builder *b, mill_op_kind kind, uint32_t chunk, uint32_t n, uint32_t middle,
                   uint32_t further) {
    if (further && n == middle)
        pp_loop_begin(b, 1 + further);
    if (further && n == middle + VS_PERIOD)
        pp_loop_begin(b, 1);
    pp_add(b, kind, chunk);
}

/* W's of chunk 1 go first. */
static void add_row(pp_builder *b, const uint8_t *slots, uint32_t width, uint32_t middle,
                    uint32_t further) {
    static const pp_op legs[] = {
        [LEG_F0] = {.kind = MILL_OP_FORWARD, .chunk = 0},
        [LEG_F1] = {.kind = MILL_OP_FORWARD, .chunk = 1},
        [LEG_I1] = {.kind = MILL_OP_INPUT, .chunk = 1},
        [LEG_I0] = {.kind = MILL_OP_INPUT, .chunk = 0},
    };
    uint32_t owed[2] = {0, 0}, n = 0;
    for (uint32_t t = 0; t < width; t++) {
        uint32_t chunk = owed[1] > 0;
        if (slots[t] < WEIGHT) {
            const pp_op *op = &legs[slots[t]];
            add_op(b, op->kind, op->chunk, n++, middle, further);
            owed[op->chunk] += op->kind == MILL_OP_INPUT;
        } else if (owed[chunk]) {
            add_op(b, MILL_OP_WEIGHT, chunk, n++, middle, further);
            owed[chunk]--;
        }
    }
    assert(!owed[0] && !owed[1]);
}

void vs_add_orders(pp_builder *b, vs_block block, uint32_t ranks, uint32_t micro_batches) {
    uint32_t m = pp_min(micro_batches, enough(ranks));
    grid g;
    grid_init(&g, block, ranks, m);
    bool ordered = pull(&g, b, false) && squeeze(&g, b) && pull(&g, b, true) && squeeze(&g, b);
    for (uint32_t r = 0; r < ranks; r++) {
        pp_rank(b);
        if (ordered)
            add_row(b, g.rows[r].slots, g.width, VS_PERIOD * (ranks + 1), micro_batches - m);
    }
    grid_finish(&g);
}
