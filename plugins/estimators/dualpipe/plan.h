/* SPDX-License-Identifier: Apache-2.0 */
/* A plan: which rank runs which operations in which order, without times.
 *
 * A rank of a pipeline holds one or more chunks of the model; a chunk on a rank is a cell, number
 * rank * chunks + chunk. Activations go from a cell to its `next`, gradients to its `prev`, so the
 * placement (line, loop, V, wave, two directions) is in these two columns and in nothing else. The
 * order of a rank is written as loops over a few operations, since all of these schedules have a
 * steady state: a plan of 1024 ranks and 4096 micro-batches is small.
 */
#ifndef DUALPIPE_PLAN_H
#define DUALPIPE_PLAN_H

#include <stdbool.h>
#include <tracemill/schedule.h>

typedef struct pp_op {
    uint8_t kind;   /* mill_op_kind: FORWARD to PAIR */
    uint8_t chunk;  /* of the rank; of a pair: of the forward half */
    uint8_t chunk2; /* of a pair: of the backward half; else 0 */
    uint8_t step;   /* of the schedule's own description, from 1 (dualpipe.py: "Step 4"), or 0 */
} pp_op;

/* ops[first] … ops[first + n - 1], `repeat` times. */
typedef struct pp_loop {
    uint32_t first, n, repeat;
} pp_loop;

typedef struct pp_plan {
    const char *id, *name;  /* of its family: "dualpipe", "DualPipe" */
    uint32_t ranks, chunks; /* cells = ranks * chunks */
    uint32_t stages;        /* of the model */
    uint32_t micro_batches; /* of a step, all directions */
    uint32_t per_cell;      /* micro-batches that go through each cell */
    bool bidirectional;     /* the chunks of a rank are of two ways through the model */
    bool split;             /* has Bi and W */
    const uint32_t *stage;  /* of each cell, along its own way */
    const int32_t *next;    /* cell that a cell's activations go to; -1: its loss is here */
    const int32_t *prev;    /* cell that its gradients go to; -1: the model's first stage */
    const pp_op *ops;       /* n_ops, shared by loops */
    const uint32_t *mb;     /* of each of `ops` (of a pair: the forward half), if loops have repeat
                             * 1 and the order is any; NULL: the k-th forward of a cell is of
                             * micro-batch k, and so for its backward (B, Bi, pair) and its W */
    const uint32_t *mb2;    /* of a pair's backward half; with `mb` only */
    const pp_loop *loops;   /* rank by rank */
    const uint32_t *first;  /* ranks + 1: loops of rank r are first[r] … first[r + 1] - 1 */
    uint64_t n_ops, total;  /* of `ops`; with loops run: what a step runs */
} pp_plan;

/* The placements. Writes stage, next and prev. */
typedef enum pp_place {
    PP_PLACE_LOOP, /* chunk c of rank r: stage c * ranks + r; with one chunk the plain line */
    PP_PLACE_WAVE, /* odd chunks go back up: with two chunks the V of ZB-V and DualPipeV */
    PP_PLACE_BOTH, /* two chunks: stage r, and stage ranks - 1 - r of the other direction */
} pp_place;

/* ---------------------------------------------------------------- building one */

typedef struct pp_builder pp_builder;

/* Memory of a plan is the run's scratch, so plans live until the run ends. micro_batches: of a
 * step.
 */
pp_builder *pp_begin(mill_run *run, const char *id, const char *name, pp_place place,
                     uint32_t ranks, uint32_t chunks, uint32_t micro_batches);
/* The order of the next rank begins; ranks come from 0. */
void pp_rank(pp_builder *b);
/* A loop begins; what is added until the next pp_loop_begin or pp_rank is run `repeat` times. A
 * loop with repeat 0, or without operations, leaves nothing. */
void pp_loop_begin(pp_builder *b, uint32_t repeat);
void pp_add(pp_builder *b, mill_op_kind kind, uint32_t chunk);
void pp_add_pair(pp_builder *b, uint32_t forward_chunk, uint32_t backward_chunk);
/* W of the chunk whose Bi is the oldest on this rank without a W (FIFO over its chunks). Not within
 * a loop that is repeated, unless the chunk is the same each time. */
void pp_add_oldest_weight(pp_builder *b);
/* For orders that loops can't tell: an operation with its micro-batches (mb2: of a pair, else 0).
 * A plan uses these only, or none. */
void pp_add_at(pp_builder *b, pp_op op, uint32_t mb, uint32_t mb2);
void pp_step(pp_builder *b, uint32_t step); /* of what is added from here on */
/* Whether the run is cancelled; pp_rank looks, too. From then on nothing is added, so that the plan
 * is not whole: ask mill_cancelled before it is used. */
bool pp_cancelled(pp_builder *b);
const pp_plan *pp_end(pp_builder *b);

/* ---------------------------------------------------------------- reading one */

/* An operation of a rank with its micro-batches. */
typedef struct pp_item {
    pp_op op;
    uint32_t mb, mb2; /* mb2: of a pair's backward half */
} pp_item;

/* The order of one rank, an operation at a time. Memory: a few words for each chunk. */
typedef struct pp_cursor pp_cursor;
pp_cursor *pp_cursor_at(mill_run *run, const pp_plan *plan, uint32_t rank);
bool pp_next(pp_cursor *c, pp_item *ret_item);

/* The plan is whole: every cell runs each of its micro-batches once forward and once backward (B,
 * or Bi and later W), forward first. False with a sentence in *ret_fault (the run's scratch) else;
 * the orders that are built here always are, those read from a file may not be. Deadlocks are found
 * by the simulation. */
bool pp_whole(mill_run *run, const pp_plan *plan, const char **ret_fault);

/* Most chunks that each rank holds activations of: +1 at the start of F or of a pair; -1 at the end
 * of B, Bi or a pair, or, with `until_weight`, of W instead of Bi. By order alone, no times. */
void pp_live(const pp_plan *plan, bool until_weight, int64_t *ret_live);

#endif
