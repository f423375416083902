/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds of a placement: those of any memory, and one that follows from the limit of memory.
 *
 * A micro-batch is held by a rank from the start of its forward until its gradient has come back
 * through all later stages. A rank that may hold L of them with one chunk runs m of them in no less
 * than ceil(m / L) such stays, one after the other: the forward of k + L starts after the stay of k
 * has ended. (One chunk a rank has no pairs: what runs them has two.) With more chunks the sum of
 * all stays is at most L times the span.
 */
#include "search_bound.h"

#include <stdio.h>
#include <stdlib.h>
#include <tracemill/kit/number.h>

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---------------------------------------------------------------- ways */

static void fill_durations(const pp_shop *shop, uint32_t cell, pp_ways *w) {
    uint32_t v = shop->chunks, chunk = cell % v, first = cell - chunk;
    w->forward = shop->forward[cell];
    w->back = w->weighed = INT64_MAX;
    if (shop->whole)
        w->back = w->weighed = shop->backward[cell];
    if (shop->split) {
        w->back = least(w->back, shop->input[cell]);
        w->weighed = least(w->weighed, shop->input[cell] + shop->weight[cell]);
    }
    for (uint32_t other = 0; shop->pairs && other < v; other++) {
        int64_t pair = shop->pair[(first + other) * v + chunk];
        w->forward = least(w->forward, shop->pair[cell * v + other]);
        w->back = least(w->back, pair);
        w->weighed = least(w->weighed, pair);
    }
}

static int64_t hop(const pp_shop *shop, uint32_t from, uint32_t to) {
    return from / shop->chunks == to / shop->chunks ? 0 : shop->latency + shop->occupied;
}

static void follow_way(const pp_shop *shop, uint32_t first, pp_ways *ways) {
    const int32_t *next = shop->plan->next, *prev = shop->plan->prev;
    uint32_t at = first;
    ways[first].reach = 0;
    ways[first].leave = ways[first].weighed - ways[first].back;
    for (; next[at] >= 0; at = (uint32_t)next[at]) {
        uint32_t to = (uint32_t)next[at];
        ways[to].reach = ways[at].reach + ways[at].forward + hop(shop, at, to);
        ways[to].leave = most(hop(shop, at, to) + ways[at].back + ways[at].leave,
                              ways[to].weighed - ways[to].back);
    }
    ways[at].turn = 0;
    for (; prev[at] >= 0; at = (uint32_t)prev[at]) {
        pp_ways *to = &ways[prev[at]];
        to->turn = 2 * hop(shop, at, (uint32_t)prev[at]) + ways[at].forward + ways[at].turn +
                   ways[at].back;
    }
}

void pp_ways_of(const pp_shop *shop, pp_ways *ret_ways) {
    for (uint32_t cell = 0; cell < shop->cells; cell++)
        fill_durations(shop, cell, &ret_ways[cell]);
    for (uint32_t cell = 0; cell < shop->cells; cell++)
        if (shop->plan->prev[cell] < 0)
            follow_way(shop, cell, ret_ways);
}

/* ---------------------------------------------------------------- memory */

/* How long a rank holds a micro-batch in this cell at least, and what must follow. */
static int64_t stay(const pp_shop *shop, const pp_ways *w) {
    return w->forward + w->turn + (shop->until_weight ? w->weighed : w->back);
}

static int64_t after_stay(const pp_shop *shop, const pp_ways *w) {
    return shop->until_weight ? most(0, w->leave - (w->weighed - w->back)) : w->leave;
}

/* One chunk a rank: all rounds of stays, or all but the last, after which what is left of the
 * micro-batches must go to some later rank and back. */
static int64_t bound_by_rounds(const pp_shop *shop, const pp_ways *ways, uint32_t rank) {
    int64_t rounds = (shop->per_cell - 1) / shop->most;
    int64_t left = shop->per_cell - rounds * shop->most, before = rounds * stay(shop, &ways[rank]);
    int64_t bound = ways[rank].reach + stay(shop, &ways[rank]) + after_stay(shop, &ways[rank]);
    for (uint32_t later = rank; later < shop->ranks; later++) {
        const pp_ways *w = &ways[later];
        int64_t work = left * (w->forward + w->weighed);
        bound = most(bound, w->reach + most(work, left * (w->forward + w->back) + w->leave));
    }
    return before + bound;
}

static int64_t bound_by_sum(const pp_shop *shop, const pp_ways *ways, uint32_t rank) {
    int64_t reach = INT64_MAX, after = INT64_MAX;
    __int128 stays = 0;
    for (uint32_t cell = rank * shop->chunks; cell < (rank + 1) * shop->chunks; cell++) {
        reach = least(reach, ways[cell].reach);
        after = least(after, after_stay(shop, &ways[cell]));
        stays += (__int128)shop->per_cell * stay(shop, &ways[cell]);
    }
    stays = (stays + shop->most - 1) / shop->most + reach + after;
    return stays < INT64_MAX ? (int64_t)stays : INT64_MAX;
}

static const char *tell(mill_run *run, const pp_shop *shop, uint32_t rank) {
    char *text = mill_scratch(run, 160);
    snprintf(text, 160,
             "rank %u: each of %u chunks is held from its forward until its gradient is back, at "
             "most %lld at once",
             rank, shop->per_cell * shop->chunks, (long long)shop->most);
    return text;
}

/* ---------------------------------------------------------------- the bound */

/* A plan that has each kind of operation that may be run; nothing else of it is looked at. */
static const pp_plan *plan_of_kinds(mill_run *run, const pp_shop *shop) {
    pp_builder *b = pp_begin(run, shop->plan->id, shop->plan->name, shop->place, shop->ranks,
                             shop->chunks, shop->plan->micro_batches);
    for (uint32_t rank = 0; rank < shop->ranks; rank++) {
        pp_rank(b);
        pp_add(b, MILL_OP_FORWARD, 0);
        if (shop->whole)
            pp_add(b, MILL_OP_BACKWARD, 0);
        if (shop->split) {
            pp_add(b, MILL_OP_INPUT, 0);
            pp_add(b, MILL_OP_WEIGHT, 0);
        }
        if (shop->pairs)
            pp_add_pair(b, 0, 0);
    }
    return pp_end(b);
}

pp_bound pp_shop_bound(mill_run *run, const pp_shop *shop) {
    const pp_plan *kinds = plan_of_kinds(run, shop);
    if (mill_cancelled(run)) /* it may lack kinds */
        return (pp_bound){.ns = MILL_UNKNOWN};
    pp_bound bound = pp_bound_of(run, kinds, shop->timing);
    /* Jitter may shorten what these ways are made of. */
    if (bound.ns == MILL_UNKNOWN || shop->most == INT64_MAX || shop->most < 1 ||
        shop->timing->jitter)
        return bound;
    pp_ways *ways = kit_alloc(shop->cells, sizeof *ways);
    pp_ways_of(shop, ways);
    for (uint32_t rank = 0; rank < shop->ranks; rank++) {
        int64_t ns =
            shop->chunks == 1 ? bound_by_rounds(shop, ways, rank) : bound_by_sum(shop, ways, rank);
        if (ns > bound.ns)
            bound = (pp_bound){.ns = ns, .rank = rank, .formula = tell(run, shop, rank)};
    }
    free(ways);
    return bound;
}
