/* SPDX-License-Identifier: Apache-2.0 */
/* From a step timeline's timers to operations. The names are those of MegaScale's profiler as
 * ByteDance-Seed/StragglerAnalysis lists them (analyzer/to_timeline.py, analyzer/metatypes.py);
 * threads are called "PP rank 0, TP rank 0, compute", processes "DP rank [0]". */
#include "operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct known_name {
    const char *name;
    pipe_kind kind;
    int peer; /* of communication: stages from here */
} known_name;

static const known_name known_names[] = {
    {"forward-compute", PIPE_FORWARD, 0},
    {"backward-compute", PIPE_BACKWARD, 0},
    {"backward-wgrad-compute", PIPE_WEIGHT, 0},
    {"forward-send", PIPE_SEND, 1},
    {"forward-recv", PIPE_RECEIVE, -1},
    {"backward-send", PIPE_SEND, -1},
    {"backward-recv", PIPE_RECEIVE, 1},
    {"forward-send-backward-recv", PIPE_EXCHANGE, 1},
    {"backward-send-forward-recv", PIPE_EXCHANGE, -1},
};

static const known_name *find_name(const char *name) {
    static const known_name other = {"", PIPE_OTHER, 0};
    for (size_t i = 0; i < sizeof known_names / sizeof *known_names; i++)
        if (strcmp(known_names[i].name, name) == 0)
            return &known_names[i];
    return &other;
}

/* What the names of a thread and its process say; what they do not say is 0, but for the stage. */
static pipe_worker read_worker(const mill_trace *t, uint32_t thread) {
    pipe_worker w = {MILL_UNKNOWN, MILL_UNKNOWN, 0, 0};
    const char *name = mill_string(t, mill_u32(t, &t->threads.name, thread));
    const char *process = mill_string(t, mill_u32(t, &t->threads.process, thread));
    long long number, second;
    int n = name ? sscanf(name, "PP rank %lld, TP rank %lld", &number, &second) : 0;
    if (n >= 1 && number >= 0)
        w.stage = number;
    if (n == 2)
        w.tp = second;
    if (process && sscanf(process, "DP rank [%lld]", &number) == 1)
        w.dp = number;
    return w;
}

/* A thread and the worker that it is of. */
typedef struct thread_of {
    pipe_worker worker;
    uint32_t thread;
} thread_of;

static int compare_workers(const pipe_worker *x, const pipe_worker *y) {
    if (x->dp != y->dp)
        return x->dp < y->dp ? -1 : 1;
    if (x->tp != y->tp)
        return x->tp < y->tp ? -1 : 1;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

static int compare_threads(const void *a, const void *b) {
    const thread_of *x = a, *y = b;
    int order = compare_workers(&x->worker, &y->worker);
    return order != 0 ? order : (x->thread > y->thread) - (x->thread < y->thread);
}

/* Lists the workers. Returns that of each thread, or MILL_NONE. */
static const uint32_t *list_workers(pipe_making *m, const mill_trace *trace) {
    uint32_t n = 0, *worker = mill_scratch(m->run, trace->threads.n * sizeof *worker);
    thread_of *found = mill_scratch(m->run, trace->threads.n * sizeof *found);
    m->workers = mill_value_alloc(m->run, m->value, trace->threads.n * sizeof *m->workers);
    for (uint32_t i = 0; i < trace->threads.n; i++) {
        found[n] = (thread_of){read_worker(trace, i), i};
        worker[i] = MILL_NONE;
        n += found[n].worker.stage != MILL_UNKNOWN;
    }
    if (n > 0)
        qsort(found, n, sizeof *found, compare_threads);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || compare_workers(&found[i - 1].worker, &found[i].worker) != 0)
            m->workers[m->value->n_workers++] = found[i].worker;
        worker[found[i].thread] = (uint32_t)(m->value->n_workers - 1);
    }
    return worker;
}

void pipe_take_timers(pipe_making *m, const mill_trace *trace) {
    const mill_timers *timers = &trace->timers;
    const uint32_t *of_thread = list_workers(m, trace);
    for (uint64_t i = 0; i < timers->n; i++) {
        uint32_t worker = of_thread[mill_u32(trace, &timers->thread, i)];
        if (worker == MILL_NONE)
            continue;
        const char *name = mill_name(trace, mill_u32(trace, &timers->name, i));
        const known_name *known = find_name(name);
        pipe_op *op = pipe_add(m, known->kind, worker);
        op->start = mill_i64(trace, &timers->start, i);
        op->end = op->start + mill_i64(trace, &timers->dur, i);
        op->step = mill_i64(trace, &timers->step, i);
        op->chunk = mill_i64(trace, &timers->chunk, i);
        op->micro_batch = mill_i64(trace, &timers->micro_batch, i);
        op->sequence = mill_i64(trace, &timers->sequence, i);
        op->name = name;
        if (pipe_computes(op->kind))
            op->compute = op->owned = op->end - op->start;
        if (pipe_communicates(op->kind))
            op->peer = m->workers[worker].stage + known->peer;
    }
    m->value->workers = m->workers;
    m->value->method = "timers";
}
