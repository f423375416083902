/* SPDX-License-Identifier: Apache-2.0 */
/* Communication by kind, stage, chunk and layer, kernel by kernel, and as waiting for other ranks.
 */
#include "overlap.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>
#include <tracemill/kit/top.h>

/* ---------------------------------------------------------------- by kind */

static const kit_column kind_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_NS, "busy", "busy", "|union|"},
    {MILL_KIND_NS, "exposed", "exposed", "owned time outside of C"},
    {MILL_KIND_RATIO, "hidden", "hidden",
     "Σ |a ∩ C| / Σ durations: counts twice where activities of the kind coincide"},
    {0},
};

static void tell_kind(kit_table *t, const overlap_device *device, const char *name,
                      const overlap_kind *kind) {
    kit_table_row(t);
    kit_cell_int(t, device->view->id);
    kit_cell_text(t, name);
    kit_cell_int(t, kind->tally.n);
    kit_cell_int(t, kind->tally.sum);
    kit_cell_int(t, kind->tally.busy);
    kit_cell_int(t, kind->exposed);
    kit_cell_ratio(t, kind->hidden, kind->tally.sum);
}

/* Kinds beyond `top` come as one row, so that the column of exposed time still adds up. */
void overlap_tell_kinds(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t = kit_table_of(
        r, "kinds", "Communication by kind",
        "Where communication coincides, the earliest started owns the time: exposed adds up to the "
        "device's exposed communication.",
        kind_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const overlap_device *device = &analysis->devices[i];
        size_t top = (size_t)analysis->options->top;
        overlap_kind rest = {0};
        for (size_t k = 0; k < device->n_kinds; k++) {
            const overlap_kind *kind = &device->kinds[k];
            if (k < top) {
                tell_kind(t, device, kind->name, kind);
                continue;
            }
            rest.tally.n += kind->tally.n;
            rest.tally.sum = kit_add(rest.tally.sum, kind->tally.sum);
            rest.hidden = kit_add(rest.hidden, kind->hidden);
            rest.exposed += kind->exposed;
        }
        rest.tally.busy = MILL_UNKNOWN;
        if (rest.tally.n > 0)
            tell_kind(t, device, "(others)", &rest);
    }
}

/* ---------------------------------------------------------------- by place */

static void add_part(overlap_part *to, const overlap_part *part) {
    to->n += part->n;
    to->sum = kit_add(to->sum, part->sum);
    to->hidden = kit_add(to->hidden, part->hidden);
    to->exposed += part->exposed;
}

static int compare_parts(const void *a, const void *b) {
    const overlap_part *x = a, *y = b;
    if (x->layer != y->layer) /* an unknown one, the smallest number, comes last */
        return (uint64_t)x->layer < (uint64_t)y->layer ? -1 : 1;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return strcmp(x->kind_name, y->kind_name);
}

/* Sorts, and joins those that do not differ in what they are told by. */
static size_t join_parts(overlap_part *parts, size_t n_parts) {
    size_t n = 0;
    qsort(parts, n_parts, sizeof *parts, compare_parts);
    for (size_t i = 0; i < n_parts; i++) {
        if (n > 0 && compare_parts(&parts[n - 1], &parts[i]) == 0)
            add_part(&parts[n - 1], &parts[i]);
        else
            parts[n++] = parts[i];
    }
    return n;
}

/* What communication belongs to, in as many bytes: those of equal keys are one part. */
typedef struct part_key {
    int64_t layer;
    uint32_t stage;
    uint16_t kind, chunk;
} part_key;
MILL_STATIC_ASSERT(sizeof(part_key) == 16, "interned by its bytes");

static overlap_part part_of(const overlap_analysis *analysis, const kit_intern *keys, uint32_t i) {
    part_key key; /* texts are not aligned */
    memcpy(&key, kit_intern_text(keys, i, NULL), sizeof key);
    return (overlap_part){
        .layer = key.layer,
        .stage = key.stage,
        .chunk = (uint8_t)key.chunk,
        .kind = key.kind,
        .kind_name = kit_kind_name(&analysis->all, key.kind),
    };
}

mill_status overlap_find_parts(overlap_analysis *analysis, overlap_device *device) {
    mill_status status = MILL_OK;
    kit_intern *keys = kit_intern_create();
    uint32_t *number = kit_alloc(device->n_comm, sizeof *number);
    for (size_t i = 0; i < device->n_comm && status == MILL_OK; i++) {
        const kit_activity *a = &device->view->v[device->comm[i].activity];
        part_key key = {
            .layer = overlap_layer_of(analysis, a->place),
            .stage = overlap_stage_of(analysis, a->place),
            .kind = a->kind,
            .chunk = (uint16_t)overlap_chunk_of(analysis, a->place),
        };
        if (overlap_cancelled(analysis, i))
            status = MILL_E_CANCELLED;
        number[i] = kit_intern_add(keys, (const char *)&key, sizeof key, 0);
    }
    device->n_parts = kit_intern_count(keys);
    device->parts = mill_scratch(analysis->run, device->n_parts * sizeof *device->parts);
    for (uint32_t i = 0; i < device->n_parts; i++)
        device->parts[i] = part_of(analysis, keys, i);
    for (size_t i = 0; i < device->n_comm && status == MILL_OK; i++) {
        const overlap_comm *comm = &device->comm[i];
        const kit_activity *a = &device->view->v[comm->activity];
        add_part(&device->parts[number[i]], &(overlap_part){.n = 1,
                                                            .sum = a->end - a->start,
                                                            .hidden = comm->hidden,
                                                            .exposed = comm->exposed});
    }
    kit_intern_destroy(keys);
    free(number);
    return status;
}

/* What the parts are told by. */
enum { BY_LAYER = 1, BY_STAGE = 2, BY_CHUNK = 4, BY_KIND = 8 };

/* Their parts, joined: only what they are told by is left. Returns how many there are. */
static size_t parts_by(const overlap_device *device, unsigned by, overlap_part *out) {
    for (size_t i = 0; i < device->n_parts; i++) {
        out[i] = device->parts[i];
        out[i].layer = by & BY_LAYER ? out[i].layer : MILL_UNKNOWN;
        out[i].stage = by & BY_STAGE ? out[i].stage : MILL_NONE;
        out[i].chunk = by & BY_CHUNK ? out[i].chunk : MILL_CHUNK_NONE;
        out[i].kind_name = by & BY_KIND ? out[i].kind_name : "";
    }
    return join_parts(out, device->n_parts);
}

static void tell_part(kit_table *t, const overlap_analysis *analysis, const overlap_device *device,
                      unsigned by, const overlap_part *part) {
    kit_table_row(t);
    kit_cell_int(t, device->view->id);
    if (by & BY_LAYER)
        kit_cell_int(t, part->layer);
    if (by & BY_KIND)
        kit_cell_text(t, part->kind_name);
    if (by & BY_STAGE)
        kit_cell_text(t, overlap_stage_name(analysis, part->stage));
    if (by & BY_CHUNK)
        kit_cell_text(t, overlap_chunk_name(part->chunk));
    kit_cell_int(t, part->n);
    kit_cell_int(t, part->sum);
    kit_cell_int(t, part->exposed);
    kit_cell_ratio(t, part->hidden, part->sum);
}

static void tell_parts_by(kit_report *r, const overlap_analysis *analysis, unsigned by,
                          const char *id, const char *label) {
    kit_table *t = kit_table_begin(r, id, label, NULL);
    kit_table_column(t, MILL_KIND_ID, "device", "device", NULL, NULL);
    if (by & BY_LAYER)
        kit_table_column(t, MILL_KIND_ID, "layer", "layer", NULL, NULL);
    if (by & BY_KIND)
        kit_table_column(t, MILL_KIND_TEXT, "kind", "kind", NULL, NULL);
    if (by & BY_STAGE)
        kit_table_column(t, MILL_KIND_TEXT, "stage", "stage", NULL, NULL);
    if (by & BY_CHUNK)
        kit_table_column(t, MILL_KIND_TEXT, "chunk", "chunk", NULL, NULL);
    kit_table_column(t, MILL_KIND_COUNT, "n", "n", NULL, "activities");
    kit_table_column(t, MILL_KIND_NS, "sum", "sum", NULL, "Σ durations");
    kit_table_column(t, MILL_KIND_NS, "exposed", "exposed", NULL, "owned time outside of C");
    kit_table_column(t, MILL_KIND_RATIO, "hidden", "hidden", NULL, "Σ |a ∩ C| / Σ durations");
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const overlap_device *device = &analysis->devices[i];
        overlap_part *parts = mill_scratch(analysis->run, device->n_parts * sizeof *parts);
        size_t n = parts_by(device, by, parts);
        for (size_t p = 0; p < n; p++)
            tell_part(t, analysis, device, by, &parts[p]);
    }
}

void overlap_tell_parts(kit_report *r, const overlap_analysis *analysis) {
    bool staged = false, chunked = false, layered = false;
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const overlap_device *device = &analysis->devices[i];
        staged |= device->staged && device->n_parts > 0;
        chunked |= device->chunked && device->n_parts > 0;
        layered |= device->layered && device->n_parts > 0;
    }
    if (chunked)
        tell_parts_by(r, analysis, BY_CHUNK, "comm_by_chunk", "Communication by chunk");
    if (staged) {
        tell_parts_by(r, analysis, BY_STAGE, "comm_by_stage", "Communication by stage");
        tell_parts_by(r, analysis, BY_KIND | BY_STAGE | BY_CHUNK, "comm_by_kind_and_stage",
                      "Communication by stage and kind");
    }
    if (layered && analysis->options->detail) {
        tell_parts_by(r, analysis, BY_LAYER, "comm_by_layer", "Communication by layer");
        tell_parts_by(r, analysis, BY_LAYER | BY_STAGE, "comm_by_layer_and_stage",
                      "Communication by layer and stage");
    }
}

/* ---------------------------------------------------------------- kernel by kernel */

typedef struct kernel {
    const overlap_device *device;
    const overlap_comm *comm;
} kernel;

/* The most exposed first, then in order of time. */
static int compare_kernels(const void *a, const void *b) {
    const kernel *x = a, *y = b;
    if (x->comm->exposed != y->comm->exposed)
        return x->comm->exposed > y->comm->exposed ? -1 : 1;
    if (x->device != y->device)
        return x->device > y->device ? 1 : -1;
    return (x->comm > y->comm) - (x->comm < y->comm);
}

static const kit_column kernel_columns[] = {
    {MILL_KIND_NS, "start", "start", "From the window's start."},
    {MILL_KIND_ID, "device", "dev.", NULL},
    {MILL_KIND_ID, "stream", "stream", NULL},
    {MILL_KIND_NS, "dur", "dur.", NULL},
    {MILL_KIND_NS, "exposed", "exposed", "owned time outside of C"},
    {MILL_KIND_NS, "hidden", "hidden", "|a ∩ C|"},
    {MILL_KIND_COUNT, "sms", "SMs", "min(blocks of its grid, SMs of the device)"},
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {0},
};

static void tell_kernel(kit_table *t, const overlap_analysis *analysis, const kernel *k) {
    const kit_device *view = k->device->view;
    const kit_activity *a = &view->v[k->comm->activity];
    int64_t sms = kit_activity_sms(&analysis->all, view, a);
    kit_table_row(t);
    kit_cell_int(t, a->start - view->window.start);
    kit_cell_int(t, view->id);
    kit_cell_int(t, analysis->streams[a->stream].view->id);
    kit_cell_int(t, a->end - a->start);
    kit_cell_int(t, k->comm->exposed);
    kit_cell_int(t, k->comm->hidden);
    kit_cell_int(t, sms > 0 ? sms : MILL_UNKNOWN);
    kit_cell_text(t, kit_kind_name(&analysis->all, a->kind));
    if (!overlap_staged(analysis))
        return;
    kit_cell_text(t, kit_stage_name(&analysis->all, a->place));
    kit_cell_int(t, overlap_layer_of(analysis, a->place));
}

void overlap_tell_kernels(kit_report *r, const overlap_analysis *analysis) {
    bool any = false;
    kit_top top;
    kit_top_init(&top, (size_t)analysis->options->kernels, sizeof(kernel), compare_kernels);
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        for (size_t c = 0; c < analysis->devices[i].n_comm; c++) {
            any = true;
            kit_top_add(&top, &(kernel){&analysis->devices[i], &analysis->devices[i].comm[c]});
        }
    if (!any)
        return;
    kit_table *t = kit_table_of(r, "comm_kernels", "Communication kernels",
                                "The most exposed first; where communication coincides, the "
                                "earliest started owns the time.",
                                kernel_columns);
    if (overlap_staged(analysis)) {
        kit_table_column(t, MILL_KIND_TEXT, "stage", "stage", NULL, NULL);
        kit_table_column(t, MILL_KIND_ID, "layer", "layer", NULL, NULL);
    }
    size_t n = kit_top_sort(&top);
    for (size_t i = 0; i < n; i++)
        tell_kernel(t, analysis, &((const kernel *)top.v)[i]);
    kit_top_finish(&top);
}

/* ---------------------------------------------------------------- waiting for other ranks */

static const kit_column notify_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_COUNT, "n", "n", "kernels"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_RATIO, "share", "share", "of the Σ durations of all communication"},
    {MILL_KIND_NS, "min", "shortest", NULL},
    {MILL_KIND_NS, "excess", "above it", "Σ (duration - shortest)"},
    {0},
};

/* What exceeds the shortest of them bounds the time that this rank waits for others. */
static void tell_notify_of(kit_table *t, const overlap_analysis *analysis,
                           const overlap_device *device) {
    int64_t n = 0, sum = 0, min = INT64_MAX;
    for (size_t i = 0; i < device->n_comm; i++) {
        const kit_activity *a = &device->view->v[device->comm[i].activity];
        if (!overlap_waits(analysis, a->kind))
            continue;
        n++;
        sum = kit_add(sum, a->end - a->start);
        min = a->end - a->start < min ? a->end - a->start : min;
    }
    if (n == 0)
        return;
    kit_table_row(t);
    kit_cell_int(t, device->view->id);
    kit_cell_int(t, n);
    kit_cell_int(t, sum);
    kit_cell_ratio(t, sum, device->classes[KIT_COMM].sum);
    kit_cell_int(t, min);
    kit_cell_int(t, sum == MILL_UNKNOWN ? sum : sum - n * min);
}

void overlap_tell_notify(kit_report *r, const overlap_analysis *analysis) {
    bool any = false;
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        for (size_t k = 0; k < analysis->devices[i].n_kinds; k++)
            any |= overlap_waits(analysis, analysis->devices[i].kinds[k].kind);
    if (!any)
        return;
    kit_table *t = kit_table_of(r, "notify_wait", "Communication that waits for other ranks",
                                "Kernels in which ranks wait for each other: what exceeds the "
                                "shortest of them is at most other ranks' delay, not transfer.",
                                notify_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        tell_notify_of(t, analysis, &analysis->devices[i]);
}
