/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the communication analyzer share. All memory is the run's scratch. */
#ifndef COMMUNICATION_H
#define COMMUNICATION_H

#include <tracemill/kit/host.h>
#include <tracemill/kit/report.h>
#include <tracemill/kit/stats.h>

/* How the model's sizes are known: by the user. 0: not given. */
typedef struct communication_model {
    int64_t hidden, expert_hidden;         /* elements */
    int64_t dispatch_bytes, combine_bytes; /* of one token */
    int64_t balanced_rows;
    int64_t min_rows;
    const char *rows_forward, *rows_backward, *tokens; /* expressions of "STAGE KERNEL" */
} communication_model;

typedef struct communication_options {
    kit_selection selection;
    mill_list notify;
    kit_poll_rule polls;
    int64_t max_period, cycle, top;
    double max_deviation;
    bool lanes;
    communication_model model;
} communication_options;

typedef struct communication_analysis {
    mill_run *run;
    const communication_options *options;
    kit_activities all;
    int64_t *sums; /* Σ of the communication of each device; MILL_UNKNOWN if it does not fit */
    size_t n;      /* communication on all devices */
} communication_analysis;

/* Parts of the report: its figures and tables. */
mill_status communication_tell_inventory(const communication_analysis *analysis, kit_report *r);
mill_status communication_tell_sequence(const communication_analysis *analysis, kit_report *r);
mill_status communication_tell_waits(const communication_analysis *analysis, kit_report *r);
mill_status communication_tell_rates(const communication_analysis *analysis, kit_report *r);
mill_status communication_tell_polls(const communication_analysis *analysis, kit_report *r);
mill_status communication_tell_model(const communication_analysis *analysis, kit_report *r);
void communication_tell_lanes(const communication_analysis *analysis, kit_report *r,
                              const kit_host *host);

/* Whether the run should end, asked for each row i, answered for some. */
static inline bool communication_cancelled(const communication_analysis *analysis, size_t i) {
    return i % (1u << 16) == 0 && mill_cancelled(analysis->run);
}

#endif
