/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the critical-path analyzer share: options, the path of a device, its report. */
#ifndef CRITICAL_PATH_H
#define CRITICAL_PATH_H

#include <tracemill/kit/gaps.h>
#include <tracemill/report.h>

typedef struct path_options {
    kit_selection selection;
    kit_gap_rule rule;
    int64_t top;
    bool lanes;
} path_options;

/* Why the step before an activity leads where it does. */
typedef enum path_link {
    PATH_FIRST,    /* nowhere: the path begins here */
    PATH_STREAM,   /* to what came before it on its stream */
    PATH_RECORDED, /* to what it waited for on another stream, as the trace records */
    PATH_CROSS,    /* to what ended last on another stream */
    PATH_HOST,     /* it was launched late: to what ended last before it on any stream */
} path_link;

/* One step of the path, from its start to the end of the window: an activity, and the gap before
 * it. */
typedef struct path_step {
    uint32_t activity;
    uint8_t link;
    uint8_t cause; /* of the gap's [ready, start): a kit_gap_cause, or PATH_LATE for all of it */
    int64_t gap, ready; /* where the gap begins; until ready it waited for the CPU */
} path_step;

#define PATH_LATE KIT_GAP_CAUSES

typedef struct path {
    path_step *v; /* in order of time */
    size_t n;
    int64_t head, tail; /* ns of the window before and after it */
    int64_t hops;       /* steps to another stream */
    int64_t recorded;   /* of these, those that the trace records */
} path;

/* The path that decides how long the device's window is. MILL_OK or E_CANCELLED. */
mill_status path_find(mill_run *run, const kit_activities *all, const kit_device *device,
                      const kit_gap_rule *rule, path *ret_path);

/* The report on the paths of all devices, to be posted. */
mill_report *path_tell(mill_run *run, const kit_activities *all, const path_options *options,
                       const path *paths);

#endif
