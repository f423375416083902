/* SPDX-License-Identifier: Apache-2.0 */
/* Joins what parts of a file gave to one trace. */
#include "trace_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/trace_join.h>

/* ---------------------------------------------------------------- columns */

#define LOAD_REFS(type, none)                                                                      \
    for (size_t i = 0; i < n; i++) {                                                               \
        type v = ((const type *)from)[i];                                                          \
        to[i] = v == (none) ? MILL_NONE : v;                                                       \
    }

static void load_refs(const void *from, unsigned width, size_t n, uint32_t *to) {
    if (width == 1)
        LOAD_REFS(uint8_t, UINT8_MAX)
    else if (width == 2)
        LOAD_REFS(uint16_t, UINT16_MAX)
    else
        memcpy(to, from, n * sizeof *to);
}

/* MILL_NONE is the greatest value of every width. */
static void store_refs(const uint32_t *from, unsigned width, size_t n, void *to) {
    if (width == 1)
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)to)[i] = (uint8_t)from[i];
    else if (width == 2)
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)to)[i] = (uint16_t)from[i];
    else
        memcpy(to, from, n * sizeof *from);
}

/* The mapped values of up to TABLE_STAGED_ROWS rows of a column. */
static size_t mapped_block(const table *t, size_t field, const uint32_t *map, uint64_t first,
                           uint32_t to[TABLE_STAGED_ROWS]) {
    size_t n = t->n - first < TABLE_STAGED_ROWS ? (size_t)(t->n - first) : TABLE_STAGED_ROWS;
    size_t in_segment = first & (TABLE_SEG_ROWS - 1);
    unsigned width = t->width[field];
    load_refs(t->segments[field][first >> TABLE_SEG_SHIFT] + in_segment * width, width, n, to);
    for (size_t i = 0; i < n; i++)
        if (to[i] != MILL_NONE)
            to[i] = map[to[i]];
    return n;
}

/* Maps a column of references, which then has the width that the mapped values need, but at least
 * `least`. */
static void map_column(table *t, size_t field, const uint32_t *map, unsigned least) {
    uint32_t block[TABLE_STAGED_ROWS];
    uint64_t bits = 0;
    bool any = false;
    if (t->width[field] == 0)
        return;
    for (uint64_t first = 0; first < t->n; first += TABLE_STAGED_ROWS) {
        size_t n = mapped_block(t, field, map, first, block);
        for (size_t i = 0; i < n; i++) {
            any |= block[i] != MILL_NONE;
            bits |= block[i] == MILL_NONE ? 0 : table_magnitude(TABLE_REF, block[i]);
        }
    }
    unsigned width = table_width_for(TABLE_REF, bits, any);
    width = width < least ? least : width;
    for (size_t s = 0; s < t->n_segments; s++) {
        char *now = table_segment(table_segment_room(t), width);
        uint64_t begin = (uint64_t)s << TABLE_SEG_SHIFT;
        for (uint64_t i = 0; i < TABLE_SEG_ROWS && begin + i < t->n; i += TABLE_STAGED_ROWS) {
            size_t n = mapped_block(t, field, map, begin + i, block);
            store_refs(block, width, n, now + i * width);
        }
        free(t->segments[field][s]);
        t->segments[field][s] = now;
    }
    t->width[field] = (uint8_t)width;
}

static void make_as_wide(table *t, size_t field, unsigned width) {
    if (t->width[field] < width)
        table_widen(t, field, width, table_limit(t));
}

/* Notes how many rows the segments hold from `first` on, of which only the last may be short. */
static void note_filled(table *t, size_t first, uint64_t rows) {
    t->filled = kit_realloc(t->filled, t->n_segments + 1, sizeof *t->filled);
    for (size_t s = first; s < t->n_segments; s++) {
        size_t in_segment = rows < TABLE_SEG_ROWS ? (size_t)rows : TABLE_SEG_ROWS;
        t->filled[s] = (uint32_t)in_segment;
        rows -= in_segment;
    }
}

/* Of a table that was joined before only the rows behind the last join are looked at. */
static void end_segment(table *t) {
    size_t first = 0;
    uint64_t before = 0;
    table_seal(t);
    while (t->filled && first + 1 < t->n_segments)
        before += t->filled[first++];
    note_filled(t, first, t->n - before);
}

void table_join(table *t, table *from, const uint32_t *const *maps) {
    assert(!from->filled); /* a part is not joined itself */
    table_seal(from);
    if (from->n == 0)
        return;
    end_segment(t);
    for (size_t f = 0; f < t->n_fields; f++) {
        if (maps[f])
            map_column(from, f, maps[f], t->width[f]);
        make_as_wide(from, f, t->width[f]);
        make_as_wide(t, f, from->width[f]);
    }
    size_t before = t->n_segments;
    for (size_t f = 0; f < t->n_fields; f++) {
        t->segments[f] = kit_realloc(t->segments[f], before + from->n_segments, sizeof(char *));
        memcpy(t->segments[f] + before, from->segments[f], from->n_segments * sizeof(char *));
    }
    t->n_segments += from->n_segments;
    note_filled(t, before, from->n);
    t->n += from->n;
    t->room = t->n_segments * TABLE_SEG_ROWS;
    t->missing = t->room - t->n;
    from->n = from->room = from->n_segments = 0;
}

/* ---------------------------------------------------------------- what rows refer to */

void kit_trace_end_part(kit_trace *part) {
    table *tables[] = {&part->gpu,      &part->cpu,    &part->flows,  &part->collectives,
                       &part->counters, &part->syncs,  &part->timers, &part->devices,
                       &part->streams,  &part->threads};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        table_shrink(tables[i]);
}

static uint32_t *new_map(uint64_t n) {
    return kit_realloc(NULL, n + 1, sizeof(uint32_t));
}

static uint32_t *join_texts(kit_intern *to, const kit_intern *from) {
    uint32_t n = kit_intern_count(from), *map = new_map(n);
    for (uint32_t i = 0; i < n; i++) {
        size_t length;
        const char *text = kit_intern_text(from, i, &length);
        map[i] = kit_intern_add(to, text, length, kit_intern_tag(from, i));
    }
    return map;
}

/* A device is told apart by its number, a stream by device, number and label: kit_trace_device and
 * kit_trace_stream find the ones that are there. */
static uint32_t *join_streams(kit_trace *b, const kit_trace *part, const uint32_t *strings) {
    uint32_t *devices = new_map(part->devices.n), *streams = new_map(part->streams.n);
    for (uint32_t i = 0; i < kit_intern_count(part->device_ids); i++) {
        int64_t id;
        memcpy(&id, kit_intern_text(part->device_ids, i, NULL), sizeof id);
        devices[i] = kit_trace_device(b, id);
    }
    for (uint32_t i = 0; i < kit_intern_count(part->stream_ids); i++) {
        stream_record s;
        memcpy(&s, kit_intern_text(part->stream_ids, i, NULL), sizeof s);
        uint32_t label = s.label == MILL_NONE ? MILL_NONE : strings[s.label];
        streams[i] = kit_trace_stream(b, devices[s.device], s.id, label);
    }
    free(devices);
    return streams;
}

void kit_join_init(kit_join *j, kit_trace *b, const kit_trace *part) {
    uint32_t n_collectives = (uint32_t)part->collectives.n;
    *j = (kit_join){.n_threads = (uint32_t)part->threads.n};
    j->strings = join_texts(b->strings, part->strings);
    j->kinds = join_texts(b->kinds, part->kinds);
    j->names = join_texts(b->names, part->names);
    j->streams = join_streams(b, part, j->strings);
    j->threads = new_map(j->n_threads);
    j->collectives = new_map(n_collectives);
    for (uint32_t i = 0; i < n_collectives; i++)
        j->collectives[i] = (uint32_t)b->collectives.n + i;
}

void kit_join_finish(kit_join *j) {
    free(j->strings);
    free(j->kinds);
    free(j->names);
    free(j->streams);
    free(j->collectives);
    free(j->threads);
}

/* ---------------------------------------------------------------- rows */

static uint32_t mapped(const uint32_t *map, uint32_t number) {
    return number == MILL_NONE ? MILL_NONE : map[number];
}

/* Row by row: activities refer to them by number, so that none may be left out. */
static void join_collectives(kit_trace *b, kit_trace *part, const kit_join *j) {
    table_seal(&part->collectives);
    for (uint64_t i = 0; i < part->collectives.n; i++) {
        kit_collective_row row;
        table_row(&part->collectives, i, &row);
        row.operation = mapped(j->strings, row.operation);
        row.dtype = mapped(j->strings, row.dtype);
        row.group = mapped(j->strings, row.group);
        row.ranks = mapped(j->strings, row.ranks);
        row.kind = row.kind == UINT16_MAX ? UINT16_MAX : (uint16_t)j->kinds[row.kind];
        kit_trace_collective(b, &row);
    }
}

static void join_diagnostics(kit_trace *b, const kit_trace *part) {
    for (size_t i = 0; i < part->n_diagnostics; i++) {
        const diagnostic_count *d = &part->diagnostics[i];
        kit_trace_diagnose_many(b, d->what, d->count, d->first_byte);
    }
}

void kit_trace_join(kit_trace *b, kit_trace *part, const kit_join *j, const uint32_t *tracks) {
    const uint32_t *const gpu[TABLE_FIELDS_MAX] = {[GPU_NAME] = j->names,
                                                   [GPU_STREAM] = j->streams,
                                                   [GPU_TRACK] = tracks,
                                                   [GPU_COLLECTIVE] = j->collectives};
    const uint32_t *const cpu[TABLE_FIELDS_MAX] = {
        [CPU_NAME] = j->names, [CPU_THREAD] = j->threads};
    const uint32_t *const flows[TABLE_FIELDS_MAX] = {
        [FLOW_NAME] = j->names, [FLOW_THREAD] = j->threads};
    const uint32_t *const counters[TABLE_FIELDS_MAX] = {
        [COUNTER_NAME] = j->names, [COUNTER_THREAD] = j->threads};
    const uint32_t *const syncs[TABLE_FIELDS_MAX] = {
        [SYNC_NAME] = j->names, [SYNC_STREAM] = j->streams, [SYNC_WAITED_STREAM] = j->streams};
    const uint32_t *const timers[TABLE_FIELDS_MAX] = {
        [TIMER_NAME] = j->names, [TIMER_THREAD] = j->threads};
    join_collectives(b, part, j);
    table_join(&b->gpu, &part->gpu, gpu);
    table_join(&b->cpu, &part->cpu, cpu);
    table_join(&b->flows, &part->flows, flows);
    table_join(&b->counters, &part->counters, counters);
    table_join(&b->syncs, &part->syncs, syncs);
    table_join(&b->timers, &part->timers, timers);
    join_diagnostics(b, part);
}
