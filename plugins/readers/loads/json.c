/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: a matrix of loads, SGLang's logical_count, or what leads to TensorRT-LLM's folder.
 *
 * Sources: sgl-project/sglang, python/sglang/srt/eplb/expert_location.py ("logical_count");
 * NVIDIA/TensorRT-LLM, examples/wide_ep/ep_load_balancer/utils.py ("meta_info.json").
 */
#include "loads.h"

#include <cjson/cJSON.h>
#include <string.h>

#define DEEPEST 3

/* [steps][layers][experts], or without steps; each array as long as its neighbours. */
typedef struct nest {
    unsigned depth;
    uint64_t dims[DEEPEST];
    double *next; /* where the next number goes */
    ld_reading *r;
} nest;

static mill_status measure(const ld_reading *r, const cJSON *array, nest *ret) {
    for (const cJSON *a = array; cJSON_IsArray(a); a = a->child) {
        if (ret->depth == DEEPEST)
            return mill_fail(r->run, MILL_E_DATA, "%s: arrays nested more than %d deep", r->name,
                             DEEPEST);
        ret->dims[ret->depth++] = (uint64_t)cJSON_GetArraySize(a);
    }
    if (ret->depth < 2)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: expected arrays in arrays: [layers][experts] or "
                         "[steps][layers][experts]",
                         r->name);
    return MILL_OK;
}

static mill_status uneven(const nest *t, unsigned depth, uint64_t n) {
    static const char *const what[] = {"steps", "layers", "experts"};
    return mill_fail(t->r->run, MILL_E_DATA,
                     "%s: an array of %llu %s where the first one has %llu: all must be of one "
                     "length",
                     t->r->name, (unsigned long long)n, what[depth + DEEPEST - t->depth],
                     (unsigned long long)t->dims[depth]);
}

/* The numbers of one layer of one step. */
static mill_status copy_loads(nest *t, const cJSON *array, uint64_t row) {
    const cJSON *item;
    int64_t expert = 0;
    int64_t step = (int64_t)(row / t->r->value->layers);
    int64_t layer = (int64_t)(row % t->r->value->layers) + t->r->options->first_layer;
    cJSON_ArrayForEach(item, array) {
        if (!cJSON_IsNumber(item))
            return mill_fail(t->r->run, MILL_E_DATA,
                             "%s: step %lld, layer %lld, expert %lld: expected a number",
                             t->r->name, (long long)step, (long long)layer, (long long)expert);
        *t->next++ = ld_valid(t->r, item->valuedouble, step, layer, expert++);
    }
    return MILL_OK;
}

static mill_status copy(nest *t, const cJSON *array, unsigned depth, uint64_t *row) {
    uint64_t n = (uint64_t)cJSON_GetArraySize(array);
    if (!cJSON_IsArray(array) || n != t->dims[depth])
        return uneven(t, depth, n);
    if (depth + 1 == t->depth || depth + 1 == DEEPEST)
        return copy_loads(t, array, (*row)++);
    const cJSON *inner;
    mill_status status = MILL_OK;
    cJSON_ArrayForEach(inner, array) {
        status = copy(t, inner, depth + 1, row);
        if (status != MILL_OK)
            break;
    }
    return status;
}

static mill_status read_nest(ld_reading *r, const cJSON *array) {
    nest t = {.r = r};
    uint64_t row = 0;
    mill_status status = measure(r, array, &t);
    if (status == MILL_OK)
        status = ld_begin(r, t.depth == DEEPEST ? t.dims[0] : 1, t.dims[t.depth - 2],
                          t.dims[t.depth - 1], &t.next);
    if (status == MILL_OK)
        status = copy(&t, array, 0, &row);
    if (status == MILL_OK)
        ld_label_first_layer(r);
    return status;
}

static mill_status read_object(ld_reading *r, const cJSON *object) {
    const cJSON *counts = cJSON_GetObjectItemCaseSensitive(object, "logical_count");
    const cJSON *experts = cJSON_GetObjectItemCaseSensitive(object, "num_experts");
    if (counts) {
        r->format = "SGLang's logical_count";
        return read_nest(r, counts);
    }
    if (cJSON_IsNumber(experts) &&
        cJSON_GetObjectItemCaseSensitive(object, "num_experts_per_token"))
        return ld_read_folder(r, (int64_t)experts->valueint);
    return mill_fail(r->run, MILL_E_DATA,
                     "%s: the object has neither logical_count, as SGLang writes it, nor "
                     "num_experts and num_experts_per_token, as TensorRT-LLM's meta_info.json has",
                     r->name);
}

/* cJSON goes no deeper than CJSON_NESTING_LIMIT, so hostile text costs no stack. */
mill_status ld_read_json(ld_reading *r) {
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithLengthOpts((const char *)r->bytes, r->n, &end, false);
    r->format = "JSON";
    while (json && end < (const char *)r->bytes + r->n && *end && strchr(" \t\r\n", *end))
        end++;
    if (json && end < (const char *)r->bytes + r->n) {
        cJSON_Delete(json);
        return mill_fail(r->run, MILL_E_DATA, "%s: byte %td: the JSON text goes on after its end",
                         r->name, end - (const char *)r->bytes);
    }
    if (!json)
        return mill_fail(r->run, MILL_E_DATA,
                         "%s: byte %td: no JSON (NaN and Infinity are none either)", r->name,
                         end - (const char *)r->bytes);
    mill_status status = cJSON_IsObject(json) ? read_object(r, json) : read_nest(r, json);
    cJSON_Delete(json);
    return status;
}
