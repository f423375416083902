/* SPDX-License-Identifier: Apache-2.0 */
/* Turns events into rows of a trace: which line, which device, which kind, which class. */
#ifndef KINETO_ROWS_H
#define KINETO_ROWS_H

#include "event.h"
#include "rules.h"

#include <tracemill/kit/trace_builder.h>

typedef struct rows rows;

/* The builder and the rules are borrowed. */
rows *rows_create(mill_run *run, kit_trace *b, const rule_set *rules, bool cpu, bool python);
void rows_destroy(rows *r); /* NULL: nothing */

void rows_event(rows *r, const event *e, uint64_t byte);

/* What an engine that has the members of an event already makes rows of, in the order of the file.
 * A track is the number of a line of the timeline, (pid, tid). */
kit_trace *rows_builder(rows *r);
bool rows_wants_cpu(const rows *r, uint8_t kind);
uint32_t rows_name(rows *r, const char *name, size_t length, uint8_t cat);
uint32_t rows_track(rows *r, json_value pid, json_value tid);
uint32_t rows_thread(rows *r, uint32_t track);
/* device and number are MILL_UNKNOWN where the event's args have none: then the line tells. */
uint32_t rows_stream(rows *r, uint32_t track, int64_t device, int64_t number, json_value tid);
/* The same for a stream that rows_stream gave for the same track, device and number. */
void rows_set_stream(rows *r, uint32_t track, uint32_t stream);

/* What can be told only when all events are there: names of threads and streams, classes.
 * MILL_OK or E_CANCELLED. */
mill_status rows_finish(rows *r);

#endif
