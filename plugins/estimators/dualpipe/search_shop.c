/* SPDX-License-Identifier: Apache-2.0 */
/* Placements with durations, and how far ranks are on them. */
#include "search_shop.h"

#include "search_candidates.h"

#include <string.h>

/* ---------------------------------------------------------------- a placement with durations */

/* All forwards, then all backwards: on every placement this runs. */
static const pp_plan *plain_plan(mill_run *run, const pp_goal *goal, pp_place place,
                                 uint32_t chunks) {
    uint32_t per_cell = goal->sizes.micro_batches / (place == PP_PLACE_BOTH ? 2 : 1);
    pp_builder *b = pp_begin(run, "own-order", "Own order", place, goal->sizes.ranks, chunks,
                             goal->sizes.micro_batches);
    for (uint32_t rank = 0; rank < goal->sizes.ranks; rank++) {
        pp_rank(b);
        for (uint32_t chunk = 0; chunk < chunks; chunk++) {
            pp_loop_begin(b, per_cell);
            pp_add(b, MILL_OP_FORWARD, chunk);
        }
        for (uint32_t chunk = chunks; chunk-- > 0;) {
            pp_loop_begin(b, per_cell);
            pp_add(b, goal->split ? MILL_OP_INPUT : MILL_OP_BACKWARD, chunk);
            if (goal->split)
                pp_add(b, MILL_OP_WEIGHT, chunk);
        }
    }
    return pp_end(b);
}

/* Durations of one kind of operation, or NULL if one is unknown. */
static const int64_t *durations_of(mill_run *run, const pp_shop *shop, mill_op_kind kind) {
    int64_t *ns = mill_scratch(run, shop->cells * sizeof *ns);
    for (uint32_t cell = 0; cell < shop->cells; cell++) {
        pp_op op = {.kind = (uint8_t)kind, .chunk = (uint8_t)(cell % shop->chunks)};
        ns[cell] = pp_duration(shop->plan, shop->timing, cell / shop->chunks, op);
        if (ns[cell] == MILL_UNKNOWN)
            return NULL;
    }
    return ns;
}

/* Durations of pairs, or NULL if one is unknown, or none takes less time than its halves. */
static const int64_t *pairs_of(mill_run *run, const pp_shop *shop) {
    uint32_t v = shop->chunks;
    int64_t *ns = mill_scratch(run, (size_t)shop->cells * v * sizeof *ns);
    bool useful = false;
    for (uint32_t cell = 0; cell < shop->cells; cell++)
        for (uint32_t chunk = 0; chunk < v; chunk++) {
            pp_op op = {MILL_OP_PAIR, (uint8_t)(cell % v), (uint8_t)chunk, 0};
            int64_t d = pp_duration(shop->plan, shop->timing, cell / v, op);
            if (d == MILL_UNKNOWN)
                return NULL;
            ns[cell * v + chunk] = d;
            useful |= d < (__int128)shop->forward[cell] + shop->backward[cell - cell % v + chunk];
        }
    return useful ? ns : NULL;
}

/* The link of a rank's transfers to the rank of cell `to`. ranks: to which each of the links that
 * begin at the rank leads; *n of them so far. */
static uint32_t link_to(const pp_shop *shop, uint32_t rank, int32_t to, uint32_t *ranks,
                        uint32_t *n, uint32_t first) {
    if (to < 0 || (uint32_t)to / shop->chunks == rank)
        return PP_NO_LINK;
    uint32_t other = (uint32_t)to / shop->chunks, i = 0;
    while (i < *n && ranks[i] != other)
        i++;
    if (i == *n)
        ranks[(*n)++] = other;
    return first + i;
}

static void place_links(pp_shop *shop, mill_run *run) {
    uint32_t *link = mill_scratch(run, 2 * shop->cells * sizeof *link);
    uint32_t *ranks = mill_scratch(run, 2 * shop->chunks * sizeof *ranks);
    for (uint32_t rank = 0; rank < shop->ranks; rank++) {
        uint32_t n = 0;
        for (uint32_t cell = rank * shop->chunks; cell < (rank + 1) * shop->chunks; cell++) {
            link[2 * cell] = link_to(shop, rank, shop->plan->next[cell], ranks, &n, shop->links);
            link[2 * cell + 1] =
                link_to(shop, rank, shop->plan->prev[cell], ranks, &n, shop->links);
        }
        shop->links += n;
    }
    shop->link = link;
}

/* No chain of operations and transfers holds any of them twice; bounds add a few ways, and blocks
 * wait up to a period of half as much work again for each cell. */
static bool times_fit(const pp_shop *shop) {
    __int128 sum = 0;
    for (uint32_t cell = 0; cell < shop->cells; cell++) {
        sum += (__int128)shop->forward[cell] + 4 * ((__int128)shop->latency + shop->occupied);
        sum += shop->whole ? shop->backward[cell] : 0;
        sum += shop->split ? (__int128)shop->input[cell] + shop->weight[cell] : 0;
        for (uint32_t chunk = 0; shop->pairs && chunk < shop->chunks; chunk++)
            sum += shop->pair[cell * shop->chunks + chunk];
    }
    return sum * ((__int128)shop->per_cell + 4 * shop->cells) < INT64_MAX / 4;
}

bool pp_shop_init(pp_shop *shop, mill_run *run, const pp_goal *goal, pp_place place,
                  uint32_t chunks, bool pairs) {
    const pp_plan *plan = plain_plan(run, goal, place, chunks);
    const pp_timing *timing = goal->timing(run, goal->context, plan);
    *shop = (pp_shop){
        .plan = plan,
        .timing = timing,
        .place = place,
        .ranks = plan->ranks,
        .chunks = chunks,
        .cells = plan->ranks * chunks,
        .per_cell = plan->per_cell,
        .until_weight = goal->until_weight,
        .most = pp_goal_most(goal, plan),
    };
    if (!timing)
        return false;
    shop->latency = timing->latency;
    shop->occupied = timing->occupied;
    shop->forward = durations_of(run, shop, MILL_OP_FORWARD);
    shop->backward = durations_of(run, shop, MILL_OP_BACKWARD);
    if (goal->split) {
        shop->input = durations_of(run, shop, MILL_OP_INPUT);
        shop->weight = durations_of(run, shop, MILL_OP_WEIGHT);
    }
    shop->split = shop->input && shop->weight;
    shop->whole = shop->backward;
    if (!shop->forward || (!shop->split && !shop->whole))
        return false;
    shop->pair = pairs && shop->whole ? pairs_of(run, shop) : NULL;
    shop->pairs = shop->pair;
    shop->stride = chunks * shop->per_cell * (shop->split ? 3 : 2);
    place_links(shop, run);
    return times_fit(shop);
}

int64_t pp_shop_duration(const pp_shop *shop, uint32_t rank, pp_op op) {
    uint32_t cell = rank * shop->chunks + op.chunk;
    switch (op.kind) {
    case MILL_OP_FORWARD:
        return shop->forward[cell];
    case MILL_OP_BACKWARD:
        return shop->backward[cell];
    case MILL_OP_INPUT:
        return shop->input[cell];
    case MILL_OP_WEIGHT:
        return shop->weight[cell];
    default:
        return shop->pair[cell * shop->chunks + op.chunk2];
    }
}

/* ---------------------------------------------------------------- how far each rank is */

void pp_front_init(pp_front *front, kit_arena *memory, const pp_shop *shop) {
    size_t cells = shop->cells, inputs = cells * shop->per_cell;
    int64_t *ns =
        kit_arena_alloc(memory, (2 * shop->ranks + shop->links + 2 * inputs) * sizeof *ns);
    uint32_t *counts = kit_arena_alloc(memory, (4 * cells + 2 * shop->ranks) * sizeof *counts);
    *front = (pp_front){
        .free = ns,
        .live = ns + shop->ranks,
        .link_free = ns + 2 * shop->ranks,
        .activation = ns + 2 * shop->ranks + shop->links,
        .gradient = ns + 2 * shop->ranks + shop->links + inputs,
        .forwards = counts,
        .backwards = counts + cells,
        .inputs = counts + 2 * cells,
        .weights = counts + 3 * cells,
        .at = counts + 4 * cells,
        .ready = counts + 4 * cells + shop->ranks,
    };
}

/* All of a front lies in two blocks, one after the other in the order of its fields. */
void pp_front_copy(pp_front *to, const pp_front *from, const pp_shop *shop) {
    size_t cells = shop->cells, inputs = cells * shop->per_cell;
    memcpy(to->free, from->free, (2 * shop->ranks + shop->links + 2 * inputs) * sizeof *to->free);
    memcpy(to->forwards, from->forwards, 4 * cells * sizeof *to->forwards);
}

void pp_front_reset(pp_front *front, const pp_shop *shop) {
    size_t cells = shop->cells, inputs = cells * shop->per_cell;
    memset(front->free, 0, (2 * shop->ranks + shop->links) * sizeof *front->free);
    memset(front->activation, 0xff, 2 * inputs * sizeof *front->activation);
    memset(front->forwards, 0, 4 * cells * sizeof *front->forwards);
}

/* When the next activations of a cell are there, and the next gradients. */
static int64_t forward_ready(const pp_front *front, const pp_shop *shop, uint32_t cell) {
    if (shop->plan->prev[cell] < 0)
        return 0;
    return front->activation[(size_t)cell * shop->per_cell + front->forwards[cell]];
}

static int64_t backward_ready(const pp_front *front, const pp_shop *shop, uint32_t cell) {
    if (shop->plan->next[cell] < 0)
        return 0;
    return front->gradient[(size_t)cell * shop->per_cell + front->backwards[cell]];
}

int64_t pp_front_start(const pp_front *front, const pp_shop *shop, uint32_t rank, pp_op op) {
    uint32_t cell = rank * shop->chunks + op.chunk;
    int64_t free = front->free[rank], ready = 0;
    if (op.kind == MILL_OP_FORWARD) {
        ready = forward_ready(front, shop, cell);
    } else if (op.kind == MILL_OP_PAIR) {
        int64_t back = backward_ready(front, shop, rank * shop->chunks + op.chunk2);
        ready = forward_ready(front, shop, cell);
        if (back < 0 || back > ready)
            ready = ready < 0 ? ready : back;
    } else if (op.kind != MILL_OP_WEIGHT) {
        ready = backward_ready(front, shop, cell);
    }
    return ready < 0 ? -1 : ready > free ? ready : free;
}

bool pp_front_allows(const pp_front *front, const pp_shop *shop, uint32_t rank, pp_op op) {
    uint32_t cell = rank * shop->chunks + op.chunk;
    if (op.kind == MILL_OP_WEIGHT)
        return front->weights[cell] < front->inputs[cell];
    if (op.kind == MILL_OP_BACKWARD || op.kind == MILL_OP_INPUT)
        return front->backwards[cell] < front->forwards[cell];
    if (op.kind == MILL_OP_PAIR) {
        uint32_t back = rank * shop->chunks + op.chunk2;
        if (front->backwards[back] >= front->forwards[back])
            return false;
    }
    return front->forwards[cell] < shop->per_cell && front->live[rank] < shop->most;
}

/* When what a cell sends is there. */
int64_t pp_front_arrival(pp_front *front, const pp_shop *shop, uint32_t link, int64_t end) {
    if (link == PP_NO_LINK)
        return end;
    if (!shop->occupied)
        return end + shop->latency;
    int64_t from = front->link_free[link] > end ? front->link_free[link] : end;
    front->link_free[link] = from + shop->occupied;
    return from + shop->occupied + shop->latency;
}

/* Sends what the operation makes, which takes the numbers that the counts have before it. */
static void send(pp_front *front, const pp_shop *shop, uint32_t rank, pp_op op, int64_t end) {
    uint32_t forward = rank * shop->chunks + op.chunk;
    uint32_t backward = op.kind == MILL_OP_PAIR ? rank * shop->chunks + op.chunk2 : forward;
    int32_t next = shop->plan->next[forward], prev = shop->plan->prev[backward];
    if (next >= 0 && (op.kind == MILL_OP_FORWARD || op.kind == MILL_OP_PAIR))
        front->activation[(size_t)next * shop->per_cell + front->forwards[forward]] =
            pp_front_arrival(front, shop, shop->link[2 * forward], end);
    if (prev >= 0 && op.kind != MILL_OP_FORWARD && op.kind != MILL_OP_WEIGHT)
        front->gradient[(size_t)prev * shop->per_cell + front->backwards[backward]] =
            pp_front_arrival(front, shop, shop->link[2 * backward + 1], end);
}

void pp_front_count(pp_front *front, const pp_shop *shop, uint32_t rank, pp_op op) {
    uint32_t cell = rank * shop->chunks + op.chunk;
    switch (op.kind) {
    case MILL_OP_FORWARD:
        front->forwards[cell]++;
        front->live[rank]++;
        break;
    case MILL_OP_BACKWARD:
        front->backwards[cell]++;
        front->live[rank]--;
        break;
    case MILL_OP_INPUT:
        front->backwards[cell]++;
        front->inputs[cell]++;
        front->live[rank] -= !shop->until_weight;
        break;
    case MILL_OP_WEIGHT:
        front->weights[cell]++;
        front->live[rank] -= shop->until_weight;
        break;
    default: /* a pair: one chunk more and one less */
        front->forwards[cell]++;
        front->backwards[rank * shop->chunks + op.chunk2]++;
    }
}

void pp_front_run(pp_front *front, const pp_shop *shop, uint32_t rank, pp_op op, int64_t start) {
    int64_t end = start + pp_shop_duration(shop, rank, op);
    front->free[rank] = end;
    send(front, shop, rank, op, end);
    pp_front_count(front, shop, rank, op);
}
