/* SPDX-License-Identifier: Apache-2.0 */
/* Small traces with work on both sides, and the attribution of them. */
#ifndef ATTRIBUTION_SCENE_H
#define ATTRIBUTION_SCENE_H

#include "bench_host.h"

#include <tracemill/attribution.h>

/* On a thread of the CPU. */
typedef struct slice {
    mill_cpu_kind kind;
    int64_t pid, tid, start, dur;
    const char *name;
    int64_t correlation; /* 0: none */
} slice;

/* Of process 1. */
#define NOTE(tid, start, dur, name)                                                                \
    { MILL_CPU_ANNOTATION, 1, tid, start, dur, name, 0 }
#define OP(tid, start, dur, name)                                                                  \
    { MILL_CPU_OP, 1, tid, start, dur, name, 0 }
#define CALL(tid, start, correlation)                                                              \
    { MILL_CPU_RUNTIME, 1, tid, start, 1, "cudaLaunchKernel", correlation }

/* On a device; communication where it has a kind. */
typedef struct kernel {
    int64_t correlation; /* 0: none */
    int64_t start, dur;
    const char *name, *kind;
    int64_t device, stream;
} kernel;

typedef struct scene {
    const slice *slices;
    size_t n_slices;
    const kernel *kernels;
    size_t n_kernels;
} scene;

#define SCENE(slices, kernels)                                                                     \
    ((scene){(slices), G_N_ELEMENTS(slices), (kernels), G_N_ELEMENTS(kernels)})

/* Lives as long as the bench. */
mill_trace *scene_trace(bench *b, const scene *s);

/* A bench of the attribution, not yet run; settings end with NULL, or are NULL. */
bench *scene_bench(const scene *s, const char *const *settings);
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs it: must go well. */
const mill_attribution *scene_run(bench *b);

/* What is said of the place of a row of gpu. */
const char *scene_stage(const mill_attribution *a, uint64_t row);   /* or NULL */
int64_t scene_layer(const mill_attribution *a, uint64_t row);       /* or MILL_UNKNOWN */
int64_t scene_step(const mill_attribution *a, uint64_t row);        /* number, or MILL_UNKNOWN */
uint32_t scene_annotation(const mill_attribution *a, uint64_t row); /* or MILL_NONE */

#endif
