/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the file's timeline, each a (pid, tid), and the threads and streams that they are.
 */
#ifndef KINETO_TRACKS_H
#define KINETO_TRACKS_H

#include "rules.h"
#include "text.h"

#include <tracemill/kit/trace_join.h>

typedef struct tracks tracks;

/* The builder and the rules are borrowed; planes may be NULL: none. */
tracks *tracks_create(mill_run *run, kit_trace *b, const rule_set *planes);
void tracks_destroy(tracks *t); /* NULL: nothing */

/* The number of a line. */
uint32_t tracks_find(tracks *t, json_value pid, json_value tid);

/* Rows of the builder. Async slices overlap each other and the calls of their thread, so they have
 * a thread of their own. */
uint32_t tracks_thread(tracks *t, uint32_t number);
uint32_t tracks_async_thread(tracks *t, uint32_t number);
/* device and stream are MILL_UNKNOWN where the event's args have none: then the line tells. */
uint32_t tracks_stream(tracks *t, uint32_t number, int64_t device, int64_t stream);
/* The same for a stream that tracks_stream gave for the same line, device and number. */
void tracks_set_stream(tracks *t, uint32_t number, uint32_t stream);

/* A stream that the line need not show, by its number. */
uint32_t tracks_other_stream(tracks *t, uint32_t number, int64_t device, int64_t stream);

/* The rule of the planes that fits the line's process, by the name it has now; NULL: none. */
const rule *tracks_plane(const tracks *t, uint32_t number);
/* A stream of that plane. All planes of a file are one device, whose number it does not tell. */
uint32_t tracks_plane_stream(tracks *t, uint32_t number);

void tracks_name_process(tracks *t, json_value pid, span name);
void tracks_name_thread(tracks *t, json_value pid, json_value tid, span name);

/* Takes over the lines of what was read of a later part of the file, and fills j->threads. Returns
 * what its numbers of lines become, to be freed. */
uint32_t *tracks_join(tracks *t, const tracks *part, const kit_join *j);

/* Gives threads and streams their names, when all have been told. */
void tracks_finish(tracks *t);

#endif
