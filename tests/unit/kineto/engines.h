/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a text with one engine of the Kineto reader. */
#ifndef TRACEMILL_TESTS_ENGINES_H
#define TRACEMILL_TESTS_ENGINES_H

#include "sink.h"

#include <tracemill/trace.h>

#define ENGINES_REFERENCE SINK_REFERENCE

typedef struct engines_config {
    int isa; /* fast_isa, or ENGINES_REFERENCE. Where the processor lacks it: the reference too */
    size_t window;
    size_t step; /* most bytes of one read */
    bool all;    /* counters, arrows, memory, planes too; else slices only */
} engines_config;

/* NULL: the text is no trace. Lives as long as what the run allocates. by_reference, if not NULL:
 * the events that the reference engine read. */
const mill_trace *engines_read(mill_run *run, const engines_config *config, const char *text,
                               size_t length, uint64_t *ret_by_reference);

/* What engines_read reads: everything there is, or slices. */
const rows_config *engines_rows(bool everything);
/* The trace of a sink that got all of a text. */
const mill_trace *engines_finish(sink *s, const document_result *result);

#endif
