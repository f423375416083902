/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which operation of a recorded result feeds which other one. */
#include "depend.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

/* The cell and micro-batch of an operation's half; false: it has no such half. */
static bool half_of(const pp_depend *d, uint64_t op, pp_way way, uint32_t *ret_cell,
                    uint32_t *ret_mb) {
    const pp_item *item = &d->result->items[op];
    uint8_t kind = item->op.kind;
    if (!(way == PP_ACTIVATIONS ? pp_has_forward(kind) : pp_has_backward(kind)))
        return false;
    bool second = kind == MILL_OP_PAIR && way == PP_GRADIENTS;
    *ret_cell = d->rank[op] * d->plan->chunks + (second ? item->op.chunk2 : item->op.chunk);
    *ret_mb = second ? item->mb2 : item->mb;
    return true;
}

/* The operation that a half meets on the cell that one of the columns names, if on another rank. */
static uint64_t neighbour(const pp_depend *d, uint64_t op, pp_way way, const int32_t *column) {
    uint32_t cell, mb;
    if (!half_of(d, op, way, &cell, &mb) || column[cell] < 0)
        return PP_NOTHING;
    uint32_t other = (uint32_t)column[cell];
    if (other / d->plan->chunks == d->rank[op])
        return PP_NOTHING;
    return d->made[way][(uint64_t)other * d->plan->per_cell + mb];
}

uint64_t pp_source(const pp_depend *d, uint64_t op, pp_way way) {
    return neighbour(d, op, way, way == PP_ACTIVATIONS ? d->plan->prev : d->plan->next);
}

uint64_t pp_sink(const pp_depend *d, uint64_t op, pp_way way) {
    return neighbour(d, op, way, way == PP_ACTIVATIONS ? d->plan->next : d->plan->prev);
}

/* ---------------------------------------------------------------- transfers that never block */

/* Transfers of one rank, in the order in which they come to its links. last: by receiving rank, the
 * transfer before on that link. */
static void queue_transfers(pp_depend *d, int64_t occupied, uint32_t rank, uint64_t *last) {
    const pp_result *result = d->result;
    memset(last, 0xff, d->plan->ranks * sizeof *last); /* PP_NOTHING */
    for (uint64_t op = result->first[rank]; op < result->first[rank + 1]; op++)
        for (pp_way way = 0; way < PP_WAYS; way++) {
            uint64_t sink = pp_sink(d, op, way), transfer = PP_WAYS * op + way;
            if (sink == PP_NOTHING)
                continue;
            uint64_t *before = &last[d->rank[sink]];
            int64_t from = result->end[op];
            if (*before != PP_NOTHING && d->gone[*before] > from)
                from = d->gone[*before];
            d->gone[transfer] = from + occupied;
            d->before[transfer] = *before;
            *before = transfer;
        }
}

static void run_links(pp_depend *d, int64_t occupied, uint64_t n) {
    uint64_t *last = kit_alloc(d->plan->ranks, sizeof *last);
    d->gone = kit_alloc(n, PP_WAYS * sizeof *d->gone);
    d->before = kit_alloc(n, PP_WAYS * sizeof *d->before);
    memset(d->before, 0xff, n * PP_WAYS * sizeof *d->before); /* PP_NOTHING */
    for (uint32_t rank = 0; rank < d->plan->ranks; rank++)
        queue_transfers(d, occupied, rank, last);
    free(last);
}

/* ---------------------------------------------------------------- transfers that block */

static void post_all(pp_depend *d, uint64_t n) {
    const pp_result *result = d->result;
    d->received = kit_alloc(n, sizeof *d->received);
    d->sent = kit_alloc(n, sizeof *d->sent);
    d->early = kit_alloc(n + 1, sizeof *d->early);
    memset(d->early, 0xff, (n + 1) * sizeof *d->early); /* PP_NOTHING */
    for (uint32_t rank = 0; rank < d->plan->ranks; rank++) {
        uint64_t first = result->first[rank], end = result->first[rank + 1];
        pp_posted(d->plan, rank, result->items + first, end - first, d->received + first,
                  d->sent + first);
        for (uint64_t op = first; op < end; op++) {
            d->received[op] += first;
            d->sent[op] += first;
            if (d->received[op] < op)
                d->early[d->received[op]] = op;
        }
    }
}

/* Adds what the operation receives, or sends, of a way, if it crosses ranks. */
static void meet(const pp_depend *d, uint64_t op, pp_way way, bool sends, pp_meeting *meetings,
                 uint32_t *n) {
    uint64_t other = sends ? pp_sink(d, op, way) : pp_source(d, op, way);
    if (other == PP_NOTHING)
        return;
    uint64_t at = sends ? other : other + 1;
    if (way == PP_ACTIVATIONS)
        at = sends ? d->received[other] : d->sent[other];
    meetings[(*n)++] = (pp_meeting){d->rank[other], at, sends, 1};
}

static void count_links(pp_meeting *meetings, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            meetings[i].links += i != j && meetings[i].rank == meetings[j].rank &&
                                 meetings[i].at == meetings[j].at &&
                                 meetings[i].sends == meetings[j].sends;
}

uint32_t pp_meetings(const pp_depend *d, uint32_t rank, uint64_t place,
                     pp_meeting ret_meetings[PP_MEETINGS]) {
    uint64_t first = d->result->first[rank], end = d->result->first[rank + 1];
    uint32_t n = 0;
    if (place < end) {
        if (d->received[place] == place)
            meet(d, place, PP_ACTIVATIONS, false, ret_meetings, &n);
        meet(d, place, PP_GRADIENTS, false, ret_meetings, &n);
        if (d->early[place] != PP_NOTHING)
            meet(d, d->early[place], PP_ACTIVATIONS, false, ret_meetings, &n);
    }
    for (uint64_t op = place - first < 2 ? first : place - 2; op < place; op++)
        if (d->sent[op] == place)
            meet(d, op, PP_ACTIVATIONS, true, ret_meetings, &n);
    if (place > first)
        meet(d, place - 1, PP_GRADIENTS, true, ret_meetings, &n);
    count_links(ret_meetings, n);
    return n;
}

/* ---------------------------------------------------------------- all of it */

void pp_depend_init(pp_depend *d, const pp_plan *plan, const pp_timing *timing,
                    const pp_result *result) {
    uint64_t n = result->first[plan->ranks];
    uint64_t places = (uint64_t)plan->ranks * plan->chunks * plan->per_cell;
    *d = (pp_depend){.plan = plan, .result = result, .rank = kit_alloc(n, sizeof *d->rank)};
    for (pp_way way = 0; way < PP_WAYS; way++)
        d->made[way] = kit_alloc(places, sizeof *d->made[way]);
    for (uint32_t rank = 0; rank < plan->ranks; rank++)
        for (uint64_t op = result->first[rank]; op < result->first[rank + 1]; op++) {
            d->rank[op] = rank;
            for (pp_way way = 0; way < PP_WAYS; way++) {
                uint32_t cell, mb;
                if (half_of(d, op, way, &cell, &mb))
                    d->made[way][(uint64_t)cell * plan->per_cell + mb] = op;
            }
        }
    if (timing && timing->comm == PP_COMM_BLOCKING)
        post_all(d, n);
    else if (timing && timing->occupied)
        run_links(d, timing->occupied, n);
}

void pp_depend_finish(pp_depend *d) {
    free(d->rank);
    free(d->made[PP_ACTIVATIONS]);
    free(d->made[PP_GRADIENTS]);
    free(d->gone);
    free(d->before);
    free(d->received);
    free(d->sent);
    free(d->early);
}
