/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation where transfers block, as in dualpipe.py.
 *
 * A rank posts sends and receives; before its next operation it waits until all that it has posted
 * are done (_commit_and_wait_comm, one batch_isend_irecv). A transfer begins when both sides have
 * posted it. Between two operations no time passes, so what is posted there is one batch.
 *
 * By default the receives of an operation are posted before it, its sends after it. For the plans
 * of the families dualpipe and dualpipev step() of dualpipe.py and dualpipev.py is followed, which
 * differs in these places. Phase 0 is the direction that begins nearer to the rank, in DualPipeV
 * the chunk on the way down; "middle" are the two middle ranks, in DualPipeV the last one.
 *   Step 2 (F0 F1): the receive of the next F0 is posted before F1, the last time for step 4. F0 is
 *     sent after F1, but on middle ranks at once; there the last F1 is sent after step 4's F0.
 *   Step 3 (Bi1 W F1): the receive of F1 is posted before W.
 *   Step 4, the first pair of middle ranks, which is split: F0 is sent after B1.
 * So a late send is one operation late, and an early receive is for the next forward of its cell.
 */
#include "sim_private.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

typedef enum rule { RULE_DEFAULT, RULE_DUALPIPE, RULE_DUALPIPEV } rule;

/* A transfer that a cell takes part in. */
typedef struct transfer {
    uint32_t cell;
    bool sends;
    pp_way way;
    uint32_t mb;
} transfer;

#define MOST 6 /* transfers of a batch: of two pairs, one late and one early */

/* What a rank has posted since its last operation. */
typedef struct batch {
    uint32_t n_open, open[MOST]; /* other sides that have not posted theirs yet */
    int64_t done;                /* end of the last transfer that both have posted */
    transfer late;               /* a send to post after the next operation */
    bool has_late;
    bool committed; /* all is posted: the rank waits */
    uint8_t step;   /* of the last operation */
} batch;

struct pp_blocking {
    rule rule;
    batch batches[]; /* of each rank */
};

/* ---------------------------------------------------------------- transfers */

static void post_within(pp_workspace *w, uint32_t r, const transfer *t, int64_t *slot) {
    batch *mine = &w->blocking->batches[r];
    if (t->sends)
        *slot = w->ranks[r].free;
    else if (*slot >= 0)
        *slot = PP_EMPTY;
    else
        mine->open[mine->n_open++] = r; /* comes later in its own order: never */
}

static void close_one(batch *b, uint32_t with) {
    for (uint32_t i = 0; i < b->n_open; i++)
        if (b->open[i] == with) {
            b->open[i] = b->open[--b->n_open];
            return;
        }
}

static void end_at(batch *b, int64_t time) {
    if (time > b->done)
        b->done = time;
}

/* The cell that sends. */
static const pp_cell *sender(const pp_workspace *w, const transfer *t) {
    if (t->sends)
        return &w->cells[t->cell];
    return &w->cells[t->way == PP_ACTIVATIONS ? w->plan->prev[t->cell] : w->plan->next[t->cell]];
}

static void post(pp_workspace *w, uint32_t r, transfer t) {
    const pp_cell *cell = &w->cells[t.cell];
    pp_way to = t.sends ? t.way : !t.way; /* the neighbour is the one that is sent this way */
    if (!cell->out[to])
        return;
    bool within = cell->link[to] == 0;
    int64_t *slot = within && t.sends ? pp_out(w, cell, t.way, t.mb)
                    : t.sends         ? &cell->out[t.way][t.mb & w->mask]
                                      : pp_in(w, cell, t.way, t.mb);
    if (within) {
        post_within(w, r, &t, slot);
        return;
    }
    batch *mine = &w->blocking->batches[r], *other = &w->blocking->batches[cell->rank[to]];
    int64_t time = w->ranks[r].free;
    if (*slot < 0) {
        *slot = time;
        mine->open[mine->n_open++] = cell->rank[to];
        return;
    }
    if (time < *slot)
        time = *slot;
    *slot = PP_EMPTY;
    int64_t end = pp_arrival(w, sender(w, &t), t.way, time);
    end_at(mine, end);
    end_at(other, end);
    close_one(other, r);
    if (other->n_open == 0 && other->committed)
        pp_make_ready(w, cell->rank[to]);
}

/* ---------------------------------------------------------------- what step() does otherwise */

static rule rule_of(const pp_plan *plan) {
    if (plan->mb)
        return RULE_DEFAULT;
    return strcmp(plan->id, "dualpipe") == 0    ? RULE_DUALPIPE
           : strcmp(plan->id, "dualpipev") == 0 ? RULE_DUALPIPEV
                                                : RULE_DEFAULT;
}

static bool is_phase0(rule by, const pp_plan *plan, uint32_t r, uint8_t chunk) {
    bool second_half = by == RULE_DUALPIPE && r >= plan->ranks / 2;
    return chunk == second_half;
}

static bool is_middle(rule by, const pp_plan *plan, uint32_t r) {
    if (by == RULE_DUALPIPEV)
        return r == plan->ranks - 1;
    return r == plan->ranks / 2 - 1 || r == plan->ranks / 2;
}

/* The receive of this forward was posted earlier. before: step of the operation before it. */
static bool was_early(rule by, const pp_plan *plan, uint32_t r, pp_op op, uint8_t before) {
    if (by == RULE_DEFAULT)
        return false;
    return op.step == 3 || (op.step == 2 && before == 2 && is_phase0(by, plan, r, op.chunk)) ||
           (op.step == 4 && before < 4);
}

/* The receive of the next forward of this operation's cell is posted after it. */
static bool receives_early(rule by, const pp_plan *plan, uint32_t r, pp_op op) {
    if (by == RULE_DEFAULT)
        return false;
    return (op.step == 3 && op.kind == MILL_OP_INPUT) ||
           (op.step == 2 && is_phase0(by, plan, r, op.chunk));
}

/* This forward is sent after the next operation, which is of step `after`. */
static bool is_late(rule by, const pp_plan *plan, uint32_t r, pp_op op, uint8_t after) {
    if (by == RULE_DEFAULT || op.kind != MILL_OP_FORWARD)
        return false;
    if (!is_middle(by, plan, r))
        return op.step == 2 && is_phase0(by, plan, r, op.chunk);
    return op.step == 4 || (op.step == 2 && after == 4);
}

void pp_posted(const pp_plan *plan, uint32_t rank, const pp_item *items, uint64_t n,
               uint64_t *ret_received, uint64_t *ret_sent) {
    rule by = rule_of(plan);
    uint64_t early[UINT8_MAX + 1] = {0}; /* by chunk: where its next receive was posted */
    for (uint64_t i = 0; i < n; i++) {
        pp_op op = items[i].op;
        uint8_t before = i ? items[i - 1].op.step : 0, after = i + 1 < n ? items[i + 1].op.step : 0;
        ret_received[i] = was_early(by, plan, rank, op, before) ? early[op.chunk] : i;
        ret_sent[i] = i + 1 + is_late(by, plan, rank, op, after);
        if (receives_early(by, plan, rank, op))
            early[op.chunk] = i + 1;
    }
}

/* ---------------------------------------------------------------- a rank */

/* Cells and micro-batches of an operation. */
typedef struct halves {
    uint32_t f_cell, b_cell, f_mb, b_mb;
} halves;

static halves halves_of_next(const pp_workspace *w, uint32_t r, pp_op op) {
    const pp_plan *plan = w->plan;
    uint32_t at = w->ranks[r].walk.at, cells = r * plan->chunks;
    bool pair = op.kind == MILL_OP_PAIR;
    halves h = {.f_cell = cells + op.chunk, .b_cell = cells + (pair ? op.chunk2 : op.chunk)};
    h.f_mb = plan->mb ? plan->mb[at] : w->cells[h.f_cell].sent[PP_ACTIVATIONS];
    h.b_mb = !plan->mb ? w->cells[h.b_cell].sent[PP_GRADIENTS]
             : pair    ? plan->mb2[at]
                       : plan->mb[at];
    return h;
}

static void commit(pp_workspace *w, uint32_t r, pp_op op, const halves *h) {
    batch *b = &w->blocking->batches[r];
    if (pp_has_forward(op.kind) && !was_early(w->blocking->rule, w->plan, r, op, b->step))
        post(w, r, (transfer){h->f_cell, false, PP_ACTIVATIONS, h->f_mb});
    if (pp_has_backward(op.kind))
        post(w, r, (transfer){h->b_cell, false, PP_GRADIENTS, h->b_mb});
    b->committed = true;
}

static void post_after(pp_workspace *w, uint32_t r, pp_op op, const halves *h) {
    batch *b = &w->blocking->batches[r];
    const pp_walk *walk = &w->ranks[r].walk;
    uint8_t after = walk->repeat ? w->plan->ops[walk->at].step : 0;
    transfer forward = {h->f_cell, true, PP_ACTIVATIONS, h->f_mb};
    if (b->has_late)
        post(w, r, b->late);
    b->has_late = is_late(w->blocking->rule, w->plan, r, op, after);
    if (b->has_late)
        b->late = forward;
    else if (pp_has_forward(op.kind))
        post(w, r, forward);
    if (pp_has_backward(op.kind))
        post(w, r, (transfer){h->b_cell, true, PP_GRADIENTS, h->b_mb});
    uint32_t next = w->cells[h->f_cell].sent[PP_ACTIVATIONS];
    if (receives_early(w->blocking->rule, w->plan, r, op))
        post(w, r, (transfer){h->f_cell, false, PP_ACTIVATIONS, next});
}

static void run_committed(pp_workspace *w, uint32_t r, pp_op op, const halves *h) {
    batch *b = &w->blocking->batches[r];
    pp_rank_state *rank = &w->ranks[r];
    int64_t start = rank->free > b->done ? rank->free : b->done;
    int64_t duration = pp_op_duration(w, r, op);
    if (w->singly)
        duration = pp_begin_one(w, r, start, duration);
    if (rank->start == PP_EMPTY)
        rank->start = start;
    rank->free = start + duration;
    pp_walk_on(w->plan, &rank->walk);
    w->cells[h->f_cell].sent[PP_ACTIVATIONS] += pp_has_forward(op.kind);
    w->cells[h->b_cell].sent[PP_GRADIENTS] += pp_has_backward(op.kind);
    b->committed = false;
    b->done = 0;
    post_after(w, r, op, h);
    b->step = op.step;
}

static void take_turn(pp_workspace *w, uint32_t r) {
    batch *b = &w->blocking->batches[r];
    const pp_walk *walk = &w->ranks[r].walk;
    for (int i = 0; walk->repeat; i++) {
        if (i == PP_TURN) {
            pp_make_ready(w, r);
            return;
        }
        pp_op op = w->plan->ops[walk->at];
        halves h = halves_of_next(w, r, op);
        if (!b->committed)
            commit(w, r, op, &h);
        if (b->n_open > 0)
            return;
        run_committed(w, r, op, &h);
    }
}

static mill_status tell_waiting(const pp_workspace *w, mill_run *run) {
    uint32_t *waits_for = mill_scratch(run, w->plan->ranks * sizeof *waits_for);
    for (uint32_t r = 0; r < w->plan->ranks; r++)
        waits_for[r] = w->ranks[r].walk.repeat ? w->blocking->batches[r].open[0] : PP_NO_RANK;
    return pp_tell_deadlock(w, run, waits_for);
}

mill_status pp_run_blocking(pp_workspace *w, mill_run *run) {
    size_t size = w->plan->ranks * sizeof(batch);
    w->blocking = kit_alloc(1, sizeof *w->blocking + size);
    w->blocking->rule = rule_of(w->plan);
    mill_status status = pp_run_ready(w, run, take_turn);
    if (status == MILL_OK && !pp_all_ended(w))
        status = run ? tell_waiting(w, run) : MILL_E_DATA;
    free(w->blocking);
    w->blocking = NULL;
    return status;
}
