/* SPDX-License-Identifier: Apache-2.0 */
/* The remarks that every report on a trace owes its reader. */
#ifndef TRACEMILL_KIT_TRACE_NOTES_H
#define TRACEMILL_KIT_TRACE_NOTES_H

#include <tracemill/kit/report.h>
#include <tracemill/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* That the file was cut, that there are no device events, and what the reader skipped or mended,
 * each with its count and its first byte. */
void kit_note_trace(mill_run *run, kit_report *report, const mill_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
