/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a text to the reader's engines without a file, and compares what they make of it. */
#include "engines.h"

#include "document.h"
#include "facts.h"
#include "rows.h"

#include <string.h>

typedef struct source {
    const char *text;
    size_t length, at, step;
    kit_trace *b;
    rows *rows;
    fast *fast;
    uint64_t by_reference;
} source;

static mill_status on_read(void *arg, char *to, size_t room, size_t *ret_length) {
    source *s = arg;
    *ret_length = MIN(MIN(room, s->step), s->length - s->at);
    memcpy(to, s->text + s->at, *ret_length);
    s->at += *ret_length;
    return MILL_OK;
}

static void on_event(void *arg, const event *e, uint64_t byte) {
    source *s = arg;
    s->by_reference++;
    rows_event(s->rows, e, byte);
}

static size_t on_events(void *arg, const char *text, const char *end, uint64_t byte,
                        uint64_t *ret_events) {
    source *s = arg;
    return s->fast ? fast_events(s->fast, text, end, byte, ret_events) : 0;
}

static bool on_wants(void *arg, const char *key) {
    (void)arg;
    return facts_want(key);
}

static void on_fact(void *arg, const char *key, json_value value) {
    facts_take(((source *)arg)->b, key, value);
}

static void on_problem(void *arg, document_problem problem, uint64_t byte) {
    static const kit_diagnostic what[] = {
        {"malformed", "", true}, {"truncated", "", true}, {"trailing", "", true}};
    kit_trace_diagnose(((source *)arg)->b, &what[problem], (int64_t)byte);
}

static const document_calls calls = {on_read, on_event, on_events, on_wants, on_fact, on_problem};

const mill_trace *engines_read(bench *b, const engines_config *config, const char *text,
                               size_t length, uint64_t *ret_by_reference) {
    static const rule_set no_rules;
    mill_run *run = bench_services(b);
    source s = {.text = text, .length = length, .step = config->step, .b = kit_trace_create(run)};
    document_config document = {event_parse, config->window, 16 << 20};
    document_result result;
    s.rows = rows_create(run, s.b, &no_rules, true, true);
    if (config->isa != ENGINES_REFERENCE)
        s.fast = fast_create(s.rows, (fast_isa)config->isa);
    const mill_trace *t = NULL;
    if (document_read(run, &document, &calls, &s, &result) == MILL_OK) {
        kit_trace_value(s.b)->events = result.events;
        kit_trace_value(s.b)->complete = result.complete;
        g_assert_cmpint(rows_finish(s.rows), ==, MILL_OK);
        t = kit_trace_finish(s.b, 1000000);
    }
    if (ret_by_reference)
        *ret_by_reference = s.by_reference;
    fast_destroy(s.fast);
    rows_destroy(s.rows);
    kit_trace_destroy(s.b);
    return t;
}

/* ---------------------------------------------------------------- sameness */

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

void engines_same(const mill_trace *x, const mill_trace *y) {
    g_assert_cmpuint(x->events, ==, y->events);
    g_assert_cmpuint(x->complete, ==, y->complete);
    g_assert_cmpint(x->rank, ==, y->rank);
    g_assert_cmpint(x->base_ns, ==, y->base_ns);
    same_texts("strings", x, &x->strings, y, &y->strings);
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
