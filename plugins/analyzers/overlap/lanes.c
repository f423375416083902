/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes for a timeline: what runs on each stream, the overlap strip, what is exposed and why; and
 * the curve of exposed communication over layers. */
#include "overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <tracemill/kit/lane.h>

/* ---------------------------------------------------------------- streams */

/* Classes of what runs on streams, beside the kinds of communication: computation has that of its
 * chunk, where it has one. */
enum { F, B, W, PAIR, COMPUTATION, COMMUNICATION, MEMORY, OTHER, STREAM_CLASSES };
static const char *const stream_classes[STREAM_CLASSES] = {
    "F", "B", "W", "F&B", "computation", "communication", "memory", "other"};

static void add_activity(const overlap_analysis *analysis, const kit_lane_texts *texts,
                         const kit_activity *a, kit_lane_rows *rows) {
    mill_chunk chunk = overlap_chunk_of(analysis, a->place);
    uint32_t cls = COMPUTATION + a->cls;
    if (a->cls == KIT_COMM && a->kind < analysis->all.trace->kinds.n)
        cls = texts->kinds + a->kind;
    else if (a->cls == KIT_COMP && chunk != MILL_CHUNK_NONE)
        cls = F + (uint32_t)chunk - MILL_CHUNK_FORWARD;
    bool staged = kit_stage_name(&analysis->all, a->place) != NULL;
    kit_lane_add(rows, a->start, a->end, staged ? kit_lane_text(texts, a) : cls, cls);
}

static void tell_streams(kit_report *r, const overlap_analysis *analysis,
                         const overlap_device *device) {
    kit_lane_texts texts =
        kit_lane_texts_of(analysis->run, &analysis->all, stream_classes, STREAM_CLASSES);
    kit_lane_rows *rows = mill_scratch(analysis->run, device->n_streams * sizeof *rows);
    for (size_t s = 0; s < device->n_streams; s++)
        rows[s].base = device->view->window.start;
    for (size_t i = 0; i < device->view->n; i++) {
        const kit_activity *a = &device->view->v[i];
        add_activity(analysis, &texts, a, &rows[a->stream - device->first_stream]);
    }
    for (size_t s = 0; s < device->n_streams; s++) {
        const kit_stream *view = analysis->streams[device->first_stream + s].view;
        char id[KIT_NUMBER_MAX], label[KIT_NUMBER_MAX + 8], number[KIT_NUMBER_MAX];
        snprintf(id, sizeof id, "stream_%zu", device->first_stream + s);
        snprintf(label, sizeof label, "stream %s", kit_format_int(number, view->id, 0));
        kit_lane_put(r, id, view->label ? view->label : label, device->view, view->id, &texts,
                     &rows[s]);
    }
}

/* ---------------------------------------------------------------- the strip */

enum { BOTH, COMP_ONLY, COMM_ONLY, MEM_ONLY, IDLE, STRIP_STATES };
static const char *const strip_states[STRIP_STATES] = {"both", "compute only", "comm only",
                                                       "memory only", "idle"};

typedef struct state_interval {
    kit_interval time;
    uint32_t state;
} state_interval;

static int compare_intervals(const void *a, const void *b) {
    int64_t x = ((const state_interval *)a)->time.start;
    int64_t y = ((const state_interval *)b)->time.start;
    return (x > y) - (x < y);
}

typedef size_t (*algebra)(const kit_interval *a, size_t na, const kit_interval *b, size_t nb,
                          kit_interval *out);

static kit_set combine(const overlap_analysis *analysis, algebra fn, kit_set a, kit_set b) {
    kit_set set = {mill_scratch(analysis->run, (a.n + b.n + 1) * sizeof(kit_interval)), 0};
    set.n = fn(a.v, a.n, b.v, b.n, set.v);
    return set;
}

/* Each moment of the window in one of the states; copies beside other work are not told. */
static void tell_strip(kit_report *r, const overlap_analysis *analysis,
                       const overlap_device *device, const char *id) {
    const kit_set *sets = device->view->sets;
    kit_set c = sets[KIT_COMP], m = sets[KIT_COMM], x = sets[KIT_MEM];
    kit_interval window = device->view->window;
    kit_set work = combine(analysis, kit_intervals_union, c, m);
    kit_set busy = combine(analysis, kit_intervals_union, work, x);
    kit_set all = {&window, window.start < window.end};
    kit_set states[STRIP_STATES] = {
        [BOTH] = combine(analysis, kit_intervals_intersect, c, m),
        [COMP_ONLY] = combine(analysis, kit_intervals_subtract, c, m),
        [COMM_ONLY] = combine(analysis, kit_intervals_subtract, m, c),
        [MEM_ONLY] = combine(analysis, kit_intervals_subtract, x, work),
        [IDLE] = combine(analysis, kit_intervals_subtract, all, busy),
    };
    size_t n = 0, room = 0;
    for (int s = 0; s < STRIP_STATES; s++)
        room += states[s].n;
    state_interval *strip = mill_scratch(analysis->run, room * sizeof *strip);
    for (uint32_t s = 0; s < STRIP_STATES; s++)
        for (size_t i = 0; i < states[s].n; i++)
            strip[n++] = (state_interval){states[s].v[i], s};
    qsort(strip, n, sizeof *strip, compare_intervals);

    kit_lane_texts texts =
        kit_lane_texts_of(analysis->run, &analysis->all, strip_states, STRIP_STATES);
    kit_lane_rows rows = {.base = window.start};
    for (size_t i = 0; i < n; i++)
        kit_lane_add(&rows, strip[i].time.start, strip[i].time.end, strip[i].state, strip[i].state);
    kit_lane_put(r, id, "overlap", device->view, MILL_UNKNOWN, &texts, &rows);
}

/* ---------------------------------------------------------------- exposed communication */

static void tell_exposed(kit_report *r, const overlap_analysis *analysis,
                         const overlap_device *device, const char *id) {
    const char *reasons[OVERLAP_REASONS];
    for (unsigned i = 0; i < OVERLAP_REASONS; i++)
        reasons[i] = overlap_reason_name(i);
    kit_lane_texts texts =
        kit_lane_texts_of(analysis->run, &analysis->all, reasons, OVERLAP_REASONS);
    kit_lane_rows rows = {.base = device->view->window.start};
    for (size_t i = 0; i < device->n_exposed; i++) {
        const overlap_exposed *piece = &device->exposed[i];
        const kit_activity *a = &device->view->v[device->comm[piece->comm].activity];
        kit_lane_add(&rows, piece->time.start, piece->time.end, kit_lane_text(&texts, a),
                     piece->reason);
    }
    kit_lane_put(r, id, "exposed communication", device->view, MILL_UNKNOWN, &texts, &rows);
}

static void tell_layer_curve(kit_report *r, const overlap_analysis *analysis,
                             const overlap_device *device, const char *id) {
    const overlap_windows *layers = &device->layers;
    double *x = mill_scratch(analysis->run, layers->n * sizeof *x);
    double *y = mill_scratch(analysis->run, layers->n * sizeof *y);
    for (size_t i = 0; i < layers->n; i++) {
        x[i] = (double)i;
        y[i] = (double)kit_time_in(layers->v[i].states, KIT_IN_COMM & ~KIT_IN_COMP) / 1000;
    }
    kit_series(r, &(mill_series){
                      .size = sizeof(mill_series),
                      .id = id,
                      .label = "exposed communication by layer",
                      .x_label = "row of the table layers",
                      .y_label = "exposed",
                      .y_unit = "µs",
                      .n = layers->n,
                      .x = x,
                      .y = y,
                  });
}

void overlap_tell_lanes(kit_report *r, const overlap_analysis *analysis) {
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const overlap_device *device = &analysis->devices[i];
        char id[KIT_NUMBER_MAX];
        tell_streams(r, analysis, device);
        snprintf(id, sizeof id, "strip_%zu", i);
        tell_strip(r, analysis, device, id);
        snprintf(id, sizeof id, "exposed_%zu", i);
        tell_exposed(r, analysis, device, id);
        snprintf(id, sizeof id, "exposed_by_layer_%zu", i);
        if (device->layers.n > 0)
            tell_layer_curve(r, analysis, device, id);
        overlap_tell_sm_curves(r, analysis, device, i);
    }
}
