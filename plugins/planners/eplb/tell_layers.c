/* SPDX-License-Identifier: Apache-2.0 */
/* What each layer gets: loads, replicas, moves, its hottest experts, and heat maps. */
#include "eplb.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/top.h>

/* ---------------------------------------------------------------- layers */

static const char *unit_of(const eplb_analysis *a) {
    return a->problem.loads->unit;
}

static void tell_loads(kit_report *r, const eplb_analysis *a) {
    kit_table *t = kit_table_begin(r, "layers", "Layers", "Largest GPU loads, of a step.");
    kit_table_column(t, MILL_KIND_ID, "layer", "layer", NULL, "As the loads number it.");
    kit_table_column(t, MILL_KIND_REAL, "mean", "mean", unit_of(a),
                     "Load of a GPU if all had the same.");
    kit_table_column(t, MILL_KIND_REAL, "before", "before", unit_of(a),
                     "The largest GPU load before.");
    kit_table_column(t, MILL_KIND_REAL, "after", "after", unit_of(a), "With this plan.");
    kit_table_column(t, MILL_KIND_RATIO, "balancedness_before", "balanced before", NULL,
                     "mean / before");
    kit_table_column(t, MILL_KIND_RATIO, "balancedness", "after", NULL, "mean / after");
    kit_table_column(t, MILL_KIND_RATIO, "gap", "above bound", NULL,
                     "Objective of this plan / its lower bound - 1.");
    kit_table_column(t, MILL_KIND_TEXT, "proven", "best", NULL,
                     "yes: no plan under the same rules is better.");
    for (uint32_t i = 0; i < a->problem.n; i++) {
        const ep_layer *l = &a->layers[i];
        const ep_answer *w = &l->answer;
        kit_table_row(t);
        kit_cell_int(t, l->number);
        kit_cell_real(t, l->after.mean);
        kit_cell_real(t, l->before.max);
        kit_cell_real(t, l->after.max);
        kit_cell_share(t, l->before.max > 0 ? l->before.mean / l->before.max : NAN);
        kit_cell_share(t, l->after.max > 0 ? l->after.mean / l->after.max : NAN);
        kit_cell_share(t, w->bound > 0 ? w->value / w->bound - 1 : NAN);
        kit_cell_text(t, w->proven ? "yes" : "");
    }
}

static const kit_column placement_columns[] = {
    {MILL_KIND_ID, "layer", "layer", NULL},
    {MILL_KIND_COUNT, "replicated", "replicated", "Experts with more than one replica."},
    {MILL_KIND_COUNT, "most", "most", "Replicas of the expert that has most."},
    {MILL_KIND_COUNT, "duplicates", "twice", "GPUs that hold an expert twice or more."},
    {MILL_KIND_COUNT, "splits", "split", "Groups whose experts are on several nodes."},
    {MILL_KIND_COUNT, "same_gpu", "same GPU", "Slots with another expert, which their GPU held."},
    {MILL_KIND_COUNT, "same_node", "same node", "Likewise, which another GPU of the node held."},
    {MILL_KIND_COUNT, "cross_node", "other node", "Likewise, which no GPU of the node held."},
    {0},
};

static void tell_placements(kit_report *r, const eplb_analysis *a) {
    kit_table *t = kit_table_of(r, "placement", "Replicas and moves",
                                "Moves are from the placement before.", placement_columns);
    for (uint32_t i = 0; i < a->problem.n; i++) {
        const ep_layer *l = &a->layers[i];
        kit_table_row(t);
        kit_cell_int(t, l->number);
        kit_cell_int(t, l->after.replicated);
        kit_cell_int(t, l->after.most);
        kit_cell_int(t, l->after.duplicates);
        kit_cell_int(t, l->after.splits);
        kit_cell_int(t, l->moves.same_gpu);
        kit_cell_int(t, l->moves.same_node);
        kit_cell_int(t, l->moves.cross_node);
    }
}

/* ---------------------------------------------------------------- hot experts */

typedef struct hot {
    double share; /* load / mean GPU load */
    const ep_layer *layer;
    uint32_t expert;
} hot;

static int hottest_first(const void *a, const void *b) {
    const hot *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return (x->expert > y->expert) - (x->expert < y->expert);
}

static const kit_column hot_columns[] = {
    {MILL_KIND_ID, "layer", "layer", NULL},
    {MILL_KIND_ID, "expert", "expert", NULL},
    {MILL_KIND_RATIO, "share", "of a GPU's mean", "Load / mean GPU load."},
    {MILL_KIND_COUNT, "replicas", "replicas", "In this plan."},
    {MILL_KIND_COUNT, "needed", "needed",
     "Replicas with which its share of a GPU is at most the mean: load / mean, rounded up."},
    {0},
};

static void tell_hot(kit_report *r, const eplb_analysis *a) {
    kit_top top;
    uint32_t experts = a->problem.shape.experts;
    kit_top_init(&top, (size_t)a->options->top, sizeof(hot), hottest_first);
    for (uint32_t i = 0; i < a->problem.n; i++)
        for (uint32_t e = 0; e < experts && a->layers[i].after.mean > 0; e++)
            kit_top_add(&top,
                        &(hot){a->layers[i].load[e] / a->layers[i].after.mean, &a->layers[i], e});
    size_t n = kit_top_sort(&top);
    kit_table *t = kit_table_of(r, "experts", "Hottest experts", NULL, hot_columns);
    uint32_t *count = kit_alloc(experts, sizeof *count);
    for (size_t i = 0; i < n; i++) {
        const hot *h = (const hot *)top.v + i;
        ep_counts(&a->problem.shape, h->layer->after.expert, count);
        kit_table_row(t);
        kit_cell_int(t, h->layer->number);
        kit_cell_int(t, h->expert);
        kit_cell_share(t, h->share);
        kit_cell_int(t, count[h->expert]);
        kit_cell_int(t, (int64_t)ceil(h->share));
    }
    free(count);
    kit_top_finish(&top);
}

/* ---------------------------------------------------------------- GPUs */

static const char *experts_of(const eplb_analysis *a, const ep_layer *l, uint32_t gpu) {
    const ep_shape *s = &a->problem.shape;
    const char *text = "";
    for (uint32_t slot = s->first[gpu]; slot < s->first[gpu + 1]; slot++)
        if (l->after.expert[slot] != MILL_NO_EXPERT)
            text = ep_text(a->problem.run, "%s%s%d", text, *text ? " " : "", l->after.expert[slot]);
    return text;
}

static void tell_gpus(kit_report *r, const eplb_analysis *a) {
    const ep_shape *s = &a->problem.shape;
    int64_t rows = (int64_t)a->problem.n * s->gpus;
    if (rows > a->options->gpu_rows) {
        kit_note(r, MILL_INFO, "gpus",
                 "What each GPU holds is not listed, since that takes %lld rows (gpu-rows). "
                 "plan.write writes the plan.",
                 (long long)rows);
        return;
    }
    kit_table *t = kit_table_begin(r, "gpus", "GPUs", "Loads of a step.");
    kit_table_column(t, MILL_KIND_ID, "layer", "layer", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "node", "node", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "gpu", "GPU", NULL, NULL);
    kit_table_column(t, MILL_KIND_REAL, "before", "before", unit_of(a), NULL);
    kit_table_column(t, MILL_KIND_REAL, "after", "after", unit_of(a), NULL);
    kit_table_column(t, MILL_KIND_TEXT, "experts", "experts", NULL,
                     "What its slots hold, in their order.");
    for (uint32_t i = 0; i < a->problem.n; i++)
        for (uint32_t g = 0; g < s->gpus; g++) {
            kit_table_row(t);
            kit_cell_int(t, a->layers[i].number);
            kit_cell_int(t, s->node[g]);
            kit_cell_int(t, g);
            kit_cell_real(t, a->layers[i].before.gpu[g]);
            kit_cell_real(t, a->layers[i].after.gpu[g]);
            kit_cell_text(t, experts_of(a, &a->layers[i], g));
        }
}

/* A row of a heat map: the load of each GPU over the layer's mean. */
static void add_series(kit_report *r, const eplb_analysis *a, const ep_layer *l, const char *id,
                       const ep_placement *q) {
    uint32_t gpus = a->problem.shape.gpus;
    double *x = kit_alloc(gpus, sizeof *x), *y = kit_alloc(gpus, sizeof *y);
    for (uint32_t g = 0; g < gpus; g++) {
        x[g] = g;
        y[g] = q->mean > 0 ? q->gpu[g] / q->mean : NAN;
    }
    kit_series(r, &(mill_series){
                      .size = sizeof(mill_series),
                      .kind = MILL_SERIES_HEAT,
                      .id = ep_text(a->problem.run, "heat_%s_%lld", id, (long long)l->number),
                      .label = ep_text(a->problem.run, "layer %lld", (long long)l->number),
                      .x_label = "GPU",
                      .y_label = ep_text(a->problem.run, "load / mean, %s", id),
                      .n = gpus,
                      .x = x,
                      .y = y,
                  });
    free(x);
    free(y);
}

void eplb_tell_layers(kit_report *r, const eplb_analysis *a) {
    tell_loads(r, a);
    tell_placements(r, a);
    tell_hot(r, a);
    tell_gpus(r, a);
    for (uint32_t i = 0; i < a->problem.n; i++)
        add_series(r, a, &a->layers[i], "before", &a->layers[i].before);
    for (uint32_t i = 0; i < a->problem.n; i++)
        add_series(r, a, &a->layers[i], "after", &a->layers[i].after);
}
