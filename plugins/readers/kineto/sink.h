/* SPDX-License-Identifier: Apache-2.0 */
/* What a document's events end in: the rows of a builder, and the engine that fills them. */
#ifndef KINETO_SINK_H
#define KINETO_SINK_H

#include "document.h"
#include "fast.h"

#define SINK_REFERENCE (-1)

typedef struct sink_config {
    rows_config rows;
    int isa; /* fast_isa of the fast engine; SINK_REFERENCE: without it */
} sink_config;

typedef struct sink {
    kit_trace *b;
    rows *rows;
    fast *fast; /* NULL: none, or this processor lacks the instructions */
} sink;

/* Takes over the builder. */
void sink_init(sink *s, mill_run *run, kit_trace *b, const sink_config *config);
void sink_finish(sink *s);

/* As document_calls have them; `arg` is a struct that begins with the sink. */
void sink_event(void *arg, const event *e, uint64_t byte);
size_t sink_events(void *arg, const char *text, const char *end, uint64_t byte,
                   uint64_t *ret_events);
bool sink_wants(void *arg, const char *key);
void sink_fact(void *arg, const char *key, json_value value);
void sink_problem(void *arg, document_problem problem, uint64_t byte);
/* Of the sink of a part of a text: an end without its begin, which an earlier part may have. */
bool sink_leaves(void *arg, const event *e);

#endif
