/* SPDX-License-Identifier: Apache-2.0 */
/* From means to F, B, Bi, W and F&B on each basis, and to the value to post. */
#include "chunks.h"

#include <math.h>
#include <string.h>

#define MILLION 1000000

const char *const chunks_basis_names[MILL_BASES] = {"compute_only", "serial_transfer",
                                                    "serial_all"};
const char *const chunks_method_names[MILL_METHODS] = {"none",     "annotation", "rule",
                                                       "autograd", "sequence",   "pipeline"};

/* The scale counts in millionths, so that no time passes through floating point. */
static int64_t scaled(int64_t time, double scale) {
    int64_t millionths = llround(scale * MILLION);
    if (time == MILL_UNKNOWN)
        return MILL_UNKNOWN;
    return time / MILLION * millionths + (time % MILLION * millionths + MILLION / 2) / MILLION;
}

static int64_t duration(const chunks_analysis *a, const chunks_work *work, mill_basis basis) {
    int64_t comp = scaled(work->comp, a->options->sm_scale);
    if (basis == MILL_BASIS_COMPUTE)
        return comp;
    return kit_add(comp, basis == MILL_BASIS_TRANSFER ? work->transfer : work->comm);
}

/* W that the profile does not tell is the user's to give; it is never guessed. */
static mill_status fill_cost(mill_run *run, chunks_analysis *a, chunks_device *d,
                             mill_basis basis) {
    mill_chunk_cost *cost = &d->costs[basis];
    int64_t backward = duration(a, &d->mean[MILL_CHUNK_BACKWARD], basis);
    cost->forward = duration(a, &d->mean[MILL_CHUNK_FORWARD], basis);
    cost->pair = d->pair;
    cost->weight = duration(a, &d->mean[MILL_CHUNK_WEIGHT], basis);
    cost->input = cost->backward = MILL_UNKNOWN;
    if (d->n[MILL_CHUNK_WEIGHT] > 0) {
        cost->input = backward;
        cost->backward = kit_add(backward, cost->weight);
        return MILL_OK;
    }
    cost->backward = backward;
    if (!a->weight_given || backward == MILL_UNKNOWN)
        return MILL_OK;
    cost->weight = a->options->weight;
    cost->input = backward - cost->weight;
    a->weight_used = true;
    char whole[KIT_NUMBER_MAX];
    if (cost->input < 0)
        return mill_fail(run, MILL_E_CONFIG,
                         "device %s: `weight` is longer than the whole backward chunk, which takes "
                         "%s µs of %s",
                         d->device->number, kit_format_us(whole, backward, KIT_GROUP),
                         chunks_basis_names[basis]);
    return MILL_OK;
}

mill_status chunks_cost(mill_run *run, chunks_analysis *a) {
    a->weight_given = mill_option_given(run, "weight");
    for (size_t i = 0; i < a->all.n_devices; i++)
        for (int basis = 0; basis < MILL_BASES; basis++) {
            mill_status status = fill_cost(run, a, &a->devices[i], (mill_basis)basis);
            if (status != MILL_OK)
                return status;
        }
    return MILL_OK;
}

const char *chunks_method(mill_run *run, const chunks_analysis *a) {
    char *text = mill_scratch(run, 128), *end = text;
    for (int m = 0; m < MILL_METHODS; m++) {
        bool used = false;
        for (size_t i = 0; i < a->all.n_devices; i++)
            used |= (a->methods >> m & 1) && a->devices[i].busy_by[m] > 0;
        if (used)
            end = stpcpy(stpcpy(end, end == text ? "" : " + "), chunks_method_names[m]);
    }
    return text;
}

/* ---------------------------------------------------------------- the value */

static const char *text_of(mill_run *run, void *value, const char *text) {
    return kit_text_utf8(run, value, text, strlen(text));
}

static int64_t fewest_samples(const chunks_analysis *a, const chunks_device *d) {
    int64_t fewest = INT64_MAX;
    for (int c = 0; c < CHUNKS; c++)
        if (d->n[c] > 0 && d->n[c] < fewest)
            fewest = d->n[c];
    return fewest * a->per_chunk;
}

const char *chunks_label(mill_run *run, const chunks_analysis *a, const chunks_device *d) {
    const mill_trace *trace = a->all.trace;
    const char *key = mill_item_key(run), *path = mill_at(trace, trace->path);
    const char *name = key[0] ? key : path ? path : "";
    if (a->all.n_devices == 1)
        return name;
    size_t room = strlen(name) + KIT_NUMBER_MAX + 16;
    char *label = mill_scratch(run, room);
    snprintf(label, room, "%s device %s", name, d->device->number);
    return label;
}

mill_chunk_times *chunks_times(mill_run *run, const chunks_analysis *a) {
    mill_chunk_times *t = mill_value_alloc(run, NULL, sizeof *t);
    size_t n = a->all.n_devices;
    mill_chunk_cost *costs = mill_value_alloc(run, t, n * MILL_BASES * sizeof *costs);
    const char **labels = mill_value_alloc(run, t, n * sizeof *labels);
    const char **methods = mill_value_alloc(run, t, n * sizeof *methods);
    int64_t *ranks = mill_value_alloc(run, t, n * sizeof *ranks);
    int64_t *layers = mill_value_alloc(run, t, n * sizeof *layers);
    int64_t *samples = mill_value_alloc(run, t, n * sizeof *samples);
    double *coverage = mill_value_alloc(run, t, n * sizeof *coverage);
    const char *path = mill_at(a->all.trace, a->all.trace->path);
    *t = (mill_chunk_times){
        .size = sizeof *t,
        .subject = text_of(run, t, path ? path : ""),
        .costs = costs,
        .labels = labels,
        .ranks = ranks,
        .layers = layers,
        .samples = samples,
        .coverage = coverage,
        .methods = methods,
    };
    for (size_t i = 0; i < n; i++) {
        const chunks_device *d = &a->devices[i];
        if (d->n_samples == 0)
            continue;
        memcpy(costs + t->n * MILL_BASES, d->costs, sizeof d->costs);
        labels[t->n] = text_of(run, t, chunks_label(run, a, d));
        methods[t->n] = text_of(run, t, chunks_method(run, a));
        ranks[t->n] = a->all.trace->rank;
        layers[t->n] = d->layers;
        samples[t->n] = fewest_samples(a, d);
        coverage[t->n] = d->busy > 0 ? (double)d->placed / (double)d->busy : NAN;
        t->n++;
    }
    return t;
}
