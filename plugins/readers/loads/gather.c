/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that come in any order: rows by step and layer, then the value. */
#include "gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

/* A file that gives far fewer loads than its numbers of experts, layers and steps make room for is
 * no file of loads; memory must not follow such numbers. */
#define SPARSEST 64
#define ALWAYS_FITS (UINT64_C(1) << 22)

static bool too_sparse(const ld_gather *g, uint64_t cells) {
    return cells > SPARSEST * g->given + ALWAYS_FITS;
}

void ld_gather_init(ld_gather *g, ld_reading *r) {
    *g = (ld_gather){.r = r, .keys = kit_intern_create()};
}

void ld_gather_finish(ld_gather *g) {
    for (size_t i = 0; i < g->n; i++)
        free(g->rows[i].load);
    free(g->rows);
    kit_intern_destroy(g->keys);
}

size_t ld_gather_row(ld_gather *g, int64_t step, int64_t layer) {
    int64_t key[] = {step, layer};
    size_t row = kit_intern_add(g->keys, (const char *)key, sizeof key, 0);
    if (row < g->n) {
        g->rows[row].parts += g->rows[row].source != g->source;
        g->rows[row].source = g->source;
        return row;
    }
    if (g->n == g->room) {
        g->room = g->room ? 2 * g->room : 64;
        g->rows = kit_realloc(g->rows, g->room, sizeof *g->rows);
    }
    g->rows[g->n++] = (ld_row){.step = step, .layer = layer, .parts = 1, .source = g->source};
    return row;
}

mill_status ld_gather_cell(ld_gather *g, size_t row, int64_t expert, double **ret_cell) {
    ld_row *w = &g->rows[row];
    if (expert < 0 || expert >= LD_MOST_EXPERTS)
        return mill_fail(g->r->run, MILL_E_DATA,
                         "%s: expert %lld of layer %lld: numbers of experts are 0 to %d",
                         g->r->name, (long long)expert, (long long)w->layer, LD_MOST_EXPERTS - 1);
    g->given++;
    if (expert >= w->room) {
        uint32_t room = w->room ? w->room : 8;
        while (room <= expert)
            room *= 2;
        g->held += room - w->room;
        if (too_sparse(g, g->held))
            return mill_fail(g->r->run, MILL_E_DATA,
                             "%s: expert %lld of layer %lld: few experts below it have a load; if "
                             "this is a file of loads, number its experts from 0",
                             g->r->name, (long long)expert, (long long)w->layer);
        w->load = kit_realloc(w->load, room, sizeof *w->load);
        for (uint32_t i = w->room; i < room; i++)
            w->load[i] = NAN;
        w->room = room;
    }
    if (expert >= g->experts)
        g->experts = (uint32_t)expert + 1;
    *ret_cell = &w->load[expert];
    return MILL_OK;
}

mill_status ld_gather_add(ld_gather *g, size_t row, int64_t expert, double load) {
    double *cell = NULL;
    mill_status status = ld_gather_cell(g, row, expert, &cell);
    if (status == MILL_OK)
        *cell = isnan(*cell) ? load : *cell + load;
    return status;
}

/* ---------------------------------------------------------------- the value */

/* The numbers that steps or layers have, rising. */
typedef struct numbers {
    int64_t *v;
    size_t n;
} numbers;

static numbers sorted(int64_t *v, size_t n) {
    qsort(v, n, sizeof *v, ld_compare_numbers);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || v[i] != v[kept - 1])
            v[kept++] = v[i];
    return (numbers){v, kept};
}

static size_t index_of(const numbers *all, int64_t number) {
    const int64_t *at = bsearch(&number, all->v, all->n, sizeof *all->v, ld_compare_numbers);
    return (size_t)(at - all->v);
}

typedef struct grid {
    numbers steps, layers;
    const ld_row **rows; /* [steps][layers]; NULL: not given */
} grid;

static mill_status lay_out(const ld_gather *g, grid *ret) {
    mill_run *run = g->r->run;
    int64_t *steps = mill_scratch(run, g->n * sizeof *steps);
    int64_t *layers = mill_scratch(run, g->n * sizeof *layers);
    for (size_t i = 0; i < g->n; i++) {
        steps[i] = g->rows[i].step;
        layers[i] = g->rows[i].layer;
    }
    *ret = (grid){.steps = sorted(steps, g->n), .layers = sorted(layers, g->n)};
    uint64_t rows = (uint64_t)ret->steps.n * ret->layers.n; /* each at most the file's bytes */
    if (rows > LD_MOST_CELLS || too_sparse(g, rows * g->experts))
        return mill_fail(run, MILL_E_DATA,
                         "%s: %zu steps and %zu layers of up to %u experts, but only %llu loads: "
                         "most steps lack most layers",
                         g->r->name, ret->steps.n, ret->layers.n, g->experts,
                         (unsigned long long)g->given);
    ret->rows = mill_scratch(run, rows * sizeof *ret->rows);
    for (size_t i = 0; i < g->n; i++) {
        const ld_row *w = &g->rows[i];
        ret->rows[index_of(&ret->steps, w->step) * ret->layers.n +
                  index_of(&ret->layers, w->layer)] = w;
    }
    return MILL_OK;
}

/* Keeps the steps in which each layer is as complete as in any other step. */
static size_t drop_incomplete(ld_gather *g, grid *d) {
    size_t n_layers = d->layers.n, kept = 0;
    uint32_t *most = mill_scratch(g->r->run, n_layers * sizeof *most);
    for (size_t i = 0; i < d->steps.n * n_layers; i++)
        if (d->rows[i] && d->rows[i]->parts > most[i % n_layers])
            most[i % n_layers] = d->rows[i]->parts;
    int64_t first = 0;
    for (size_t s = 0; s < d->steps.n; s++) {
        const ld_row **rows = &d->rows[s * n_layers];
        size_t l = 0;
        while (l < n_layers && rows[l] && rows[l]->parts == most[l])
            l++;
        if (l < n_layers && s == kept)
            first = d->steps.v[s];
        if (l < n_layers)
            continue;
        d->steps.v[kept] = d->steps.v[s];
        memmove(&d->rows[kept++ * n_layers], rows, n_layers * sizeof *rows);
    }
    if (kept > 0 && kept < d->steps.n)
        ld_remark_add(&g->r->remarks, MILL_WARNING, "incomplete_steps",
                      "Steps left out, since in them a layer, or a rank's part of one, is missing "
                      "that other steps have: %zu of %zu, the first is step %lld.",
                      d->steps.n - kept, d->steps.n, (long long)first);
    uint32_t fewest = UINT32_MAX, all = 0;
    for (size_t l = 0; l < n_layers; l++) {
        fewest = most[l] < fewest ? most[l] : fewest;
        all = most[l] > all ? most[l] : all;
    }
    if (g->source > 1 && fewest < g->source)
        ld_remark_add(&g->r->remarks, MILL_WARNING, "partial_layers",
                      "Layers were recorded by %u to %u of %u ranks. That is right for the stages "
                      "of a pipeline, each of which has layers of its own; else ranks are missing.",
                      fewest, all, g->source);
    return kept;
}

static uint64_t fill(const ld_gather *g, const grid *d, size_t steps, double *load) {
    uint64_t missing = 0;
    for (size_t i = 0; i < steps * d->layers.n; i++) {
        const ld_row *w = d->rows[i];
        for (uint32_t e = 0; e < g->experts; e++) {
            bool given = e < w->room && !isnan(w->load[e]);
            load[i * g->r->value->experts + e] = given ? w->load[e] : 0;
            missing += !given;
        }
    }
    return missing;
}

static void tell_gaps(ld_gather *g, const numbers *all, const char *what, const char *id) {
    uint64_t span = (uint64_t)all->v[all->n - 1] - (uint64_t)all->v[0];
    if (span > all->n - 1)
        ld_remark_add(&g->r->remarks, MILL_WARNING, id,
                      "Between %s %lld and %lld only %zu are there: some are missing, or were not "
                      "recorded.",
                      what, (long long)all->v[0], (long long)all->v[all->n - 1], all->n);
}

mill_status ld_gather_value(ld_gather *g) {
    ld_reading *r = g->r;
    grid d;
    double *load;
    if (g->experts == 0)
        return mill_fail(r->run, MILL_E_DATA, "%s: there is no load in it", r->name);
    mill_status status = lay_out(g, &d);
    if (status != MILL_OK)
        return status;
    size_t steps = drop_incomplete(g, &d);
    if (steps == 0)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: no step has all %zu layers: of %zu steps each lacks one that another "
                         "has, or a rank's part of it",
                         r->name, d.layers.n, d.steps.n);
    uint64_t experts =
        r->options->experts > g->experts ? (uint64_t)r->options->experts : g->experts;
    status = ld_begin(r, steps, d.layers.n, experts, &load);
    if (status != MILL_OK)
        return status;
    d.steps.n = steps;
    uint64_t missing = fill(g, &d, steps, load);
    if (missing > 0 && !g->counts)
        ld_remark_add(&r->remarks, MILL_INFO, "absent_loads",
                      "Loads that the file does not give are taken to be 0: %llu of %llu.",
                      (unsigned long long)missing,
                      (unsigned long long)(steps * d.layers.n * g->experts));
    if (g->counts && r->options->experts == 0)
        ld_remark_add(&r->remarks, MILL_INFO, "experts_seen",
                      "That a layer has %u experts is told by the largest number that comes; set "
                      "experts if there are more.",
                      g->experts);
    tell_gaps(g, &d.steps, "steps", "step_gaps");
    tell_gaps(g, &d.layers, "layers", "layer_gaps");
    ld_label(r, d.steps.v, d.layers.v);
    return MILL_OK;
}
