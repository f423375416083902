/* SPDX-License-Identifier: Apache-2.0 */
/* Why ranks stand still, and the chain of operations that decides the makespan. */
#include "why.h"

#include "depend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define MILLION 1e6

/* ---------------------------------------------------------------- idle time by cause */

/* When the last of an operation's inputs from other ranks was computed, and by what; INT64_MIN: it
 * has none. */
static int64_t computed_at(const pp_depend *d, uint64_t op, pp_cause *ret_cause) {
    static const pp_cause causes[] = {
        [PP_ACTIVATIONS] = PP_CAUSE_FORWARD, [PP_GRADIENTS] = PP_CAUSE_BACKWARD};
    int64_t at = INT64_MIN;
    for (pp_way way = 0; way < PP_WAYS; way++) {
        uint64_t source = pp_source(d, op, way);
        if (source != PP_NOTHING && d->result->end[source] > at) {
            at = d->result->end[source];
            *ret_cause = causes[way];
        }
    }
    return at;
}

static void cut_gap(const pp_depend *d, uint64_t op, pp_idle *idle) {
    int64_t from = d->result->end[op - 1], to = d->result->start[op];
    pp_cause cause = PP_CAUSE_TRANSFER;
    int64_t computed = computed_at(d, op, &cause);
    if (computed > from) {
        idle->ns[cause] += computed - from;
        from = computed;
    }
    idle->ns[PP_CAUSE_TRANSFER] += to - from;
}

void pp_why_idle(const pp_plan *plan, const pp_result *result, pp_idle *ret_idle) {
    pp_depend d;
    int64_t busiest = 0;
    pp_depend_init(&d, plan, NULL, result);
    for (uint32_t rank = 0; rank < plan->ranks; rank++) {
        const pp_rank_times *times = &result->ranks[rank];
        pp_idle *idle = &ret_idle[rank];
        *idle = (pp_idle){.ns[PP_CAUSE_START] = times->start,
                          .ns[PP_CAUSE_TAIL] = result->makespan - times->end};
        for (uint64_t op = result->first[rank] + 1; op < result->first[rank + 1]; op++)
            cut_gap(&d, op, idle);
        if (times->busy > busiest)
            busiest = times->busy;
    }
    for (uint32_t rank = 0; rank < plan->ranks; rank++)
        ret_idle[rank].imbalance = busiest - result->ranks[rank].busy;
    pp_depend_finish(&d);
}

/* ---------------------------------------------------------------- the critical path */

/* How an operation came to its start. */
typedef struct origin {
    uint64_t op; /* that it had to wait for, or PP_NOTHING: it is the first of all */
    pp_how how;
    uint32_t links;
} origin;

/* By a transfer that left when its operation ended, or when those before it had left the link. */
static origin by_transfer(const pp_depend *d, uint64_t transfer) {
    origin from = {.how = PP_BY_TRANSFER, .links = 1};
    while (d->gone && d->before[transfer] != PP_NOTHING &&
           d->gone[d->before[transfer]] > d->result->end[transfer / PP_WAYS]) {
        transfer = d->before[transfer];
        from.links++;
    }
    from.op = transfer / PP_WAYS;
    return from;
}

static origin origin_of(const pp_depend *d, const pp_timing *timing, uint64_t op) {
    const pp_result *result = d->result;
    if (!pp_is_first(d, op) && result->end[op - 1] == result->start[op])
        return (origin){.op = op - 1, .how = PP_BY_RANK};
    for (pp_way way = 0; way < PP_WAYS; way++) {
        uint64_t source = pp_source(d, op, way);
        if (source == PP_NOTHING)
            continue;
        uint64_t transfer = PP_WAYS * source + way;
        int64_t gone = d->gone ? d->gone[transfer] : result->end[source];
        if (gone + timing->latency == result->start[op])
            return by_transfer(d, transfer);
    }
    return (origin){.op = PP_NOTHING};
}

/* Where transfers block. Those that its own rank came to last are looked at first, and before that
 * nothing was waited for: they take their time even if it is 0 now. */
static origin blocked_origin_of(const pp_depend *d, const pp_timing *timing, uint64_t op) {
    uint32_t rank = d->rank[op];
    int64_t own = pp_comes(d, rank, op), start = d->result->start[op];
    uint64_t previous = pp_is_first(d, op) ? PP_NOTHING : op - 1;
    origin from = {.op = previous, .how = PP_BY_RANK};
    pp_meeting meetings[PP_MEETINGS];
    uint32_t n = pp_meetings(d, rank, op, meetings);
    for (uint32_t i = 0; i < n; i++) {
        const pp_meeting *m = &meetings[i];
        int64_t other = pp_comes(d, m->rank, m->at);
        int64_t takes = m->links * timing->occupied + timing->latency;
        if (own >= other && own + takes == start)
            return (origin){previous, PP_BY_BATCH, m->links};
        if (own < other && other + takes == start)
            from = (origin){m->at - 1, PP_BY_TRANSFER, m->links};
    }
    return from;
}

static origin come_from(const pp_depend *d, const pp_timing *timing, uint64_t op) {
    bool blocking = timing->comm == PP_COMM_BLOCKING;
    return blocking ? blocked_origin_of(d, timing, op) : origin_of(d, timing, op);
}

static uint64_t last_to_end(const pp_plan *plan, const pp_result *result) {
    uint32_t last = 0;
    for (uint32_t rank = 1; rank < plan->ranks; rank++)
        if (result->ranks[rank].end > result->ranks[last].end)
            last = rank;
    return result->first[last + 1] - 1;
}

void pp_why_path(mill_run *run, const pp_plan *plan, const pp_timing *timing,
                 const pp_result *result, pp_path *ret_path) {
    pp_depend d;
    pp_depend_init(&d, plan, timing, result);
    uint64_t last = last_to_end(plan, result), n = 0;
    for (uint64_t op = last; op != PP_NOTHING; op = come_from(&d, timing, op).op)
        n++;
    uint64_t *ops = mill_scratch(run, n * sizeof *ops);
    uint32_t *rank = mill_scratch(run, n * sizeof *rank), *links;
    uint8_t *how = mill_scratch(run, n);
    links = mill_scratch(run, n * sizeof *links);
    uint64_t op = last;
    for (uint64_t i = n; i-- > 0;) {
        origin from = come_from(&d, timing, op);
        ops[i] = op;
        rank[i] = d.rank[op];
        how[i] = (uint8_t)from.how;
        links[i] = from.links;
        op = from.op;
    }
    *ret_path = (pp_path){n, ops, rank, how, links};
    pp_depend_finish(&d);
}

/* ---------------------------------------------------------------- slopes */

/* By how much one operation grows with the durations that its own comes from. */
static double scale_of(const pp_plan *plan, const pp_timing *timing, const pp_result *result,
                       uint64_t op, uint32_t rank) {
    double scale = timing->slowness ? (double)timing->slowness[rank] / MILLION : 1;
    int64_t planned = pp_duration(plan, timing, rank, result->items[op].op);
    if (timing->jitter && planned > 0)
        scale *= (double)(result->end[op] - result->start[op]) / (double)planned;
    return scale;
}

/* forward, backward: of the stages of a pair's halves, which may be the same one. */
static void add_pair(const pp_plan *plan, const pp_timing *timing, uint32_t rank, pp_op op,
                     double scale, pp_slopes *forward, pp_slopes *backward) {
    if (timing->pair_rule == PP_PAIR_OWN) {
        forward->pair += scale / 2;
        backward->pair += scale / 2;
        return;
    }
    uint32_t first = rank * plan->chunks;
    bool forward_longer = timing->forward[first + op.chunk] >= timing->backward[first + op.chunk2];
    double alpha = (double)timing->alpha / MILLION;
    forward->forward += forward_longer ? scale : alpha * scale;
    backward->backward += forward_longer ? alpha * scale : scale;
}

/* by_stage: to ret_slopes[stage]; else all to ret_slopes[0]. */
static void add_ops(const pp_plan *plan, const pp_timing *timing, const pp_result *result,
                    const pp_path *path, bool by_stage, pp_slopes *ret_slopes) {
    for (uint64_t i = 0; i < path->n; i++) {
        pp_op op = result->items[path->op[i]].op;
        const uint32_t *stage = plan->stage + path->rank[i] * plan->chunks;
        pp_slopes *slopes = by_stage ? &ret_slopes[stage[op.chunk]] : ret_slopes;
        double scale = scale_of(plan, timing, result, path->op[i], path->rank[i]);
        switch (op.kind) {
        case MILL_OP_FORWARD:
            slopes->forward += scale;
            break;
        case MILL_OP_BACKWARD:
            slopes->backward += scale;
            break;
        case MILL_OP_INPUT:
            slopes->input += scale;
            break;
        case MILL_OP_WEIGHT:
            slopes->weight += scale;
            break;
        case MILL_OP_PAIR:
            add_pair(plan, timing, path->rank[i], op, scale, slopes,
                     by_stage ? &ret_slopes[stage[op.chunk2]] : ret_slopes);
            break;
        }
    }
}

pp_slopes pp_path_slopes(const pp_plan *plan, const pp_timing *timing, const pp_result *result,
                         const pp_path *path) {
    pp_slopes slopes = {0};
    add_ops(plan, timing, result, path, false, &slopes);
    for (uint64_t i = 0; i < path->n; i++) {
        slopes.latency += path->how[i] != PP_BY_RANK;
        slopes.occupied += path->links[i];
    }
    return slopes;
}

void pp_path_stage_slopes(const pp_plan *plan, const pp_timing *timing, const pp_result *result,
                          const pp_path *path, pp_slopes *ret_slopes) {
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        ret_slopes[stage] = (pp_slopes){.latency = (double)NAN, .occupied = (double)NAN};
    add_ops(plan, timing, result, path, true, ret_slopes);
}
