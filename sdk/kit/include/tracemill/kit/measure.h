/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of overlap on plain intervals: tallies, the time in each state of a device, and
 * the hidden and exposed part of one communication activity. Knows nothing of traces and reports.
 *
 * Times are int64 ns, intervals half-open. Callers keep every span below 2^62 ns, so that no sum of
 * two times can overflow; only sums of durations can, and they become MILL_UNKNOWN.
 */
#ifndef TRACEMILL_KIT_MEASURE_H
#define TRACEMILL_KIT_MEASURE_H

#include <tracemill/kit/intervals.h>
#include <tracemill/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kit_class {
    KIT_COMP,
    KIT_COMM,
    KIT_MEM,
    KIT_OTHER, /* device work that is none of the three: neither busy nor overlapped */
    KIT_CLASSES
} kit_class;

/* At every moment a device is in one state: state s has bit c set when class c is active. A set of
 * states is a mask with bit s for state s, so the set algebra of C, M and X is bit algebra on these
 * masks: |C ∖ M| is the time in the states COMP & ~COMM. */
#define KIT_STATES (1 << KIT_CLASSES)
#define KIT_IN_COMP 0xaaaau
#define KIT_IN_COMM 0xccccu
#define KIT_IN_MEM 0xf0f0u
#define KIT_IN_OTHER 0xff00u
#define KIT_IN_ANY (KIT_IN_COMP | KIT_IN_COMM | KIT_IN_MEM)
#define KIT_ALWAYS 0xffffu

/* A set as kit/intervals.h defines it. */
typedef struct kit_set {
    kit_interval *v;
    size_t n;
} kit_set;

/* Adds [start, end) to a set in which nothing starts later. */
void kit_set_add(kit_set *set, int64_t start, int64_t end);

/* Activities of one sort, added in the order of their starts. All zero bytes is an empty one. */
typedef struct kit_tally {
    int64_t n;
    int64_t sum;         /* Σ durations, MILL_UNKNOWN if it does not fit */
    int64_t busy;        /* |union| */
    int64_t first, last; /* first start and last end; of no meaning while n is 0 */
} kit_tally;

/* a + b, MILL_UNKNOWN if either is or if it does not fit. */
static inline int64_t kit_add(int64_t a, int64_t b) {
    int64_t sum;
    if (a == MILL_UNKNOWN || b == MILL_UNKNOWN || __builtin_add_overflow(a, b, &sum))
        return MILL_UNKNOWN;
    return sum;
}

/* The same of a - b. */
static inline int64_t kit_subtract(int64_t a, int64_t b) {
    int64_t difference;
    if (a == MILL_UNKNOWN || b == MILL_UNKNOWN || __builtin_sub_overflow(a, b, &difference))
        return MILL_UNKNOWN;
    return difference;
}

/* Adds [start, end). Returns the part of it that no activity before covers: the time it owns. */
static inline kit_interval kit_tally_add(kit_tally *tally, int64_t start, int64_t end) {
    if (tally->n == 0)
        tally->first = tally->last = start;

    /* Nothing before started later, so what it covers of [start, end) ends at `last`. */
    kit_interval owned = {start > tally->last ? start : tally->last, end};
    owned.start = owned.start > end ? end : owned.start;
    tally->last = end > tally->last ? end : tally->last;
    tally->n++;
    tally->sum = kit_add(tally->sum, end - start);
    tally->busy += owned.end - owned.start;
    return owned;
}

/* How long the device is in each state during [start, end). O(log n + intervals in it): callers ask
 * for many windows of the same sets. */
void kit_states(const kit_set sets[KIT_CLASSES], int64_t start, int64_t end,
                int64_t ret_states[KIT_STATES]);

/* The time in the states of `mask`. */
int64_t kit_time_in(const int64_t states[KIT_STATES], uint32_t mask);

/* A set that answers quickly how much of an interval it covers. */
typedef struct kit_cover {
    const kit_set *set;
    int64_t *before; /* before[i]: length of the set's first i intervals */
} kit_cover;

/* `before` is the caller's, set->n + 1 long. */
void kit_cover_init(kit_cover *cover, const kit_set *set, int64_t *before);

/* |set ∩ [start, end)|, in O(log n). */
int64_t kit_covered(const kit_cover *cover, kit_interval interval);

/* The same, looked for from where the last answer was found: O(1) for questions that come in the
 * order of time, never worse than O(log n). A cursor begins as {cover, 0}. */
typedef struct kit_cover_cursor {
    const kit_cover *cover;
    size_t at; /* the first interval that starts at the last question's start or later */
} kit_cover_cursor;

int64_t kit_covered_next(kit_cover_cursor *cursor, kit_interval interval);

/* Percentile by nearest rank: the smallest value with at least `percent` of all at or below it.
 * The values must be sorted, n be above 0. */
int64_t kit_percentile(const int64_t *sorted, size_t n, unsigned percent);

/* Where it stands among n sorted values. */
size_t kit_percentile_rank(size_t n, unsigned percent);

#ifdef __cplusplus
}
#endif
#endif
