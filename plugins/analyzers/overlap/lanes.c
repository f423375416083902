/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes for a timeline: what runs on each stream, the overlap strip, what is exposed and why; and
 * the curve of exposed communication over layers. */
#include "overlap.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const class_names[KIT_CLASSES] = {"computation", "communication", "memory",
                                                     "other"};
enum { BOTH, COMP_ONLY, COMM_ONLY, MEM_ONLY, IDLE, STRIP_STATES };
static const char *const strip_names[STRIP_STATES] = {"both", "compute only", "comm only",
                                                      "memory only", "idle"};

/* A lane that grows up to `room` intervals; its texts are given with it. */
typedef struct growing {
    mill_lane lane;
    int64_t *start, *end;
    uint32_t *text, *cls;
} growing;

static growing begin_lane(const overlap_analysis *analysis, const overlap_device *device,
                          size_t room, const char *const *texts, size_t n_texts) {
    mill_run *run = analysis->run;
    growing g = {
        .lane = {.size = sizeof g.lane,
                 .rank = analysis->all.trace->rank,
                 .device = device->view->id,
                 .stream = MILL_UNKNOWN,
                 .base_ns = device->view->window.start,
                 .texts = texts,
                 .n_texts = n_texts},
        .start = mill_scratch(run, room * sizeof *g.start),
        .end = mill_scratch(run, room * sizeof *g.end),
        .text = mill_scratch(run, room * sizeof *g.text),
        .cls = mill_scratch(run, room * sizeof *g.cls),
    };
    return g;
}

static void add_interval(growing *g, kit_interval time, size_t text, size_t cls) {
    uint64_t i = g->lane.n;
    if (time.start >= time.end)
        return;
    g->start[i] = time.start - g->lane.base_ns;
    g->end[i] = time.end - g->lane.base_ns;
    g->text[i] = (uint32_t)text;
    g->cls[i] = (uint32_t)cls;
    g->lane.n++;
}

static void end_lane(kit_report *r, growing *g, const char *id, const char *label) {
    g->lane.id = id;
    g->lane.label = label;
    g->lane.start = g->start;
    g->lane.end = g->end;
    g->lane.text = g->text;
    g->lane.cls = g->cls;
    kit_lane(r, &g->lane);
}

/* ---------------------------------------------------------------- streams */

/* Where each sort of text begins among those of a stream's lane. */
typedef struct words {
    const char **v;
    size_t n, stages, kinds, chunks, classes;
} words;

/* Stages, then kinds and the two that are none, chunks, classes. */
static words list_words(const overlap_analysis *analysis) {
    const mill_attribution *places = analysis->all.places;
    size_t n_stages = places ? places->n_stages : 0, n_kinds = analysis->all.trace->kinds.n;
    words w = {.kinds = n_stages, .chunks = n_stages + n_kinds + 2};
    w.classes = w.chunks + MILL_CHUNK_PAIR + 1;
    w.v = mill_scratch(analysis->run, (w.classes + KIT_CLASSES) * sizeof *w.v);
    for (uint32_t s = 0; s < n_stages; s++)
        w.v[w.n++] = places->stages[s];
    for (uint32_t k = 0; k < n_kinds; k++)
        w.v[w.n++] = kit_kind_name(&analysis->all, (uint16_t)k);
    w.v[w.n++] = kit_kind_name(&analysis->all, KIT_KIND_NONE);
    w.v[w.n++] = kit_kind_name(&analysis->all, KIT_KIND_STREAM);
    for (int c = 0; c <= MILL_CHUNK_PAIR; c++)
        w.v[w.n++] = c == MILL_CHUNK_NONE ? "no chunk" : overlap_chunk_name((mill_chunk)c);
    for (int c = 0; c < KIT_CLASSES; c++)
        w.v[w.n++] = class_names[c];
    return w;
}

static size_t kind_word(const overlap_analysis *analysis, const words *w, uint16_t kind) {
    size_t n = analysis->all.trace->kinds.n;
    return w->kinds + (kind < n ? kind : kind == KIT_KIND_STREAM ? n + 1 : n);
}

/* Communication has the class of its kind, computation that of its chunk. */
static void add_activity(growing *g, const overlap_analysis *analysis, const words *w,
                         const kit_activity *a) {
    uint32_t stage = overlap_stage_of(analysis, a->place);
    mill_chunk chunk = overlap_chunk_of(analysis, a->place);
    size_t cls = w->classes + a->cls;
    if (a->cls == KIT_COMM)
        cls = kind_word(analysis, w, a->kind);
    else if (a->cls == KIT_COMP && chunk != MILL_CHUNK_NONE)
        cls = w->chunks + chunk;
    add_interval(g, (kit_interval){a->start, a->end}, stage != MILL_NONE ? w->stages + stage : cls,
                 cls);
}

static void tell_streams(kit_report *r, const overlap_analysis *analysis,
                         const overlap_device *device, const words *w) {
    growing *lanes = mill_scratch(analysis->run, device->n_streams * sizeof *lanes);
    for (size_t s = 0; s < device->n_streams; s++) {
        const overlap_stream *stream = &analysis->streams[device->first_stream + s];
        lanes[s] = begin_lane(analysis, device, (size_t)stream->all.n, w->v, w->n);
        lanes[s].lane.stream = stream->view->id;
    }
    for (size_t i = 0; i < device->view->n; i++) {
        const kit_activity *a = &device->view->v[i];
        add_activity(&lanes[a->stream - device->first_stream], analysis, w, a);
    }
    for (size_t s = 0; s < device->n_streams; s++) {
        const kit_stream *view = analysis->streams[device->first_stream + s].view;
        char id[KIT_NUMBER_MAX], label[KIT_NUMBER_MAX + 8], number[KIT_NUMBER_MAX];
        snprintf(id, sizeof id, "stream_%zu", device->first_stream + s);
        snprintf(label, sizeof label, "stream %s", kit_format_int(number, view->id, 0));
        end_lane(r, &lanes[s], id, view->label ? view->label : label);
    }
}

/* ---------------------------------------------------------------- the strip */

typedef struct state_interval {
    kit_interval time;
    int state;
} state_interval;

static int compare_intervals(const void *a, const void *b) {
    int64_t x = ((const state_interval *)a)->time.start;
    int64_t y = ((const state_interval *)b)->time.start;
    return (x > y) - (x < y);
}

static size_t add_states(state_interval *out, size_t n, kit_set set, int state) {
    for (size_t i = 0; i < set.n; i++)
        out[n++] = (state_interval){set.v[i], state};
    return n;
}

typedef size_t (*algebra)(const kit_interval *a, size_t na, const kit_interval *b, size_t nb,
                          kit_interval *out);

static kit_set combine(const overlap_analysis *analysis, algebra fn, kit_set a, kit_set b) {
    kit_set set = {mill_scratch(analysis->run, (a.n + b.n + 1) * sizeof(kit_interval)), 0};
    set.n = fn(a.v, a.n, b.v, b.n, set.v);
    return set;
}

/* Each moment of the window in one of the states; a copy beside work of another class is not told.
 */
static void tell_strip(kit_report *r, const overlap_analysis *analysis,
                       const overlap_device *device, size_t number) {
    const kit_set *sets = device->view->sets;
    kit_set c = sets[KIT_COMP], m = sets[KIT_COMM], x = sets[KIT_MEM];
    kit_interval window = device->view->window;
    kit_set work = combine(analysis, kit_intervals_union, c, m);
    kit_set busy = combine(analysis, kit_intervals_union, work, x);
    kit_set states[STRIP_STATES] = {
        [BOTH] = combine(analysis, kit_intervals_intersect, c, m),
        [COMP_ONLY] = combine(analysis, kit_intervals_subtract, c, m),
        [COMM_ONLY] = combine(analysis, kit_intervals_subtract, m, c),
        [MEM_ONLY] = combine(analysis, kit_intervals_subtract, x, work),
        [IDLE] = combine(analysis, kit_intervals_subtract, (kit_set){&window, 1}, busy),
    };
    size_t n = 0, room = 0;
    for (int s = 0; s < STRIP_STATES; s++)
        room += states[s].n;
    state_interval *all = mill_scratch(analysis->run, room * sizeof *all);
    for (int s = 0; s < STRIP_STATES; s++)
        n = add_states(all, n, states[s], s);
    qsort(all, n, sizeof *all, compare_intervals);

    growing g = begin_lane(analysis, device, n, strip_names, STRIP_STATES);
    for (size_t i = 0; i < n; i++)
        add_interval(&g, all[i].time, (size_t)all[i].state, (size_t)all[i].state);
    char id[KIT_NUMBER_MAX];
    snprintf(id, sizeof id, "strip_%zu", number);
    end_lane(r, &g, id, "overlap");
}

/* ---------------------------------------------------------------- exposed communication */

static void tell_exposed(kit_report *r, const overlap_analysis *analysis,
                         const overlap_device *device, const words *w, size_t number) {
    const char **texts = mill_scratch(analysis->run, (w->n + OVERLAP_REASONS) * sizeof *texts);
    for (size_t i = 0; i < w->n; i++)
        texts[i] = w->v[i];
    for (unsigned i = 0; i < OVERLAP_REASONS; i++)
        texts[w->n + i] = overlap_reason_name(i);
    growing g = begin_lane(analysis, device, device->n_exposed, texts, w->n + OVERLAP_REASONS);
    for (size_t i = 0; i < device->n_exposed; i++) {
        const overlap_exposed *piece = &device->exposed[i];
        const kit_activity *a = &device->view->v[device->comm[piece->comm].activity];
        add_interval(&g, piece->time, kind_word(analysis, w, a->kind), w->n + piece->reason);
    }
    char id[KIT_NUMBER_MAX];
    snprintf(id, sizeof id, "exposed_%zu", number);
    end_lane(r, &g, id, "exposed communication");
}

static void tell_layer_curve(kit_report *r, const overlap_analysis *analysis,
                             const overlap_device *device, size_t number) {
    const overlap_windows *layers = &device->layers;
    double *x = mill_scratch(analysis->run, layers->n * sizeof *x);
    double *y = mill_scratch(analysis->run, layers->n * sizeof *y);
    for (size_t i = 0; i < layers->n; i++) {
        x[i] = (double)i;
        y[i] = (double)kit_time_in(layers->v[i].states, KIT_IN_COMM & ~KIT_IN_COMP) / 1000;
    }
    char id[KIT_NUMBER_MAX + 16];
    snprintf(id, sizeof id, "exposed_by_layer_%zu", number);
    mill_series series = {
        .size = sizeof series,
        .id = id,
        .label = "exposed communication by layer",
        .x_label = "row of the table layers",
        .y_label = "exposed",
        .y_unit = "µs",
        .n = layers->n,
        .x = x,
        .y = y,
    };
    kit_series(r, &series);
}

void overlap_tell_lanes(kit_report *r, const overlap_analysis *analysis) {
    words w = list_words(analysis);
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const overlap_device *device = &analysis->devices[i];
        tell_streams(r, analysis, device, &w);
        tell_strip(r, analysis, device, i);
        tell_exposed(r, analysis, device, &w, i);
        if (device->layers.n > 0)
            tell_layer_curve(r, analysis, device, i);
    }
}
