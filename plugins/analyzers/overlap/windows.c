/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a device cut into parts: steps, and layers. */
#include "overlap.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define C KIT_IN_COMP
#define M KIT_IN_COMM

/* ---------------------------------------------------------------- steps */

/* Each class of each step is a group. */
static uint32_t step_group(const void *context, const kit_activity *a) {
    uint32_t step = overlap_step_of(context, a->place);
    return step == MILL_NONE ? MILL_NONE : KIT_CLASSES * step + a->cls;
}

/* Of each step's own activities: how many they are, and their span. */
static mill_status tally_steps(const overlap_analysis *analysis, const overlap_device *device,
                               kit_tally *tallies) {
    for (size_t i = 0; i < device->view->n; i++) {
        const kit_activity *a = &device->view->v[i];
        uint32_t step = overlap_step_of(analysis, a->place);
        if (overlap_cancelled(analysis, i))
            return MILL_E_CANCELLED;
        if (step != MILL_NONE)
            kit_tally_add(&tallies[step], a->start, a->end);
    }
    return MILL_OK;
}

/* Each step's activities alone: as if it had been selected. */
mill_status overlap_find_steps(overlap_analysis *analysis, overlap_device *device) {
    if (!overlap_several_steps(analysis))
        return MILL_OK;
    size_t n_steps = analysis->all.places->n_steps;
    kit_tally *tallies = mill_scratch(analysis->run, n_steps * sizeof *tallies);
    mill_status status = tally_steps(analysis, device, tallies);
    if (status != MILL_OK)
        return status;
    kit_set *sets = mill_scratch(analysis->run, KIT_CLASSES * n_steps * sizeof *sets);
    kit_sets_of(analysis->run, device->view, step_group, analysis, sets, KIT_CLASSES * n_steps);
    device->steps.v = mill_scratch(analysis->run, n_steps * sizeof *device->steps.v);
    for (uint32_t s = 0; s < n_steps; s++) {
        if (tallies[s].n == 0)
            continue;
        overlap_window *w = &device->steps.v[device->steps.n++];
        *w = (overlap_window){
            .step = s, .n = tallies[s].n, .time = {tallies[s].first, tallies[s].last}};
        kit_states(&sets[KIT_CLASSES * s], w->time.start, w->time.end, w->states);
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- layers */

/* Where a layer begins. */
typedef struct start {
    int64_t time, layer;
    uint32_t step;
} start;

/* Which stages begin a layer: those that the option names, else the first that runs. */
static mill_status choose_starts(overlap_analysis *analysis, const overlap_device *device,
                                 bool *starts) {
    const mill_attribution *places = analysis->all.places;
    const char *pattern = analysis->options->layer_start;
    if (pattern[0] == '\0') {
        const kit_activity *a = device->view->v;
        while (overlap_stage_of(analysis, a->place) == MILL_NONE ||
               overlap_layer_of(analysis, a->place) == MILL_UNKNOWN)
            a++; /* the device is layered, so there is one */
        starts[overlap_stage_of(analysis, a->place)] = true;
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
    const start *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

static int compare_starts(const void *a, const void *b) {
    const overlap_window *x = a, *y = b;
    if (x->time.start != y->time.start)
        return x->time.start < y->time.start ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->layer > y->layer) - (x->layer < y->layer);
}

/* The first start of each layer of each step, in the order of compare_layers. Returns how many
 * there are. */
static size_t find_starts(const overlap_analysis *analysis, const overlap_device *device,
                          const bool *starts, start **ret_starts) {
    bool *seen = kit_alloc(analysis->all.places->n_places, sizeof *seen);
    start *out = NULL;
    size_t n = 0, room = 0, kept = 0;
    for (size_t i = 0; i < device->view->n; i++) {
        const kit_activity *a = &device->view->v[i];
        uint32_t stage = overlap_stage_of(analysis, a->place);
        if (stage == MILL_NONE || !starts[stage] || seen[a->place] ||
            overlap_layer_of(analysis, a->place) == MILL_UNKNOWN)
            continue;
        seen[a->place] = true;
        if (n == room) {
            room = room ? 2 * room : 64;
            out = kit_realloc(out, room, sizeof *out);
        }
        out[n++] = (start){a->start, overlap_layer_of(analysis, a->place),
                           overlap_step_of(analysis, a->place)};
    }
    free(seen);
    if (n > 0)
        qsort(out, n, sizeof *out, compare_layers);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || out[kept - 1].step != out[i].step || out[kept - 1].layer != out[i].layer)
            out[kept++] = out[i];
    *ret_starts = out;
    return kept;
}

/* Waiting for other ranks goes to the layer that it belongs to, whenever it runs. */
static void add_notify(const overlap_analysis *analysis, const overlap_device *device,
                       overlap_windows *layers) {
    for (size_t i = 0; i < device->n_comm; i++) {
        const kit_activity *a = &device->view->v[device->comm[i].activity];
        if (!overlap_waits(analysis, a->kind))
            continue;
        uint32_t step = overlap_step_of(analysis, a->place);
        int64_t layer = overlap_layer_of(analysis, a->place);
        size_t low = 0, high = layers->n;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            const overlap_window *w = &layers->v[middle];
            if (w->step < step || (w->step == step && w->layer < layer))
                low = middle + 1;
            else
                high = middle;
        }
        if (low < layers->n && layers->v[low].step == step && layers->v[low].layer == layer)
            layers->v[low].notify = kit_add(layers->v[low].notify, a->end - a->start);
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
    start *list;
    overlap_windows *layers = &device->layers;
    layers->n = find_starts(analysis, device, starts, &list);
    layers->v = mill_scratch(analysis->run, (layers->n + 1) * sizeof *layers->v);
    for (size_t i = 0; i < layers->n; i++)
        layers->v[i] = (overlap_window){
            .time.start = list[i].time, .step = list[i].step, .layer = list[i].layer};
    free(list);
    if (layers->n == 0)
        return MILL_OK;
    add_notify(analysis, device, layers);
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
            kit_cell_int(t, overlap_step_number(analysis, w->step));
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
            kit_cell_int(t, overlap_step_number(analysis, w->step));
            kit_cell_int(t, w->n);
            tell_times(t, device, w);
        }
    }
}
