/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a text to the reader's engines without a file. Plain C without GLib, so that it is also
 * built for other processors. */
#include "engines.h"

#include "category.h"
#include "input.h"

#include <string.h>

typedef struct source {
    sink sink; /* first: the document's calls go there */
    const char *text;
    size_t length, at, step;
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
    sink_event(&s->sink, e, byte);
}

static const document_calls calls = {
    .read = on_read,
    .event = on_event,
    .events = sink_events,
    .wants = sink_wants,
    .fact = sink_fact,
    .problem = sink_problem,
};

const rows_config *engines_rows(bool everything) {
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
    return everything ? &all : &slices;
}

const mill_trace *engines_finish(sink *s, const document_result *result) {
    mill_trace *t = kit_trace_value(s->b);
    t->events = result->events;
    t->bytes = result->bytes;
    t->complete = result->complete;
    return rows_finish(s->rows) == MILL_OK ? kit_trace_finish(s->b, 1000000) : NULL;
}

const mill_trace *engines_read(mill_run *run, const engines_config *config, const char *text,
                               size_t length, uint64_t *ret_by_reference) {
    const sink_config to = {*engines_rows(config->all), config->isa};
    source s = {.text = text, .length = length, .step = config->step};
    document_config document = {event_parse, config->window, 16 << 20};
    document_result result;
    sink_init(&s.sink, run, kit_trace_create(run), &to);
    const mill_trace *t = NULL;
    if (document_read(run, &document, &calls, &s, &result) == MILL_OK)
        t = engines_finish(&s.sink, &result);
    if (ret_by_reference)
        *ret_by_reference = s.by_reference;
    sink_finish(&s.sink);
    return t;
}
