/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds of the makespan: what no order of the operations can undercut.
 *
 * Three for each rank, and the greatest over ranks is taken. Each says that a stretch of the rank's
 * work must lie between two moments that the chain of stages forbids to come earlier or later:
 *
 *   all work         from the first forward that can reach it, until what follows its last backward
 *   backward work    from the first gradient that can come back to it, until the same
 *   forward work     from the first forward, until its last micro-batch has gone on and come back
 *
 * Every operation is taken as its shortest kind: in a plan with pairs a forward may be half of one,
 * but for those before the rank's first gradient.
 * With one chunk, equal stages and no latency the first one is (m + PP - 1)(F + B) on the last
 * rank, and (PP - 1) F + m (F + B) where W is split off, which may then fill the way out.
 */
#include "forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/number.h>

#define MILLION 1000000

/* Durations with and without the weights of a split backward chunk. */
enum { WITHOUT_WEIGHT, WITH_WEIGHT };

/* Shortest durations on one cell, and shortest ways from it and to it. */
typedef struct cell {
    int64_t forward, backward[2];         /* by itself: F; B, or Bi and W */
    int64_t any_forward, any_backward[2]; /* the same, or a pair */
    int64_t longest_forward;              /* F as long as jitter can make it */
    int64_t reach;                        /* the moment when a first forward can start here */
    int64_t turn;  /* from the end of a forward here until its gradient comes back here */
    int64_t leave; /* from the start of a backward here until all is done that must follow */
    int64_t out;   /* the same from its end */
} cell;

typedef struct bounds {
    const pp_plan *plan;
    const pp_timing *timing;
    bool whole, split, pairs; /* has B; Bi and W; F&B */
    int64_t longest;          /* duration, so that no sum here exceeds an int64 */
    bool unknown;
    cell *cells;
} bounds;

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---------------------------------------------------------------- durations */

/* Without jitter. */
static int64_t planned(const bounds *b, uint32_t at, mill_op_kind kind, uint32_t back_at) {
    uint32_t chunks = b->plan->chunks;
    pp_op op = {(uint8_t)kind, (uint8_t)(at % chunks), (uint8_t)(back_at % chunks), 0};
    return pp_duration(b->plan, b->timing, at / chunks, op);
}

/* How much jitter can make of it. */
static int64_t jitter_of(const bounds *b, int64_t ns) {
    return (int64_t)((__int128)ns * b->timing->jitter / MILLION);
}

/* The shortest that jitter can make it. */
static int64_t duration(const bounds *b, uint32_t at, mill_op_kind kind, uint32_t back_at) {
    int64_t ns = planned(b, at, kind, back_at);
    return ns - jitter_of(b, ns);
}

static int64_t of(const bounds *b, uint32_t at, mill_op_kind kind) {
    return duration(b, at, kind, 0);
}

/* From one cell to the next: nothing on the same rank. */
static int64_t hop(const bounds *b, uint32_t from, uint32_t to) {
    bool crosses = from / b->plan->chunks != to / b->plan->chunks;
    return crosses ? b->timing->latency + b->timing->occupied : 0;
}

/* A forward of one cell of a rank and a backward of another one as a pair. */
static int64_t pair(const bounds *b, uint32_t forward_at, uint32_t backward_at) {
    return duration(b, forward_at, MILL_OP_PAIR, backward_at);
}

/* The shortest pair on its rank that has this cell's forward, or its backward. */
static int64_t shortest_pair(const bounds *b, uint32_t at, bool forward) {
    int64_t shortest = INT64_MAX;
    uint32_t chunks = b->plan->chunks, first = at / chunks * chunks;
    for (uint32_t other = first; b->pairs && other < first + chunks; other++)
        shortest = least(shortest, forward ? pair(b, at, other) : pair(b, other, at));
    return shortest;
}

/* A duration that is not known, or so long that sums might not fit, leaves the bound unknown. */
static int64_t take(bounds *b, int64_t ns) {
    if (ns >= 0 && ns <= b->longest)
        return ns;
    b->unknown = true;
    return 0;
}

static void fill_durations(bounds *b, uint32_t at) {
    cell *c = &b->cells[at];
    int64_t shortest[2] = {shortest_pair(b, at, true), shortest_pair(b, at, false)};
    int64_t whole = b->whole ? take(b, of(b, at, MILL_OP_BACKWARD)) : INT64_MAX;
    int64_t input = b->split ? take(b, of(b, at, MILL_OP_INPUT)) : INT64_MAX;
    int64_t both = b->split ? input + take(b, of(b, at, MILL_OP_WEIGHT)) : INT64_MAX;
    c->forward = take(b, of(b, at, MILL_OP_FORWARD));
    c->longest_forward = c->forward + 2 * jitter_of(b, planned(b, at, MILL_OP_FORWARD, 0));
    c->any_forward = take(b, least(c->forward, shortest[0]));
    c->backward[WITHOUT_WEIGHT] = take(b, least(whole, input));
    c->backward[WITH_WEIGHT] = least(whole, both);
    for (int weighed = 0; weighed < 2; weighed++)
        c->any_backward[weighed] = least(c->backward[weighed], shortest[1]);
    take(b, c->any_backward[WITHOUT_WEIGHT]); /* of a pair */
}

/* ---------------------------------------------------------------- ways through the model */

/* From the end of a backward of this cell until all is done that must follow; `split`: it was Bi.
 */
static int64_t out_of(const bounds *b, uint32_t at, bool split) {
    int32_t prev = b->plan->prev[at];
    int64_t out = prev < 0 ? 0 : hop(b, at, (uint32_t)prev) + b->cells[prev].leave;
    return split ? most(out, of(b, at, MILL_OP_WEIGHT)) : out;
}

static int64_t leave_of(const bounds *b, uint32_t at) {
    int64_t leave = b->pairs ? shortest_pair(b, at, false) + out_of(b, at, false) : INT64_MAX;
    if (b->whole)
        leave = least(leave, of(b, at, MILL_OP_BACKWARD) + out_of(b, at, false));
    if (b->split)
        leave = least(leave, of(b, at, MILL_OP_INPUT) + out_of(b, at, true));
    return leave;
}

/* The columns of one way, from its first cell to its last and back. */
static void follow_way(bounds *b, uint32_t first) {
    const pp_plan *plan = b->plan;
    cell *cells = b->cells;
    uint32_t at = first;
    cells[first].reach = 0;
    for (;; at = (uint32_t)plan->next[at]) {
        cells[at].leave = leave_of(b, at);
        cells[at].out = out_of(b, at, !b->whole && !b->pairs);
        if (plan->next[at] < 0)
            break;
        cells[plan->next[at]].reach =
            cells[at].reach + cells[at].any_forward + hop(b, at, (uint32_t)plan->next[at]);
    }
    cells[at].turn = 0;
    for (; plan->prev[at] >= 0; at = (uint32_t)plan->prev[at])
        cells[plan->prev[at]].turn = 2 * hop(b, at, (uint32_t)plan->prev[at]) +
                                     cells[at].any_forward + cells[at].turn +
                                     cells[at].any_backward[WITHOUT_WEIGHT];
}

/* ---------------------------------------------------------------- work of a rank */

/* What pairs could save a rank if all its forwards were in the one that saves most with each, and
 * what the least of them saves; likewise by backwards. No order saves more than the lesser. */
typedef struct saving {
    int64_t all[2], one[2]; /* by forwards, by backwards */
} saving;

static saving saving_of(const bounds *b, uint32_t rank, int weighed) {
    uint32_t chunks = b->plan->chunks, first = rank * chunks;
    saving s = {.one = {INT64_MAX, INT64_MAX}};
    for (uint32_t own = first; own < first + chunks; own++) {
        int64_t best[2] = {0, 0};
        for (uint32_t other = first; other < first + chunks; other++)
            for (int by = 0; by < 2; by++) {
                uint32_t f = by ? other : own, back = by ? own : other;
                int64_t apart = b->cells[f].forward + b->cells[back].backward[weighed];
                best[by] = most(best[by], apart - pair(b, f, back));
            }
        for (int by = 0; by < 2; by++) {
            s.all[by] += b->plan->per_cell * best[by];
            s.one[by] = least(s.one[by], best[by]);
        }
    }
    return s;
}

/* Work of a rank that would take `apart` without pairs. Until its first gradient is back it can run
 * forwards only, in no pair: the more of them, the fewer pairs later; the fewer, the longer it
 * waits. At least one forward is in none, and so is one backward.
 * until_back: from its first forward on; longest: forward. */
static int64_t paired_work(const bounds *b, const saving *s, int64_t apart, int64_t until_back,
                           int64_t longest) {
    int64_t shortest = INT64_MAX, n = (int64_t)b->plan->per_cell * b->plan->chunks;
    for (int64_t alone = 1; alone <= n; alone++) {
        int64_t saved = least(s->all[0] - alone * s->one[0], s->all[1] - alone * s->one[1]);
        int64_t waits = most(0, until_back - alone * longest);
        shortest = least(shortest, apart - saved + waits);
        if (waits == 0)
            break;
    }
    return shortest;
}

/* What a rank runs of all its micro-batches, and the moments around it. */
typedef struct work {
    int64_t forwards, backwards[2], all[2];
    int64_t reach, back, out, turn; /* of all its cells the least; back: a first gradient is there;
                                     * turn: from the end of a forward until all is done */
    int64_t longest;                /* forward by itself */
} work;

static work work_of(const bounds *b, uint32_t rank) {
    int64_t n = b->plan->per_cell;
    work w = {.reach = INT64_MAX, .back = INT64_MAX, .out = INT64_MAX, .turn = INT64_MAX};
    const cell *first = b->cells + rank * b->plan->chunks;
    for (const cell *c = first; c < first + b->plan->chunks; c++) {
        w.forwards += n * c->any_forward;
        for (int weighed = 0; weighed < 2; weighed++) {
            w.backwards[weighed] += n * c->any_backward[weighed];
            w.all[weighed] += n * (c->forward + c->backward[weighed]);
        }
        w.reach = least(w.reach, c->reach);
        w.back = least(w.back, c->reach + c->any_forward + c->turn);
        w.out = least(w.out, c->out);
        w.turn = least(w.turn, c->turn + c->leave);
        w.longest = most(w.longest, c->longest_forward);
    }
    for (int weighed = 0; b->pairs && weighed < 2; weighed++) {
        saving s = saving_of(b, rank, weighed);
        w.all[weighed] = paired_work(b, &s, w.all[weighed], w.back - w.reach, w.longest);
    }
    return w;
}

/* A bound in parts that add up. */
typedef struct parts {
    int64_t before, work, after;
    const char *until, *kind, *from;
} parts;

static parts longest_of(const work *w, bool pairs) {
    static const char start[] = "its first forward can start";
    static const char back[] = "its first gradient can be back";
    static const char last[] = "from its last backward on", turn[] = "from its last forward on";
    const char *all = pairs ? "work, in pairs once there are gradients" : "work";
    const parts list[] = {
        {w->reach, w->all[WITH_WEIGHT], 0, start, all, NULL},
        {w->reach, w->all[WITHOUT_WEIGHT], w->out, start, all, last},
        {w->back, w->backwards[WITH_WEIGHT], 0, back, "backward work", NULL},
        {w->back, w->backwards[WITHOUT_WEIGHT], w->out, back, "backward work", last},
        {w->reach, w->forwards, w->turn, start, "forward work", turn},
    };
    parts longest = list[0];
    for (size_t i = 1; i < sizeof list / sizeof *list; i++)
        if (list[i].before + list[i].work + list[i].after >
            longest.before + longest.work + longest.after)
            longest = list[i];
    return longest;
}

/* ---------------------------------------------------------------- the bound of a plan */

static void kinds_of(bounds *b) {
    for (uint64_t i = 0; i < b->plan->n_ops; i++) {
        b->whole |= b->plan->ops[i].kind == MILL_OP_BACKWARD;
        b->split |= b->plan->ops[i].kind == MILL_OP_INPUT;
        b->pairs |= b->plan->ops[i].kind == MILL_OP_PAIR;
    }
}

/* In no sum here is a duration or a transfer more than once for each operation of a step, and once
 * more for the way of a micro-batch there and back. */
static int64_t longest_that_fits(const pp_plan *plan) {
    int64_t operations = ((int64_t)plan->per_cell + 1) * plan->ranks * plan->chunks;
    return INT64_MAX / 8 / operations;
}

static const char *tell(mill_run *run, uint32_t rank, const parts *p) {
    enum { MOST = 320 };
    char number[KIT_NUMBER_MAX], *text = mill_scratch(run, MOST);
    size_t n = (size_t)snprintf(text, MOST, "rank %u: %s ms until %s", rank,
                                kit_format_ms(number, p->before, KIT_GROUP), p->until);
    n += (size_t)snprintf(text + n, MOST - n, " + %s ms of %s",
                          kit_format_ms(number, p->work, KIT_GROUP), p->kind);
    if (p->from)
        snprintf(text + n, MOST - n, " + %s ms %s", kit_format_ms(number, p->after, KIT_GROUP),
                 p->from);
    return text;
}

static pp_bound bound_of(mill_run *run, bounds *b) {
    const pp_plan *plan = b->plan;
    parts longest = {0};
    pp_bound best = {.ns = MILL_UNKNOWN};
    for (uint32_t at = 0; at < plan->ranks * plan->chunks; at++)
        if (plan->prev[at] < 0)
            follow_way(b, at);
    for (uint32_t rank = 0; rank < plan->ranks; rank++) {
        work w = work_of(b, rank);
        parts p = longest_of(&w, b->pairs);
        if (p.before + p.work + p.after > best.ns) {
            best.ns = p.before + p.work + p.after;
            best.rank = rank;
            longest = p;
        }
    }
    best.formula = tell(run, best.rank, &longest);
    return best;
}

pp_bound pp_bound_of(mill_run *run, const pp_plan *plan, const pp_timing *timing) {
    uint32_t n_cells = plan->ranks * plan->chunks;
    bounds b = {
        .plan = plan,
        .timing = timing,
        .cells = kit_alloc(n_cells, sizeof *b.cells),
        .longest = longest_that_fits(plan),
    };
    kinds_of(&b);
    take(&b, timing->latency);
    take(&b, timing->occupied);
    for (uint32_t at = 0; at < n_cells; at++)
        fill_durations(&b, at);
    pp_bound bound = b.unknown ? (pp_bound){.ns = MILL_UNKNOWN} : bound_of(run, &b);
    free(b.cells);
    return bound;
}
