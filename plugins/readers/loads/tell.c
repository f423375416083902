/* SPDX-License-Identifier: Apache-2.0 */
/* The report on loads: their shape, and how uneven they are before any placement. */
#include "loads.h"

#include <math.h>
#include <stdlib.h>
#include <tracemill/kit/number.h>
#include <tracemill/kit/top.h>

/* One layer, over all steps. */
typedef struct layer_facts {
    double total, mean, max;
    uint32_t hottest, unused; /* an expert; how many have no load */
} layer_facts;

typedef struct ranked {
    double load;
    uint32_t layer, expert;
} ranked;

typedef struct account {
    const mill_expert_load *v;
    const double *sum; /* over the steps */
    layer_facts *layers;
    double total, imbalance, worst; /* imbalance: NaN if no layer has a load */
    uint32_t worst_layer;
    uint64_t unused;
} account;

static layer_facts facts_of(const double *load, uint32_t experts) {
    layer_facts f = {0};
    for (uint32_t e = 0; e < experts; e++) {
        f.total += load[e];
        f.unused += !(load[e] > 0);
        if (load[e] > f.max) {
            f.max = load[e];
            f.hottest = e;
        }
    }
    f.mean = f.total / experts;
    return f;
}

/* max / mean, NaN for a layer without load. */
static double imbalance(const layer_facts *f) {
    return f->total > 0 ? f->max / f->mean : NAN;
}

static account account_of(mill_run *run, const mill_expert_load *v) {
    account a = {.v = v, .sum = ld_sum_steps(run, v), .worst = NAN};
    a.layers = mill_scratch(run, v->layers * sizeof *a.layers);
    uint32_t n = 0;
    for (uint32_t l = 0; l < v->layers; l++) {
        layer_facts *f = &a.layers[l];
        *f = facts_of(a.sum + (size_t)l * v->experts, v->experts);
        a.total += f->total;
        a.unused += f->unused;
        if (!(f->total > 0))
            continue;
        n++;
        a.imbalance += imbalance(f);
        if (!(a.worst >= imbalance(f))) {
            a.worst = imbalance(f);
            a.worst_layer = l;
        }
    }
    a.imbalance = n > 0 ? a.imbalance / n : NAN;
    return a;
}

/* ---------------------------------------------------------------- figures and tables */

static void tell_figures(kit_report *r, const account *a, const char *format) {
    const mill_expert_load *v = a->v;
    if (format)
        kit_figure_text(r, "format", "read as", NULL, NULL, format);
    kit_figure_int(r, MILL_KIND_COUNT, "steps", "steps", NULL, NULL, (int64_t)v->steps);
    kit_figure_int(r, MILL_KIND_COUNT, "layers", "layers", NULL, NULL, v->layers);
    kit_figure_int(r, MILL_KIND_COUNT, "experts", "experts of a layer", NULL, NULL, v->experts);
    kit_figure_int(r, MILL_KIND_COUNT, "ranks", "ranks added up", NULL, NULL,
                   v->ranks ? (int64_t)v->ranks : MILL_UNKNOWN);
    kit_figure_real(r, "total", "load in all", NULL, "Σ over steps, layers and experts", v->unit,
                    a->total);
    kit_figure_real(r, "imbalance", "imbalance", NULL,
                    "Mean over the layers of: load of the hottest expert over the mean expert's, "
                    "both summed over the steps. It is that of GPUs if each held one expert.",
                    "×", a->imbalance);
    kit_figure_real(r, "imbalance_worst", "imbalance of the worst layer", NULL, NULL, "×",
                    a->worst);
    kit_figure_int(r, MILL_KIND_COUNT, "unused", "experts without load", NULL,
                   "(layer, expert) pairs that got nothing in any step", (int64_t)a->unused);
}

static void tell_layers(kit_report *r, const account *a) {
    kit_table *t = kit_table_begin(r, "layers", "Layers", "Summed over the steps.");
    const char *unit = a->v->unit;
    kit_table_column(t, MILL_KIND_ID, "layer", "layer", NULL, NULL);
    kit_table_column(t, MILL_KIND_REAL, "total", "load", unit, NULL);
    kit_table_column(t, MILL_KIND_REAL, "mean", "mean expert", unit, NULL);
    kit_table_column(t, MILL_KIND_REAL, "max", "hottest", unit, NULL);
    kit_table_column(t, MILL_KIND_REAL, "imbalance", "imbalance", "×", "hottest / mean expert");
    kit_table_column(t, MILL_KIND_ID, "hottest", "expert", NULL, "The hottest one.");
    kit_table_column(t, MILL_KIND_COUNT, "unused", "unused", NULL, "Experts without load.");
    for (uint32_t l = 0; l < a->v->layers; l++) {
        const layer_facts *f = &a->layers[l];
        kit_table_row(t);
        kit_cell_int(t, ld_layer_number(a->v, l));
        kit_cell_real(t, f->total);
        kit_cell_real(t, f->mean);
        kit_cell_real(t, f->max);
        kit_cell_real(t, imbalance(f));
        kit_cell_int(t, f->total > 0 ? f->hottest : MILL_UNKNOWN);
        kit_cell_int(t, f->unused);
    }
}

/* The larger share of its layer first. */
static int compare_ranked(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->load != y->load)
        return x->load < y->load ? 1 : -1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return x->expert < y->expert ? -1 : x->expert > y->expert;
}

static void tell_top(kit_report *r, const account *a, int64_t top) {
    kit_top hottest;
    kit_top_init(&hottest, (size_t)top, sizeof(ranked), compare_ranked);
    for (uint32_t l = 0; l < a->v->layers; l++)
        for (uint32_t e = 0; e < a->v->experts; e++) {
            double load = a->sum[(size_t)l * a->v->experts + e];
            if (load > 0)
                kit_top_add(&hottest, &(ranked){load / a->layers[l].mean, l, e});
        }
    size_t n = kit_top_sort(&hottest);
    const ranked *v = hottest.v;
    kit_table *t = kit_table_begin(r, "hottest", "Hottest experts",
                                   "By load over the mean expert of the layer; as many as `top`.");
    kit_table_column(t, MILL_KIND_ID, "layer", "layer", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "expert", "expert", NULL, NULL);
    kit_table_column(t, MILL_KIND_REAL, "load", "load", a->v->unit, NULL);
    kit_table_column(t, MILL_KIND_REAL, "over_mean", "over mean", "×", NULL);
    kit_table_column(t, MILL_KIND_RATIO, "share", "of layer", NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        double load = a->sum[(size_t)v[i].layer * a->v->experts + v[i].expert];
        kit_table_row(t);
        kit_cell_int(t, ld_layer_number(a->v, v[i].layer));
        kit_cell_int(t, v[i].expert);
        kit_cell_real(t, load);
        kit_cell_real(t, v[i].load);
        kit_cell_share(t, load / a->layers[v[i].layer].total);
    }
    kit_top_finish(&hottest);
}

/* ---------------------------------------------------------------- series */

static void tell_series_of_layers(mill_run *run, kit_report *r, const account *a) {
    size_t n = a->v->layers;
    double *x = mill_scratch(run, n * sizeof *x), *y = mill_scratch(run, n * sizeof *y);
    for (uint32_t l = 0; l < n; l++) {
        x[l] = (double)ld_layer_number(a->v, l);
        y[l] = imbalance(&a->layers[l]);
    }
    kit_series(r, &(mill_series){.size = sizeof(mill_series),
                                 .id = "imbalance_by_layer",
                                 .label = "Imbalance of each layer",
                                 .x_label = "layer",
                                 .y_label = "imbalance",
                                 .y_unit = "×",
                                 .n = n,
                                 .x = x,
                                 .y = y});
}

/* Mean over the layers of a step's own max / mean, and what it carried. */
static void tell_series_of_steps(mill_run *run, kit_report *r, const account *a) {
    size_t n = a->v->steps;
    double *x = mill_scratch(run, n * sizeof *x), *y = mill_scratch(run, n * sizeof *y);
    double *total = mill_scratch(run, n * sizeof *total);
    for (uint64_t s = 0; s < n; s++) {
        uint32_t loaded = 0;
        x[s] = (double)ld_step_number(a->v, s);
        for (uint32_t l = 0; l < a->v->layers; l++) {
            layer_facts f = facts_of(mill_expert_load_at(a->v, s, l), a->v->experts);
            total[s] += f.total;
            y[s] += f.total > 0 ? imbalance(&f) : 0;
            loaded += f.total > 0;
        }
        y[s] = loaded > 0 ? y[s] / loaded : NAN;
    }
    mill_series series = {.size = sizeof series,
                          .id = "imbalance",
                          .label = "Imbalance of each step, mean over the layers",
                          .x_label = "step",
                          .y_label = "imbalance",
                          .y_unit = "×",
                          .n = n,
                          .x = x,
                          .y = y};
    kit_series(r, &series);
    series.id = "total";
    series.label = "Load of each step";
    series.y_label = "load";
    series.y_unit = a->v->unit;
    series.y = total;
    kit_series(r, &series);
}

/* ---------------------------------------------------------------- all of it */

void ld_tell_remarks(kit_report *report, const ld_remarks *remarks) {
    for (const ld_remark *m = remarks->first; m; m = m->next)
        kit_note(report, m->level, m->id, "%s", m->text);
}

mill_report *ld_tell(mill_run *run, const ld_story *story, const mill_expert_load *value,
                     const ld_remarks *remarks) {
    kit_report *r = kit_report_begin(run, story->id, story->title, value->subject);
    account a = account_of(run, value);
    if (a.total > 0)
        kit_report_summary(r,
                           "%u layers of %u experts: the hottest expert of a layer has %.2f times "
                           "the mean load, in layer %lld %.2f times.",
                           value->layers, value->experts, a.imbalance,
                           (long long)ld_layer_number(value, a.worst_layer), a.worst);
    else
        kit_report_summary(r, "No expert has any load.");
    ld_tell_remarks(r, remarks);
    tell_figures(r, &a, story->format);
    tell_layers(r, &a);
    tell_top(r, &a, story->top);
    tell_series_of_layers(run, r, &a);
    if (value->steps > 1)
        tell_series_of_steps(run, r, &a);
    return kit_report_end(r);
}
