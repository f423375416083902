/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on computation: G6, G7 and G10. */
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/intern.h>

#include "findings.h"

/* ---------------------------------------------------------------- G6: casts and transposes */

static void check_casts(findings_analysis *analysis, const findings_device *d) {
    const findings_options *o = analysis->options;
    const bool *casts = kit_kinds_named(analysis->run, &analysis->all, &o->cast_kinds);
    findings_check check = {
        .rule = "G6",
        .threshold = findings_text(analysis, "> %g %%", o->cast_share),
        .at = MILL_UNKNOWN,
    };
    int64_t n = 0, sum = 0;
    for (size_t i = 0; i < d->view->n; i++) {
        const kit_activity *a = &d->view->v[i];
        if (a->cls != KIT_COMP || !kit_kind_in(&analysis->all, casts, a->kind))
            continue;
        n++;
        sum = kit_add(sum, a->end - a->start);
    }
    if (d->sums[KIT_COMP] > 0 && sum != MILL_UNKNOWN) {
        const char *share = findings_percent(analysis, sum, d->sums[KIT_COMP]);
        check.measure = share;
        check.met = (double)sum > o->cast_share / 100 * (double)d->sums[KIT_COMP];
        check.cost = sum;
        check.gain = findings_bound_comp(d, sum);
        check.evidence = findings_text(
            analysis, "%lld kernels that cast or transpose take %s µs, %s of all computation.",
            (long long)n, findings_us(analysis, sum), share);
        check.advice = "Fuse quantisation and transposes into the kernels that produce their "
                       "input.";
        check.confidence = 0.5;
    }
    findings_add(analysis, d, &check);
}

/* ---------------------------------------------------------------- G7: small kernels */

static void check_small(findings_analysis *analysis, const findings_device *d) {
    const findings_options *o = analysis->options;
    char limit[KIT_NUMBER_MAX];
    int64_t n = 0, small = 0, small_sum = 0, pause = 0;
    size_t pauses = 0;
    findings_check check = {
        .rule = "G7",
        .threshold = findings_text(analysis, "> %g %%", o->small_share),
        .at = MILL_UNKNOWN,
    };
    for (size_t i = 0; i < d->view->n; i++) {
        const kit_activity *a = &d->view->v[i];
        if (a->cls != KIT_COMP)
            continue;
        n++;
        if (a->end - a->start > o->small_kernel)
            continue;
        small++;
        small_sum += a->end - a->start;
    }
    if (d->primary != KIT_ALL_STREAMS) {
        const kit_gaps *gaps = &analysis->gaps[d->primary];
        for (size_t i = 0; i < gaps->n; i++)
            if (gaps->v[i].cause == KIT_GAP_KERNEL && gaps->v[i].end > gaps->v[i].ready) {
                pauses++;
                pause += gaps->v[i].end - gaps->v[i].ready;
            }
        check.measure = findings_percent(analysis, small, n);
        check.met = (double)small > o->small_share / 100 * (double)n;
        check.cost = check.gain = pause;
        check.evidence = findings_text(
            analysis,
            "%lld of %lld kernels of computation last at most %s µs (%s µs in all), and %zu "
            "pauses between kernels of the computing stream take %s µs.",
            (long long)small, (long long)n, kit_format_us(limit, o->small_kernel, KIT_GROUP),
            findings_us(analysis, small_sum), pauses, findings_us(analysis, pause));
        check.advice = "Fuse small kernels (routing, elementwise), or use CUDA graphs. While the "
                       "CPU is far ahead of the device, only the pauses cost.";
        check.confidence = 0.6;
    }
    findings_add(analysis, d, &check);
}

/* ---------------------------------------------------------------- G10: uneven layers */

/* One stage in one layer; no padding, since its bytes are interned. */
typedef struct cell_key {
    int64_t layer;
    uint32_t stage, step;
} cell_key;

typedef struct cell {
    cell_key key;
    kit_tally comp;
} cell;

static int compare_cells(const void *a, const void *b) {
    const cell_key *x = &((const cell *)a)->key, *y = &((const cell *)b)->key;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->layer > y->layer) - (x->layer < y->layer);
}

/* Numbers the cells by their first computation; cell_of: of each activity, or MILL_NONE. */
static mill_status number_cells(const findings_analysis *analysis, const findings_device *d,
                                kit_intern *keys, uint32_t *cell_of) {
    const kit_activities *all = &analysis->all;
    uint32_t *of_place = mill_scratch(analysis->run, all->places->n_places * sizeof *of_place);
    for (size_t i = 0; i < d->view->n; i++) {
        if (findings_cancelled(analysis, i))
            return MILL_E_CANCELLED;
        const kit_activity *a = &d->view->v[i];
        cell_of[i] = MILL_NONE;
        if (a->cls != KIT_COMP || kit_stage_of(all, a->place) == MILL_NONE ||
            kit_layer_of(all, a->place) == MILL_UNKNOWN)
            continue;
        if (of_place[a->place] == 0) { /* number + 1 */
            cell_key key = {kit_layer_of(all, a->place), kit_stage_of(all, a->place),
                            kit_step_of(all, a->place)};
            of_place[a->place] = kit_intern_add(keys, (const char *)&key, sizeof key, 0) + 1;
        }
        cell_of[i] = of_place[a->place] - 1;
    }
    return MILL_OK;
}

/* The computation of each stage in each layer, by stage. */
static mill_status find_cells(const findings_analysis *analysis, const findings_device *d,
                              cell **ret_cells, size_t *ret_n) {
    uint32_t *cell_of = mill_scratch(analysis->run, d->view->n * sizeof *cell_of);
    kit_intern *keys = kit_intern_create();
    mill_status status = number_cells(analysis, d, keys, cell_of);
    size_t n = kit_intern_count(keys);
    cell *cells = mill_scratch(analysis->run, n * sizeof *cells);
    for (uint32_t i = 0; i < n; i++)
        memcpy(&cells[i].key, kit_intern_text(keys, i, NULL), sizeof cells[i].key);
    kit_intern_destroy(keys);
    if (status != MILL_OK)
        return status;
    for (size_t i = 0; i < d->view->n; i++)
        if (cell_of[i] != MILL_NONE)
            kit_tally_add(&cells[cell_of[i]].comp, d->view->v[i].start, d->view->v[i].end);
    if (n > 0)
        qsort(cells, n, sizeof *cells, compare_cells);
    *ret_cells = cells;
    *ret_n = n;
    return MILL_OK;
}

/* The cells of one stage. If every layer took as long as the longest, since each waits for the rank
 * that is longest there, that would cost what is missing to it. */
static void check_stage(findings_analysis *analysis, const findings_device *d, const cell *cells,
                        size_t n) {
    const cell *longest = cells;
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += cells[i].comp.busy;
        if (cells[i].comp.busy > longest->comp.busy)
            longest = &cells[i];
    }
    int64_t most = longest->comp.busy, mean = sum / (int64_t)n;
    if (n < 2 || sum <= 0)
        return;
    double ratio = (double)most * (double)n / (double)sum;
    const char *stage = analysis->all.places->stages[longest->key.stage];
    int64_t cost = most * (int64_t)n - sum;
    findings_check check = {
        .rule = "G10",
        .measure = findings_text(analysis, "%.3f (%s)", ratio, stage),
        .threshold = findings_text(analysis, "> %g", analysis->options->imbalance),
        .met = ratio > analysis->options->imbalance,
        .degree = ratio,
        .cost = cost,
        .gain = findings_bound_comp(d, cost),
        .at = longest->comp.first,
        .where = findings_text(analysis, "%s in layer %lld", stage, (long long)longest->key.layer),
        .evidence = findings_text(analysis,
                                  "%s computes for %s µs in layer %lld and for %s µs on average "
                                  "over %zu layers: %.3f times as long.",
                                  stage, findings_us(analysis, most), (long long)longest->key.layer,
                                  findings_us(analysis, mean), n, ratio),
        .advice = "Where the stage holds experts their load is uneven: place them by load (EPLB), "
                  "or lower their capacity. The gain is what all layers together would take less "
                  "than if each took as long as the longest.",
        .confidence = 0.4,
    };
    findings_add(analysis, d, &check);
}

static mill_status check_layers(findings_analysis *analysis, const findings_device *d) {
    cell *cells = NULL;
    size_t n = 0;
    mill_status status = MILL_OK;
    if (analysis->all.places)
        status = find_cells(analysis, d, &cells, &n);
    if (status == MILL_OK && n == 0)
        findings_add(analysis, d,
                     &(findings_check){.rule = "G10",
                                       .threshold = findings_text(analysis, "> %g",
                                                                  analysis->options->imbalance)});
    for (size_t first = 0, i = 1; i <= n && status == MILL_OK; i++) {
        if (i < n && cells[i].key.stage == cells[first].key.stage)
            continue;
        check_stage(analysis, d, cells + first, i - first);
        first = i;
    }
    return status;
}

mill_status findings_check_computation(findings_analysis *analysis, const findings_device *device) {
    check_casts(analysis, device);
    check_small(analysis, device);
    return check_layers(analysis, device);
}
