/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads on one plain text. One walks it from the start, as ever. The others read chunks
 * from its end backwards, each from a guess where an event begins. What a chunk gave is taken only
 * if the walk itself arrives at the byte where it begins, between two events of the trace; a wrong
 * guess costs time, never a row. So the trace is that of one thread. */
#ifndef KINETO_CHUNKS_H
#define KINETO_CHUNKS_H

#include "input.h"
#include "sink.h"

typedef struct chunks_config {
    sink_config sink;
    document_config document;
    uint64_t least_text;  /* bytes; what is smaller is read by one thread */
    uint64_t least_chunk; /* bytes */
    bool chunks_first;    /* the walk begins when the chunks are done: a test's way to have them */
} chunks_config;

/* Below this a second thread gains less than it costs to start, and to join what it read. */
#define CHUNKS_LEAST_TEXT (4 << 20)
/* A chunk has tables and caches of its own, which fill in its first tens of KB. */
#define CHUNKS_LEAST_CHUNK (1 << 20)

/* Whether chunks_read is for that text. */
bool chunks_suit(const chunks_config *config, const input *in);
/* Like document_read with the calls of `whole`, on this thread and on those that `parallel` has. */
mill_status chunks_read(mill_run *run, const chunks_config *config, input *in, const sink *whole,
                        document_result *ret_result);

#endif
