/* SPDX-License-Identifier: Apache-2.0 */
/* How long the stages of each layer and step take on the CPU and on the device. */
#include "overlap.h"

#include <stdlib.h>
#include <tracemill/kit/arena.h>

/* A place that has a stage, to be sorted: places of one cell stand together, and in it those of
 * one annotation. */
typedef struct place {
    uint32_t step, stage;
    int64_t layer;
    uint32_t annotation, id;
} place;

static int compare_cells(const place *x, const place *y) {
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->layer != y->layer) /* an unknown one, the smallest number, comes last */
        return (uint64_t)x->layer < (uint64_t)y->layer ? -1 : 1;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

static int compare_places(const void *a, const void *b) {
    const place *x = a, *y = b;
    int order = compare_cells(x, y);
    if (order != 0)
        return order;
    if (x->annotation != y->annotation)
        return x->annotation < y->annotation ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Those of the device's activities. Returns how many there are. */
static size_t sort_places(const overlap_analysis *analysis, const overlap_device *device,
                          place **ret_places) {
    const mill_attribution *places = analysis->all.places;
    bool *used = kit_alloc(places->n_places, sizeof *used);
    size_t n = 0, used_n = 0;
    for (size_t i = 0; i < device->view->n; i++) {
        uint32_t p = device->view->v[i].place;
        if (p == MILL_NONE || used[p] || places->stage[p] == MILL_NONE)
            continue;
        used[p] = true;
        used_n++;
    }
    place *out = kit_alloc(used_n, sizeof *out);
    for (uint32_t p = 0; p < places->n_places; p++)
        if (used[p])
            out[n++] = (place){.step = places->step[p],
                               .stage = places->stage[p],
                               .layer = places->layer[p],
                               .annotation = places->annotation[p],
                               .id = p};
    free(used);
    qsort(out, n, sizeof *out, compare_places);
    *ret_places = out;
    return n;
}

/* Adds an annotation of the cell: its time counts once, however many places have it. */
static void add_annotation(const mill_trace *trace, overlap_cell *cell, uint32_t annotation) {
    int64_t start = mill_i64(trace, &trace->cpu.start, annotation);
    int64_t dur = mill_i64(trace, &trace->cpu.dur, annotation);
    if (cell->cpu_start == MILL_UNKNOWN) {
        cell->cpu_start = start;
        cell->cpu_time = dur;
        return;
    }
    cell->cpu_start = start < cell->cpu_start ? start : cell->cpu_start;
    cell->cpu_time = kit_add(cell->cpu_time, dur);
}

/* The cells of the device, and which one each place belongs to. */
static void make_cells(overlap_analysis *analysis, overlap_device *device, uint32_t *cell_of) {
    place *places;
    size_t n = sort_places(analysis, device, &places), n_cells = 0;
    for (size_t i = 0; i < n; i++)
        n_cells += i == 0 || compare_cells(&places[i - 1], &places[i]) != 0;
    device->cells = mill_scratch(analysis->run, n_cells * sizeof *device->cells);
    for (size_t i = 0; i < n; i++) {
        const place *p = &places[i];
        bool again = i > 0 && compare_cells(p - 1, p) == 0;
        if (!again)
            device->cells[device->n_cells++] = (overlap_cell){
                .step = p->step,
                .stage = p->stage,
                .layer = p->layer,
                .cpu_start = MILL_UNKNOWN,
                .cpu_time = MILL_UNKNOWN,
            };
        cell_of[p->id] = (uint32_t)device->n_cells - 1;
        if (p->annotation != MILL_NONE && !(again && p[-1].annotation == p->annotation))
            add_annotation(analysis->all.trace, &device->cells[device->n_cells - 1], p->annotation);
    }
    free(places);
}

static void add_activity(overlap_cell *cell, const kit_activity *a, kit_cover_cursor *comm) {
    kit_tally_add(&cell->all, a->start, a->end);
    if (a->cls == KIT_COMM)
        kit_tally_add(&cell->comm, a->start, a->end);
    if (a->cls == KIT_COMP)
        cell->under_comm += kit_covered_next(comm, kit_tally_add(&cell->comp, a->start, a->end));
}

mill_status overlap_find_stages(overlap_analysis *analysis, overlap_device *device) {
    if (!device->staged)
        return MILL_OK;
    size_t n_places = analysis->all.places->n_places;
    uint32_t *cell_of = kit_alloc(n_places, sizeof *cell_of);
    kit_cover_cursor comm = {&device->communication, 0};
    mill_status status = MILL_OK;
    make_cells(analysis, device, cell_of);
    for (size_t i = 0; i < device->view->n && status == MILL_OK; i++) {
        const kit_activity *a = &device->view->v[i];
        if (overlap_cancelled(analysis, i))
            status = MILL_E_CANCELLED;
        if (overlap_stage_of(analysis, a->place) != MILL_NONE)
            add_activity(&device->cells[cell_of[a->place]], a, &comm);
    }
    free(cell_of);
    return status;
}

/* ---------------------------------------------------------------- tables */

static const kit_column total_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "stage", "stage", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "cpu_time", "on CPU", "Σ durations of its annotations"},
    {MILL_KIND_NS, "span", "span", "Σ over layers and steps, first start to last end"},
    {MILL_KIND_NS, "busy", "busy", "Σ over layers and steps of |union|"},
    {MILL_KIND_NS, "comp", "comp.", "the same of computation"},
    {MILL_KIND_NS, "comm", "comm.", "the same of communication"},
    {0},
};

typedef struct total {
    int64_t n, cpu_time, span, busy, comp, comm;
} total;

static void add_cell(total *t, const overlap_cell *cell) {
    t->cpu_time = t->n > 0 ? kit_add(t->cpu_time, cell->cpu_time) : cell->cpu_time;
    t->n += cell->all.n;
    t->span = kit_add(t->span, cell->all.last - cell->all.first);
    t->busy = kit_add(t->busy, cell->all.busy);
    t->comp = kit_add(t->comp, cell->comp.busy);
    t->comm = kit_add(t->comm, cell->comm.busy);
}

static void tell_totals(kit_table *t, const overlap_analysis *analysis,
                        const overlap_device *device) {
    size_t n = analysis->all.places->n_stages;
    total *totals = mill_scratch(analysis->run, n * sizeof *totals);
    for (size_t i = 0; i < device->n_cells; i++)
        add_cell(&totals[device->cells[i].stage], &device->cells[i]);
    for (uint32_t s = 0; s < n; s++) {
        if (totals[s].n == 0)
            continue;
        kit_table_row(t);
        kit_cell_int(t, device->view->id);
        kit_cell_text(t, overlap_stage_name(analysis, s));
        kit_cell_int(t, totals[s].n);
        kit_cell_int(t, totals[s].cpu_time);
        kit_cell_int(t, totals[s].span);
        kit_cell_int(t, totals[s].busy);
        kit_cell_int(t, totals[s].comp);
        kit_cell_int(t, totals[s].comm);
    }
}

static const kit_column stage_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_ID, "step", "step", NULL},
    {MILL_KIND_ID, "layer", "layer", NULL},
    {MILL_KIND_TEXT, "stage", "stage", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "cpu_start", "CPU start", "From the device's window's start."},
    {MILL_KIND_NS, "cpu_time", "on CPU", "Σ durations of its annotations"},
    {MILL_KIND_NS, "start", "start", "First start, from the device's window's."},
    {MILL_KIND_NS, "span", "span", "First start to last end."},
    {MILL_KIND_NS, "busy", "busy", "|union|"},
    {MILL_KIND_NS, "comp", "comp.", "|union| of computation"},
    {MILL_KIND_NS, "comm", "comm.", "|union| of communication"},
    {MILL_KIND_NS, "comp_sum", "Σ comp.", "Σ durations of computation"},
    {MILL_KIND_NS, "comp_under_comm", "under comm.", "|its computation ∩ M|"},
    {0},
};

static void tell_cell(kit_table *t, const overlap_analysis *analysis, const overlap_device *device,
                      const overlap_cell *cell) {
    int64_t zero = device->view->window.start;
    kit_table_row(t);
    kit_cell_int(t, device->view->id);
    kit_cell_int(t, overlap_step_number(analysis, cell->step));
    kit_cell_int(t, cell->layer);
    kit_cell_text(t, overlap_stage_name(analysis, cell->stage));
    kit_cell_int(t, cell->all.n);
    kit_cell_int(t, cell->cpu_start == MILL_UNKNOWN ? MILL_UNKNOWN : cell->cpu_start - zero);
    kit_cell_int(t, cell->cpu_time);
    kit_cell_int(t, cell->all.first - zero);
    kit_cell_int(t, cell->all.last - cell->all.first);
    kit_cell_int(t, cell->all.busy);
    kit_cell_int(t, cell->comp.busy);
    kit_cell_int(t, cell->comm.busy);
    kit_cell_int(t, cell->comp.sum);
    kit_cell_int(t, cell->under_comm);
}

void overlap_tell_stages(kit_report *r, const overlap_analysis *analysis) {
    size_t n = 0;
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        n += analysis->devices[i].n_cells;
    if (n == 0)
        return;
    kit_table *t = kit_table_of(r, "stage_totals", "Stages",
                                "Measured in each layer and step, and summed.", total_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        if (analysis->devices[i].n_cells > 0)
            tell_totals(t, analysis, &analysis->devices[i]);
    if (!analysis->options->detail)
        return;
    t = kit_table_of(r, "stages", "Stages of each layer", NULL, stage_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        for (size_t k = 0; k < analysis->devices[i].n_cells; k++)
            tell_cell(t, analysis, &analysis->devices[i], &analysis->devices[i].cells[k]);
}
