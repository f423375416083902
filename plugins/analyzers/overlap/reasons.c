/* SPDX-License-Identifier: Apache-2.0 */
/* Why communication is exposed: what the primary stream, the one that computes most, does while it
 * is. */
#include "overlap.h"

#include <stdio.h>
#include <stdlib.h>

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

typedef struct segments {
    segment *v;
    size_t n;
} segments;

static void add_segment(segments *s, int64_t start, int64_t end, overlap_reason reason,
                        uint32_t gap) {
    if (start < end)
        s->v[s->n++] = (segment){{start, end}, gap, (uint8_t)reason};
}

static int compare_segments(const void *a, const void *b) {
    int64_t x = ((const segment *)a)->time.start, y = ((const segment *)b)->time.start;
    return (x > y) - (x < y);
}

/* The union of the primary stream's activities of a class. */
static kit_set class_on_primary(const overlap_analysis *analysis, const overlap_device *device,
                                kit_class cls) {
    size_t n = (size_t)analysis->streams[device->primary].classes[cls].n;
    kit_set set = {mill_scratch(analysis->run, n * sizeof(kit_interval)), 0};
    for (size_t i = 0; i < device->view->n; i++) {
        const kit_activity *a = &device->view->v[i];
        if (a->stream == device->primary && a->cls == cls)
            set.v[set.n++] = (kit_interval){a->start, a->end};
    }
    set.n = kit_intervals_normalise(set.v, set.n);
    return set;
}

/* All of them, disjoint and in order. */
static segments primary_segments(const overlap_analysis *analysis, const overlap_device *device) {
    const kit_tally *stream = &analysis->streams[device->primary].all;
    kit_set mem = class_on_primary(analysis, device, KIT_MEM);
    kit_set comm = class_on_primary(analysis, device, KIT_COMM);
    kit_set alone = {mill_scratch(analysis->run, (comm.n + mem.n) * sizeof(kit_interval)), 0};
    alone.n = kit_intervals_subtract(comm.v, comm.n, mem.v, mem.n, alone.v);

    size_t most = 2 * device->gaps.n + mem.n + alone.n + 2;
    segments s = {mill_scratch(analysis->run, most * sizeof(segment)), 0};
    add_segment(&s, device->view->window.start, stream->first, OVERLAP_BEFORE_FIRST, MILL_NONE);
    add_segment(&s, stream->last, device->view->window.end, OVERLAP_AFTER_LAST, MILL_NONE);
    for (uint32_t i = 0; i < device->gaps.n; i++) {
        const kit_gap *gap = &device->gaps.v[i];
        add_segment(&s, gap->start, gap->ready, OVERLAP_NOT_LAUNCHED, i);
        add_segment(&s, gap->ready, gap->end, (overlap_reason)gap->cause, i);
    }
    for (size_t i = 0; i < mem.n; i++)
        add_segment(&s, mem.v[i].start, mem.v[i].end, OVERLAP_MEMORY, MILL_NONE);
    for (size_t i = 0; i < alone.n; i++)
        add_segment(&s, alone.v[i].start, alone.v[i].end, OVERLAP_SAME_STREAM, MILL_NONE);
    qsort(s.v, s.n, sizeof *s.v, compare_segments);
    return s;
}

/* ---------------------------------------------------------------- exposed time, piece by piece */

/* Walks through owned communication, computation and segments together. */
typedef struct walk {
    const overlap_device *device;
    const segments *segments;
    size_t comp, segment;
} walk;

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

    const segments *s = w->segments;
    while (w->segment < s->n && s->v[w->segment].time.end <= at)
        w->segment++;
    if (w->segment == s->n)
        return true;
    const segment *now = &s->v[w->segment];
    bool inside = now->time.start <= at;
    if (inside) {
        ret_piece->reason = now->reason;
        ret_piece->gap = now->gap;
    }
    int64_t change = inside ? now->time.end : now->time.start;
    if (change < end)
        ret_piece->time.end = change;
    return true;
}

/* All pieces, in order; their number alone where out is NULL. */
static size_t split(const overlap_device *device, const segments *s, overlap_exposed *out) {
    walk w = {.device = device, .segments = s};
    size_t n = 0;
    for (uint32_t i = 0; i < device->n_comm; i++) {
        kit_interval owned = device->comm[i].owned;
        overlap_exposed piece;
        while (next_piece(&w, owned.start, owned.end, &piece)) {
            piece.comm = i;
            if (out)
                out[n] = piece;
            n++;
            owned.start = piece.time.end;
        }
    }
    return n;
}

mill_status overlap_find_reasons(overlap_analysis *analysis, overlap_device *device) {
    device->primary = kit_primary_stream(analysis->run, &analysis->all, device->view);
    segments s = {0};
    if (device->primary != KIT_ALL_STREAMS) {
        mill_status status =
            kit_gaps_find(analysis->run, &analysis->all, device->view, device->primary,
                          &analysis->options->gaps, &device->gaps);
        if (status != MILL_OK)
            return status;
        s = primary_segments(analysis, device);
    }
    size_t n = split(device, &s, NULL);
    device->exposed = mill_scratch(analysis->run, n * sizeof *device->exposed);
    device->n_exposed = split(device, &s, device->exposed);
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

static size_t find_stretches(const overlap_device *device, stretch *out) {
    stretch *last = NULL;
    size_t n = 0;
    for (size_t i = 0; i < device->n_exposed; i++) {
        const overlap_exposed *piece = &device->exposed[i];
        int64_t length = piece->time.end - piece->time.start;
        if (!last || !goes_on(last, piece)) {
            last = &out[n++];
            *last = (stretch){
                .device = device,
                .start = piece->time.start,
                .gap = piece->gap,
                .reason = piece->reason,
            };
        }
        last->end = piece->time.end;
        last->exposed += length;
        if (length > last->longest) {
            last->longest = length;
            last->comm = piece->comm;
        }
    }
    return n;
}

static int compare_stretches(const void *a, const void *b) {
    const stretch *x = a, *y = b;
    if (x->exposed != y->exposed)
        return x->exposed > y->exposed ? -1 : 1;
    if (x->device != y->device)
        return x->device > y->device ? 1 : -1;
    return (x->start > y->start) - (x->start < y->start);
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
    kit_cell_int(t, kit_layer_of(&analysis->all, comm->place));
    kit_cell_text(t, gap ? kit_stage_name(&analysis->all, v[gap->next].place) : NULL);
}

static void tell_stretches(kit_report *r, const overlap_analysis *analysis, size_t most) {
    stretch *all = mill_scratch(analysis->run, most * sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        n += find_stretches(&analysis->devices[i], all + n);
    qsort(all, n, sizeof *all, compare_stretches);
    kit_table *t = kit_table_of(
        r, "exposed_gaps", "Where most is exposed",
        "Exposed communication that comes at once; of wait_comm, the kernel that is waited for.",
        stretch_columns);
    if (overlap_staged(analysis)) {
        kit_table_column(t, MILL_KIND_TEXT, "stage", "stage", NULL, "Of the communication.");
        kit_table_column(t, MILL_KIND_ID, "layer", "layer", NULL, NULL);
        kit_table_column(t, MILL_KIND_TEXT, "next", "before", NULL,
                         "Stage of what the computing stream runs next.");
    }
    for (size_t i = 0; i < n && i < (size_t)analysis->options->kernels; i++)
        tell_stretch(t, analysis, &all[i]);
}

void overlap_tell_reasons(kit_report *r, const overlap_analysis *analysis) {
    size_t pieces = 0;
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        pieces += analysis->devices[i].n_exposed;
    if (pieces == 0)
        return;
    kit_table *t = kit_table_of(
        r, "exposed_comm_by_reason", "Why communication is exposed",
        "By what the stream that computes most does meanwhile. Only wait_comm can be won by "
        "better overlap.",
        reason_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        tell_reasons_of(t, &analysis->devices[i]);
    tell_stretches(r, analysis, pieces);
}
