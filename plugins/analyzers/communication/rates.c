/* SPDX-License-Identifier: Apache-2.0 */
/* Bandwidth of collectives whose sizes the file tells.
 *
 * As nccl-tests defines it (NVIDIA/nccl-tests, doc/PERFORMANCE.md): algorithm bandwidth is size /
 * time, the size being that of the whole array; bus bandwidth is that times a factor of the
 * operation and the number of ranks, so that it can be compared with the hardware's. */
#include "communication.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/intern.h>

/* Collectives of one row; no padding, since its bytes are interned. */
typedef struct key {
    int64_t bytes, ranks, kind;
} key;

typedef struct rate {
    key key;
    kit_stats stats;
} rate;

/* Bytes of the whole array: of the larger side, which for reduce-scatter is the input, for
 * all-gather the output. */
static int64_t size_of(const communication_analysis *analysis, uint32_t row) {
    const mill_trace *trace = analysis->all.trace;
    const mill_collectives *c = &trace->collectives;
    int64_t in = mill_i64(trace, &c->in_elems, row), out = mill_i64(trace, &c->out_elems, row);
    int64_t each = mill_i64(trace, &c->elem_bytes, row), bytes;
    int64_t elems = in > out ? in : out;
    if (elems < 0 || each < 0 || __builtin_mul_overflow(elems, each, &bytes))
        return MILL_UNKNOWN;
    return bytes;
}

/* Bus bandwidth / algorithm bandwidth; NaN: nccl-tests defines none. */
static double bus_factor(const char *kind, int64_t ranks) {
    static const struct {
        const char *kind;
        int share; /* 0: 1, whatever the number of ranks; else share · (n-1) / n */
    } factors[] = {
        {"all-reduce", 2}, {"reduce-scatter", 1}, {"all-gather", 1}, {"all-to-all", 1},
        {"broadcast", 0},  {"reduce", 0},         {"send-recv", 0},
    };
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        if (strcmp(factors[i].kind, kind) != 0)
            continue;
        if (factors[i].share == 0)
            return 1;
        return ranks > 0 ? factors[i].share * (double)(ranks - 1) / (double)ranks : NAN;
    }
    return NAN;
}

static int compare_rates(const void *a, const void *b) {
    const rate *x = a, *y = b;
    uint64_t i = (uint64_t)x->stats.sum, j = (uint64_t)y->stats.sum;
    if (i != j)
        return i < j ? 1 : -1;
    return memcmp(&x->key, &y->key, sizeof x->key);
}

/* The rates of one device; ret_known: how many of its communication have a size. */
static mill_status find_rates(const communication_analysis *analysis, const kit_device *device,
                              rate **ret_rates, size_t *ret_n, size_t *ret_known) {
    const mill_trace *trace = analysis->all.trace;
    uint32_t *groups = mill_scratch(analysis->run, analysis->n * sizeof *groups);
    int64_t *durs = mill_scratch(analysis->run, analysis->n * sizeof *durs);
    kit_intern *keys = kit_intern_create();
    size_t n = 0;
    mill_status status = MILL_OK;
    for (size_t i = 0; i < device->n && status == MILL_OK; i++) {
        const kit_activity *a = &device->v[i];
        status = communication_cancelled(analysis, i) ? MILL_E_CANCELLED : MILL_OK;
        uint32_t row = mill_u32(trace, &trace->gpu.collective, a->row);
        if (a->cls != KIT_COMM || row == MILL_NONE)
            continue;
        key k = {size_of(analysis, row), mill_i64(trace, &trace->collectives.group_size, row),
                 a->kind};
        if (k.bytes == MILL_UNKNOWN)
            continue;
        groups[n] = kit_intern_add(keys, (const char *)&k, sizeof k, 0);
        durs[n++] = a->end - a->start;
    }
    *ret_known = n;
    *ret_n = kit_intern_count(keys);
    rate *rates = mill_scratch(analysis->run, *ret_n * sizeof *rates);
    kit_stats *stats = mill_scratch(analysis->run, *ret_n * sizeof *stats);
    kit_stats_by(durs, groups, n, stats, *ret_n);
    for (uint32_t g = 0; g < *ret_n; g++) {
        rates[g].stats = stats[g];
        memcpy(&rates[g].key, kit_intern_text(keys, g, NULL), sizeof rates[g].key);
    }
    kit_intern_destroy(keys);
    if (*ret_n > 0)
        qsort(rates, *ret_n, sizeof *rates, compare_rates);
    *ret_rates = rates;
    return status;
}

static void tell_rate(const communication_analysis *analysis, kit_table *t,
                      const kit_device *device, const rate *of) {
    const char *kind = kit_kind_name(&analysis->all, (uint16_t)of->key.kind);
    double algbw = NAN;
    if (of->stats.sum > 0)
        algbw = (double)of->key.bytes * (double)of->stats.n / (double)of->stats.sum;
    kit_table_row(t);
    kit_cell_int(t, device->id);
    kit_cell_text(t, kind);
    kit_cell_int(t, of->key.ranks);
    kit_cell_int(t, of->key.bytes);
    kit_cell_int(t, of->stats.n);
    kit_cell_int(t, of->stats.sum);
    kit_cell_int(t, of->stats.p50);
    kit_cell_real(t, algbw);
    kit_cell_real(t, algbw * bus_factor(kind, of->key.ranks));
}

static kit_table *begin_table(kit_report *r) {
    kit_table *t = kit_table_begin(r, "rates", "Bandwidth by operation and size",
                                   "A kernel's time holds its wait for other ranks, so this is "
                                   "at most what the hardware does.");
    kit_table_column(t, MILL_KIND_ID, "device", "dev.", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "kind", "kind", NULL, NULL);
    kit_table_column(t, MILL_KIND_COUNT, "ranks", "ranks", NULL, "Of the process group.");
    kit_table_column(t, MILL_KIND_BYTES, "bytes", "size", NULL,
                     "Of the whole array: max(in, out) elements · bytes of one.");
    kit_table_column(t, MILL_KIND_COUNT, "n", "n", NULL, NULL);
    kit_table_column(t, MILL_KIND_NS, "sum", "sum", NULL, "Σ durations");
    kit_table_column(t, MILL_KIND_NS, "p50", "p50", NULL, NULL);
    kit_table_column(t, MILL_KIND_REAL, "algbw", "algbw", "GB/s", "size · n / Σ durations");
    kit_table_column(t, MILL_KIND_REAL, "busbw", "busbw", "GB/s",
                     "algbw · the factor of nccl-tests");
    return t;
}

mill_status communication_tell_rates(const communication_analysis *analysis, kit_report *r) {
    kit_table *t = NULL;
    size_t known = 0;
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        rate *rates;
        size_t n, of_device;
        mill_status status =
            find_rates(analysis, &analysis->all.devices[i], &rates, &n, &of_device);
        if (status != MILL_OK)
            return status;
        known += of_device;
        if (n > 0 && !t)
            t = begin_table(r);
        for (size_t k = 0; k < n && k < (size_t)analysis->options->top; k++)
            tell_rate(analysis, t, &analysis->all.devices[i], &rates[k]);
    }
    if (known < analysis->n)
        kit_note(r, MILL_INFO, "sizes_unknown",
                 "The file does not tell the size of the message of %zu of %zu communication "
                 "kernels: their bandwidth is unknown.",
                 analysis->n - known, analysis->n);
    return MILL_OK;
}
