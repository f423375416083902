/* SPDX-License-Identifier: Apache-2.0 */
/* The report on critical paths. */
#include "path.h"

#include <stdio.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/lane.h>
#include <tracemill/kit/top.h>
#include <tracemill/kit/trace_notes.h>

#define HOST PATH_LATE /* beside the causes of gaps: it waited for the CPU */
#define GAPS (KIT_GAP_CAUSES + 1)
#define CLASSES (KIT_CLASSES + 1) /* the last one is the gaps */

static const char *const class_names[CLASSES] = {"computation", "communication", "memory", "other",
                                                 "gap"};

typedef struct share {
    int64_t n, time;
} share;

/* What a path is made of: share[c][k] is of kind k of class c; the kinds of gaps are causes. */
typedef struct sums {
    const kit_activities *all;
    const kit_device *device;
    const path *path;
    int64_t T;
    size_t n_kinds;
    share *shares[CLASSES];
    int64_t times[CLASSES];
    int64_t (*stages)[CLASSES]; /* of each stage; gaps are of the stage that follows */
} sums;

static const char *gap_name(size_t cause) {
    return cause == HOST ? "host" : kit_gap_names[cause];
}

/* Kinds, then KIT_KIND_NONE and KIT_KIND_STREAM. */
static size_t kind_row(const sums *s, const kit_activity *a) {
    size_t n = s->all->trace->kinds.n;
    return a->kind == KIT_KIND_NONE ? n : a->kind == KIT_KIND_STREAM ? n + 1 : a->kind;
}

static const char *kind_name(const sums *s, size_t cls, size_t row) {
    size_t n = s->all->trace->kinds.n;
    if (cls == KIT_CLASSES)
        return gap_name(row);
    return kit_kind_name(s->all, row < n    ? (uint16_t)row
                                 : row == n ? KIT_KIND_NONE
                                            : KIT_KIND_STREAM);
}

static void add(sums *s, size_t cls, size_t row, uint32_t place, int64_t time) {
    s->shares[cls][row].time += time;
    s->times[cls] += time;
    if (place != MILL_NONE && s->all->places->stage[place] != MILL_NONE)
        s->stages[s->all->places->stage[place]][cls] += time;
}

static sums add_up(mill_run *run, const kit_activities *all, const kit_device *device,
                   const path *p) {
    sums s = {.all = all,
              .device = device,
              .path = p,
              .T = device->window.end - device->window.start,
              .n_kinds = all->trace->kinds.n + 2};
    for (int c = 0; c < CLASSES; c++)
        s.shares[c] = mill_scratch(run, (s.n_kinds + GAPS) * sizeof(share));
    s.stages = mill_scratch(run, (all->places ? all->places->n_stages : 0) * sizeof *s.stages);
    for (size_t i = 0; i < p->n; i++) {
        const path_step *step = &p->v[i];
        const kit_activity *a = &device->v[step->activity];
        add(&s, a->cls, kind_row(&s, a), a->place, a->end - a->start);
        s.shares[a->cls][kind_row(&s, a)].n++;
        if (step->link == PATH_FIRST)
            continue;
        add(&s, KIT_CLASSES, HOST, a->place, step->ready - step->gap);
        add(&s, KIT_CLASSES, step->cause, a->place, a->start - step->ready);
        s.shares[KIT_CLASSES][step->cause].n++;
    }
    return s;
}

/* ---------------------------------------------------------------- figures */

/* |M ∖ C|: what is exposed may still not be on the path, and the other way round. */
static int64_t exposed_of(const kit_device *device) {
    const kit_set *comp = &device->sets[KIT_COMP], *comm = &device->sets[KIT_COMM];
    return kit_intervals_length(comm->v, comm->n) -
           kit_intervals_common(comm->v, comm->n, comp->v, comp->n);
}

static void tell_figures(kit_report *r, const sums *s) {
    static const struct {
        const char *id, *label;
    } times[CLASSES] = {
        {"path_comp", "computation on the path"},     {"path_comm", "communication on the path"},
        {"path_mem", "memory work on the path"},      {"path_other", "other work on the path"},
        {"path_gap", "gaps on the path, by no work"},
    };
    const char *scope = s->device->scope;
    kit_figure_int(r, MILL_KIND_NS, "T", "window", scope,
                   "From the first start to the last end; the path and its gaps fill it.", s->T);
    for (int c = 0; c < CLASSES; c++)
        if (c != KIT_OTHER || s->times[c] > 0)
            kit_figure_int(r, MILL_KIND_NS, times[c].id, times[c].label, scope, NULL, s->times[c]);
    kit_figure_int(r, MILL_KIND_NS, "path_outside", "window before and after it", scope,
                   "Not 0 only where the window is not the span of the activities, or where what "
                   "comes first or last takes no time.",
                   s->path->head + s->path->tail);
    kit_figure_int(r, MILL_KIND_COUNT, "segments", "activities on the path", scope, NULL,
                   (int64_t)s->path->n);
    kit_figure_int(r, MILL_KIND_COUNT, "stream_hops", "steps to another stream", scope,
                   "Steps on which an activity waited for one of another stream.", s->path->hops);
    kit_figure_int(r, MILL_KIND_COUNT, "hops_recorded", "of these recorded", scope,
                   "Steps to another stream that the trace records; the others are told by timing.",
                   s->path->recorded);
    kit_figure_int(r, MILL_KIND_NS, "exposed_comm", "exposed communication", scope,
                   "|M ∖ C|, for comparison: exposed is not the same as critical.",
                   exposed_of(s->device));
    kit_figure_ratio(r, "path_comm_over_T", "window spent on critical communication", scope,
                     "path_comm / T", s->times[KIT_COMM], s->T);
}

/* ---------------------------------------------------------------- tables */

typedef struct label {
    size_t cls, row;
    share share;
} label;

static int compare_labels(const void *a, const void *b) {
    const label *x = a, *y = b;
    if (x->share.time != y->share.time)
        return x->share.time < y->share.time ? 1 : -1;
    if (x->cls != y->cls)
        return x->cls < y->cls ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static const kit_column label_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "class", "class", NULL},
    {MILL_KIND_TEXT, "kind", "kind", "Of the activities; of a gap its cause."},
    {MILL_KIND_COUNT, "n", "n",
     "Activities, or gaps; those of zero length too. A gap with two causes counts for the second."},
    {MILL_KIND_NS, "time", "time", NULL},
    {MILL_KIND_RATIO, "share", "share", "Of the window."},
    {0},
};

static void tell_labels(kit_table *t, const sums *s) {
    label *labels = kit_alloc(CLASSES * (s->n_kinds + GAPS), sizeof *labels);
    size_t n = 0;
    for (size_t c = 0; c < CLASSES; c++)
        for (size_t row = 0; row < s->n_kinds + GAPS; row++)
            if (s->shares[c][row].n > 0)
                labels[n++] = (label){c, row, s->shares[c][row]};
    qsort(labels, n, sizeof *labels, compare_labels);
    for (size_t i = 0; i < n; i++) {
        kit_table_row(t);
        kit_cell_int(t, s->device->id);
        kit_cell_text(t, class_names[labels[i].cls]);
        kit_cell_text(t, kind_name(s, labels[i].cls, labels[i].row));
        kit_cell_int(t, labels[i].share.n);
        kit_cell_int(t, labels[i].share.time);
        kit_cell_ratio(t, labels[i].share.time, s->T);
    }
    free(labels);
}

static const kit_column stage_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "stage", "stage", NULL},
    {MILL_KIND_NS, "comp", "comp.", "Computation of the stage on the path."},
    {MILL_KIND_NS, "comm", "comm.", "Communication of the stage on the path."},
    {MILL_KIND_NS, "gap", "gaps", "Gaps before activities of the stage."},
    {0},
};

static void tell_stages(kit_table *t, const sums *s) {
    uint64_t n = s->all->places ? s->all->places->n_stages : 0;
    for (uint64_t i = 0; i < n; i++) {
        const int64_t *times = s->stages[i];
        if (times[KIT_COMP] + times[KIT_COMM] + times[KIT_CLASSES] == 0)
            continue;
        kit_table_row(t);
        kit_cell_int(t, s->device->id);
        kit_cell_text(t, s->all->places->stages[i]);
        kit_cell_int(t, times[KIT_COMP]);
        kit_cell_int(t, times[KIT_COMM]);
        kit_cell_int(t, times[KIT_CLASSES]);
    }
}

static const kit_column segment_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_ID, "stream", "stream", NULL},
    {MILL_KIND_NS, "start", "start", "From the window's start."},
    {MILL_KIND_NS, "time", "time", NULL},
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_TEXT, "stage", "stage", NULL},
    {MILL_KIND_ID, "layer", "layer", NULL},
    {0},
};

static int compare_longest(const void *a, const void *b) {
    const kit_activity *x = *(const kit_activity *const *)a, *y = *(const kit_activity *const *)b;
    int64_t i = x->end - x->start, j = y->end - y->start;
    return i != j ? (i < j) - (i > j) : (x > y) - (x < y);
}

static int compare_time(const void *a, const void *b) {
    const kit_activity *x = *(const kit_activity *const *)a, *y = *(const kit_activity *const *)b;
    return (x > y) - (x < y);
}

/* The longest ones, in order of time. */
static void tell_segments(kit_table *t, const sums *s, size_t top) {
    kit_top longest;
    kit_top_init(&longest, top, sizeof(const kit_activity *), compare_longest);
    for (size_t i = 0; i < s->path->n; i++) {
        const kit_activity *a = &s->device->v[s->path->v[i].activity];
        if (a->cls == KIT_COMM)
            kit_top_add(&longest, &a);
    }
    size_t n = kit_top_sort(&longest);
    const kit_activity **v = longest.v;
    if (n > 0)
        qsort(v, n, sizeof *v, compare_time);
    for (size_t i = 0; i < n; i++) {
        kit_table_row(t);
        kit_cell_int(t, s->device->id);
        kit_cell_int(t, s->all->streams[v[i]->stream].id);
        kit_cell_int(t, v[i]->start - s->device->window.start);
        kit_cell_int(t, v[i]->end - v[i]->start);
        kit_cell_text(t, kit_kind_name(s->all, v[i]->kind));
        kit_cell_text(t, kit_stage_name(s->all, v[i]->place));
        kit_cell_int(t,
                     v[i]->place == MILL_NONE ? MILL_UNKNOWN : s->all->places->layer[v[i]->place]);
    }
    kit_top_finish(&longest);
}

/* ---------------------------------------------------------------- lanes */

/* Classes of the lane: those of activities, then the causes of gaps. */
static void tell_lane(mill_run *run, kit_report *r, const sums *s, size_t number) {
    const char *classes[KIT_CLASSES + GAPS];
    for (size_t i = 0; i < KIT_CLASSES; i++)
        classes[i] = class_names[i];
    for (size_t i = 0; i < GAPS; i++)
        classes[KIT_CLASSES + i] = gap_name(i);
    kit_lane_texts texts = kit_lane_texts_of(run, s->all, classes, KIT_CLASSES + GAPS);
    kit_lane_rows rows = {.base = s->device->window.start};
    for (size_t i = 0; i < s->path->n; i++) {
        const path_step *step = &s->path->v[i];
        const kit_activity *a = &s->device->v[step->activity];
        uint32_t text = kit_lane_text(&texts, a);
        kit_lane_add(&rows, step->gap, step->ready, text, KIT_CLASSES + HOST);
        kit_lane_add(&rows, step->ready, a->start, text, KIT_CLASSES + step->cause);
        kit_lane_add(&rows, a->start, a->end, text, a->cls);
    }
    char id[64], title[KIT_NUMBER_MAX + 32];
    snprintf(id, sizeof id, "critical_path_%zu", number);
    snprintf(title, sizeof title, "device %s: critical path", s->device->number);
    kit_lane_put(r, id, title, s->device, MILL_UNKNOWN, &texts, &rows);
}

/* ---------------------------------------------------------------- the sentence */

static void tell_summary(kit_report *r, const sums *list, size_t n) {
    const sums *longest = NULL;
    for (size_t d = 0; d < n; d++)
        if (!longest || list[d].T > longest->T)
            longest = &list[d];
    char comp[KIT_NUMBER_MAX], comm[KIT_NUMBER_MAX], gap[KIT_NUMBER_MAX], exposed[KIT_NUMBER_MAX];
    if (!longest)
        kit_report_summary(r, "No device events: there is no path.");
    else
        kit_report_summary(
            r,
            "Device %s: of the time that decides how long it takes, %s is computation, %s "
            "communication and %s gaps; %s of the window is exposed communication.",
            longest->device->number, kit_format_percent(comp, longest->times[KIT_COMP], longest->T),
            kit_format_percent(comm, longest->times[KIT_COMM], longest->T),
            kit_format_percent(gap, longest->times[KIT_CLASSES], longest->T),
            kit_format_percent(exposed, exposed_of(longest->device), longest->T));
}

static void tell_notes(mill_run *run, kit_report *r, const kit_activities *all, const path *paths) {
    int64_t recorded = 0, hops = 0;
    for (size_t d = 0; d < all->n_devices; d++) {
        recorded += paths[d].recorded;
        hops += paths[d].hops;
    }
    kit_note_trace(run, r, all->trace);
    if (recorded > 0)
        kit_note(r, MILL_INFO, "method",
                 "The trace records what streams wait for, and so %lld of %lld steps to another "
                 "stream; the others are told by timing, a heuristic.",
                 (long long)recorded, (long long)hops);
    else
        kit_note(r, MILL_INFO, "method",
                 "What an activity waited for is told by timing, a heuristic: the trace records "
                 "no waits that lead to another stream.");
    if (!all->places)
        kit_note(r, MILL_INFO, "no_attribution",
                 "Without an attribution stages and layers are unknown.");
}

mill_report *path_tell(mill_run *run, const kit_activities *all, const path_options *options,
                       const path *paths) {
    kit_report *r = kit_report_begin(run, "critical_path", "Critical path",
                                     mill_at(all->trace, all->trace->path));
    size_t n = all->n_devices, top = (size_t)options->top;
    sums *list = mill_scratch(run, n * sizeof *list);
    for (size_t d = 0; d < n; d++)
        list[d] = add_up(run, all, &all->devices[d], &paths[d]);
    tell_summary(r, list, n);
    tell_notes(run, r, all, paths);
    for (size_t d = 0; d < n; d++)
        tell_figures(r, &list[d]);
    if (n == 0)
        return kit_report_end(r);
    kit_table *t = kit_table_of(r, "labels", "What the path is made of", "Adds up to the window.",
                                label_columns);
    for (size_t d = 0; d < n; d++)
        tell_labels(t, &list[d]);
    if (all->places && all->places->n_stages > 0) {
        t = kit_table_of(r, "stages", "The path by stage", NULL, stage_columns);
        for (size_t d = 0; d < n; d++)
            tell_stages(t, &list[d]);
    }
    t = kit_table_of(r, "comm_segments", "Communication on the path",
                     "The longest, in order of time.", segment_columns);
    for (size_t d = 0; d < n; d++)
        tell_segments(t, &list[d], top);
    for (size_t d = 0; d < n && options->lanes; d++)
        tell_lane(run, r, &list[d], d);
    return kit_report_end(r);
}
