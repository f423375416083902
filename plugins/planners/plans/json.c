/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the plans that are JSON documents: SGLang's, vllm-ascend's, vLLM's, and our own. */
#include "plans.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#define INTEGER_MAX 9007199254740992.0 /* 2^53: cJSON's numbers are doubles */

static bool integer(const cJSON *item, int64_t *ret_value) {
    if (!cJSON_IsNumber(item) || !(fabs(item->valuedouble) <= INTEGER_MAX) ||
        item->valuedouble != floor(item->valuedouble))
        return false;
    *ret_value = (int64_t)item->valuedouble;
    return true;
}

static const char *kind_of(const cJSON *item) {
    return cJSON_IsArray(item)    ? "a list"
           : cJSON_IsObject(item) ? "an object"
           : cJSON_IsString(item) ? "a text"
           : cJSON_IsNumber(item) ? "another number"
           : cJSON_IsNull(item)   ? "null"
           : cJSON_IsBool(item)   ? "a truth value"
                                  : "nothing";
}

/* A whole number of an object, from `least` to INT32_MAX. null or missing: what was there. */
static mill_status read_size(const pl_file *f, const cJSON *object, const char *name, int64_t least,
                             int64_t *value) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    int64_t v;
    if (!item || cJSON_IsNull(item))
        return MILL_OK;
    if (!integer(item, &v) || v < least || v > INT32_MAX)
        return pl_fail(f, "\"%s\": expected a whole number from %lld, found %s", name,
                       (long long)least, kind_of(item));
    *value = v;
    return MILL_OK;
}

/* ---------------------------------------------------------------- lists */

/* The experts, or ranks, of a row: `n` numbers from `least` up. what: "slot" of layer `l`. */
static mill_status read_row(const pl_file *f, const cJSON *list, uint32_t l, uint32_t from,
                            int64_t least, int32_t *ret) {
    uint32_t s = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        int64_t v;
        if (!integer(item, &v) || v < least || v >= INT32_MAX)
            return pl_fail(f, "layer %u, slot %u: expected a whole number from %lld, found %s", l,
                           from + s, (long long)least, kind_of(item));
        ret[s++] = (int32_t)v;
    }
    return MILL_OK;
}

/* A list of equally long lists. name: of the key, or NULL. */
static mill_status read_rows(const pl_file *f, const cJSON *rows, const char *name, int64_t least,
                             uint32_t *ret_layers, uint32_t *ret_slots, int32_t **ret) {
    const cJSON *first = cJSON_IsArray(rows) ? rows->child : NULL, *row;
    int layers = cJSON_GetArraySize(rows), slots = cJSON_GetArraySize(first);
    name = name ? name : "the document";
    if (!first)
        return pl_fail(f, "%s: expected a list with a list for each layer, found %s", name,
                       cJSON_IsArray(rows) ? "an empty one" : kind_of(rows));
    uint32_t l = 0;
    cJSON_ArrayForEach(row, rows) {
        if (!cJSON_IsArray(row))
            return pl_fail(f,
                           "%s, layer %u: expected a list with an expert for each slot, found %s",
                           name, l, kind_of(row));
        if (cJSON_GetArraySize(row) != slots)
            return pl_fail(f, "%s, layer %u: expected %d slots, as layer 0 has, found %d", name, l,
                           slots, cJSON_GetArraySize(row));
        l++;
    }
    *ret = mill_scratch(f->run, (size_t)layers * (size_t)slots * sizeof **ret + 1);
    l = 0;
    cJSON_ArrayForEach(row, rows) {
        mill_status status = read_row(f, row, l, 0, least, *ret + (size_t)l * (size_t)slots);
        if (status)
            return status;
        l++;
    }
    *ret_layers = (uint32_t)layers;
    *ret_slots = (uint32_t)slots;
    return MILL_OK;
}

/* A list of `n` numbers of an object, from 0 up; missing or null: NULL. */
static mill_status read_numbers(const pl_file *f, const cJSON *object, const char *name, int64_t n,
                                int64_t **ret) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, name), *item;
    *ret = NULL;
    if (!list || cJSON_IsNull(list))
        return MILL_OK;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != n)
        return pl_fail(f, "\"%s\": expected a list of %lld numbers, found %s of %d", name,
                       (long long)n, kind_of(list), cJSON_GetArraySize(list));
    *ret = mill_scratch(f->run, (size_t)n * sizeof **ret + 1);
    size_t i = 0;
    cJSON_ArrayForEach(item, list) {
        if (!integer(item, &(*ret)[i]) || (*ret)[i] < 0)
            return pl_fail(f, "\"%s\", number %zu: expected a whole number from 0, found %s", name,
                           i, kind_of(item));
        i++;
    }
    return MILL_OK;
}

static mill_status read_indices(const pl_file *f, const cJSON *object, const char *name, int64_t n,
                                uint32_t **ret) {
    int64_t *wide;
    mill_status status = read_numbers(f, object, name, n, &wide);
    if (status || !wide)
        return status;
    *ret = mill_scratch(f->run, (size_t)n * sizeof **ret + 1);
    for (int64_t i = 0; i < n; i++) {
        if (wide[i] > INT32_MAX)
            return pl_fail(f, "\"%s\", number %lld: %lld is too large", name, (long long)i,
                           (long long)wide[i]);
        (*ret)[i] = (uint32_t)wide[i];
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- our own */

static const char *text_of(const pl_file *f, const cJSON *object, const char *name) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? memcpy(mill_scratch(f->run, strlen(text) + 1), text, strlen(text)) : NULL;
}

static mill_status read_rank(const pl_file *f, const cJSON *rows, pl_draft *d) {
    uint32_t layers, slots;
    int32_t *rank;
    mill_status status = read_rows(f, rows, "\"rank\"", 0, &layers, &slots, &rank);
    if (status)
        return status;
    if (layers != d->layers || slots != d->slots)
        return pl_fail(f, "\"rank\": expected %u layers of %u slots, as \"expert\" has", d->layers,
                       d->slots);
    d->rank = (uint32_t *)rank;
    return MILL_OK;
}

static mill_status read_own(const pl_file *f, const cJSON *root, pl_draft *d) {
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(root, "schema");
    const cJSON *rank = cJSON_GetObjectItemCaseSensitive(root, "rank");
    if (!cJSON_IsString(schema) || strcmp(schema->valuestring, PL_SCHEMA) != 0)
        return pl_fail(f, "\"schema\": expected \"" PL_SCHEMA "\", found %s",
                       cJSON_IsString(schema) ? schema->valuestring : kind_of(schema));
    d->format = PL_JSON;
    d->subject = text_of(f, root, "subject");
    d->policy = text_of(f, root, "policy");
    mill_status status = read_rows(f, cJSON_GetObjectItemCaseSensitive(root, "expert"),
                                   "\"expert\"", MILL_NO_EXPERT, &d->layers, &d->slots, &d->expert);
    if (!status && rank && !cJSON_IsNull(rank))
        status = read_rank(f, rank, d);
    struct {
        const char *name;
        int64_t *value;
    } sizes[] = {
        {"experts", &d->experts}, {"gpus", &d->gpus}, {"nodes", &d->nodes}, {"groups", &d->groups}};
    for (size_t i = 0; !status && i < sizeof sizes / sizeof *sizes; i++)
        status = read_size(f, root, sizes[i].name, 1, sizes[i].value);
    if (!status && !d->gpus)
        status = pl_fail(f, "\"gpus\": expected the number of GPUs, found nothing");
    if (!status)
        status = read_indices(f, root, "first", d->gpus + 1, &d->first);
    if (!status)
        status = read_indices(f, root, "node", d->gpus, &d->node);
    if (!status)
        status = read_numbers(f, root, "layer", d->layers, &d->layer);
    return status;
}

/* ---------------------------------------------------------------- engines */

static mill_status read_sglang(const pl_file *f, const cJSON *root, const cJSON *map, pl_draft *d) {
    const cJSON *item;
    cJSON_ArrayForEach(item, root) {
        if (item != map && strcmp(item->string, map->string) == 0)
            return pl_fail(f, "a second \"%s\"", map->string);
        if (item != map)
            mill_log(
                f->run, MILL_WARNING,
                "%s: \"%s\" is left out; SGLang takes a file with physical_to_logical_map alone",
                f->path, item->string);
    }
    d->format = PL_SGLANG;
    d->every_layer = true;
    return read_rows(f, map, "\"physical_to_logical_map\"", 0, &d->layers, &d->slots, &d->expert);
}

/* One device: its place in the list is its number, which a device_id must not gainsay. */
static mill_status read_device(const pl_file *f, const cJSON *device, uint32_t l, uint32_t g,
                               uint32_t each, int32_t *ret) {
    const cJSON *experts = cJSON_GetObjectItemCaseSensitive(device, "device_expert");
    int64_t id = g;
    mill_status status = read_size(f, device, "device_id", 0, &id);
    if (status)
        return status;
    if (id != g)
        return pl_fail(f,
                       "layer %u: \"device_id\" %lld is in place %u of \"device_list\"; "
                       "vllm-ascend goes by places",
                       l, (long long)id, g);
    if (!cJSON_IsArray(experts) || cJSON_GetArraySize(experts) != (int)each)
        return pl_fail(f,
                       "layer %u, device %u: expected a list \"device_expert\" of %u experts, as "
                       "that of the first device, found %s of %d",
                       l, g, each, kind_of(experts), cJSON_GetArraySize(experts));
    return read_row(f, experts, l, g * each, 0, ret);
}

static const cJSON *devices_of(const cJSON *layer) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(layer, "device_list");
    return cJSON_IsArray(list) ? list : NULL;
}

static mill_status read_devices(const pl_file *f, const cJSON *layer, uint32_t l, pl_draft *d) {
    const cJSON *list = devices_of(layer), *device;
    int64_t told = d->gpus, id = l;
    uint32_t each = d->slots / (uint32_t)d->gpus, g = 0;
    mill_status status = read_size(f, layer, "device_count", 1, &told);
    if (!status)
        status = read_size(f, layer, "layer_id", 0, &id);
    if (status)
        return status;
    if (cJSON_GetArraySize(list) != d->gpus || told != d->gpus)
        return pl_fail(f,
                       "layer %u: expected %lld devices, as layer 0 has, found \"device_count\" "
                       "%lld and a \"device_list\" of %d",
                       l, (long long)d->gpus, (long long)told, cJSON_GetArraySize(list));
    d->layer[l] = id;
    cJSON_ArrayForEach(device, list) {
        status =
            read_device(f, device, l, g, each, d->expert + (size_t)l * d->slots + (size_t)g * each);
        if (status)
            return status;
        g++;
    }
    return MILL_OK;
}

static mill_status read_ascend(const pl_file *f, const cJSON *root, const cJSON *layers,
                               pl_draft *d) {
    const cJSON *list = devices_of(cJSON_GetArrayItem(layers, 0)), *layer;
    int64_t n = cJSON_GetArraySize(layers), told = n, each = 0;
    mill_status status = read_size(f, root, "moe_layer_count", 1, &told);
    if (status)
        return status;
    if (told != n || n < 1)
        return pl_fail(f, "\"moe_layer_count\" is %lld, \"layer_list\" has %lld layers",
                       (long long)told, (long long)n);
    d->format = PL_ASCEND;
    d->gpus = cJSON_GetArraySize(list);
    if (d->gpus)
        each = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(list->child, "device_expert"));
    if (each < 1)
        return pl_fail(f,
                       "layer 0: expected a \"device_list\" of devices with \"device_expert\", a "
                       "list of experts");
    if (each > (int64_t)f->length / d->gpus / n) /* less than a byte for each */
        return pl_fail(f,
                       "expected %lld experts, as the first device has, on each of %lld devices in "
                       "each of %lld layers",
                       (long long)each, (long long)d->gpus, (long long)n);
    d->layers = (uint32_t)n;
    d->slots = (uint32_t)(each * d->gpus);
    d->layer = mill_scratch(f->run, d->layers * sizeof *d->layer);
    uint32_t l = 0;
    d->expert = mill_scratch(f->run, (size_t)d->layers * d->slots * sizeof *d->expert);
    cJSON_ArrayForEach(layer, layers) {
        status = read_devices(f, layer, l++, d);
        if (status)
            return status;
    }
    return MILL_OK;
}

static mill_status read_vllm(const pl_file *f, cJSON *root, pl_draft *d) {
    d->format = PL_VLLM;
    d->one_for_all = cJSON_IsNumber(root->child);
    if (!d->one_for_all)
        return read_rows(f, root, NULL, 0, &d->layers, &d->slots, &d->expert);
    d->layers = 1;
    d->slots = (uint32_t)cJSON_GetArraySize(root);
    d->expert = mill_scratch(f->run, d->slots * sizeof *d->expert);
    return read_row(f, root, 0, 0, 0, d->expert);
}

/* ---------------------------------------------------------------- document */

static mill_status read_document(const pl_file *f, cJSON *root, pl_draft *d) {
    static const char *const others[] = {"logical_count", "initial_global_assignments"};
    if (cJSON_IsArray(root))
        return read_vllm(f, root, d);
    if (!cJSON_IsObject(root))
        return pl_fail(f, "expected a list or an object, found %s", kind_of(root));
    if (cJSON_GetObjectItemCaseSensitive(root, "schema"))
        return read_own(f, root, d);
    const cJSON *map = cJSON_GetObjectItemCaseSensitive(root, "physical_to_logical_map");
    const cJSON *layers = cJSON_GetObjectItemCaseSensitive(root, "layer_list");
    if (map)
        return read_sglang(f, root, map, d);
    if (layers)
        return read_ascend(f, root, layers, d);
    if (cJSON_GetObjectItemCaseSensitive(root, others[0]))
        return pl_fail(f, "\"logical_count\" holds loads, of which SGLang makes a plan of its own: "
                          "read it with loads.read, and plan with eplb");
    if (cJSON_GetObjectItemCaseSensitive(root, others[1]))
        return pl_fail(f, "\"initial_global_assignments\" is TensorRT-LLM's, and expected in block "
                          "style: a key a line");
    return pl_fail(f,
                   "no plan: expected one of the keys \"schema\", \"physical_to_logical_map\" and "
                   "\"layer_list\"");
}

mill_status pl_read_json(const pl_file *f, pl_draft *ret) {
    const char *text = (const char *)f->data, *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(text, f->length, &end, false);
    size_t at = end ? (size_t)(end - text) : 0;
    while (root && at < f->length && f->data[at] && strchr(" \t\r\n", f->data[at]))
        at++;
    mill_status status = MILL_OK;
    if (!root && at + 1 >= f->length) /* cJSON names the last byte then */
        status = pl_fail(f, "byte %zu: the document is cut short, or not JSON", at);
    else if (!root)
        status = pl_fail(f, "byte %zu: not JSON; it goes on with \"%.*s\"", at,
                         (int)(f->length - at < 20 ? f->length - at : 20), text + at);
    else if (at < f->length)
        status = pl_fail(f, "byte %zu: expected the end of the document", at);
    if (!status)
        status = read_document(f, root, ret);
    cJSON_Delete(root);
    return status;
}
