/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps of streams that a timeline marks: why nothing ran, and what they waited for.
 *
 * They are the rows of a table `largest` (as the class gaps makes it: device, stream, start, time,
 * not_launched, cause, next_stage, next, blocker_stream, blocker_stage, blocker, blocker_end) in a
 * report that has a lane of that device and stream, which tells the clock.
 */
#ifndef HTML_WAITS_H
#define HTML_WAITS_H

#include "lanes.h"

typedef struct waits_gap {
    guint lane;                     /* of the timeline */
    int64_t start, end;             /* ns from the timeline's start */
    int64_t not_launched;           /* ns of it before its end was launched */
    const char *rest;               /* the cause of the rest */
    const char *next;               /* what ends it, or NULL */
    const char *blocker, *of_stage; /* what it waited for, or NULL */
    int64_t blocker_stream;         /* or MILL_UNKNOWN */
    int64_t blocker_end;            /* ns from the timeline's start; of no meaning without a lane */
    gint blocker_lane;              /* of the timeline, or -1 */
} waits_gap;

/* The gaps of at least `least` ns, the longest first; waits_gap. After lanes_finish. */
GArray *waits_find(const lanes *l, int64_t least);

/* The cause of its larger part. */
const char *waits_cause(const waits_gap *gap);

/* "attn(B) waits 12.5 µs for combine of dispatch(B) on stream 27 (wait_comm)". To be freed. */
char *waits_text(const waits_gap *gap);

#endif
