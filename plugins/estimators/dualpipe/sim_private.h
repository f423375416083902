/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the simulation share: the state of a run, and small steps that are inlined. */
#ifndef DUALPIPE_SIM_PRIVATE_H
#define DUALPIPE_SIM_PRIVATE_H

#include "sim.h"

/* What travels: activations to the next stage, gradients to the previous one. A cell that sends the
 * one way receives the other way from the same neighbour. */
typedef enum pp_way { PP_ACTIVATIONS, PP_GRADIENTS } pp_way;

/* What has been sent to a cell and not been used yet stands in a ring of slots for each way, by the
 * number of the micro-batch if the plan tells it, else by how many came before. A slot holds a time
 * or one of these: */
#define PP_EMPTY (-1)
#define PP_WAITED (-2) /* empty, and the receiving rank waits for it */

/* A cache line. Arrays are by way. */
typedef struct pp_cell {
    int64_t *in;      /* its rings: activations, then gradients */
    int64_t *out[2];  /* the ring of the neighbour that it sends to; NULL: none */
    int64_t delay[2]; /* latency to it; 0 within the rank */
    uint32_t sent[2]; /* forwards and backwards run so far */
    uint32_t rank[2]; /* that holds the neighbour */
    uint32_t link[2]; /* from this rank to that one, from 1; 0: the same rank */
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
    int64_t free;    /* when its last operation ended */
    int64_t start;   /* of the first one, or PP_EMPTY */
    int64_t busy;    /* at the end */
    uint64_t place;  /* operations run, if recorded or with jitter */
    uint64_t record; /* index of the first one in `start` and `end` below */
} pp_rank_state;

#define PP_TURN 32            /* operations of a rank before the next one has its turn */
#define PP_CANCEL_TURNS 8192u /* between two looks at `cancelled`: about a millisecond */

struct pp_workspace {
    const pp_plan *plan;
    const pp_timing *timing;
    pp_cell *cells;
    pp_rank_state *ranks;
    int64_t (*durations)[4]; /* of F, B, Bi, W of each cell: by kind - MILL_OP_FORWARD */
    int64_t *pairs;          /* durations by rank, chunk, chunk2; NULL: the plan has no pairs */
    int64_t *link_free;      /* by link: when it can take the next transfer; NULL: always */
    bool singly;             /* operations are recorded, or have jitter */

    /* Ranks that can go on: a ring, each at most once. */
    uint32_t *ready;
    uint32_t ready_head, ready_n;

    int64_t *slots;
    uint32_t mask; /* slots of a ring - 1: a power of two less 1 */

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

/* For workspaces with `singly`: the next operation of a rank begins. Returns its duration. */
int64_t pp_begin_one(const pp_workspace *w, uint32_t rank, int64_t start, int64_t duration);

/* Doubles the slots of each ring. */
void pp_grow_slots(pp_workspace *w);

bool pp_all_ended(const pp_workspace *w);

/* Runs all, where transfers block. Like pp_simulate. */
mill_status pp_run_blocking(pp_workspace *w, mill_run *run);

/* Where that posts the activations of each operation of a rank: place p is before operation p of
 * the rank. Gradients are received at the operation's own place, and sent at the next one. */
void pp_posted(const pp_plan *plan, uint32_t rank, const pp_item *items, uint64_t n,
               uint64_t *ret_received, uint64_t *ret_sent);

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

/* Slot of what a cell receives. */
static inline int64_t *pp_in(const pp_workspace *w, const pp_cell *cell, pp_way way, uint32_t k) {
    int64_t *ring = way == PP_ACTIVATIONS ? cell->in : cell->in + w->mask + 1;
    return &ring[k & w->mask];
}

/* Slot of what a cell sends, without the time of an earlier one. In a plan that numbers its
 * micro-batches each has a slot of its own. */
static inline int64_t *pp_out(pp_workspace *w, const pp_cell *cell, pp_way way, uint32_t k) {
    while (cell->out[way][k & w->mask] >= 0 && !w->plan->mb)
        pp_grow_slots(w);
    return &cell->out[way][k & w->mask];
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

/* Gives ranks that can go on a turn each until there are none. `run` may be NULL. MILL_OK or
 * E_CANCELLED. Inlined, so that `turn` is too. */
static inline mill_status pp_run_ready(pp_workspace *w, mill_run *run,
                                       void (*turn)(pp_workspace *w, uint32_t rank)) {
    for (uint64_t turns = 0; w->ready_n > 0; turns++) {
        if (turns % PP_CANCEL_TURNS == 0 && run && mill_cancelled(run))
            return MILL_E_CANCELLED;
        turn(w, pp_next_ready(w));
    }
    return MILL_OK;
}

/* When what a cell sends at `time` arrives. */
static inline int64_t pp_arrival(const pp_workspace *w, const pp_cell *from, pp_way way,
                                 int64_t time) {
    if (w->link_free && from->link[way]) {
        int64_t *free = &w->link_free[from->link[way]];
        time = (time < *free ? *free : time) + w->timing->occupied;
        *free = time;
    }
    return time + from->delay[way];
}

static inline int64_t pp_op_duration(const pp_workspace *w, uint32_t rank, pp_op op) {
    size_t cell = (size_t)rank * w->plan->chunks + op.chunk;
    return op.kind == MILL_OP_PAIR ? w->pairs[cell * w->plan->chunks + op.chunk2]
                                   : w->durations[cell][op.kind - MILL_OP_FORWARD];
}

#endif
