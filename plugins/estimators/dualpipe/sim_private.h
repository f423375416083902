/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the simulation share: the state of a run, and small steps that are inlined. */
#ifndef DUALPIPE_SIM_PRIVATE_H
#define DUALPIPE_SIM_PRIVATE_H

#include "sim.h"

/* What travels: activations to the next stage, gradients to the previous one. */
typedef enum pp_way { PP_ACTIVATIONS, PP_GRADIENTS } pp_way;

/* A neighbour along the model. */
typedef struct pp_edge {
    int32_t cell;  /* -1: none */
    uint32_t rank; /* that holds it */
    uint32_t link; /* from this rank to that one, from 1; 0: the same rank */
} pp_edge;

/* A cache line. */
typedef struct pp_cell {
    int64_t duration[4];          /* of F, B, Bi, W: kind - MILL_OP_FORWARD */
    uint32_t forwards, backwards; /* run so far */
    pp_edge next, prev;
} pp_cell;

/* Where a rank is in its order. `at` is its next operation in the plan's `ops`. */
typedef struct pp_walk {
    uint32_t at, first, end; /* of the loop's operations */
    uint32_t repeat;         /* repetitions left, with this one; 0: the order has ended */
    uint32_t loop, last;     /* this loop; the first of the next rank */
} pp_walk;

/* A cache line. */
typedef struct pp_rank_state {
    pp_walk walk;
    uint64_t place; /* operations run */
    int64_t free;   /* when the last of them ended */
    int64_t start;  /* of the first one */
    int64_t busy;
    uint64_t record; /* index of its first operation in `start` and `end` below */
} pp_rank_state;

#define PP_TURN 32 /* operations of a rank before the next one has its turn */

/* Slots hold a time, or one of these. */
#define PP_EMPTY (-1)
#define PP_WAITED (-2) /* empty, and the receiving rank waits for it */

struct pp_workspace {
    const pp_plan *plan;
    const pp_timing *timing;
    pp_cell *cells;
    pp_rank_state *ranks;
    int64_t *pairs;     /* durations by rank, chunk, chunk2; NULL: the plan has no pairs */
    int64_t *link_free; /* by link: when it can take the next transfer; NULL: always */

    /* Ranks that can go on: a ring, each at most once. */
    uint32_t *ready;
    uint32_t ready_head, ready_n;

    /* What has been sent and not been used yet: for each cell and way a ring of 2^shift slots, by
     * the number of the micro-batch if the plan tells it, else by how many came before. */
    int64_t *slots;
    uint32_t shift;

    struct pp_blocking *blocking; /* what only that mode needs, while it runs */

    int64_t *start, *end; /* of each operation, or NULL: not recorded */

    void *memory; /* of all but the slots */
    size_t room, slot_room;
};

/* Why a plan can't be run with a timing. */
typedef struct pp_fault {
    enum { PP_FAULT_UNKNOWN, PP_FAULT_TOO_LONG } what;
    uint32_t rank; /* of an operation whose duration is not known */
    pp_op op;
} pp_fault;

/* ---------------------------------------------------------------- parts */

/* Empties the state for a plan and a timing. False with the reason if they can't be run. */
bool pp_prepare(pp_workspace *w, const pp_plan *plan, const pp_timing *timing, pp_fault *ret_fault);

/* Fills in durations, and proves that no time of the run exceeds an int64. */
bool pp_take_durations(pp_workspace *w, pp_fault *ret_fault);

/* A duration with the jitter of operation `place` of a rank. */
int64_t pp_jittered(const pp_timing *timing, uint32_t rank, uint64_t place, int64_t duration);

/* Doubles the slots of each ring. */
void pp_grow_slots(pp_workspace *w);

/* Gives ranks that can go on a turn each until there are none. `run` may be NULL. MILL_OK or
 * E_CANCELLED. */
typedef void (*pp_turn_fn)(pp_workspace *w, uint32_t rank);
mill_status pp_run_ready(pp_workspace *w, mill_run *run, pp_turn_fn turn);
bool pp_all_ended(const pp_workspace *w);

/* Runs all, where transfers block. Like pp_simulate. */
mill_status pp_run_blocking(pp_workspace *w, mill_run *run);

/* Fails with the cycle of waiting ranks. waits_for: the rank that each one waits for, or
 * PP_NO_RANK. */
#define PP_NO_RANK UINT32_MAX
mill_status pp_tell_deadlock(const pp_workspace *w, mill_run *run, const uint32_t *waits_for);
const char *pp_kind_name(uint8_t kind); /* "Bi" */

/* ---------------------------------------------------------------- small steps */

static inline bool pp_has_forward(uint8_t kind) {
    return kind == MILL_OP_FORWARD || kind == MILL_OP_PAIR;
}
static inline bool pp_has_backward(uint8_t kind) {
    return kind == MILL_OP_BACKWARD || kind == MILL_OP_INPUT || kind == MILL_OP_PAIR;
}

static inline void pp_enter_loop(const pp_plan *plan, pp_walk *walk) {
    walk->repeat = 0;
    if (walk->loop == walk->last)
        return;
    const pp_loop *loop = &plan->loops[walk->loop];
    walk->at = walk->first = loop->first;
    walk->end = loop->first + loop->n;
    walk->repeat = loop->repeat;
}

static inline void pp_walk_on(const pp_plan *plan, pp_walk *walk) {
    if (++walk->at < walk->end)
        return;
    walk->at = walk->first;
    if (--walk->repeat == 0) {
        walk->loop++;
        pp_enter_loop(plan, walk);
    }
}

static inline int64_t *pp_slot(const pp_workspace *w, uint32_t cell, pp_way way, uint32_t k) {
    uint32_t mask = (1u << w->shift) - 1;
    return &w->slots[(((size_t)cell * 2 + way) << w->shift) + (k & mask)];
}

/* The same for what is sent now. In a plan that numbers its micro-batches each has its own slot. */
static inline int64_t *pp_free_slot(pp_workspace *w, uint32_t cell, pp_way way, uint32_t k) {
    int64_t *slot = pp_slot(w, cell, way, k);
    while (*slot >= 0 && !w->plan->mb) { /* an earlier one is still there */
        pp_grow_slots(w);
        slot = pp_slot(w, cell, way, k);
    }
    return slot;
}

static inline void pp_make_ready(pp_workspace *w, uint32_t rank) {
    uint32_t at = w->ready_head + w->ready_n++;
    w->ready[at < w->plan->ranks ? at : at - w->plan->ranks] = rank;
}

static inline uint32_t pp_next_ready(pp_workspace *w) {
    uint32_t rank = w->ready[w->ready_head++];
    if (w->ready_head == w->plan->ranks)
        w->ready_head = 0;
    w->ready_n--;
    return rank;
}

/* When what is sent over a link at `time` arrives. */
static inline int64_t pp_arrival(pp_workspace *w, uint32_t link, int64_t time) {
    if (link == 0)
        return time;
    if (w->link_free) {
        if (time < w->link_free[link])
            time = w->link_free[link];
        time += w->timing->occupied;
        w->link_free[link] = time;
    }
    return time + w->timing->latency;
}

static inline int64_t pp_op_duration(const pp_workspace *w, uint32_t rank, pp_op op) {
    size_t cell = (size_t)rank * w->plan->chunks + op.chunk;
    return op.kind == MILL_OP_PAIR ? w->pairs[cell * w->plan->chunks + op.chunk2]
                                   : w->cells[cell].duration[op.kind - MILL_OP_FORWARD];
}

/* Runs the next operation of a rank at `start`, and gives its end. */
static inline int64_t pp_run_next(pp_workspace *w, uint32_t r, pp_op op, int64_t start) {
    pp_rank_state *rank = &w->ranks[r];
    int64_t duration = pp_op_duration(w, r, op);
    if (w->timing->jitter)
        duration = pp_jittered(w->timing, r, rank->place, duration);
    int64_t end = start + duration;
    if (w->start) {
        w->start[rank->record + rank->place] = start;
        w->end[rank->record + rank->place] = end;
    }
    if (rank->place == 0)
        rank->start = start;
    rank->place++;
    rank->busy += duration;
    rank->free = end;
    pp_walk_on(w->plan, &rank->walk);
    return end;
}

#endif
