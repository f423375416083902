/* SPDX-License-Identifier: Apache-2.0 */
/* From the activities selected to the states of each device, its streams and classes, and to what
 * is hidden and exposed of each communication activity. */
#include "overlap.h"

#include <stdlib.h>
#include <string.h>

/* Longest first; MILL_UNKNOWN stands for a sum too large to tell, and comes before all. */
static int compare_longest(int64_t a, const char *name_a, int64_t b, const char *name_b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return x != y ? (x < y) - (x > y) : strcmp(name_a, name_b);
}

static int compare_kinds(const void *a, const void *b) {
    const overlap_kind *x = a, *y = b;
    return compare_longest(x->tally.sum, x->name, y->tally.sum, y->name);
}

static int compare_names(const void *a, const void *b) {
    const overlap_name *x = a, *y = b;
    return compare_longest(x->sum, x->text, y->sum, y->text);
}

/* Counts, sums and unions of the device, its streams and its classes. */
static mill_status tally(overlap_analysis *analysis, overlap_device *device) {
    for (size_t i = 0; i < device->view->n; i++) {
        if (overlap_cancelled(analysis, i))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->view->v[i];
        overlap_stream *stream = &analysis->streams[a->stream];
        kit_tally_add(&device->all, a->start, a->end);
        kit_tally_add(&device->classes[a->cls], a->start, a->end);
        kit_tally_add(&stream->all, a->start, a->end);
        kit_tally_add(&stream->classes[a->cls], a->start, a->end);
    }
    return MILL_OK;
}

static void cover(overlap_analysis *analysis, const kit_set *set, kit_cover *ret_cover) {
    int64_t *before = mill_scratch(analysis->run, (set->n + 1) * sizeof *before);
    kit_cover_init(ret_cover, set, before);
}

static void measure_states(overlap_analysis *analysis, overlap_device *device) {
    const kit_device *view = device->view;
    kit_states(view->sets, view->window.start, view->window.end, device->states);
    cover(analysis, &view->sets[KIT_COMP], &device->comp);
    cover(analysis, &view->sets[KIT_COMM], &device->communication);
}

/* How much of each communication activity is hidden and exposed. */
static mill_status share(overlap_analysis *analysis, overlap_device *device) {
    kit_cover_cursor whole = {&device->comp, 0}, hiding = {&device->comp, 0};
    kit_tally all = {0};
    size_t n = (size_t)device->classes[KIT_COMM].n;
    device->comm = mill_scratch(analysis->run, n * sizeof *device->comm);
    for (size_t i = 0; i < device->view->n; i++) {
        if (overlap_cancelled(analysis, i))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->view->v[i];
        if (a->cls != KIT_COMM)
            continue;
        overlap_comm *comm = &device->comm[device->n_comm++];
        kit_interval owned = kit_tally_add(&all, a->start, a->end);
        comm->activity = (uint32_t)i;
        comm->owned = owned.start;
        comm->hidden = kit_covered_next(&whole, (kit_interval){a->start, a->end});
        comm->exposed = owned.end - owned.start - kit_covered_next(&hiding, owned);
    }
    return MILL_OK;
}

/* Every kind that the trace knows, then the two that are none. */
static size_t kind_index(const overlap_analysis *analysis, uint16_t kind) {
    size_t n = analysis->all.trace->kinds.n;
    return kind < n ? kind : kind == KIT_KIND_STREAM ? n + 1 : n;
}

static void share_kinds(overlap_analysis *analysis, overlap_device *device) {
    size_t room = analysis->all.trace->kinds.n + 2;
    overlap_kind *kinds = mill_scratch(analysis->run, room * sizeof *kinds);
    for (size_t i = 0; i < device->n_comm; i++) {
        const overlap_comm *comm = &device->comm[i];
        const kit_activity *a = &device->view->v[comm->activity];
        overlap_kind *kind = &kinds[kind_index(analysis, a->kind)];
        kind->kind = a->kind;
        kind->name = kit_kind_name(&analysis->all, a->kind);
        kit_tally_add(&kind->tally, a->start, a->end);
        kind->hidden = kit_add(kind->hidden, comm->hidden);
        kind->exposed += comm->exposed;
    }
    device->kinds = kinds;
    for (size_t k = 0; k < room; k++)
        if (kinds[k].tally.n > 0)
            kinds[device->n_kinds++] = kinds[k];
    qsort(kinds, device->n_kinds, sizeof *kinds, compare_kinds);
}

/* All that is found beyond that, in this order: places tell what there is to tell by. */
static const struct {
    mill_status (*find)(overlap_analysis *analysis, overlap_device *device);
    bool by_place; /* needs an attribution */
} finders[] = {
    {overlap_find_places, true}, {overlap_find_reasons, false},  {overlap_find_parts, true},
    {overlap_find_steps, true},  {overlap_find_layers, true},    {overlap_find_stages, true},
    {overlap_find_sm, false},    {overlap_find_together, false},
};

static mill_status measure_device(overlap_analysis *analysis, overlap_device *device) {
    mill_status status = tally(analysis, device);
    if (status != MILL_OK)
        return status;
    measure_states(analysis, device);
    status = share(analysis, device);
    if (status != MILL_OK)
        return status;
    share_kinds(analysis, device);
    for (size_t i = 0; i < sizeof finders / sizeof *finders && status == MILL_OK; i++)
        if (analysis->all.places || !finders[i].by_place)
            status = finders[i].find(analysis, device);
    kit_sms_finish(&device->sm);
    return status;
}

/* ---------------------------------------------------------------- names */

/* What the kernels of a device without communication are called. */
static mill_status add_names(overlap_analysis *analysis, const kit_device *view) {
    const mill_trace *trace = analysis->all.trace;
    for (size_t i = 0; i < view->n; i++) {
        if (overlap_cancelled(analysis, i))
            return MILL_E_CANCELLED;
        const kit_activity *a = &view->v[i];
        if (a->cat != MILL_GPU_KERNEL || a->cls == KIT_MEM)
            continue;
        overlap_name *name = &analysis->unmatched[mill_u32(trace, &trace->gpu.name, a->row)];
        name->n++;
        name->sum = kit_add(name->sum, a->end - a->start);
    }
    return MILL_OK;
}

static mill_status list_unmatched(overlap_analysis *analysis) {
    const mill_trace *trace = analysis->all.trace;
    uint64_t n = trace->names.texts.n;
    mill_status status = MILL_OK;
    for (size_t i = 0; i < analysis->all.n_devices && status == MILL_OK; i++) {
        if (!overlap_no_communication(&analysis->devices[i]))
            continue;
        if (!analysis->unmatched)
            analysis->unmatched = mill_scratch(analysis->run, n * sizeof *analysis->unmatched);
        status = add_names(analysis, &analysis->all.devices[i]);
    }
    for (uint32_t i = 0; i < n && analysis->unmatched; i++) {
        overlap_name name = analysis->unmatched[i];
        name.text = mill_name(trace, i);
        if (name.n > 0)
            analysis->unmatched[analysis->n_unmatched++] = name;
    }
    if (analysis->n_unmatched > 0)
        qsort(analysis->unmatched, analysis->n_unmatched, sizeof(overlap_name), compare_names);
    return status;
}

/* ---------------------------------------------------------------- all of it */

static void set_up(overlap_analysis *analysis) {
    const kit_activities *all = &analysis->all;
    analysis->devices = mill_scratch(analysis->run, all->n_devices * sizeof(overlap_device));
    analysis->streams = mill_scratch(analysis->run, all->n_streams * sizeof(overlap_stream));
    analysis->waiting = kit_kinds_named(analysis->run, all, &analysis->options->notify);
    for (size_t i = 0; i < all->n_devices; i++)
        analysis->devices[i].view = &all->devices[i];
    for (size_t i = all->n_streams; i-- > 0;) {
        overlap_device *device = &analysis->devices[all->streams[i].device];
        analysis->streams[i].view = &all->streams[i];
        analysis->streams[i].device = device;
        device->first_stream = i;
        device->n_streams++;
    }
}

mill_status overlap_measure(overlap_analysis *analysis) {
    set_up(analysis);
    mill_status status = MILL_OK;
    for (size_t i = 0; i < analysis->all.n_devices && status == MILL_OK; i++)
        status = measure_device(analysis, &analysis->devices[i]);
    if (status == MILL_OK)
        status = list_unmatched(analysis);
    return status;
}
