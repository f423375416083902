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

/* Whether a kernel has a partner, and if not, why. */
typedef enum inflight_fate {
    INFLIGHT_WHOLE, /* it needs none */
    INFLIGHT_PAIRED,
    INFLIGHT_NO_PARTNER, /* a receive at the start of the profile, a send at its end */
    INFLIGHT_TOO_FAR,
    INFLIGHT_OTHER_STEP,
    INFLIGHT_CROSSED, /* the receive begins before the send ends */
    INFLIGHT_NO_LABEL,
    INFLIGHT_FATES
} inflight_fate;

/* A kernel that may be the send or the receive phase of a transfer. */
typedef struct inflight_candidate {
    uint32_t activity; /* of the device's */
    uint32_t group;
    uint32_t partner; /* of a paired one: another candidate */
    uint8_t role;     /* inflight_role */
    uint8_t fate;     /* inflight_fate */
} inflight_candidate;

/* Launches that can't be told apart but by their order. */
typedef struct inflight_group {
    const char *kind; /* "dispatch", "combine" or another */
    uint32_t name;    /* row of the trace's names; MILL_NONE: of several */
    int64_t grid, block;
    bool whole; /* each kernel is a whole transfer: nothing is inferred */
    size_t n, between, pairs, unpaired;
    uint32_t *members; /* of the device's candidates, in order */
    int64_t base;      /* a receive's time when nothing is waited for; MILL_UNKNOWN without pairs */
    int64_t send, flight, hidden, idle, recv, wait, latency, exposed; /* sums over its pairs */
} inflight_group;

/* What is measured of one pair. */
typedef struct inflight_pair {
    const kit_activity *send, *recv;
    const inflight_group *group;
    int64_t flight, hidden, idle; /* of [send->end, recv->start) */
    int64_t recv_time, wait;
    int64_t latency, exposed; /* of [send->start, recv->end) */
} inflight_pair;

typedef struct inflight_device {
    const kit_device *device;
    inflight_candidate *candidates; /* in the order of their starts */
    size_t n_candidates;
    inflight_group *groups;
    size_t n_groups, n_pairs, n_unpaired;
    kit_set busy;              /* C ∪ M ∪ X */
    kit_cover comp, any;       /* C, and busy, to be asked */
    int64_t *exposed;          /* of each pair, in the order of sends */
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

/* Finds candidates and their groups (candidates.c), labels them (label.c), pairs them (pair.c). */
mill_status inflight_find_candidates(mill_run *run, inflight_analysis *a, inflight_device *d);
void inflight_label(mill_run *run, const inflight_analysis *a, inflight_device *d);
void inflight_pair_up(mill_run *run, const inflight_analysis *a, inflight_device *d);

/* The candidate sends, and its receive was found. */
bool inflight_is_pair(const inflight_device *d, size_t candidate);
inflight_pair inflight_measure(const inflight_device *d, size_t candidate);

mill_report *inflight_tell(mill_run *run, const inflight_analysis *a);

static inline const kit_activity *inflight_activity(const inflight_device *d, size_t candidate) {
    return &d->device->v[d->candidates[candidate].activity];
}

/* How many sends of a group go before the first receive. */
static inline int64_t inflight_depth(const inflight_options *o) {
    return o->pairing == INFLIGHT_ALTERNATE ? 1 : o->depth;
}

#endif
