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

/* What can be told only when all events are there: names of threads and streams, classes.
 * MILL_OK or E_CANCELLED. */
mill_status rows_finish(rows *r);

#endif
