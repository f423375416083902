/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace holds beside activities and slices. */
#ifndef CHROME_POINTS_H
#define CHROME_POINTS_H

#include "lines.h"

/* Arrows, counters, recorded waits, and timers but the first of each thread; each event with the
 * comma before it. */
void points_events(const lines *l, out *o, int64_t shift);
void points_timer(const lines *l, out *o, uint64_t row, int64_t shift);

/* ,"key":value if it is known, at `at`; the key with its quotes, comma and colon is a literal. */
#define PUT_KNOWN(at, key, value)                                                                  \
    do {                                                                                           \
        int64_t known_value = (value);                                                             \
        if (known_value != MILL_UNKNOWN)                                                           \
            (at) = put_int(PUT((at), key), known_value);                                           \
    } while (0)

/* A time of the trace in the file; times that would leave int64 stay at its end. */
static inline int64_t shifted(int64_t time, int64_t shift) {
    int64_t sum;
    return __builtin_add_overflow(time, shift, &sum) ? (shift < 0 ? -INT64_MAX : INT64_MAX) : sum;
}

#endif
