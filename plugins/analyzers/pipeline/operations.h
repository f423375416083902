/* SPDX-License-Identifier: Apache-2.0 */
/* tracemill.pipeline/1: what the workers of a pipeline did when, as one profile tells it, without
 * its trace.
 *
 * A value of this type is a `const pipe_operations *`; all memory it reaches belongs to it. A
 * *worker* is a rank of a pipeline: a device of a profile, or the threads of one rank in a step
 * timeline. Unknown is MILL_UNKNOWN or NULL. Constant once posted.
 */
#ifndef PIPELINE_OPERATIONS_H
#define PIPELINE_OPERATIONS_H

#include <tracemill/kit/activities.h>

#define PIPE_TYPE "tracemill.pipeline/1"

typedef enum pipe_kind {
    PIPE_FORWARD = 1,
    PIPE_BACKWARD = 2, /* of the input alone, where the worker has WEIGHT operations */
    PIPE_WEIGHT = 3,
    PIPE_SEND = 4, /* to another rank of the pipeline; of profiles, a kernel, waiting included */
    PIPE_RECEIVE = 5,
    PIPE_EXCHANGE = 6, /* both at once, or not told which */
    PIPE_OTHER = 7,    /* a gradient's all-reduce, the optimizer */
} pipe_kind;

static inline bool pipe_computes(uint8_t kind) {
    return kind <= PIPE_WEIGHT;
}
static inline bool pipe_communicates(uint8_t kind) {
    return kind >= PIPE_SEND && kind <= PIPE_EXCHANGE;
}

typedef struct pipe_op {
    int64_t start, end; /* ns on the profile's clock */
    int64_t compute;    /* of what computes: |union of computation| in it */
    int64_t owned;      /* the part of it in which nothing earlier of the worker computes */
    int64_t step, chunk, micro_batch, sequence;
    int64_t peer;    /* of communication: a stage in a timeline, a rank in a profile */
    uint32_t worker; /* row of the value's workers */
    uint8_t kind;    /* pipe_kind */
    const char *name;
} pipe_op;

typedef struct pipe_worker {
    int64_t rank;          /* of profiles */
    int64_t stage, dp, tp; /* of timelines */
} pipe_worker;

typedef struct pipe_operations {
    uint32_t size;
    uint32_t timeline; /* 1: of timers, which know stages; 0: of device activities */
    const char *path;
    const char *method; /* how forward and backward were told: "timers", "annotation" */
    int64_t base_ns;    /* add it to times for the wall clock */
    int64_t unsure;     /* ns of computation that belongs to no chunk */
    int64_t lost;       /* things in the file that its reader could not take */
    const pipe_worker *workers;
    const pipe_op *ops; /* by worker and start */
    uint64_t n_workers, n_ops;
} pipe_operations;

extern const mill_type pipe_type;
mill_status pipe_save(mill_run *run, const void *data, mill_sink *sink);
mill_status pipe_load(mill_run *run, mill_source *source, void **ret_data);
extern const mill_stage pipe_operations_stage;

typedef struct pipe_ops_options {
    kit_selection selection;
    mill_list p2p_kinds; /* of texts */
} pipe_ops_options;

/* The same, while it is made: ops in any order. */
typedef struct pipe_making {
    mill_run *run;
    pipe_operations *value;
    pipe_worker *workers;
    pipe_op *ops;
    size_t n_ops, room_ops;
} pipe_making;

/* A row to be filled, unknown but for its kind. */
pipe_op *pipe_add(pipe_making *m, pipe_kind kind, uint32_t worker);

/* From the trace's timers (timers.c), or from the activities of its devices (profile.c). Errors are
 * recorded. */
void pipe_take_timers(pipe_making *m, const mill_trace *trace);
mill_status pipe_take_profile(pipe_making *m, const mill_trace *trace,
                              const mill_attribution *places, const pipe_ops_options *options);

#endif
