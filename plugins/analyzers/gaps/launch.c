/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `launch`: from the launch call to the start of what it launched. */
#include "launch.h"

#include "gaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/sort.h>
#include <tracemill/kit/stats.h>
#include <tracemill/kit/trace_notes.h>

enum { CALL_TO_START, CALL_END_TO_START, CALL, UNQUEUED, QUANTITIES };

static const char *const quantities[QUANTITIES] = {
    "launch_start_to_kernel_start",
    "launch_end_to_kernel_start",
    "launch_api_dur",
    "unqueued_launch_latency",
};

/* What is found on one device. */
typedef struct launches {
    kit_stats stats[QUANTITIES];
    int64_t known, unknown; /* activities with and without a launch call in the trace */
    int64_t negative;       /* that started before it */
    int64_t queue_depth;    /* most of them that were launched and had not started */
} launches;

typedef struct analysis {
    mill_run *run;
    const launch_options *options;
    kit_activities all;
    launches *devices;
    /* Of each activity with a valid launch, those of one device behind those of another: */
    size_t n;
    int64_t *latency; /* from the call's start to its own */
    uint32_t *call;   /* row of the trace's cpu */
    uint32_t *stream;
    int64_t *values; /* as long: for what is asked about next */
} analysis;

static int64_t call_start(const analysis *a, uint32_t call) {
    return mill_i64(a->all.trace, &a->all.trace->cpu.start, call);
}

static int64_t call_dur(const analysis *a, uint32_t call) {
    return mill_i64(a->all.trace, &a->all.trace->cpu.dur, call);
}

typedef enum launch_state {
    LAUNCH_UNKNOWN,  /* not in the trace, or at a time that can't be computed with */
    LAUNCH_NEGATIVE, /* after its activity started: what is between them is unknown */
    LAUNCH_VALID,
} launch_state;

/* The call that launched the activity, and how long before it. */
static launch_state find_launch(const analysis *a, const kit_activity *activity, uint32_t *ret_call,
                                int64_t *ret_latency) {
    *ret_call = mill_u32(a->all.trace, &a->all.trace->gpu.launch, activity->row);
    if (*ret_call == MILL_NONE ||
        __builtin_sub_overflow(activity->start, call_start(a, *ret_call), ret_latency))
        return LAUNCH_UNKNOWN;
    return *ret_latency < 0 ? LAUNCH_NEGATIVE : LAUNCH_VALID;
}

/* ---------------------------------------------------------------- one device */

/* A device's activities, and which of them have a valid launch: the part of the analysis' arrays
 * from `first` on is of these, in order. */
typedef struct found {
    const kit_device *device;
    size_t first, n;
    uint8_t *valid;  /* of each activity */
    uint32_t *calls; /* rows of the valid calls, then of the negative ones */
} found;

/* Counts the launches and notes the valid ones. */
static void gather(analysis *a, found *f, launches *l) {
    const kit_device *device = f->device;
    uint32_t *negative = f->calls + device->n;
    f->first = a->n;
    for (size_t i = 0; i < device->n; i++) {
        uint32_t call;
        launch_state state = find_launch(a, &device->v[i], &call, &a->latency[a->n]);
        l->known += state != LAUNCH_UNKNOWN;
        l->unknown += state == LAUNCH_UNKNOWN;
        if (state == LAUNCH_NEGATIVE)
            *--negative = call;
        f->valid[i] = state == LAUNCH_VALID;
        if (state != LAUNCH_VALID)
            continue;
        a->stream[a->n] = device->v[i].stream;
        a->call[a->n++] = f->calls[f->n++] = call;
    }
    l->negative = (int64_t)(f->calls + device->n - negative);
    memmove(f->calls + f->n, negative, (size_t)l->negative * sizeof *negative);
}

/* What ran on a stream before the window is not known, so its first activity counts only if it was
 * launched in it. */
static size_t find_unqueued(const analysis *a, const found *f, int64_t *stream_end,
                            int64_t *ret_values) {
    const int64_t *latency = a->latency + f->first;
    size_t n = 0;
    for (size_t i = 0; i < f->device->n; i++) {
        const kit_activity *activity = &f->device->v[i];
        int64_t *end = &stream_end[activity->stream];
        if (f->valid[i]) {
            if (activity->start - *latency >= *end && *latency < a->options->unqueued)
                ret_values[n++] = *latency;
            latency++;
        }
        *end = activity->end > *end ? activity->end : *end;
    }
    return n;
}

/* The valid calls must be sorted, which is by their starts. An activity that starts when another
 * is launched has left the queue. */
static int64_t find_queue_depth(const analysis *a, const found *f) {
    const kit_device *device = f->device;
    int64_t most = 0;
    size_t next = 0, started = 0;
    for (size_t i = 0; i < f->n; i++) {
        int64_t time = call_start(a, f->calls[i]);
        for (; next < device->n && device->v[next].start <= time; next++)
            started += f->valid[next];
        int64_t depth = (int64_t)(i + 1) - (int64_t)started;
        most = depth > most ? depth : most;
    }
    return most;
}

/* How long the calls took; one that launched several activities, as a graph does, counts once. They
 * must be sorted. */
static kit_stats call_stats(const analysis *a, const uint32_t *calls, size_t n) {
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || calls[i] != calls[i - 1])
            a->values[distinct++] = call_dur(a, calls[i]);
    return kit_stats_of(a->values, distinct);
}

static void analyse_device(analysis *a, const kit_device *device, int64_t *stream_end,
                           launches *l) {
    found f = {.device = device,
               .valid = kit_alloc(device->n, sizeof *f.valid),
               .calls = kit_alloc(device->n, sizeof *f.calls)};
    gather(a, &f, l);
    l->stats[CALL_TO_START] = kit_stats_of(a->latency + f.first, f.n);
    for (size_t i = f.first; i < a->n; i++)
        a->values[i - f.first] = a->latency[i] - call_dur(a, a->call[i]);
    l->stats[CALL_END_TO_START] = kit_stats_of(a->values, f.n);
    for (size_t i = 0; i < device->n; i++)
        stream_end[device->v[i].stream] = device->window.start;
    l->stats[UNQUEUED] = kit_stats_of(a->values, find_unqueued(a, &f, stream_end, a->values));
    kit_sort_u32(f.calls, f.n);
    l->queue_depth = find_queue_depth(a, &f);
    if (l->negative > 0)
        kit_sort_u32(f.calls, (size_t)l->known);
    l->stats[CALL] = call_stats(a, f.calls, (size_t)l->known);
    free(f.valid);
    free(f.calls);
}

static mill_status analyse(analysis *a) {
    size_t n = 0;
    for (size_t d = 0; d < a->all.n_devices; d++)
        n += a->all.devices[d].n;
    a->latency = mill_scratch(a->run, n * sizeof *a->latency);
    a->call = mill_scratch(a->run, n * sizeof *a->call);
    a->stream = mill_scratch(a->run, n * sizeof *a->stream);
    a->values = mill_scratch(a->run, n * sizeof *a->values);
    a->devices = mill_scratch(a->run, a->all.n_devices * sizeof *a->devices);
    int64_t *stream_end = mill_scratch(a->run, a->all.n_streams * sizeof *stream_end);
    for (size_t d = 0; d < a->all.n_devices; d++) {
        if (mill_cancelled(a->run))
            return MILL_E_CANCELLED;
        analyse_device(a, &a->all.devices[d], stream_end, &a->devices[d]);
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- the report */

static void tell_figures(kit_report *r, const analysis *a, size_t d) {
    const char *scope = a->all.devices[d].scope;
    const launches *l = &a->devices[d];
    kit_figure_int(r, MILL_KIND_COUNT, "launches", "activities with a launch call", scope,
                   "Activities whose launch call is in the trace.", l->known);
    kit_figure_int(r, MILL_KIND_COUNT, "launch_unknown", "activities without", scope,
                   "Activities whose launch call is not in the trace.", l->unknown);
    kit_figure_int(r, MILL_KIND_COUNT, "negative_launches", "starts before the launch", scope,
                   "Activities that start before their launch call: clocks that do not agree. How "
                   "long they waited is unknown.",
                   l->negative);
    kit_figure_int(r, MILL_KIND_COUNT, "queue_depth_max", "deepest queue", scope,
                   "Most activities that were launched and had not started, on all streams.",
                   l->known > l->negative ? l->queue_depth : MILL_UNKNOWN);
    kit_figure_int(r, MILL_KIND_NS, "launch_ahead_p50", "launched ahead by", scope,
                   "Median from the start of the launch call to that of the activity.",
                   l->stats[CALL_TO_START].p50);
}

static void tell_quantities(kit_report *r, const analysis *a) {
    kit_table *t = kit_table_begin(r, "launches", "Launches by device",
                                   "unqueued_launch_latency: where the stream was empty.");
    kit_table_column(t, MILL_KIND_ID, "device", "device", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "quantity", "quantity", NULL, NULL);
    kit_table_stats(t);
    for (size_t d = 0; d < a->all.n_devices; d++)
        for (int q = 0; q < QUANTITIES; q++) {
            kit_table_row(t);
            kit_cell_int(t, a->all.devices[d].id);
            kit_cell_text(t, quantities[q]);
            kit_cell_stats(t, &a->devices[d].stats[q]);
        }
}

static void tell_streams(kit_report *r, const analysis *a) {
    kit_stats *stats = mill_scratch(a->run, a->all.n_streams * sizeof *stats);
    kit_stats_by(a->latency, a->stream, a->n, stats, a->all.n_streams);
    kit_table *t = kit_table_begin(r, "streams", "From launch call to start by stream",
                                   "From the start of the call to that of the activity.");
    kit_table_column(t, MILL_KIND_ID, "device", "device", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "stream", "stream", NULL, NULL);
    kit_table_stats(t);
    for (size_t s = 0; s < a->all.n_streams; s++) {
        kit_table_row(t);
        kit_cell_int(t, a->all.devices[a->all.streams[s].device].id);
        kit_cell_int(t, a->all.streams[s].id);
        kit_cell_stats(t, &stats[s]);
    }
}

static void tell_threads(kit_report *r, const analysis *a) {
    const mill_trace *trace = a->all.trace;
    const mill_threads *threads = &trace->threads;
    kit_stats *stats = mill_scratch(a->run, threads->n * sizeof *stats);
    uint32_t *thread = kit_alloc(a->n, sizeof *thread);
    for (size_t i = 0; i < a->n; i++)
        thread[i] = mill_u32(trace, &trace->cpu.thread, a->call[i]);
    kit_stats_by(a->latency, thread, a->n, stats, threads->n);
    free(thread);
    kit_table *t = kit_table_begin(r, "threads", "From launch call to start by launching thread",
                                   "From the start of the call to that of the activity.");
    kit_table_column(t, MILL_KIND_ID, "pid", "process", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "tid", "thread", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "name", "name", NULL, NULL);
    kit_table_stats(t);
    for (uint32_t i = 0; i < threads->n; i++) {
        if (stats[i].n == 0)
            continue;
        kit_table_row(t);
        kit_cell_int(t, mill_i64(trace, &threads->pid, i));
        kit_cell_int(t, mill_i64(trace, &threads->tid, i));
        kit_cell_text(t, mill_string(trace, mill_u32(trace, &threads->name, i)));
        kit_cell_stats(t, &stats[i]);
    }
}

static void tell_notes(kit_report *r, const analysis *a) {
    kit_note_trace(a->run, r, a->all.trace);
    for (size_t d = 0; d < a->all.n_devices; d++) {
        const launches *l = &a->devices[d];
        if (l->negative > 0)
            kit_note(r, MILL_WARNING, "negative_launches",
                     "Device %s: %lld of %lld activities start before their launch call: the "
                     "clocks of CPU and device do not agree. How long these waited is unknown, "
                     "and what is said of the others may be wrong by as much.",
                     a->all.devices[d].number, (long long)l->negative, (long long)l->known);
        if (l->unknown > 0)
            kit_note(r, MILL_INFO, "launch_unknown",
                     "Device %s: %lld of %zu activities have no launch call in the trace, and are "
                     "not in these figures.",
                     a->all.devices[d].number, (long long)l->unknown, a->all.devices[d].n);
    }
}

static void tell_summary(kit_report *r, const analysis *a) {
    const launches *best = NULL; /* of the device with the most launches */
    size_t at = 0;
    int64_t early = 0;
    for (size_t d = 0; d < a->all.n_devices; d++) {
        early += a->devices[d].negative;
        if (a->devices[d].stats[CALL_TO_START].n > (best ? best->stats[CALL_TO_START].n : 0))
            best = &a->devices[at = d];
    }
    char ahead[KIT_NUMBER_MAX];
    if (!best && early > 0)
        kit_report_summary(r, "All activities with a launch call start before it: the clocks of "
                              "CPU and device do not agree, and nothing can be said of launches.");
    else if (!best)
        kit_report_summary(r, "No activity with a launch call: nothing can be said of launches.");
    else
        kit_report_summary(r,
                           "Device %s: half of the activities start %s µs or more after their "
                           "launch call; up to %lld wait in the queue.",
                           a->all.devices[at].number,
                           kit_format_us(ahead, best->stats[CALL_TO_START].p50, KIT_GROUP),
                           (long long)best->queue_depth);
}

/* The first start on any device. */
static int64_t origin_of(const kit_activities *all) {
    int64_t origin = MILL_UNKNOWN;
    for (size_t d = 0; d < all->n_devices; d++)
        if (origin == MILL_UNKNOWN || all->devices[d].window.start < origin)
            origin = all->devices[d].window.start;
    return origin;
}

mill_status launch_run(mill_run *run, const void *opts, void *state) {
    (void)state;
    analysis a = {.run = run, .options = opts};
    mill_status status =
        kit_activities_select(run, mill_input(run, PORT_TRACE, 0),
                              mill_input(run, PORT_ATTRIBUTION, 0), &a.options->selection, &a.all);
    if (status == MILL_OK)
        status = analyse(&a);
    if (status != MILL_OK)
        return status;
    kit_report *r = kit_report_begin(run, "launch", "Launches and the CPU",
                                     mill_at(a.all.trace, a.all.trace->path));
    tell_summary(r, &a);
    tell_notes(r, &a);
    for (size_t d = 0; d < a.all.n_devices; d++)
        tell_figures(r, &a, d);
    if (a.all.n_devices > 0) {
        tell_quantities(r, &a);
        tell_streams(r, &a);
        tell_threads(r, &a);
    }
    status = launch_tell_cpu(run, r, a.all.trace, origin_of(&a.all), (size_t)a.options->top);
    return status == MILL_OK ? mill_output(run, 0, kit_report_end(r)) : status;
}
