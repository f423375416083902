/* SPDX-License-Identifier: Apache-2.0 */
/* Builder of mill.trace/1 values: the one sink of every reader.
 *
 * Use: kit_trace_create; rows in any order, straight into column segments; then kit_trace_finish,
 * which sorts, removes duplicates, mends broken timers, joins launches and finds parents; then
 * mill_output and kit_trace_destroy. Texts are copied and kept once each. One thread at a time.
 * Memory running out ends the process, as in all of the kit.
 */
#ifndef TRACEMILL_KIT_TRACE_BUILDER_H
#define TRACEMILL_KIT_TRACE_BUILDER_H

#include <tracemill/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kit_trace kit_trace;

/* An activity of a device. What is not known is MILL_UNKNOWN. */
typedef struct kit_gpu_row {
    int64_t start, dur; /* ns */
    int64_t correlation, external_id, grid, block, bytes, waited_event;
    uint64_t byte;   /* where the file has it */
    uint32_t name;   /* kit_trace_name */
    uint32_t stream; /* kit_trace_stream */
    uint32_t track;  /* any number for the line the file shows it on: only tells duplicates apart */
    uint8_t cat;     /* mill_gpu_cat */
} kit_gpu_row;

/* A slice of a CPU thread. */
typedef struct kit_cpu_row {
    int64_t start, dur; /* ns */
    int64_t correlation, external_id;
    uint64_t byte;
    uint32_t name;   /* kit_trace_name */
    uint32_t thread; /* kit_trace_thread */
    uint8_t kind;    /* mill_cpu_kind */
} kit_cpu_row;

/* A sort of thing that a reader mends or leaves out. Constant, known by its address. */
typedef struct kit_diagnostic {
    const char *kind; /* "negative-duration" */
    const char *text; /* what it means and what was done, one sentence */
    bool lost;        /* data the file holds is not in the columns */
} kit_diagnostic;

/* Begins a value in the memory of the run. destroy takes NULL, and may come before or after the
 * value is posted. */
kit_trace *kit_trace_create(mill_run *run);
void kit_trace_destroy(kit_trace *b);

/* The value, for the facts that are plain numbers: rank, world_size, base_ns (MILL_UNKNOWN at
 * first), events, bytes (0), complete (1). */
mill_trace *kit_trace_value(kit_trace *b);
/* A copy of a text in the value's memory: for path, writer, backend. */
mill_off kit_trace_text(kit_trace *b, const char *text, size_t length);

/* Rows of `strings`, `kinds`, `rules`. kinds and rules: at most UINT16_MAX of them. */
uint32_t kit_trace_string(kit_trace *b, const char *text, size_t length);
uint16_t kit_trace_kind(kit_trace *b, const char *text);
uint16_t kit_trace_rule(kit_trace *b, const char *text);

/* Row of `names`. cat: mill_gpu_cat of the activities that bear it, 0 for anything else. */
uint32_t kit_trace_name(kit_trace *b, const char *text, size_t length, uint8_t cat);
/* To go through all names up to now: how many there are, and what was given for each. */
uint32_t kit_trace_name_count(const kit_trace *b);
const char *kit_trace_name_text(const kit_trace *b, uint32_t name, size_t *ret_length,
                                uint8_t *ret_cat);
/* What the rules say of a name; a name of which nothing is said is MILL_CLASS_NONE. kind and rule
 * may be UINT16_MAX. */
void kit_trace_classify(kit_trace *b, uint32_t name, mill_class cls, uint16_t kind, uint16_t rule);

/* A handle of the device of that number (MILL_UNKNOWN: it has none), for what follows. */
uint32_t kit_trace_device(kit_trace *b, int64_t id);
/* name: a string or MILL_NONE; sms: MILL_UNKNOWN if not known. */
void kit_trace_describe_device(kit_trace *b, uint32_t device, uint32_t name, int64_t sms);
/* A handle of a stream. label: a string that belongs to what tells it apart, or MILL_NONE. */
uint32_t kit_trace_stream(kit_trace *b, uint32_t device, int64_t id, uint32_t label);
/* Gives a stream a label when no more streams come. */
void kit_trace_label_stream(kit_trace *b, uint32_t stream, uint32_t label);

/* A new row of `threads`; process and name (strings or MILL_NONE) may be told later. */
uint32_t kit_trace_thread(kit_trace *b, int64_t pid, int64_t tid);
void kit_trace_name_thread(kit_trace *b, uint32_t thread, uint32_t process, uint32_t name);

/* Appends a row, or counts why it can't be one: start or dur MILL_UNKNOWN, dur negative, both 0
 * (a record that was never filled in), an end beyond int64 or KIT_TRACE_LONGEST after the start. */
void kit_trace_gpu(kit_trace *b, const kit_gpu_row *row);
void kit_trace_cpu(kit_trace *b, const kit_cpu_row *row);

#define KIT_TRACE_LONGEST INT64_C(86400000000000) /* ns: no activity lasts a day */

/* Counts one; `byte` of the first one is kept, MILL_UNKNOWN if there is none. */
void kit_trace_diagnose(kit_trace *b, const kit_diagnostic *diagnostic, int64_t byte);

/* The value, to be posted. max_overlap (ns): an activity that runs further than this into a later
 * one of its stream has a broken timer and is cut where that one starts. The builder must not be
 * used afterwards but to destroy it. */
mill_trace *kit_trace_finish(kit_trace *b, int64_t max_overlap);

#ifdef __cplusplus
}
#endif
#endif
