/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the simulation, and the state in which a run begins. */
#include "sim_private.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define LINE 64        /* bytes of a cache line */
#define FIRST_SLOTS 32 /* of a ring: how far a neighbour may be ahead when ranks take turns */

pp_workspace *pp_workspace_create(void) {
    return kit_alloc(1, sizeof(pp_workspace));
}

void pp_workspace_destroy(pp_workspace *w) {
    if (!w)
        return;
    free(w->memory);
    free(w->slots);
    free(w);
}

/* ---------------------------------------------------------------- memory */

/* The next part of the block, or, before there is one, its place in it. */
static void *take(char *block, size_t *at, size_t count, size_t size) {
    size_t begin = *at;
    *at = (begin + count * size + LINE - 1) / LINE * LINE;
    return block ? block + begin : NULL;
}

/* Hands out the block, and returns how many bytes that takes. */
static size_t lay_out(pp_workspace *w, char *block, bool pairs, bool links) {
    const pp_plan *plan = w->plan;
    size_t at = 0, cells = (size_t)plan->ranks * plan->chunks;
    w->cells = take(block, &at, cells, sizeof *w->cells);
    w->ranks = take(block, &at, plan->ranks, sizeof *w->ranks);
    w->ready = take(block, &at, plan->ranks, sizeof *w->ready);
    w->durations = take(block, &at, cells, sizeof *w->durations);
    w->pairs = pairs ? take(block, &at, cells * plan->chunks, sizeof *w->pairs) : NULL;
    w->link_free = links ? take(block, &at, 2 * cells + 1, sizeof *w->link_free) : NULL;
    return at;
}

static void reserve(pp_workspace *w) {
    bool pairs = false;
    for (uint64_t i = 0; i < w->plan->n_ops; i++)
        pairs |= w->plan->ops[i].kind == MILL_OP_PAIR;
    bool links = w->timing->occupied > 0;
    size_t need = lay_out(w, NULL, pairs, links) + LINE;
    if (need > w->room) {
        free(w->memory);
        w->memory = kit_alloc(need, 1);
        w->room = need;
    }
    char *block = (char *)(((uintptr_t)w->memory + LINE - 1) / LINE * LINE);
    memset(block, 0, lay_out(w, block, pairs, links));
}

/* ---------------------------------------------------------------- neighbours */

/* Numbers links: one for each pair of ranks that a transfer goes between. */
typedef struct linking {
    uint32_t *last;    /* by rank: the link to it that was made last */
    uint32_t first, n; /* the first one of this rank; made so far */
} linking;

static void connect_to(pp_workspace *w, linking *l, uint32_t cell, pp_way way, int32_t neighbour) {
    if (neighbour < 0)
        return;
    pp_cell *c = &w->cells[cell];
    uint32_t rank = c->rank[way] = (uint32_t)neighbour / w->plan->chunks;
    if (rank == cell / w->plan->chunks)
        return;
    if (l->last[rank] < l->first)
        l->last[rank] = l->n++;
    c->link[way] = l->last[rank];
    c->delay[way] = w->timing->latency;
}

static void connect(pp_workspace *w) {
    const pp_plan *plan = w->plan;
    linking l = {.last = w->ready, .n = 1}; /* the queue begins zeroed, and empty */
    for (uint32_t rank = 0; rank < plan->ranks; rank++) {
        l.first = l.n;
        for (uint32_t chunk = 0; chunk < plan->chunks; chunk++) {
            uint32_t cell = rank * plan->chunks + chunk;
            connect_to(w, &l, cell, PP_ACTIVATIONS, plan->next[cell]);
            connect_to(w, &l, cell, PP_GRADIENTS, plan->prev[cell]);
        }
    }
}

/* ---------------------------------------------------------------- slots */

static size_t slots(const pp_workspace *w) {
    return (size_t)w->plan->ranks * w->plan->chunks * 2 * ((size_t)w->mask + 1);
}

static void point_to_slots(pp_workspace *w) {
    const pp_plan *plan = w->plan;
    size_t size = (size_t)w->mask + 1;
    for (uint32_t c = 0; c < plan->ranks * plan->chunks; c++) {
        pp_cell *cell = &w->cells[c];
        cell->in = w->slots + 2 * c * size;
        if (plan->next[c] >= 0)
            cell->out[PP_ACTIVATIONS] = w->slots + 2 * (uint32_t)plan->next[c] * size;
        if (plan->prev[c] >= 0)
            cell->out[PP_GRADIENTS] = w->slots + (2 * (uint32_t)plan->prev[c] + 1) * size;
    }
}

static void empty_slots(pp_workspace *w) {
    w->mask = FIRST_SLOTS - 1;
    while (w->plan->mb && w->plan->per_cell > (uint64_t)w->mask + 1)
        w->mask = 2 * w->mask + 1;
    if (slots(w) > w->slot_room) {
        free(w->slots);
        w->slot_room = slots(w);
        w->slots = kit_alloc(w->slot_room, sizeof *w->slots);
    }
    memset(w->slots, 0xff, slots(w) * sizeof *w->slots); /* PP_EMPTY */
    point_to_slots(w);
}

/* What a ring holds are the first ones that its cell has not used yet, as many as it has slots, so
 * each has its place in the wider one. */
void pp_grow_slots(pp_workspace *w) {
    pp_workspace old = *w;
    w->mask = 2 * w->mask + 1;
    w->slot_room = slots(w);
    w->slots = kit_alloc(w->slot_room, sizeof *w->slots);
    memset(w->slots, 0xff, w->slot_room * sizeof *w->slots);
    for (uint32_t c = 0; c < w->plan->ranks * w->plan->chunks; c++) {
        pp_cell cell = w->cells[c];
        w->cells[c].in = w->slots + 2 * c * ((size_t)w->mask + 1);
        for (pp_way way = PP_ACTIVATIONS; way <= PP_GRADIENTS; way++)
            for (uint32_t i = 0; i <= old.mask; i++) {
                uint32_t k = cell.sent[way] + i;
                *pp_in(w, &w->cells[c], way, k) = *pp_in(&old, &cell, way, k);
            }
    }
    point_to_slots(w);
    free(old.slots);
}

/* ---------------------------------------------------------------- a run begins */

bool pp_prepare(pp_workspace *w, const pp_plan *plan, const pp_timing *timing,
                pp_fault *ret_fault) {
    w->plan = plan;
    w->timing = timing;
    w->start = w->end = NULL;
    reserve(w);
    if (!pp_take_durations(w, ret_fault))
        return false;
    connect(w);
    empty_slots(w);
    w->singly = timing->jitter > 0;
    w->ready_head = w->ready_n = 0;
    for (uint32_t r = 0; r < plan->ranks; r++) {
        w->ranks[r].start = PP_EMPTY;
        w->ranks[r].walk = (pp_walk){.loop = plan->first[r], .last = plan->first[r + 1]};
        pp_enter_loop(plan, &w->ranks[r].walk);
        pp_make_ready(w, r);
    }
    return true;
}

bool pp_all_ended(const pp_workspace *w) {
    for (uint32_t r = 0; r < w->plan->ranks; r++)
        if (w->ranks[r].walk.repeat)
            return false;
    return true;
}
