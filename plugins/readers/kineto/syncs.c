/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded waits in, rows of the trace builder out. Names and members are those of Kineto's
 * CudaSyncActivity (pytorch/kineto, libkineto/src/CuptiActivity.cpp). */
#include "syncs.h"

#include <string.h>

static mill_sync_kind kind_of(span name) {
    static const struct {
        const char *name;
        mill_sync_kind kind;
    } kinds[] = {
        {"Event Sync", MILL_SYNC_EVENT},
        {"Stream Wait Event", MILL_SYNC_STREAM_WAIT},
        {"Stream Sync", MILL_SYNC_STREAM},
        {"Context Sync", MILL_SYNC_CONTEXT},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strlen(kinds[i].name) == name.length && !memcmp(kinds[i].name, name.at, name.length))
            return kinds[i].kind;
    return MILL_SYNC_OTHER;
}

/* CUPTI's "none" is 2^32 - 1, which Kineto writes as that or as -1. */
static int64_t known(int64_t number) {
    return number < 0 || number == UINT32_MAX ? MILL_UNKNOWN : number;
}

static uint32_t stream_of(tracks *t, const sync_event *e, int64_t number) {
    number = known(number);
    return number == MILL_UNKNOWN ? MILL_NONE : tracks_other_stream(t, e->track, e->device, number);
}

void syncs_take(kit_trace *b, tracks *t, const sync_event *e) {
    kit_sync_row row = {
        .start = e->start,
        .dur = e->dur,
        .correlation = known(e->correlation),
        .waited_event = known(e->waited_event),
        .byte = e->byte,
        .name = kit_trace_name(b, e->name.at, e->name.length, 0),
        .stream = stream_of(t, e, e->stream),
        .waited_stream = stream_of(t, e, e->waited_stream),
        .kind = (uint8_t)kind_of(e->name),
    };
    kit_trace_sync(b, &row);
}
