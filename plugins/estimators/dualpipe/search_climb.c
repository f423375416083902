/* SPDX-License-Identifier: Apache-2.0 */
/* Local improvement of an order by small moves along its critical path.
 *
 * Only a move of an operation on the critical path can shorten the makespan. Which of them are kept
 * is decided by late acceptance hill climbing (Burke and Bykov, European Journal of Operational
 * Research 258, 2017): a move is kept if the makespan is not longer than it was a fixed number of
 * steps ago, so that valleys can be left, and there is no temperature to choose.
 */
#include "search_climb.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY 64      /* steps that late acceptance looks back */
#define MOST_LONG 16   /* places that an operation moves at most */
#define PROPOSALS 16   /* for each timing: those that can't be run at all cost little */
#define TELL_EVERY 256 /* timings: progress, and a look at `cancelled` */

typedef struct place {
    uint32_t rank, i;
} place;

typedef struct climber {
    const pp_shop *shop;
    pp_order *order; /* the current one */
    pp_front front;
    int64_t *start, *trial; /* of its operations; of the one that is tried */
    place *path;            /* the critical path of the current order, last first */
    uint32_t n_path;
    pp_op *saved; /* the order of `rank` before the move */
    uint32_t rank, n_saved;
    uint64_t random;
} climber;

/* splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint32_t random_below(climber *c, uint32_t n) {
    uint64_t z = c->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(((z ^ z >> 31) >> 32) * n >> 32);
}

/* ---------------------------------------------------------------- the critical path */

static pp_op *ops_of(const climber *c, uint32_t rank) {
    return c->order->ops + (size_t)rank * c->shop->stride;
}

static int64_t end_of(const climber *c, place p) {
    return c->start[(size_t)p.rank * c->shop->stride + p.i] +
           pp_shop_duration(c->shop, p.rank, ops_of(c, p.rank)[p.i]);
}

/* Whether the operation makes the activations (forward) or the gradients of the chunk. */
static bool makes(pp_op op, uint32_t chunk, bool forward) {
    if (op.kind == MILL_OP_PAIR)
        return (forward ? op.chunk : op.chunk2) == chunk;
    bool is_forward = op.kind == MILL_OP_FORWARD;
    return op.chunk == chunk && op.kind != MILL_OP_WEIGHT && is_forward == forward;
}

/* The last operation that makes them for cell `from` and has ended by `when`. */
static bool find_maker(const climber *c, int32_t from, bool forward, int64_t when, place *ret) {
    uint32_t rank = (uint32_t)from / c->shop->chunks, chunk = (uint32_t)from % c->shop->chunks;
    const int64_t *start = c->start + (size_t)rank * c->shop->stride;
    uint32_t low = 0, high = c->order->n[rank]; /* those before `low` start before `when` */
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (start[mid] <= when)
            low = mid + 1;
        else
            high = mid;
    }
    for (place p = {rank, low}; p.i-- > 0;)
        if (makes(ops_of(c, rank)[p.i], chunk, forward) && end_of(c, p) <= when) {
            *ret = p;
            return true;
        }
    return false;
}

/* What the operation at `p` waited for; false: for nothing. */
static bool before(const climber *c, place p, place *ret) {
    const pp_shop *shop = c->shop;
    int64_t start = c->start[(size_t)p.rank * shop->stride + p.i];
    place earlier = {p.rank, p.i - 1};
    if (p.i && end_of(c, earlier) == start) {
        *ret = earlier;
        return true;
    }
    pp_op op = ops_of(c, p.rank)[p.i];
    uint32_t back = op.kind == MILL_OP_PAIR ? op.chunk2 : op.chunk;
    int32_t from[2] = {-1, -1};
    if (op.kind != MILL_OP_FORWARD && op.kind != MILL_OP_WEIGHT)
        from[0] = shop->plan->next[p.rank * shop->chunks + back];
    if (op.kind == MILL_OP_FORWARD || op.kind == MILL_OP_PAIR)
        from[1] = shop->plan->prev[p.rank * shop->chunks + op.chunk];
    int64_t latest = -1;
    for (int forward = 0; forward < 2; forward++) {
        place maker;
        if (from[forward] < 0)
            continue;
        bool away = (uint32_t)from[forward] / shop->chunks != p.rank;
        int64_t when = start - (away ? shop->latency + shop->occupied : 0);
        if (find_maker(c, from[forward], forward, when, &maker) && end_of(c, maker) > latest) {
            latest = end_of(c, maker);
            *ret = maker;
        }
    }
    return latest >= 0;
}

static void follow_path(climber *c) {
    place at = {0, 0};
    int64_t latest = -1;
    for (uint32_t rank = 0; rank < c->shop->ranks; rank++) {
        place last = {rank, c->order->n[rank] - 1};
        if (end_of(c, last) > latest) {
            latest = end_of(c, last);
            at = last;
        }
    }
    c->n_path = 0;
    do
        c->path[c->n_path++] = at;
    while (before(c, at, &at));
}

/* ---------------------------------------------------------------- moves */

static void save(climber *c, uint32_t rank) {
    c->rank = rank;
    c->n_saved = c->order->n[rank];
    memcpy(c->saved, ops_of(c, rank), c->n_saved * sizeof *c->saved);
}

static void undo(climber *c) {
    c->order->n[c->rank] = c->n_saved;
    memcpy(ops_of(c, c->rank), c->saved, c->n_saved * sizeof *c->saved);
}

static bool same(pp_op a, pp_op b) {
    return a.kind == b.kind && a.chunk == b.chunk && a.chunk2 == b.chunk2;
}

/* Moves an operation some places: half of the moves go one place. */
static bool shift(climber *c, place p) {
    pp_op *ops = ops_of(c, p.rank), op = ops[p.i];
    uint32_t length = 1, n = c->order->n[p.rank];
    while (length < MOST_LONG && random_below(c, 2))
        length++;
    bool later = random_below(c, 2);
    if (later ? n - 1 - p.i < length : p.i < length)
        return false;
    uint32_t to = later ? p.i + length : p.i - length;
    if (same(op, ops[to]))
        return false;
    if (later)
        memmove(ops + p.i, ops + p.i + 1, length * sizeof *ops);
    else
        memmove(ops + to + 1, ops + to, length * sizeof *ops);
    ops[to] = op;
    return true;
}

static void insert(climber *c, uint32_t rank, uint32_t i, pp_op op) {
    pp_op *ops = ops_of(c, rank);
    memmove(ops + i + 1, ops + i, (c->order->n[rank]++ - i) * sizeof *ops);
    ops[i] = op;
}

static void cut(climber *c, uint32_t rank, uint32_t i) {
    pp_op *ops = ops_of(c, rank);
    memmove(ops + i, ops + i + 1, (--c->order->n[rank] - i) * sizeof *ops);
}

/* Takes a pair, or a B, apart. */
static bool part(climber *c, place p) {
    pp_op *op = ops_of(c, p.rank) + p.i;
    pp_op back = {MILL_OP_BACKWARD, op->chunk, 0, 0};
    if (op->kind == MILL_OP_PAIR) {
        back.chunk = op->chunk2;
        pp_op forward = {MILL_OP_FORWARD, op->chunk, 0, 0};
        bool forward_first = random_below(c, 2);
        *op = forward_first ? forward : back;
        insert(c, p.rank, p.i + 1, forward_first ? back : forward);
        return true;
    }
    if (op->kind != MILL_OP_BACKWARD || !c->shop->split)
        return false;
    op->kind = MILL_OP_INPUT;
    insert(c, p.rank, p.i + 1, (pp_op){MILL_OP_WEIGHT, back.chunk, 0, 0});
    return true;
}

/* Takes out the first W of a chunk from `i` on. */
static void cut_weight(climber *c, uint32_t rank, uint32_t i, uint32_t chunk) {
    const pp_op *ops = ops_of(c, rank);
    for (; i < c->order->n[rank]; i++)
        if (ops[i].kind == MILL_OP_WEIGHT && ops[i].chunk == chunk) {
            cut(c, rank, i);
            return;
        }
}

/* Makes a pair of a forward and a backward that follow each other. */
static bool join(climber *c, place p) {
    pp_op *ops = ops_of(c, p.rank);
    if (!c->shop->pairs || p.i + 1 >= c->order->n[p.rank])
        return false;
    pp_op a = ops[p.i], b = ops[p.i + 1];
    pp_op forward = a.kind == MILL_OP_FORWARD ? a : b, back = a.kind == MILL_OP_FORWARD ? b : a;
    if (forward.kind != MILL_OP_FORWARD ||
        (back.kind != MILL_OP_BACKWARD && back.kind != MILL_OP_INPUT))
        return false;
    ops[p.i] = (pp_op){MILL_OP_PAIR, forward.chunk, back.chunk, 0};
    cut(c, p.rank, p.i + 1);
    if (back.kind == MILL_OP_INPUT)
        cut_weight(c, p.rank, p.i + 1, back.chunk);
    return true;
}

/* Changes the order of one rank. False: it is as it was. */
static bool propose(climber *c) {
    place p = c->path[random_below(c, c->n_path)];
    save(c, p.rank);
    uint32_t kind = random_below(c, 8);
    bool moved = kind == 0 ? part(c, p) : kind == 1 ? join(c, p) : shift(c, p);
    if (moved && pp_order_allowed(c->order, &c->front, c->shop, p.rank))
        return true;
    undo(c);
    return false;
}

/* ---------------------------------------------------------------- the climb */

static void keep(climber *c, int64_t makespan) {
    int64_t *start = c->start;
    c->start = c->trial;
    c->trial = start;
    c->order->makespan = makespan;
    follow_path(c);
}

static void climb_on(climber *c, mill_run *run, pp_climb *climb, pp_order *best) {
    int64_t late[MEMORY], tried = 0;
    for (uint32_t i = 0; i < MEMORY; i++)
        late[i] = c->order->makespan;
    uint64_t kept = 0, kept_for_best = 0;
    for (int64_t proposals = 0; tried < climb->effort && best->makespan > climb->enough;) {
        if (++proposals > PROPOSALS * climb->effort)
            break;
        if (!propose(c))
            continue;
        int64_t *then = &late[tried++ % MEMORY];
        if (tried % TELL_EVERY == 0) {
            pp_spend(run, climb->spent, TELL_EVERY);
            if (mill_cancelled(run))
                break;
        }
        int64_t makespan = pp_order_time(c->order, &c->front, c->shop, c->trial);
        if (makespan == MILL_UNKNOWN || (makespan > *then && makespan > c->order->makespan)) {
            undo(c);
        } else {
            keep(c, makespan);
            kept++;
        }
        *then = c->order->makespan;
        if (c->order->makespan < best->makespan) {
            pp_order_copy(best, c->order, c->shop);
            kept_for_best = kept;
        }
    }
    climb->tried += tried;
    climb->moves += kept_for_best;
}

void pp_order_climb(pp_order *order, mill_run *run, const pp_shop *shop, pp_climb *climb) {
    kit_arena memory = {0};
    size_t room = (size_t)shop->ranks * shop->stride;
    climber c = {
        .shop = shop,
        .order = order,
        .trial = kit_arena_alloc(&memory, room * sizeof *c.trial),
        .start = kit_arena_alloc(&memory, room * sizeof *c.start),
        .path = kit_arena_alloc(&memory, room * sizeof *c.path),
        .saved = kit_arena_alloc(&memory, shop->stride * sizeof *c.saved),
        .random = climb->seed,
    };
    pp_order best;
    pp_order_init(&best, &memory, shop);
    pp_front_init(&c.front, &memory, shop);
    int64_t makespan = pp_order_time(order, &c.front, shop, c.trial);
    if (makespan != MILL_UNKNOWN) {
        keep(&c, makespan);
        pp_order_copy(&best, order, shop);
        climb_on(&c, run, climb, &best);
        pp_order_copy(order, &best, shop);
    }
    kit_arena_finish(&memory);
}
