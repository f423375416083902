/* SPDX-License-Identifier: Apache-2.0 */
/* From the activities of a device to the operations of a worker.
 *
 * An operation is the computation of one chunk: it ends where the micro-batch or the step changes.
 * Where the attribution does not tell micro-batches apart, a hand-over between stages that begins
 * while nothing is computed ends it: that is what stands between two micro-batches of one
 * direction. So forward and backward work that is woven together are two operations at once. */
#include "operations.h"

#include <string.h>
#include <strings.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/report.h>

/* What makes activities one operation. */
typedef struct run_key {
    mill_chunk chunk;
    uint32_t step, annotation; /* annotation: of a whole chunk, else MILL_NONE */
    int64_t micro_batch;
} run_key;

/* An operation that may go on. */
typedef struct open_run {
    run_key key; /* chunk NONE: there is none */
    kit_tally tally;
    int64_t owned;
    bool cut; /* something was handed on since its last activity */
} open_run;

typedef struct taking {
    pipe_making *m;
    const kit_activities *all;
    const bool *p2p; /* of each kind */
    uint32_t worker;
    open_run open[MILL_CHUNK_WEIGHT + 1];
    kit_tally placed, unsure;
} taking;

static run_key key_of(const kit_activities *all, uint32_t place) {
    const mill_attribution *p = all->places;
    bool whole = p->method[place] == MILL_METHOD_PIPELINE;
    return (run_key){(mill_chunk)p->chunk[place], p->step[place],
                     whole ? p->annotation[place] : MILL_NONE, p->micro_batch[place]};
}

static bool same_key(const run_key *a, const run_key *b) {
    return a->chunk == b->chunk && a->step == b->step && a->annotation == b->annotation &&
           a->micro_batch == b->micro_batch;
}

static void end_run(taking *t, open_run *run) {
    static const struct {
        pipe_kind kind;
        const char *name;
    } kinds[] = {[MILL_CHUNK_FORWARD] = {PIPE_FORWARD, "forward"},
                 [MILL_CHUNK_BACKWARD] = {PIPE_BACKWARD, "backward"},
                 [MILL_CHUNK_WEIGHT] = {PIPE_WEIGHT, "weight"}};
    if (run->key.chunk == MILL_CHUNK_NONE)
        return;
    pipe_op *op = pipe_add(t->m, kinds[run->key.chunk].kind, t->worker);
    op->start = run->tally.first;
    op->end = run->tally.last;
    op->compute = run->tally.busy;
    op->owned = run->owned;
    op->step = kit_step_number(t->all, run->key.step);
    op->micro_batch = run->key.micro_batch;
    op->name = kinds[run->key.chunk].name;
    *run = (open_run){0};
}

static void take_computation(taking *t, const kit_activity *a) {
    mill_chunk chunk = kit_chunk_of(t->all, a->place);
    if (chunk < MILL_CHUNK_FORWARD || chunk > MILL_CHUNK_WEIGHT) {
        kit_tally_add(&t->unsure, a->start, a->end);
        return;
    }
    open_run *run = &t->open[chunk];
    run_key key = key_of(t->all, a->place);
    bool told = key.micro_batch != MILL_UNKNOWN || key.annotation != MILL_NONE;
    if (!same_key(&key, &run->key) || (run->cut && !told)) {
        end_run(t, run);
        run->key = key;
    }
    kit_tally_add(&run->tally, a->start, a->end);
    kit_interval owned = kit_tally_add(&t->placed, a->start, a->end);
    run->owned += owned.end - owned.start;
    run->cut = false;
}

static pipe_kind direction_of(const char *operation) {
    if (operation && (!strcasecmp(operation, "send") || !strcasecmp(operation, "isend")))
        return PIPE_SEND;
    if (operation && (!strcasecmp(operation, "recv") || !strcasecmp(operation, "irecv")))
        return PIPE_RECEIVE;
    return PIPE_EXCHANGE;
}

/* Of a hand-over that begins then. One that begins beside computation belongs to none of it. */
static void cut_runs(taking *t, int64_t time) {
    bool computing = false;
    for (int c = MILL_CHUNK_FORWARD; c <= MILL_CHUNK_WEIGHT; c++)
        computing |= t->open[c].tally.n > 0 && t->open[c].tally.last > time;
    for (int c = MILL_CHUNK_FORWARD; c <= MILL_CHUNK_WEIGHT; c++)
        t->open[c].cut |= !computing;
}

static void take_p2p(taking *t, const kit_activity *a) {
    const mill_trace *trace = t->all->trace;
    uint32_t row = mill_u32(trace, &trace->gpu.collective, a->row);
    const mill_collectives *c = &trace->collectives;
    const char *operation =
        row == MILL_NONE ? NULL : mill_string(trace, mill_u32(trace, &c->operation, row));
    pipe_op *op = pipe_add(t->m, direction_of(operation), t->worker);
    op->start = a->start;
    op->end = a->end;
    op->step = kit_step_number(t->all, kit_step_of(t->all, a->place));
    op->name = mill_name(trace, mill_u32(trace, &trace->gpu.name, a->row));
    if (row != MILL_NONE) {
        op->sequence = mill_i64(trace, &c->sequence, row);
        op->peer = mill_i64(trace, &c->peer, row);
    }
    cut_runs(t, a->start);
}

static void take_device(taking *t, const kit_device *device) {
    for (size_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i];
        if (a->cls == KIT_COMM && kit_kind_in(t->all, t->p2p, a->kind))
            take_p2p(t, a);
        else if (a->cls == KIT_COMP)
            take_computation(t, a);
    }
    for (int c = MILL_CHUNK_FORWARD; c <= MILL_CHUNK_WEIGHT; c++)
        end_run(t, &t->open[c]);
    t->m->value->unsure += t->unsure.busy;
}

static const char *method_of(pipe_making *m, const mill_attribution *places) {
    static const char *const names[MILL_METHODS] = {"none",     "annotation", "rules",
                                                    "autograd", "sequence",   "pipeline"};
    int best = 0;
    for (int i = 0; places && i < MILL_METHODS; i++)
        if (places->method_busy[i] > places->method_busy[best])
            best = i;
    return kit_text_utf8(m->run, m->value, names[best], strlen(names[best]));
}

mill_status pipe_take_profile(pipe_making *m, const mill_trace *trace,
                              const mill_attribution *places, const pipe_ops_options *options) {
    kit_activities all;
    mill_status status = kit_activities_select(m->run, trace, places, &options->selection, &all);
    if (status != MILL_OK)
        return status;
    pipe_worker *workers = mill_value_alloc(m->run, m->value, all.n_devices * sizeof *workers);
    const bool *p2p = kit_kinds_named(m->run, &all, &options->p2p_kinds);
    for (uint32_t i = 0; i < all.n_devices; i++) {
        if (mill_cancelled(m->run))
            return MILL_E_CANCELLED;
        taking t = {.m = m, .all = &all, .p2p = p2p, .worker = i};
        workers[i] = (pipe_worker){trace->rank, MILL_UNKNOWN, MILL_UNKNOWN, MILL_UNKNOWN};
        take_device(&t, &all.devices[i]);
    }
    m->value->workers = workers;
    m->value->n_workers = all.n_devices;
    m->value->method = method_of(m, places);
    return MILL_OK;
}
