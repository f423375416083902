/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile without message sizes tells of experts: rows and tokens that stand in the grids of
 * some kernels, and with the model's sizes, which the user gives, bytes and rates. */
#include "communication.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/intern.h>

enum { ROWS_FORWARD = 1, ROWS_BACKWARD = 2, TOKENS = 4 };

/* What one expression is matched with, and what a layer is known by; no padding, since their bytes
 * are interned. */
typedef struct name_key {
    uint32_t stage, kernel;
} name_key;
typedef struct layer_key {
    int64_t step, layer;
} layer_key;

/* Of one layer; MILL_UNKNOWN: not found. The first that fits counts. */
typedef struct layer {
    layer_key key;
    int64_t rows_forward, rows_backward, tokens_forward, tokens_backward;
    int64_t dispatch, combine; /* how long they take in the chunk F */
    int64_t gemm[2];           /* the same of its first two grouped ones */
} layer;

typedef struct device_layers {
    layer *v; /* by step and layer */
    size_t n;
    bool told; /* something was found in a grid */
} device_layers;

/* What the activities of a device are, by their bytes. */
typedef struct numbers {
    kit_intern *names, *layers;
    uint32_t *name, *layer; /* of each activity; layer MILL_NONE: none */
    uint8_t *fits;          /* of each name: ROWS_FORWARD … */
} numbers;

/* ---------------------------------------------------------------- which kernels tell */

static mill_status number(const communication_analysis *analysis, const kit_device *device,
                          numbers *out) {
    const mill_trace *trace = analysis->all.trace;
    out->name = mill_scratch(analysis->run, device->n * sizeof *out->name);
    out->layer = mill_scratch(analysis->run, device->n * sizeof *out->layer);
    uint32_t *of_place =
        mill_scratch(analysis->run, analysis->all.places->n_places * sizeof *of_place);
    for (size_t i = 0; i < device->n; i++) {
        if (communication_cancelled(analysis, i))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->v[i];
        layer_key at = {kit_step_of(&analysis->all, a->place),
                        kit_layer_of(&analysis->all, a->place)};
        out->layer[i] = MILL_NONE;
        if (at.layer == MILL_UNKNOWN)
            continue;
        name_key of = {kit_stage_of(&analysis->all, a->place),
                       mill_u32(trace, &trace->gpu.name, a->row)};
        out->name[i] = kit_intern_add(out->names, (const char *)&of, sizeof of, 0);
        if (of_place[a->place] == 0) /* number + 1 */
            of_place[a->place] = kit_intern_add(out->layers, (const char *)&at, sizeof at, 0) + 1;
        out->layer[i] = of_place[a->place] - 1;
    }
    return MILL_OK;
}

static mill_status add_fits(const communication_analysis *analysis, const char *pattern,
                            uint8_t bit, numbers *out) {
    mill_run *run = analysis->run;
    mill_regex *regex;
    if (pattern[0] == '\0')
        return MILL_OK;
    mill_status status = run->host->regex_new(run, pattern, 0, &regex);
    for (uint32_t i = 0; i < kit_intern_count(out->names) && status == MILL_OK; i++) {
        name_key of;
        memcpy(&of, kit_intern_text(out->names, i, NULL), sizeof of);
        const char *stage = of.stage == MILL_NONE ? "" : analysis->all.places->stages[of.stage];
        const char *kernel = mill_name(analysis->all.trace, of.kernel);
        char *text = mill_scratch(run, strlen(stage) + strlen(kernel) + 2);
        stpcpy(stpcpy(stpcpy(text, stage), " "), kernel);
        if (run->host->regex_match(regex, text, strlen(text), NULL, 0))
            out->fits[i] |= bit;
    }
    return status;
}

static mill_status find_fits(const communication_analysis *analysis, numbers *out) {
    const communication_model *model = &analysis->options->model;
    out->fits = mill_scratch(analysis->run, kit_intern_count(out->names));
    mill_status status = add_fits(analysis, model->rows_forward, ROWS_FORWARD, out);
    if (status == MILL_OK)
        status = add_fits(analysis, model->rows_backward, ROWS_BACKWARD, out);
    if (status == MILL_OK)
        status = add_fits(analysis, model->tokens, TOKENS, out);
    return status;
}

/* ---------------------------------------------------------------- layers */

static void set_first(int64_t *value, int64_t to) {
    if (*value == MILL_UNKNOWN)
        *value = to;
}

static bool is_kind(const communication_analysis *analysis, const kit_activity *a,
                    const char *kind) {
    return strcmp(kit_kind_name(&analysis->all, a->kind), kind) == 0;
}

/* Adds what one activity tells; true: something of its grid. */
static bool add_activity(const communication_analysis *analysis, const kit_activity *a,
                         uint8_t fits, layer *l) {
    const mill_trace *trace = analysis->all.trace;
    bool forward = kit_chunk_of(&analysis->all, a->place) == MILL_CHUNK_FORWARD;
    int64_t grid = mill_i64(trace, &trace->gpu.grid, a->row), dur = a->end - a->start;
    bool told = fits && grid > analysis->options->model.min_rows;
    if (told && fits & ROWS_FORWARD)
        set_first(&l->rows_forward, grid);
    if (told && fits & ROWS_BACKWARD)
        set_first(&l->rows_backward, grid);
    if (told && fits & TOKENS)
        set_first(forward ? &l->tokens_forward : &l->tokens_backward, grid);
    if (!forward)
        return told;
    if (a->cls == KIT_COMM && is_kind(analysis, a, "dispatch"))
        set_first(&l->dispatch, dur);
    if (a->cls == KIT_COMM && is_kind(analysis, a, "combine"))
        set_first(&l->combine, dur);
    if (a->cls == KIT_COMP && is_kind(analysis, a, "grouped_gemm"))
        set_first(&l->gemm[l->gemm[0] != MILL_UNKNOWN], dur);
    return told;
}

static int compare_layers(const void *a, const void *b) {
    const layer_key *x = &((const layer *)a)->key, *y = &((const layer *)b)->key;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->layer > y->layer) - (x->layer < y->layer);
}

static mill_status gather(const communication_analysis *analysis, const kit_device *device,
                          const numbers *of, device_layers *out) {
    const int64_t u = MILL_UNKNOWN;
    out->n = kit_intern_count(of->layers);
    out->v = mill_scratch(analysis->run, out->n * sizeof *out->v);
    for (uint32_t i = 0; i < out->n; i++) {
        out->v[i] = (layer){{0, 0}, u, u, u, u, u, u, {u, u}};
        memcpy(&out->v[i].key, kit_intern_text(of->layers, i, NULL), sizeof out->v[i].key);
    }
    for (size_t i = 0; i < device->n; i++) {
        if (communication_cancelled(analysis, i))
            return MILL_E_CANCELLED;
        if (of->layer[i] != MILL_NONE)
            out->told |=
                add_activity(analysis, &device->v[i], of->fits[of->name[i]], &out->v[of->layer[i]]);
    }
    if (out->n > 0)
        qsort(out->v, out->n, sizeof *out->v, compare_layers);
    return MILL_OK;
}

static mill_status find_layers(const communication_analysis *analysis, const kit_device *device,
                               device_layers *ret_layers) {
    numbers of = {.names = kit_intern_create(), .layers = kit_intern_create()};
    mill_status status = number(analysis, device, &of);
    if (status == MILL_OK)
        status = find_fits(analysis, &of);
    if (status == MILL_OK)
        status = gather(analysis, device, &of, ret_layers);
    kit_intern_destroy(of.names);
    kit_intern_destroy(of.layers);
    return status;
}

/* ---------------------------------------------------------------- tables */

static void cell_place(const communication_analysis *analysis, kit_table *t,
                       const kit_device *device, const layer *l) {
    kit_table_row(t);
    kit_cell_int(t, device->id);
    kit_cell_int(t, kit_step_number(&analysis->all, (uint32_t)l->key.step));
    kit_cell_int(t, l->key.layer);
}

static const kit_column row_columns[] = {
    {MILL_KIND_ID, "device", "dev.", NULL},
    {MILL_KIND_ID, "step", "step", NULL},
    {MILL_KIND_ID, "layer", "layer", NULL},
    {MILL_KIND_COUNT, "rows_forward", "rows F", "Of the experts, with their padding."},
    {MILL_KIND_COUNT, "rows_backward", "rows B", "Of the experts, with their padding."},
    {MILL_KIND_COUNT, "tokens_forward", "tokens F", "Received."},
    {MILL_KIND_COUNT, "tokens_backward", "tokens B", "Received."},
    {0},
};

static void tell_rows(const communication_analysis *analysis, kit_table *t,
                      const kit_device *device, const layer *l) {
    int64_t balanced = analysis->options->model.balanced_rows;
    cell_place(analysis, t, device, l);
    kit_cell_int(t, l->rows_forward);
    kit_cell_int(t, l->rows_backward);
    kit_cell_int(t, l->tokens_forward);
    kit_cell_int(t, l->tokens_backward);
    if (balanced == 0)
        return;
    kit_cell_ratio(t, l->rows_forward, balanced);
    kit_cell_ratio(t, l->rows_backward, balanced);
}

/* tokens · bytes of each; MILL_UNKNOWN: not known or not given. */
static int64_t message(int64_t tokens, int64_t each) {
    int64_t bytes;
    if (tokens == MILL_UNKNOWN || each <= 0 || __builtin_mul_overflow(tokens, each, &bytes))
        return MILL_UNKNOWN;
    return bytes;
}

/* bytes / ns = GB/s */
static double rate(int64_t bytes, int64_t dur) {
    return bytes == MILL_UNKNOWN || dur <= 0 ? (double)NAN : (double)bytes / (double)dur;
}

/* 2 · rows · k · n / ns, in TFLOP/s */
static double flops(int64_t rows, int64_t k, int64_t n, int64_t dur) {
    if (rows == MILL_UNKNOWN || k <= 0 || n <= 0 || dur <= 0)
        return NAN;
    return 2 * (double)rows * (double)k * (double)n / (double)dur / 1e3;
}

static kit_table *begin_model(kit_report *r) {
    kit_table *t =
        kit_table_begin(r, "model", "Estimates by the model's sizes (chunk F)",
                        "No measurement: from the sizes that the options give and from tokens "
                        "and rows in grids.");
    kit_table_column(t, MILL_KIND_ID, "device", "dev.", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "step", "step", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "layer", "layer", NULL, NULL);
    kit_table_column(t, MILL_KIND_BYTES, "dispatch_bytes", "dispatch", NULL,
                     "tokens received · dispatch-bytes");
    kit_table_column(t, MILL_KIND_REAL, "dispatch_rate", "received", "GB/s",
                     "dispatch / duration of the layer's first dispatch");
    kit_table_column(t, MILL_KIND_BYTES, "combine_bytes", "combine", NULL,
                     "tokens received · combine-bytes");
    kit_table_column(t, MILL_KIND_REAL, "combine_rate", "sent", "GB/s",
                     "combine / duration of the layer's first combine");
    kit_table_column(t, MILL_KIND_REAL, "gemm_1", "grouped gemm 1", "TFLOP/s",
                     "2 · rows · hidden · 2 · expert-hidden / duration");
    kit_table_column(t, MILL_KIND_REAL, "gemm_2", "gemm 2", "TFLOP/s",
                     "2 · rows · expert-hidden · hidden / duration");
    return t;
}

static void tell_model(const communication_analysis *analysis, kit_table *t,
                       const kit_device *device, const layer *l) {
    const communication_model *m = &analysis->options->model;
    int64_t dispatch = message(l->tokens_forward, m->dispatch_bytes);
    int64_t combine = message(l->tokens_forward, m->combine_bytes);
    cell_place(analysis, t, device, l);
    kit_cell_int(t, dispatch);
    kit_cell_real(t, rate(dispatch, l->dispatch));
    kit_cell_int(t, combine);
    kit_cell_real(t, rate(combine, l->combine));
    kit_cell_real(t, flops(l->rows_forward, m->hidden, 2 * m->expert_hidden, l->gemm[0]));
    kit_cell_real(t, flops(l->rows_forward, m->expert_hidden, m->hidden, l->gemm[1]));
}

mill_status communication_tell_model(const communication_analysis *analysis, kit_report *r) {
    const communication_model *m = &analysis->options->model;
    size_t n = analysis->all.n_devices;
    bool told = false;
    if (!analysis->all.places)
        return MILL_OK;
    device_layers *layers = mill_scratch(analysis->run, n * sizeof *layers);
    for (size_t i = 0; i < n; i++) {
        mill_status status = find_layers(analysis, &analysis->all.devices[i], &layers[i]);
        if (status != MILL_OK)
            return status;
        told |= layers[i].told;
    }
    if (!told)
        return MILL_OK;
    kit_table *t = kit_table_of(r, "moe_rows", "Rows of the experts and tokens received",
                                "From the grids of kernels that the options name: one rank's "
                                "load, not that of each expert.",
                                row_columns);
    if (m->balanced_rows > 0) {
        kit_table_column(t, MILL_KIND_RATIO, "forward_over_balanced", "F of balanced", NULL,
                         "rows / balanced-rows");
        kit_table_column(t, MILL_KIND_RATIO, "backward_over_balanced", "B of balanced", NULL,
                         "rows / balanced-rows");
    }
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < layers[i].n; l++)
            tell_rows(analysis, t, &analysis->all.devices[i], &layers[i].v[l]);
    if (m->dispatch_bytes == 0 && m->combine_bytes == 0 && m->hidden == 0)
        return MILL_OK;
    t = begin_model(r);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < layers[i].n; l++)
            tell_model(analysis, t, &analysis->all.devices[i], &layers[i].v[l]);
    return MILL_OK;
}
