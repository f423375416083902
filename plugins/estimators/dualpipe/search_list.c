/* SPDX-License-Identifier: Apache-2.0 */
/* List scheduling: what ranks prefer by a rule, and how time goes on. */
#include "search_list.h"

#include "search_block.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- what a rank prefers */

/* An operation that a rank may run next; start -1: there is none. */
typedef struct offer {
    pp_op op;
    int64_t start;
} offer;

typedef struct scheduler {
    const pp_shop *shop;
    const pp_rule *rule;
    pp_front *front;
    offer *next;     /* of each rank: what it prefers; start INT64_MAX: nothing yet */
    uint32_t *ahead; /* of each cell: forwards that the rule lets it be ahead of its backwards */
    pp_block block;  /* if the rule has one */
} scheduler;

/* Whether the rank can take one more forward of this chunk and all of it can still end: there must
 * be room left for the chunks that follow, or of the other way. */
static bool has_room(const scheduler *s, uint32_t rank, uint32_t chunk) {
    const pp_shop *shop = s->shop;
    const pp_front *front = s->front;
    if (shop->most == INT64_MAX)
        return true;
    if (shop->place != PP_PLACE_BOTH)
        return front->live[rank] + shop->chunks - chunk <= shop->most;
    uint32_t cell = rank * shop->chunks + chunk;
    int64_t own = (int64_t)front->forwards[cell] - front->backwards[cell];
    if (shop->until_weight)
        own += front->inputs[cell] - front->weights[cell];
    return front->live[rank] < shop->most && own + 1 < shop->most;
}

static void fill_ahead(scheduler *s) {
    const pp_shop *shop = s->shop;
    for (uint32_t cell = 0; cell < shop->cells; cell++) {
        uint64_t later = shop->plan->stages - 1 - shop->plan->stage[cell];
        uint64_t ahead = s->rule->base + later * s->rule->slope / (4 * shop->chunks);
        s->ahead[cell] = ahead < UINT32_MAX ? (uint32_t)ahead : UINT32_MAX;
    }
}

static bool within_rule(const scheduler *s, uint32_t cell) {
    return s->front->forwards[cell] - s->front->backwards[cell] < s->ahead[cell];
}

/* Of two offers that can start at different times the earlier one, else the one of lower `order`.
 */
static void take(offer *best, uint32_t *best_order, offer other, uint32_t order, int64_t free) {
    if (other.start < 0)
        return;
    bool both_wait = best->start > free || other.start > free;
    if (best->start < 0 || (both_wait && other.start < best->start) ||
        (other.start <= best->start && order < *best_order)) {
        *best = other;
        *best_order = order;
    }
}

static offer forward_offer(const scheduler *s, uint32_t rank) {
    const pp_shop *shop = s->shop;
    offer best = {.start = -1};
    uint32_t best_order = 0;
    for (uint32_t chunk = 0; chunk < shop->chunks; chunk++) {
        uint32_t cell = rank * shop->chunks + chunk;
        offer o = {.op = {MILL_OP_FORWARD, (uint8_t)chunk, 0, 0}};
        if (!pp_front_allows(s->front, shop, rank, o.op) || !has_room(s, rank, chunk) ||
            !within_rule(s, cell))
            continue;
        o.start = pp_front_start(s->front, shop, rank, o.op);
        uint32_t stage = shop->plan->stage[cell];
        take(&best, &best_order, o, s->rule->deep ? UINT32_MAX - stage : stage,
             s->front->free[rank]);
    }
    return best;
}

/* Of backward chunks that are ready that of the oldest micro-batch. */
static offer backward_offer(const scheduler *s, uint32_t rank, mill_op_kind kind) {
    const pp_shop *shop = s->shop;
    offer best = {.start = -1};
    uint32_t best_order = 0;
    for (uint32_t chunk = 0; chunk < shop->chunks; chunk++) {
        uint32_t cell = rank * shop->chunks + chunk;
        offer o = {.op = {(uint8_t)kind, (uint8_t)chunk, 0, 0}};
        if (!pp_front_allows(s->front, shop, rank, o.op))
            continue;
        o.start = pp_front_start(s->front, shop, rank, o.op);
        uint32_t k = kind == MILL_OP_WEIGHT ? s->front->weights[cell] : s->front->backwards[cell];
        take(&best, &best_order, o, k, s->front->free[rank]);
    }
    return best;
}

static offer pair_offer(const scheduler *s, uint32_t rank, offer forward, offer backward) {
    const pp_shop *shop = s->shop;
    pp_op op = {MILL_OP_PAIR, forward.op.chunk, backward.op.chunk, 0};
    if (!s->rule->pairs || forward.start < 0 || backward.start < 0)
        return (offer){.start = -1};
    pp_op whole = {MILL_OP_BACKWARD, backward.op.chunk, 0, 0};
    if (pp_shop_duration(shop, rank, op) >=
        pp_shop_duration(shop, rank, forward.op) + pp_shop_duration(shop, rank, whole))
        return (offer){.start = -1};
    return (offer){op, forward.start > backward.start ? forward.start : backward.start};
}

static uint32_t owed(const scheduler *s, uint32_t rank) {
    uint32_t n = 0, v = s->shop->chunks;
    for (uint32_t cell = rank * v; cell < (rank + 1) * v; cell++)
        n += s->front->inputs[cell] - s->front->weights[cell];
    return n;
}

/* The operation of this kind that is next by the block, of those that the rank has room for. */
static offer block_offer(const scheduler *s, uint32_t rank, mill_op_kind kind, int64_t *ret_when) {
    const pp_shop *shop = s->shop;
    bool forward = kind == MILL_OP_FORWARD;
    const int64_t *first = forward ? s->block.forward : s->block.backward;
    const uint32_t *done = forward ? s->front->forwards : s->front->backwards;
    offer best = {.start = -1};
    *ret_when = INT64_MAX;
    for (uint32_t chunk = 0; chunk < shop->chunks; chunk++) {
        uint32_t cell = rank * shop->chunks + chunk;
        pp_op op = {(uint8_t)kind, (uint8_t)chunk, 0, 0};
        int64_t when = first[cell] + done[cell] * s->block.period;
        if (when < *ret_when && pp_front_allows(s->front, shop, rank, op) &&
            (!forward || has_room(s, rank, chunk))) {
            *ret_when = when;
            best = (offer){op, pp_front_start(s->front, shop, rank, op)};
        }
    }
    return best;
}

typedef struct offers {
    offer pair, forward, backward;
} offers;

static offers offers_of(const scheduler *s, uint32_t rank) {
    mill_op_kind back = s->rule->whole ? MILL_OP_BACKWARD : MILL_OP_INPUT;
    offers o;
    int64_t forward_when = 0, backward_when = 0;
    if (s->rule->block) {
        o.forward = block_offer(s, rank, MILL_OP_FORWARD, &forward_when);
        o.backward = block_offer(s, rank, back, &backward_when);
    } else {
        o.forward = forward_offer(s, rank);
        o.backward = backward_offer(s, rank, back);
    }
    o.pair = pair_offer(s, rank, o.forward, o.backward);
    /* Of a block only what is next, for which the rank then waits. */
    if (forward_when < backward_when)
        o.backward.start = -1;
    else if (backward_when < forward_when)
        o.forward.start = -1;
    return o;
}

static void prefer(scheduler *s, uint32_t rank) {
    offers o = offers_of(s, rank);
    offer forward = o.forward, backward = o.backward;
    offer weight = s->rule->whole ? (offer){.start = -1} : backward_offer(s, rank, MILL_OP_WEIGHT);
    offer ranked[4] = {o.pair, backward, forward, weight};
    if (s->rule->forward_first) {
        ranked[1] = forward;
        ranked[2] = backward;
    }
    if (weight.start >= 0 && owed(s, rank) >= s->rule->backlog) {
        ranked[3] = forward;
        ranked[1] = backward;
        ranked[2] = weight;
    }
    offer best = {.start = INT64_MAX};
    for (int i = 3; i >= 0; i--) {
        if (ranked[i].start < 0)
            continue;
        int64_t wait = 0;
        if (best.start != INT64_MAX)
            wait = pp_shop_duration(s->shop, rank, best.op) / 4 * s->rule->patience;
        if (best.start == INT64_MAX || ranked[i].start <= best.start + wait)
            best = ranked[i];
    }
    s->next[rank] = best;
}

/* ---------------------------------------------------------------- time goes on */

/* The rank whose next operation starts first. */
static uint32_t first_rank(const scheduler *s) {
    uint32_t first = 0;
    for (uint32_t rank = 1; rank < s->shop->ranks; rank++)
        if (s->next[rank].start < s->next[first].start)
            first = rank;
    return first;
}

/* Who gets something of the operation chooses anew. */
static void prefer_at(scheduler *s, int32_t cell) {
    if (cell >= 0)
        prefer(s, (uint32_t)cell / s->shop->chunks);
}

static void prefer_after(scheduler *s, uint32_t rank, pp_op op) {
    const pp_plan *plan = s->shop->plan;
    uint32_t first = rank * s->shop->chunks;
    prefer(s, rank);
    if (op.kind == MILL_OP_FORWARD || op.kind == MILL_OP_PAIR)
        prefer_at(s, plan->next[first + op.chunk]);
    if (op.kind == MILL_OP_BACKWARD || op.kind == MILL_OP_INPUT)
        prefer_at(s, plan->prev[first + op.chunk]);
    if (op.kind == MILL_OP_PAIR)
        prefer_at(s, plan->prev[first + op.chunk2]);
}

static bool whole(const pp_shop *shop, const pp_front *front) {
    for (uint32_t cell = 0; cell < shop->cells; cell++)
        if (front->backwards[cell] < shop->per_cell || front->weights[cell] < front->inputs[cell])
            return false;
    return true;
}

void pp_list_schedule(const pp_shop *shop, const pp_rule *rule, pp_front *front, pp_order *order) {
    scheduler s = {
        .shop = shop,
        .rule = rule,
        .front = front,
        .next = kit_alloc(shop->ranks, sizeof *s.next),
        .ahead = kit_alloc(shop->cells, sizeof *s.ahead),
    };
    int64_t makespan = 0;
    fill_ahead(&s);
    if (rule->block)
        pp_block_init(&s.block, shop, rule);
    pp_front_reset(front, shop);
    for (uint32_t rank = 0; rank < shop->ranks; rank++) {
        order->n[rank] = 0;
        prefer(&s, rank);
    }
    for (;;) {
        uint32_t rank = first_rank(&s);
        offer o = s.next[rank];
        if (o.start == INT64_MAX)
            break;
        pp_front_run(front, shop, rank, o.op, o.start);
        order->ops[(size_t)rank * shop->stride + order->n[rank]++] = o.op;
        if (front->free[rank] > makespan)
            makespan = front->free[rank];
        prefer_after(&s, rank, o.op);
    }
    order->makespan = whole(shop, front) ? makespan : MILL_UNKNOWN;
    free(s.next);
    free(s.ahead);
    free(s.block.forward);
}
