/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the in-flight analyzer share: its options, and the transfers it finds. All
 * memory is the run's scratch. */
#ifndef INFLIGHT_H
#define INFLIGHT_H

#include <tracemill/kit/activities.h>
#include <tracemill/report.h>

typedef enum inflight_mode { INFLIGHT_AUTO, INFLIGHT_ON, INFLIGHT_OFF } inflight_mode;

typedef enum inflight_pairing {
    INFLIGHT_ALTERNATE,
    INFLIGHT_FIFO,
    INFLIGHT_ANNOTATION
} inflight_pairing;

typedef enum inflight_base { INFLIGHT_MIN, INFLIGHT_P10 } inflight_base;

typedef struct inflight_options {
    kit_selection selection;
    int mode, pairing, base;
    const char *ll_regex, *send_regex, *recv_regex, *expert_regex;
    int64_t depth, max_flight, recv_time, top;
} inflight_options;

/* The options' expressions, compiled. */
typedef struct inflight_regexes {
    mill_regex *ll, *send, *recv, *expert;
} inflight_regexes;

typedef enum inflight_role { INFLIGHT_UNTOLD, INFLIGHT_SEND, INFLIGHT_RECEIVE } inflight_role;

/* Why a kernel has no partner. */
typedef enum inflight_reason {
    INFLIGHT_NO_PARTNER, /* a receive at the start of the profile, a send at its end */
    INFLIGHT_TOO_FAR,
    INFLIGHT_OTHER_STEP,
    INFLIGHT_CROSSED, /* the receive begins before the send ends */
    INFLIGHT_NO_LABEL,
    INFLIGHT_REASONS
} inflight_reason;

extern const char *const inflight_reasons[INFLIGHT_REASONS];

/* A kernel that may be the send or the receive phase of a transfer. */
typedef struct inflight_candidate {
    uint32_t activity; /* of the device's */
    uint32_t group;
    inflight_role role;
} inflight_candidate;

/* Launches that can't be told apart but by their order. */
typedef struct inflight_group {
    const char *kind; /* "dispatch", "combine" or another */
    uint32_t name;    /* row of the trace's names; MILL_NONE: of several */
    int64_t grid, block;
    bool whole; /* each kernel is a whole transfer: nothing is inferred */
    size_t n, between, pairs, unpaired;
    size_t *members; /* of the device's candidates, in order */
    int64_t base;    /* a receive's time when nothing is waited for; MILL_UNKNOWN without pairs */
    int64_t send, flight, hidden, idle, recv, wait, latency, exposed; /* sums over its pairs */
} inflight_group;

typedef struct inflight_pair {
    const kit_activity *send, *recv;
    uint32_t group;
    int64_t hidden, idle; /* of the flight [send->end, recv->start) */
    int64_t wait, exposed;
} inflight_pair;

typedef struct inflight_unpaired {
    const kit_activity *activity;
    uint32_t group;
    inflight_role role;
    inflight_reason reason;
} inflight_unpaired;

typedef struct inflight_device {
    const kit_device *device;
    inflight_candidate *candidates; /* in the order of their starts */
    size_t n_candidates;
    inflight_group *groups;
    size_t n_groups;
    inflight_pair *pairs; /* in the order of their sends */
    inflight_unpaired *unpaired;
    size_t n_pairs, n_unpaired;
    kit_set flights;           /* V: when any transfer is in flight */
    int64_t off[KIT_STATES];   /* kernels only */
    int64_t on[KIT_STATES];    /* M′ = M ∪ V in place of M */
    int64_t idle_in_flight;    /* |V ∖ (C ∪ M ∪ X)| */
    int64_t not_communication; /* kernels that match, but are none by the rules */
} inflight_device;

typedef struct inflight_analysis {
    const inflight_options *options;
    const inflight_regexes *regexes;
    kit_activities all;
    inflight_device *devices; /* of each of all.devices */
} inflight_analysis;

mill_status inflight_analyse(mill_run *run, const mill_trace *trace,
                             const mill_attribution *attribution, const inflight_options *options,
                             const inflight_regexes *regexes, inflight_analysis *ret_analysis);

/* Finds candidates and their groups (candidates.c), labels them (label.c), pairs them and measures
 * (pair.c). */
mill_status inflight_find_candidates(mill_run *run, inflight_analysis *a, inflight_device *d);
void inflight_label(mill_run *run, const inflight_analysis *a, inflight_device *d);
void inflight_pair_up(mill_run *run, const inflight_analysis *a, inflight_device *d);

mill_report *inflight_tell(mill_run *run, const inflight_analysis *a);

static inline const kit_activity *inflight_activity(const inflight_device *d, size_t candidate) {
    return &d->device->v[d->candidates[candidate].activity];
}

/* Its last cycle: sends, then receives, `depth` of each. */
static inline int64_t inflight_depth(const inflight_options *o) {
    return o->pairing == INFLIGHT_ALTERNATE ? 1 : o->depth;
}

#endif
