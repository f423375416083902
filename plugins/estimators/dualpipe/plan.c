/* SPDX-License-Identifier: Apache-2.0 */
/* Builds plans: where the stages of the model are, and the loops of each rank. */
#include "plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

struct pp_builder {
    mill_run *run;
    pp_plan plan; /* what pp_end gives, but for the arrays below */
    uint32_t *first;
    pp_op *ops;
    bool *pops;  /* of each of `ops`: it came by pp_add_oldest_weight */
    size_t room; /* of these two */
    uint32_t *mb, *mb2;
    size_t mb_room, mb2_room;
    pp_loop *loops;
    uint32_t n_loops;
    size_t loop_room;
    uint32_t rank; /* the next one to begin */
    uint8_t step;
    bool counted, numbered; /* has operations of pp_add, of pp_add_at */
    bool cancelled;         /* nothing more is added */
    /* The open loop; repeat 0: what is added is left out. */
    pp_loop open;
    /* Of this rank: the chunks of its Bi's in order. The first `seen` of them are known to have a
     * W; taken[c] counts the other W's of chunk c. */
    uint8_t *inputs;
    size_t n_inputs, seen, input_room;
    int64_t *taken;
};

/* Makes room for one more. */
static void *grow(void *array, size_t n, size_t *room, size_t size) {
    if (n < *room)
        return array;
    *room = *room ? 2 * *room : 64;
    return kit_realloc(array, *room, size);
}

/* ---------------------------------------------------------------- placements */

static uint32_t stage_of(pp_place place, uint32_t ranks, uint32_t rank, uint32_t chunk) {
    uint32_t up = ranks - 1 - rank;
    if (place == PP_PLACE_BOTH)
        return chunk ? up : rank;
    return chunk * ranks + (place == PP_PLACE_WAVE && chunk % 2 ? up : rank);
}

static void place_cells(pp_plan *plan, mill_run *run, pp_place place) {
    uint32_t cells = plan->ranks * plan->chunks;
    uint32_t *stage = mill_scratch(run, cells * sizeof *stage);
    int32_t *next = mill_scratch(run, cells * sizeof *next);
    int32_t *prev = mill_scratch(run, cells * sizeof *prev);
    uint32_t *cell_of = kit_alloc(cells, sizeof *cell_of); /* by way and stage */
    for (uint32_t cell = 0; cell < cells; cell++) {
        uint32_t chunk = cell % plan->chunks;
        stage[cell] = stage_of(place, plan->ranks, cell / plan->chunks, chunk);
        uint32_t way = place == PP_PLACE_BOTH ? chunk : 0;
        cell_of[way * plan->stages + stage[cell]] = cell;
    }
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t at = i % plan->stages, cell = cell_of[i];
        next[cell] = at + 1 < plan->stages ? (int32_t)cell_of[i + 1] : -1;
        prev[cell] = at ? (int32_t)cell_of[i - 1] : -1;
    }
    free(cell_of);
    plan->stage = stage;
    plan->next = next;
    plan->prev = prev;
}

pp_builder *pp_begin(mill_run *run, const char *id, const char *name, pp_place place,
                     uint32_t ranks, uint32_t chunks, uint32_t micro_batches) {
    bool both = place == PP_PLACE_BOTH;
    assert(ranks && chunks && chunks <= UINT8_MAX + 1u && (!both || chunks == 2));
    pp_builder *b = kit_alloc(1, sizeof *b);
    b->run = run;
    b->plan = (pp_plan){
        .id = id,
        .name = name,
        .ranks = ranks,
        .chunks = chunks,
        .stages = both ? ranks : ranks * chunks,
        .micro_batches = micro_batches,
        .per_cell = both ? micro_batches / 2 : micro_batches,
        .bidirectional = both,
    };
    place_cells(&b->plan, run, place);
    b->first = mill_scratch(run, (ranks + 1) * sizeof *b->first);
    b->taken = kit_alloc(chunks, sizeof *b->taken);
    return b;
}

/* ---------------------------------------------------------------- the queue of W's */

static void push_input(pp_builder *b, uint8_t chunk) {
    b->inputs = grow(b->inputs, b->n_inputs, &b->input_room, sizeof *b->inputs);
    b->inputs[b->n_inputs++] = chunk;
}

/* Chunk of the oldest Bi without a W. W's that were added by chunk may have taken Bi's behind the
 * head, so those are passed first. */
static uint8_t oldest_input(pp_builder *b) {
    while (b->seen < b->n_inputs && b->taken[b->inputs[b->seen]] > 0)
        b->taken[b->inputs[b->seen++]]--;
    assert(b->seen < b->n_inputs);
    return b->inputs[b->seen];
}

static void keep_queue(pp_builder *b, size_t op) {
    uint8_t chunk = b->ops[op].chunk;
    if (b->ops[op].kind == MILL_OP_INPUT)
        push_input(b, chunk);
    if (b->ops[op].kind == MILL_OP_WEIGHT)
        b->taken[chunk]++;
}

/* The queue after the repetitions of the open loop, of which the first is in it. */
static void repeat_queue(pp_builder *b) {
    bool weights = false;
    for (size_t i = 0; i < b->open.n; i++) {
        uint8_t kind = b->ops[b->open.first + i].kind;
        weights |= kind == MILL_OP_INPUT || kind == MILL_OP_WEIGHT;
    }
    for (uint32_t times = 1; weights && times < b->open.repeat; times++)
        for (size_t op = b->open.first; op < b->plan.n_ops; op++) {
            assert(!b->pops[op] || oldest_input(b) == b->ops[op].chunk);
            keep_queue(b, op);
        }
}

/* ---------------------------------------------------------------- loops and operations */

static void end_loop(pp_builder *b) {
    b->open.n = (uint32_t)(b->plan.n_ops - b->open.first);
    if (b->open.n) {
        repeat_queue(b);
        b->plan.total += (uint64_t)b->open.n * b->open.repeat;
        b->loops = grow(b->loops, b->n_loops, &b->loop_room, sizeof *b->loops);
        b->loops[b->n_loops++] = b->open;
    }
    b->open = (pp_loop){.first = (uint32_t)b->plan.n_ops, .repeat = !b->cancelled};
}

bool pp_cancelled(pp_builder *b) {
    b->cancelled = b->cancelled || mill_cancelled(b->run);
    return b->cancelled;
}

void pp_rank(pp_builder *b) {
    pp_cancelled(b);
    end_loop(b);
    assert(b->rank < b->plan.ranks);
    b->first[b->rank++] = b->n_loops;
    b->n_inputs = b->seen = 0;
    memset(b->taken, 0, b->plan.chunks * sizeof *b->taken);
}

void pp_loop_begin(pp_builder *b, uint32_t repeat) {
    end_loop(b);
    b->open.repeat = b->cancelled ? 0 : repeat;
}

static void add(pp_builder *b, pp_op op, bool pop) {
    assert(b->rank && op.chunk < b->plan.chunks && op.chunk2 < b->plan.chunks);
    size_t n = b->plan.n_ops, room = b->room;
    b->ops = grow(b->ops, n, &b->room, sizeof *b->ops);
    if (room != b->room)
        b->pops = kit_realloc(b->pops, b->room, sizeof *b->pops);
    b->ops[n] = op;
    b->pops[n] = pop;
    b->plan.n_ops++;
    b->plan.split |= op.kind == MILL_OP_INPUT || op.kind == MILL_OP_WEIGHT;
    keep_queue(b, n);
}

static void add_counted(pp_builder *b, pp_op op, bool pop) {
    b->counted = true;
    if (b->open.repeat)
        add(b, op, pop);
}

void pp_add(pp_builder *b, mill_op_kind kind, uint32_t chunk) {
    assert(kind >= MILL_OP_FORWARD && kind <= MILL_OP_WEIGHT);
    add_counted(b, (pp_op){(uint8_t)kind, (uint8_t)chunk, 0, b->step}, false);
}

void pp_add_pair(pp_builder *b, uint32_t forward_chunk, uint32_t backward_chunk) {
    add_counted(b, (pp_op){MILL_OP_PAIR, (uint8_t)forward_chunk, (uint8_t)backward_chunk, b->step},
                false);
}

void pp_add_oldest_weight(pp_builder *b) {
    if (b->open.repeat)
        add_counted(b, (pp_op){MILL_OP_WEIGHT, oldest_input(b), 0, b->step}, true);
}

void pp_add_at(pp_builder *b, pp_op op, uint32_t mb, uint32_t mb2) {
    assert(b->open.repeat == !b->cancelled);
    size_t n = b->plan.n_ops;
    b->numbered = true;
    if (b->cancelled)
        return;
    b->mb = grow(b->mb, n, &b->mb_room, sizeof *b->mb);
    b->mb2 = grow(b->mb2, n, &b->mb2_room, sizeof *b->mb2);
    b->mb[n] = mb;
    b->mb2[n] = mb2;
    add(b, op, false);
}

void pp_step(pp_builder *b, uint32_t step) {
    b->step = (uint8_t)step;
}

/* Moves an array to the run's scratch. */
static void *keep(mill_run *run, void *array, size_t n, size_t size) {
    void *kept = mill_scratch(run, n * size);
    if (n)
        memcpy(kept, array, n * size);
    free(array);
    return kept;
}

const pp_plan *pp_end(pp_builder *b) {
    end_loop(b);
    assert(b->rank == b->plan.ranks && !(b->counted && b->numbered));
    b->first[b->rank] = b->n_loops;
    pp_plan *plan = mill_scratch(b->run, sizeof *plan);
    *plan = b->plan;
    plan->first = b->first;
    plan->ops = keep(b->run, b->ops, plan->n_ops, sizeof *b->ops);
    plan->loops = keep(b->run, b->loops, b->n_loops, sizeof *b->loops);
    if (b->numbered) {
        plan->mb = keep(b->run, b->mb, plan->n_ops, sizeof *b->mb);
        plan->mb2 = keep(b->run, b->mb2, plan->n_ops, sizeof *b->mb2);
    }
    free(b->pops);
    free(b->inputs);
    free(b->taken);
    free(b);
    return plan;
}
