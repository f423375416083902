/* SPDX-License-Identifier: Apache-2.0 */
/* The activities of a device as they begin and end, in order of time: for what depends on what runs
 * at once. O(log k) a change, k of them running at once; activities of no length take no part. At
 * one time what ends comes before what begins. All memory is the run's scratch. */
#ifndef TRACEMILL_KIT_SWEEP_H
#define TRACEMILL_KIT_SWEEP_H

#include <tracemill/kit/activities.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kit_running {
    int64_t end;
    const kit_activity *activity;
} kit_running;

typedef struct kit_sweep {
    mill_run *run;
    const kit_activity *next, *last; /* those that have not begun: [next, last) */
    kit_running *running;            /* a heap, the earliest end first */
    size_t n, room;
} kit_sweep;

typedef struct kit_change {
    int64_t time;
    const kit_activity *activity;
    bool begins; /* else it ends */
} kit_change;

void kit_sweep_init(kit_sweep *sweep, mill_run *run, const kit_device *device);

/* The next change; false when there is none left. */
bool kit_sweep_next(kit_sweep *sweep, kit_change *ret_change);

#ifdef __cplusplus
}
#endif
#endif
