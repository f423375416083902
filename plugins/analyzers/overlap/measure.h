/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of overlap on plain intervals: tallies, the time in each state of a device, and
 * the hidden and exposed part of one communication activity. Knows nothing of traces and reports.
 *
 * Times are int64 ns, intervals half-open. Callers keep every span below 2^62 ns, so that no sum of
 * two times can overflow; only sums of durations can, and they become MILL_UNKNOWN.
 */
#ifndef OVERLAP_MEASURE_H
#define OVERLAP_MEASURE_H

#include <tracemill/kit/intervals.h>

typedef enum overlap_class {
    OVERLAP_COMP,
    OVERLAP_COMM,
    OVERLAP_MEM,
    OVERLAP_OTHER, /* device work that is none of the three: neither busy nor overlapped */
    OVERLAP_CLASSES
} overlap_class;

/* At every moment a device is in one state: state s has bit c set when class c is active. A set of
 * states is a mask with bit s for state s, so the set algebra of C, M and X is bit algebra on these
 * masks: |C ∖ M| is the time in the states COMP & ~COMM. */
#define OVERLAP_STATES (1 << OVERLAP_CLASSES)
#define OVERLAP_IN_COMP 0xaaaau
#define OVERLAP_IN_COMM 0xccccu
#define OVERLAP_IN_MEM 0xf0f0u
#define OVERLAP_IN_OTHER 0xff00u
#define OVERLAP_IN_ANY (OVERLAP_IN_COMP | OVERLAP_IN_COMM | OVERLAP_IN_MEM)
#define OVERLAP_ALWAYS 0xffffu

/* A set as kit/intervals.h defines it. */
typedef struct overlap_set {
    kit_interval *v;
    size_t n;
} overlap_set;

/* Activities of one sort, added in the order of their starts. All zero bytes is an empty one. */
typedef struct overlap_tally {
    int64_t n;
    int64_t sum;         /* Σ durations, MILL_UNKNOWN if it does not fit */
    int64_t busy;        /* |union| */
    int64_t first, last; /* first start and last end; of no meaning while n is 0 */
} overlap_tally;

/* Adds [start, end). Returns the part of it that no activity before covers: the time it owns. */
kit_interval overlap_tally_add(overlap_tally *tally, int64_t start, int64_t end);

/* a + b, MILL_UNKNOWN if either is or if it does not fit. */
int64_t overlap_add(int64_t a, int64_t b);

/* How long the device is in each state during [start, end). O(intervals). */
void overlap_states(const overlap_set sets[OVERLAP_CLASSES], int64_t start, int64_t end,
                    int64_t ret_states[OVERLAP_STATES]);

/* The time in the states of `mask`. */
int64_t overlap_time(const int64_t states[OVERLAP_STATES], uint32_t mask);

/* A set that answers quickly how much of an interval it covers. */
typedef struct overlap_cover {
    const overlap_set *set;
    int64_t *before; /* before[i]: length of the set's first i intervals */
} overlap_cover;

/* `before` is the caller's, set->n + 1 long. */
void overlap_cover_init(overlap_cover *cover, const overlap_set *set, int64_t *before);

/* |set ∩ [start, end)|, in O(log n). */
int64_t overlap_covered(const overlap_cover *cover, kit_interval interval);

#endif
