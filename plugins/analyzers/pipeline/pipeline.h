/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the class `pipeline` share: members, steps, operations, and what is measured of
 * them. All memory is the run's scratch. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "operations.h"

#include <tracemill/chunk_times.h>
#include <tracemill/kit/measure.h>
#include <tracemill/kit/report.h>
#include <tracemill/schedule.h>

typedef struct pipe_options {
    int64_t ranks_per_stage;
    int64_t step; /* only if given */
    int64_t replica;
    double slow_stage, min_coverage;
    bool infer_peers, detail, lanes;
} pipe_options;

#define PIPE_MAX_CHUNKS 256 /* of a rank; a model chunk beyond is a mistake */

/* The clock of a profile against the one of the first profile. */
typedef struct pipe_clock {
    const pipe_operations *profile;
    int64_t origin;      /* ns: added to its times, so that they count from the first of all */
    bool aligned;        /* its offset is known, be it 0 */
    size_t n;            /* hand-overs that the offset rests on */
    int64_t offset, mad; /* median of what its ends are late, and MAD around it */
} pipe_clock;

/* A rank of one pipeline. */
typedef struct pipe_member {
    uint32_t clock;
    uint32_t worker; /* of the clock's profile */
    int64_t rank;    /* of the job, or MILL_UNKNOWN */
    int64_t stage;
    int64_t replica_key; /* orders the replicas */
    uint32_t replica;    /* pipelines that run the same stages on other data are replicas */
    const char *label;   /* of its replica: "DP 0, TP 0" */
} pipe_member;

/* One operation of a member in a step. */
typedef struct pipe_event {
    const pipe_op *op;
    int64_t start, end;         /* ns on the common clock */
    int64_t chunk, micro_batch; /* of what computes: as told, else counted in the order of starts */
    uint32_t step, member;
    uint32_t peer;  /* of communication: member, or MILL_NONE */
    uint32_t match; /* of communication: the event at the other end, or MILL_NONE */
    int64_t wait;   /* of it: from its start; the rest is transfer. Unmatched: all of it */
} pipe_event;

/* How a member spends the pipeline's span of a step; ns. The parts from `startup` on add up to the
 * bubble. */
typedef struct pipe_time {
    int64_t span, compute, bubble;
    int64_t startup, wait_forward, wait_backward, transfer, inside, own, tail;
    int64_t sent_and_received; /* |union of its communication's transfers| */
    int64_t at_once;           /* Σ spans of operations - what they cover */
    int64_t n_forward, n_backward, n_p2p;
    int64_t live; /* most micro-batches whose activations it holds at once */
} pipe_time;

/* The operations of a member in a step, and their times. */
typedef struct pipe_cell {
    pipe_event *v;
    size_t n;
    pipe_time time;
} pipe_cell;

typedef enum pipe_order { PIPE_NO_ORDER, PIPE_1F1B, PIPE_GPIPE, PIPE_UNKNOWN_ORDER } pipe_order;

/* One step of one replica. */
typedef struct pipe_pass {
    uint32_t step, replica;
    kit_interval whole; /* of all operations */
    kit_interval span;  /* of all that computes: from the first forward to the last backward */
    pipe_order order;
    int64_t micro_batches;   /* most forwards of one chunk on a stage */
    int64_t replayed, ideal; /* spans of the replay, or MILL_UNKNOWN */
    bool complete;           /* every stage computes in it */
} pipe_pass;

typedef struct pipe_analysis {
    mill_run *run;
    const pipe_options *options;
    pipe_clock *clocks;
    pipe_member *members; /* by replica and stage */
    pipe_event *events;   /* by step, member and start */
    int64_t *steps;       /* numbers, rising; MILL_UNKNOWN: one without a number */
    pipe_cell *cells;     /* [step * n_members + member] */
    pipe_pass *passes;    /* [step * n_replicas + replica] */
    int64_t last_chunk;   /* of a stage's model chunks */
    size_t n_clocks, n_members, n_events, n_steps, n_replicas, n_stages;

    int64_t n_guessed;             /* hand-overs whose other end is a guess */
    int64_t n_alone, alone;        /* hand-overs without their other end, and their ns */
    int64_t transfer;              /* median of matched ones, or MILL_UNKNOWN */
    int64_t mean[PIPE_WEIGHT + 1]; /* duration of each kind over all stages and steps */
    int64_t n[PIPE_WEIGHT + 1];
    int64_t *kept;     /* [stage], Σ over passes: span if only that stage keeps its durations */
    int64_t *relieved; /* [stage], the same if only that stage has the mean ones */
    int64_t replayed, ideal, measured; /* Σ over the passes that could be replayed */
    int64_t n_replayed;
    size_t slowest; /* the stage of the largest `kept` */
} pipe_analysis;

/* gather.c: members, steps, events. E_DATA for what can't be told apart. */
mill_status pipe_gather(pipe_analysis *a);
/* peers.c: where the files do not tell, who is at the other end. */
void pipe_guess_peers(pipe_analysis *a);
/* match.c: both ends of each hand-over, and the clocks that follow. */
void pipe_match(pipe_analysis *a);
/* measure.c: passes, times, order. */
void pipe_measure(pipe_analysis *a);
/* replay.c: what the span would be with other durations. */
mill_status pipe_replay(pipe_analysis *a);

/* MILL_NONE, NULL: the replica has no such stage. */
uint32_t pipe_member_at(const pipe_analysis *a, uint32_t replica, int64_t stage);
pipe_cell *pipe_cell_of(const pipe_analysis *a, uint32_t step, uint32_t replica, size_t stage);

/* "1F1B", "GPipe", "other"; "none" where nothing was run. */
const char *pipe_order_name(pipe_order order);
/* The order of all passes, or UNKNOWN_ORDER if they differ. */
pipe_order pipe_order_of(const pipe_analysis *a);
/* The pass that the option asks for, else the one of median span of its replica; NULL: none. */
const pipe_pass *pipe_chosen(const pipe_analysis *a);
/* Sum over passes of the cells of a stage; n: how many. */
pipe_time pipe_sum(const pipe_analysis *a, size_t stage, int64_t *ret_n);

void pipe_add_time(pipe_time *sum, const pipe_time *t);
/* From the first start to the last end of a step, over all replicas; empty: it has no operations.
 */
kit_interval pipe_step_span(const pipe_analysis *a, uint32_t step);

/* value.c, tell.c: what goes out. No pass, no schedule: NULL. */
mill_schedule *pipe_schedule(const pipe_analysis *a);
mill_chunk_times *pipe_times(const pipe_analysis *a);
/* The first profile's name, and how many more there are. */
const char *pipe_subject(const pipe_analysis *a);
mill_report *pipe_tell(const pipe_analysis *a, const mill_chunk_times *times);

#endif
