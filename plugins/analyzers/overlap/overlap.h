/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the overlap analyzer share: its options, and what it finds on each device. All
 * memory is the run's scratch. */
#ifndef OVERLAP_H
#define OVERLAP_H

#include <tracemill/kit/activities.h>
#include <tracemill/kit/number.h>
#include <tracemill/kit/report.h>

typedef struct overlap_options {
    kit_selection selection;
    int64_t top;
} overlap_options;

/* Communication of one kind on one device. */
typedef struct overlap_kind {
    const char *name;
    kit_tally tally;
    int64_t hidden;  /* Σ |a ∩ C|: counts twice where activities of the kind coincide */
    int64_t exposed; /* |owned ∖ C|: sums up to the device's exposed communication */
} overlap_kind;

/* One communication activity. Where several coincide, the earliest started owns the time. */
typedef struct overlap_comm {
    uint32_t activity; /* of the device's */
    kit_interval owned;
    int64_t hidden;  /* |a ∩ C| */
    int64_t exposed; /* |owned ∖ C| */
} overlap_comm;

typedef struct overlap_device {
    const kit_device *view;
    size_t first_stream, n_streams; /* of the analysis' streams */
    kit_tally all, classes[KIT_CLASSES];
    int64_t states[KIT_STATES]; /* over the window */
    kit_cover covers[KIT_CLASSES];
    overlap_comm *comm; /* in the order of the activities */
    size_t n_comm;
    overlap_kind *kinds; /* those that occur, longest first */
    size_t n_kinds;
} overlap_device;

typedef struct overlap_stream {
    const kit_stream *view;
    overlap_device *device;
    kit_tally all, classes[KIT_CLASSES];
} overlap_stream;

/* A kernel's name that no communication rule matched. */
typedef struct overlap_name {
    const char *text;
    int64_t n, sum;
} overlap_name;

typedef struct overlap_analysis {
    mill_run *run;
    const overlap_options *options;
    kit_activities all;
    overlap_device *devices; /* of the same order as those of `all`; streams too */
    overlap_stream *streams;
    overlap_name *unmatched; /* on devices without communication, longest first */
    size_t n_unmatched;
} overlap_analysis;

/* Measures what was selected. */
mill_status overlap_measure(overlap_analysis *analysis);

/* The report of it, to be posted. */
mill_report *overlap_tell(const overlap_analysis *analysis);

/* Parts of the report. */
void overlap_tell_figures(kit_report *r, const overlap_device *device, const char *scope);
void overlap_tell_devices(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_streams(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_classes(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_unmatched(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_kinds(kit_report *r, const overlap_analysis *analysis);

/* Whether the run should end, asked for each row i, answered for some. */
static inline bool overlap_cancelled(const overlap_analysis *analysis, size_t i) {
    return i % (1u << 16) == 0 && mill_cancelled(analysis->run);
}

/* No communication was recognised on the device: ratios over it are unknown, not 0. */
static inline bool overlap_no_communication(const overlap_device *device) {
    return device->classes[KIT_COMM].n == 0;
}

/* The time in the states of a mask; unknown for NULL. */
static inline int64_t overlap_time(const overlap_device *device, uint32_t states) {
    return device ? kit_time_in(device->states, states) : MILL_UNKNOWN;
}

#endif
