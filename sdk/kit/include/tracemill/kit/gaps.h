/* SPDX-License-Identifier: Apache-2.0 */
/* Why a stream stands still: each gap between two of its activities, with its cause.
 *
 * A gap [start, end) before the activity `next` falls into [start, ready), in which nothing was
 * launched yet (not launched), and the rest, whose cause is the first that fits:
 *
 * 1. Wait for communication, or computation: the trace records that `next` waited for an activity
 *    of another stream (kit/waits.h), and that ended in the rest. It is the blocker, and its class
 *    decides.
 * 2. Launch latency: there was a not launched part, and the rest is at most `tolerance`.
 * 3. Kernel gap: the rest is at most `kernel_gap`.
 * 4. SM wait: both neighbours have one place that tells a stage, and for `sm_share` of the rest
 * what ran on other streams and `next` together wanted more SMs than the device has.
 * 5. Wait for communication, or computation: an activity of another stream ended in the gap, at
 * most `tolerance` before its end. The latest one is the blocker, and its class decides. Not asked
 *    where the trace records what `next` waited for.
 * 6. SM wait: as in 4, with neighbours of two places.
 * 7. Unexplained.
 *
 * All but the first are a heuristic, since most profiles do not say what waits for what; and those
 * that do say it of events only, not of the queues that streams share, nor inside of graphs.
 * Source: our own; checked on DeepSeek's training profile (deepseek-ai/profile-data, train.json).
 */
#ifndef TRACEMILL_KIT_GAPS_H
#define TRACEMILL_KIT_GAPS_H

#include <tracemill/kit/waits.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kit_gap_cause {
    KIT_GAP_LAUNCH_LATENCY,
    KIT_GAP_KERNEL,
    KIT_GAP_SM_WAIT,
    KIT_GAP_WAIT_COMM,
    KIT_GAP_WAIT_COMPUTE,
    KIT_GAP_UNEXPLAINED,
    KIT_GAP_CAUSES
} kit_gap_cause;

extern const char *const kit_gap_names[KIT_GAP_CAUSES]; /* "wait_comm": as ids in reports */

/* By what the cause is told. */
typedef enum kit_gap_method {
    KIT_GAP_BY_LENGTH, /* its own length and its launch */
    KIT_GAP_RECORDED,  /* what the trace records that `next` waited for */
    KIT_GAP_BY_TIMING, /* what else ran */
    KIT_GAP_METHODS
} kit_gap_method;

extern const char *const kit_gap_method_names[KIT_GAP_METHODS]; /* "by timing" */

/* The thresholds; part of an analysis' own options. */
typedef struct kit_gap_rule {
    int64_t tolerance, kernel_gap; /* ns */
    double sm_share;               /* 0..1 */
} kit_gap_rule;

#define KIT_GAP_OPTIONS(owner, field)                                                              \
    {.name = "dependency-tolerance",                                                               \
     .type = MILL_OPT_DURATION,                                                                    \
     .offset = MILL_OPT_OFF(owner, field.tolerance, DURATION),                                     \
     .def = "50us",                                                                                \
     .min = 0,                                                                                     \
     .max = 1e18,                                                                                  \
     .help = "Heuristic: an activity that starts this soon after another stream's ended waited "   \
             "for it."},                                                                           \
        {.name = "kernel-gap",                                                                     \
         .type = MILL_OPT_DURATION,                                                                \
         .offset = MILL_OPT_OFF(owner, field.kernel_gap, DURATION),                                \
         .def = "10us",                                                                            \
         .min = 0,                                                                                 \
         .max = 1e18,                                                                              \
         .help = "Heuristic: a gap up to this between queued kernels is the device's own."},       \
    {                                                                                              \
        .name = "sm-share", .type = MILL_OPT_NUM,                                                  \
        .offset = MILL_OPT_OFF(owner, field.sm_share, NUM), .def = "0.9", .min = 0, .max = 1,      \
        .help = "Heuristic: a gap is a wait for SMs if more of them were wanted than there are "   \
                "for this share of it.",                                                           \
    }

typedef struct kit_gap {
    int64_t start, ready, end;
    uint32_t next, blocker; /* of the device's activities; blocker or KIT_NO_ACTIVITY */
    uint8_t cause;          /* kit_gap_cause, of [ready, end) */
    uint8_t method;         /* kit_gap_method */
    bool one_place;         /* its neighbours on the stream have one place */
} kit_gap;

typedef struct kit_gaps {
    kit_gap *v;
    size_t n;
} kit_gaps;

/* The gaps of one stream, or, for KIT_ALL_STREAMS, those in which the whole device stands still
 * (then `next` is the first activity after it by stream and correlation, and no two neighbours
 * count as one place). In order of time; memory is the run's scratch. MILL_OK or E_CANCELLED. */
#define KIT_ALL_STREAMS UINT32_MAX
mill_status kit_gaps_find(mill_run *run, const kit_activities *all, const kit_device *device,
                          uint32_t stream, const kit_gap_rule *rule, kit_gaps *ret_gaps);

/* The gaps of every stream of every device, a list for each of the streams of `all`. */
mill_status kit_gaps_find_each(mill_run *run, const kit_activities *all, const kit_gap_rule *rule,
                               kit_gaps **ret_gaps);

/* Fills in ready, blocker, cause and method of any gaps of a device, of which start, end, next and
 * one_place are set. Nothing of the stream of `next` may run in such a gap. O((n + gaps) log n).
 * The others are made of it: no cause is found elsewhere. MILL_OK or E_CANCELLED. */
mill_status kit_gaps_explain(mill_run *run, const kit_activities *all, const kit_device *device,
                             const kit_gap_rule *rule, kit_gap *gaps, size_t n);

/* The stream with the most computation (Σ durations; ties: the first), or KIT_ALL_STREAMS if the
 * device computes nothing. */
uint32_t kit_primary_stream(mill_run *run, const kit_activities *all, const kit_device *device);

#ifdef __cplusplus
}
#endif
#endif
