/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a plan with durations: when each operation starts, and what follows from that.
 *
 * Discrete events in whole nanoseconds. A rank runs its order strictly; an operation starts when
 * the rank is free and what it needs has come. A pair needs both inputs when it starts and gives
 * both outputs when it ends. Times begin at 0 with the first operation.
 */
#ifndef DUALPIPE_SIM_H
#define DUALPIPE_SIM_H

#include "plan.h"

typedef enum pp_comm {
    PP_COMM_DEP,      /* transfers never block: what is sent is there a transfer time later */
    PP_COMM_BLOCKING, /* the sends and receives between two operations are one batch that both
                       * sides wait for, as dualpipe.py does (_commit_and_wait_comm) */
} pp_comm;

typedef enum pp_pair_rule {
    PP_PAIR_OWN,     /* its own duration: the mean of what the two cells say, rounded down */
    PP_PAIR_OVERLAP, /* max(F, B) + alpha min(F, B), alpha in millionths, to the nearest ns */
} pp_pair_rule;

typedef struct pp_timing {
    /* ns, of each cell. B is `backward`; the simulation never adds Bi and W. Columns of kinds that
     * the plan does not have may be NULL. */
    const int64_t *forward, *backward, *input, *weight, *pair;
    pp_pair_rule pair_rule;
    int64_t alpha; /* millionths */
    pp_comm comm;
    int64_t latency;  /* ns, of a transfer between two ranks; within a rank it takes none */
    int64_t occupied; /* ns that a transfer keeps its link (bytes / bandwidth): transfers of one
                       * rank to another one follow each other; 0: no limit. Arrival is the end of
                       * this plus latency. */
    const int64_t *slowness; /* millionths by which each rank's durations are multiplied, to the
                              * nearest ns, or NULL */
    int64_t jitter;          /* millionths, at most 10^6: each duration is multiplied by 1 + jitter
                              * * u, with u of (-1, 1) uniform, by a hash of seed, rank and place
                              * in the order */
    uint64_t seed;
} pp_timing;

/* Duration of an operation with these timings, slowness included, jitter not; or MILL_UNKNOWN.
 * INT64_MAX: it does not fit. */
int64_t pp_duration(const pp_plan *plan, const pp_timing *timing, uint32_t rank, pp_op op);

typedef struct pp_rank_times {
    int64_t busy;        /* Σ of durations */
    int64_t start, end;  /* of its first and last operation */
    int64_t live;        /* most chunks held: freed at the end of B, Bi, F&B */
    int64_t live_weight; /* the same, freed at the end of W instead of Bi */
} pp_rank_times;

typedef struct pp_result {
    int64_t makespan;
    bool stands_still;    /* why it is E_DATA: the order can't run; nothing else is filled in */
    pp_rank_times *ranks; /* idle of a rank = makespan - busy; span idle = end - start - busy */
    /* If recorded: of each operation, rank by rank in order; else NULL. */
    uint64_t *first; /* ranks + 1 */
    pp_item *items;
    int64_t *start, *end;
} pp_result;

#define PP_RECORD 1u   /* keep every operation's start and end: 28 bytes for each */
#define PP_MAKESPAN 2u /* nothing but that, and no memory that stays */

/* Runs a plan that is whole (pp_whole). MILL_OK, E_CANCELLED, or E_DATA with a cause that names the
 * cycle of waiting operations if the order can't run, or says that a duration is not known or a
 * time does not fit. Memory of the result is the run's scratch; without PP_RECORD what it needs
 * grows with the micro-batches in flight, not with m (of plans that number them: with m). One
 * thread each; several may run at once. */
mill_status pp_simulate(mill_run *run, const pp_plan *plan, const pp_timing *timing, uint32_t flags,
                        pp_result *ret_result);

/* The same without any allocation but in a workspace that is used again, for searches that simulate
 * thousands of plans: returns the makespan, or MILL_UNKNOWN for a deadlock (no cause). */
typedef struct pp_workspace pp_workspace;
pp_workspace *pp_workspace_create(void);
void pp_workspace_destroy(pp_workspace *w);
int64_t pp_makespan(pp_workspace *w, const pp_plan *plan, const pp_timing *timing);

#endif
