/* SPDX-License-Identifier: Apache-2.0 */
/* Completes a trace: order, duplicates, broken timers, launches, parents, and the columns of the
 * value. */
#include "trace_private.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

static const kit_diagnostic duplicate = {
    "duplicate",
    "GPU activities that the file holds twice (same pid, tid, start, duration, name and "
    "correlation) were kept once.",
    false};
static const kit_diagnostic clipped = {
    "clipped-timer",
    "GPU activities that ran further into a later one of their stream than max-overlap allows were "
    "cut where that one starts.",
    false};

static int compare_i64(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int compare_field(const table *t, size_t field, uint32_t a, uint32_t b) {
    if (t->fields[field].width == sizeof(int64_t))
        return compare_i64(table_i64(t, field, a), table_i64(t, field, b));
    return compare_i64(table_u32(t, field, a), table_u32(t, field, b));
}

static int64_t end_of(const table *t, uint64_t row) {
    return table_i64(t, GPU_START, row) + table_i64(t, GPU_DUR, row);
}
_Static_assert((int)GPU_START == CPU_START && (int)GPU_DUR == CPU_DUR, "end_of serves both");

/* ---------------------------------------------------------------- devices and streams */

/* Sorts a small table; gives back which row each old row became, to be freed. */
static uint32_t *sort_and_renumber(table *t, table_compare compare) {
    uint32_t *order = table_order(t, compare), *now = kit_alloc(t->n + 1, sizeof *now);
    for (uint64_t i = 0; i < t->n; i++)
        now[order[i]] = (uint32_t)i;
    table_permute(t, order, t->n);
    free(order);
    return now;
}

static void renumber(table *t, size_t field, const uint32_t *now) {
    for (uint64_t i = 0; i < t->n; i++) {
        uint32_t *cell = table_cell(t, field, i);
        *cell = now[*cell];
    }
}

static int compare_devices(const table *t, uint32_t a, uint32_t b) {
    return compare_field(t, DEVICE_ID, a, b);
}

static int compare_streams(const table *t, uint32_t a, uint32_t b) {
    int order = compare_field(t, STREAM_DEVICE, a, b);
    if (!order)
        order = compare_field(t, STREAM_ID, a, b);
    return order ? order : compare_field(t, STREAM_LABEL, a, b);
}

/* So that the number of a stream stands for (device, id) in every order. */
static void order_streams(kit_trace *b) {
    uint32_t *now = sort_and_renumber(&b->devices, compare_devices);
    renumber(&b->streams, STREAM_DEVICE, now);
    free(now);
    now = sort_and_renumber(&b->streams, compare_streams);
    renumber(&b->gpu, GPU_STREAM, now);
    free(now);
}

static void count_rows_of_devices(kit_trace *b) {
    for (uint64_t i = 0; i < b->gpu.n; i++) {
        uint32_t stream = table_u32(&b->gpu, GPU_STREAM, i);
        uint32_t device = table_u32(&b->streams, STREAM_DEVICE, stream);
        ++*(uint64_t *)table_cell(&b->devices, DEVICE_ROWS, device);
    }
}

/* ---------------------------------------------------------------- GPU activities */

/* (start, end, stream, correlation), then what else makes a duplicate, so that they lie together.
 */
static int compare_gpu(const table *t, uint32_t a, uint32_t b) {
    static const uint8_t fields[] = {GPU_START,       GPU_DUR,  GPU_STREAM,
                                     GPU_CORRELATION, GPU_NAME, GPU_TRACK};
    int order = 0;
    for (size_t i = 0; order == 0 && i < sizeof fields; i++)
        order = compare_field(t, fields[i], a, b);
    return order;
}

static void sort_gpu(kit_trace *b) {
    uint32_t *order = table_order(&b->gpu, compare_gpu);
    table_permute(&b->gpu, order, b->gpu.n);
    free(order);
}

/* Of sorted rows. */
static void drop_duplicates(kit_trace *b) {
    table *t = &b->gpu;
    uint32_t *kept = kit_alloc(t->n + 1, sizeof *kept);
    uint64_t n = 0;
    for (uint64_t i = 0; i < t->n; i++) {
        if (n && compare_gpu(t, kept[n - 1], (uint32_t)i) == 0)
            kit_trace_diagnose(b, &duplicate, table_i64(t, GPU_BYTE, i));
        else
            kept[n++] = (uint32_t)i;
    }
    table_permute(t, kept, n);
    free(kept);
}

/* Cuts an activity at the start of the next later one of its stream that it runs into by more than
 * max_overlap. Only the next start needs a look: what starts after that is overlapped by less. */
static bool clip_broken_timers(kit_trace *b, int64_t max_overlap) {
    typedef struct upcoming {
        bool has, has_later;
        int64_t start, later; /* the start seen last, and the one after that */
    } upcoming;
    upcoming *streams = kit_alloc(b->streams.n + 1, sizeof *streams);
    table *t = &b->gpu;
    bool any = false;
    for (uint64_t i = t->n; i-- > 0;) {
        upcoming *u = &streams[table_u32(t, GPU_STREAM, i)];
        int64_t start = table_i64(t, GPU_START, i), end = end_of(t, i);
        if (u->has && start < u->start) {
            u->later = u->start;
            u->has_later = true;
        }
        u->start = start;
        u->has = true;
        if (u->has_later && end > u->later && end - u->later > max_overlap) {
            *(int64_t *)table_cell(t, GPU_DUR, i) = u->later - start;
            kit_trace_diagnose(b, &clipped, table_i64(t, GPU_BYTE, i));
            any = true;
        }
    }
    free(streams);
    return any;
}

/* ---------------------------------------------------------------- CPU slices */

/* (start, longest first, thread): a parent comes before its children. */
static int compare_cpu(const table *t, uint32_t a, uint32_t b) {
    int order = compare_field(t, CPU_START, a, b);
    if (!order)
        order = compare_field(t, CPU_DUR, b, a);
    return order ? order : compare_field(t, CPU_THREAD, a, b);
}

/* Each thread's open slices hang together by their parents, from the innermost one out. */
static void find_parents(kit_trace *b) {
    table *t = &b->cpu;
    uint32_t *innermost = kit_alloc(b->threads.n + 1, sizeof *innermost);
    memset(innermost, 0xff, (b->threads.n + 1) * sizeof *innermost); /* MILL_NONE */
    for (uint64_t i = 0; i < t->n; i++) {
        uint32_t *top = &innermost[table_u32(t, CPU_THREAD, i)];
        int64_t start = table_i64(t, CPU_START, i), end = end_of(t, i);
        while (*top != MILL_NONE && (end_of(t, *top) <= start || end_of(t, *top) < end))
            *top = table_u32(t, CPU_PARENT, *top);
        *(uint32_t *)table_cell(t, CPU_PARENT, i) = *top;
        *top = (uint32_t)i;
    }
    free(innermost);
}

static int compare_correlation(const table *t, uint32_t a, uint32_t b) {
    return compare_field(t, CPU_CORRELATION, a, b);
}

/* The first runtime or driver call of that correlation, or MILL_NONE. `calls` is sorted by it. */
static uint32_t find_launch(const table *cpu, const uint32_t *calls, uint64_t n,
                            int64_t correlation) {
    uint64_t low = 0, high = n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (table_i64(cpu, CPU_CORRELATION, calls[middle]) < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < n && table_i64(cpu, CPU_CORRELATION, calls[low]) == correlation;
    return found ? calls[low] : MILL_NONE;
}

/* By correlation alone: neither the names of calls nor the arrows of the file can be relied on.
 * Correlation 0 is CUPTI's "none". */
static void join_launches(kit_trace *b) {
    table *cpu = &b->cpu, *gpu = &b->gpu;
    uint32_t *calls = table_order(cpu, compare_correlation);
    uint64_t n = 0;
    for (uint64_t i = 0; i < cpu->n; i++) {
        uint8_t kind = *(uint8_t *)table_cell(cpu, CPU_KIND, calls[i]);
        if (kind == MILL_CPU_RUNTIME || kind == MILL_CPU_DRIVER)
            calls[n++] = calls[i];
    }
    for (uint64_t i = 0; i < gpu->n; i++) {
        int64_t correlation = table_i64(gpu, GPU_CORRELATION, i);
        if (correlation != MILL_UNKNOWN && correlation != 0)
            *(uint32_t *)table_cell(gpu, GPU_LAUNCH, i) = find_launch(cpu, calls, n, correlation);
    }
    free(calls);
}

/* ---------------------------------------------------------------- texts and diagnostics */

typedef struct text_record {
    mill_off text;
    uint32_t length;
    name_class cls; /* of names only */
} text_record;

/* Publishes the texts of an intern table, all in one piece of memory, by the fields given. */
static void publish_texts(kit_trace *b, const kit_intern *intern, const table_field *fields,
                          size_t n_fields, mill_texts *texts) {
    uint32_t n = kit_intern_count(intern);
    size_t bytes = 1, length;
    for (uint32_t i = 0; i < n; i++) {
        kit_intern_text(intern, i, &length);
        bytes += length + 1;
    }
    char *to = mill_value_alloc(b->run, b->value, bytes);
    table t;
    table_init(&t, b->run, b->value, fields, n_fields);
    for (uint32_t i = 0; i < n; i++) {
        const char *text = kit_intern_text(intern, i, &length);
        memcpy(to, text, length);
        text_record record = {(mill_off)((uintptr_t)to - (uintptr_t)b->value),
                              (uint32_t)length,
                              {UINT16_MAX, UINT16_MAX, MILL_CLASS_NONE}};
        if (i < b->n_classes)
            record.cls = b->classes[i];
        table_append(&t, &record);
        to += length + 1;
    }
    table_publish(&t);
    table_finish(&t);
    texts->n = n;
}

#define PUBLISH_TEXTS(b, column)                                                                   \
    do {                                                                                           \
        static const table_field fields[] = {TABLE_FIELD(text_record, text, column.text),          \
                                             TABLE_FIELD(text_record, length, column.length)};     \
        publish_texts((b), (b)->column, fields, 2, &(b)->value->column);                           \
    } while (0)

static void publish_names(kit_trace *b) {
    static const table_field fields[] = {
        TABLE_FIELD(text_record, text, names.texts.text),
        TABLE_FIELD(text_record, length, names.texts.length),
        TABLE_FIELD(text_record, cls.cls, names.cls),
        TABLE_FIELD(text_record, cls.kind, names.kind),
        TABLE_FIELD(text_record, cls.rule, names.rule),
    };
    publish_texts(b, b->names, fields, 5, &b->value->names.texts);
}

typedef struct diagnostic_record {
    uint64_t count;
    int64_t first_byte;
    uint32_t kind, text;
    uint8_t lost;
} diagnostic_record;

static void publish_diagnostics(kit_trace *b) {
    static const table_field fields[] = {
        TABLE_FIELD(diagnostic_record, kind, diagnostics.kind),
        TABLE_FIELD(diagnostic_record, text, diagnostics.text),
        TABLE_FIELD(diagnostic_record, count, diagnostics.count),
        TABLE_FIELD(diagnostic_record, first_byte, diagnostics.first_byte),
        TABLE_FIELD(diagnostic_record, lost, diagnostics.lost),
    };
    table t;
    table_init(&t, b->run, b->value, fields, 5);
    for (size_t i = 0; i < b->n_diagnostics; i++) {
        const diagnostic_count *d = &b->diagnostics[i];
        diagnostic_record record = {
            d->count, d->first_byte, kit_trace_string(b, d->what->kind, strlen(d->what->kind)),
            kit_trace_string(b, d->what->text, strlen(d->what->text)), d->what->lost};
        table_append(&t, &record);
    }
    table_publish(&t);
    table_finish(&t);
    b->value->diagnostics.n = b->n_diagnostics;
}

mill_trace *kit_trace_finish(kit_trace *b, int64_t max_overlap) {
    mill_trace *t = b->value;
    order_streams(b);
    sort_gpu(b);
    drop_duplicates(b);
    if (clip_broken_timers(b, max_overlap))
        sort_gpu(b); /* their ends moved */
    count_rows_of_devices(b);

    uint32_t *order = table_order(&b->cpu, compare_cpu);
    table_permute(&b->cpu, order, b->cpu.n);
    free(order);
    find_parents(b);
    join_launches(b);

    table *tables[] = {&b->gpu, &b->cpu, &b->devices, &b->streams, &b->threads};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        table_publish(tables[i]);
    t->gpu.n = b->gpu.n;
    t->cpu.n = b->cpu.n;
    t->devices.n = b->devices.n;
    t->streams.n = b->streams.n;
    t->threads.n = b->threads.n;

    publish_diagnostics(b);
    publish_names(b);
    PUBLISH_TEXTS(b, strings);
    PUBLISH_TEXTS(b, kinds);
    PUBLISH_TEXTS(b, rules);
    return t;
}
