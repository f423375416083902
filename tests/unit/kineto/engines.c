/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a text to the reader's engines without a file. Plain C without GLib, so that it is also
 * built for other processors. */
#include "engines.h"

#include "category.h"
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
    size_t most = room < s->step ? room : s->step, left = s->length - s->at;
    *ret_length = most < left ? most : left;
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

const mill_trace *engines_read(mill_run *run, const engines_config *config, const char *text,
                               size_t length, uint64_t *ret_by_reference) {
    static const rule_set no_rules;
    static const category kernel = {"kernel", MILL_GPU_KERNEL, 0};
    static rule plane = {.name = "any", .category = &kernel, .cls = MILL_CLASS_COMMUNICATION};
    static const rule_set planes = {.rules = &plane, .n = 1};
    static const rows_config slices = {.kernels = &no_rules, .cpu = true, .python = true};
    static const rows_config all = {
        .kernels = &no_rules,
        .collectives = &no_rules,
        .planes = &planes,
        .cpu = true,
        .python = true,
        .memory = true,
        .counters = true,
        .flows = true,
    };
    source s = {.text = text, .length = length, .step = config->step, .b = kit_trace_create(run)};
    document_config document = {event_parse, config->window, 16 << 20};
    document_result result;
    s.rows = rows_create(run, s.b, config->all ? &all : &slices);
    if (config->isa != ENGINES_REFERENCE)
        s.fast = fast_create(s.rows, (fast_isa)config->isa);
    const mill_trace *t = NULL;
    if (document_read(run, &document, &calls, &s, &result) == MILL_OK &&
        rows_finish(s.rows) == MILL_OK) {
        kit_trace_value(s.b)->events = result.events;
        kit_trace_value(s.b)->complete = result.complete;
        t = kit_trace_finish(s.b, 1000000);
    }
    if (ret_by_reference)
        *ret_by_reference = s.by_reference;
    fast_destroy(s.fast);
    rows_destroy(s.rows);
    kit_trace_destroy(s.b);
    return t;
}
