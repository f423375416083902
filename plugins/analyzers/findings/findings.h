/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the findings analyzer share. All memory is the run's scratch. */
#ifndef FINDINGS_H
#define FINDINGS_H

#include <tracemill/kit/gaps.h>
#include <tracemill/kit/host.h>
#include <tracemill/kit/rank_waits.h>
#include <tracemill/kit/report.h>
#include <tracemill/kit/sms.h>

typedef struct findings_options {
    kit_selection selection;
    kit_gap_rule gaps;
    mill_list notify;
    kit_poll_rule polls;
    double min_gain, dominant; /* % of the window */
    double notify_share;       /* % of communication */
    double notify_rise;
    mill_list cast_kinds;
    double cast_share; /* % of computation */
    int64_t small_kernel;
    double small_share;  /* % of the kernels of computation */
    double not_launched; /* % of the window */
    double imbalance, contention;
    double with_comm, without_comm; /* % of an operation's time */
    int64_t min_op;
    const char *varying_stages; /* expression */
    int64_t top;
} findings_options;

/* One operation of the model, which every layer does in the same way. */
typedef struct findings_op {
    uint32_t stage, name; /* of the attribution, of the trace */
    uint32_t ordinal;     /* among those of its name and stream in the stage, from 0 */
    uint16_t kind;
    size_t n_with, n_without; /* how many run with, and without communication */
    int64_t with, without;    /* their medians; of no meaning where n is 0 */
    double spread;            /* (longest - shortest) / median; below 0: too short to tell */
} findings_op;

/* Operations of one kind that run with communication in some layers and without in others. */
typedef struct findings_kind {
    uint16_t kind;
    size_t n;
    int64_t with, without; /* Σ of their medians */
    double least, most;    /* with / without, of one operation */
    double slowed;         /* ns that the kind's computation loses, if all of it is slowed so */
} findings_kind;

typedef struct findings_device {
    const kit_device *view;
    int64_t window; /* its length */
    int64_t states[KIT_STATES];
    kit_cover covers[KIT_CLASSES];
    int64_t sums[KIT_CLASSES]; /* Σ durations; MILL_UNKNOWN if they do not fit */
    kit_rank_waits waits;
    kit_sms sms;
    uint32_t primary; /* stream, or KIT_ALL_STREAMS */
    findings_op *ops; /* those that can be compared */
    size_t n_ops;
    findings_kind *kinds; /* the most slowed first */
    size_t n_kinds;
} findings_device;

typedef struct findings_analysis {
    mill_run *run;
    const findings_options *options;
    kit_activities all;
    findings_device *devices; /* of the same order as those of `all` */
    kit_gaps *gaps;           /* of each stream of `all` */
    kit_host host;
    struct findings_list *list;
} findings_analysis;

/* What one rule sees on one device. */
typedef struct findings_check {
    const char *rule;
    const char *measure; /* what is compared with the threshold; NULL: the rule does not apply */
    const char *threshold;
    bool met;           /* the threshold is */
    double degree;      /* by which one rule's several checks of a device are compared */
    bool informs;       /* advises nothing, and is said whatever can be won */
    int64_t cost, gain; /* ns */
    int64_t at;         /* trace time, or MILL_UNKNOWN */
    const char *where;  /* NULL: the device */
    const char *evidence, *advice;
    double confidence;
} findings_check;

/* Takes one in, which becomes a finding if its threshold is met and enough can be won. */
void findings_add(findings_analysis *analysis, const findings_device *device,
                  const findings_check *check);

/* Their report. */
void findings_tell(const findings_analysis *analysis, kit_report *r);
void findings_tell_ops(const findings_analysis *analysis, kit_report *r);

/* The rules, by what they look at. MILL_OK or E_CANCELLED. */
mill_status findings_check_overlap(findings_analysis *analysis, const findings_device *device);
mill_status findings_check_computation(findings_analysis *analysis, const findings_device *device);
mill_status findings_check_host(findings_analysis *analysis, const findings_device *device);

/* Compares operations over layers. MILL_OK, E_CANCELLED or E_CONFIG. */
mill_status findings_compare_ops(findings_analysis *analysis, findings_device *device);

/* Text in the run's scratch. */
MILL_PRINTF(2, 3)
const char *findings_text(const findings_analysis *analysis, const char *format, ...);

/* "combine of dispatch(B) in layer 3", or as much of it as is known. */
const char *findings_activity(const findings_analysis *analysis, const kit_activity *a);
/* "12.3 %" and "1 234 µs", as text. */
const char *findings_percent(const findings_analysis *analysis, int64_t part, int64_t whole);
const char *findings_us(const findings_analysis *analysis, int64_t ns);

/* What can be won at most where only communication gets shorter, or only computation: the device
 * can't be faster than the other one alone. */
int64_t findings_bound_comm(const findings_device *device, int64_t gain);
int64_t findings_bound_comp(const findings_device *device, int64_t gain);

/* Whether the run should end, asked for each row i, answered for some. */
static inline bool findings_cancelled(const findings_analysis *analysis, size_t i) {
    return i % (1u << 16) == 0 && mill_cancelled(analysis->run);
}

#endif
