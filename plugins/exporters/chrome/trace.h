/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a trace, so that the reader kineto.read makes the same columns of them. */
#ifndef CHROME_TRACE_H
#define CHROME_TRACE_H

#include "lines.h"

/* Each event with the comma before it. `shift`, in ns, is added to each time. */
void trace_events(const lines *l, out *o, int64_t shift);

/* The members beside the events: base time, job, devices, and what was lost in reading. */
void trace_facts(const mill_trace *trace, out *o);

#endif
