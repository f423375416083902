/* SPDX-License-Identifier: Apache-2.0 */
/* What activities had to wait for by the trace's own word: the waits of streams for events that it
 * records (mill_syncs), if it does. Nothing here is guessed from times of the device.
 *
 * Work of one stream runs in the order of its launches. A stream that was made to wait for an event
 * runs nothing launched after that before all is done that was launched, on the stream that
 * recorded the event, before the record; what that stream itself waited for then is part of it.
 * Source: CUDA Runtime API, cudaStreamWaitEvent and cudaEventRecord.
 */
#ifndef TRACEMILL_KIT_WAITS_H
#define TRACEMILL_KIT_WAITS_H

#include <tracemill/kit/activities.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KIT_NO_ACTIVITY UINT32_MAX

/* Of the activities on other streams that activity i of the device had to wait for, but nothing
 * before it on its own stream had, v[i] is the one that ends last; KIT_NO_ACTIVITY: none is known.
 * v is NULL where the trace has no such waits. */
typedef struct kit_waits {
    uint32_t *v;
} kit_waits;

/* Activities that were not selected, and those that take no time, are not waited for. Where a
 * launch is not known, nothing is known of that activity's waits. O(n + s log s) for n activities
 * and s recorded waits. MILL_OK or E_CANCELLED. */
mill_status kit_waits_init(kit_waits *w, mill_run *run, const kit_activities *all,
                           const kit_device *device);
void kit_waits_finish(kit_waits *w);

static inline uint32_t kit_waited_for(const kit_waits *w, uint32_t i) {
    return w->v ? w->v[i] : KIT_NO_ACTIVITY;
}

#ifdef __cplusplus
}
#endif
#endif
