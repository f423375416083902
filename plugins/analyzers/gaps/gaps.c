/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `gaps`: idle time of devices and gaps of streams, by cause. */
#include "gaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/lane.h>
#include <tracemill/kit/top.h>
#include <tracemill/kit/trace_notes.h>

#define CAUSES (KIT_GAP_CAUSES + 1)
#define NOT_LAUNCHED KIT_GAP_CAUSES
enum { HTA_HOST_WAIT, HTA_KERNEL_WAIT, HTA_OTHER, HTA_CAUSES };

/* One line of gaps: a stream's, or a whole device's. */
typedef struct line {
    kit_gaps gaps;
    int64_t time; /* Σ of the gaps, which do not coincide */
    int64_t n[CAUSES], times[CAUSES];
    int64_t methods[KIT_GAP_METHODS]; /* gaps, by what their cause is told by */
} line;

typedef struct analysis {
    mill_run *run;
    const gaps_options *options;
    kit_activities all;
    line *devices, *streams; /* one for each of `all`'s */
} analysis;

/* A part of a gap with a cause of its own. */
typedef struct part {
    int cause;
    int64_t start, end;
} part;

static const char *cause_name(const analysis *a, int cause) {
    static const char *const hta[] = {"host_wait", "kernel_wait", "other"};
    if (a->options->by == GAPS_BY_HTA)
        return hta[cause];
    return cause == NOT_LAUNCHED ? "not_launched" : kit_gap_names[cause];
}

/* Returns how many parts there are, in order of time. */
static size_t split(const analysis *a, const kit_gap *gap, part ret_parts[2]) {
    size_t n = 0;
    if (a->options->by == GAPS_BY_HTA) {
        bool host = gap->ready > gap->start;
        bool kernel = gap->end - gap->start < a->options->hta_threshold;
        int cause = host ? HTA_HOST_WAIT : kernel ? HTA_KERNEL_WAIT : HTA_OTHER;
        ret_parts[n++] = (part){cause, gap->start, gap->end};
        return n;
    }
    if (gap->ready > gap->start)
        ret_parts[n++] = (part){NOT_LAUNCHED, gap->start, gap->ready};
    ret_parts[n++] = (part){gap->cause, gap->ready, gap->end};
    return n;
}

static void add_up(const analysis *a, line *l) {
    for (size_t i = 0; i < l->gaps.n; i++) {
        const kit_gap *gap = &l->gaps.v[i];
        part parts[2];
        size_t n = split(a, gap, parts);
        l->time += gap->end - gap->start;
        l->methods[gap->method]++;
        for (size_t p = 0; p < n; p++) {
            l->n[parts[p].cause]++;
            l->times[parts[p].cause] += parts[p].end - parts[p].start;
        }
    }
}

static mill_status analyse(analysis *a) {
    kit_gaps *gaps;
    a->devices = mill_scratch(a->run, a->all.n_devices * sizeof *a->devices);
    a->streams = mill_scratch(a->run, a->all.n_streams * sizeof *a->streams);
    mill_status status = kit_gaps_find_each(a->run, &a->all, &a->options->rule, &gaps);
    for (size_t d = 0; d < a->all.n_devices && status == MILL_OK; d++) {
        status = kit_gaps_find(a->run, &a->all, &a->all.devices[d], KIT_ALL_STREAMS,
                               &a->options->rule, &a->devices[d].gaps);
        add_up(a, &a->devices[d]);
    }
    for (size_t s = 0; s < a->all.n_streams && status == MILL_OK; s++) {
        a->streams[s].gaps = gaps[s];
        add_up(a, &a->streams[s]);
    }
    return status;
}

/* ---------------------------------------------------------------- figures and causes */

/* Of all gaps of the device's streams. */
static int64_t told_by(const analysis *a, size_t d, kit_gap_method method) {
    int64_t n = 0;
    for (size_t s = 0; s < a->all.n_streams; s++)
        n += a->all.streams[s].device == d ? a->streams[s].methods[method] : 0;
    return n;
}

static void tell_figures(kit_report *r, const analysis *a, size_t d) {
    const char *scope = a->all.devices[d].scope;
    const kit_interval *window = &a->all.devices[d].window;
    const line *l = &a->devices[d];
    kit_figure_int(r, MILL_KIND_NS, "idle", "idle", scope,
                   "Between the first and the last activity, while nothing ran on any stream.",
                   l->time);
    kit_figure_int(r, MILL_KIND_COUNT, "idle_gaps", "times idle", scope, NULL, (int64_t)l->gaps.n);
    kit_figure_ratio(r, "idle_over_T", "window lost to idle time", scope, "idle / window", l->time,
                     window->end - window->start);
    if (a->options->by == GAPS_BY_HTA)
        return;
    kit_figure_int(r, MILL_KIND_COUNT, "gaps_recorded", "gaps told by recorded waits", scope,
                   "Gaps of streams whose cause follows from the waits that the trace records.",
                   told_by(a, d, KIT_GAP_RECORDED));
    kit_figure_int(r, MILL_KIND_COUNT, "gaps_by_timing", "gaps told by timing", scope,
                   "Gaps of streams whose cause is told by what else ran, a heuristic; the others "
                   "are told by their length and launch.",
                   told_by(a, d, KIT_GAP_BY_TIMING));
}

static const kit_column idle_cause_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "cause", "cause", NULL},
    {MILL_KIND_COUNT, "n", "n", "Gaps with a part of this cause."},
    {MILL_KIND_NS, "time", "time", "Σ of these parts."},
    {MILL_KIND_RATIO, "share", "share", "Of all gaps of the line."},
    {0},
};

static const kit_column stream_cause_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_ID, "stream", "stream", NULL},
    {MILL_KIND_TEXT, "cause", "cause", NULL},
    {MILL_KIND_COUNT, "n", "n", "Gaps with a part of this cause."},
    {MILL_KIND_NS, "time", "time", "Σ of these parts."},
    {MILL_KIND_RATIO, "share", "share", "Of all gaps of the line."},
    {0},
};

/* not_launched first, since it comes first in time. */
static void tell_causes(kit_table *t, const analysis *a, const line *l, int64_t device,
                        const int64_t *stream) {
    for (int i = 0; i < CAUSES; i++) {
        int cause = (i + NOT_LAUNCHED) % CAUSES;
        if (l->n[cause] == 0)
            continue;
        kit_table_row(t);
        kit_cell_int(t, device);
        if (stream)
            kit_cell_int(t, *stream);
        kit_cell_text(t, cause_name(a, cause));
        kit_cell_int(t, l->n[cause]);
        kit_cell_int(t, l->times[cause]);
        kit_cell_ratio(t, l->times[cause], l->time);
    }
}

static const kit_column stream_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_ID, "stream", "stream", NULL},
    {MILL_KIND_TEXT, "label", "label", "The file's word for the stream."},
    {MILL_KIND_COUNT, "n", "gaps", "Gaps between its activities."},
    {MILL_KIND_NS, "time", "time", "Σ of the gaps."},
    {MILL_KIND_RATIO, "share", "share", "Of the device's window."},
    {0},
};

static void tell_streams(kit_report *r, const analysis *a) {
    kit_table *t = kit_table_of(r, "streams", "Gaps by stream",
                                "From each stream's first start to its last end.", stream_columns);
    for (size_t s = 0; s < a->all.n_streams; s++) {
        const kit_stream *stream = &a->all.streams[s];
        const kit_device *device = &a->all.devices[stream->device];
        kit_table_row(t);
        kit_cell_int(t, device->id);
        kit_cell_int(t, stream->id);
        kit_cell_text(t, stream->label);
        kit_cell_int(t, (int64_t)a->streams[s].gaps.n);
        kit_cell_int(t, a->streams[s].time);
        kit_cell_ratio(t, a->streams[s].time, device->window.end - device->window.start);
    }
}

/* ---------------------------------------------------------------- the largest */

#define LARGEST_COLUMNS                                                                            \
    {MILL_KIND_ID, "device", "device", NULL},                                                      \
        {MILL_KIND_ID, "stream", "stream", "Of the activity that ends the gap."},                  \
        {MILL_KIND_NS, "start", "start", "From the window's start."},                              \
        {MILL_KIND_NS, "time", "time", NULL},                                                      \
        {MILL_KIND_NS, "not_launched", "not launched",                                             \
         "The part before the launch call of the activity that ends it."},                         \
        {MILL_KIND_TEXT, "cause", "cause of rest", "Of what follows the part not launched."},      \
        {MILL_KIND_TEXT, "next_stage", "next stage", "Of the activity that ends the gap."},        \
        {MILL_KIND_ID, "next_layer", "layer", NULL}, {                                             \
        MILL_KIND_TEXT, "next", "next", "Its kind, or name where it has none."                     \
    }

static const kit_column idle_columns[] = {LARGEST_COLUMNS, {0}};

static const kit_column gap_columns[] = {
    LARGEST_COLUMNS,
    {MILL_KIND_ID, "blocker_stream", "blocker stream",
     "Of the activity whose end it waited for, as far as that can be told."},
    {MILL_KIND_TEXT, "blocker_stage", "blocker stage", NULL},
    {MILL_KIND_ID, "blocker_layer", "layer", NULL},
    {MILL_KIND_TEXT, "blocker", "blocker", "Its kind, or name where it has none."},
    {MILL_KIND_NS, "blocker_end", "its end", "From the window's start."},
    {MILL_KIND_TEXT, "method", "told",
     "By what the cause is told: recorded, by timing, by length."},
    {0},
};

static void tell_activity(kit_table *t, const kit_activities *all, const kit_activity *a) {
    bool placed = a && a->place != MILL_NONE;
    kit_cell_text(t, a ? kit_stage_name(all, a->place) : NULL);
    kit_cell_int(t, placed ? all->places->layer[a->place] : MILL_UNKNOWN);
    kit_cell_text(t, a ? kit_activity_name(all, a) : NULL);
}

static void tell_gap(kit_table *t, const analysis *a, const kit_device *device, const kit_gap *gap,
                     bool with_blocker) {
    const kit_activity *next = &device->v[gap->next], *blocker = NULL;
    part parts[2];
    size_t n = split(a, gap, parts);
    kit_table_row(t);
    kit_cell_int(t, device->id);
    kit_cell_int(t, a->all.streams[next->stream].id);
    kit_cell_int(t, gap->start - device->window.start);
    kit_cell_int(t, gap->end - gap->start);
    kit_cell_int(t, gap->ready - gap->start);
    kit_cell_text(t, cause_name(a, parts[n - 1].cause));
    tell_activity(t, &a->all, next);
    if (!with_blocker)
        return;
    if (gap->blocker != KIT_NO_ACTIVITY && a->options->by != GAPS_BY_HTA)
        blocker = &device->v[gap->blocker];
    kit_cell_int(t, blocker ? a->all.streams[blocker->stream].id : MILL_UNKNOWN);
    tell_activity(t, &a->all, blocker);
    kit_cell_int(t, blocker ? blocker->end - device->window.start : MILL_UNKNOWN);
    kit_cell_text(t, a->options->by == GAPS_BY_HTA ? NULL : kit_gap_method_names[gap->method]);
}

static int compare_largest(const void *a, const void *b) {
    const kit_gap *x = *(const kit_gap *const *)a, *y = *(const kit_gap *const *)b;
    int64_t i = x->end - x->start, j = y->end - y->start;
    return i != j ? (i < j) - (i > j) : (x->start > y->start) - (x->start < y->start);
}

static void tell_largest(kit_table *t, const analysis *a, const kit_device *device, const line *l,
                         bool with_blocker) {
    kit_top largest;
    kit_top_init(&largest, (size_t)a->options->top, sizeof(const kit_gap *), compare_largest);
    for (size_t i = 0; i < l->gaps.n; i++)
        kit_top_add(&largest, &(const kit_gap *){&l->gaps.v[i]});
    size_t n = kit_top_sort(&largest);
    for (size_t i = 0; i < n; i++)
        tell_gap(t, a, device, ((const kit_gap *const *)largest.v)[i], with_blocker);
    kit_top_finish(&largest);
}

/* ---------------------------------------------------------------- lanes */

static void tell_lane(kit_report *r, const analysis *a, const kit_lane_texts *texts, const char *id,
                      const char *label, const kit_device *device, int64_t stream, const line *l) {
    kit_lane_rows rows = {.base = device->window.start};
    for (size_t i = 0; i < l->gaps.n; i++) {
        const kit_gap *gap = &l->gaps.v[i];
        part parts[2];
        size_t n = split(a, gap, parts);
        for (size_t p = 0; p < n; p++)
            kit_lane_add(&rows, parts[p].start, parts[p].end,
                         kit_lane_text(texts, &device->v[gap->next]), (uint32_t)parts[p].cause);
    }
    kit_lane_put(r, id, label, device, stream, texts, &rows);
}

static void tell_lanes(kit_report *r, const analysis *a) {
    const char *causes[CAUSES];
    size_t n_causes = a->options->by == GAPS_BY_HTA ? HTA_CAUSES : CAUSES;
    for (size_t i = 0; i < n_causes; i++)
        causes[i] = cause_name(a, (int)i);
    kit_lane_texts texts = kit_lane_texts_of(a->run, &a->all, causes, n_causes);
    char id[64], label[3 * KIT_NUMBER_MAX], number[KIT_NUMBER_MAX];
    for (size_t d = 0; d < a->all.n_devices; d++) {
        const kit_device *device = &a->all.devices[d];
        snprintf(id, sizeof id, "idle_%zu", d);
        snprintf(label, sizeof label, "device %s: idle", device->number);
        tell_lane(r, a, &texts, id, label, device, MILL_UNKNOWN, &a->devices[d]);
    }
    for (size_t s = 0; s < a->all.n_streams; s++) {
        const kit_stream *stream = &a->all.streams[s];
        const kit_device *device = &a->all.devices[stream->device];
        snprintf(id, sizeof id, "gaps_%zu", s);
        snprintf(label, sizeof label, "device %s, stream %s: gaps", device->number,
                 kit_format_int(number, stream->id, 0));
        tell_lane(r, a, &texts, id, label, device, stream->id, &a->streams[s]);
    }
}

/* ---------------------------------------------------------------- notes, summary */

/* What can't be told of a device, so that nobody takes the lack of a cause for a finding. */
static void note_unknown(kit_report *r, const analysis *a, const kit_device *device) {
    const mill_gpu *gpu = &a->all.trace->gpu;
    uint64_t no_grid = 0, no_launch = 0;
    for (size_t i = 0; i < device->n; i++) {
        const kit_activity *activity = &device->v[i];
        no_launch += mill_u32(a->all.trace, &gpu->launch, activity->row) == MILL_NONE;
        no_grid += activity->cat == MILL_GPU_KERNEL &&
                   mill_i64(a->all.trace, &gpu->grid, activity->row) == MILL_UNKNOWN;
    }
    if (device->sms == MILL_UNKNOWN)
        kit_note(r, MILL_INFO, "sms_unknown",
                 "Device %s: the trace does not tell its number of multiprocessors, so no gap is "
                 "known to be a wait for them.",
                 device->number);
    else if (no_grid > 0)
        kit_note(r, MILL_INFO, "grid_unknown",
                 "Device %s: %llu kernels do not tell their grid, so waits for multiprocessors "
                 "they hold or want are not seen.",
                 device->number, (unsigned long long)no_grid);
    if (no_launch > 0)
        kit_note(r, MILL_INFO, "launch_unknown",
                 "Device %s: %llu of %zu activities have no launch call in the trace: the gaps "
                 "before them count as launched in time.",
                 device->number, (unsigned long long)no_launch, device->n);
}

static void tell_notes(kit_report *r, const analysis *a) {
    kit_note_trace(a->run, r, a->all.trace);
    if (a->options->by == GAPS_BY_HTA) {
        kit_note(r, MILL_INFO, "rule", "Causes by HolisticTraceAnalysis's rule, for comparison.");
        return;
    }
    int64_t recorded = 0;
    for (size_t d = 0; d < a->all.n_devices; d++)
        recorded += told_by(a, d, KIT_GAP_RECORDED);
    if (recorded > 0)
        kit_note(
            r, MILL_INFO, "rule",
            "The trace records what streams wait for, and so why %lld of their gaps are there; "
            "the causes of the others are told by timing, a heuristic.",
            (long long)recorded);
    else
        kit_note(r, MILL_INFO, "rule",
                 "Causes are told by timing, a heuristic: the trace records no waits that explain "
                 "gaps.");
    if (!a->all.places)
        kit_note(r, MILL_INFO, "no_attribution",
                 "Without an attribution stages and layers are unknown, and a wait for another "
                 "stream is preferred to one for multiprocessors even inside one stage.");
    for (size_t d = 0; d < a->all.n_devices; d++)
        note_unknown(r, a, &a->all.devices[d]);
}

static void tell_summary(kit_report *r, const analysis *a) {
    char time[KIT_NUMBER_MAX], share[KIT_NUMBER_MAX], comm[KIT_NUMBER_MAX];
    if (a->all.n_devices == 0) {
        kit_report_summary(r, "No device events: nothing can be said of gaps.");
        return;
    }
    size_t worst = 0;
    for (size_t d = 1; d < a->all.n_devices; d++)
        if (a->devices[d].time > a->devices[worst].time)
            worst = d;
    const kit_device *device = &a->all.devices[worst];
    uint32_t primary = kit_primary_stream(a->run, &a->all, device);
    kit_format_us(time, a->devices[worst].time, KIT_GROUP);
    kit_format_percent(share, a->devices[worst].time, device->window.end - device->window.start);
    if (primary == KIT_ALL_STREAMS || a->options->by == GAPS_BY_HTA) {
        kit_report_summary(r, "Device %s is idle for %s µs (%s of the window).", device->number,
                           time, share);
        return;
    }
    char stream[KIT_NUMBER_MAX];
    kit_format_us(comm, a->streams[primary].times[KIT_GAP_WAIT_COMM], KIT_GROUP);
    kit_report_summary(r,
                       "Device %s is idle for %s µs (%s of the window); its main compute stream "
                       "%s waits %s µs for communication.",
                       device->number, time, share,
                       kit_format_int(stream, a->all.streams[primary].id, 0), comm);
}

/* ---------------------------------------------------------------- all of it */

static mill_report *tell(const analysis *a) {
    kit_report *r = kit_report_begin(a->run, "gaps", "Idle time and its causes",
                                     mill_at(a->all.trace, a->all.trace->path));
    tell_summary(r, a);
    tell_notes(r, a);
    for (size_t d = 0; d < a->all.n_devices; d++)
        tell_figures(r, a, d);
    if (a->all.n_devices == 0)
        return kit_report_end(r);

    kit_table *t =
        kit_table_of(r, "idle_causes", "Idle time of devices by cause", NULL, idle_cause_columns);
    for (size_t d = 0; d < a->all.n_devices; d++)
        tell_causes(t, a, &a->devices[d], a->all.devices[d].id, NULL);
    tell_streams(r, a);
    t = kit_table_of(r, "stream_causes", "Gaps of streams by cause", NULL, stream_cause_columns);
    for (size_t s = 0; s < a->all.n_streams; s++)
        tell_causes(t, a, &a->streams[s], a->all.devices[a->all.streams[s].device].id,
                    &a->all.streams[s].id);
    t = kit_table_of(r, "largest_idle", "Longest idle times of devices", NULL, idle_columns);
    for (size_t d = 0; d < a->all.n_devices; d++)
        tell_largest(t, a, &a->all.devices[d], &a->devices[d], false);
    t = kit_table_of(r, "largest", "Largest gaps of each stream", NULL, gap_columns);
    for (size_t s = 0; s < a->all.n_streams; s++)
        tell_largest(t, a, &a->all.devices[a->all.streams[s].device], &a->streams[s], true);
    if (a->options->lanes)
        tell_lanes(r, a);
    return kit_report_end(r);
}

mill_status gaps_run(mill_run *run, const void *opts, void *state) {
    (void)state;
    analysis a = {.run = run, .options = opts};
    mill_status status =
        kit_activities_select(run, mill_input(run, PORT_TRACE, 0),
                              mill_input(run, PORT_ATTRIBUTION, 0), &a.options->selection, &a.all);
    if (status == MILL_OK)
        status = analyse(&a);
    if (status != MILL_OK)
        return status;
    return mill_output(run, 0, tell(&a));
}
