/* SPDX-License-Identifier: Apache-2.0 */
/* Takes in the rows of a trace; what is done when all are there is in trace_finish.c. */
#include "trace_private.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/trace_join.h>

static const table_field gpu_fields[] = {
    [GPU_START] = TABLE_FIELD(TABLE_FIXED, kit_gpu_row, start, gpu.start),
    [GPU_DUR] = TABLE_FIELD(TABLE_INT, kit_gpu_row, dur, gpu.dur),
    [GPU_NAME] = TABLE_FIELD(TABLE_REF, kit_gpu_row, name, gpu.name),
    [GPU_STREAM] = TABLE_FIELD(TABLE_REF, kit_gpu_row, stream, gpu.stream),
    [GPU_CORRELATION] = TABLE_FIELD(TABLE_INT, kit_gpu_row, correlation, gpu.correlation),
    [GPU_LAUNCH] = TABLE_LATER(TABLE_REF, sizeof(uint32_t), gpu.launch),
    [GPU_TRACK] = TABLE_HIDDEN(TABLE_REF, kit_gpu_row, track),
    [GPU_BYTE] = TABLE_HIDDEN(TABLE_INT, kit_gpu_row, byte),
    [GPU_COLLECTIVE] = TABLE_FIELD(TABLE_REF, kit_gpu_row, collective, gpu.collective),
    TABLE_FIELD(TABLE_FIXED, kit_gpu_row, cat, gpu.cat),
    TABLE_FIELD(TABLE_INT, kit_gpu_row, external_id, gpu.external_id),
    TABLE_FIELD(TABLE_INT, kit_gpu_row, grid, gpu.grid),
    TABLE_FIELD(TABLE_INT, kit_gpu_row, block, gpu.block),
    TABLE_FIELD(TABLE_INT, kit_gpu_row, bytes, gpu.bytes),
    TABLE_FIELD(TABLE_INT, kit_gpu_row, waited_event, gpu.waited_event),
};
static const table_field cpu_fields[] = {
    [CPU_START] = TABLE_FIELD(TABLE_FIXED, kit_cpu_row, start, cpu.start),
    [CPU_DUR] = TABLE_FIELD(TABLE_INT, kit_cpu_row, dur, cpu.dur),
    [CPU_THREAD] = TABLE_FIELD(TABLE_REF, kit_cpu_row, thread, cpu.thread),
    [CPU_KIND] = TABLE_FIELD(TABLE_FIXED, kit_cpu_row, kind, cpu.kind),
    [CPU_CORRELATION] = TABLE_FIELD(TABLE_INT, kit_cpu_row, correlation, cpu.correlation),
    [CPU_PARENT] = TABLE_LATER(TABLE_REF, sizeof(uint32_t), cpu.parent),
    [CPU_NAME] = TABLE_FIELD(TABLE_REF, kit_cpu_row, name, cpu.name),
    TABLE_FIELD(TABLE_INT, kit_cpu_row, external_id, cpu.external_id),
};
static const table_field flow_fields[] = {
    [FLOW_TIME] = TABLE_FIELD(TABLE_INT, kit_flow_row, time, flows.time),
    [FLOW_THREAD] = TABLE_FIELD(TABLE_REF, kit_flow_row, thread, flows.thread),
    [FLOW_NAME] = TABLE_FIELD(TABLE_REF, kit_flow_row, name, flows.name),
    TABLE_FIELD(TABLE_INT, kit_flow_row, id, flows.id),
    TABLE_FIELD(TABLE_FIXED, kit_flow_row, end, flows.end),
};
static const table_field collective_fields[] = {
    TABLE_FIELD(TABLE_REF, kit_collective_row, operation, collectives.operation),
    TABLE_FIELD(TABLE_INT, kit_collective_row, in_elems, collectives.in_elems),
    TABLE_FIELD(TABLE_INT, kit_collective_row, out_elems, collectives.out_elems),
    TABLE_FIELD(TABLE_REF, kit_collective_row, dtype, collectives.dtype),
    TABLE_FIELD(TABLE_INT, kit_collective_row, elem_bytes, collectives.elem_bytes),
    TABLE_FIELD(TABLE_REF, kit_collective_row, group, collectives.group),
    TABLE_FIELD(TABLE_INT, kit_collective_row, group_size, collectives.group_size),
    TABLE_FIELD(TABLE_REF, kit_collective_row, ranks, collectives.ranks),
    TABLE_FIELD(TABLE_INT, kit_collective_row, sequence, collectives.sequence),
    TABLE_FIELD(TABLE_INT, kit_collective_row, peer, collectives.peer),
    TABLE_FIELD(TABLE_FIXED, kit_collective_row, kind, collectives.kind),
};
static const table_field counter_fields[] = {
    [COUNTER_TIME] = TABLE_FIELD(TABLE_INT, kit_counter_row, time, counters.time),
    [COUNTER_THREAD] = TABLE_FIELD(TABLE_REF, kit_counter_row, thread, counters.thread),
    [COUNTER_NAME] = TABLE_FIELD(TABLE_REF, kit_counter_row, name, counters.name),
    TABLE_FIELD(TABLE_FIXED, kit_counter_row, value, counters.value),
};
static const table_field sync_fields[] = {
    [SYNC_START] = TABLE_FIELD(TABLE_FIXED, kit_sync_row, start, syncs.start),
    [SYNC_CORRELATION] = TABLE_FIELD(TABLE_INT, kit_sync_row, correlation, syncs.correlation),
    [SYNC_NAME] = TABLE_FIELD(TABLE_REF, kit_sync_row, name, syncs.name),
    [SYNC_STREAM] = TABLE_FIELD(TABLE_REF, kit_sync_row, stream, syncs.stream),
    [SYNC_WAITED_STREAM] = TABLE_FIELD(TABLE_REF, kit_sync_row, waited_stream, syncs.waited_stream),
    [SYNC_WAITED_EVENT] = TABLE_FIELD(TABLE_INT, kit_sync_row, waited_event, syncs.waited_event),
    [SYNC_LAUNCH] = TABLE_LATER(TABLE_REF, sizeof(uint32_t), syncs.launch),
    [SYNC_RECORD] = TABLE_LATER(TABLE_REF, sizeof(uint32_t), syncs.record),
    TABLE_FIELD(TABLE_INT, kit_sync_row, dur, syncs.dur),
    TABLE_FIELD(TABLE_FIXED, kit_sync_row, kind, syncs.kind),
};
static const table_field timer_fields[] = {
    [TIMER_START] = TABLE_FIELD(TABLE_FIXED, kit_timer_row, start, timers.start),
    [TIMER_THREAD] = TABLE_FIELD(TABLE_REF, kit_timer_row, thread, timers.thread),
    [TIMER_NAME] = TABLE_FIELD(TABLE_REF, kit_timer_row, name, timers.name),
    TABLE_FIELD(TABLE_INT, kit_timer_row, dur, timers.dur),
    TABLE_FIELD(TABLE_INT, kit_timer_row, step, timers.step),
    TABLE_FIELD(TABLE_INT, kit_timer_row, chunk, timers.chunk),
    TABLE_FIELD(TABLE_INT, kit_timer_row, micro_batch, timers.micro_batch),
    TABLE_FIELD(TABLE_INT, kit_timer_row, sequence, timers.sequence),
};
static const table_field device_fields[] = {
    [DEVICE_ID] = TABLE_FIELD(TABLE_INT, device_record, id, devices.id),
    [DEVICE_NAME] = TABLE_FIELD(TABLE_REF, device_record, name, devices.name),
    [DEVICE_SMS] = TABLE_FIELD(TABLE_INT, device_record, sms, devices.sms),
    [DEVICE_ROWS] = TABLE_FIELD(TABLE_FIXED, device_record, rows, devices.rows),
};
static const table_field stream_fields[] = {
    [STREAM_DEVICE] = TABLE_FIELD(TABLE_REF, stream_record, device, streams.device),
    [STREAM_ID] = TABLE_FIELD(TABLE_INT, stream_record, id, streams.id),
    [STREAM_LABEL] = TABLE_FIELD(TABLE_REF, stream_record, label, streams.label),
};
static const table_field thread_fields[] = {
    [THREAD_PID] = TABLE_FIELD(TABLE_INT, thread_record, pid, threads.pid),
    [THREAD_TID] = TABLE_FIELD(TABLE_INT, thread_record, tid, threads.tid),
    [THREAD_PROCESS] = TABLE_FIELD(TABLE_REF, thread_record, process, threads.process),
    [THREAD_NAME] = TABLE_FIELD(TABLE_REF, thread_record, name, threads.name),
};

#define N_FIELDS(fields) (sizeof(fields) / sizeof(fields)[0])

/* t: NULL for a part. */
static kit_trace *create(mill_run *run, mill_trace *t) {
    kit_trace *b = kit_alloc(1, sizeof *b);
    b->run = run;
    b->value = t;
    table_init(&b->gpu, run, t, gpu_fields, N_FIELDS(gpu_fields), sizeof(kit_gpu_row));
    table_init(&b->cpu, run, t, cpu_fields, N_FIELDS(cpu_fields), sizeof(kit_cpu_row));
    table_init(&b->flows, run, t, flow_fields, N_FIELDS(flow_fields), sizeof(kit_flow_row));
    table_init(&b->collectives, run, t, collective_fields, N_FIELDS(collective_fields),
               sizeof(kit_collective_row));
    table_init(&b->counters, run, t, counter_fields, N_FIELDS(counter_fields),
               sizeof(kit_counter_row));
    table_init(&b->syncs, run, t, sync_fields, N_FIELDS(sync_fields), sizeof(kit_sync_row));
    table_init(&b->timers, run, t, timer_fields, N_FIELDS(timer_fields), sizeof(kit_timer_row));
    table_init(&b->devices, run, t, device_fields, N_FIELDS(device_fields), sizeof(device_record));
    table_init(&b->streams, run, t, stream_fields, N_FIELDS(stream_fields), sizeof(stream_record));
    table_init(&b->threads, run, t, thread_fields, N_FIELDS(thread_fields), sizeof(thread_record));
    b->strings = kit_intern_create();
    b->kinds = kit_intern_create();
    b->rules = kit_intern_create();
    b->names = kit_intern_create();
    b->device_ids = kit_intern_create();
    b->stream_ids = kit_intern_create();
    return b;
}

kit_trace *kit_trace_create(mill_run *run) {
    mill_trace *t = mill_value_alloc(run, NULL, sizeof *t);
    t->size = sizeof *t;
    t->rank = t->world_size = t->base_ns = MILL_UNKNOWN;
    t->complete = 1;
    return create(run, t);
}

kit_trace *kit_trace_create_part(mill_run *run) {
    return create(run, NULL);
}

void kit_trace_destroy(kit_trace *b) {
    if (!b)
        return;
    table_finish(&b->gpu);
    table_finish(&b->cpu);
    table_finish(&b->flows);
    table_finish(&b->collectives);
    table_finish(&b->counters);
    table_finish(&b->syncs);
    table_finish(&b->timers);
    table_finish(&b->devices);
    table_finish(&b->streams);
    table_finish(&b->threads);
    kit_intern_destroy(b->strings);
    kit_intern_destroy(b->kinds);
    kit_intern_destroy(b->rules);
    kit_intern_destroy(b->names);
    kit_intern_destroy(b->device_ids);
    kit_intern_destroy(b->stream_ids);
    free(b->classes);
    free(b->diagnostics);
    free(b);
}

mill_trace *kit_trace_value(kit_trace *b) {
    return b->value;
}

mill_off kit_trace_text(kit_trace *b, const char *text, size_t length) {
    char *copy = mill_value_alloc(b->run, b->value, length + 1);
    memcpy(copy, text, length);
    return (mill_off)((uintptr_t)copy - (uintptr_t)b->value);
}

uint32_t kit_trace_string(kit_trace *b, const char *text, size_t length) {
    return kit_intern_add(b->strings, text, length, 0);
}

uint16_t kit_trace_kind(kit_trace *b, const char *text) {
    return (uint16_t)kit_intern_add(b->kinds, text, strlen(text), 0);
}

uint16_t kit_trace_rule(kit_trace *b, const char *text) {
    return (uint16_t)kit_intern_add(b->rules, text, strlen(text), 0);
}

uint32_t kit_trace_name(kit_trace *b, const char *text, size_t length, uint32_t tag) {
    return kit_intern_add(b->names, text, length, tag);
}

uint32_t kit_trace_name_count(const kit_trace *b) {
    return kit_intern_count(b->names);
}

const char *kit_trace_name_text(const kit_trace *b, uint32_t name, size_t *ret_length,
                                uint32_t *ret_tag) {
    *ret_tag = kit_intern_tag(b->names, name);
    return kit_intern_text(b->names, name, ret_length);
}

void kit_trace_classify(kit_trace *b, uint32_t name, mill_class cls, uint16_t kind, uint16_t rule) {
    if (name >= b->n_classes) {
        uint32_t n = kit_intern_count(b->names);
        b->classes = kit_realloc(b->classes, n, sizeof *b->classes);
        for (; b->n_classes < n; b->n_classes++)
            b->classes[b->n_classes] = (name_class){UINT16_MAX, UINT16_MAX, MILL_CLASS_NONE};
    }
    b->classes[name] = (name_class){kind, rule, (uint8_t)cls};
}

uint32_t kit_trace_device(kit_trace *b, int64_t id) {
    uint32_t device = kit_intern_add(b->device_ids, (const char *)&id, sizeof id, 0);
    if (device == b->devices.n)
        *(device_record *)table_append(&b->devices) =
            (device_record){id, MILL_UNKNOWN, 0, MILL_NONE};
    return device;
}

void kit_trace_describe_device(kit_trace *b, uint32_t device, uint32_t name, int64_t sms) {
    table_set(&b->devices, DEVICE_NAME, device, name);
    table_set(&b->devices, DEVICE_SMS, device, sms);
}

uint32_t kit_trace_stream(kit_trace *b, uint32_t device, int64_t id, uint32_t label) {
    stream_record record = {id, device, label}; /* no padding: its bytes are the key */
    uint32_t stream = kit_intern_add(b->stream_ids, (const char *)&record, sizeof record, 0);
    if (stream == b->streams.n)
        *(stream_record *)table_append(&b->streams) = record;
    return stream;
}

void kit_trace_label_stream(kit_trace *b, uint32_t stream, uint32_t label) {
    table_set(&b->streams, STREAM_LABEL, stream, label);
}

uint32_t kit_trace_thread(kit_trace *b, int64_t pid, int64_t tid) {
    *(thread_record *)table_append(&b->threads) = (thread_record){pid, tid, MILL_NONE, MILL_NONE};
    return (uint32_t)(b->threads.n - 1);
}

void kit_trace_name_thread(kit_trace *b, uint32_t thread, uint32_t process, uint32_t name) {
    table_set(&b->threads, THREAD_PROCESS, thread, process);
    table_set(&b->threads, THREAD_NAME, thread, name);
}

/* ---------------------------------------------------------------- rows */

typedef enum row_problem { NO_TIME, NEGATIVE, EMPTY, BROKEN, TOO_MANY, N_PROBLEMS } row_problem;

static const kit_diagnostic gpu_problems[N_PROBLEMS] = {
    [NO_TIME] = {"no-duration", "GPU activities without a usable start or duration were left out.",
                 true},
    [NEGATIVE] =
        {"negative-duration",
         "GPU activities with a negative duration (their end was never recorded) were left "
         "out.",
         true},
    [EMPTY] = {"empty-record",
               "GPU records that were never filled in (start 0, duration 0) were left out.", false},
    [BROKEN] = {"broken-timer",
                "GPU activities that would last over a day, or end beyond what a time can hold, "
                "were left out.",
                true},
    [TOO_MANY] = {"too-many-activities",
                  "GPU activities beyond the 4294967295 that a trace can hold were left out.",
                  true},
};
static const kit_diagnostic cpu_problems[N_PROBLEMS] = {
    [NO_TIME] = {"cpu-no-duration", "CPU slices without a usable start or duration were left out.",
                 true},
    [NEGATIVE] = {"cpu-negative-duration",
                  "CPU slices with a negative duration (their end was never recorded) were left "
                  "out.",
                  true},
    [EMPTY] = {"cpu-empty-record",
               "CPU records that were never filled in (start 0, duration 0) were left out.", false},
    [BROKEN] = {"cpu-broken-timer",
                "CPU slices that would last over a day, or end beyond what a time can hold, were "
                "left out.",
                true},
    [TOO_MANY] = {"too-many-slices",
                  "CPU slices beyond the 4294967295 that a trace can hold were left out.", true},
};

/* Whether a row can be one; if not, that is counted. */
static bool accept(kit_trace *b, const table *t, int64_t start, int64_t dur, uint64_t byte,
                   const kit_diagnostic problems[N_PROBLEMS]) {
    int64_t end;
    row_problem problem;
    if (start == MILL_UNKNOWN || dur == MILL_UNKNOWN)
        problem = NO_TIME;
    else if (dur < 0)
        problem = NEGATIVE;
    else if (start == 0 && dur == 0)
        problem = EMPTY;
    else if (dur > KIT_TRACE_LONGEST || __builtin_add_overflow(start, dur, &end))
        problem = BROKEN;
    else if (t->n == MILL_NONE)
        problem = TOO_MANY;
    else
        return true;
    kit_trace_diagnose(b, &problems[problem], (int64_t)byte);
    return false;
}

void kit_trace_gpu(kit_trace *b, const kit_gpu_row *row) {
    if (accept(b, &b->gpu, row->start, row->dur, row->byte, gpu_problems))
        *(kit_gpu_row *)table_append(&b->gpu) = *row;
}

void kit_trace_cpu(kit_trace *b, const kit_cpu_row *row) {
    if (accept(b, &b->cpu, row->start, row->dur, row->byte, cpu_problems))
        *(kit_cpu_row *)table_append(&b->cpu) = *row;
}

void kit_trace_timer(kit_trace *b, const kit_timer_row *row) {
    if (accept(b, &b->timers, row->start, row->dur, row->byte, cpu_problems))
        *(kit_timer_row *)table_append(&b->timers) = *row;
}

static const kit_diagnostic no_time = {
    "no-time", "Counters, arrows and recorded waits without a usable time were left out.", true};
static const kit_diagnostic too_many = {
    "too-many-rows",
    "Counters, arrows, recorded waits or collectives beyond the 4294967295 that a trace can hold "
    "were left out.",
    true};

/* The same for what needs no duration. */
static bool accept_point(kit_trace *b, const table *t, int64_t time, uint64_t byte) {
    if (time != MILL_UNKNOWN && t->n < MILL_NONE)
        return true;
    kit_trace_diagnose(b, time == MILL_UNKNOWN ? &no_time : &too_many, (int64_t)byte);
    return false;
}

void kit_trace_flow(kit_trace *b, const kit_flow_row *row) {
    if (accept_point(b, &b->flows, row->time, row->byte))
        *(kit_flow_row *)table_append(&b->flows) = *row;
}

void kit_trace_counter(kit_trace *b, const kit_counter_row *row) {
    if (accept_point(b, &b->counters, row->time, row->byte))
        *(kit_counter_row *)table_append(&b->counters) = *row;
}

void kit_trace_sync(kit_trace *b, const kit_sync_row *row) {
    if (!accept_point(b, &b->syncs, row->start, row->byte))
        return;
    kit_sync_row *to = table_append(&b->syncs);
    *to = *row;
    int64_t end;
    if (to->dur < 0 || to->dur > KIT_TRACE_LONGEST ||
        __builtin_add_overflow(to->start, to->dur, &end))
        to->dur = MILL_UNKNOWN;
}

uint32_t kit_trace_collective(kit_trace *b, const kit_collective_row *row) {
    if (b->collectives.n == MILL_NONE) {
        kit_trace_diagnose(b, &too_many, MILL_UNKNOWN);
        return MILL_NONE;
    }
    *(kit_collective_row *)table_append(&b->collectives) = *row;
    return (uint32_t)(b->collectives.n - 1);
}

void kit_trace_diagnose_many(kit_trace *b, const kit_diagnostic *diagnostic, uint64_t count,
                             int64_t byte) {
    size_t i = 0;
    while (i < b->n_diagnostics && b->diagnostics[i].what != diagnostic)
        i++;
    if (i == b->n_diagnostics) {
        b->diagnostics = kit_realloc(b->diagnostics, ++b->n_diagnostics, sizeof *b->diagnostics);
        b->diagnostics[i] = (diagnostic_count){diagnostic, 0, byte};
    }
    diagnostic_count *d = &b->diagnostics[i];
    d->count += count;
    if (byte != MILL_UNKNOWN && (d->first_byte == MILL_UNKNOWN || byte < d->first_byte))
        d->first_byte = byte;
}

void kit_trace_diagnose(kit_trace *b, const kit_diagnostic *diagnostic, int64_t byte) {
    kit_trace_diagnose_many(b, diagnostic, 1, byte);
}
