/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of our own beside those of the traces: a schedule, or the lanes of a report. */
#ifndef CHROME_ADDED_H
#define CHROME_ADDED_H

#include "out.h"

#include <tracemill/report.h>
#include <tracemill/schedule.h>

/* `pid` must be of nothing else; `item` is the key, "" for none. Each event with the comma before
 * it. `shift`, in ns, is added to each time. */
void schedule_events(const mill_schedule *schedule, out *o, int64_t pid, const char *item,
                     int64_t shift);
void lanes_events(const mill_report *report, out *o, int64_t pid, const char *item, int64_t shift);

/* Names a process, or with tid from 0 on a thread of it, which stands in that order. */
void added_name(out *o, int64_t pid, int64_t tid, const char *name);

/* A text in quotes, escaped; what is no UTF-8 as U+FFFD. */
void added_text(out *o, const char *text);

/* ,"key":value where it is not MILL_UNKNOWN; the key is ours. */
void added_int(out *o, const char *key, int64_t value);

#endif
