/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles as rows: each table of a trace by a list of where its columns come from. */
#include "values.h"

#include <string.h>
#include <tracemill/kit/columns.h>

/* How a column of a trace becomes one of the database. */
typedef enum source_kind {
    SOURCE_INT,      /* int64 */
    SOURCE_COUNT,    /* uint64 */
    SOURCE_REAL,     /* double */
    SOURCE_ROW,      /* uint32 row of the table `of`: the key of that row */
    SOURCE_STRING,   /* uint32 row of `strings`: its text */
    SOURCE_TEXT,     /* the text of a name itself; the column is names.texts */
    SOURCE_ENUM,     /* uint8: one of `words` */
    SOURCE_FLAG,     /* uint8 as a number */
    SOURCE_KIND,     /* uint16 row of `kinds`: its text */
    SOURCE_RULE,     /* uint16 row of `rules`: its text */
    SOURCE_GPU_KIND, /* mill_gpu_kind of the row; no column */
} source_kind;

typedef struct source {
    source_kind kind;
    size_t column; /* of the mill_column in mill_trace */
    schema_table of;
    const char *const *words; /* from 0; ends with NULL */
} source;

enum { SOURCES_MAX = 15 }; /* columns of the widest table, without its key and trace */

typedef struct source_table {
    schema_table table;
    size_t n; /* of the uint64 number of rows in mill_trace */
    const source *sources;
    size_t n_sources;
} source_table;

#define AT(field) offsetof(mill_trace, field)
#define ROW(field, table)                                                                          \
    { SOURCE_ROW, AT(field), table, NULL }
#define WORD(field, list)                                                                          \
    { SOURCE_ENUM, AT(field), 0, list }
#define COLUMN(kind, field)                                                                        \
    { kind, AT(field), 0, NULL }
#define INT(field) COLUMN(SOURCE_INT, field)
#define STRING(field) COLUMN(SOURCE_STRING, field)

static const char *const classes[] = {"none",   "computation", "communication",
                                      "memory", "other",       NULL};
static const char *const categories[] = {"", "kernel", "memcpy", "memset", NULL};
static const char *const slice_kinds[] = {"",       "op",     "runtime", "driver", "annotation",
                                          "python", "memory", "other",   NULL};
static const char *const phases[] = {"start", "step", "end", NULL};
static const char *const sync_kinds[] = {"other",  "event",   "stream-wait",
                                         "stream", "context", NULL};

static const source names[] = {
    COLUMN(SOURCE_TEXT, names.texts),
    WORD(names.cls, classes),
    COLUMN(SOURCE_KIND, names.kind),
    COLUMN(SOURCE_RULE, names.rule),
};
static const source devices[] = {INT(devices.id), STRING(devices.name), INT(devices.sms)};
static const source streams[] = {ROW(streams.device, TABLE_DEVICE), INT(streams.id),
                                 STRING(streams.label)};
static const source threads[] = {INT(threads.pid), INT(threads.tid), STRING(threads.process),
                                 STRING(threads.name)};
static const source collectives[] = {
    STRING(collectives.operation), COLUMN(SOURCE_KIND, collectives.kind),
    INT(collectives.in_elems),     INT(collectives.out_elems),
    STRING(collectives.dtype),     INT(collectives.elem_bytes),
    STRING(collectives.group),     INT(collectives.group_size),
    STRING(collectives.ranks),     INT(collectives.sequence),
    INT(collectives.peer),
};
static const source slices[] = {
    INT(cpu.start),
    INT(cpu.dur),
    ROW(cpu.name, TABLE_NAME),
    ROW(cpu.thread, TABLE_THREAD),
    WORD(cpu.kind, slice_kinds),
    INT(cpu.correlation),
    INT(cpu.external_id),
    ROW(cpu.parent, TABLE_SLICE),
};
static const source activities[] = {
    INT(gpu.start),
    INT(gpu.dur),
    ROW(gpu.name, TABLE_NAME),
    ROW(gpu.stream, TABLE_STREAM),
    WORD(gpu.cat, categories),
    COLUMN(SOURCE_GPU_KIND, gpu.name),
    INT(gpu.correlation),
    INT(gpu.external_id),
    ROW(gpu.launch, TABLE_SLICE),
    INT(gpu.grid),
    INT(gpu.block),
    INT(gpu.bytes),
    ROW(gpu.collective, TABLE_COLLECTIVE),
    INT(gpu.waited_event),
};
static const source flows[] = {
    INT(flows.id),
    INT(flows.time),
    ROW(flows.thread, TABLE_THREAD),
    WORD(flows.end, phases),
    ROW(flows.name, TABLE_NAME),
};
static const source counters[] = {
    INT(counters.time),
    ROW(counters.name, TABLE_NAME),
    ROW(counters.thread, TABLE_THREAD),
    COLUMN(SOURCE_REAL, counters.value),
};
static const source syncs[] = {
    INT(syncs.start),
    INT(syncs.dur),
    WORD(syncs.kind, sync_kinds),
    ROW(syncs.name, TABLE_NAME),
    ROW(syncs.stream, TABLE_STREAM),
    INT(syncs.correlation),
    ROW(syncs.waited_stream, TABLE_STREAM),
    INT(syncs.waited_event),
    ROW(syncs.launch, TABLE_SLICE),
    ROW(syncs.record, TABLE_SLICE),
};
static const source timers[] = {
    INT(timers.start),
    INT(timers.dur),
    ROW(timers.name, TABLE_NAME),
    ROW(timers.thread, TABLE_THREAD),
    INT(timers.step),
    INT(timers.chunk),
    INT(timers.micro_batch),
    INT(timers.sequence),
};
static const source diagnostics[] = {
    STRING(diagnostics.kind),
    STRING(diagnostics.text),
    COLUMN(SOURCE_COUNT, diagnostics.count),
    INT(diagnostics.first_byte),
    COLUMN(SOURCE_FLAG, diagnostics.lost),
};

#define TABLE(table, n, list)                                                                      \
    { table, AT(n), list, sizeof(list) / sizeof *(list) }
static const source_table tables[] = {
    TABLE(TABLE_NAME, names.texts.n, names),
    TABLE(TABLE_DEVICE, devices.n, devices),
    TABLE(TABLE_STREAM, streams.n, streams),
    TABLE(TABLE_THREAD, threads.n, threads),
    TABLE(TABLE_COLLECTIVE, collectives.n, collectives),
    TABLE(TABLE_SLICE, cpu.n, slices),
    TABLE(TABLE_ACTIVITY, gpu.n, activities),
    TABLE(TABLE_FLOW, flows.n, flows),
    TABLE(TABLE_COUNTER, counters.n, counters),
    TABLE(TABLE_DIAGNOSTIC, diagnostics.n, diagnostics),
    TABLE(TABLE_SYNC, syncs.n, syncs),
    TABLE(TABLE_TIMER, timers.n, timers),
};
enum { N_TABLES = sizeof tables / sizeof *tables };

/* The numbers of one column in a block of rows; of SOURCE_REAL and SOURCE_TEXT there are none. */
typedef int64_t block[KIT_BLOCK];

/* A trace of an older reader ends before the last tables. */
static uint64_t rows_of(const mill_trace *t, const source_table *table) {
    bool has = table->n + sizeof(uint64_t) <= t->size;
    return has ? *(const uint64_t *)((const char *)t + table->n) : 0;
}

static const mill_column *column_of(const mill_trace *t, const source *s) {
    return (const mill_column *)((const char *)t + s->column);
}

static void read_rows(const mill_trace *t, const mill_column *c, uint64_t first, size_t n,
                      int64_t base, int64_t *ret_values) {
    uint32_t rows[KIT_BLOCK];
    kit_read_u32(t, c, first, n, rows);
    for (size_t i = 0; i < n; i++)
        ret_values[i] = rows[i] == MILL_NONE ? MILL_UNKNOWN : base + rows[i];
}

static void read_bytes(const mill_trace *t, const mill_column *c, uint64_t first, size_t n,
                       int64_t *ret_values) {
    uint8_t bytes[KIT_BLOCK];
    kit_read_u8(t, c, first, n, bytes);
    for (size_t i = 0; i < n; i++)
        ret_values[i] = bytes[i];
}

/* bases: the first key of each table's rows of this trace. */
static void read_block(const mill_trace *t, const source *s, uint64_t first, size_t n,
                       const int64_t *bases, int64_t *ret_values) {
    const mill_column *c = column_of(t, s);
    switch (s->kind) {
    case SOURCE_INT:
        kit_read_i64(t, c, first, n, ret_values);
        break;
    case SOURCE_ROW:
        read_rows(t, c, first, n, bases[s->of], ret_values);
        break;
    case SOURCE_STRING:
        read_rows(t, c, first, n, 0, ret_values);
        break;
    case SOURCE_ENUM:
    case SOURCE_FLAG:
        read_bytes(t, c, first, n, ret_values);
        break;
    case SOURCE_COUNT:
        for (size_t i = 0; i < n; i++)
            ret_values[i] = (int64_t)mill_u64(t, c, first + i);
        break;
    case SOURCE_KIND:
    case SOURCE_RULE:
        for (size_t i = 0; i < n; i++)
            ret_values[i] = mill_u16(t, c, first + i);
        break;
    case SOURCE_GPU_KIND:
        for (size_t i = 0; i < n; i++)
            ret_values[i] = mill_gpu_kind_row(t, first + i);
        break;
    case SOURCE_REAL:
    case SOURCE_TEXT:
        break;
    }
}

/* Text `row` of a table of texts; nothing where there is none. */
static void put_text(database *d, const mill_trace *t, const mill_texts *texts, int64_t row) {
    bool known = row >= 0 && (uint64_t)row < texts->n;
    database_bytes(d, known ? mill_text(t, texts, (uint32_t)row) : NULL,
                   known ? mill_u32(t, &texts->length, (uint64_t)row) : 0);
}

static const char *word_of(const char *const *words, int64_t i) {
    for (; *words && i > 0; i--)
        words++;
    return *words;
}

static void put_cell(database *d, const mill_trace *t, const source *s, uint64_t row,
                     int64_t value) {
    switch (s->kind) {
    case SOURCE_REAL:
        database_real(d, mill_f64(t, column_of(t, s), row));
        break;
    case SOURCE_TEXT:
        put_text(d, t, &t->names.texts, (int64_t)row);
        break;
    case SOURCE_STRING:
        put_text(d, t, &t->strings, value);
        break;
    case SOURCE_KIND:
    case SOURCE_GPU_KIND:
        put_text(d, t, &t->kinds, value);
        break;
    case SOURCE_RULE:
        put_text(d, t, &t->rules, value);
        break;
    case SOURCE_ENUM:
        database_text(d, word_of(s->words, value));
        break;
    default:
        database_int(d, value);
    }
}

static void put_block(database *d, int64_t item, const mill_trace *t, const source_table *table,
                      uint64_t first, const int64_t *bases) {
    block values[SOURCES_MAX];
    size_t n = kit_block_rows(rows_of(t, table), first);
    for (size_t c = 0; c < table->n_sources; c++)
        read_block(t, &table->sources[c], first, n, bases, values[c]);
    for (size_t i = 0; i < n; i++) {
        database_row(d, table->table);
        database_int(d, bases[table->table] + (int64_t)(first + i));
        database_int(d, item);
        for (size_t c = 0; c < table->n_sources; c++)
            put_cell(d, t, &table->sources[c], first + i, values[c][i]);
        database_end(d);
    }
    if (!d->status && mill_cancelled(d->run))
        d->status = MILL_E_CANCELLED;
}

static void put_facts(database *d, int64_t item, const mill_trace *t) {
    database_row(d, TABLE_TRACE);
    database_int(d, item);
    const mill_off texts[] = {t->path, t->writer, t->backend};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = mill_at(t, texts[i]);
        database_bytes(d, text, text ? strlen(text) : 0);
    }
    database_int(d, t->rank);
    database_int(d, t->world_size);
    database_int(d, t->base_ns);
    database_int(d, (int64_t)t->events);
    database_int(d, (int64_t)t->bytes);
    database_int(d, t->complete);
    database_end(d);
}

mill_status write_trace(database *d, int64_t item, const mill_trace *t) {
    int64_t bases[TABLES];
    memcpy(bases, d->next, sizeof bases);
    uint64_t done = 0, total = 0;
    for (size_t i = 0; i < N_TABLES; i++) {
        d->next[tables[i].table] += (int64_t)rows_of(t, &tables[i]);
        total += rows_of(t, &tables[i]);
    }
    put_facts(d, item, t);
    for (size_t i = 0; i < N_TABLES; i++) {
        uint64_t n = rows_of(t, &tables[i]);
        for (uint64_t first = 0; !d->status && first < n; first += KIT_BLOCK) {
            put_block(d, item, t, &tables[i], first, bases);
            mill_progress(d->run, done + first, total, "rows");
        }
        done += n;
    }
    return d->status;
}
