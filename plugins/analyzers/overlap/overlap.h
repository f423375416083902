/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the overlap analyzer share: its options, and what it finds in a trace. All
 * memory is the run's scratch. */
#ifndef OVERLAP_H
#define OVERLAP_H

#include <tracemill/kit/measure.h>

#include <tracemill/kit/number.h>
#include <tracemill/report.h>
#include <tracemill/trace.h>

typedef struct overlap_options {
    mill_list streams; /* of int64: all that runs on these is communication */
    int64_t top;
} overlap_options;

/* Communication of one kind on one device. */
typedef struct overlap_kind {
    const char *name;
    kit_tally tally;
    int64_t hidden;  /* Σ |a ∩ C|: counts twice where activities of the kind coincide */
    int64_t exposed; /* |owned ∖ C|: sums up to the device's exposed communication */
} overlap_kind;

typedef struct overlap_device {
    int64_t id;                  /* or MILL_UNKNOWN */
    char number[KIT_NUMBER_MAX]; /* the id as text */
    const char *name;            /* or NULL */
    int64_t n_streams;
    kit_tally all, classes[KIT_CLASSES];
    kit_set sets[KIT_CLASSES];
    int64_t states[KIT_STATES]; /* over the window, which is the span of all activities */
    kit_cover hiding; /* the set of computation, asked what it covers of communication */
    kit_tally owned;  /* communication in the order in which it owns time */
    overlap_kind *kinds;  /* those that occur, longest first; NULL without communication */
    size_t n_kinds;
} overlap_device;

typedef struct overlap_stream {
    int64_t id;        /* or MILL_UNKNOWN */
    const char *label; /* or NULL */
    overlap_device *device;
    bool named; /* by the option: all on it is communication */
    kit_tally all, classes[KIT_CLASSES];
} overlap_stream;

/* A kernel's name that no communication rule matched. */
typedef struct overlap_name {
    const char *text;
    int64_t n, sum;
} overlap_name;

typedef struct overlap_analysis {
    const mill_trace *trace;
    const overlap_options *options;
    overlap_device *device_rows; /* of every device and stream row of the trace */
    overlap_stream *stream_rows;
    overlap_device **devices; /* those with activities, by id */
    overlap_stream **streams; /* likewise, by device and id */
    size_t n_devices, n_streams;
    overlap_name *unmatched; /* on devices without communication, longest first */
    size_t n_unmatched;
} overlap_analysis;

mill_status overlap_analyse(mill_run *run, const mill_trace *trace, const overlap_options *options,
                            overlap_analysis *ret_analysis);

/* The report of it, to be posted. */
mill_report *overlap_tell(mill_run *run, const overlap_analysis *analysis);

/* No communication was recognised on the device: ratios over it are unknown, not 0. */
static inline bool overlap_no_communication(const overlap_device *device) {
    return device->classes[KIT_COMM].n == 0;
}

#endif
