/* SPDX-License-Identifier: Apache-2.0 */
/* Random pipelines of a family, for the tests that hold what is derived against the simulation. */
#ifndef DUALPIPE_TESTS_RANDOM_CASE_H
#define DUALPIPE_TESTS_RANDOM_CASE_H

#include "families.h"
#include "sim.h"

#include <glib.h>
#include <tracemill/chunk_times.h>

typedef struct random_case {
    pp_sizes sizes;
    const pp_plan *plan;
    mill_chunk_cost cost; /* of every cell, if stages are equal */
    pp_timing timing;     /* which the test may change; without latency, slowness and jitter */
} random_case;

/* Sizes that the family takes, and equal stages: F, Bi, W of 1 to `longest`, B = Bi + W, and F&B
 * from the longer of F and B to somewhat over their sum. In the run's scratch. */
random_case random_case_of(mill_run *run, GRand *rand, const pp_family *family, int64_t longest);

/* Instead: durations of each stage of their own. */
void random_stages(mill_run *run, GRand *rand, random_case *c, int64_t longest);

/* Latency, link time, slowness of ranks, jitter, the pair rule: each in some of the cases. */
void random_hardship(mill_run *run, GRand *rand, random_case *c);

/* Durations of one operation on every cell. */
const int64_t *on_all_cells(mill_run *run, const pp_plan *plan, int64_t ns);

/* A recorded result, which must be there. */
pp_result recorded(mill_run *run, const pp_plan *plan, const pp_timing *timing);

#endif
