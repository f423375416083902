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

static const kit_diagnostic launched_late = {
    "launch-after-start",
    "GPU activities that start before the call that launched them (the clocks do not agree); their "
    "launch delay is unknown.",
    false};

/* The cells of a block of rows. */
typedef int64_t cells[TABLE_STAGED_ROWS];

static int compare_i64(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int compare_field(const table *t, size_t field, uint32_t a, uint32_t b) {
    return compare_i64(table_get(t, field, a), table_get(t, field, b));
}

static int64_t end_of(const table *t, uint64_t row) {
    return table_get(t, GPU_START, row) + table_get(t, GPU_DUR, row);
}
_Static_assert((int)GPU_START == CPU_START && (int)GPU_DUR == CPU_DUR, "end_of serves both");

/* ---------------------------------------------------------------- devices and streams */

/* Sorts a small table; gives back which row each old row became, to be freed. */
static uint32_t *sort_and_renumber(table *t, size_t field, table_compare tie) {
    uint32_t *order = kit_alloc(t->n + 1, sizeof *order), *now = kit_alloc(t->n + 1, sizeof *now);
    for (uint32_t i = 0; i < t->n; i++)
        order[i] = i;
    table_sort_rows(t, field, tie, order, t->n);
    for (uint32_t i = 0; i < t->n; i++)
        now[order[i]] = i;
    table_permute(t, order, t->n);
    free(order);
    return now;
}

static void renumber(table *t, size_t field, const uint32_t *now) {
    cells old;
    for (table_block k = {0}; table_next_block(t, &k);) {
        table_read(t, field, &k, old);
        for (size_t i = 0; i < k.n; i++)
            if (old[i] != MILL_NONE && now[old[i]] != old[i])
                table_set(t, field, k.first + i, now[old[i]]);
    }
}

static int compare_streams(const table *t, uint32_t a, uint32_t b) {
    int order = compare_field(t, STREAM_ID, a, b);
    return order ? order : compare_field(t, STREAM_LABEL, a, b);
}

/* So that the number of a stream stands for (device, id) in every order. */
static void order_streams(kit_trace *b) {
    uint32_t *now = sort_and_renumber(&b->devices, DEVICE_ID, NULL);
    renumber(&b->streams, STREAM_DEVICE, now);
    free(now);
    now = sort_and_renumber(&b->streams, STREAM_DEVICE, compare_streams);
    renumber(&b->gpu, GPU_STREAM, now);
    renumber(&b->syncs, SYNC_STREAM, now);
    renumber(&b->syncs, SYNC_WAITED_STREAM, now);
    free(now);
}

static void count_rows_of_devices(kit_trace *b) {
    int64_t *rows = kit_alloc(b->streams.n + 1, sizeof *rows);
    cells stream;
    for (table_block k = {0}; table_next_block(&b->gpu, &k);) {
        table_read(&b->gpu, GPU_STREAM, &k, stream);
        for (size_t i = 0; i < k.n; i++)
            rows[stream[i]]++;
    }
    for (uint64_t i = 0; i < b->streams.n; i++) {
        uint64_t device = (uint64_t)table_get(&b->streams, STREAM_DEVICE, i);
        table_set(&b->devices, DEVICE_ROWS, device,
                  table_get(&b->devices, DEVICE_ROWS, device) + rows[i]);
    }
    free(rows);
}

/* ---------------------------------------------------------------- GPU activities */

/* Of activities with one start: (end, stream, correlation), then what else makes a duplicate, so
 * that they lie together. */
static int compare_gpu(const table *t, uint32_t a, uint32_t b) {
    static const uint8_t fields[] = {GPU_DUR, GPU_STREAM, GPU_CORRELATION, GPU_NAME, GPU_TRACK};
    int order = 0;
    for (size_t i = 0; order == 0 && i < sizeof fields; i++)
        order = compare_field(t, fields[i], a, b);
    return order;
}

/* Of sorted rows. */
static void drop_duplicates(kit_trace *b) {
    table *t = &b->gpu;
    uint64_t *dropped = NULL;
    uint32_t kept = 0;
    int64_t kept_start = MILL_UNKNOWN; /* as no activity starts */
    cells start;
    for (table_block k = {0}; table_next_block(t, &k);) {
        table_read(t, GPU_START, &k, start);
        for (size_t i = 0; i < k.n; i++) {
            uint32_t row = (uint32_t)(k.first + i);
            if (start[i] != kept_start || compare_gpu(t, kept, row) != 0) {
                kept = row;
                kept_start = start[i];
                continue;
            }
            if (!dropped)
                dropped = table_bits(t);
            table_set_bit(dropped, row);
            kit_trace_diagnose(b, &duplicate, table_get(t, GPU_BYTE, row));
        }
    }
    if (dropped)
        table_drop(t, dropped);
    free(dropped);
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
        upcoming *u = &streams[table_get(t, GPU_STREAM, i)];
        int64_t start = table_get(t, GPU_START, i), end = end_of(t, i);
        if (u->has && start < u->start) {
            u->later = u->start;
            u->has_later = true;
        }
        u->start = start;
        u->has = true;
        if (u->has_later && end > u->later && end - u->later > max_overlap) {
            table_set(t, GPU_DUR, i, u->later - start);
            kit_trace_diagnose(b, &clipped, table_get(t, GPU_BYTE, i));
            any = true;
        }
    }
    free(streams);
    return any;
}

/* One for each activity that is left, in their order. */
static void order_collectives(kit_trace *b) {
    if (b->collectives.n == 0)
        return;
    uint32_t *order = kit_realloc(NULL, b->collectives.n, sizeof *order);
    uint64_t n = 0;
    for (uint64_t i = 0; i < b->gpu.n; i++) {
        uint32_t collective = (uint32_t)table_get(&b->gpu, GPU_COLLECTIVE, i);
        if (collective == MILL_NONE)
            continue;
        table_set(&b->gpu, GPU_COLLECTIVE, i, (int64_t)n);
        order[n++] = collective;
    }
    table_permute(&b->collectives, order, n);
    free(order);
}

/* ---------------------------------------------------------------- CPU slices */

/* Of slices with one start: (longest first, thread), so that a parent comes before its children. */
static int compare_cpu(const table *t, uint32_t a, uint32_t b) {
    int order = compare_field(t, CPU_DUR, b, a);
    return order ? order : compare_field(t, CPU_THREAD, a, b);
}

/* Each thread's open slices hang together by their parents, from the innermost one out. */
static void find_parents(kit_trace *b) {
    typedef struct open_slice {
        int64_t end;
        uint32_t row; /* MILL_NONE: none */
    } open_slice;
    table *t = &b->cpu;
    open_slice *innermost = kit_alloc(b->threads.n + 1, sizeof *innermost);
    memset(innermost, 0xff, (b->threads.n + 1) * sizeof *innermost);
    table_begin(t, CPU_PARENT);
    cells start, dur, thread;
    for (table_block k = {0}; table_next_block(t, &k);) {
        table_read(t, CPU_START, &k, start);
        table_read(t, CPU_DUR, &k, dur);
        table_read(t, CPU_THREAD, &k, thread);
        for (size_t i = 0; i < k.n; i++) {
            open_slice *top = &innermost[thread[i]];
            int64_t end = start[i] + dur[i];
            while (top->row != MILL_NONE && (top->end <= start[i] || top->end < end)) {
                top->row = *table_cell(t, CPU_PARENT, top->row);
                top->end = top->row != MILL_NONE ? end_of(t, top->row) : 0;
            }
            *table_cell(t, CPU_PARENT, k.first + i) = top->row;
            *top = (open_slice){end, (uint32_t)(k.first + i)};
        }
    }
    table_end(t, CPU_PARENT);
    free(innermost);
}

/* Which runtime and driver calls can have launched something, in the order of their correlation. */
typedef struct launches {
    const table *cpu;
    uint32_t *calls;
    uint64_t n;
    uint64_t at; /* where the last search ended: activities mostly ask in order */
} launches;

/* Correlation 0 is CUPTI's "none". */
static bool correlates(int64_t correlation) {
    return correlation != MILL_UNKNOWN && correlation != 0;
}

static void launches_init(launches *l, const table *cpu) {
    uint64_t room = 0;
    cells kind, correlation;
    *l = (launches){.cpu = cpu};
    for (table_block k = {0}; table_next_block(cpu, &k);) {
        if (room < l->n + k.n) {
            room = 2 * (l->n + k.n);
            l->calls = kit_realloc(l->calls, room, sizeof *l->calls);
        }
        table_read(cpu, CPU_KIND, &k, kind);
        table_read(cpu, CPU_CORRELATION, &k, correlation);
        for (size_t i = 0; i < k.n; i++)
            if ((kind[i] == MILL_CPU_RUNTIME || kind[i] == MILL_CPU_DRIVER) &&
                correlates(correlation[i]))
                l->calls[l->n++] = (uint32_t)(k.first + i);
    }
    table_sort_rows(cpu, CPU_CORRELATION, NULL, l->calls, l->n);
}

static int64_t correlation_at(const launches *l, uint64_t i) {
    return table_get(l->cpu, CPU_CORRELATION, l->calls[i]);
}

/* The first call of that correlation, or MILL_NONE. Looks near the last one found, farther and
 * farther away, then by halves. */
static uint32_t launches_find(launches *l, int64_t correlation) {
    uint64_t low = 0, high = l->n, step = 1;
    if (l->at < l->n && correlation_at(l, l->at) < correlation) {
        low = l->at + 1;
        while (low + step < high && correlation_at(l, low + step) < correlation) {
            low += step + 1;
            step *= 2;
        }
        high = low + step < high ? low + step : high;
    } else {
        high = l->at < l->n ? l->at : l->n;
        while (step < high && correlation_at(l, high - step) >= correlation) {
            high -= step;
            step *= 2;
        }
        low = step < high ? high - step : 0;
    }
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (correlation_at(l, middle) < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    l->at = low;
    return low < l->n && correlation_at(l, low) == correlation ? l->calls[low] : MILL_NONE;
}

/* By correlation alone: neither the names of calls nor the arrows of the file can be relied on. */
static void join_launches(kit_trace *b, launches *l) {
    cells correlation, start;
    table_begin(&b->gpu, GPU_LAUNCH);
    for (table_block k = {0}; table_next_block(&b->gpu, &k);) {
        table_read(&b->gpu, GPU_CORRELATION, &k, correlation);
        table_read(&b->gpu, GPU_START, &k, start);
        for (size_t i = 0; i < k.n; i++) {
            uint32_t call =
                correlates(correlation[i]) ? launches_find(l, correlation[i]) : MILL_NONE;
            *table_cell(&b->gpu, GPU_LAUNCH, k.first + i) = call;
            if (call != MILL_NONE && start[i] < table_get(&b->cpu, CPU_START, call))
                kit_trace_diagnose(b, &launched_late, table_get(&b->gpu, GPU_BYTE, k.first + i));
        }
    }
    table_end(&b->gpu, GPU_LAUNCH);
}

/* ---------------------------------------------------------------- recorded waits */

static int compare_syncs(const table *t, uint32_t a, uint32_t b) {
    return compare_field(t, SYNC_CORRELATION, a, b);
}

/* Fills in the calls whose correlations stand in the field `by`. */
static void join_calls(table *t, size_t by, size_t to, launches *l) {
    table_begin(t, to);
    for (uint64_t i = 0; i < t->n; i++) {
        int64_t correlation = table_get(t, by, i);
        *table_cell(t, to, i) = correlates(correlation) ? launches_find(l, correlation) : MILL_NONE;
    }
    table_end(t, to);
}

/* ---------------------------------------------------------------- timers */

static int compare_timers(const table *t, uint32_t a, uint32_t b) {
    return compare_field(t, TIMER_THREAD, a, b);
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
    table_init(&t, b->run, b->value, fields, n_fields, sizeof(text_record));
    for (uint32_t i = 0; i < n; i++) {
        const char *text = kit_intern_text(intern, i, &length);
        memcpy(to, text, length);
        text_record record = {(mill_off)((uintptr_t)to - (uintptr_t)b->value),
                              (uint32_t)length,
                              {UINT16_MAX, UINT16_MAX, MILL_CLASS_NONE}};
        if (i < b->n_classes)
            record.cls = b->classes[i];
        *(text_record *)table_append(&t) = record;
        to += length + 1;
    }
    table_publish(&t);
    table_finish(&t);
    texts->n = n;
}

#define PUBLISH_TEXTS(b, column)                                                                   \
    do {                                                                                           \
        static const table_field fields[] = {                                                      \
            TABLE_FIELD(TABLE_INT, text_record, text, column.text),                                \
            TABLE_FIELD(TABLE_REF, text_record, length, column.length)};                           \
        publish_texts((b), (b)->column, fields, 2, &(b)->value->column);                           \
    } while (0)

static void publish_names(kit_trace *b) {
    static const table_field fields[] = {
        TABLE_FIELD(TABLE_INT, text_record, text, names.texts.text),
        TABLE_FIELD(TABLE_REF, text_record, length, names.texts.length),
        TABLE_FIELD(TABLE_FIXED, text_record, cls.cls, names.cls),
        TABLE_FIELD(TABLE_FIXED, text_record, cls.kind, names.kind),
        TABLE_FIELD(TABLE_FIXED, text_record, cls.rule, names.rule),
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
        TABLE_FIELD(TABLE_REF, diagnostic_record, kind, diagnostics.kind),
        TABLE_FIELD(TABLE_REF, diagnostic_record, text, diagnostics.text),
        TABLE_FIELD(TABLE_FIXED, diagnostic_record, count, diagnostics.count),
        TABLE_FIELD(TABLE_INT, diagnostic_record, first_byte, diagnostics.first_byte),
        TABLE_FIELD(TABLE_FIXED, diagnostic_record, lost, diagnostics.lost),
    };
    table t;
    table_init(&t, b->run, b->value, fields, 5, sizeof(diagnostic_record));
    for (size_t i = 0; i < b->n_diagnostics; i++) {
        const diagnostic_count *d = &b->diagnostics[i];
        diagnostic_record record = {
            d->count, d->first_byte, kit_trace_string(b, d->what->kind, strlen(d->what->kind)),
            kit_trace_string(b, d->what->text, strlen(d->what->text)), d->what->lost};
        *(diagnostic_record *)table_append(&t) = record;
    }
    table_publish(&t);
    table_finish(&t);
    b->value->diagnostics.n = b->n_diagnostics;
}

/* ---------------------------------------------------------------- all of it */

typedef struct finishing {
    kit_trace *b;
    int64_t max_overlap;
    launches launches;
} finishing;

static void finish_gpu(kit_trace *b, int64_t max_overlap) {
    table_sort(&b->gpu, GPU_START, compare_gpu);
    drop_duplicates(b);
    if (clip_broken_timers(b, max_overlap))
        table_sort(&b->gpu, GPU_START, compare_gpu); /* their ends moved */
    order_collectives(b);
    count_rows_of_devices(b);
    table_sort(&b->flows, FLOW_TIME, NULL);
    table_sort(&b->counters, COUNTER_TIME, NULL);
    table_sort(&b->syncs, SYNC_START, compare_syncs);
    table_sort(&b->timers, TIMER_START, compare_timers);
}

/* Two pieces of work that share no table; only the first one diagnoses. */
static mill_status finish_piece(mill_run *run, void *arg, size_t piece) {
    finishing *f = arg;
    (void)run;
    if (piece == 0) {
        finish_gpu(f->b, f->max_overlap);
    } else {
        table_sort(&f->b->cpu, CPU_START, compare_cpu);
        find_parents(f->b);
        launches_init(&f->launches, &f->b->cpu);
    }
    return MILL_OK;
}

mill_trace *kit_trace_finish(kit_trace *b, int64_t max_overlap) {
    mill_trace *t = b->value;
    table *tables[] = {&b->gpu,   &b->cpu,    &b->flows,   &b->collectives, &b->counters,
                       &b->syncs, &b->timers, &b->devices, &b->streams,     &b->threads};
    const size_t n_tables = sizeof tables / sizeof tables[0];
    for (size_t i = 0; i < n_tables; i++)
        table_seal(tables[i]);
    order_streams(b);
    finishing f = {.b = b, .max_overlap = max_overlap};
    b->run->host->parallel(b->run, 2, finish_piece, &f);
    join_launches(b, &f.launches);
    join_calls(&b->syncs, SYNC_CORRELATION, SYNC_LAUNCH, &f.launches);
    join_calls(&b->syncs, SYNC_WAITED_EVENT, SYNC_RECORD, &f.launches);
    free(f.launches.calls);
    table_forget(&b->gpu, GPU_BYTE); /* so that there is less memory in use at a time */

    for (size_t i = 0; i < n_tables; i++)
        table_publish(tables[i]);
    t->gpu.n = b->gpu.n;
    t->cpu.n = b->cpu.n;
    t->flows.n = b->flows.n;
    t->collectives.n = b->collectives.n;
    t->counters.n = b->counters.n;
    t->syncs.n = b->syncs.n;
    t->timers.n = b->timers.n;
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
