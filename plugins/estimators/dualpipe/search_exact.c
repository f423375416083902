/* SPDX-License-Identifier: Apache-2.0 */
/* Branch and bound over all orders of a tiny pipeline.
 *
 * Branches are those of active schedules (Giffler and Thompson, Operations Research 8, 1960): of
 * all operations that could come next take the one that would end first, at C on rank r. One of
 * those that could start on r before C comes next there; were it none of them, that operation could
 * be put before it at no cost. So it is with a limit of memory if forwards of a rank are of one
 * chunk: to run one earlier adds to the chunks held only while no other forward runs.
 *
 * A branch is cut if its bound is not below the best makespan, or if the same operations were run
 * before in such an order that no rank was free and nothing came later than here.
 */
#include "search_exact.h"

#include "search_bound.h"

#include <stdlib.h>
#include <string.h>

#define MOST_OPS 40     /* larger ones take too long */
#define MOST_CHOICES 16 /* chunks * kinds, with MOST_CHUNKS */
#define MOST_CHUNKS 4
#define SLOTS 65536u       /* of the hash table; a power of two */
#define CANCEL_EVERY 4096u /* nodes */

/* A set of operations that were run, with how long that took. */
typedef struct state {
    struct state *other; /* in the same slot */
    uint64_t hash;
    int64_t times[]; /* counts of operations, then moments */
} state;

typedef struct step {
    uint32_t rank;
    pp_op op;
    int64_t start, end;
} step;

typedef struct exact {
    const pp_shop *shop;
    mill_run *run;
    kit_arena *memory;
    pp_front *fronts; /* of each depth */
    step *steps;      /* up to this depth */
    step *best_steps;
    uint32_t n_best;
    int64_t best;
    pp_ways *ways; /* of each cell */
    state **slots;
    int64_t *key; /* of the front that is looked at: as state.times */
    size_t n_counts, n_times;
    uint64_t nodes;
    bool ended; /* too many nodes, or cancelled */
} exact;

bool pp_exact_fits(const pp_shop *shop) {
    uint64_t ops = (uint64_t)shop->cells * shop->per_cell * (shop->split ? 3 : 2);
    return ops <= MOST_OPS && shop->chunks <= MOST_CHUNKS && !shop->pairs && !shop->occupied &&
           !shop->timing->jitter && shop->timing->comm == PP_COMM_DEP &&
           (shop->chunks == 1 || shop->most == INT64_MAX);
}

/* ---------------------------------------------------------------- bounds */

static int64_t bound_of(const exact *x, const pp_front *front) {
    const pp_shop *shop = x->shop;
    int64_t bound = 0;
    for (uint32_t rank = 0; rank < shop->ranks; rank++) {
        int64_t all = front->free[rank], until_leave = all, leave = INT64_MAX;
        for (uint32_t cell = rank * shop->chunks; cell < (rank + 1) * shop->chunks; cell++) {
            const pp_ways *ways = &x->ways[cell];
            int64_t forwards = shop->per_cell - front->forwards[cell];
            int64_t backwards = shop->per_cell - front->backwards[cell];
            all += forwards * shop->forward[cell] + backwards * ways->weighed;
            if (shop->split)
                all += (front->inputs[cell] - front->weights[cell]) * shop->weight[cell];
            until_leave += forwards * shop->forward[cell] + backwards * ways->back;
            if (backwards && ways->leave < leave)
                leave = ways->leave;
        }
        if (leave != INT64_MAX && until_leave + leave > all)
            all = until_leave + leave;
        if (all > bound)
            bound = all;
    }
    return bound;
}

/* ---------------------------------------------------------------- states seen before */

/* When what is not yet used comes, as far as that matters: not before the rank is free. */
static int64_t matters(int64_t arrival, int64_t free, bool used) {
    return used ? 0 : arrival >= 0 && arrival < free ? free : arrival;
}

static uint64_t make_key(exact *x, const pp_front *front) {
    const pp_shop *shop = x->shop;
    int64_t *at = x->key;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < 4 * shop->cells; i++) {
        *at = front->forwards[i]; /* and all other counts, which follow it */
        hash = (hash ^ (uint64_t)*at++) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    memcpy(at, front->free, shop->ranks * sizeof *at);
    at += shop->ranks;
    for (uint32_t cell = 0; cell < shop->cells; cell++)
        for (uint32_t k = 0; k < shop->per_cell; k++) {
            int64_t free = front->free[cell / shop->chunks];
            size_t i = (size_t)cell * shop->per_cell + k;
            *at++ = matters(front->activation[i], free, k < front->forwards[cell]);
            *at++ = matters(front->gradient[i], free, k < front->backwards[cell]);
        }
    return hash;
}

/* Whether a state as good as the key was seen; else the key is kept. */
static bool seen(exact *x, const pp_front *front) {
    uint64_t hash = make_key(x, front);
    state **slot = &x->slots[hash & (SLOTS - 1)];
    for (state **link = slot; *link;) {
        state *s = *link;
        bool better = true, worse = true; /* than the key, or equal */
        if (s->hash != hash || memcmp(s->times, x->key, x->n_counts * sizeof *x->key)) {
            link = &s->other;
            continue;
        }
        for (size_t i = x->n_counts; i < x->n_times && (better || worse); i++) {
            better &= s->times[i] <= x->key[i];
            worse &= s->times[i] >= x->key[i];
        }
        if (better)
            return true;
        if (worse)
            *link = s->other;
        else
            link = &s->other;
    }
    state *s = kit_arena_alloc(x->memory, sizeof *s + x->n_times * sizeof *s->times);
    memcpy(s->times, x->key, x->n_times * sizeof *s->times);
    s->hash = hash;
    s->other = *slot;
    *slot = s;
    return false;
}

/* ---------------------------------------------------------------- branching */

/* What may come next on a rank. */
static uint32_t choices_of(const exact *x, const pp_front *front, uint32_t rank, step *ret) {
    static const uint8_t kinds[] = {MILL_OP_BACKWARD, MILL_OP_INPUT, MILL_OP_FORWARD,
                                    MILL_OP_WEIGHT};
    const pp_shop *shop = x->shop;
    uint32_t n = 0;
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t chunk = 0; chunk < shop->chunks; chunk++) {
            step s = {.rank = rank, .op = {kinds[i], (uint8_t)chunk, 0, 0}};
            bool of_split = kinds[i] == MILL_OP_INPUT || kinds[i] == MILL_OP_WEIGHT;
            if ((of_split && !shop->split) || (kinds[i] == MILL_OP_BACKWARD && !shop->whole) ||
                !pp_front_allows(front, shop, rank, s.op))
                continue;
            uint32_t cell = rank * shop->chunks + chunk;
            if (kinds[i] == MILL_OP_BACKWARD && shop->split &&
                shop->backward[cell] >= shop->input[cell] + shop->weight[cell])
                continue; /* Bi and W at once are as good */
            s.start = pp_front_start(front, shop, rank, s.op);
            s.end = s.start + pp_shop_duration(shop, rank, s.op);
            if (s.start >= 0)
                ret[n++] = s;
        }
    return n;
}

/* The steps to branch on; 0: all is run. */
static uint32_t branches_of(const exact *x, const pp_front *front, step *ret) {
    int64_t first_end = INT64_MAX;
    uint32_t n = 0;
    for (uint32_t rank = 0; rank < x->shop->ranks; rank++) {
        step choices[MOST_CHOICES];
        uint32_t n_choices = choices_of(x, front, rank, choices);
        int64_t end = INT64_MAX;
        for (uint32_t i = 0; i < n_choices; i++)
            if (choices[i].end < end)
                end = choices[i].end;
        if (end >= first_end)
            continue;
        first_end = end;
        n = 0;
        for (uint32_t i = 0; i < n_choices; i++)
            if (choices[i].start < end || choices[i].end == end)
                ret[n++] = choices[i];
    }
    return n;
}

static void take_best(exact *x, const pp_front *front, uint32_t depth) {
    int64_t makespan = 0;
    for (uint32_t rank = 0; rank < x->shop->ranks; rank++)
        if (front->free[rank] > makespan)
            makespan = front->free[rank];
    if (makespan >= x->best)
        return;
    x->best = makespan;
    x->n_best = depth;
    memcpy(x->best_steps, x->steps, depth * sizeof *x->steps);
}

static void go_on(exact *x, uint32_t depth) {
    const pp_front *front = &x->fronts[depth];
    step branches[MOST_CHOICES];
    if (x->nodes-- == 0 || (x->nodes % CANCEL_EVERY == 0 && mill_cancelled(x->run)))
        x->ended = true;
    if (x->ended || bound_of(x, front) >= x->best || seen(x, front))
        return;
    uint32_t n = branches_of(x, front, branches);
    if (n == 0)
        take_best(x, front, depth);
    for (uint32_t i = 0; i < n && !x->ended; i++) {
        pp_front_copy(&x->fronts[depth + 1], front, x->shop);
        pp_front_run(&x->fronts[depth + 1], x->shop, branches[i].rank, branches[i].op,
                     branches[i].start);
        x->steps[depth] = branches[i];
        go_on(x, depth + 1);
    }
}

bool pp_order_exact(pp_order *order, mill_run *run, const pp_shop *shop, uint64_t nodes) {
    kit_arena memory = {0};
    uint32_t depth = shop->ranks * shop->stride;
    exact x = {
        .shop = shop,
        .run = run,
        .memory = &memory,
        .fronts = kit_arena_alloc(&memory, (depth + 1) * sizeof *x.fronts),
        .steps = kit_arena_alloc(&memory, depth * sizeof *x.steps),
        .best_steps = kit_arena_alloc(&memory, depth * sizeof *x.steps),
        .best = order->makespan == MILL_UNKNOWN ? INT64_MAX : order->makespan,
        .ways = kit_arena_alloc(&memory, shop->cells * sizeof *x.ways),
        .slots = kit_arena_alloc(&memory, SLOTS * sizeof *x.slots),
        .n_counts = 4 * shop->cells,
        .n_times = 4 * shop->cells + shop->ranks + 2 * (size_t)shop->cells * shop->per_cell,
        .nodes = nodes,
    };
    x.key = kit_arena_alloc(&memory, x.n_times * sizeof *x.key);
    for (uint32_t i = 0; i <= depth; i++)
        pp_front_init(&x.fronts[i], &memory, shop);
    pp_front_reset(&x.fronts[0], shop);
    pp_ways_of(shop, x.ways);
    go_on(&x, 0);
    if (x.n_best) {
        memset(order->n, 0, shop->ranks * sizeof *order->n);
        order->makespan = x.best;
    }
    for (uint32_t i = 0; i < x.n_best; i++) {
        uint32_t rank = x.best_steps[i].rank;
        order->ops[(size_t)rank * shop->stride + order->n[rank]++] = x.best_steps[i].op;
    }
    kit_arena_finish(&memory);
    return !x.ended;
}
