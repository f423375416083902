/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation where transfers never block (dep), and what callers ask of both modes.
 *
 * A rank runs its order until what it needs has not been sent yet, in whatever order ranks are
 * taken: all times follow from what each of them receives, so the result is the same. Ranks take
 * turns, so that none gets far ahead and what is in flight stays in the cache.
 */
#include "sim_private.h"

/* ---------------------------------------------------------------- dep */

/* Whether what a cell receives one way has come, or it receives nothing, and where it is (NULL:
 * nothing); *start is put off until then. If not, the neighbour will wake this rank. */
static inline bool has_come(const pp_workspace *w, const pp_cell *cell, pp_way way, uint32_t k,
                            int64_t *start, int64_t **ret_slot) {
    *ret_slot = NULL;
    if (!cell->out[!way])
        return true;
    int64_t *slot = pp_in(w, cell, way, k);
    *ret_slot = slot;
    if (*slot < 0) {
        *slot = PP_WAITED;
        return false;
    }
    if (*slot > *start)
        *start = *slot;
    return true;
}

static inline void send(pp_workspace *w, pp_cell *cell, pp_way way, uint32_t k, int64_t time) {
    cell->sent[way]++;
    if (!cell->out[way])
        return;
    int64_t *slot = pp_out(w, cell, way, k);
    if (*slot == PP_WAITED)
        pp_make_ready(w, cell->rank[way]);
    *slot = pp_arrival(w, cell, way, time);
}

/* A rank in its turn: copies that the compiler may keep in registers. */
typedef struct turn {
    pp_workspace *w;
    uint32_t rank;
    pp_cell *cells; /* of the rank */
    pp_walk walk;
    int64_t start, time; /* of its last operation: when it started, and ended */
} turn;

/* Runs the next operation; false: the rank has to wait. Inlined with a constant kind, and with
 * whether the plan numbers micro-batches. */
static inline __attribute__((always_inline)) bool run_op(turn *t, pp_op op, uint8_t kind,
                                                         bool numbered) {
    pp_workspace *w = t->w;
    bool forward = pp_has_forward(kind), backward = pp_has_backward(kind);
    pp_cell *f = &t->cells[op.chunk];
    pp_cell *b = kind == MILL_OP_PAIR ? &t->cells[op.chunk2] : f;
    uint32_t f_mb = numbered ? w->plan->mb[t->walk.at] : f->sent[PP_ACTIVATIONS];
    uint32_t b_mb = !numbered              ? b->sent[PP_GRADIENTS]
                    : kind == MILL_OP_PAIR ? w->plan->mb2[t->walk.at]
                                           : f_mb;
    int64_t start = t->time, *f_slot = NULL, *b_slot = NULL;
    if (forward && !has_come(w, f, PP_ACTIVATIONS, f_mb, &start, &f_slot))
        return false;
    if (backward && !has_come(w, b, PP_GRADIENTS, b_mb, &start, &b_slot))
        return false;
    if (f_slot)
        *f_slot = PP_EMPTY;
    if (b_slot)
        *b_slot = PP_EMPTY;
    int64_t duration = pp_op_duration(w, t->rank, op);
    if (w->singly)
        duration = pp_begin_one(w, t->rank, start, duration);
    t->start = start;
    t->time = start + duration;
    pp_walk_on(w->plan, &t->walk);
    if (forward)
        send(w, f, PP_ACTIVATIONS, f_mb, t->time);
    if (backward)
        send(w, b, PP_GRADIENTS, b_mb, t->time);
    return true;
}

static inline __attribute__((always_inline)) bool run_any(turn *t, bool numbered) {
    pp_op op = t->w->plan->ops[t->walk.at];
    switch (op.kind) {
    case MILL_OP_FORWARD:
        return run_op(t, op, MILL_OP_FORWARD, numbered);
    case MILL_OP_BACKWARD:
    case MILL_OP_INPUT:
        return run_op(t, op, MILL_OP_BACKWARD, numbered);
    case MILL_OP_PAIR:
        return run_op(t, op, MILL_OP_PAIR, numbered);
    default:
        return run_op(t, op, MILL_OP_WEIGHT, numbered);
    }
}

static inline __attribute__((always_inline)) void take_turn(pp_workspace *w, uint32_t r,
                                                            bool numbered) {
    pp_rank_state *rank = &w->ranks[r];
    turn t = {w, r, &w->cells[r * w->plan->chunks], rank->walk, rank->start, rank->free};
    int left = rank->start == PP_EMPTY ? 1 : PP_TURN; /* the start of the first one is kept */
    while (t.walk.repeat && left && run_any(&t, numbered))
        left--;
    if (rank->start == PP_EMPTY)
        rank->start = t.start;
    rank->walk = t.walk;
    rank->free = t.time;
    if (t.walk.repeat && left == 0)
        pp_make_ready(w, r);
}

static void take_counted_turn(pp_workspace *w, uint32_t r) {
    take_turn(w, r, false);
}

static void take_numbered_turn(pp_workspace *w, uint32_t r) {
    take_turn(w, r, true);
}

/* The rank whose output the next operation of rank r lacks. */
static uint32_t lacks(const pp_workspace *w, uint32_t r) {
    const pp_walk *walk = &w->ranks[r].walk;
    if (!walk->repeat)
        return PP_NO_RANK;
    pp_op op = w->plan->ops[walk->at];
    const pp_cell *cells = &w->cells[r * w->plan->chunks], *f = &cells[op.chunk];
    uint32_t mb = w->plan->mb ? w->plan->mb[walk->at] : f->sent[PP_ACTIVATIONS];
    if (pp_has_forward(op.kind) && f->out[PP_GRADIENTS] && *pp_in(w, f, PP_ACTIVATIONS, mb) < 0)
        return f->rank[PP_GRADIENTS];
    return cells[op.kind == MILL_OP_PAIR ? op.chunk2 : op.chunk].rank[PP_ACTIVATIONS];
}

static mill_status run_dep(pp_workspace *w, mill_run *run) {
    mill_status status = w->plan->mb ? pp_run_ready(w, run, take_numbered_turn)
                                     : pp_run_ready(w, run, take_counted_turn);
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
    w->singly = true;
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
            .start = w->ranks[r].start == PP_EMPTY ? 0 : w->ranks[r].start,
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
    if (status != MILL_OK) {
        ret_result->stands_still = status == MILL_E_DATA;
        return status;
    }
    result.makespan = makespan(w);
    if (!(flags & PP_MAKESPAN))
        fill_ranks(w, run, &result);
    *ret_result = result;
    return MILL_OK;
}

mill_status pp_simulate(mill_run *run, const pp_plan *plan, const pp_timing *timing, uint32_t flags,
                        pp_result *ret_result) {
    pp_workspace *w = pp_workspace_create();
    *ret_result = (pp_result){0};
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
