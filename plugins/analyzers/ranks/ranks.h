/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the class `ranks` share: members, the collectives they have in common, clocks.
 * All memory is the run's scratch, but the table of texts. */
#ifndef RANKS_H
#define RANKS_H

#include "rank.h"

#include <tracemill/kit/intern.h>
#include <tracemill/kit/measure.h>
#include <tracemill/kit/report.h>

typedef struct ranks_options {
    mill_list sync_kinds, skip_kinds; /* of texts */
    int64_t min_matches, max_residual, top;
    double straggler_share, straggler_wait;
    bool detail;
} ranks_options;

/* A clock's offset at one time: piecewise linear between these, and beyond the outer two. */
typedef struct ranks_knot {
    int64_t time, offset; /* ns; time on the member's own clock */
} ranks_knot;

/* The clock of a member against that of the reference. */
typedef struct ranks_clock {
    bool trusted;
    size_t n;         /* synchronising collectives it rests on; 0: none */
    int64_t offset;   /* median; subtract it from the member's times */
    int64_t spread;   /* MAD around it */
    int64_t drift;    /* from the first third of the collectives to the last */
    int64_t residual; /* p95 of what is left after alignment */
    ranks_knot *knots;
    size_t n_knots;
} ranks_clock;

/* One device of one rank. */
typedef struct ranks_member {
    const rank_summary *summary;
    const rank_device *device;
    const uint32_t *texts; /* what the summary's texts are here */
    int64_t rank;          /* of the file, or counted */
    const char *label;     /* "3", "3, device 1" */
    ranks_clock clock;
    int64_t matched;         /* collectives that others have too */
    int64_t told;            /* of these, in how many it can be told who came last */
    int64_t last;            /* of these, in how many it was the one */
    int64_t wait, caused;    /* Σ its own, Σ of others where it came last */
    int64_t late, host_late; /* Σ after the last but one; of that before its launch call */
    bool straggler;
} ranks_member;

/* Collectives that are counted together. */
typedef struct ranks_class {
    uint32_t group, group_ranks, kind, stage;
    int64_t step;
    bool by_sequence; /* its numbers are the file's own, else ordinals */
    bool sync;        /* of a kind whose ranks end together */
    bool refused;     /* ordinals of ranks with different counts don't match */
    size_t members;
} ranks_class;

/* One member's part in a collective. */
typedef struct ranks_event {
    uint32_t cls, member, again; /* again: which one of those of the same number */
    int64_t number;
    const rank_collective *collective;
    int64_t start, end; /* on the member's clock, then on the reference's */
    int64_t wait;       /* or MILL_UNKNOWN */
} ranks_event;

/* A collective that at least two members have. */
typedef struct ranks_match {
    const ranks_class *cls;
    ranks_event *events; /* by member */
    size_t n;
    bool by_clocks; /* else by durations */
    int64_t skew;   /* latest start - earliest start */
    int64_t transfer, caused;
    uint32_t last; /* member, or MILL_NONE: too close to tell */
} ranks_match;

/* A member that has fewer of a class than another. */
typedef struct ranks_gap {
    const ranks_class *cls;
    uint32_t member;
    int64_t n, most;
    int64_t first; /* number of the first that is missing; MILL_UNKNOWN: can't be told */
} ranks_gap;

typedef struct ranks_analysis {
    mill_run *run;
    const ranks_options *options;
    kit_intern *texts;
    ranks_member *members; /* by rank, device */
    size_t n_members;
    bool counted;       /* no profile tells its rank: they are numbered in the order given */
    int64_t world_size; /* MILL_UNKNOWN: not told, or not the same in all */
    size_t n_ranks;
    bool by_device; /* a profile has several devices: a rank's number does not name a member */

    ranks_event *events;
    ranks_class *classes;
    ranks_match *matches;
    ranks_gap *gaps;
    size_t n_events, n_classes, n_matches, n_gaps, n_refused, n_skipped;

    uint32_t reference; /* member whose clock counts; MILL_NONE: no clocks are compared */
    int64_t resolution; /* p95 of all residuals, or MILL_UNKNOWN */
} ranks_analysis;

/* Orders the members (members.c), matches their collectives (match.c), aligns clocks (align.c),
 * measures waits and finds stragglers (waits.c). E_DATA for ranks that can't be told apart. */
mill_status ranks_find_members(ranks_analysis *a);
/* Whether the member's number is none of the job that it names. */
bool ranks_beyond(const ranks_analysis *a, const ranks_member *m);
void ranks_match_up(ranks_analysis *a);
void ranks_align(ranks_analysis *a);
void ranks_measure(ranks_analysis *a);

/* A time of the member on the clock of the reference. */
int64_t ranks_corrected(const ranks_clock *clock, int64_t time);

mill_report *ranks_tell(const ranks_analysis *a);

/* A text of the analysis, NULL for MILL_NONE. */
static inline const char *ranks_text(const ranks_analysis *a, uint32_t text) {
    return text == MILL_NONE ? NULL : kit_intern_text(a->texts, text, NULL);
}

bool ranks_lists(const mill_list *list, const char *text);

/* |value|; no value here is INT64_MIN. */
static inline int64_t ranks_abs(int64_t value) {
    return value < 0 ? -value : value;
}

#endif
