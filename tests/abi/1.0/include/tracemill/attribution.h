/* SPDX-License-Identifier: Apache-2.0 */
/* mill.attribution/1: where in the model's work each GPU activity of a trace belongs.
 *
 * A value of this type is a `const mill_attribution *`; all memory it reaches belongs to it. It
 * says one thing of each row of a trace's `gpu` table: its *place*. Activities of one annotation
 * share one place, so that what costs something is done once a place, not once an activity. Tables
 * are arrays of one length each, so that more of them can follow. Unknown is MILL_UNKNOWN,
 * MILL_NONE or NULL. Constant once posted; any thread may read it.
 */
#ifndef TRACEMILL_ATTRIBUTION_H
#define TRACEMILL_ATTRIBUTION_H

#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MILL_TYPE_ATTRIBUTION "mill.attribution/1"

/* What part of training a piece of work is. */
typedef enum mill_chunk {
    MILL_CHUNK_NONE = 0,    /* not known, or none: inference, the optimizer */
    MILL_CHUNK_FORWARD = 1, /* F */
    MILL_CHUNK_BACKWARD =
        2,                 /* B: gradients of the input; of the weights too, where none is WEIGHT */
    MILL_CHUNK_WEIGHT = 3, /* W: gradients of the weights, where they are apart */
    MILL_CHUNK_PAIR = 4,   /* F&B: a forward and a backward chunk at once, not told apart */
} mill_chunk;

/* How a place was found, best first. */
typedef enum mill_method {
    MILL_METHOD_NONE = 0,
    MILL_METHOD_ANNOTATION = 1, /* an annotation whose name tells stage and chunk */
    MILL_METHOD_RULE = 2,       /* a rule of the user */
    MILL_METHOD_AUTOGRAD = 3,   /* launched by the autograd engine, or not */
    MILL_METHOD_SEQUENCE = 4,   /* the order of communication kernels */
    MILL_METHOD_PIPELINE = 5,   /* an annotation of a whole chunk ("forward_chunk") */
    MILL_METHODS = 6
} mill_method;

typedef struct mill_attribution {
    uint32_t size;
    uint32_t reserved;
    uint64_t n_rows;       /* of the trace's gpu table: says whether the two belong together */
    const uint32_t *place; /* of each row of gpu: a place below, or MILL_NONE */

    /* Places, in the order in which the trace's activities first need them. */
    uint64_t n_places;
    const uint32_t *annotation; /* row of the trace's cpu: the innermost annotation, or MILL_NONE */
    const uint32_t *stage;      /* of `stages`, or MILL_NONE */
    const uint8_t *chunk;       /* mill_chunk */
    const uint8_t *method;      /* mill_method */
    const int64_t *layer;       /* counts from 0, or MILL_UNKNOWN */
    const int64_t *micro_batch; /* counts from 0, or MILL_UNKNOWN */
    const uint32_t *step;       /* of the steps below, or MILL_NONE */

    /* Names of stages as reports show them: "dispatch(F)". */
    uint64_t n_stages;
    const char *const *stages;

    /* Steps of the profiler, by their start. An activity belongs to the step in which its launch
     * call starts, however late it runs. */
    uint64_t n_steps;
    const int64_t *step_number;      /* the N of ProfilerStep#N, or MILL_UNKNOWN */
    const int64_t *step_start;       /* ns, on the CPU */
    const int64_t *step_end;         /* ns, on the CPU; exclusive */
    const uint8_t *step_whole;       /* 0: the profile was cut in it, or began in it */
    const uint32_t *step_annotation; /* row of the trace's cpu */
    const int64_t *method_busy;      /* MILL_METHODS of them: |union| of what each method placed,
                                        summed over devices, ns */
    int64_t busy;                    /* |union| of all activities, summed over devices, ns */
} mill_attribution;

#if UINTPTR_MAX == UINT64_MAX
MILL_STATIC_ASSERT(sizeof(mill_attribution) == 168, "mill.attribution/1");
#endif

#ifdef __cplusplus
}
#endif
#endif
