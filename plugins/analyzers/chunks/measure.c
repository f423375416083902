/* SPDX-License-Identifier: Apache-2.0 */
/* From activities and their places to the chunks of each device and their means.
 *
 * A *cell* is the part of a chunk that one stage of one layer is: time is the union of its
 * activities there, so that streams that work on it side by side count once. Cells add up to
 * samples (chunks of one micro-batch) and to layers.
 */
#include "chunks.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define CANCEL_ROWS (1u << 16) /* activities between two looks at `cancelled` */

/* Communication that waits for other ranks more than it moves data. */
static const char *const waiting_kinds[] = {"notify", "barrier", "layout"};

/* What a place belongs to. */
typedef struct cell_key {
    int64_t micro_batch, instance, layer;
    uint32_t step, stage, place;
    mill_chunk chunk;
} cell_key;

typedef struct cell {
    cell_key key;
    size_t sample;
    kit_tally all, comp, transfer, comm;
} cell;

typedef struct measuring {
    mill_run *run;
    const chunks_analysis *a;
    uint32_t *cell_of; /* of each place: a row of cells, or MILL_NONE */
    cell *cells;       /* by sample, layer and stage */
    size_t n_cells, n_samples;
} measuring;

/* ---------------------------------------------------------------- what counts */

static void mark_counted(chunks_analysis *a) {
    const mill_attribution *p = a->all.places;
    for (uint64_t i = 0; i < p->n_places; i++)
        a->counted[i] = p->chunk[i] != MILL_CHUNK_NONE && p->chunk[i] < CHUNKS &&
                        (a->methods >> p->method[i] & 1) &&
                        (!a->in_steps || p->step[i] != MILL_NONE);
}

/* Where there are steps, what lies outside of them is no whole chunk. */
static bool any_in_step(const chunks_analysis *a) {
    const mill_attribution *p = a->all.places;
    for (uint32_t i = 0; i < p->n_places; i++)
        if (chunks_counts(a, i) && p->step[i] != MILL_NONE)
            return true;
    return false;
}

static mill_status choose_transfers(mill_run *run, chunks_analysis *a) {
    const mill_trace *trace = a->all.trace;
    const mill_list *wanted = &a->options->transfer_kinds;
    uint8_t *transfers = mill_scratch(run, trace->kinds.n + 1);
    for (uint32_t k = 0; k < trace->kinds.n && wanted->n == 0; k++) {
        transfers[k] = 1;
        for (size_t i = 0; i < sizeof waiting_kinds / sizeof *waiting_kinds; i++)
            if (strcmp(mill_text(trace, &trace->kinds, k), waiting_kinds[i]) == 0)
                transfers[k] = 0;
    }
    for (size_t i = 0; i < wanted->n; i++) {
        const char *name = ((const char *const *)wanted->v)[i];
        bool found = false;
        for (uint32_t k = 0; k < trace->kinds.n; k++)
            if (strcmp(mill_text(trace, &trace->kinds, k), name) == 0)
                transfers[k] = 1, found = true;
        if (!found)
            return mill_fail(run, MILL_E_CONFIG,
                             "transfer-kinds = %s: no rule of the trace has a kind of that name; "
                             "the kinds stand in the rules file",
                             name);
    }
    a->transfers = transfers;
    return MILL_OK;
}

/* What no rule gives a kind is a transfer unless the option lists what is. */
static bool is_transfer(const chunks_analysis *a, uint16_t kind) {
    return kind < a->all.trace->kinds.n ? a->transfers[kind] : a->options->transfer_kinds.n == 0;
}

/* ---------------------------------------------------------------- methods */

/* What each method placed on each device. */
static mill_status measure_methods(mill_run *run, chunks_analysis *a) {
    const mill_attribution *p = a->all.places;
    a->methods = ~0u;
    mark_counted(a);
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const kit_device *device = &a->all.devices[i];
        kit_tally all = {0}, by[MILL_METHODS] = {0};
        for (size_t k = 0; k < device->n; k++) {
            const kit_activity *x = &device->v[k];
            if (k % CANCEL_ROWS == 0 && mill_cancelled(run))
                return MILL_E_CANCELLED;
            kit_tally_add(&all, x->start, x->end);
            if (chunks_counts(a, x->place) && p->method[x->place] < MILL_METHODS)
                kit_tally_add(&by[p->method[x->place]], x->start, x->end);
        }
        a->devices[i].device = device;
        a->devices[i].busy = all.busy;
        for (int m = 0; m < MILL_METHODS; m++)
            a->devices[i].busy_by[m] = by[m].busy;
    }
    return MILL_OK;
}

/* The best that placed anything. What names say and what the user says go together; the guesses
 * are never mixed with anything. */
static void choose_methods(chunks_analysis *a) {
    const uint32_t told = 1u << MILL_METHOD_ANNOTATION | 1u << MILL_METHOD_RULE;
    a->methods = 0;
    for (int m = MILL_METHOD_ANNOTATION; m < MILL_METHODS && !a->methods; m++)
        for (size_t i = 0; i < a->all.n_devices; i++)
            if (a->devices[i].busy_by[m] > 0)
                a->methods = told >> m & 1 ? told : 1u << m;
}

/* ---------------------------------------------------------------- cells */

#define DIFFER(x, y, field)                                                                        \
    if ((x)->field != (y)->field)                                                                  \
    return (x)->field < (y)->field ? -1 : 1

static int compare_samples(const cell_key *x, const cell_key *y) {
    DIFFER(x, y, chunk);
    DIFFER(x, y, step);
    DIFFER(x, y, micro_batch);
    DIFFER(x, y, instance);
    return 0;
}

static int compare_keys(const void *a, const void *b) {
    const cell_key *x = a, *y = b;
    int order = compare_samples(x, y);
    if (order != 0)
        return order;
    DIFFER(x, y, layer);
    DIFFER(x, y, stage);
    return 0;
}

static cell_key key_of(const mill_attribution *p, uint32_t place) {
    bool whole_chunk = p->method[place] == MILL_METHOD_PIPELINE; /* one annotation, one chunk */
    return (cell_key){
        .micro_batch = p->micro_batch[place],
        .instance = whole_chunk ? (int64_t)p->annotation[place] : MILL_UNKNOWN,
        .layer = p->layer[place],
        .step = p->step[place],
        .stage = p->stage[place],
        .place = place,
        .chunk = (mill_chunk)p->chunk[place],
    };
}

static void set_up_cells(measuring *m) {
    const mill_attribution *p = m->a->all.places;
    cell_key *keys = kit_alloc(p->n_places, sizeof *keys);
    size_t n = 0, n_cells = 0;
    m->cell_of = mill_scratch(m->run, p->n_places * sizeof *m->cell_of);
    for (uint32_t i = 0; i < p->n_places; i++) {
        m->cell_of[i] = MILL_NONE;
        if (chunks_counts(m->a, i))
            keys[n++] = key_of(p, i);
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < n; i++)
        n_cells += i == 0 || compare_keys(&keys[i - 1], &keys[i]) != 0;
    m->cells = mill_scratch(m->run, n_cells * sizeof *m->cells);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_samples(&keys[i - 1], &keys[i]) != 0)
            m->n_samples++;
        if (i == 0 || compare_keys(&keys[i - 1], &keys[i]) != 0)
            m->cells[m->n_cells++] = (cell){.key = keys[i], .sample = m->n_samples - 1};
        m->cell_of[keys[i].place] = (uint32_t)(m->n_cells - 1);
    }
    free(keys);
}

static mill_status fill_cells(const measuring *m, chunks_device *d) {
    const chunks_analysis *a = m->a;
    kit_tally placed = {0};
    for (size_t i = 0; i < d->device->n; i++) {
        const kit_activity *x = &d->device->v[i];
        if (i % CANCEL_ROWS == 0 && mill_cancelled(m->run))
            return MILL_E_CANCELLED;
        uint32_t at = x->place == MILL_NONE ? MILL_NONE : m->cell_of[x->place];
        if (at == MILL_NONE)
            continue;
        cell *c = &m->cells[at];
        kit_tally_add(&placed, x->start, x->end);
        kit_tally_add(&c->all, x->start, x->end);
        if (x->cls == KIT_COMP)
            kit_tally_add(&c->comp, x->start, x->end);
        if (x->cls != KIT_COMM)
            continue;
        kit_tally_add(&c->comm, x->start, x->end);
        if (is_transfer(a, x->kind)) {
            kit_tally_add(&c->transfer, x->start, x->end);
            d->comm_sms = chunks_longer(d->comm_sms, kit_activity_sms(&a->all, d->device, x));
        }
    }
    d->placed = placed.busy;
    return MILL_OK;
}

/* ---------------------------------------------------------------- samples, layers, means */

static void add_work(chunks_work *work, const chunks_work *part) {
    work->comp = kit_add(work->comp, part->comp);
    work->transfer = kit_add(work->transfer, part->transfer);
    work->comm = kit_add(work->comm, part->comm);
}

static chunks_work mean_work(const chunks_work *sum, int64_t n) {
    return (chunks_work){chunks_mean(sum->comp, n), chunks_mean(sum->transfer, n),
                         chunks_mean(sum->comm, n)};
}

static chunks_work work_of(const cell *c) {
    return (chunks_work){c->comp.busy, c->transfer.busy, c->comm.busy};
}

/* Adds a cell to its sample, the one last begun. */
static void add_cell(chunks_device *d, const cell *c, const cell *before) {
    bool new_sample = !before || before->sample != c->sample;
    if (new_sample)
        d->samples[d->n_samples++] = (chunks_sample){
            .chunk = c->key.chunk,
            .step = c->key.step,
            .micro_batch = c->key.micro_batch,
            .instance = c->key.instance,
            .span = {c->all.first, c->all.last},
        };
    chunks_sample *s = &d->samples[d->n_samples - 1];
    chunks_work work = work_of(c);
    add_work(&s->work, &work);
    s->span.start = c->all.first < s->span.start ? c->all.first : s->span.start;
    s->span.end = chunks_longer(s->span.end, c->all.last);
    if (c->key.layer != MILL_UNKNOWN && (new_sample || before->key.layer != c->key.layer))
        s->layers++;
}

/* Cells in which nothing ran on the device are left out. */
static void gather_samples(const measuring *m, chunks_device *d) {
    const cell *before = NULL;
    d->samples = mill_scratch(m->run, m->n_samples * sizeof *d->samples);
    d->layers = MILL_UNKNOWN;
    for (size_t i = 0; i < m->n_cells; i++) {
        if (m->cells[i].all.n == 0)
            continue;
        add_cell(d, &m->cells[i], before);
        before = &m->cells[i];
    }
    chunks_work sum[CHUNKS] = {0};
    for (size_t i = 0; i < d->n_samples; i++) {
        const chunks_sample *s = &d->samples[i];
        d->n[s->chunk]++;
        add_work(&sum[s->chunk], &s->work);
        if (s->layers > 0 && s->layers > d->layers)
            d->layers = s->layers;
    }
    for (int c = 0; c < CHUNKS; c++)
        d->mean[c] = mean_work(&sum[c], d->n[c] * m->a->per_chunk);
}

static int compare_layers(const void *a, const void *b) {
    const cell *x = *(const cell *const *)a, *y = *(const cell *const *)b;
    DIFFER(x, y, key.layer);
    DIFFER(x, y, sample);
    return 0;
}

static void gather_layers(const measuring *m, chunks_device *d) {
    const cell **list = mill_scratch(m->run, m->n_cells * sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < m->n_cells; i++)
        if (m->cells[i].all.n > 0 && m->cells[i].key.layer != MILL_UNKNOWN)
            list[n++] = &m->cells[i];
    qsort(list, n, sizeof *list, compare_layers);
    d->layer_means = mill_scratch(m->run, n * sizeof *d->layer_means);
    int64_t count[CHUNKS];
    for (size_t i = 0; i < n; i++) {
        const cell *c = list[i], *before = i ? list[i - 1] : NULL;
        bool new_layer = !before || before->key.layer != c->key.layer;
        if (new_layer) {
            d->layer_means[d->n_layers++].number = c->key.layer;
            memset(count, 0, sizeof count);
        }
        chunks_layer *layer = &d->layer_means[d->n_layers - 1];
        chunks_work work = work_of(c);
        count[c->key.chunk] += new_layer || before->sample != c->sample;
        add_work(&layer->mean[c->key.chunk], &work);
        if (i + 1 == n || list[i + 1]->key.layer != c->key.layer)
            for (int k = 0; k < CHUNKS; k++)
                layer->mean[k] = mean_work(&layer->mean[k], count[k] * m->a->per_chunk);
    }
}

static mill_status measure_device(measuring *m, chunks_device *d) {
    for (size_t i = 0; i < m->n_cells; i++) {
        cell *c = &m->cells[i];
        *c = (cell){.key = c->key, .sample = c->sample};
    }
    mill_status status = fill_cells(m, d);
    if (status != MILL_OK)
        return status;
    gather_samples(m, d);
    gather_layers(m, d);
    chunks_find_pairs(m->run, m->a, d);
    return MILL_OK;
}

mill_status chunks_measure(mill_run *run, const mill_trace *trace,
                           const mill_attribution *attribution, const chunks_options *options,
                           chunks_analysis *ret_analysis) {
    chunks_analysis *a = ret_analysis;
    *a = (chunks_analysis){.options = options};
    mill_status status =
        kit_activities_select(run, trace, attribution, &options->selection, &a->all);
    if (status == MILL_OK)
        status = choose_transfers(run, a);
    if (status != MILL_OK)
        return status;
    a->devices = mill_scratch(run, a->all.n_devices * sizeof *a->devices);
    a->counted = mill_scratch(run, attribution->n_places);
    status = measure_methods(run, a);
    if (status != MILL_OK)
        return status;
    choose_methods(a);
    mark_counted(a);
    a->in_steps = any_in_step(a);
    mark_counted(a);
    measuring m = {.run = run, .a = a};
    set_up_cells(&m);
    bool known = false;
    for (size_t i = 0; i < m.n_cells; i++)
        known |= m.cells[i].key.micro_batch != MILL_UNKNOWN || m.cells[i].key.instance >= 0;
    a->per_chunk = known ? 1 : options->micro_batches;
    a->micro_batches_known = known;
    for (size_t i = 0; i < a->all.n_devices && status == MILL_OK; i++)
        status = measure_device(&m, &a->devices[i]);
    return status;
}
