/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of columns in segments, and their sorting. */
#include "trace_table.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define SEGMENT_ROWS ((size_t)1 << TABLE_SEG_SHIFT)
#define FIRST_ROWS 64 /* room of a table with its first row */

void table_init(table *t, mill_run *run, mill_trace *value, const table_field *fields,
                size_t n_fields) {
    *t = (table){.run = run, .value = value, .fields = fields, .n_fields = n_fields};
}

void table_finish(table *t) {
    for (size_t f = 0; f < t->n_fields; f++) {
        for (size_t s = 0; s < t->n_segments; s++)
            free(t->segments[f][s]);
        free(t->segments[f]);
    }
    *t = (table){0};
}

static void add_segment(table *t, size_t rows) {
    for (size_t f = 0; f < t->n_fields; f++) {
        t->segments[f] = kit_realloc(t->segments[f], t->n_segments + 1, sizeof(char *));
        t->segments[f][t->n_segments] = kit_realloc(NULL, rows, t->fields[f].width);
    }
    t->n_segments++;
    t->room += rows;
}

/* The first segment grows by doubling, so that a small table costs little. */
static void make_room(table *t) {
    if (t->n_segments != 1 || t->room == SEGMENT_ROWS) {
        add_segment(t, t->n_segments ? SEGMENT_ROWS : FIRST_ROWS);
        return;
    }
    t->room *= 2;
    for (size_t f = 0; f < t->n_fields; f++)
        t->segments[f][0] = kit_realloc(t->segments[f][0], t->room, t->fields[f].width);
}

void table_append(table *t, const void *row) {
    if (t->n == t->room)
        make_room(t);
    for (size_t f = 0; f < t->n_fields; f++)
        memcpy(table_cell(t, f, t->n), (const char *)row + t->fields[f].from, t->fields[f].width);
    t->n++;
}

void table_permute(table *t, const uint32_t *order, uint64_t n) {
    uint64_t same = 0;
    while (same < n && order[same] == same)
        same++;
    for (size_t f = 0; same < n && f < t->n_fields; f++) {
        size_t width = t->fields[f].width;
        char *copy = kit_alloc(n - same, width);
        for (uint64_t i = same; i < n; i++)
            memcpy(copy + (i - same) * width, table_cell(t, f, order[i]), width);
        for (uint64_t i = same; i < n; i++)
            memcpy(table_cell(t, f, i), copy + (i - same) * width, width);
        free(copy);
    }
    t->n = n;
}

void table_publish(table *t) {
    uint64_t n_segments = (t->n + SEGMENT_ROWS - 1) / SEGMENT_ROWS;
    for (size_t f = 0; f < t->n_fields; f++) {
        if (t->fields[f].to == 0)
            continue;
        size_t width = t->fields[f].width;
        mill_column *column = (mill_column *)((char *)t->value + t->fields[f].to);
        *column = (mill_column){.width = (uint32_t)width, .seg_shift = TABLE_SEG_SHIFT};
        if (n_segments == 0)
            continue;
        mill_off *offsets = mill_value_alloc(t->run, t->value, n_segments * sizeof(mill_off));
        column->segments = (mill_off)((uintptr_t)offsets - (uintptr_t)t->value);
        for (uint64_t s = 0; s < n_segments; s++) {
            size_t bytes = mill_segment_rows(column, t->n, s) * width;
            void *segment = mill_value_alloc(t->run, t->value, bytes);
            memcpy(segment, t->segments[f][s], bytes);
            offsets[s] = (mill_off)((uintptr_t)segment - (uintptr_t)t->value);
            free(t->segments[f][s]);
            t->segments[f][s] = NULL;
        }
    }
}

/* Where the run that begins at `from` ends. */
static uint64_t run_end(const table *t, table_compare compare, const uint32_t *v, uint64_t from,
                        uint64_t n) {
    uint64_t i = from + 1;
    while (i < n && compare(t, v[i - 1], v[i]) <= 0)
        i++;
    return i;
}

/* Merges the runs [a, b) and [b, end) of v into the same place of `to`. */
static void merge(const table *t, table_compare compare, const uint32_t *v, uint64_t a, uint64_t b,
                  uint64_t end, uint32_t *to) {
    uint64_t left = a, right = b;
    for (uint64_t i = a; i < end; i++) {
        bool from_left = left < b && (right == end || compare(t, v[left], v[right]) <= 0);
        to[i] = from_left ? v[left++] : v[right++];
    }
}

uint32_t *table_order(const table *t, table_compare compare) {
    uint64_t n = t->n;
    uint32_t *v = kit_alloc(n ? n : 1, sizeof *v), *spare = NULL;
    for (uint64_t i = 0; i < n; i++)
        v[i] = (uint32_t)i;
    while (n && run_end(t, compare, v, 0, n) < n) {
        if (!spare)
            spare = kit_alloc(n, sizeof *spare);
        for (uint64_t a = 0, b, end; a < n; a = end) {
            b = run_end(t, compare, v, a, n);
            end = b < n ? run_end(t, compare, v, b, n) : n;
            merge(t, compare, v, a, b, end, spare);
        }
        uint32_t *sorted = spare;
        spare = v;
        v = sorted;
    }
    free(spare);
    return v;
}
