/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that trains a mixture-of-experts model, in the manner of DeepSeek-V3: each layer runs the
 * forward chunk of one micro-batch and the backward chunk of another at once, so that the dispatch
 * and combine of one hide under the computation of the other; each step ends with the collectives
 * of the optimizer.
 */
#ifndef GEN_MODEL_H
#define GEN_MODEL_H

#include "gen_expect.h"
#include "gen_output.h"

#define GEN_DEVICES_MAX 64
#define GEN_STREAMS_MAX 64

typedef struct gen_shape {
    int64_t devices, streams; /* streams of each device: computation, communication, weight
                               * gradients, then more for communication; with one, all share it */
    int64_t layers;           /* of a step */
    int64_t rank, world;
    uint64_t seed;
    int64_t unit_ns; /* all times are multiples of it */
} gen_shape;

typedef struct gen_model gen_model;

/* Borrows the output and the expectation. */
gen_model *gen_model_create(const gen_shape *shape, gen_output *output, gen_expect *expect);
void gen_model_destroy(gen_model *model); /* NULL: nothing */

/* Writes the next step of all devices, with its ProfilerStep annotation. */
void gen_model_step(gen_model *model);

#endif
