/* SPDX-License-Identifier: Apache-2.0 */
/* Orders: to and from plans, whether they are allowed, and how long they take. */
#include "search_shop.h"

#include <string.h>

void pp_order_init(pp_order *order, kit_arena *memory, const pp_shop *shop) {
    *order = (pp_order){
        .ops = kit_arena_alloc(memory, (size_t)shop->ranks * shop->stride * sizeof(pp_op)),
        .n = kit_arena_alloc(memory, shop->ranks * sizeof(uint32_t)),
        .makespan = MILL_UNKNOWN,
    };
}

void pp_order_copy(pp_order *to, const pp_order *from, const pp_shop *shop) {
    memcpy(to->ops, from->ops, (size_t)shop->ranks * shop->stride * sizeof *to->ops);
    memcpy(to->n, from->n, shop->ranks * sizeof *to->n);
    to->makespan = from->makespan;
}

void pp_order_of(pp_order *order, mill_run *run, const pp_shop *shop, const pp_plan *plan) {
    for (uint32_t rank = 0; rank < shop->ranks; rank++) {
        pp_cursor *c = pp_cursor_at(run, plan, rank);
        order->n[rank] = 0;
        for (pp_item item; pp_next(c, &item);) {
            item.op.step = 0;
            order->ops[(size_t)rank * shop->stride + order->n[rank]++] = item.op;
        }
    }
}

const pp_plan *pp_order_plan(const pp_order *order, mill_run *run, const pp_shop *shop) {
    const pp_plan *like = shop->plan;
    pp_builder *b = pp_begin(run, like->id, like->name, shop->place, shop->ranks, shop->chunks,
                             like->micro_batches);
    for (uint32_t rank = 0; rank < shop->ranks; rank++) {
        const pp_op *ops = order->ops + (size_t)rank * shop->stride;
        pp_rank(b);
        for (uint32_t i = 0; i < order->n[rank]; i++)
            if (ops[i].kind == MILL_OP_PAIR)
                pp_add_pair(b, ops[i].chunk, ops[i].chunk2);
            else
                pp_add(b, (mill_op_kind)ops[i].kind, ops[i].chunk);
    }
    return pp_end(b);
}

bool pp_order_allowed(const pp_order *order, pp_front *front, const pp_shop *shop, uint32_t rank) {
    const pp_op *ops = order->ops + (size_t)rank * shop->stride;
    uint32_t first = rank * shop->chunks, last = first + shop->chunks;
    front->live[rank] = 0;
    for (uint32_t cell = first; cell < last; cell++)
        front->forwards[cell] = front->backwards[cell] = front->inputs[cell] =
            front->weights[cell] = 0;
    for (uint32_t i = 0; i < order->n[rank]; i++) {
        if (!pp_front_allows(front, shop, rank, ops[i]))
            return false;
        pp_front_count(front, shop, rank, ops[i]);
    }
    for (uint32_t cell = first; cell < last; cell++)
        if (front->backwards[cell] < shop->per_cell || front->weights[cell] < front->inputs[cell])
            return false;
    return true;
}

/* ---------------------------------------------------------------- timing */

#define WAITED (-2) /* in place of -1: the rank that gets it has stopped there */

/* Whether it is known when an input comes; *start is put off until then. */
static inline bool has_come(int64_t *input, int64_t *start) {
    if (*input < 0) {
        *input = WAITED;
        return false;
    }
    if (*input > *start)
        *start = *input;
    return true;
}

static inline void deliver(pp_front *front, const pp_shop *shop, int64_t *input, uint32_t to,
                           uint32_t link, int64_t end) {
    if (*input == WAITED)
        front->ready[front->n_ready++] = to / shop->chunks;
    *input = pp_front_arrival(front, shop, link, end);
}

/* False: it must wait for another rank. */
static inline bool run_op(pp_front *front, const pp_shop *shop, uint32_t rank, pp_op op,
                          int64_t *ret_start) {
    size_t per_cell = shop->per_cell;
    bool pair = op.kind == MILL_OP_PAIR, forward = pair || op.kind == MILL_OP_FORWARD;
    bool backward = pair || op.kind == MILL_OP_BACKWARD || op.kind == MILL_OP_INPUT;
    uint32_t cell = rank * shop->chunks + op.chunk;
    uint32_t back = pair ? rank * shop->chunks + op.chunk2 : cell;
    int32_t from = shop->plan->prev[cell], from_back = shop->plan->next[back];
    uint32_t k = front->forwards[cell], k_back = front->backwards[back];
    int64_t start = front->free[rank];
    if (forward && from >= 0 && !has_come(&front->activation[cell * per_cell + k], &start))
        return false;
    if (backward && from_back >= 0 && !has_come(&front->gradient[back * per_cell + k_back], &start))
        return false;
    int64_t end = start + pp_shop_duration(shop, rank, op);
    front->free[rank] = end;
    *ret_start = start;
    if (forward) {
        int32_t to = shop->plan->next[cell];
        front->forwards[cell]++;
        if (to >= 0)
            deliver(front, shop, &front->activation[(uint32_t)to * per_cell + k], (uint32_t)to,
                    shop->link[2 * cell], end);
    }
    if (backward) {
        int32_t to = shop->plan->prev[back];
        front->backwards[back]++;
        if (to >= 0)
            deliver(front, shop, &front->gradient[(uint32_t)to * per_cell + k_back], (uint32_t)to,
                    shop->link[2 * back + 1], end);
    }
    return true;
}

int64_t pp_order_time(const pp_order *order, pp_front *front, const pp_shop *shop,
                      int64_t *ret_start) {
    pp_front_reset(front, shop);
    front->n_ready = shop->ranks;
    for (uint32_t rank = 0; rank < shop->ranks; rank++) {
        front->at[rank] = 0;
        front->ready[rank] = rank;
    }
    while (front->n_ready) {
        uint32_t rank = front->ready[--front->n_ready], i = front->at[rank];
        size_t first = (size_t)rank * shop->stride;
        int64_t start;
        for (; i < order->n[rank]; i++) {
            if (!run_op(front, shop, rank, order->ops[first + i], &start))
                break;
            if (ret_start)
                ret_start[first + i] = start;
        }
        front->at[rank] = i;
    }
    int64_t makespan = 0;
    for (uint32_t rank = 0; rank < shop->ranks; rank++) {
        if (front->at[rank] < order->n[rank])
            return MILL_UNKNOWN;
        if (front->free[rank] > makespan)
            makespan = front->free[rank];
    }
    return makespan;
}
