/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that a layer and a step are made of. */
#ifndef GEN_KERNELS_H
#define GEN_KERNELS_H

#include "gen_expect.h"

typedef struct gen_kernel {
    const char *name; /* as the profiler writes it */
    const char *op;   /* the operator that launches it */
    gen_class cls;
    const char *kind;       /* of communication, else NULL */
    const char *collective; /* "Collective name", where the kernel tells it, else NULL */
    int grid, block;        /* of copies: bytes, 0 */
} gen_kernel;

/* So many launches of a kernel in a row, each of about so many µs. */
typedef struct gen_use {
    const gen_kernel *kernel; /* NULL ends a list */
    int times, us;
} gen_use;

/* Where a stage's kernels run, if the device has streams enough. */
typedef enum gen_role { GEN_ROLE_COMPUTE, GEN_ROLE_COMM, GEN_ROLE_WGRAD, GEN_ROLES } gen_role;

/* A part of a chunk, annotated with its name. */
typedef struct gen_stage {
    const char *name;
    gen_role role;
    const gen_use *uses;
} gen_stage;

/* Stages that run at the same time; they need what the slot before made. */
typedef struct gen_slot {
    const gen_stage *stages[4]; /* NULL ends the list */
} gen_slot;

extern const gen_slot gen_layer_slots[]; /* a layer; ends with an empty slot */
extern const gen_slot gen_step_slots[];  /* the end of a step */

#endif
