/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class plan.write: a plan in the format of a serving engine. */
#include "plans.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/expert_plan.h>
#include <tracemill/kit/export.h>
#include <tracemill/kit/npy.h>

#define MODEL_LAYERS 10000 /* more than any model has */

enum { PORT_PLAN };

typedef struct write_options {
    const char *path;
    int format; /* a pl_format */
    int64_t updates, layers;
    bool overwrite;
} write_options;

/* ---------------------------------------------------------------- text */

typedef struct text {
    char *bytes;
    size_t n, room;
} text;

MILL_PRINTF(2, 3) static void put(text *t, const char *format, ...) {
    for (;;) {
        va_list args;
        va_start(args, format);
        int n = vsnprintf(t->bytes ? t->bytes + t->n : NULL, t->room - t->n, format, args);
        va_end(args);
        if (n >= 0 && (size_t)n < t->room - t->n) {
            t->n += (size_t)n;
            return;
        }
        t->room = 2 * t->room + (size_t)n + 4096;
        t->bytes = kit_realloc(t->bytes, t->room, 1);
    }
}

static void put_text(text *t, const char *key, const char *value) {
    char *quoted = NULL;
    if (value) {
        cJSON *item = cJSON_CreateString(value);
        quoted = cJSON_PrintUnformatted(item);
        cJSON_Delete(item);
    }
    put(t, "  \"%s\": %s,\n", key, quoted ? quoted : "null");
    cJSON_free(quoted);
}

static void put_i32(text *t, const int32_t *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        put(t, "%s%d", i ? ", " : "[", v[i]);
    put(t, "]");
}

static void put_indices(text *t, const char *key, const uint32_t *v, uint32_t n) {
    put(t, "  \"%s\": ", key);
    for (uint32_t i = 0; v && i < n; i++)
        put(t, "%s%u", i ? ", " : "[", v[i]);
    put(t, v ? "],\n" : "null,\n");
}

/* A row a line. */
static void put_rows(text *t, const char *indent, const int32_t *v, uint32_t rows, uint32_t n) {
    for (uint32_t l = 0; l < rows; l++) {
        put(t, "%s%s", l ? ",\n" : "\n", indent);
        put_i32(t, v + (size_t)l * n, n);
    }
}

/* ---------------------------------------------------------------- formats */

static void write_own(const mill_expert_plan *p, text *t) {
    put(t, "{\n  \"schema\": \"" PL_SCHEMA "\",\n");
    put_text(t, "subject", p->subject);
    put_text(t, "policy", p->policy);
    put(t, "  \"experts\": %u,\n  \"gpus\": %u,\n", p->experts, p->gpus);
    if (p->nodes)
        put(t, "  \"nodes\": %u,\n", p->nodes);
    if (p->groups)
        put(t, "  \"groups\": %u,\n", p->groups);
    put_indices(t, "first", p->first, p->gpus + 1);
    put_indices(t, "node", p->node, p->gpus);
    put(t, "  \"layer\": ");
    for (uint32_t l = 0; p->layer && l < p->layers; l++)
        put(t, "%s%lld", l ? ", " : "[", (long long)p->layer[l]);
    put(t, "%s,\n  \"expert\": [", p->layer ? "]" : "null");
    put_rows(t, "    ", p->expert, p->layers, p->slots);
    put(t, "\n  ],\n  \"rank\": [");
    put_rows(t, "    ", (const int32_t *)p->rank, p->layers, p->slots);
    put(t, "\n  ]\n}\n");
}

/* SGLang looks a layer up by its number in the model, so those without experts have a row too: its
 * own trivial one. */
static void write_sglang(const mill_expert_plan *p, const write_options *o, text *t) {
    int64_t rows = pl_layer(p->layer, p->layers - 1) + 1;
    uint32_t l = 0;
    rows = o->layers > rows ? o->layers : rows;
    put(t, "{\"physical_to_logical_map\": [");
    for (int64_t row = 0; row < rows; row++) {
        put(t, row ? ",\n  " : "\n  ");
        if (l < p->layers && pl_layer(p->layer, l) == row) {
            put_i32(t, p->expert + (size_t)l++ * p->slots, p->slots);
            continue;
        }
        for (uint32_t s = 0; s < p->slots; s++)
            put(t, "%s%u", s ? ", " : "[", s % p->experts);
        put(t, "]");
    }
    put(t, "\n]}\n");
}

static void write_trtllm(const mill_expert_plan *p, const write_options *o, text *t) {
    put(t, "initial_global_assignments:\n");
    for (uint32_t l = 0; l < p->layers; l++) {
        put(t, "  %lld: ", (long long)pl_layer(p->layer, l));
        put_i32(t, p->expert + (size_t)l * p->slots, p->slots);
        put(t, "\n");
    }
    put(t, "layer_updates_per_iter: %lld\nnum_slots: %u\n", (long long)o->updates, p->slots);
}

static void write_ascend(const mill_expert_plan *p, text *t) {
    put(t, "{\"moe_layer_count\": %u, \"layer_list\": [", p->layers);
    for (uint32_t l = 0; l < p->layers; l++) {
        put(t, "%s\n  {\"layer_id\": %u, \"device_count\": %u, \"device_list\": [", l ? "," : "", l,
            p->gpus);
        for (uint32_t g = 0; g < p->gpus; g++) {
            put(t, "%s\n    {\"device_id\": %u, \"device_expert\": ", g ? "," : "", g);
            put_i32(t, p->expert + (size_t)l * p->slots + p->first[g],
                    p->first[g + 1] - p->first[g]);
            put(t, "}");
        }
        put(t, "]}");
    }
    put(t, "]}\n");
}

static void write_vllm(const mill_expert_plan *p, text *t) {
    put(t, "[");
    put_rows(t, "  ", p->expert, p->layers, p->slots);
    put(t, "\n]\n");
}

/* ---------------------------------------------------------------- what a format can't hold */

static mill_status check_equal(mill_run *run, const mill_expert_plan *p, const char *format) {
    uint32_t each = p->first[1];
    for (uint32_t g = 0; g < p->gpus; g++)
        if (p->first[g + 1] - p->first[g] != each)
            return mill_fail(run, MILL_E_DATA,
                             "GPU %u has %u slots, GPU 0 has %u: %s takes as many on each GPU; "
                             "format = json holds the plan",
                             g, p->first[g + 1] - p->first[g], each, format);
    return MILL_OK;
}

static mill_status check_filled(mill_run *run, const mill_expert_plan *p, const char *format) {
    for (uint32_t l = 0; l < p->layers; l++)
        for (uint32_t s = 0; s < p->slots; s++)
            if (p->expert[(size_t)l * p->slots + s] == MILL_NO_EXPERT)
                return mill_fail(run, MILL_E_DATA,
                                 "layer %lld: slot %u is empty, which %s can't say; format = json "
                                 "holds the plan",
                                 (long long)pl_layer(p->layer, l), s, format);
    return MILL_OK;
}

/* vllm-ascend keeps one slot for each expert of a device: the first of two would never be used. */
static mill_status check_distinct(mill_run *run, const mill_expert_plan *p) {
    uint32_t l, g;
    int32_t e;
    if (!pl_duplicate(run, p, &l, &g, &e))
        return MILL_OK;
    return mill_fail(run, MILL_E_DATA,
                     "layer %lld: GPU %u holds expert %d twice, and vllm-ascend has one slot for "
                     "each expert of a device; plan without duplicates (distinct = yes of eplb)",
                     (long long)pl_layer(p->layer, l), g, e);
}

/* A row for each layer up to the last one. */
static mill_status check_layers(mill_run *run, const mill_expert_plan *p) {
    for (uint32_t l = 0; l < p->layers; l++) {
        int64_t layer = pl_layer(p->layer, l), before = l > 0 ? pl_layer(p->layer, l - 1) : -1;
        if (layer <= before || layer >= MODEL_LAYERS)
            return mill_fail(run, MILL_E_DATA,
                             "row %u is layer %lld: SGLang takes layers that rise, below %d", l,
                             (long long)layer, MODEL_LAYERS);
    }
    return MILL_OK;
}

static mill_status check_format(mill_run *run, const write_options *o, const mill_expert_plan *p) {
    static const char *const engines[] = {[PL_SGLANG] = "SGLang",
                                          [PL_TRTLLM] = "TensorRT-LLM",
                                          [PL_ASCEND] = "vllm-ascend",
                                          [PL_VLLM] = "vLLM",
                                          [PL_NPY] = "npy"};
    if (o->format == PL_JSON)
        return MILL_OK;
    mill_status status = check_equal(run, p, engines[o->format]);
    if (!status && o->format != PL_NPY)
        status = check_filled(run, p, engines[o->format]);
    if (!status && o->format == PL_SGLANG)
        status = check_layers(run, p);
    return !status && o->format == PL_ASCEND ? check_distinct(run, p) : status;
}

/* ---------------------------------------------------------------- stage */

static mill_status write_array(mill_run *run, const write_options *o, const char *path,
                               unsigned dimensions, const uint64_t *shape, const int64_t *v) {
    char head[KIT_NPY_HEAD];
    size_t n = 1;
    for (unsigned i = 0; i < dimensions; i++)
        n *= shape[i];
    mill_sink *sink;
    mill_status status = kit_export_open(run, path, o->overwrite, &sink);
    kit_npy_head(head, dimensions, shape);
    if (!status)
        status = sink->write(sink, head, sizeof head);
    return status ? status : sink->write(sink, v, n * sizeof *v);
}

static mill_status write_npy(mill_run *run, const write_options *o, const mill_expert_plan *p) {
    uint32_t width = kit_most_replicas(p);
    const char *paths[3] = {o->path, pl_npy_sibling(run, o->path, "log2phy"),
                            pl_npy_sibling(run, o->path, "logcnt")};
    size_t slots = (size_t)p->layers * p->slots, experts = (size_t)p->layers * p->experts;
    size_t replicas = experts * width, row = (size_t)p->experts * width;
    int64_t *phy2log = kit_alloc(slots, sizeof *phy2log);
    int64_t *log2phy = kit_alloc(replicas, sizeof *log2phy);
    int64_t *logcnt = kit_alloc(experts, sizeof *logcnt);
    int32_t *layer = kit_alloc(row, sizeof *layer);
    for (size_t i = 0; i < slots; i++)
        phy2log[i] = p->expert[i];
    for (size_t i = 0; i < experts; i++)
        logcnt[i] = p->replicas[i];
    for (uint32_t l = 0; l < p->layers; l++) {
        kit_slots_of_experts(p, l, width, layer);
        for (size_t i = 0; i < row; i++)
            log2phy[l * row + i] = layer[i];
    }
    const uint64_t shape[3] = {p->layers, p->experts, width};
    mill_status status =
        write_array(run, o, paths[0], 2, (const uint64_t[]){p->layers, p->slots}, phy2log);
    if (!status)
        status = write_array(run, o, paths[1], 3, shape, log2phy);
    if (!status)
        status = write_array(run, o, paths[2], 2, shape, logcnt);
    free(layer);
    free(logcnt);
    free(log2phy);
    free(phy2log);
    return status;
}

static mill_status write_text(mill_run *run, const write_options *o, const mill_expert_plan *p) {
    text t = {0};
    mill_sink *sink;
    mill_status status = kit_export_open(run, o->path, o->overwrite, &sink);
    if (status)
        return status;
    switch ((pl_format)o->format) {
    case PL_SGLANG:
        write_sglang(p, o, &t);
        break;
    case PL_TRTLLM:
        write_trtllm(p, o, &t);
        break;
    case PL_ASCEND:
        write_ascend(p, &t);
        break;
    case PL_VLLM:
        write_vllm(p, &t);
        break;
    case PL_JSON:
    case PL_NPY:
        write_own(p, &t);
        break;
    }
    status = sink->write(sink, t.bytes, t.n);
    free(t.bytes);
    return status;
}

static mill_status run_write(mill_run *run, const void *opts, void *state) {
    (void)state;
    const write_options *o = opts;
    const mill_expert_plan *p = mill_input(run, PORT_PLAN, 0);
    mill_status status = check_format(run, o, p);
    if (status)
        return status;
    return o->format == PL_NPY ? write_npy(run, o, p) : write_text(run, o, p);
}

static mill_status check_write(mill_run *run, const void *opts) {
    const write_options *o = opts;
    if (o->format == PL_NPY && !pl_npy_sibling(run, o->path, "log2phy"))
        return mill_fail(run, MILL_E_CONFIG,
                         "format = npy writes three files: expected a path that ends in "
                         "phy2log.npy, beside which log2phy.npy and logcnt.npy go");
    if (o->updates && o->format != PL_TRTLLM)
        return mill_fail(run, MILL_E_CONFIG, "layer-updates-per-iter is of format = trtllm alone");
    if (o->layers && o->format != PL_SGLANG)
        return mill_fail(run, MILL_E_CONFIG, "model-layers is of format = sglang alone");
    return MILL_OK;
}

static const mill_port inputs[] = {
    {.name = "plan", .type = MILL_TYPE_EXPERT_PLAN, .help = "the plan to write"},
    {0},
};

static const char *const formats[] = {PL_FORMAT_NAMES, NULL};

static const mill_option option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(write_options, path, PATH),
     .def = "-",
     .help = "The file to write, - for standard output. With ${item} each key has a file. For npy "
             "it ends in phy2log.npy; log2phy.npy and logcnt.npy go beside it."},
    {.name = "format",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(write_options, format, ENUM),
     .def = "json",
     .choices = formats,
     .help = "Whose format: json holds all of a plan, the others what their engine takes."},
    {.name = "layer-updates-per-iter",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(write_options, updates, INT),
     .def = "0",
     .min = 0,
     .max = 1e6,
     .unit = "layers",
     .help = "trtllm: layers that it moves in each iteration; 0: the plan stays as it is."},
    {.name = "model-layers",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(write_options, layers, INT),
     .def = "0",
     .min = 0,
     .max = MODEL_LAYERS,
     .unit = "layers",
     .help =
         "sglang: rows to write at least, one for each layer of the model; 0: to the plan's last "
         "layer."},
    KIT_EXPORT_OPTIONS(write_options, overwrite),
    {0},
};

const mill_stage pl_write_stage = {
    MILL_STAGE_HEAD,
    .name = "plan.write",
    .summary = "Writes placements of experts, as serving engines take them",
    .help = "What an engine's format can't hold (empty slots, GPUs of unequal size, and for "
            "vllm-ascend two replicas of an expert on a device) is refused, never dropped.",
    .inputs = inputs,
    .options = option_table,
    .options_size = sizeof(write_options),
    .check = check_write,
    .run = run_write,
};
