/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes made ready for a timeline: checked, on one clock, sorted, and in rows without overlaps.
 *
 * Time is counted in ticks from the start of the timeline. A tick is the greatest number of ns that
 * divides all times, so that times of a clock of microseconds need a tenth of the digits. The whole
 * timeline has less than 2^53 ns, which JavaScript's numbers hold exactly.
 */
#ifndef HTML_LANES_H
#define HTML_LANES_H

#include "kinds.h"

#include <tracemill/report.h>

#define LANES_ROWS 8u                           /* of one lane, where intervals overlap */
#define LANES_SPAN_NS ((UINT64_C(1) << 53) - 1) /* 104 days */

typedef struct lanes_interval {
    int64_t start, end; /* ticks; before lanes_finish ns */
    uint32_t kind;
    int32_t mark; /* of the finding it belongs to, or -1 */
} lanes_interval;

/* In order, none overlaps the next. */
typedef struct lanes_row {
    const lanes_interval *v;
    size_t n;
} lanes_row;

typedef struct lanes_lane {
    const mill_lane *lane;
    const mill_report *report;
    guint origin;      /* the how manieth report */
    GArray *intervals; /* lanes_interval: all rows, one after another */
    lanes_row rows[LANES_ROWS];
    unsigned n_rows;
    bool in_group; /* some neighbours of its report are of one device: a title tells which */
} lanes_lane;

/* The place of a finding. */
typedef struct lanes_mark {
    const mill_finding *finding;
    int64_t at; /* ns from the timeline's start */
} lanes_mark;

/* What is not shown, and why. */
typedef struct lanes_losses {
    uint64_t backwards; /* intervals that end before they begin */
    uint64_t empty;     /* of no duration */
    uint64_t broken;    /* whose time is unknown, or past int64 */
    uint64_t far;       /* farther from the others than a timeline can reach */
    uint64_t crowded;   /* under LANES_ROWS others: shown in part, or not at all */
    uint64_t marks;     /* findings beyond what is marked */
} lanes_losses;

typedef struct lanes {
    GPtrArray *lanes; /* lanes_lane *, those with intervals, as given */
    kinds *kinds;
    GArray *marks; /* lanes_mark, after lanes_finish */
    lanes_losses losses;
    int64_t start_ns; /* of the timeline, on the lanes' clock */
    int64_t zero_ns;  /* the time 0 of what the reports show: the base of the first lane */
    int64_t tick_ns;
    int64_t span;      /* ticks */
    uint64_t n;        /* intervals that are shown */
    bool bases_differ; /* of lanes */

    GPtrArray *reports; /* const mill_report * */
    bool has_base;
} lanes;

lanes *lanes_create(void);
void lanes_destroy(lanes *l);

/* The report outlives l. */
void lanes_add(lanes *l, const mill_report *report);

/* After the last lanes_add. text_bytes: see kinds_finish. */
void lanes_finish(lanes *l, uint64_t text_bytes);

/* Whether lane i and the next one are of one device in one report. */
bool lanes_neighbours(const lanes *l, guint i);

/* The time of the timeline's start as the reports count it, or 0 where that is too far off for a
 * number of JavaScript. */
int64_t lanes_from(const lanes *l);

/* The time of a finding in ns from the timeline's start. False where the timeline does not reach,
 * or the finding's clock is not known while lanes count from different times. */
bool lanes_offset(const lanes *l, const mill_finding *finding, int64_t *ret_offset);

#endif
