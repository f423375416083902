/* SPDX-License-Identifier: Apache-2.0 */
/* Hands what a document finds to the rows and the builder. */
#include "sink.h"

#include "facts.h"

static const kit_diagnostic malformed = {
    "malformed", "Events that are no JSON were left out; reading went on at the next one.", true};
static const kit_diagnostic truncated = {
    "truncated", "The text ends in the middle; what was whole before that is here.", true};
static const kit_diagnostic trailing = {
    "trailing", "Something follows the end of the trace; it was not read.", true};

void sink_init(sink *s, mill_run *run, kit_trace *b, const sink_config *config) {
    s->b = b;
    s->rows = rows_create(run, b, &config->rows);
    s->fast = config->isa != SINK_REFERENCE ? fast_create(s->rows, (fast_isa)config->isa) : NULL;
}

void sink_finish(sink *s) {
    fast_destroy(s->fast);
    rows_destroy(s->rows);
    kit_trace_destroy(s->b);
}

void sink_event(void *arg, const event *e, uint64_t byte) {
    rows_event(((sink *)arg)->rows, e, byte);
}

size_t sink_events(void *arg, const char *text, const char *end, uint64_t byte,
                   uint64_t *ret_events) {
    sink *s = arg;
    return s->fast ? fast_events(s->fast, text, end, byte, ret_events) : 0;
}

bool sink_wants(void *arg, const char *key) {
    (void)arg;
    return facts_want(key);
}

void sink_fact(void *arg, const char *key, json_value value) {
    facts_take(((sink *)arg)->b, key, value);
}

void sink_problem(void *arg, document_problem problem, uint64_t byte) {
    static const kit_diagnostic *const what[] = {
        [DOCUMENT_MALFORMED] = &malformed,
        [DOCUMENT_TRUNCATED] = &truncated,
        [DOCUMENT_TRAILING] = &trailing,
    };
    kit_trace_diagnose(((sink *)arg)->b, what[problem], (int64_t)byte);
}

bool sink_leaves(void *arg, const event *e) {
    return rows_lacks_begin(((sink *)arg)->rows, e);
}
