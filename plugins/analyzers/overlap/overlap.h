/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the overlap analyzer share: its options, and what it finds on each device. All
 * memory is the run's scratch. */
#ifndef OVERLAP_H
#define OVERLAP_H

#include <tracemill/kit/gaps.h>
#include <tracemill/kit/number.h>
#include <tracemill/kit/report.h>
#include <tracemill/kit/sms.h>

typedef struct overlap_options {
    kit_selection selection;
    kit_gap_rule gaps;
    mill_list notify;        /* of texts: kinds whose kernels wait for other ranks */
    const char *layer_start; /* expression of stages; "": the one that comes first */
    double min_coverage;
    int64_t top, kernels;
    bool detail, lanes;
} overlap_options;

/* Communication of one kind on one device. */
typedef struct overlap_kind {
    const char *name;
    uint16_t kind;
    kit_tally tally;
    int64_t hidden;  /* Σ |a ∩ C|: counts twice where activities of the kind coincide */
    int64_t exposed; /* |owned ∖ C|: sums up to the device's exposed communication */
} overlap_kind;

/* One communication activity. Where several coincide, the earliest started owns the time. */
typedef struct overlap_comm {
    uint32_t activity; /* of the device's */
    int64_t owned;     /* from when on it owns its time: up to its end, if that is later */
    int64_t hidden;    /* |a ∩ C| */
    int64_t exposed;   /* |owned ∖ C| */
} overlap_comm;

/* Communication of one kind that belongs to one place, or to several that the attribution calls the
 * same. */
typedef struct overlap_part {
    int64_t layer;  /* or MILL_UNKNOWN */
    uint32_t stage; /* or MILL_NONE */
    uint16_t kind;
    uint8_t chunk; /* mill_chunk */
    const char
        *kind_name; /* by which parts are in order: rows of kinds are as the rules have them */
    int64_t n, sum, hidden, exposed;
} overlap_part;

/* Why communication is exposed: what the primary stream does meanwhile. */
typedef enum overlap_reason {
    /* It stands still: first the causes of kit_gap_cause. */
    OVERLAP_NOT_LAUNCHED = KIT_GAP_CAUSES,
    OVERLAP_BEFORE_FIRST,
    OVERLAP_AFTER_LAST,
    /* It runs something else. */
    OVERLAP_MEMORY,
    OVERLAP_SAME_STREAM,
    OVERLAP_OTHER,
    OVERLAP_NO_COMPUTATION, /* there is no primary stream */
    OVERLAP_REASONS
} overlap_reason;

/* Exposed time that one communication activity owns, for one reason. */
typedef struct overlap_exposed {
    kit_interval time;
    uint32_t comm; /* of the device's comm */
    uint32_t gap;  /* of the primary stream's, or MILL_NONE */
    uint8_t reason;
} overlap_exposed;

/* A part of the time: a step, or a layer. */
typedef struct overlap_window {
    kit_interval time;
    uint32_t step; /* of the attribution's, or MILL_NONE */
    int64_t layer; /* or MILL_UNKNOWN */
    int64_t n;     /* activities, of a step */
    int64_t notify;
    int64_t states[KIT_STATES];
} overlap_window;

typedef struct overlap_windows {
    overlap_window *v;
    size_t n;
} overlap_windows;

/* A stage of one layer and step. */
typedef struct overlap_cell {
    uint32_t step, stage;
    int64_t layer;
    int64_t cpu_start, cpu_time; /* of its annotations; or MILL_UNKNOWN */
    kit_tally all, comp, comm;
    int64_t under_comm; /* |its computation ∩ M| */
} overlap_cell;

/* How long two groups of activities run at the same time. */
typedef struct overlap_pairs {
    size_t n;      /* groups; 0: too many to compare */
    int64_t *time; /* time[a * n + b]; of streams plus time[b * n + a] */
} overlap_pairs;

/* What chunks a device works on, as bits of a state. */
enum { OVERLAP_F_COMP, OVERLAP_B_COMP, OVERLAP_F_COMM, OVERLAP_B_COMM, OVERLAP_F, OVERLAP_B };
#define OVERLAP_CHUNK_STATES 64

typedef struct overlap_device {
    const kit_device *view;
    size_t first_stream, n_streams; /* of the analysis' streams */
    kit_tally all, classes[KIT_CLASSES];
    int64_t states[KIT_STATES];    /* over the window */
    kit_cover comp, communication; /* C and M */
    overlap_comm *comm;            /* in the order of the activities */
    size_t n_comm;
    overlap_kind *kinds; /* those that occur, longest first */
    size_t n_kinds;

    uint32_t primary; /* stream, or KIT_ALL_STREAMS */
    kit_gaps gaps;    /* of it */
    overlap_exposed *exposed;
    size_t n_exposed;
    int64_t reasons[OVERLAP_REASONS];

    /* By the attribution; empty where it tells too little. */
    int64_t placed;                /* |union| of what has a stage or a chunk */
    bool staged, chunked, layered; /* there is something to tell by these */
    overlap_part *parts;           /* the finest */
    size_t n_parts;
    overlap_windows steps, layers;
    overlap_cell *cells; /* by step, layer and stage */
    size_t n_cells;
    overlap_pairs stages, streams; /* computation of a and communication of b; two streams */
    int64_t chunks[OVERLAP_CHUNK_STATES];
    kit_sms sm;
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
    const bool *waiting;     /* of the trace's kinds: whose kernels wait for other ranks */
    overlap_name *unmatched; /* on devices without communication, longest first */
    size_t n_unmatched;
} overlap_analysis;

/* Measures what was selected. */
mill_status overlap_measure(overlap_analysis *analysis);
mill_status overlap_find_places(overlap_analysis *analysis, overlap_device *device);
mill_status overlap_find_reasons(overlap_analysis *analysis, overlap_device *device);
mill_status overlap_find_parts(overlap_analysis *analysis, overlap_device *device);
mill_status overlap_find_steps(overlap_analysis *analysis, overlap_device *device);
mill_status overlap_find_layers(overlap_analysis *analysis, overlap_device *device);
mill_status overlap_find_stages(overlap_analysis *analysis, overlap_device *device);
mill_status overlap_find_sm(overlap_analysis *analysis, overlap_device *device);
mill_status overlap_find_together(overlap_analysis *analysis, overlap_device *device);

/* The report of it, to be posted. */
mill_report *overlap_tell(const overlap_analysis *analysis);
void overlap_tell_notes(kit_report *r, const overlap_analysis *analysis);
/* Of what the figures are: the window's rule, and how much the reader mended. */
void overlap_tell_selection(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_figures(kit_report *r, const overlap_device *device, const char *scope);
void overlap_tell_sm_figures(kit_report *r, const overlap_device *device, const char *scope);

/* Tables, each of all devices; one without a row is left out. */
void overlap_tell_reasons(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_layers(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_steps(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_kinds(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_parts(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_kernels(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_notify(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_stages(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_pairs(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_chunks(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_sm(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_devices(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_streams(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_classes(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_unmatched(kit_report *r, const overlap_analysis *analysis);

void overlap_tell_lanes(kit_report *r, const overlap_analysis *analysis);
void overlap_tell_sm_curves(kit_report *r, const overlap_analysis *analysis,
                            const overlap_device *device, size_t number);

/* Of a place: its stage, chunk, layer and step, or what stands for none. */
static inline uint32_t overlap_stage_of(const overlap_analysis *analysis, uint32_t place) {
    return place == MILL_NONE ? MILL_NONE : analysis->all.places->stage[place];
}
static inline mill_chunk overlap_chunk_of(const overlap_analysis *analysis, uint32_t place) {
    return place == MILL_NONE ? MILL_CHUNK_NONE : (mill_chunk)analysis->all.places->chunk[place];
}
static inline int64_t overlap_layer_of(const overlap_analysis *analysis, uint32_t place) {
    return place == MILL_NONE ? MILL_UNKNOWN : analysis->all.places->layer[place];
}
static inline uint32_t overlap_step_of(const overlap_analysis *analysis, uint32_t place) {
    return place == MILL_NONE ? MILL_NONE : analysis->all.places->step[place];
}

/* As reports show them; NULL: none. */
const char *overlap_stage_name(const overlap_analysis *analysis, uint32_t stage);
const char *overlap_chunk_name(mill_chunk chunk);
int64_t overlap_step_number(const overlap_analysis *analysis, uint32_t step);
const char *overlap_reason_name(unsigned reason);

/* Whether the kind's kernels wait for other ranks, by the option. */
static inline bool overlap_waits(const overlap_analysis *analysis, uint16_t kind) {
    return kit_kind_in(&analysis->all, analysis->waiting, kind);
}

/* Something is told by stage; several steps are told apart. */
bool overlap_staged(const overlap_analysis *analysis);
bool overlap_several_steps(const overlap_analysis *analysis);

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
