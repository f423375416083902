/* SPDX-License-Identifier: Apache-2.0 */
/* mill.schedule/1: what each rank of a pipeline does when: simulated, or seen in a profile.
 *
 * A value of this type is a `const mill_schedule *`; all memory it reaches belongs to it. One value
 * is one step of one schedule. Operations stand rank by rank, in the order in which the rank runs
 * them; those of rank r are rows first[r] to first[r + 1]. A simulated schedule begins at 0.
 * Unknown is MILL_UNKNOWN, a NaN, NULL, or MILL_NO_OP. Constant once posted; any thread may read
 * it.
 */
#ifndef TRACEMILL_SCHEDULE_H
#define TRACEMILL_SCHEDULE_H

#include "tracemill.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MILL_TYPE_SCHEDULE "mill.schedule/1"

#ifndef MILL_UNKNOWN
#define MILL_UNKNOWN INT64_MIN /* of int64 values */
#endif
#define MILL_NO_OP UINT32_MAX /* no such chunk, stage or micro-batch, or not known */

typedef enum mill_op_kind {
    MILL_OP_FORWARD = 1,  /* F */
    MILL_OP_BACKWARD = 2, /* B: of the input and of the weights */
    MILL_OP_INPUT = 3,    /* Bi: gradients of the input only */
    MILL_OP_WEIGHT = 4,   /* W: gradients of the weights only */
    MILL_OP_PAIR = 5,     /* F&B: a forward chunk and a backward one (the columns `..._back`) */
    MILL_OP_SEND = 6,     /* of profiles: with another pipeline rank */
    MILL_OP_RECEIVE = 7,
    MILL_OP_OTHER = 8, /* of profiles: an all-reduce of gradients, the optimizer */
} mill_op_kind;

/* Columns of `n_ops` values. */
typedef struct mill_ops {
    const uint8_t *kind;         /* mill_op_kind */
    const uint32_t *chunk;       /* of the rank's chunks, from 0 */
    const uint32_t *stage;       /* of the model, from 0; DualPipe: along the chunk's own way */
    const uint32_t *micro_batch; /* from 0; of a bidirectional schedule: within its direction */
    const uint32_t *chunk_back;  /* of a pair's backward half, else MILL_NO_OP */
    const uint32_t *stage_back;  /* of a pair's backward half, else MILL_NO_OP */
    const uint32_t *micro_batch_back; /* of a pair's backward half, else MILL_NO_OP */
    const int64_t *start, *end;       /* ns */
    const char *const *label;         /* of profiles: the name there; NULL: none has one */
} mill_ops;

typedef struct mill_schedule {
    uint32_t size;
    uint32_t simulated;        /* 1; 0: from a profile */
    const char *id;            /* "dualpipe": stays the same from release to release */
    const char *name;          /* "DualPipe" */
    const char *subject;       /* what it was simulated for, or the profile */
    const char *communication; /* how transfers were modelled: "dep", "blocking"; NULL: a profile */
    uint32_t ranks, chunks;    /* devices of the pipeline; model chunks of each */
    uint32_t stages;           /* of the model */
    uint32_t micro_batches;    /* of a step, all directions together */
    uint32_t bidirectional;    /* 1: the chunks of a rank are of two ways through the model */
    uint32_t reserved;
    int64_t transfer_ns; /* from one rank to the next, or MILL_UNKNOWN */
    int64_t makespan_ns; /* from the first start to the last end */
    uint64_t n_ops;
    const uint64_t *first; /* ranks + 1 */
    mill_ops ops;
    const int64_t *live; /* ranks: most chunks whose activations a rank holds at once */
} mill_schedule;

#if UINTPTR_MAX == UINT64_MAX
MILL_STATIC_ASSERT(sizeof(mill_ops) == 80, "mill.schedule/1");
MILL_STATIC_ASSERT(sizeof(mill_schedule) == 184, "mill.schedule/1");
#endif

#ifdef __cplusplus
}
#endif
#endif
