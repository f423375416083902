/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that the file records: events of the category cuda_sync. */
#ifndef KINETO_SYNCS_H
#define KINETO_SYNCS_H

#include "tracks.h"

/* Numbers are as the event has them; MILL_UNKNOWN: not there. */
typedef struct sync_event {
    span name;
    int64_t start, dur, correlation;
    int64_t device, stream, waited_stream, waited_event;
    uint64_t byte;
    uint32_t track; /* of tracks_find */
} sync_event;

void syncs_take(kit_trace *b, tracks *t, const sync_event *e);

#endif
