/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing traces: every table, row by row and column by column. */
#include "same_trace.h"

#include <glib.h>
#include <string.h>

static void same_column(const char *name, const mill_trace *x, const mill_column *a,
                        const mill_trace *y, const mill_column *b, uint64_t n) {
    if (a->width != b->width)
        g_error("%s: %u bytes a row and %u", name, a->width, b->width);
    for (uint64_t i = 0; a->width && i < n; i++)
        if (memcmp(mill_cell(x, a, i), mill_cell(y, b, i), a->width) != 0)
            g_error("%s: row %" G_GUINT64_FORMAT " differs", name, i);
}

static void same_texts(const char *name, const mill_trace *x, const mill_texts *a,
                       const mill_trace *y, const mill_texts *b) {
    if (a->n != b->n)
        g_error("%s: %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT, name, a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t length = mill_u32(x, &a->length, i);
        if (length != mill_u32(y, &b->length, i) ||
            memcmp(mill_text(x, a, i), mill_text(y, b, i), length) != 0)
            g_error("%s: text %u is \"%s\" and \"%s\"", name, i, mill_text(x, a, i),
                    mill_text(y, b, i));
    }
}

/* Columns that follow each other in a table. */
static void same_table(const char *name, const mill_trace *x, const void *a, const mill_trace *y,
                       const void *b, size_t columns) {
    uint64_t n = *(const uint64_t *)a;
    if (n != *(const uint64_t *)b)
        g_error("%s: %" G_GUINT64_FORMAT " rows and %" G_GUINT64_FORMAT, name, n,
                *(const uint64_t *)b);
    const mill_column *c = (const mill_column *)(const void *)((const char *)a + sizeof n);
    const mill_column *d = (const mill_column *)(const void *)((const char *)b + sizeof n);
    for (size_t i = 0; i < columns; i++) {
        g_autofree char *column = g_strdup_printf("%s, column %zu", name, i);
        same_column(column, x, &c[i], y, &d[i], n);
    }
}

#define COLUMNS(type) ((sizeof(type) - sizeof(uint64_t)) / sizeof(mill_column))
#define SAME_TABLE(table, type) same_table(#table, x, &x->table, y, &y->table, COLUMNS(type))

void same_trace(const mill_trace *x, const mill_trace *y) {
    g_assert_cmpuint(x->events, ==, y->events);
    g_assert_cmpuint(x->complete, ==, y->complete);
    g_assert_cmpint(x->rank, ==, y->rank);
    g_assert_cmpint(x->base_ns, ==, y->base_ns);
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
}
