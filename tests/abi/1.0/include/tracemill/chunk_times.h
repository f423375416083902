/* SPDX-License-Identifier: Apache-2.0 */
/* mill.chunk-times/1: how long the chunks of a pipeline take: what a schedule is simulated with.
 *
 * A value of this type is a `const mill_chunk_times *`; all memory it reaches belongs to it. One
 * row is one pipeline stage, as one rank's profile shows it. Each duration is given on three bases,
 * since a chunk that was measured while another ran beside it does not tell what it costs alone.
 * Unknown is MILL_UNKNOWN, a NaN, or NULL. Constant once posted; any thread may read it.
 */
#ifndef TRACEMILL_CHUNK_TIMES_H
#define TRACEMILL_CHUNK_TIMES_H

#include "tracemill.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MILL_TYPE_CHUNK_TIMES "mill.chunk-times/1"

#ifndef MILL_UNKNOWN
#define MILL_UNKNOWN INT64_MIN /* of int64 values */
#endif

/* What counts as a chunk's own time; the first and the last are the band around the second. */
typedef enum mill_basis {
    MILL_BASIS_COMPUTE = 0,  /* computation only, as if all communication were hidden */
    MILL_BASIS_TRANSFER = 1, /* and transfers, one after the other: a lone chunk exposes them */
    MILL_BASIS_ALL = 2,      /* and waiting for other ranks, which is not the chunk's own cost */
    MILL_BASES = 3
} mill_basis;

/* Durations in ns, of one micro-batch. */
typedef struct mill_chunk_cost {
    int64_t forward;  /* F */
    int64_t backward; /* B: all of it, weights included */
    int64_t input;    /* Bi: gradients of the input */
    int64_t weight;   /* W: gradients of the weights; B = Bi + W */
    int64_t pair;     /* F&B: a forward and a backward chunk run at once; the same on all bases */
} mill_chunk_cost;

typedef struct mill_chunk_times {
    uint32_t size;
    uint32_t reserved;
    const char *subject; /* what was measured: "rank 0 of train.json" */
    uint64_t n;          /* pipeline stages, in the order of the pipeline as far as it is known */
    const mill_chunk_cost *costs; /* MILL_BASES for each stage: costs[stage * MILL_BASES + basis] */
    const char *const *labels;    /* of each stage: the trace's path or key */
    const int64_t *ranks;         /* or MILL_UNKNOWN */
    const int64_t *layers;        /* layers in a chunk, or MILL_UNKNOWN */
    const int64_t *samples;       /* chunks that the durations are the mean of */
    const double *coverage;       /* share of the GPU's busy time that the method placed, 0..1 */
    const char *const *methods;   /* how the durations were found: "annotation" */
} mill_chunk_times;

#if UINTPTR_MAX == UINT64_MAX
MILL_STATIC_ASSERT(sizeof(mill_chunk_cost) == 40, "mill.chunk-times/1");
MILL_STATIC_ASSERT(sizeof(mill_chunk_times) == 80, "mill.chunk-times/1");
#endif

#ifdef __cplusplus
}
#endif
#endif
