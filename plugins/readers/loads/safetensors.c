/* SPDX-License-Identifier: Apache-2.0 */
/* Safetensors: one tensor of loads, or TensorRT-LLM's counts, a tensor "<iteration>_<layer>" each;
 * and the folder in which that keeps them, a file a rank.
 *
 * Sources: huggingface/safetensors, README.md, "Format"; NVIDIA/TensorRT-LLM,
 * examples/wide_ep/ep_load_balancer/utils.py (load_expert_statistic, parse_key).
 */
#include "array.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define LENGTH_BYTES 8

/* ---------------------------------------------------------------- the header */

static const struct {
    const char *name;
    char kind;
    unsigned size;
} types[] = {
    {"I64", 'i', 8}, {"I32", 'i', 4}, {"I16", 'i', 2}, {"I8", 'i', 1},
    {"U64", 'u', 8}, {"U32", 'u', 4}, {"U16", 'u', 2}, {"U8", 'u', 1},
    {"F64", 'f', 8}, {"F32", 'f', 4}, {"F16", 'f', 2}, {"BF16", 'B', 2},
};

static bool set_type(kit_npy *a, const char *name) {
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0) {
            a->kind = types[i].kind;
            a->size = types[i].size;
            return true;
        }
    return false;
}

/* A whole number that a double holds exactly. */
static bool whole(const cJSON *item, uint64_t *ret) {
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= 0x1p53))
        return false;
    *ret = (uint64_t)item->valuedouble;
    return (double)*ret == item->valuedouble;
}

/* What an entry of the header says; data: where the numbers of all tensors begin. */
static bool tensor(const cJSON *entry, const uint8_t *data, size_t room, kit_npy *ret) {
    const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(entry, "data_offsets"), *dim;
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(entry, "shape");
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "dtype"));
    uint64_t begin, end, bytes;
    *ret = (kit_npy){.count = 1};
    if (!set_type(ret, type) || !cJSON_IsArray(shape) || cJSON_GetArraySize(offsets) != 2 ||
        !whole(cJSON_GetArrayItem(offsets, 0), &begin) ||
        !whole(cJSON_GetArrayItem(offsets, 1), &end) || begin > end || end > room)
        return false;
    cJSON_ArrayForEach(dim, shape) {
        if (ret->dimensions == KIT_NPY_DIMENSIONS || !whole(dim, &ret->shape[ret->dimensions]))
            return false;
        if (__builtin_mul_overflow(ret->count, ret->shape[ret->dimensions++], &ret->count))
            return false;
    }
    ret->data = data + begin;
    return !__builtin_mul_overflow(ret->count, ret->size, &bytes) && bytes == end - begin;
}

/* The JSON header; the caller deletes it. */
static mill_status open_header(const ld_reading *r, cJSON **ret_header, const uint8_t **ret_data,
                               size_t *ret_room) {
    uint64_t length = 0;
    for (unsigned i = 0; i < LENGTH_BYTES && r->n >= LENGTH_BYTES; i++)
        length |= (uint64_t)r->bytes[i] << 8 * i;
    if (r->n < LENGTH_BYTES || length > r->n - LENGTH_BYTES)
        return mill_fail(r->run, MILL_E_DATA, "%s: no safetensors file, or one that is cut",
                         r->name);
    *ret_data = r->bytes + LENGTH_BYTES + length;
    *ret_room = r->n - LENGTH_BYTES - length;
    *ret_header = cJSON_ParseWithLength((const char *)r->bytes + LENGTH_BYTES, length);
    if (cJSON_IsObject(*ret_header))
        return MILL_OK;
    cJSON_Delete(*ret_header);
    return mill_fail(r->run, MILL_E_DATA,
                     "%s: the header of the safetensors file is no JSON object", r->name);
}

static mill_status bad_tensor(const ld_reading *r, const char *name) {
    return mill_fail(r->run, MILL_E_DATA,
                     "%s: tensor \"%s\": its type, shape and offsets do not fit together or to the "
                     "file; numbers of 8 to 64 bits in at most %d dimensions are read",
                     r->name, name, KIT_NPY_DIMENSIONS);
}

/* ---------------------------------------------------------------- counts by iteration and layer */

/* "<iteration>_<layer>", both below 10^9. */
static bool parse_key(const char *name, int64_t *ret_step, int64_t *ret_layer) {
    size_t first = strspn(name, "0123456789");
    const char *second = name + first + 1;
    if (first == 0 || first > 9 || name[first] != '_')
        return false;
    size_t length = strspn(second, "0123456789");
    if (length == 0 || length > 9 || second[length] != '\0')
        return false;
    *ret_step = strtol(name, NULL, 10);
    *ret_layer = strtol(second, NULL, 10);
    return true;
}

static bool is_entry(const cJSON *entry) {
    return entry->string && strcmp(entry->string, "__metadata__") != 0;
}

/* All tensors of a file that are counts; ret_others: how many are not. */
static mill_status gather_file(ld_gather *g, const ld_reading *file, int64_t experts,
                               uint64_t *ret_others) {
    cJSON *header, *entry;
    const uint8_t *data;
    size_t room;
    uint64_t all = (uint64_t)experts;
    mill_status status = open_header(file, &header, &data, &room);
    if (status != MILL_OK)
        return status;
    cJSON_ArrayForEach(entry, header) {
        kit_npy a;
        int64_t step, layer;
        if (!is_entry(entry))
            continue;
        if (!parse_key(entry->string, &step, &layer)) {
            ++*ret_others;
            continue;
        }
        if (!tensor(entry, data, room, &a) || a.dimensions != 1) {
            status = bad_tensor(file, entry->string);
            break;
        }
        if (all > 0 && a.shape[0] != all) {
            status = mill_fail(
                file->run, MILL_E_DATA, "%s: tensor \"%s\" has %llu experts, %s %llu", file->name,
                entry->string, (unsigned long long)a.shape[0],
                experts > 0 ? "meta_info.json says" : "the one before it", (unsigned long long)all);
            break;
        }
        all = a.shape[0];
        status = ld_gather_array(g, ld_gather_row(g, step, layer), &a);
        if (status != MILL_OK)
            break;
    }
    cJSON_Delete(header);
    return status;
}

static void tell_others(ld_reading *r, uint64_t others) {
    if (others > 0)
        ld_remark_add(&r->remarks, MILL_INFO, "other_tensors",
                      "Tensors that are no counts (<iteration>_<layer>) and were left out: %llu.",
                      (unsigned long long)others);
}

/* The one tensor of the file, or the one called logical_count. */
static mill_status read_single(ld_reading *r) {
    cJSON *header, *entry;
    const cJSON *chosen = NULL;
    const uint8_t *data;
    size_t room;
    kit_npy a;
    mill_status status = open_header(r, &header, &data, &room);
    if (status != MILL_OK)
        return status;
    unsigned n = 0;
    cJSON_ArrayForEach(entry, header) {
        bool named = is_entry(entry) && strcmp(entry->string, "logical_count") == 0;
        if (named || (n == 0 && is_entry(entry)))
            chosen = entry;
        n = named ? 1 : n + is_entry(entry);
        if (named)
            break;
    }
    if (n != 1)
        status = mill_fail(r->run, MILL_E_DATA,
                           "%s: %u tensors; expected counts named <iteration>_<layer>, one tensor "
                           "only, or one named logical_count",
                           r->name, n);
    else
        status =
            tensor(chosen, data, room, &a) ? ld_read_array(r, &a) : bad_tensor(r, chosen->string);
    cJSON_Delete(header);
    return status;
}

mill_status ld_read_safetensors(ld_reading *r) {
    ld_gather g;
    uint64_t others = 0;
    r->format = "safetensors";
    ld_gather_init(&g, r);
    mill_status status = gather_file(&g, r, 0, &others);
    if (status == MILL_OK && g.n > 0) {
        tell_others(r, others);
        status = ld_gather_value(&g);
    } else if (status == MILL_OK) {
        status = read_single(r);
    }
    ld_gather_finish(&g);
    return status;
}

/* ---------------------------------------------------------------- a folder */

typedef struct ranks {
    int64_t *v;
    size_t n, room;
    uint64_t raw; /* rank<k>_raw.safetensors */
} ranks;

/* "rank12.safetensors" is 12; -1: something else. */
static int64_t rank_of(const char *name, const char *suffix) {
    const char *digits = name + 4;
    if (strncmp(name, "rank", 4) != 0)
        return -1;
    size_t n = strspn(digits, "0123456789");
    return n > 0 && n < 9 && strcmp(digits + n, suffix) == 0 ? strtol(digits, NULL, 10) : -1;
}

static mill_status list_ranks(const ld_reading *r, const char *folder, ranks *ret) {
    DIR *dir = opendir(folder);
    if (!dir)
        return mill_fail(r->run, MILL_E_NOINPUT, "%s: %s", folder, strerror(errno));
    for (const struct dirent *d; (d = readdir(dir));) {
        int64_t rank = rank_of(d->d_name, ".safetensors");
        ret->raw += rank_of(d->d_name, "_raw.safetensors") >= 0;
        if (rank < 0)
            continue;
        if (ret->n == ret->room) {
            ret->room = ret->room ? 2 * ret->room : 16;
            ret->v = kit_realloc(ret->v, ret->room, sizeof *ret->v);
        }
        ret->v[ret->n++] = rank;
    }
    closedir(dir);
    if (ret->n == 0)
        return mill_fail(r->run, MILL_E_NOINPUT,
                         "%s: no rank<k>.safetensors stands beside it; give the folder as "
                         "TensorRT-LLM wrote it",
                         r->name);
    qsort(ret->v, ret->n, sizeof *ret->v, ld_compare_numbers);
    return MILL_OK;
}

static void tell_ranks(ld_reading *r, const ranks *all) {
    int64_t last = all->v[all->n - 1];
    if (last >= (int64_t)all->n)
        ld_remark_add(&r->remarks, MILL_WARNING, "rank_gaps",
                      "Ranks 0 to %lld should be there, but %zu are: the loads are not whole.",
                      (long long)last, all->n);
    if (all->raw > 0)
        ld_remark_add(&r->remarks, MILL_INFO, "raw_files",
                      "Files rank<k>_raw.safetensors hold what tokens chose, and were left out: "
                      "%llu.",
                      (unsigned long long)all->raw);
}

static mill_status gather_rank(ld_gather *g, const char *folder, int64_t rank, int64_t experts,
                               uint64_t *ret_others) {
    ld_reading *r = g->r;
    size_t room = strlen(folder) + 40;
    char *path = mill_scratch(r->run, room);
    mill_source *source;
    snprintf(path, room, "%s/rank%lld.safetensors", folder, (long long)rank);
    mill_status status = r->run->host->source_map(r->run, path, &source);
    if (status != MILL_OK)
        return status;
    ld_reading file = {.run = r->run,
                       .options = r->options,
                       .name = path,
                       .bytes = source->data,
                       .n = source->length};
    return gather_file(g, &file, experts, ret_others);
}

mill_status ld_read_folder(ld_reading *r, int64_t experts) {
    const char *slash = strrchr(r->name, '/');
    size_t length = slash ? (size_t)(slash - r->name) : 1;
    char *folder = mill_scratch(r->run, length + 1);
    ranks all = {0};
    ld_gather g;
    uint64_t others = 0;
    memcpy(folder, slash ? r->name : ".", length);
    r->format = "TensorRT-LLM's statistics";
    ld_gather_init(&g, r);
    mill_status status = list_ranks(r, length ? folder : "/", &all);
    for (; g.source < all.n && status == MILL_OK; g.source++)
        status = mill_cancelled(r->run)
                     ? MILL_E_CANCELLED
                     : gather_rank(&g, folder, all.v[g.source], experts, &others);
    if (status == MILL_OK) {
        r->ranks = all.n;
        tell_ranks(r, &all);
        tell_others(r, others);
        status = ld_gather_value(&g);
    }
    ld_gather_finish(&g);
    free(all.v);
    return status;
}
