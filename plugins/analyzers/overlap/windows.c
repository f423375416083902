/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a device cut into parts: steps, and layers. */
#include "overlap.h"

#include <stdlib.h>
#include <string.h>

#define C KIT_IN_COMP
#define M KIT_IN_COMM

/* ---------------------------------------------------------------- steps */

/* The device's activities by the step that launched them: those of step s are
 * order[first[s]] … order[first[s + 1] - 1]; after the last step, those of none. */
typedef struct by_step {
    uint32_t *order;
    size_t *first;
} by_step;

static by_step sort_by_step(const overlap_analysis *analysis, const overlap_device *device) {
    size_t n_steps = analysis->all.places->n_steps, n = device->view->n;
    by_step b = {mill_scratch(analysis->run, n * sizeof(uint32_t)),
                 mill_scratch(analysis->run, (n_steps + 2) * sizeof(size_t))};
    size_t *next = mill_scratch(analysis->run, (n_steps + 1) * sizeof *next);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++) {
            uint32_t step = kit_step_of(&analysis->all, device->view->v[i].place);
            size_t at = step == MILL_NONE ? n_steps : step;
            if (pass == 0)
                b.first[at + 1]++;
            else
                b.order[next[at]++] = (uint32_t)i;
        }
        for (size_t s = 0; s <= n_steps && pass == 0; s++) {
            next[s] = b.first[s];
            b.first[s + 1] += b.first[s];
        }
    }
    return b;
}

/* The step's own activities alone: as if it had been selected. memory: for as many intervals. */
static overlap_window measure_step(const overlap_device *device, const uint32_t *order, size_t n,
                                   kit_interval *memory) {
    const kit_activity *v = device->view->v;
    overlap_window w = {.n = (int64_t)n, .time = {v[order[0]].start, v[order[0]].end}};
    kit_set sets[KIT_CLASSES];
    for (int c = 0; c < KIT_CLASSES; c++) {
        sets[c] = (kit_set){memory, 0};
        for (size_t i = 0; i < n; i++) {
            const kit_activity *a = &v[order[i]];
            w.time.end = a->end > w.time.end ? a->end : w.time.end;
            if (a->cls == c)
                sets[c].v[sets[c].n++] = (kit_interval){a->start, a->end};
        }
        memory += sets[c].n;
        sets[c].n = kit_intervals_normalise(sets[c].v, sets[c].n);
    }
    kit_states(sets, w.time.start, w.time.end, w.states);
    return w;
}

mill_status overlap_find_steps(overlap_analysis *analysis, overlap_device *device) {
    if (!overlap_several_steps(analysis))
        return MILL_OK;
    size_t n_steps = analysis->all.places->n_steps;
    by_step b = sort_by_step(analysis, device);
    kit_interval *memory = mill_scratch(analysis->run, device->view->n * sizeof *memory);
    device->steps.v = mill_scratch(analysis->run, n_steps * sizeof *device->steps.v);
    for (uint32_t s = 0; s < n_steps; s++) {
        size_t n = b.first[s + 1] - b.first[s];
        if (mill_cancelled(analysis->run))
            return MILL_E_CANCELLED;
        if (n == 0)
            continue;
        overlap_window *w = &device->steps.v[device->steps.n++];
        *w = measure_step(device, b.order + b.first[s], n, memory);
        w->step = s;
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- layers */

/* Which stages begin a layer: those that the option names, else the first that runs. */
static mill_status choose_starts(overlap_analysis *analysis, const overlap_device *device,
                                 bool *starts) {
    const mill_attribution *places = analysis->all.places;
    const char *pattern = analysis->options->layer_start;
    if (pattern[0] == '\0') {
        const kit_activity *a = device->view->v;
        while (kit_stage_of(&analysis->all, a->place) == MILL_NONE ||
               kit_layer_of(&analysis->all, a->place) == MILL_UNKNOWN)
            a++; /* the device is layered, so there is one */
        starts[kit_stage_of(&analysis->all, a->place)] = true;
        return MILL_OK;
    }
    mill_regex *regex;
    mill_status status = analysis->run->host->regex_new(analysis->run, pattern, 0, &regex);
    for (size_t s = 0; s < places->n_stages && status == MILL_OK; s++)
        starts[s] = analysis->run->host->regex_match(regex, places->stages[s],
                                                     strlen(places->stages[s]), NULL, 0);
    return status;
}

static int compare_layers(const void *a, const void *b) {
    const overlap_window *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return (x->time.start > y->time.start) - (x->time.start < y->time.start);
}

static int compare_starts(const void *a, const void *b) {
    const overlap_window *x = a, *y = b;
    if (x->time.start != y->time.start)
        return x->time.start < y->time.start ? -1 : 1;
    return compare_layers(a, b);
}

static bool same_layer(const overlap_window *a, const overlap_window *b) {
    return a->step == b->step && a->layer == b->layer;
}

/* A window for each step and layer, with its start, in the order of compare_layers. */
static size_t find_starts(const overlap_analysis *analysis, const overlap_device *device,
                          const bool *starts, overlap_window *out) {
    bool *seen = mill_scratch(analysis->run, analysis->all.places->n_places);
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < device->view->n; i++) {
        const kit_activity *a = &device->view->v[i];
        uint32_t stage = kit_stage_of(&analysis->all, a->place);
        if (stage == MILL_NONE || !starts[stage] || seen[a->place] ||
            kit_layer_of(&analysis->all, a->place) == MILL_UNKNOWN)
            continue;
        seen[a->place] = true;
        out[n++] = (overlap_window){
            .time.start = a->start,
            .step = kit_step_of(&analysis->all, a->place),
            .layer = kit_layer_of(&analysis->all, a->place),
        };
    }
    qsort(out, n, sizeof *out, compare_layers);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !same_layer(&out[kept - 1], &out[i]))
            out[kept++] = out[i];
    return kept;
}

/* Waiting for other ranks goes to the layer that it belongs to, whenever it runs. */
static void add_notify(const kit_waits *waits, overlap_windows *layers) {
    for (size_t i = 0, at = 0; i < layers->n; i++) { /* both are by step and layer */
        overlap_window *w = &layers->v[i];
        while (at < waits->n_layers &&
               (waits->layers[at].step < w->step ||
                (waits->layers[at].step == w->step && waits->layers[at].layer < w->layer)))
            at++;
        if (at < waits->n_layers && waits->layers[at].step == w->step &&
            waits->layers[at].layer == w->layer)
            w->notify = waits->layers[at].sum;
    }
}

/* Each window lasts until the next one starts; what comes before the first is one more. */
static void tile(const overlap_device *device, overlap_windows *layers) {
    kit_interval all = device->view->window;
    qsort(layers->v, layers->n, sizeof *layers->v, compare_starts);
    if (layers->v[0].time.start > all.start) {
        memmove(layers->v + 1, layers->v, layers->n++ * sizeof *layers->v);
        layers->v[0] =
            (overlap_window){.time.start = all.start, .step = MILL_NONE, .layer = MILL_UNKNOWN};
    }
    for (size_t i = 0; i < layers->n; i++) {
        overlap_window *w = &layers->v[i];
        w->time.end = i + 1 < layers->n ? w[1].time.start : all.end;
        kit_states(device->view->sets, w->time.start, w->time.end, w->states);
    }
}

mill_status overlap_find_layers(overlap_analysis *analysis, overlap_device *device) {
    const mill_attribution *places = analysis->all.places;
    if (!device->layered)
        return MILL_OK;
    bool *starts = mill_scratch(analysis->run, places->n_stages);
    mill_status status = choose_starts(analysis, device, starts);
    if (status != MILL_OK)
        return status;
    overlap_windows *layers = &device->layers;
    layers->v = mill_scratch(analysis->run, (places->n_places + 1) * sizeof *layers->v);
    layers->n = find_starts(analysis, device, starts, layers->v);
    if (layers->n == 0)
        return MILL_OK;
    add_notify(&device->waits, layers);
    tile(device, layers);
    return MILL_OK;
}

/* ---------------------------------------------------------------- tables */

static void tell_times(kit_table *t, const overlap_device *device, const overlap_window *w) {
    kit_cell_int(t, w->time.start - device->view->window.start);
    kit_cell_int(t, w->time.end - w->time.start);
    kit_cell_int(t, kit_time_in(w->states, C));
    kit_cell_int(t, kit_time_in(w->states, M));
    kit_cell_int(t, kit_time_in(w->states, M & ~C));
    kit_cell_ratio(t, kit_time_in(w->states, C & M), kit_time_in(w->states, M));
}

static void add_time_columns(kit_table *t) {
    kit_table_column(t, MILL_KIND_NS, "start", "start", NULL, "From the device's window's start.");
    kit_table_column(t, MILL_KIND_NS, "T", "window", NULL, NULL);
    kit_table_column(t, MILL_KIND_NS, "comp", "comp.", NULL, "|C|");
    kit_table_column(t, MILL_KIND_NS, "comm", "comm.", NULL, "|M|");
    kit_table_column(t, MILL_KIND_NS, "exposed_comm", "exposed", NULL, "|M ∖ C|");
    kit_table_column(t, MILL_KIND_RATIO, "overlap_over_comm", "hidden", NULL, "|C ∩ M| / |M|");
}

void overlap_tell_layers(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t = NULL;
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const overlap_device *device = &analysis->devices[i];
        for (size_t k = 0; k < device->layers.n; k++) {
            const overlap_window *w = &device->layers.v[k];
            if (!t) {
                t = kit_table_begin(r, "layers", "Layers",
                                    "From the start of a layer to that of the next one.");
                kit_table_column(t, MILL_KIND_ID, "device", "device", NULL, NULL);
                kit_table_column(t, MILL_KIND_ID, "step", "step", NULL, NULL);
                kit_table_column(t, MILL_KIND_ID, "layer", "layer", NULL, NULL);
                add_time_columns(t);
                kit_table_column(t, MILL_KIND_NS, "notify_wait", "notify", NULL,
                                 "Σ durations of the layer's kernels that wait for other ranks.");
            }
            kit_table_row(t);
            kit_cell_int(t, device->view->id);
            kit_cell_int(t, kit_step_number(&analysis->all, w->step));
            kit_cell_int(t, w->layer);
            tell_times(t, device, w);
            kit_cell_int(t, w->notify);
        }
    }
}

void overlap_tell_steps(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t = NULL;
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const overlap_device *device = &analysis->devices[i];
        for (size_t k = 0; k < device->steps.n && device->steps.n > 1; k++) {
            const overlap_window *w = &device->steps.v[k];
            if (!t) {
                t = kit_table_begin(r, "steps", "Steps",
                                    "The activities that each step launched, and their span.");
                kit_table_column(t, MILL_KIND_ID, "device", "device", NULL, NULL);
                kit_table_column(t, MILL_KIND_ID, "step", "step", NULL, NULL);
                kit_table_column(t, MILL_KIND_COUNT, "n", "n", NULL, "activities");
                add_time_columns(t);
            }
            kit_table_row(t);
            kit_cell_int(t, device->view->id);
            kit_cell_int(t, kit_step_number(&analysis->all, w->step));
            kit_cell_int(t, w->n);
            tell_times(t, device, w);
        }
    }
}
