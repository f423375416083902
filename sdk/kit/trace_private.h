/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the trace builder share: its record and the layout of its tables. */
#ifndef KIT_TRACE_PRIVATE_H
#define KIT_TRACE_PRIVATE_H

#include "trace_table.h"

#include <tracemill/kit/intern.h>
#include <tracemill/kit/trace_builder.h>

/* Numbers of those columns that the builder reads again. */
enum {
    GPU_START,
    GPU_DUR,
    GPU_NAME,
    GPU_STREAM,
    GPU_CORRELATION,
    GPU_LAUNCH,
    GPU_TRACK,
    GPU_BYTE,
    GPU_COLLECTIVE
};
enum { CPU_START, CPU_DUR, CPU_THREAD, CPU_KIND, CPU_CORRELATION, CPU_PARENT, CPU_NAME };
enum { FLOW_TIME, FLOW_THREAD, FLOW_NAME };
enum { COUNTER_TIME, COUNTER_THREAD, COUNTER_NAME };
enum {
    SYNC_START,
    SYNC_CORRELATION,
    SYNC_NAME,
    SYNC_STREAM,
    SYNC_WAITED_STREAM,
    SYNC_WAITED_EVENT,
    SYNC_LAUNCH,
    SYNC_RECORD
};
enum { TIMER_START, TIMER_THREAD, TIMER_NAME };

typedef struct device_record {
    int64_t id, sms;
    uint64_t rows;
    uint32_t name;
} device_record;
enum { DEVICE_ID, DEVICE_NAME, DEVICE_SMS, DEVICE_ROWS };

typedef struct stream_record {
    int64_t id;
    uint32_t device, label;
} stream_record;
enum { STREAM_DEVICE, STREAM_ID, STREAM_LABEL };

typedef struct thread_record {
    int64_t pid, tid;
    uint32_t process, name;
} thread_record;
enum { THREAD_PID, THREAD_TID, THREAD_PROCESS, THREAD_NAME };

typedef struct name_class {
    uint16_t kind, rule;
    uint8_t cls;
} name_class;

typedef struct diagnostic_count {
    const kit_diagnostic *what;
    uint64_t count;
    int64_t first_byte;
} diagnostic_count;

struct kit_trace {
    mill_run *run;
    mill_trace *value; /* NULL: a part of another builder's */
    table gpu, cpu, flows, collectives, counters, syncs, timers, devices, streams, threads;
    kit_intern *strings, *kinds, *rules, *names;
    kit_intern *device_ids, *stream_ids; /* bytes of the id, and of the stream_record */
    name_class *classes;                 /* of the first n_classes names */
    uint32_t n_classes;
    diagnostic_count *diagnostics;
    size_t n_diagnostics;
};

/* Counts some of a sort at once, the first of which is at `byte`. */
void kit_trace_diagnose_many(kit_trace *b, const kit_diagnostic *diagnostic, uint64_t count,
                             int64_t byte);

#endif
