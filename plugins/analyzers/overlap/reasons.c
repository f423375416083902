/* SPDX-License-Identifier: Apache-2.0 */
/* Why communication is exposed: what the primary stream, the one that computes most, does while it
 * is. */
#include "overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <tracemill/kit/top.h>

/* Beside those of the causes of gaps. */
static const char *const own_names[] = {
    "not_launched", "before_first_compute", "after_last_compute", "memcpy_memset", "same_stream",
    "other",        "no_computation",
};
MILL_STATIC_ASSERT(sizeof own_names / sizeof *own_names == OVERLAP_REASONS - KIT_GAP_CAUSES,
                   "a name for each reason");

const char *overlap_reason_name(unsigned reason) {
    return reason < KIT_GAP_CAUSES ? kit_gap_names[reason] : own_names[reason - KIT_GAP_CAUSES];
}

static const char *const meanings[OVERLAP_REASONS] = {
    [KIT_GAP_LAUNCH_LATENCY] = "computation just launched",
    [KIT_GAP_KERNEL] = "short gap between kernels",
    [KIT_GAP_SM_WAIT] = "computation waits for SMs",
    [KIT_GAP_WAIT_COMM] = "computation waits for it",
    [KIT_GAP_WAIT_COMPUTE] = "waits for another stream",
    [KIT_GAP_UNEXPLAINED] = "waits for something else",
    [OVERLAP_NOT_LAUNCHED] = "computation not launched",
    [OVERLAP_BEFORE_FIRST] = "nothing was computed yet",
    [OVERLAP_AFTER_LAST] = "all is computed",
    [OVERLAP_MEMORY] = "copies on its stream",
    [OVERLAP_SAME_STREAM] = "it runs on that stream",
    [OVERLAP_OTHER] = "other work on that stream",
    [OVERLAP_NO_COMPUTATION] = "the device computes nothing",
};

/* ---------------------------------------------------------------- what the primary stream does */

/* A part of the time in which the primary stream does not compute. */
typedef struct segment {
    kit_interval time;
    uint32_t gap;
    uint8_t reason;
} segment;

/* Walks through owned communication, computation and what the primary stream does together. The
 * stream's segments come from three lists, each in order, which have no moment in common. */
typedef struct walk {
    const overlap_device *device;
    kit_interval stream; /* from the primary stream's first start to its last end */
    kit_set lists[2];    /* of copies, and of communication without copies */
    size_t comp, idle, at[2], n_segments; /* idle: of the first list, of n_segments */
} walk;

enum { COPIES, OWN_COMMUNICATION };

static uint32_t class_on_primary(const void *context, const kit_activity *a) {
    const overlap_device *device = context;
    bool counts = a->stream == device->primary && (a->cls == KIT_MEM || a->cls == KIT_COMM);
    return !counts ? MILL_NONE : a->cls == KIT_MEM ? COPIES : OWN_COMMUNICATION;
}

static void walk_init(walk *w, const overlap_analysis *analysis, const overlap_device *device) {
    *w = (walk){.device = device};
    if (device->primary == KIT_ALL_STREAMS)
        return;
    const kit_tally *stream = &analysis->streams[device->primary].all;
    w->stream = (kit_interval){stream->first, stream->last};
    w->n_segments = 2 * device->gaps.n + 2;
    kit_set *copies = &w->lists[COPIES], *comm = &w->lists[OWN_COMMUNICATION], both;
    kit_sets_of(analysis->run, device->view, class_on_primary, device, w->lists, 2);
    both = *comm;
    comm->v = mill_scratch(analysis->run, (both.n + copies->n) * sizeof *comm->v);
    comm->n = kit_intervals_subtract(both.v, both.n, copies->v, copies->n, comm->v);
}

/* What lies before the stream's first activity, between two of them, and after the last one. May
 * be empty. */
static segment idle_segment(const walk *w, size_t i) {
    kit_interval window = w->device->view->window;
    if (i == 0)
        return (segment){{window.start, w->stream.start}, MILL_NONE, OVERLAP_BEFORE_FIRST};
    if (i + 1 == w->n_segments)
        return (segment){{w->stream.end, window.end}, MILL_NONE, OVERLAP_AFTER_LAST};
    uint32_t number = (uint32_t)((i - 1) / 2);
    const kit_gap *gap = &w->device->gaps.v[number];
    if (i & 1)
        return (segment){{gap->start, gap->ready}, number, OVERLAP_NOT_LAUNCHED};
    return (segment){{gap->ready, gap->end}, number, gap->cause};
}

/* The first segment that goes on after `at`; false: none. Times never go back. */
static bool next_segment(walk *w, int64_t at, segment *ret_segment) {
    static const uint8_t reasons[] = {OVERLAP_MEMORY, OVERLAP_SAME_STREAM};
    bool found = false;
    *ret_segment = (segment){0};
    for (; w->idle < w->n_segments && !found; w->idle += !found) {
        *ret_segment = idle_segment(w, w->idle);
        found = ret_segment->time.end > at && ret_segment->time.start < ret_segment->time.end;
    }
    for (int l = 0; l < 2; l++) {
        const kit_set *list = &w->lists[l];
        while (w->at[l] < list->n && list->v[w->at[l]].end <= at)
            w->at[l]++;
        if (w->at[l] == list->n)
            continue;
        kit_interval time = list->v[w->at[l]];
        if (!found || time.start < ret_segment->time.start)
            *ret_segment = (segment){time, MILL_NONE, reasons[l]};
        found = true;
    }
    return found;
}

/* ---------------------------------------------------------------- exposed time, piece by piece */

/* The first piece of [at, end) in which nothing computes and one reason holds; false: none. */
static bool next_piece(walk *w, int64_t at, int64_t end, overlap_exposed *ret_piece) {
    const kit_set *comp = &w->device->view->sets[KIT_COMP];
    for (; w->comp < comp->n && comp->v[w->comp].start <= at; w->comp++)
        at = comp->v[w->comp].end > at ? comp->v[w->comp].end : at;
    if (w->comp < comp->n && comp->v[w->comp].start < end)
        end = comp->v[w->comp].start;
    if (at >= end) {
        w->comp -= w->comp > 0; /* it may hide what comes next, too */
        return false;
    }
    *ret_piece = (overlap_exposed){{at, end}, 0, MILL_NONE, OVERLAP_OTHER};
    if (w->device->primary == KIT_ALL_STREAMS)
        ret_piece->reason = OVERLAP_NO_COMPUTATION;

    segment now;
    if (!next_segment(w, at, &now))
        return true;
    bool inside = now.time.start <= at;
    if (inside) {
        ret_piece->reason = now.reason;
        ret_piece->gap = now.gap;
    }
    int64_t change = inside ? now.time.end : now.time.start;
    if (change < end)
        ret_piece->time.end = change;
    return true;
}

/* All pieces, in order; their number alone where out is NULL. */
static size_t split(walk w, overlap_exposed *out) {
    const kit_activity *v = w.device->view->v;
    size_t n = 0;
    for (uint32_t i = 0; i < w.device->n_comm; i++) {
        const overlap_comm *comm = &w.device->comm[i];
        int64_t at = comm->owned, end = v[comm->activity].end;
        overlap_exposed piece;
        while (next_piece(&w, at, end, &piece)) {
            piece.comm = i;
            if (out)
                out[n] = piece;
            n++;
            at = piece.time.end;
        }
    }
    return n;
}

mill_status overlap_find_reasons(overlap_analysis *analysis, overlap_device *device) {
    device->primary = kit_primary_stream(analysis->run, &analysis->all, device->view);
    if (device->primary != KIT_ALL_STREAMS) {
        mill_status status =
            kit_gaps_find(analysis->run, &analysis->all, device->view, device->primary,
                          &analysis->options->gaps, &device->gaps);
        if (status != MILL_OK)
            return status;
    }
    walk w;
    walk_init(&w, analysis, device);
    size_t n = split(w, NULL);
    device->exposed = mill_scratch(analysis->run, n * sizeof *device->exposed);
    device->n_exposed = split(w, device->exposed);
    for (size_t i = 0; i < n; i++) {
        const overlap_exposed *piece = &device->exposed[i];
        device->reasons[piece->reason] += piece->time.end - piece->time.start;
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- tables */

static const kit_column reason_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "reason", "reason", NULL},
    {MILL_KIND_TEXT, "meaning", "meaning", NULL},
    {MILL_KIND_NS, "time", "exposed", "|M ∖ C| while it holds"},
    {MILL_KIND_RATIO, "share", "share", "of the exposed communication"},
    {MILL_KIND_RATIO, "of_window", "of window", NULL},
    {0},
};

static int compare_reasons(const void *a, const void *b) {
    const int64_t *x = *(int64_t *const *)a, *y = *(int64_t *const *)b;
    return *x != *y ? (*x < *y) - (*x > *y) : (x > y) - (x < y);
}

static void tell_reasons_of(kit_table *t, const overlap_device *device) {
    const int64_t *order[OVERLAP_REASONS];
    for (int i = 0; i < OVERLAP_REASONS; i++)
        order[i] = &device->reasons[i];
    qsort(order, OVERLAP_REASONS, sizeof *order, compare_reasons);
    for (int i = 0; i<OVERLAP_REASONS && * order[i]> 0; i++) {
        size_t reason = (size_t)(order[i] - device->reasons);
        kit_table_row(t);
        kit_cell_int(t, device->view->id);
        kit_cell_text(t, overlap_reason_name((unsigned)reason));
        kit_cell_text(t, meanings[reason]);
        kit_cell_int(t, *order[i]);
        kit_cell_ratio(t, *order[i], overlap_time(device, KIT_IN_COMM & ~KIT_IN_COMP));
        kit_cell_ratio(t, *order[i], overlap_time(device, KIT_ALWAYS));
    }
}

/* Exposed time that comes at once: of one gap, or without a break. */
typedef struct stretch {
    const overlap_device *device;
    int64_t start, end, exposed, longest;
    uint32_t comm; /* that owns the longest piece of it */
    uint32_t gap;
    uint8_t reason;
} stretch;

static bool goes_on(const stretch *s, const overlap_exposed *piece) {
    return s->reason == piece->reason && s->gap == piece->gap &&
           (s->gap != MILL_NONE || s->end == piece->time.start);
}

static int compare_stretches(const void *a, const void *b) {
    const stretch *x = a, *y = b;
    if (x->exposed != y->exposed)
        return x->exposed > y->exposed ? -1 : 1;
    if (x->device != y->device)
        return x->device > y->device ? 1 : -1;
    return (x->start > y->start) - (x->start < y->start);
}

/* Those of the device that are among the longest. */
static void find_stretches(const overlap_device *device, kit_top *longest) {
    stretch now = {0};
    for (size_t i = 0; i < device->n_exposed; i++) {
        const overlap_exposed *piece = &device->exposed[i];
        int64_t length = piece->time.end - piece->time.start;
        if (now.device && !goes_on(&now, piece)) {
            kit_top_add(longest, &now);
            now.device = NULL;
        }
        if (!now.device)
            now = (stretch){
                .device = device,
                .start = piece->time.start,
                .gap = piece->gap,
                .reason = piece->reason,
            };
        now.end = piece->time.end;
        now.exposed += length;
        if (length > now.longest) {
            now.longest = length;
            now.comm = piece->comm;
        }
    }
    if (now.device)
        kit_top_add(longest, &now);
}

static const kit_column stretch_columns[] = {
    {MILL_KIND_NS, "start", "start", "From the window's start."},
    {MILL_KIND_ID, "device", "dev.", NULL},
    {MILL_KIND_NS, "exposed", "exposed", NULL},
    {MILL_KIND_NS, "gap", "gap", "The whole gap of the computing stream around it."},
    {MILL_KIND_TEXT, "reason", "reason", NULL},
    {MILL_KIND_TEXT, "kind", "kind", "Of the communication that is exposed."},
    {0},
};

static void tell_stretch(kit_table *t, const overlap_analysis *analysis, const stretch *s) {
    const overlap_device *device = s->device;
    const kit_activity *v = device->view->v, *comm = &v[device->comm[s->comm].activity];
    const kit_gap *gap = s->gap == MILL_NONE ? NULL : &device->gaps.v[s->gap];
    if (s->reason == KIT_GAP_WAIT_COMM)
        comm = &v[gap->blocker];
    kit_table_row(t);
    kit_cell_int(t, s->start - device->view->window.start);
    kit_cell_int(t, device->view->id);
    kit_cell_int(t, s->exposed);
    kit_cell_int(t, gap ? gap->end - gap->start : MILL_UNKNOWN);
    kit_cell_text(t, overlap_reason_name(s->reason));
    kit_cell_text(t, kit_kind_name(&analysis->all, comm->kind));
    if (!overlap_staged(analysis))
        return;
    kit_cell_text(t, kit_stage_name(&analysis->all, comm->place));
    kit_cell_int(t, overlap_layer_of(analysis, comm->place));
    kit_cell_text(t, gap ? kit_stage_name(&analysis->all, v[gap->next].place) : "");
}

static void tell_stretches(kit_report *r, const overlap_analysis *analysis) {
    kit_top longest;
    kit_top_init(&longest, (size_t)analysis->options->kernels, sizeof(stretch), compare_stretches);
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        find_stretches(&analysis->devices[i], &longest);
    size_t n = kit_top_sort(&longest);
    kit_table *t = kit_table_of(
        r, "exposed_gaps", "Where most is exposed",
        "Exposed communication that comes at once; of wait_comm, the kernel that is waited for.",
        stretch_columns);
    if (overlap_staged(analysis)) {
        kit_table_column(t, MILL_KIND_TEXT, "stage", "stage", NULL, "Of the communication.");
        kit_table_column(t, MILL_KIND_ID, "layer", "layer", NULL, NULL);
        kit_table_column(t, MILL_KIND_TEXT, "next", "before", NULL,
                         "Stage of what ends the gap; empty where the stream has none.");
    }
    for (size_t i = 0; i < n; i++)
        tell_stretch(t, analysis, &((const stretch *)longest.v)[i]);
    kit_top_finish(&longest);
}

void overlap_tell_reasons(kit_report *r, const overlap_analysis *analysis) {
    bool any = false;
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        any |= analysis->devices[i].n_exposed > 0;
    if (!any)
        return;
    kit_table *t = kit_table_of(
        r, "exposed_comm_by_reason", "Why communication is exposed",
        "By what the stream that computes most does meanwhile. Only wait_comm can be won by "
        "better overlap.",
        reason_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        tell_reasons_of(t, &analysis->devices[i]);
    tell_stretches(r, analysis);
}
