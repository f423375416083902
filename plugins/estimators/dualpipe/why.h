/* SPDX-License-Identifier: Apache-2.0 */
/* Why ranks stand still in a simulated schedule, what decides its makespan, and what a change of a
 * duration would do to it. From a result with PP_RECORD.
 */
#ifndef DUALPIPE_WHY_H
#define DUALPIPE_WHY_H

#include "sim.h"

/* The idle time of a rank, cut into parts that add up to makespan - busy: */
typedef enum pp_cause {
    PP_CAUSE_START,    /* before its first operation: the pipeline fills */
    PP_CAUSE_FORWARD,  /* waits until another rank has computed activations */
    PP_CAUSE_BACKWARD, /* waits until another rank has computed gradients */
    PP_CAUSE_TRANSFER, /* they are computed, and on their way (latency, link, rendezvous) */
    PP_CAUSE_TAIL,     /* after its last operation: the pipeline drains */
    PP_CAUSES
} pp_cause;

typedef struct pp_idle {
    int64_t ns[PP_CAUSES];
    int64_t imbalance; /* not a part of the sum: busy of the busiest rank - busy of this one, which
                        * no order could fill */
} pp_idle;

/* d makespan / d X for X the duration of one kind on every cell, and the latency: how many of them
 * lie on the critical path. Exact until the path changes. */
typedef struct pp_slopes {
    int64_t forward, backward, input, weight, pair; /* operations on the path */
    int64_t latency;                                /* transfers on the path */
} pp_slopes;

/* The chain of operations that decides the makespan, last first in time order of index 0 … n - 1.
 */
typedef struct pp_path {
    uint64_t n;
    const uint64_t *op;      /* index of the result's items, from the first in time on */
    const uint32_t *rank;    /* of each */
    const uint8_t *transfer; /* 1: came to it by a transfer from another rank, 0: its rank was busy
                              * before, or it is the first */
} pp_path;

/* ret_idle: of each rank. All memory is the run's scratch. */
void pp_why_idle(mill_run *run, const pp_plan *plan, const pp_timing *timing,
                 const pp_result *result, pp_idle *ret_idle);
void pp_why_path(mill_run *run, const pp_plan *plan, const pp_timing *timing,
                 const pp_result *result, pp_path *ret_path);
pp_slopes pp_path_slopes(const pp_result *result, const pp_path *path);
/* The same by stage: ret_slopes of plan->stages; latency is unknown there. */
void pp_path_stage_slopes(const pp_plan *plan, const pp_result *result, const pp_path *path,
                          pp_slopes *ret_slopes);

#endif
