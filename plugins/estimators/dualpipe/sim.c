/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation where transfers never block (dep), and what callers ask of both modes.
 *
 * A rank runs its order until what it needs has not been sent yet, in whatever order ranks are
 * taken: all times follow from what each of them receives, so the result is the same. Ranks take
 * turns, so that none gets far ahead and what is in flight stays in the cache.
 */
#include "sim_private.h"

#define CANCEL_TURNS 8192u /* between two looks at `cancelled`: about a millisecond */

/* ---------------------------------------------------------------- dep */

/* Whether what an operation needs from a neighbour has come, and where it is (NULL: it needs
 * nothing); *start is put off until then. If not, the neighbour will wake this rank. */
static inline bool has_come(pp_workspace *w, const pp_edge *from, uint32_t cell, pp_way way,
                            uint32_t k, int64_t *start, int64_t **ret_slot) {
    *ret_slot = NULL;
    if (from->cell < 0)
        return true;
    int64_t *slot = pp_slot(w, cell, way, k);
    *ret_slot = slot;
    if (*slot < 0) {
        *slot = PP_WAITED;
        return false;
    }
    if (*slot > *start)
        *start = *slot;
    return true;
}

static inline void send(pp_workspace *w, const pp_edge *to, pp_way way, uint32_t k, int64_t time) {
    if (to->cell < 0)
        return;
    int64_t *slot = pp_free_slot(w, (uint32_t)to->cell, way, k);
    if (*slot == PP_WAITED)
        pp_make_ready(w, to->rank);
    *slot = pp_arrival(w, to->link, time);
}

/* Runs the next operation of a rank; false: it has to wait. The kind is a constant where this is
 * inlined. */
static inline bool run_op(pp_workspace *w, uint32_t r, pp_op op, uint8_t kind) {
    const pp_plan *plan = w->plan;
    uint32_t at = w->ranks[r].walk.at, cells = r * plan->chunks;
    uint32_t fc = cells + op.chunk, bc = cells + (kind == MILL_OP_PAIR ? op.chunk2 : op.chunk);
    pp_cell *f = &w->cells[fc], *b = &w->cells[bc];
    uint32_t f_mb = f->forwards, b_mb = b->backwards;
    if (plan->mb) {
        f_mb = plan->mb[at];
        b_mb = kind == MILL_OP_PAIR ? plan->mb2[at] : f_mb;
    }
    int64_t start = w->ranks[r].free, *f_slot = NULL, *b_slot = NULL;
    if (pp_has_forward(kind) && !has_come(w, &f->prev, fc, PP_ACTIVATIONS, f_mb, &start, &f_slot))
        return false;
    if (pp_has_backward(kind) && !has_come(w, &b->next, bc, PP_GRADIENTS, b_mb, &start, &b_slot))
        return false;
    if (f_slot)
        *f_slot = PP_EMPTY;
    if (b_slot)
        *b_slot = PP_EMPTY;
    int64_t end = pp_run_next(w, r, op, start);
    f->forwards += pp_has_forward(kind);
    b->backwards += pp_has_backward(kind);
    if (pp_has_forward(kind))
        send(w, &f->next, PP_ACTIVATIONS, f_mb, end);
    if (pp_has_backward(kind))
        send(w, &b->prev, PP_GRADIENTS, b_mb, end);
    return true;
}

static bool run_any(pp_workspace *w, uint32_t r) {
    pp_op op = w->plan->ops[w->ranks[r].walk.at];
    switch (op.kind) {
    case MILL_OP_FORWARD:
        return run_op(w, r, op, MILL_OP_FORWARD);
    case MILL_OP_BACKWARD:
    case MILL_OP_INPUT:
        return run_op(w, r, op, MILL_OP_BACKWARD);
    case MILL_OP_PAIR:
        return run_op(w, r, op, MILL_OP_PAIR);
    default:
        return run_op(w, r, op, MILL_OP_WEIGHT);
    }
}

static void take_turn(pp_workspace *w, uint32_t r) {
    const pp_walk *walk = &w->ranks[r].walk;
    for (int i = 0; walk->repeat; i++) {
        if (i == PP_TURN) {
            pp_make_ready(w, r);
            return;
        }
        if (!run_any(w, r))
            return;
    }
}

mill_status pp_run_ready(pp_workspace *w, mill_run *run, pp_turn_fn turn) {
    for (uint64_t turns = 0; w->ready_n > 0; turns++) {
        if (turns % CANCEL_TURNS == 0 && run && mill_cancelled(run))
            return MILL_E_CANCELLED;
        turn(w, pp_next_ready(w));
    }
    return MILL_OK;
}

/* The rank whose output the next operation of rank r lacks. */
static uint32_t lacks(const pp_workspace *w, uint32_t r) {
    const pp_walk *walk = &w->ranks[r].walk;
    if (!walk->repeat)
        return PP_NO_RANK;
    pp_op op = w->plan->ops[walk->at];
    uint32_t cells = r * w->plan->chunks, fc = cells + op.chunk;
    if (pp_has_forward(op.kind)) {
        uint32_t mb = w->plan->mb ? w->plan->mb[walk->at] : w->cells[fc].forwards;
        if (w->cells[fc].prev.cell >= 0 && *pp_slot(w, fc, PP_ACTIVATIONS, mb) < 0)
            return w->cells[fc].prev.rank;
    }
    return w->cells[cells + (op.kind == MILL_OP_PAIR ? op.chunk2 : op.chunk)].next.rank;
}

static mill_status run_dep(pp_workspace *w, mill_run *run) {
    mill_status status = pp_run_ready(w, run, take_turn);
    if (status != MILL_OK || pp_all_ended(w))
        return status;
    if (!run)
        return MILL_E_DATA;
    uint32_t *waits_for = mill_scratch(run, w->plan->ranks * sizeof *waits_for);
    for (uint32_t r = 0; r < w->plan->ranks; r++)
        waits_for[r] = lacks(w, r);
    return pp_tell_deadlock(w, run, waits_for);
}

/* run NULL: no cause is recorded. */
static mill_status run_any_mode(pp_workspace *w, mill_run *run) {
    return w->timing->comm == PP_COMM_BLOCKING ? pp_run_blocking(w, run) : run_dep(w, run);
}

/* ---------------------------------------------------------------- what callers get */

static mill_status tell_fault(mill_run *run, const pp_plan *plan, const pp_fault *fault) {
    if (fault->what == PP_FAULT_TOO_LONG)
        return mill_fail(run, MILL_E_DATA,
                         "%s: all durations and transfers together exceed 2^63 ns (292 years); "
                         "check the durations and their units",
                         plan->name);
    return mill_fail(run, MILL_E_DATA, "%s: the duration of %s on rank %u, chunk %u, is not known",
                     plan->name, pp_kind_name(fault->op.kind), fault->rank, fault->op.chunk);
}

/* Operations come from the cursor; the run fills in their times. */
static void begin_record(pp_workspace *w, mill_run *run, pp_result *result) {
    const pp_plan *plan = w->plan;
    result->first = mill_scratch(run, (plan->ranks + 1) * sizeof *result->first);
    result->items = mill_scratch(run, plan->total * sizeof *result->items);
    result->start = w->start = mill_scratch(run, plan->total * sizeof *result->start);
    result->end = w->end = mill_scratch(run, plan->total * sizeof *result->end);
    uint64_t n = 0;
    for (uint32_t r = 0; r < plan->ranks; r++) {
        result->first[r] = w->ranks[r].record = n;
        pp_cursor *cursor = pp_cursor_at(run, plan, r);
        while (pp_next(cursor, &result->items[n]))
            n++;
    }
    result->first[plan->ranks] = n;
}

static int64_t makespan(const pp_workspace *w) {
    int64_t longest = 0;
    for (uint32_t r = 0; r < w->plan->ranks; r++)
        if (w->ranks[r].free > longest)
            longest = w->ranks[r].free;
    return longest;
}

static void fill_ranks(const pp_workspace *w, mill_run *run, pp_result *result) {
    uint32_t n = w->plan->ranks;
    int64_t *live = mill_scratch(run, 2 * n * sizeof *live);
    pp_live(w->plan, false, live);
    pp_live(w->plan, true, live + n);
    result->ranks = mill_scratch(run, n * sizeof *result->ranks);
    for (uint32_t r = 0; r < n; r++)
        result->ranks[r] = (pp_rank_times){
            .busy = w->ranks[r].busy,
            .start = w->ranks[r].start,
            .end = w->ranks[r].free,
            .live = live[r],
            .live_weight = live[n + r],
        };
}

static mill_status simulate(pp_workspace *w, mill_run *run, const pp_plan *plan,
                            const pp_timing *timing, uint32_t flags, pp_result *ret_result) {
    pp_fault fault;
    if (!pp_prepare(w, plan, timing, &fault))
        return tell_fault(run, plan, &fault);
    pp_result result = {0};
    if (flags & PP_RECORD)
        begin_record(w, run, &result);
    mill_status status = run_any_mode(w, run);
    if (status != MILL_OK)
        return status;
    result.makespan = makespan(w);
    fill_ranks(w, run, &result);
    *ret_result = result;
    return MILL_OK;
}

mill_status pp_simulate(mill_run *run, const pp_plan *plan, const pp_timing *timing, uint32_t flags,
                        pp_result *ret_result) {
    pp_workspace *w = pp_workspace_create();
    mill_status status = simulate(w, run, plan, timing, flags, ret_result);
    pp_workspace_destroy(w);
    return status;
}

int64_t pp_makespan(pp_workspace *w, const pp_plan *plan, const pp_timing *timing) {
    pp_fault fault;
    if (!pp_prepare(w, plan, timing, &fault) || run_any_mode(w, NULL) != MILL_OK)
        return MILL_UNKNOWN;
    return makespan(w);
}
