/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the chunks analyzer share: options, and what is measured of each device. All
 * memory is the run's scratch. */
#ifndef CHUNKS_H
#define CHUNKS_H

#include <tracemill/chunk_times.h>
#include <tracemill/kit/activities.h>
#include <tracemill/kit/bubble.h>
#include <tracemill/kit/report.h>

#define CHUNKS (MILL_CHUNK_PAIR + 1) /* arrays indexed by mill_chunk */

/* For which pipeline bubbles are told. */
typedef struct chunks_pipeline {
    int64_t stages;
    mill_list micro_batches; /* of int64 */
} chunks_pipeline;

#define CHUNKS_PIPELINE_OPTIONS(owner, field, stages_default, stages_help)                         \
    {.name = "pp",                                                                                 \
     .type = MILL_OPT_INT,                                                                         \
     .offset = MILL_OPT_OFF(owner, field.stages, INT),                                             \
     .def = stages_default,                                                                        \
     .min = 0,                                                                                     \
     .max = 1e6,                                                                                   \
     .unit = "stages",                                                                             \
     .help = stages_help},                                                                         \
    {                                                                                              \
        .name = "m", .type = MILL_OPT_LIST, .elem = MILL_OPT_INT,                                  \
        .offset = MILL_OPT_OFF(owner, field.micro_batches, LIST),                                  \
        .def = "20, 32, 40, 60, 80, 100, 120", .min = 1, .max = 1e9, .unit = "micro-batches",      \
        .help = "Numbers of micro-batches in a step for which the share of the bubble is told.",   \
    }

typedef struct chunks_options {
    kit_selection selection;
    mill_list transfer_kinds; /* of texts; none: all but those that wait */
    int64_t weight;           /* only if given */
    int64_t micro_batches;
    double sm_scale, pair_share, min_coverage;
    int64_t top;
    chunks_pipeline pipeline;
} chunks_options;

/* Time of work by class; `comm` holds the transfers too. */
typedef struct chunks_work {
    int64_t comp, transfer, comm;
} chunks_work;

/* One chunk of one micro-batch. */
typedef struct chunks_sample {
    mill_chunk chunk;
    uint32_t step;       /* of the attribution, or MILL_NONE */
    int64_t micro_batch; /* or MILL_UNKNOWN */
    int64_t instance;    /* tells chunks without a micro-batch apart, or MILL_UNKNOWN */
    int64_t layers;      /* known ones in it */
    kit_interval span;
    chunks_work work;
} chunks_sample;

/* The mean of a layer's part in the chunks that hold it. */
typedef struct chunks_layer {
    int64_t number;
    chunks_work mean[CHUNKS];
} chunks_layer;

typedef struct chunks_device {
    const kit_device *device;
    int64_t busy, busy_by[MILL_METHODS]; /* |union| of all, and of what each method placed */
    int64_t placed;                      /* |union| of what the methods in use placed */
    int64_t n[CHUNKS];                   /* chunks measured; of PAIR those found woven too */
    int64_t layers;                      /* in a chunk, or MILL_UNKNOWN */
    chunks_sample *samples;              /* by chunk, step and micro-batch */
    chunks_layer *layer_means;
    size_t n_samples, n_layers;
    chunks_work mean[CHUNKS];
    int64_t pair;       /* mean span of a forward and a backward chunk at once, or MILL_UNKNOWN */
    int64_t pair_bound; /* mean of max(|C|, |M|) in those spans, or MILL_UNKNOWN */
    int64_t comm_sms;   /* most SMs that one transfer can hold, or 0 */
    mill_chunk_cost costs[MILL_BASES];
} chunks_device;

typedef struct chunks_analysis {
    const chunks_options *options;
    kit_activities all;
    const uint8_t *transfers; /* of each kind of the trace: it moves data */
    uint32_t methods;         /* bit m: the mill_method m is in use */
    uint8_t *counted;         /* of each place: a method in use gave it to a chunk */
    chunks_device *devices;   /* of each of all.devices */
    bool weight_given, weight_used;
    bool in_steps; /* only work in a profiler's step counts */
    bool micro_batches_known;
    int64_t per_chunk; /* micro-batches in what is measured as one chunk */
} chunks_analysis;

extern const char *const chunks_basis_names[MILL_BASES];
extern const char *const chunks_method_names[MILL_METHODS];

/* Everything but the costs (measure.c). */
mill_status chunks_measure(mill_run *run, const mill_trace *trace,
                           const mill_attribution *attribution, const chunks_options *options,
                           chunks_analysis *ret_analysis);
/* Finds the pairs of a device and their mean (pairs.c). */
void chunks_find_pairs(mill_run *run, const chunks_analysis *a, chunks_device *d);
/* From means to the costs on each basis (cost.c). */
mill_status chunks_cost(mill_run *run, chunks_analysis *a);
/* An activity of that place counts. */
static inline bool chunks_counts(const chunks_analysis *a, uint32_t place) {
    return place != MILL_NONE && a->counted[place];
}

/* The methods in use: "annotation + rule"; "" if nothing was placed. */
const char *chunks_method(mill_run *run, const chunks_analysis *a);
/* What the durations of a device are called: the run's key, or the trace's path. */
const char *chunks_label(mill_run *run, const chunks_analysis *a, const chunks_device *d);

mill_chunk_times *chunks_times(mill_run *run, const chunks_analysis *a);
mill_report *chunks_tell(mill_run *run, const chunks_analysis *a);

/* Tables and curves of the published bubbles (bubbles.c). */
typedef struct chunks_row {
    const char *label;
    const mill_chunk_cost *costs; /* MILL_BASES */
} chunks_row;
void chunks_tell_bubbles(mill_run *run, kit_report *r, const chunks_pipeline *pipeline,
                         int64_t stages, const chunks_row *rows, size_t n);

extern const mill_stage chunks_join_stage; /* join.c */

/* a / n, rounded half up; MILL_UNKNOWN if a is, n is 0, or a mean of something would be nothing.
 * Neither is negative. */
static inline int64_t chunks_mean(int64_t a, int64_t n) {
    if (a == MILL_UNKNOWN || n == 0)
        return MILL_UNKNOWN;
    int64_t mean = a / n + (a % n >= n - n / 2);
    return mean == 0 && a > 0 ? MILL_UNKNOWN : mean;
}

static inline int64_t chunks_longer(int64_t a, int64_t b) {
    return a > b ? a : b;
}

#endif
