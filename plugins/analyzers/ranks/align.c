/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of ranks against one another. A collective of a synchronising kind ends on all ranks at
 * one time, but for the way of the last message; so that what the ends of many of them differ by is
 * what the clocks differ by. */
#include "ranks.h"

#include <stdlib.h>
#include <tracemill/kit/stats.h>

#define PIECE 8       /* collectives that one knot rests on, at least */
#define MAX_PIECES 16 /* of a drifting clock */
#define THIRDS 9      /* collectives below which no drift is told */

/* What one collective says of a member's clock. */
typedef struct sample {
    uint32_t member;
    int64_t time, offset;
} sample;

static int compare_samples(const void *a, const void *b) {
    const sample *x = a, *y = b;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t ranks_corrected(const ranks_clock *clock, int64_t time) {
    if (clock->n_knots < 2)
        return time - clock->offset;
    size_t i = 1;
    while (i + 1 < clock->n_knots && clock->knots[i].time <= time)
        i++;
    const ranks_knot *from = &clock->knots[i - 1], *to = &clock->knots[i];
    /* A line goes on for one piece at most: further out it would be a guess. */
    int64_t length = to->time - from->time, at = time - from->time;
    at = at < -length ? -length : at > 2 * length ? 2 * length : at;
    __int128 part = (__int128)(to->offset - from->offset) * at / length;
    return time - from->offset - (int64_t)part;
}

/* ---------------------------------------------------------------- one clock */

static int64_t median_offset(const ranks_analysis *a, const sample *v, size_t n) {
    int64_t *values = mill_scratch(a->run, n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = v[i].offset;
    return kit_median(values, n);
}

static void add_knots(const ranks_analysis *a, ranks_clock *clock, const sample *v, size_t n) {
    size_t pieces = n / PIECE < MAX_PIECES ? n / PIECE : MAX_PIECES;
    pieces = pieces < 2 ? 2 : pieces;
    clock->knots = mill_scratch(a->run, pieces * sizeof *clock->knots);
    for (size_t i = 0; i < pieces; i++) {
        size_t from = n * i / pieces, to = n * (i + 1) / pieces;
        ranks_knot knot = {v[from + (to - from) / 2].time, median_offset(a, v + from, to - from)};
        if (clock->n_knots == 0 || clock->knots[clock->n_knots - 1].time < knot.time)
            clock->knots[clock->n_knots++] = knot;
    }
}

/* From a member's samples, in order of time. */
static void fit(ranks_analysis *a, ranks_clock *clock, const sample *v, size_t n) {
    int64_t *far = mill_scratch(a->run, n * sizeof *far);
    *clock = (ranks_clock){.n = n, .offset = median_offset(a, v, n)};
    for (size_t i = 0; i < n; i++)
        far[i] = v[i].offset;
    clock->spread = kit_mad(far, n, clock->offset);
    if (n >= THIRDS) {
        clock->drift = median_offset(a, v + n - n / 3, n / 3) - median_offset(a, v, n / 3);
        if (ranks_abs(clock->drift) > clock->spread)
            add_knots(a, clock, v, n);
    }
    for (size_t i = 0; i < n; i++)
        far[i] = ranks_abs(ranks_corrected(clock, v[i].time) - (v[i].time - v[i].offset));
    qsort(far, n, sizeof *far, compare_times);
    clock->residual = kit_percentile(far, n, 95);
    clock->trusted =
        n >= (size_t)a->options->min_matches && clock->residual <= a->options->max_residual;
}

/* ---------------------------------------------------------------- all clocks */

/* The first member of the collective whose clock is aligned, or NULL. */
static const ranks_event *anchor_of(const ranks_analysis *a, const ranks_match *m) {
    for (size_t i = 0; i < m->n; i++)
        if (a->members[m->events[i].member].clock.trusted)
            return &m->events[i];
    return NULL;
}

/* What all synchronising collectives with an aligned member say of those that are not. */
static size_t take_samples(const ranks_analysis *a, sample *out) {
    size_t n = 0;
    for (size_t i = 0; i < a->n_matches; i++) {
        const ranks_match *m = &a->matches[i];
        const ranks_event *anchor = m->cls->sync ? anchor_of(a, m) : NULL;
        if (!anchor)
            continue;
        int64_t right = ranks_corrected(&a->members[anchor->member].clock, anchor->end);
        for (size_t k = 0; k < m->n; k++) {
            const ranks_event *e = &m->events[k];
            if (!a->members[e->member].clock.trusted)
                out[n++] = (sample){e->member, e->end, e->end - right};
        }
    }
    qsort(out, n, sizeof *out, compare_samples);
    return n;
}

/* Aligns those that share enough collectives with aligned ones. False: no more can be. */
static bool align_more(ranks_analysis *a, sample *samples) {
    bool more = false;
    size_t n = take_samples(a, samples);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && samples[k].member == samples[i].member;)
            k++;
        ranks_clock *clock = &a->members[samples[i].member].clock;
        fit(a, clock, samples + i, k - i);
        more |= clock->trusted;
    }
    return more;
}

/* The first member with enough synchronising collectives, else the first with any. */
static uint32_t reference_of(const ranks_analysis *a) {
    int64_t *n = mill_scratch(a->run, a->n_members * sizeof *n);
    uint32_t any = MILL_NONE;
    for (size_t i = 0; i < a->n_matches; i++)
        for (size_t k = 0; k < a->matches[i].n; k++)
            n[a->matches[i].events[k].member] += a->matches[i].cls->sync;
    for (uint32_t i = 0; i < a->n_members; i++) {
        if (n[i] >= a->options->min_matches)
            return i;
        any = n[i] > 0 && any == MILL_NONE ? i : any;
    }
    return any;
}

static int64_t residual_of_all(const ranks_analysis *a) {
    int64_t worst = MILL_UNKNOWN;
    for (size_t i = 0; i < a->n_members; i++) {
        const ranks_clock *clock = &a->members[i].clock;
        if (clock->trusted && clock->n > 0 && clock->residual > worst)
            worst = clock->residual;
    }
    return worst;
}

void ranks_align(ranks_analysis *a) {
    a->resolution = MILL_UNKNOWN;
    a->reference = reference_of(a);
    if (a->reference == MILL_NONE)
        return;
    a->members[a->reference].clock.trusted = true;
    sample *samples = mill_scratch(a->run, a->n_events * sizeof *samples);
    while (align_more(a, samples))
        ;
    a->resolution = residual_of_all(a);
}
