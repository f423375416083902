/* SPDX-License-Identifier: Apache-2.0 */
/* The two ends of each hand-over between stages, what of each is waiting, and the clocks of
 * profiles against one another, since both ends of a hand-over end together. */
#include "pipeline.h"

#include <stdlib.h>
#include <tracemill/kit/stats.h>

#define MAX_OFFSET (INT64_MAX / 4) /* ns: a clock that is further off is broken */

/* What one way between two members is in a step. */
typedef struct way {
    uint32_t step, low, high;
    uint8_t direction; /* 0: not told; 1: from low to high; 2: back */
} way;

typedef struct end_of_way {
    way way;
    pipe_event *event;
} end_of_way;

static way way_of(const pipe_event *e) {
    bool is_low = e->member < e->peer;
    way w = {e->step, is_low ? e->member : e->peer, is_low ? e->peer : e->member, 0};
    if (e->op->kind != PIPE_EXCHANGE)
        w.direction = (e->op->kind == PIPE_SEND) == is_low ? 1 : 2;
    return w;
}

static int compare_ways(const way *x, const way *y) {
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (int)x->direction - (int)y->direction;
}

/* By way, end, number and start. */
static int compare_ends(const void *a, const void *b) {
    const end_of_way *x = a, *y = b;
    int order = compare_ways(&x->way, &y->way);
    if (order != 0)
        return order;
    if (x->event->member != y->event->member)
        return x->event->member < y->event->member ? -1 : 1;
    if (x->event->op->sequence != y->event->op->sequence)
        return x->event->op->sequence < y->event->op->sequence ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static void join(const pipe_analysis *a, pipe_event *x, pipe_event *y) {
    x->match = (uint32_t)(y - a->events);
    y->match = (uint32_t)(x - a->events);
}

/* The events of one way, those of its low end first. By their numbers, if all have one; else in
 * their order, if both ends have as many. */
static void match_way(pipe_analysis *a, end_of_way *v, size_t n) {
    size_t n_low = 0;
    bool numbered = true;
    for (size_t i = 0; i < n; i++) {
        n_low += v[i].event->member == v[i].way.low;
        numbered &= v[i].event->op->sequence != MILL_UNKNOWN;
    }
    if (!numbered && 2 * n_low != n)
        return;
    for (size_t i = 0, k = n_low; i < n_low && k < n;) {
        int64_t x = v[i].event->op->sequence, y = v[k].event->op->sequence;
        if (x == y || !numbered)
            join(a, v[i++].event, v[k++].event);
        else if (x < y)
            i++;
        else
            k++;
    }
}

static void match_all(pipe_analysis *a) {
    end_of_way *ends = mill_scratch(a->run, a->n_events * sizeof *ends);
    size_t n = 0;
    for (size_t i = 0; i < a->n_events; i++)
        if (a->events[i].peer != MILL_NONE && a->events[i].peer != a->events[i].member)
            ends[n++] = (end_of_way){way_of(&a->events[i]), &a->events[i]};
    qsort(ends, n, sizeof *ends, compare_ends);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && compare_ways(&ends[k].way, &ends[i].way) == 0;)
            k++;
        match_way(a, ends + i, k - i);
    }
}

/* ---------------------------------------------------------------- clocks */

static uint32_t clock_number(const pipe_analysis *a, const pipe_event *e) {
    return a->members[e->member].clock;
}

static pipe_clock *clock_of(const pipe_analysis *a, const pipe_event *e) {
    return &a->clocks[clock_number(a, e)];
}

/* Matched events by the clock of their profile: those of clock c are rows first[c] to first[c + 1].
 */
typedef struct by_clock {
    size_t *first;
    const pipe_event **v;
    int64_t *values; /* room for one of each */
} by_clock;

static by_clock sort_by_clock(const pipe_analysis *a) {
    by_clock b = {.first = mill_scratch(a->run, (a->n_clocks + 2) * sizeof *b.first),
                  .v = mill_scratch(a->run, a->n_events * sizeof *b.v),
                  .values = mill_scratch(a->run, a->n_events * sizeof *b.values)};
    for (size_t i = 0; i < a->n_events; i++)
        if (a->events[i].match != MILL_NONE)
            b.first[clock_number(a, &a->events[i]) + 2]++;
    for (size_t c = 2; c < a->n_clocks + 2; c++)
        b.first[c] += b.first[c - 1];
    for (size_t i = 0; i < a->n_events; i++) /* leaves in first[c + 1] where those of c end */
        if (a->events[i].match != MILL_NONE)
            b.v[b.first[clock_number(a, &a->events[i]) + 1]++] = &a->events[i];
    return b;
}

/* Takes what the hand-overs with aligned clocks say of one that is not. */
static bool align(pipe_analysis *a, size_t number, const by_clock *b) {
    pipe_clock *clock = &a->clocks[number];
    size_t n = 0;
    for (size_t i = b->first[number]; i < b->first[number + 1]; i++) {
        const pipe_event *other = &a->events[b->v[i]->match];
        const pipe_clock *there = clock_of(a, other);
        if (there->aligned)
            b->values[n++] = b->v[i]->end - (other->end - there->offset);
    }
    int64_t offset = n ? kit_median(b->values, n) : MILL_UNKNOWN;
    if (offset < -MAX_OFFSET || offset > MAX_OFFSET)
        return false;
    clock->aligned = true;
    clock->n = n;
    clock->offset = offset;
    clock->mad = kit_mad(b->values, n, offset);
    return true;
}

/* From the first profile on, as far as hand-overs lead. */
static void align_all(pipe_analysis *a) {
    by_clock b = sort_by_clock(a);
    bool more = a->n_clocks > 0;
    if (more)
        a->clocks[0].aligned = true;
    while (more) {
        more = false;
        for (size_t i = 1; i < a->n_clocks; i++)
            if (!a->clocks[i].aligned)
                more |= align(a, i, &b);
    }
    for (size_t i = 0; i < a->n_events; i++) {
        int64_t offset = clock_of(a, &a->events[i])->offset;
        a->events[i].start -= offset;
        a->events[i].end -= offset;
    }
}

/* ---------------------------------------------------------------- waits */

/* On one clock, an end waits until the other one has begun. Of two clocks the durations tell: both
 * end together, so that the shorter one is all transfer. */
static int64_t wait_of(const pipe_analysis *a, const pipe_event *e) {
    const pipe_event *other = &a->events[e->match];
    int64_t dur = e->end - e->start;
    int64_t wait = clock_of(a, e) == clock_of(a, other) ? other->start - e->start
                                                        : dur - (other->end - other->start);
    return wait < 0 ? 0 : wait > dur ? dur : wait;
}

static void split_all(pipe_analysis *a) {
    int64_t *transfers = mill_scratch(a->run, a->n_events * sizeof *transfers);
    size_t n = 0;
    for (size_t i = 0; i < a->n_events; i++) {
        pipe_event *e = &a->events[i];
        if (!pipe_communicates(e->op->kind))
            continue;
        if (e->match == MILL_NONE) {
            a->n_alone++;
            a->alone = kit_add(a->alone, e->wait);
            continue;
        }
        e->wait = wait_of(a, e);
        transfers[n++] = e->end - e->start - e->wait;
    }
    a->transfer = n ? kit_median(transfers, n) : MILL_UNKNOWN;
}

void pipe_match(pipe_analysis *a) {
    match_all(a);
    align_all(a);
    split_all(a);
}
