/* SPDX-License-Identifier: Apache-2.0 */
/* Turns events into rows of a trace: which line, which device, which kind, which class. */
#ifndef KINETO_ROWS_H
#define KINETO_ROWS_H

#include "event.h"
#include "tracks.h"

#include <tracemill/kit/trace_builder.h>

typedef struct rows rows;

/* Which rows are wanted. The rules are borrowed. */
typedef struct rows_config {
    const rule_set *kernels;
    const rule_set *collectives;               /* NULL: metadata of collectives is not read */
    const rule_set *planes;                    /* NULL: nor are events without a category */
    bool cpu, python, memory, counters, flows; /* python, memory: only with cpu */
} rows_config;

/* The builder is borrowed. */
rows *rows_create(mill_run *run, kit_trace *b, const rows_config *config);
void rows_destroy(rows *r); /* NULL: nothing */

void rows_event(rows *r, const event *e, uint64_t byte);

/* What an engine that has the members of an event already makes rows of, in the order of the file.
 */
kit_trace *rows_builder(rows *r);
tracks *rows_tracks(rows *r);
bool rows_wants_cpu(const rows *r, uint8_t kind);
/* Whether events of a ph, other than X, are of interest. */
bool rows_wants_phase(const rows *r, char ph);
/* tag: as kit_trace_name takes it. */
uint32_t rows_name(rows *r, const char *name, size_t length, uint32_t tag);
int64_t rows_time(json_value value);
/* Takes an X event without a category. track: of tracks_find. */
void rows_hold(rows *r, uint32_t track, const char *name, size_t length, int64_t start, int64_t dur,
               uint64_t byte);

/* For rows of a part of a file, whose builder is one of kit_trace_create_part. Whether an event
 * ends a slice that did not begin in this part: it is not for rows_event then. */
bool rows_lacks_begin(rows *r, const event *e);
/* Takes over all rows of a part, as if its events had been given here; then it is good for
 * rows_destroy only. */
void rows_join(rows *r, rows *part);

/* What can be told only when all events are there: names of threads and streams, classes.
 * MILL_OK or E_CANCELLED. */
mill_status rows_finish(rows *r);

#endif
