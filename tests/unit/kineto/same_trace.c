/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing traces: every table, row by row and column by column. Plain C without GLib, so that it
 * is also built for other processors. */
#include "same_trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MILL_PRINTF(1, 2) static _Noreturn void differ(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

static void same_column(const char *table, size_t number, const mill_trace *x, const mill_column *a,
                        const mill_trace *y, const mill_column *b, uint64_t n) {
    if (a->width != b->width)
        differ("%s, column %zu: %u bytes a row and %u", table, number, a->width, b->width);
    for (uint64_t i = 0; a->width && i < n; i++)
        if (memcmp(mill_cell(x, a, i), mill_cell(y, b, i), a->width) != 0)
            differ("%s, column %zu: row %" PRIu64 " differs", table, number, i);
}

static void same_texts(const char *name, const mill_trace *x, const mill_texts *a,
                       const mill_trace *y, const mill_texts *b) {
    if (a->n != b->n)
        differ("%s: %" PRIu64 " and %" PRIu64, name, a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t length = mill_u32(x, &a->length, i);
        if (length != mill_u32(y, &b->length, i) ||
            memcmp(mill_text(x, a, i), mill_text(y, b, i), length) != 0)
            differ("%s: text %u is \"%s\" and \"%s\"", name, i, mill_text(x, a, i),
                   mill_text(y, b, i));
    }
}

/* Columns that follow each other in a table. */
static void same_table(const char *name, const mill_trace *x, const void *a, const mill_trace *y,
                       const void *b, size_t columns) {
    uint64_t n = *(const uint64_t *)a;
    if (n != *(const uint64_t *)b)
        differ("%s: %" PRIu64 " rows and %" PRIu64, name, n, *(const uint64_t *)b);
    const mill_column *c = (const mill_column *)(const void *)((const char *)a + sizeof n);
    const mill_column *d = (const mill_column *)(const void *)((const char *)b + sizeof n);
    for (size_t i = 0; i < columns; i++)
        same_column(name, i, x, &c[i], y, &d[i], n);
}

#define COLUMNS(type) ((sizeof(type) - sizeof(uint64_t)) / sizeof(mill_column))
#define SAME_TABLE(table, type) same_table(#table, x, &x->table, y, &y->table, COLUMNS(type))

#define SAME_FACT(fact)                                                                            \
    do {                                                                                           \
        if (x->fact != y->fact)                                                                    \
            differ(#fact " differs");                                                              \
    } while (0)

void same_trace(const mill_trace *x, const mill_trace *y) {
    SAME_FACT(events);
    SAME_FACT(complete);
    SAME_FACT(rank);
    SAME_FACT(base_ns);
    same_texts("strings", x, &x->strings, y, &y->strings);
    same_texts("kinds", x, &x->kinds, y, &y->kinds);
    same_texts("names", x, &x->names.texts, y, &y->names.texts);
    SAME_TABLE(devices, mill_devices);
    SAME_TABLE(streams, mill_streams);
    SAME_TABLE(threads, mill_threads);
    SAME_TABLE(gpu, mill_gpu);
    SAME_TABLE(cpu, mill_cpu);
    SAME_TABLE(flows, mill_flows);
    SAME_TABLE(collectives, mill_collectives);
    SAME_TABLE(counters, mill_counters);
    SAME_TABLE(diagnostics, mill_diagnostics);
    SAME_TABLE(syncs, mill_syncs);
    SAME_TABLE(timers, mill_timers);
}
