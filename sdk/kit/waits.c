/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through the records of events and the waits for them in the order in which the CPU made
 * them, and follows with each stream's launches as far as they go before. */
#include <tracemill/kit/waits.h>

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define NONE KIT_NO_ACTIVITY
#define CANCEL_ROWS (1u << 16) /* moments between two looks at `cancelled` */

/* When the CPU called something: of calls at one time, correlations tell the order. */
typedef struct moment {
    int64_t time, correlation;
} moment;

/* One wait of the trace gives two: the record of the event, and the wait for it. */
typedef struct call {
    moment at;
    uint32_t wait;   /* number of it */
    uint32_t stream; /* row of the trace's: the one that records, or waits */
    bool waits;
} call;

/* A stream as it is at the moment. */
typedef struct queue {
    uint32_t next;  /* the first activity that is not launched yet */
    uint32_t last;  /* what ends last of what was launched */
    uint32_t waits; /* what the next one launched must wait for */
} queue;

typedef struct resolving {
    const kit_activities *all;
    const kit_device *device;
    kit_waits *to;
    uint32_t *after; /* of each activity: the next one of its stream */
    queue *queues; /* of each of the trace's streams: some have no activities, but hand on waits */
    call *calls;
    uint32_t *events; /* of each wait: what the event stands for */
    size_t n_calls;
} resolving;

static int compare_moments(const moment *a, const moment *b) {
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static int compare_calls(const void *a, const void *b) {
    const call *x = a, *y = b;
    int order = compare_moments(&x->at, &y->at);
    if (order != 0)
        return order;
    return x->wait != y->wait ? (x->wait > y->wait) - (x->wait < y->wait) : x->waits - y->waits;
}

/* The one that ends last; at the same time, that of the lower stream. Either may be NONE. */
static uint32_t later(const kit_device *device, uint32_t a, uint32_t b) {
    if (a == NONE || b == NONE)
        return a == NONE ? b : a;
    const kit_activity *x = &device->v[a], *y = &device->v[b];
    if (x->end != y->end)
        return x->end > y->end ? a : b;
    return x->stream <= y->stream ? a : b;
}

/* ---------------------------------------------------------------- what there is */

static moment moment_of(const mill_trace *trace, uint32_t cpu_row) {
    return (moment){mill_i64(trace, &trace->cpu.start, cpu_row),
                    mill_i64(trace, &trace->cpu.correlation, cpu_row)};
}

/* Those that are complete, in order. */
static void list_calls(resolving *r) {
    const mill_trace *trace = r->all->trace;
    const mill_syncs *syncs = &trace->syncs;
    uint32_t n = 0;
    for (uint64_t i = 0; i < syncs->n; i++) {
        uint32_t stream = mill_u32(trace, &syncs->stream, i);
        uint32_t waited = mill_u32(trace, &syncs->waited_stream, i);
        uint32_t launch = mill_u32(trace, &syncs->launch, i);
        uint32_t record = mill_u32(trace, &syncs->record, i);
        if (mill_u8(trace, &syncs->kind, i) != MILL_SYNC_STREAM_WAIT || stream == MILL_NONE ||
            waited == MILL_NONE || launch == MILL_NONE || record == MILL_NONE)
            continue;
        r->calls[r->n_calls++] = (call){moment_of(trace, record), n, waited, false};
        r->calls[r->n_calls++] = (call){moment_of(trace, launch), n, stream, true};
        r->events[n++] = NONE;
    }
    qsort(r->calls, r->n_calls, sizeof *r->calls, compare_calls);
}

static uint32_t stream_row(const resolving *r, uint32_t activity) {
    return r->all->streams[r->device->v[activity].stream].row;
}

static void chain_activities(resolving *r) {
    for (uint64_t i = 0; i < r->all->trace->streams.n; i++)
        r->queues[i] = (queue){NONE, NONE, NONE};
    for (uint32_t i = (uint32_t)r->device->n; i-- > 0;) {
        queue *q = &r->queues[stream_row(r, i)];
        r->after[i] = q->next;
        q->next = i;
    }
}

/* ---------------------------------------------------------------- in the order of calls */

/* An activity whose launch is not known comes with the one before it, and what its stream waits for
 * is left to the next one. */
static void take(resolving *r, queue *q, bool launch_known) {
    const kit_activity *a = &r->device->v[q->next];
    uint32_t waited = NONE;
    if (launch_known) {
        waited = q->waits;
        r->to->v[q->next] = waited;
        q->waits = NONE;
    }
    q->last = a->end > a->start ? q->next : later(r->device, q->last, waited);
    q->next = r->after[q->next];
}

/* Takes what was launched on the stream before; NULL: all. */
static void follow(resolving *r, queue *q, const moment *until) {
    const mill_trace *trace = r->all->trace;
    while (q->next != NONE) {
        uint32_t launch = mill_u32(trace, &trace->gpu.launch, r->device->v[q->next].row);
        if (until && launch != MILL_NONE) {
            moment at = moment_of(trace, launch);
            if (compare_moments(&at, until) > 0)
                return;
        }
        take(r, q, launch != MILL_NONE);
    }
}

static mill_status resolve(resolving *r, mill_run *run) {
    for (size_t i = 0; i < r->n_calls; i++) {
        const call *c = &r->calls[i];
        queue *q = &r->queues[c->stream];
        if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        follow(r, q, &c->at);
        uint32_t *event = &r->events[c->wait];
        if (!c->waits)
            *event = later(r->device, q->last, q->waits);
        else if (*event != NONE && stream_row(r, *event) != c->stream)
            q->waits = later(r->device, q->waits, *event);
    }
    for (uint64_t i = 0; i < r->all->trace->streams.n; i++)
        follow(r, &r->queues[i], NULL);
    return MILL_OK;
}

mill_status kit_waits_init(kit_waits *w, mill_run *run, const kit_activities *all,
                           const kit_device *device) {
    uint64_t n = mill_sync_count(all->trace);
    *w = (kit_waits){0};
    if (n == 0)
        return MILL_OK;
    resolving r = {
        .all = all,
        .device = device,
        .to = w,
        .queues = kit_alloc(all->trace->streams.n, sizeof *r.queues),
        .calls = kit_alloc(2 * n, sizeof *r.calls),
        .events = kit_alloc(n, sizeof *r.events),
    };
    mill_status status = MILL_OK;
    list_calls(&r);
    if (r.n_calls > 0) {
        w->v = kit_alloc(device->n, sizeof *w->v);
        memset(w->v, 0xff, device->n * sizeof *w->v); /* NONE */
        r.after = kit_alloc(device->n, sizeof *r.after);
        chain_activities(&r);
        status = resolve(&r, run);
    }
    free(r.queues);
    free(r.calls);
    free(r.events);
    free(r.after);
    return status;
}

void kit_waits_finish(kit_waits *w) {
    free(w->v);
    w->v = NULL;
}
