/* SPDX-License-Identifier: Apache-2.0 */
/* What a step would take with other durations: the measured order of each member is run again, each
 * operation as soon as its member is free and what it needs has arrived.
 *
 * What if all stages and steps were alike is the question of "Understanding Stragglers in Large
 * Model Training Using What-if Analysis" (Lin et al., OSDI 2025; ByteDance-Seed/StragglerAnalysis,
 * analyzer/wia.py): there as here durations become their mean over stages, replicas and steps.
 * There the whole step is replayed, with its gradient exchange; here the pipeline's part of it. */
#include "pipeline.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define NO_STAGE SIZE_MAX
#define MOST_EMPTY 16 /* as many places for a micro-batch on a stage as are taken, times this */

/* Which durations are the measured ones: of the stages that differ from `odd`, or of it alone. */
typedef struct durations {
    bool usually_real;
    size_t odd;
} durations;

typedef struct replaying {
    const pipe_analysis *a;
    const pipe_pass *pass;
    int64_t chunks, micro_batches;
    int64_t *done[PIPE_WEIGHT + 1]; /* forward, backward: by virtual stage and micro-batch */
    size_t *next;                   /* of each stage: its next event */
    int64_t *free_at;               /* of each stage */
} replaying;

static int64_t *done_at(const replaying *r, pipe_kind kind, int64_t virtual_stage,
                        int64_t micro_batch) {
    return &r->done[kind][virtual_stage * r->micro_batches + micro_batch];
}

/* When what the event needs is there; MILL_UNKNOWN: not yet. */
static int64_t ready_at(const replaying *r, const pipe_event *e, size_t stage) {
    int64_t p = (int64_t)r->a->n_stages, v = e->chunk * p + (int64_t)stage;
    int64_t transfer = r->a->transfer == MILL_UNKNOWN || p == 1 ? 0 : r->a->transfer;
    if (e->op->kind == PIPE_FORWARD)
        return v == 0 ? 0 : kit_add(*done_at(r, PIPE_FORWARD, v - 1, e->micro_batch), transfer);
    if (e->op->kind == PIPE_WEIGHT)
        return 0;
    if (v + 1 == r->chunks * p)
        return *done_at(r, PIPE_FORWARD, v, e->micro_batch);
    return kit_add(*done_at(r, PIPE_BACKWARD, v + 1, e->micro_batch), transfer);
}

/* Runs what the stage can run. */
static bool advance(const replaying *r, size_t stage, const durations *d) {
    const pipe_cell *cell = pipe_cell_of(r->a, r->pass->step, r->pass->replica, stage);
    bool real = (stage == d->odd) != d->usually_real, moved = false;
    for (; r->next[stage] < cell->n; r->next[stage]++) {
        const pipe_event *e = &cell->v[r->next[stage]];
        if (!pipe_computes(e->op->kind))
            continue;
        int64_t ready = ready_at(r, e, stage);
        if (ready == MILL_UNKNOWN)
            return moved;
        int64_t start = ready > r->free_at[stage] ? ready : r->free_at[stage];
        r->free_at[stage] = kit_add(start, real ? e->end - e->start : r->a->mean[e->op->kind]);
        if (e->op->kind != PIPE_WEIGHT)
            *done_at(r, (pipe_kind)e->op->kind, e->chunk * (int64_t)r->a->n_stages + (int64_t)stage,
                     e->micro_batch) = r->free_at[stage];
        moved = true;
    }
    return moved;
}

/* The span, or MILL_UNKNOWN if something never becomes ready. */
static int64_t span_with(const replaying *r, durations d) {
    size_t n = r->a->n_stages, size = n * (size_t)(r->chunks * r->micro_batches);
    int64_t end = 0;
    memset(r->next, 0, n * sizeof *r->next);
    memset(r->free_at, 0, n * sizeof *r->free_at);
    for (pipe_kind kind = PIPE_FORWARD; kind <= PIPE_BACKWARD; kind++)
        for (size_t i = 0; i < size; i++)
            r->done[kind][i] = MILL_UNKNOWN;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t s = 0; s < n; s++)
            moved |= advance(r, s, &d);
        for (size_t s = n; s-- > 0;) /* backward work comes the other way */
            moved |= advance(r, s, &d);
    }
    for (size_t s = 0; s < n; s++) {
        if (r->next[s] < pipe_cell_of(r->a, r->pass->step, r->pass->replica, s)->n)
            return MILL_UNKNOWN;
        end = r->free_at[s] > end ? r->free_at[s] : end;
    }
    return end;
}

/* Finds how many chunks and micro-batches there are. False: the numbers are no count, or almost
 * none of these micro-batches passes all stages. */
static bool size_up(replaying *r) {
    int64_t events = 0, last_chunk = 0, last_micro_batch = 0;
    for (size_t s = 0; s < r->a->n_stages; s++) {
        const pipe_cell *cell = pipe_cell_of(r->a, r->pass->step, r->pass->replica, s);
        for (size_t i = 0; i < cell->n; i++) {
            const pipe_event *e = &cell->v[i];
            if (!pipe_computes(e->op->kind))
                continue;
            events++;
            last_chunk = e->chunk > last_chunk ? e->chunk : last_chunk;
            last_micro_batch =
                e->micro_batch > last_micro_batch ? e->micro_batch : last_micro_batch;
        }
    }
    if (last_chunk >= events || last_micro_batch >= events)
        return false;
    r->chunks = last_chunk + 1;
    r->micro_batches = last_micro_batch + 1;
    int64_t size;
    return !__builtin_mul_overflow(r->chunks * r->micro_batches, (int64_t)r->a->n_stages, &size) &&
           size <= MOST_EMPTY * events;
}

/* What it adds is not whole if the run is cancelled meanwhile. */
static void replay_pass(pipe_analysis *a, pipe_pass *pass) {
    replaying r = {.a = a, .pass = pass};
    if (!size_up(&r))
        return;
    size_t size = a->n_stages * (size_t)(r.chunks * r.micro_batches);
    r.done[PIPE_FORWARD] = kit_alloc(size, sizeof(int64_t));
    r.done[PIPE_BACKWARD] = kit_alloc(size, sizeof(int64_t));
    r.next = kit_alloc(a->n_stages, sizeof *r.next);
    r.free_at = kit_alloc(a->n_stages, sizeof *r.free_at);
    pass->replayed = span_with(&r, (durations){true, NO_STAGE});
    pass->ideal = span_with(&r, (durations){false, NO_STAGE});
    if (pass->replayed != MILL_UNKNOWN) {
        a->replayed = kit_add(a->replayed, pass->replayed);
        a->ideal = kit_add(a->ideal, pass->ideal);
        a->measured = kit_add(a->measured, pass->span.end - pass->span.start);
        a->n_replayed++;
        for (size_t s = 0; s < a->n_stages && !mill_cancelled(a->run); s++) {
            a->kept[s] = kit_add(a->kept[s], span_with(&r, (durations){false, s}));
            a->relieved[s] = kit_add(a->relieved[s], span_with(&r, (durations){true, s}));
        }
    }
    free(r.done[PIPE_FORWARD]);
    free(r.done[PIPE_BACKWARD]);
    free(r.next);
    free(r.free_at);
}

static void find_means(pipe_analysis *a) {
    int64_t sum[PIPE_WEIGHT + 1] = {0};
    for (size_t i = 0; i < a->n_steps * a->n_members; i++) {
        const pipe_cell *cell = &a->cells[i];
        const pipe_pass *pass =
            &a->passes[i / a->n_members * a->n_replicas + a->members[i % a->n_members].replica];
        for (size_t k = 0; k < cell->n && pass->complete; k++) {
            const pipe_event *e = &cell->v[k];
            if (!pipe_computes(e->op->kind))
                continue;
            sum[e->op->kind] += e->end - e->start; /* pipe_gather saw that it fits */
            a->n[e->op->kind]++;
        }
    }
    for (int k = PIPE_FORWARD; k <= PIPE_WEIGHT; k++)
        a->mean[k] = a->n[k] ? (sum[k] + a->n[k] / 2) / a->n[k] : MILL_UNKNOWN;
}

mill_status pipe_replay(pipe_analysis *a) {
    find_means(a);
    a->kept = mill_scratch(a->run, a->n_stages * sizeof *a->kept);
    a->relieved = mill_scratch(a->run, a->n_stages * sizeof *a->relieved);
    for (size_t i = 0; i < a->n_steps * a->n_replicas; i++) {
        if (a->passes[i].complete)
            replay_pass(a, &a->passes[i]);
        if (mill_cancelled(a->run))
            return MILL_E_CANCELLED;
    }
    for (size_t s = 1; s < a->n_stages; s++)
        if (a->kept[s] > a->kept[a->slowest])
            a->slowest = s;
    return MILL_OK;
}
