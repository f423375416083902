/* SPDX-License-Identifier: Apache-2.0 */
/* Why ranks stand still in a simulated schedule, what decides its makespan, and what a change of a
 * duration would do to it. From a result with PP_RECORD. All memory is the run's scratch.
 */
#ifndef DUALPIPE_WHY_H
#define DUALPIPE_WHY_H

#include "sim.h"

/* The idle time of a rank, cut into parts that add up to makespan - busy. What an operation waits
 * for is the last of its inputs to be computed on another rank. */
typedef enum pp_cause {
    PP_CAUSE_START,    /* before its first operation: the pipeline fills */
    PP_CAUSE_FORWARD,  /* waits until another rank has computed activations */
    PP_CAUSE_BACKWARD, /* waits until another rank has computed gradients */
    PP_CAUSE_TRANSFER, /* all is computed, and on its way (latency, link, rendezvous) */
    PP_CAUSE_TAIL,     /* after its last operation: the pipeline drains */
    PP_CAUSES
} pp_cause;

typedef struct pp_idle {
    int64_t ns[PP_CAUSES];
    int64_t imbalance; /* not a part of the sum: busy of the busiest rank - busy of this one, which
                        * no order could fill */
} pp_idle;

/* ret_idle: of each rank. */
void pp_why_idle(const pp_plan *plan, const pp_result *result, pp_idle *ret_idle);

/* How an operation of the critical path came to its start. */
typedef enum pp_how {
    PP_BY_RANK,     /* its rank was busy before, or it is the first of all */
    PP_BY_TRANSFER, /* a transfer from another rank; blocking: one that the other came to last */
    PP_BY_BATCH,    /* blocking: a transfer that its own rank came to last */
} pp_how;

/* The chain of operations that decides the makespan. Of several, the one that stays on its rank for
 * as long as it can, from the last end on back. */
typedef struct pp_path {
    uint64_t n;
    const uint64_t *op;    /* index of the result's items, from the first in time on */
    const uint32_t *rank;  /* of each */
    const uint8_t *how;    /* pp_how of each */
    const uint32_t *links; /* how many times `occupied` lies between it and the one before: more
                            * than once where its transfer queued behind others */
} pp_path;

void pp_why_path(mill_run *run, const pp_plan *plan, const pp_timing *timing,
                 const pp_result *result, pp_path *ret_path);

/* d makespan / d X for X the duration of one kind on every cell, before the slowness of its rank
 * and jitter, which scale it: without these, how many of such operations are on the critical path.
 * A pair counts as `pair` if it has its own duration; with PP_PAIR_OVERLAP once for the longer half
 * and alpha times for the shorter one (equally long: forward is taken for the longer). Exact until
 * the path changes. Where several chains decide, a longer X adds at least this, and a shorter one
 * saves at most this. */
typedef struct pp_slopes {
    double forward, backward, input, weight, pair;
    double latency, occupied; /* transfers; NaN by stage */
} pp_slopes;

pp_slopes pp_path_slopes(const pp_plan *plan, const pp_timing *timing, const pp_result *result,
                         const pp_path *path);
/* The same by stage: ret_slopes of plan->stages. A pair's own duration is by halves that of both of
 * its stages. */
void pp_path_stage_slopes(const pp_plan *plan, const pp_timing *timing, const pp_result *result,
                          const pp_path *path, pp_slopes *ret_slopes);

/* By how much each operation alone may take longer and the makespan stays; 0 on every critical
 * path. ret_slack: of each of the result's items. */
void pp_why_slack(const pp_plan *plan, const pp_timing *timing, const pp_result *result,
                  int64_t *ret_slack);

#endif
