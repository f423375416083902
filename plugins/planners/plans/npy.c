/* SPDX-License-Identifier: Apache-2.0 */
/* Reads plans as eplb.py's three arrays in .npy files: phy2log, and beside it log2phy and logcnt.
 */
#include "plans.h"

#include <string.h>
#include <tracemill/kit/npy.h>
#include <unistd.h>

static const char suffix[] = "phy2log.npy";

const char *pl_npy_sibling(mill_run *run, const char *path, const char *name) {
    size_t length = strlen(path), n = sizeof suffix - 1, stem = length - n;
    if (length < n || strcmp(path + stem, suffix) != 0)
        return NULL;
    size_t size = stem + strlen(name) + sizeof ".npy";
    char *sibling = mill_scratch(run, size);
    memcpy(sibling, path, stem);
    snprintf(sibling + stem, size - stem, "%s.npy", name);
    return sibling;
}

static mill_status read_array(const pl_file *f, unsigned dimensions, kit_npy *ret) {
    char error[KIT_NPY_ERROR];
    if (!kit_npy_read(f->data, f->length, ret, error))
        return pl_fail(f, "%s", error);
    if (ret->dimensions != dimensions)
        return pl_fail(f, "expected an array of %u dimensions, found %u", dimensions,
                       ret->dimensions);
    for (unsigned i = 0; i < dimensions; i++)
        if (ret->shape[i] < 1 || ret->shape[i] > INT32_MAX)
            return pl_fail(f, "expected no empty array, found dimension %u of %llu", i,
                           (unsigned long long)ret->shape[i]);
    return MILL_OK;
}

/* Opens log2phy or logcnt, where it lies beside phy2log; NULL data: it does not. */
static mill_status open_sibling(const pl_file *f, const char *name, unsigned dimensions,
                                pl_file *ret_file, kit_npy *ret) {
    const char *path = pl_npy_sibling(f->run, f->path, name);
    *ret_file = (pl_file){.run = f->run, .path = path};
    if (!path || access(path, F_OK) != 0)
        return MILL_OK;
    mill_source *source;
    mill_status status = f->run->host->source_map(f->run, path, &source);
    if (status)
        return status;
    ret_file->data = source->length ? source->data : (const uint8_t *)"";
    ret_file->length = source->length;
    return read_array(ret_file, dimensions, ret);
}

/* The replicas of an expert: they are numbered in the order of its row. */
static mill_status read_replicas(const pl_file *f, const kit_npy *slots, uint64_t l, uint64_t e,
                                 pl_draft *d, uint64_t *ret_n) {
    uint64_t width = slots->shape[2], n = 0;
    for (uint64_t k = 0; k < width; k++) {
        int64_t slot;
        if (!kit_npy_int(slots, (l * slots->shape[1] + e) * width + k, &slot) || slot < -1 ||
            slot >= d->slots)
            return pl_fail(f,
                           "layer %llu, expert %llu, replica %llu: expected a slot below %u, or "
                           "-1 for none",
                           (unsigned long long)l, (unsigned long long)e, (unsigned long long)k,
                           d->slots);
        if (slot < 0)
            continue;
        uint64_t at = l * d->slots + (uint64_t)slot;
        if (n != k || d->expert[at] != (int64_t)e || d->rank[at] != UINT32_MAX)
            return pl_fail(f, "layer %llu, expert %llu, replica %llu: slot %lld %s",
                           (unsigned long long)l, (unsigned long long)e, (unsigned long long)k,
                           (long long)slot,
                           n != k                        ? "follows a -1"
                           : d->expert[at] != (int64_t)e ? "holds another expert in phy2log"
                                                         : "is named twice");
        d->rank[at] = (uint32_t)n++;
    }
    *ret_n = n;
    return MILL_OK;
}

static mill_status read_ranks(const pl_file *f, const kit_npy *slots, const pl_file *count_file,
                              const kit_npy *counts, pl_draft *d) {
    if (slots->shape[0] != d->layers || counts->shape[0] != d->layers ||
        slots->shape[1] != counts->shape[1])
        return pl_fail(f,
                       "expected %u layers, as phy2log has, and as many experts as in logcnt; "
                       "found %llu of %llu here, %llu of %llu in logcnt",
                       d->layers, (unsigned long long)slots->shape[0],
                       (unsigned long long)slots->shape[1], (unsigned long long)counts->shape[0],
                       (unsigned long long)counts->shape[1]);
    d->experts = (int64_t)slots->shape[1];
    size_t n = (size_t)d->layers * d->slots;
    d->rank = memset(mill_scratch(f->run, n * sizeof *d->rank), 0xff, n * sizeof *d->rank);
    for (uint64_t l = 0; l < d->layers; l++)
        for (uint64_t e = 0; e < slots->shape[1]; e++) {
            uint64_t replicas = 0;
            int64_t told;
            mill_status status = read_replicas(f, slots, l, e, d, &replicas);
            if (status)
                return status;
            if (!kit_npy_int(counts, l * counts->shape[1] + e, &told) || told != (int64_t)replicas)
                return pl_fail(count_file,
                               "layer %llu, expert %llu: expected %llu replicas, as "
                               "log2phy has",
                               (unsigned long long)l, (unsigned long long)e,
                               (unsigned long long)replicas);
        }
    for (size_t i = 0; i < n; i++) {
        if (d->expert[i] != MILL_NO_EXPERT && d->rank[i] == UINT32_MAX)
            return pl_fail(f, "layer %zu: slot %zu, which holds expert %d in phy2log, is missing",
                           i / d->slots, i % d->slots, d->expert[i]);
        if (d->expert[i] == MILL_NO_EXPERT)
            d->rank[i] = 0;
    }
    return MILL_OK;
}

mill_status pl_read_npy(const pl_file *f, pl_draft *d) {
    kit_npy plan, slots, counts;
    mill_status status = read_array(f, 2, &plan);
    if (status)
        return status;
    d->format = PL_NPY;
    d->layers = (uint32_t)plan.shape[0];
    d->slots = (uint32_t)plan.shape[1];
    d->expert = mill_scratch(f->run, plan.count * sizeof *d->expert);
    for (uint64_t i = 0; i < plan.count; i++) {
        int64_t e;
        if (!kit_npy_int(&plan, i, &e) || e < MILL_NO_EXPERT || e >= INT32_MAX)
            return pl_fail(f,
                           "layer %llu, slot %llu: expected a whole number from 0, or -1 for an "
                           "empty slot",
                           (unsigned long long)(i / d->slots), (unsigned long long)(i % d->slots));
        d->expert[i] = (int32_t)e;
    }
    pl_file slots_file, counts_file;
    status = open_sibling(f, "log2phy", 3, &slots_file, &slots);
    if (!status)
        status = open_sibling(f, "logcnt", 2, &counts_file, &counts);
    if (status || (!slots_file.data && !counts_file.data))
        return status;
    if (!slots_file.data || !counts_file.data)
        return pl_fail(f, "%s lies beside it, but not %s: expected both, or none",
                       slots_file.data ? slots_file.path : counts_file.path,
                       slots_file.data ? counts_file.path : slots_file.path);
    return read_ranks(&slots_file, &slots, &counts_file, &counts, d);
}
