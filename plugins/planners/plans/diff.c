/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class plan.diff: what it takes to get from one plan to another, and what it is worth.
 */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/report.h>

enum { PORT_BEFORE, PORT_AFTER, PORT_LOADS };
enum { PORT_REPORT };

/* ---------------------------------------------------------------- like with like */

static mill_status check_same(mill_run *run, const char *what, uint32_t before, uint32_t after) {
    if (before == after)
        return MILL_OK;
    return mill_fail(run, MILL_E_DATA,
                     "before has %u %s, after has %u: only plans for the same experts, slots and "
                     "GPUs can be compared",
                     before, what, after);
}

static mill_status check_shapes(mill_run *run, const mill_expert_plan *b,
                                const mill_expert_plan *a) {
    mill_status status = check_same(run, "experts a layer", b->experts, a->experts);
    if (!status)
        status = check_same(run, "slots a layer", b->slots, a->slots);
    if (!status)
        status = check_same(run, "GPUs", b->gpus, a->gpus);
    if (!status && b->node && a->node)
        status = check_same(run, "nodes", b->nodes, a->nodes);
    for (uint32_t g = 0; !status && g < b->gpus; g++) {
        if (b->first[g + 1] != a->first[g + 1])
            status = mill_fail(run, MILL_E_DATA,
                               "GPU %u ends at slot %u in before and %u in after: only plans with "
                               "the same slots on each GPU can be compared",
                               g, b->first[g + 1], a->first[g + 1]);
        else if (b->node && a->node && b->node[g] != a->node[g])
            status = mill_fail(run, MILL_E_DATA,
                               "GPU %u is on node %u in before and %u in after: only plans for the "
                               "same nodes can be compared",
                               g, b->node[g], a->node[g]);
    }
    return status;
}

/* The row of a layer; -1: there is none. */
static int64_t row_of(const int64_t *layer, uint32_t layers, int64_t number) {
    for (uint32_t l = 0; l < layers; l++)
        if (pl_layer(layer, l) == number)
            return l;
    return -1;
}

static mill_status match_layers(mill_run *run, df_result *r) {
    const mill_expert_plan *b = r->before, *a = r->after;
    df_layer *layers = mill_scratch(run, b->layers * sizeof *layers);
    for (uint32_t l = 0; l < b->layers; l++) {
        int64_t number = pl_layer(b->layer, l), row = row_of(a->layer, a->layers, number);
        if (row < 0)
            continue;
        df_layer *d = &layers[r->n_layers++];
        *d = (df_layer){.layer = number, .before = l, .after = (uint32_t)row, .load = -1};
        d->mean = d->max_before = d->max_after = NAN;
        if (r->loads)
            d->load = row_of(r->loads->layer, r->loads->layers, number);
        r->without_loads += r->loads && d->load < 0;
    }
    r->layers = layers;
    r->only_before = b->layers - r->n_layers;
    r->only_after = a->layers - r->n_layers;
    if (r->n_layers == 0)
        return mill_fail(
            run, MILL_E_DATA,
            "before begins with layer %lld, after with layer %lld, and they have none in "
            "common; where files don't number their layers, first-layer of plan.read "
            "does",
            (long long)pl_layer(b->layer, 0), (long long)pl_layer(a->layer, 0));
    return MILL_OK;
}

/* ---------------------------------------------------------------- a layer */

static double largest(const double *v, uint32_t n) {
    double most = v[0];
    for (uint32_t i = 1; i < n; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

/* Mean over the steps, of each expert. */
static void mean_loads(const mill_expert_load *loads, uint32_t layer, double *ret_load) {
    memset(ret_load, 0, loads->experts * sizeof *ret_load);
    for (uint64_t t = 0; t < loads->steps; t++)
        for (uint32_t e = 0; e < loads->experts; e++)
            ret_load[e] += mill_expert_load_at(loads, t, layer)[e];
    for (uint32_t e = 0; e < loads->experts; e++)
        ret_load[e] /= (double)loads->steps;
}

static double largest_gpu_load(const mill_expert_plan *p, uint32_t layer, const double *load,
                               double *gpu) {
    kit_gpu_loads(p, load, p->expert + (size_t)layer * p->slots,
                  p->replicas + (size_t)layer * p->experts, gpu);
    return largest(gpu, p->gpus);
}

static void measure_loads(const df_result *r, df_layer *d, double *load, double *gpu) {
    double sum = 0;
    mean_loads(r->loads, (uint32_t)d->load, load);
    for (uint32_t e = 0; e < r->before->experts; e++)
        sum += load[e];
    d->mean = sum / r->before->gpus;
    d->max_before = largest_gpu_load(r->before, d->before, load, gpu);
    d->max_after = largest_gpu_load(r->after, d->after, load, gpu);
}

static void list_experts(df_result *r, df_layer *d, const uint32_t *fetched, const double *load) {
    const uint32_t *before = r->before->replicas + (size_t)d->before * r->before->experts;
    const uint32_t *after = r->after->replicas + (size_t)d->after * r->after->experts;
    for (uint32_t e = 0; e < r->before->experts; e++) {
        d->replicas += before[e] != after[e];
        if (!fetched[e] && before[e] == after[e])
            continue;
        df_expert x = {d->layer, e, before[e], after[e], fetched[e], d->load < 0 ? NAN : load[e]};
        kit_top_add(&r->experts, &x);
    }
}

/* place: sizes, GPUs and nodes of both. */
static void measure_layer(df_result *r, const mill_expert_plan *place, df_layer *d,
                          uint32_t *fetched, double *load, double *gpu) {
    const int32_t *before = r->before->expert + (size_t)d->before * place->slots;
    const int32_t *after = r->after->expert + (size_t)d->after * place->slots;
    memset(fetched, 0, place->experts * sizeof *fetched);
    d->moves = kit_count_moves(place, before, after, fetched);
    for (uint32_t s = 0; s < place->slots; s++)
        d->changed += before[s] != after[s];
    if (d->load >= 0)
        measure_loads(r, d, load, gpu);
    list_experts(r, d, fetched, load);
}

/* Most GPUs that must get it first, then the greatest change, then in order. */
static int by_change(const void *a, const void *b) {
    const df_expert *x = a, *y = b;
    int64_t dx = llabs((int64_t)x->after - x->before), dy = llabs((int64_t)y->after - y->before);
    if (x->fetched != y->fetched)
        return x->fetched > y->fetched ? -1 : 1;
    if (dx != dy)
        return dx > dy ? -1 : 1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return (x->expert > y->expert) - (x->expert < y->expert);
}

static mill_status measure(mill_run *run, df_result *r) {
    mill_expert_plan place = *r->before;
    if (!place.node) {
        place.node = r->after->node;
        place.nodes = r->after->nodes;
    }
    r->nodes = place.node != NULL;
    uint32_t *fetched = mill_scratch(run, place.experts * sizeof *fetched);
    double *load = mill_scratch(run, place.experts * sizeof *load);
    double *gpu = mill_scratch(run, place.gpus * sizeof *gpu);
    for (uint32_t i = 0; i < r->n_layers; i++) {
        if (mill_cancelled(run))
            return MILL_E_CANCELLED;
        measure_layer(r, &place, &r->layers[i], fetched, load, gpu);
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- stage */

static mill_status run_diff(mill_run *run, const void *opts, void *state) {
    (void)state;
    const df_options *o = opts;
    df_result r = {.before = mill_input(run, PORT_BEFORE, 0),
                   .after = mill_input(run, PORT_AFTER, 0),
                   .loads = mill_input(run, PORT_LOADS, 0)};
    mill_status status = check_shapes(run, r.before, r.after);
    if (!status && r.loads && r.loads->experts != r.before->experts)
        status = mill_fail(
            run, MILL_E_DATA, "%s has loads of %u experts a layer, the plans place %u",
            r.loads->subject ? r.loads->subject : "loads", r.loads->experts, r.before->experts);
    if (!status)
        status = match_layers(run, &r);
    if (status)
        return status;
    kit_top_init(&r.experts, (size_t)o->top, sizeof(df_expert), by_change);
    status = measure(run, &r);
    mill_report *report = status ? NULL : df_tell(run, o, &r);
    kit_top_finish(&r.experts);
    return status ? status : mill_output(run, PORT_REPORT, report);
}

static const mill_port inputs[] = {
    {.name = "before", .type = MILL_TYPE_EXPERT_PLAN, .help = "the plan in use"},
    {.name = "after", .type = MILL_TYPE_EXPERT_PLAN, .help = "the plan to go to"},
    {.name = "loads",
     .type = MILL_TYPE_EXPERT_LOAD,
     .flags = MILL_PORT_OPTIONAL,
     .help = "loads of experts, to tell those of GPUs under both plans"},
    {0},
};

static const mill_port outputs[] = {
    {.name = "report", .type = MILL_TYPE_REPORT, .help = "moves, replicas and loads by layer"},
    {0},
};

static const mill_option option_table[] = {
    {.name = "expert-bytes",
     .type = MILL_OPT_BYTES,
     .offset = MILL_OPT_OFF(df_options, expert_bytes, BYTES),
     .def = "0B",
     .min = 0,
     .max = 1e15,
     .help =
         "Size of an expert's weights in a layer, to tell what is transferred; 0B: unknown. One "
         "of DeepSeek-R1 in FP8 has 42 MiB."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(df_options, top, INT),
     .def = "20",
     .min = 0,
     .max = 1e6,
     .unit = "experts",
     .help = "How many of the most changed experts to list."},
    {0},
};

const mill_stage pl_diff_stage = {
    MILL_STAGE_HEAD,
    .name = "plan.diff",
    .summary = "What changes from one placement of experts to another",
    .help =
        "Slots that change, and whether the expert is on the GPU, on its node or only on others "
        "before; replicas; with loads, the largest load of a GPU under both.",
    .inputs = inputs,
    .outputs = outputs,
    .options = option_table,
    .options_size = sizeof(df_options),
    .run = run_diff,
};
