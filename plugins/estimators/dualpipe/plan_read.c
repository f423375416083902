/* SPDX-License-Identifier: Apache-2.0 */
/* Reads plans: the order of a rank, whether it is whole, and how many chunks it holds. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

/* ---------------------------------------------------------------- the cursor */

/* Micro-batches whose Bi has run and whose W has not, oldest first. A W is of the oldest: a cell
 * may mix B and Bi, so the k-th W need not be of micro-batch k. */
typedef struct owed {
    uint32_t *mb; /* a ring; `room` is a power of two, or 0 */
    uint32_t room, head, n;
} owed;

typedef struct chunk_counts {
    uint32_t forward, backward; /* so far */
    owed weights;
} chunk_counts;

struct pp_cursor {
    mill_run *run;
    const pp_plan *plan;
    uint32_t loop, last;   /* this loop; the first of the next rank */
    uint32_t at, times;    /* place in the loop; repetitions done */
    chunk_counts chunks[]; /* of the rank */
};

pp_cursor *pp_cursor_at(mill_run *run, const pp_plan *plan, uint32_t rank) {
    pp_cursor *c = mill_scratch(run, sizeof *c + plan->chunks * sizeof *c->chunks);
    c->run = run;
    c->plan = plan;
    c->loop = plan->first[rank];
    c->last = plan->first[rank + 1];
    return c;
}

static void push(mill_run *run, owed *q, uint32_t mb) {
    if (q->n == q->room) {
        uint32_t room = q->room ? 2 * q->room : 8;
        uint32_t *wider = mill_scratch(run, room * sizeof *wider);
        for (uint32_t i = 0; i < q->n; i++)
            wider[i] = q->mb[(q->head + i) & (q->room - 1)];
        *q = (owed){.mb = wider, .room = room, .n = q->n};
    }
    q->mb[(q->head + q->n++) & (q->room - 1)] = mb;
}

/* MILL_NO_OP: no Bi came before. */
static uint32_t pop(owed *q) {
    if (!q->n)
        return MILL_NO_OP;
    q->n--;
    return q->mb[q->head++ & (q->room - 1)];
}

/* Micro-batches of an operation in a plan that counts them. */
static void count(pp_cursor *c, pp_item *item) {
    chunk_counts *chunk = &c->chunks[item->op.chunk];
    switch (item->op.kind) {
    case MILL_OP_FORWARD:
        item->mb = chunk->forward++;
        break;
    case MILL_OP_BACKWARD:
        item->mb = chunk->backward++;
        break;
    case MILL_OP_INPUT:
        item->mb = chunk->backward++;
        push(c->run, &chunk->weights, item->mb);
        break;
    case MILL_OP_WEIGHT:
        item->mb = pop(&chunk->weights);
        break;
    case MILL_OP_PAIR:
        item->mb = chunk->forward++;
        item->mb2 = c->chunks[item->op.chunk2].backward++;
        break;
    }
}

bool pp_next(pp_cursor *c, pp_item *ret_item) {
    const pp_plan *plan = c->plan;
    if (c->loop == c->last)
        return false;
    const pp_loop *loop = &plan->loops[c->loop];
    uint32_t op = loop->first + c->at;
    *ret_item = (pp_item){.op = plan->ops[op]};
    if (plan->mb) {
        ret_item->mb = plan->mb[op];
        ret_item->mb2 = plan->mb2[op];
    } else {
        count(c, ret_item);
    }
    if (++c->at == loop->n) {
        c->at = 0;
        if (++c->times == loop->repeat) {
            c->times = 0;
            c->loop++;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- whole or not */

enum { DONE_FORWARD = 1, DONE_BACKWARD = 2, DONE_INPUT = 4, DONE_WEIGHT = 8 };

/* One rank's part of the check. */
typedef struct check {
    mill_run *run;
    const pp_plan *plan;
    uint32_t rank;
    uint8_t *done; /* what of DONE_… has run, by chunk and micro-batch */
    const char **ret_fault;
} check;

/* mb: or MILL_NO_OP. */
static bool fault(const check *k, uint32_t chunk, uint32_t mb, const char *what) {
    const pp_plan *plan = k->plan;
    char *text = mill_scratch(k->run, 160);
    int n = snprintf(text, 160, "rank %u, stage %u", k->rank,
                     plan->stage[k->rank * plan->chunks + chunk]);
    if (mb != MILL_NO_OP)
        n += snprintf(text + n, 40, ", micro-batch %u", mb);
    snprintf(text + n, 40, ": %s", what);
    *k->ret_fault = text;
    return false;
}

/* One computation of a chunk: `what` of DONE_…. */
static bool run_once(check *k, uint32_t chunk, uint32_t mb, uint8_t what) {
    if (what == DONE_WEIGHT && mb == MILL_NO_OP)
        return fault(k, chunk, mb, "W without Bi before it");
    if (mb >= k->plan->per_cell)
        return fault(k, chunk, mb, "there is no such micro-batch");
    uint8_t *done = &k->done[(size_t)chunk * k->plan->per_cell + mb];
    if (what == DONE_FORWARD && *done & DONE_FORWARD)
        return fault(k, chunk, mb, "a second forward");
    if (what & (DONE_BACKWARD | DONE_INPUT)) {
        if (*done & (DONE_BACKWARD | DONE_INPUT))
            return fault(k, chunk, mb, "a second backward");
        if (!(*done & DONE_FORWARD))
            return fault(k, chunk, mb, "backward before forward");
    }
    if (what == DONE_WEIGHT) {
        if (*done & DONE_WEIGHT)
            return fault(k, chunk, mb, "a second W");
        if (!(*done & DONE_INPUT))
            return fault(k, chunk, mb, "W without Bi before it");
    }
    *done |= what;
    return true;
}

static bool run_item(check *k, const pp_item *item) {
    static const uint8_t what[] = {
        [MILL_OP_FORWARD] = DONE_FORWARD, [MILL_OP_BACKWARD] = DONE_BACKWARD,
        [MILL_OP_INPUT] = DONE_INPUT,     [MILL_OP_WEIGHT] = DONE_WEIGHT,
        [MILL_OP_PAIR] = DONE_FORWARD,
    };
    return run_once(k, item->op.chunk, item->mb, what[item->op.kind]) &&
           (item->op.kind != MILL_OP_PAIR ||
            run_once(k, item->op.chunk2, item->mb2, DONE_BACKWARD));
}

static bool all_done(const check *k) {
    for (uint32_t chunk = 0; chunk < k->plan->chunks; chunk++)
        for (uint32_t mb = 0; mb < k->plan->per_cell; mb++) {
            uint8_t done = k->done[(size_t)chunk * k->plan->per_cell + mb];
            if (!(done & DONE_FORWARD))
                return fault(k, chunk, mb, "no forward");
            if (!(done & (DONE_BACKWARD | DONE_INPUT)))
                return fault(k, chunk, mb, "no backward");
            if (done & DONE_INPUT && !(done & DONE_WEIGHT))
                return fault(k, chunk, mb, "Bi without W");
        }
    return true;
}

bool pp_whole(mill_run *run, const pp_plan *plan, const char **ret_fault) {
    size_t size = (size_t)plan->chunks * plan->per_cell;
    check k = {.run = run, .plan = plan, .done = kit_alloc(size, 1), .ret_fault = ret_fault};
    bool whole = true;
    for (; whole && k.rank < plan->ranks; k.rank++) {
        memset(k.done, 0, size);
        pp_cursor *c = pp_cursor_at(run, plan, k.rank);
        for (pp_item item; whole && pp_next(c, &item);)
            whole = run_item(&k, &item);
        whole = whole && all_done(&k);
    }
    free(k.done);
    return whole;
}

/* ---------------------------------------------------------------- memory */

/* Most chunks held in a loop that begins with `held`, its number after one repetition in *held. */
static int64_t live_in_loop(const pp_op *ops, uint32_t n, uint8_t freed_by, int64_t *held) {
    int64_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        *held += ops[i].kind == MILL_OP_FORWARD || ops[i].kind == MILL_OP_PAIR;
        if (*held > most)
            most = *held;
        *held -= ops[i].kind == MILL_OP_BACKWARD || ops[i].kind == MILL_OP_PAIR ||
                 ops[i].kind == freed_by;
    }
    return most;
}

/* Each repetition of a loop changes the number held by the same amount, so its most is in the first
 * repetition or in the last. */
void pp_live(const pp_plan *plan, bool until_weight, int64_t *ret_live) {
    uint8_t freed_by = until_weight ? MILL_OP_WEIGHT : MILL_OP_INPUT;
    for (uint32_t rank = 0; rank < plan->ranks; rank++) {
        int64_t held = 0;
        ret_live[rank] = 0;
        for (uint32_t i = plan->first[rank]; i < plan->first[rank + 1]; i++) {
            const pp_loop *loop = &plan->loops[i];
            int64_t before = held;
            int64_t most = live_in_loop(plan->ops + loop->first, loop->n, freed_by, &held);
            int64_t later = (held - before) * (loop->repeat - 1);
            held += later;
            if (later > 0)
                most += later;
            if (most > ret_live[rank])
                ret_live[rank] = most;
        }
    }
}
