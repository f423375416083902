/* SPDX-License-Identifier: Apache-2.0 */
/* What the CPU does, as far as a profile shows it: API calls, synchronisations, busy threads. */
#include "launch.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/columns.h>
#include <tracemill/kit/measure.h>
#include <tracemill/kit/top.h>

#define CANCEL_ROWS (1u << 16) /* slices between two looks at `cancelled` */

typedef struct api {
    uint32_t name;
    int64_t n, sum;
} api;

typedef struct sync_call {
    uint32_t row;
    int64_t dur;
} sync_call;

/* Columns of some rows of the trace's cpu. */
typedef struct block {
    int64_t start[KIT_BLOCK], dur[KIT_BLOCK];
    uint32_t name[KIT_BLOCK], thread[KIT_BLOCK];
    uint8_t kind[KIT_BLOCK];
} block;

typedef struct thread {
    int64_t calls;  /* of the API */
    kit_tally work; /* operators and API calls */
} thread;

typedef struct cpu {
    mill_run *run;
    const mill_trace *trace;
    api *apis; /* one for each name */
    thread *threads;
    uint8_t *is_sync;                         /* of each name */
    kit_top syncs;                            /* the longest */
    int64_t n_syncs, n_calls, calls, waiting; /* how many; Σ of all calls; of synchronisations */
} cpu;

/* CUDA, HIP and their drivers all call it so: cudaStreamSynchronize, hipDeviceSynchronize,
 * cuCtxSynchronize. */
static bool is_synchronisation(const mill_trace *trace, uint32_t name) {
    return strstr(mill_name(trace, name), "Synchronize") != NULL;
}

static int compare_syncs(const void *a, const void *b) {
    const sync_call *x = a, *y = b;
    return x->dur != y->dur ? (x->dur < y->dur) - (x->dur > y->dur)
                            : (x->row > y->row) - (x->row < y->row);
}

static void add_call(cpu *c, uint32_t row, uint32_t name, int64_t dur) {
    c->n_calls++;
    c->calls = kit_add(c->calls, dur);
    c->apis[name].n++;
    c->apis[name].sum = kit_add(c->apis[name].sum, dur);
    if (!c->is_sync[name])
        return;
    c->n_syncs++;
    c->waiting = kit_add(c->waiting, dur);
    kit_top_add(&c->syncs, &(sync_call){row, dur});
}

static void add_block(cpu *c, uint64_t first, size_t n) {
    const mill_cpu *from = &c->trace->cpu;
    block b;
    kit_read_i64(c->trace, &from->start, first, n, b.start);
    kit_read_i64(c->trace, &from->dur, first, n, b.dur);
    kit_read_u32(c->trace, &from->name, first, n, b.name);
    kit_read_u32(c->trace, &from->thread, first, n, b.thread);
    kit_read_u8(c->trace, &from->kind, first, n, b.kind);
    for (size_t i = 0; i < n; i++) {
        bool call = b.kind[i] == MILL_CPU_RUNTIME || b.kind[i] == MILL_CPU_DRIVER;
        if (!call && b.kind[i] != MILL_CPU_OP)
            continue;
        thread *t = &c->threads[b.thread[i]];
        kit_tally_add(&t->work, b.start[i], b.start[i] + b.dur[i]);
        t->calls += call;
        if (call)
            add_call(c, (uint32_t)(first + i), b.name[i], b.dur[i]);
    }
}

static mill_status look(cpu *c) {
    const mill_trace *trace = c->trace;
    uint64_t n_names = trace->names.texts.n;
    c->is_sync = mill_scratch(c->run, n_names);
    c->apis = mill_scratch(c->run, n_names * sizeof *c->apis);
    c->threads = mill_scratch(c->run, trace->threads.n * sizeof *c->threads);
    for (uint32_t i = 0; i < n_names; i++) {
        c->apis[i].name = i;
        c->is_sync[i] = is_synchronisation(trace, i);
    }
    for (uint64_t first = 0; first < trace->cpu.n; first += KIT_BLOCK) {
        if (first % CANCEL_ROWS == 0 && mill_cancelled(c->run))
            return MILL_E_CANCELLED;
        add_block(c, first, kit_block_rows(trace->cpu.n, first));
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- tables */

static int compare_apis(const void *a, const void *b) {
    const api *x = a, *y = b;
    if (x->sum != y->sum) /* as unsigned: a sum that does not fit is above all others */
        return (uint64_t)x->sum < (uint64_t)y->sum ? 1 : -1;
    return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : (x->name > y->name) - (x->name < y->name);
}

static const kit_column api_columns[] = {
    {MILL_KIND_TEXT, "name", "name", NULL},
    {MILL_KIND_COUNT, "n", "n", "calls"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {0},
};

static void tell_api(kit_table *t, const char *name, const api *a) {
    kit_table_row(t);
    kit_cell_text(t, name);
    kit_cell_int(t, a->n);
    kit_cell_int(t, a->sum);
}

static void tell_apis(kit_report *r, cpu *c, size_t top) {
    kit_table *t = kit_table_of(r, "api_calls", "Calls of the runtime and driver API",
                                "On all threads, in the whole trace.", api_columns);
    size_t n = 0;
    for (size_t i = 0; i < c->trace->names.texts.n; i++)
        if (c->apis[i].n > 0)
            c->apis[n++] = c->apis[i];
    qsort(c->apis, n, sizeof *c->apis, compare_apis);
    api rest = {0};
    for (size_t i = 0; i < n; i++) {
        if (i < top) {
            tell_api(t, mill_name(c->trace, c->apis[i].name), &c->apis[i]);
            continue;
        }
        rest.n += c->apis[i].n;
        rest.sum = kit_add(rest.sum, c->apis[i].sum);
    }
    if (rest.n > 0)
        tell_api(t, "(others)", &rest);
}

static const kit_column sync_columns[] = {
    {MILL_KIND_TEXT, "name", "name", NULL},
    {MILL_KIND_ID, "pid", "process", NULL},
    {MILL_KIND_ID, "tid", "thread", NULL},
    {MILL_KIND_NS, "start", "start", "From the first start on any device."},
    {MILL_KIND_NS, "time", "time", NULL},
    {0},
};

static void tell_syncs(kit_report *r, cpu *c, int64_t origin) {
    const mill_trace *trace = c->trace;
    kit_table *t = kit_table_of(r, "explicit_sync", "Longest explicit synchronisations",
                                "Calls in which the CPU waits for the device.", sync_columns);
    const sync_call *syncs = c->syncs.v;
    size_t n = kit_top_sort(&c->syncs);
    for (size_t i = 0; i < n; i++) {
        uint32_t row = syncs[i].row, on = mill_u32(trace, &trace->cpu.thread, row);
        int64_t start = mill_i64(trace, &trace->cpu.start, row);
        kit_table_row(t);
        kit_cell_text(t, mill_name(trace, mill_u32(trace, &trace->cpu.name, row)));
        kit_cell_int(t, mill_i64(trace, &trace->threads.pid, on));
        kit_cell_int(t, mill_i64(trace, &trace->threads.tid, on));
        kit_cell_int(t, origin == MILL_UNKNOWN ? MILL_UNKNOWN : kit_add(start, -origin));
        kit_cell_int(t, syncs[i].dur);
    }
}

static const kit_column thread_columns[] = {
    {MILL_KIND_ID, "pid", "process", NULL},
    {MILL_KIND_ID, "tid", "thread", NULL},
    {MILL_KIND_TEXT, "name", "name", NULL},
    {MILL_KIND_COUNT, "calls", "calls", "Of the runtime and driver API."},
    {MILL_KIND_NS, "busy", "busy", "|union| of operators and API calls."},
    {MILL_KIND_NS, "span", "span", "From the first of them to the end of the last."},
    {MILL_KIND_RATIO, "share", "busy", "busy / span"},
    {0},
};

static void tell_threads(kit_report *r, const cpu *c) {
    const mill_threads *threads = &c->trace->threads;
    kit_table *t =
        kit_table_of(r, "cpu_threads", "Busy threads",
                     "Threads with operators or API calls, in the whole trace.", thread_columns);
    for (uint32_t i = 0; i < threads->n; i++) {
        const kit_tally *work = &c->threads[i].work;
        if (work->n == 0)
            continue;
        kit_table_row(t);
        kit_cell_int(t, mill_i64(c->trace, &threads->pid, i));
        kit_cell_int(t, mill_i64(c->trace, &threads->tid, i));
        kit_cell_text(t, mill_string(c->trace, mill_u32(c->trace, &threads->name, i)));
        kit_cell_int(t, c->threads[i].calls);
        kit_cell_int(t, work->busy);
        kit_cell_int(t, kit_add(work->last, -work->first));
        kit_cell_ratio(t, work->busy, kit_add(work->last, -work->first));
    }
}

mill_status launch_tell_cpu(mill_run *run, kit_report *r, const mill_trace *trace, int64_t origin,
                            size_t top) {
    cpu c = {.run = run, .trace = trace};
    kit_top_init(&c.syncs, top, sizeof(sync_call), compare_syncs);
    mill_status status = look(&c);
    if (status == MILL_OK) {
        kit_figure_int(r, MILL_KIND_COUNT, "api_calls", "API calls", NULL,
                       "Of the runtime and driver API, on all threads.", c.n_calls);
        kit_figure_int(r, MILL_KIND_NS, "api_time", "time in API calls", NULL, "Σ durations",
                       c.calls);
        kit_figure_int(r, MILL_KIND_COUNT, "sync_calls", "explicit synchronisations", NULL,
                       "API calls with Synchronize in their name.", c.n_syncs);
        kit_figure_int(r, MILL_KIND_NS, "sync_time", "time in explicit synchronisations", NULL,
                       "Σ durations", c.waiting);
        tell_apis(r, &c, top);
        tell_syncs(r, &c, origin);
        tell_threads(r, &c);
    }
    kit_top_finish(&c.syncs);
    return status;
}
