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

/* A transfer, as one of its sides sees it. */
typedef struct transfer {
    pp_edge with;
    uint32_t cell; /* that receives */
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

static void post_within(pp_workspace *w, uint32_t r, const transfer *t, bool sends) {
    batch *mine = &w->blocking->batches[r];
    int64_t *slot =
        sends ? pp_free_slot(w, t->cell, t->way, t->mb) : pp_slot(w, t->cell, t->way, t->mb);
    if (sends)
        *slot = w->ranks[r].free;
    else if (*slot >= 0)
        *slot = PP_EMPTY;
    else
        mine->open[mine->n_open++] = r; /* comes later in its own order: never */
}

static void close_one(batch *b, uint32_t with) {
    uint32_t i = 0;
    while (b->open[i] != with)
        i++;
    b->open[i] = b->open[--b->n_open];
}

static void end_at(batch *b, int64_t time) {
    if (time > b->done)
        b->done = time;
}

static void post(pp_workspace *w, uint32_t r, const transfer *t, bool sends) {
    if (t->with.cell < 0)
        return;
    if (t->with.link == 0) {
        post_within(w, r, t, sends);
        return;
    }
    batch *mine = &w->blocking->batches[r], *other = &w->blocking->batches[t->with.rank];
    int64_t *slot = pp_slot(w, t->cell, t->way, t->mb), time = w->ranks[r].free;
    if (*slot < 0) {
        *slot = time;
        mine->open[mine->n_open++] = t->with.rank;
        return;
    }
    if (time < *slot)
        time = *slot;
    *slot = PP_EMPTY;
    const pp_cell *with = &w->cells[t->with.cell];
    uint32_t back = (t->way == PP_ACTIVATIONS ? with->next : with->prev).link;
    int64_t end = pp_arrival(w, sends ? t->with.link : back, time);
    end_at(mine, end);
    end_at(other, end);
    close_one(other, r);
    if (other->n_open == 0 && other->committed)
        pp_make_ready(w, t->with.rank);
}

static void receive(pp_workspace *w, uint32_t r, uint32_t cell, pp_way way, uint32_t mb) {
    const pp_cell *to = &w->cells[cell];
    post(w, r, &(transfer){way == PP_ACTIVATIONS ? to->prev : to->next, cell, way, mb}, false);
}

static transfer sent_from(const pp_workspace *w, uint32_t cell, pp_way way, uint32_t mb) {
    const pp_cell *from = &w->cells[cell];
    pp_edge with = way == PP_ACTIVATIONS ? from->next : from->prev;
    return (transfer){with, (uint32_t)with.cell, way, mb};
}

/* ---------------------------------------------------------------- what step() does otherwise */

static rule rule_of(const pp_plan *plan) {
    if (plan->mb)
        return RULE_DEFAULT;
    return strcmp(plan->id, "dualpipe") == 0    ? RULE_DUALPIPE
           : strcmp(plan->id, "dualpipev") == 0 ? RULE_DUALPIPEV
                                                : RULE_DEFAULT;
}

static bool is_phase0(const pp_workspace *w, uint32_t r, uint8_t chunk) {
    bool second_half = w->blocking->rule == RULE_DUALPIPE && r >= w->plan->ranks / 2;
    return chunk == second_half;
}

static bool is_middle(const pp_workspace *w, uint32_t r) {
    uint32_t ranks = w->plan->ranks;
    if (w->blocking->rule == RULE_DUALPIPEV)
        return r == ranks - 1;
    return r == ranks / 2 - 1 || r == ranks / 2;
}

/* The receive of this forward was posted earlier. before: step of the operation before it. */
static bool was_early(const pp_workspace *w, uint32_t r, pp_op op, uint8_t before) {
    if (w->blocking->rule == RULE_DEFAULT)
        return false;
    return op.step == 3 || (op.step == 2 && before == 2 && is_phase0(w, r, op.chunk)) ||
           (op.step == 4 && before < 4);
}

/* The receive of the next forward of this operation's cell is posted after it. */
static bool receives_early(const pp_workspace *w, uint32_t r, pp_op op) {
    if (w->blocking->rule == RULE_DEFAULT)
        return false;
    return (op.step == 3 && op.kind == MILL_OP_INPUT) ||
           (op.step == 2 && is_phase0(w, r, op.chunk));
}

/* This forward is sent after the next operation, which is of step `after`. */
static bool is_late(const pp_workspace *w, uint32_t r, pp_op op, uint8_t after) {
    if (w->blocking->rule == RULE_DEFAULT || op.kind != MILL_OP_FORWARD)
        return false;
    if (!is_middle(w, r))
        return op.step == 2 && is_phase0(w, r, op.chunk);
    return op.step == 4 || (op.step == 2 && after == 4);
}

/* ---------------------------------------------------------------- a rank */

/* Micro-batches of the next operation of a rank, and its cells. */
typedef struct halves {
    uint32_t f_cell, b_cell, f_mb, b_mb;
} halves;

static halves halves_of(const pp_workspace *w, uint32_t r, pp_op op) {
    const pp_plan *plan = w->plan;
    uint32_t at = w->ranks[r].walk.at, cells = r * plan->chunks;
    bool pair = op.kind == MILL_OP_PAIR;
    halves h = {.f_cell = cells + op.chunk, .b_cell = cells + (pair ? op.chunk2 : op.chunk)};
    h.f_mb = plan->mb ? plan->mb[at] : w->cells[h.f_cell].forwards;
    h.b_mb = !plan->mb ? w->cells[h.b_cell].backwards : pair ? plan->mb2[at] : plan->mb[at];
    return h;
}

static void commit(pp_workspace *w, uint32_t r, pp_op op, const halves *h) {
    batch *b = &w->blocking->batches[r];
    if (pp_has_forward(op.kind) && !was_early(w, r, op, b->step))
        receive(w, r, h->f_cell, PP_ACTIVATIONS, h->f_mb);
    if (pp_has_backward(op.kind))
        receive(w, r, h->b_cell, PP_GRADIENTS, h->b_mb);
    b->committed = true;
}

static void send_after(pp_workspace *w, uint32_t r, pp_op op, const halves *h) {
    batch *b = &w->blocking->batches[r];
    const pp_walk *walk = &w->ranks[r].walk;
    uint8_t after = walk->repeat ? w->plan->ops[walk->at].step : 0;
    transfer forward = sent_from(w, h->f_cell, PP_ACTIVATIONS, h->f_mb);
    transfer backward = sent_from(w, h->b_cell, PP_GRADIENTS, h->b_mb);
    if (b->has_late)
        post(w, r, &b->late, true);
    b->has_late = is_late(w, r, op, after);
    if (b->has_late)
        b->late = forward;
    else if (pp_has_forward(op.kind))
        post(w, r, &forward, true);
    if (pp_has_backward(op.kind))
        post(w, r, &backward, true);
    if (receives_early(w, r, op))
        receive(w, r, h->f_cell, PP_ACTIVATIONS, w->cells[h->f_cell].forwards);
}

static void run_committed(pp_workspace *w, uint32_t r, pp_op op, const halves *h) {
    batch *b = &w->blocking->batches[r];
    int64_t free = w->ranks[r].free;
    pp_run_next(w, r, op, free > b->done ? free : b->done);
    w->cells[h->f_cell].forwards += pp_has_forward(op.kind);
    w->cells[h->b_cell].backwards += pp_has_backward(op.kind);
    b->committed = false;
    b->done = 0;
    send_after(w, r, op, h);
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
        halves h = halves_of(w, r, op);
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
