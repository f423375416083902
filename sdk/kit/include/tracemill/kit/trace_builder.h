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
    uint32_t collective; /* kit_trace_collective, or MILL_NONE */
    uint8_t cat;         /* mill_gpu_cat */
} kit_gpu_row;

/* What the file says of the collective operation of one activity: see mill_collectives. Texts are
 * strings or MILL_NONE. */
typedef struct kit_collective_row {
    int64_t in_elems, out_elems, elem_bytes, group_size, sequence, peer;
    uint32_t operation, dtype, group, ranks;
    uint16_t kind; /* kit_trace_kind, or UINT16_MAX */
} kit_collective_row;

/* A slice of a CPU thread. */
typedef struct kit_cpu_row {
    int64_t start, dur; /* ns */
    int64_t correlation, external_id;
    uint64_t byte;
    uint32_t name;   /* kit_trace_name */
    uint32_t thread; /* kit_trace_thread */
    uint8_t kind;    /* mill_cpu_kind */
} kit_cpu_row;

/* An end of an arrow. */
typedef struct kit_flow_row {
    int64_t id;
    int64_t time; /* ns; here and below, MILL_UNKNOWN counts as a row that can't be one */
    uint64_t byte;
    uint32_t thread; /* kit_trace_thread */
    uint32_t name;   /* kit_trace_name */
    uint8_t end;     /* 0 start, 1 step, 2 end */
} kit_flow_row;

/* What a counter was at a time. */
typedef struct kit_counter_row {
    int64_t time; /* ns */
    double value;
    uint64_t byte;
    uint32_t thread, name;
} kit_counter_row;

/* A wait that the file records: see mill_syncs. */
typedef struct kit_sync_row {
    int64_t start, dur; /* ns; no duration counts as MILL_UNKNOWN */
    int64_t correlation, waited_event;
    uint64_t byte;
    uint32_t name;                  /* kit_trace_name */
    uint32_t stream, waited_stream; /* kit_trace_stream, or MILL_NONE */
    uint8_t kind;                   /* mill_sync_kind */
} kit_sync_row;

/* An operation that the training program timed itself: see mill_timers. What is not known is
 * MILL_UNKNOWN. */
typedef struct kit_timer_row {
    int64_t start, dur; /* ns */
    int64_t step, chunk, micro_batch, sequence;
    uint64_t byte;
    uint32_t name;   /* kit_trace_name */
    uint32_t thread; /* kit_trace_thread */
} kit_timer_row;

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

/* Row of `names`. tag: 0 for the name of no GPU activity; else what tells names of one text apart,
 * by which the reader finds their class: the mill_gpu_cat for a start. */
uint32_t kit_trace_name(kit_trace *b, const char *text, size_t length, uint32_t tag);
/* To go through all names up to now: how many there are, and what was given for each. */
uint32_t kit_trace_name_count(const kit_trace *b);
const char *kit_trace_name_text(const kit_trace *b, uint32_t name, size_t *ret_length,
                                uint32_t *ret_tag);
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
void kit_trace_flow(kit_trace *b, const kit_flow_row *row);
void kit_trace_counter(kit_trace *b, const kit_counter_row *row);
void kit_trace_sync(kit_trace *b, const kit_sync_row *row);
void kit_trace_timer(kit_trace *b, const kit_timer_row *row); /* problems: those of a CPU slice */

/* For the `collective` of one activity; MILL_NONE if there are too many. */
uint32_t kit_trace_collective(kit_trace *b, const kit_collective_row *row);

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
