/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the kernels analyzer share. All memory is the run's scratch. */
#ifndef KERNELS_H
#define KERNELS_H

#include <tracemill/kit/host.h>
#include <tracemill/kit/report.h>
#include <tracemill/kit/sms.h>
#include <tracemill/kit/stats.h>

typedef struct kernels_options {
    kit_selection selection;
    mill_list notify;
    kit_poll_rule polls;
    int64_t top;
} kernels_options;

typedef struct kernels_analysis {
    mill_run *run;
    const kernels_options *options;
    kit_activities all;
} kernels_analysis;

/* A part of the activities of a device: those of one name, kind or sort of copy. */
typedef struct kernels_group {
    uint32_t key; /* what they have in common */
    const char *text;
    kit_stats stats;
} kernels_group;

typedef struct kernels_groups {
    kernels_group *v; /* the longest Σ first */
    size_t n;
} kernels_groups;

/* What an activity is grouped by, below n_keys; MILL_NONE: it is in no group. */
typedef uint32_t (*kernels_key_fn)(const kernels_analysis *analysis, const kit_activity *a);
typedef const char *(*kernels_text_fn)(const kernels_analysis *analysis, uint32_t key);

/* Groups the activities of a device. MILL_OK or E_CANCELLED. */
mill_status kernels_group_by(const kernels_analysis *analysis, const kit_device *device,
                             size_t n_keys, kernels_key_fn key, kernels_text_fn text,
                             kernels_groups *ret_groups);

/* Σ durations of the device; MILL_UNKNOWN if it does not fit. */
int64_t kernels_sum(const kit_device *device);

/* A kernel's name as people read it: without parameters, and without template arguments below the
 * first level. */
const char *kernels_short_name(mill_run *run, const char *name);

/* Parts of the report: its sentence, figures and tables. MILL_OK or E_CANCELLED. */
mill_status kernels_tell_names(const kernels_analysis *analysis, kit_report *r);
mill_status kernels_tell_kinds(const kernels_analysis *analysis, kit_report *r);
mill_status kernels_tell_copies(const kernels_analysis *analysis, kit_report *r);
mill_status kernels_tell_use(const kernels_analysis *analysis, kit_report *r);
mill_status kernels_tell_threads(const kernels_analysis *analysis, kit_report *r);

#endif
