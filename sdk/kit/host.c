/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the slices of the CPU in order of time, with the communication that they launch. */
#include <tracemill/kit/host.h>

#include <stdlib.h>
#include <string.h>

#define CANCEL_ROWS (1u << 16)

/* One communication by its launch. */
typedef struct launch {
    uint32_t call;             /* of the trace's cpu */
    uint32_t device, activity; /* of the kit_activities, of its activities */
    int64_t start;             /* the earliest of it and what is launched later on its device */
} launch;

typedef struct measuring {
    mill_run *run;
    const kit_activities *all;
    const kit_poll_rule *rule;
    const bool *notify;  /* kinds that wait for other ranks */
    const bool *is_sync; /* names */
    launch *launches;    /* in order of time */
    size_t n_launches, next;
    uint32_t *last; /* of each thread: number + 1 of its last launch of communication; 0: none */
    kit_host *host;
    size_t room;
} measuring;

/* ---------------------------------------------------------------- launches */

static int compare_launches(const void *a, const void *b) {
    const launch *x = a, *y = b;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->activity > y->activity) - (x->activity < y->activity);
}

static void find_launches(measuring *m) {
    const mill_trace *trace = m->all->trace;
    size_t room = 0, n_devices = m->all->n_devices;
    for (size_t d = 0; d < n_devices; d++)
        for (size_t i = 0; i < m->all->devices[d].n; i++)
            room += m->all->devices[d].v[i].cls == KIT_COMM;
    m->launches = mill_scratch(m->run, room * sizeof *m->launches);
    for (uint32_t d = 0; d < n_devices; d++)
        for (uint32_t i = 0; i < m->all->devices[d].n; i++) {
            const kit_activity *a = &m->all->devices[d].v[i];
            uint32_t call = mill_u32(trace, &trace->gpu.launch, a->row);
            if (a->cls == KIT_COMM && call != MILL_NONE)
                m->launches[m->n_launches++] = (launch){call, d, i, a->start};
        }
    if (m->n_launches > 0)
        qsort(m->launches, m->n_launches, sizeof *m->launches, compare_launches);
    int64_t *earliest = mill_scratch(m->run, n_devices * sizeof *earliest);
    for (size_t d = 0; d < n_devices; d++)
        earliest[d] = INT64_MAX;
    for (size_t i = m->n_launches; i-- > 0;) {
        launch *l = &m->launches[i];
        if (l->start < earliest[l->device])
            earliest[l->device] = l->start;
        l->start = earliest[l->device];
    }
}

/* ---------------------------------------------------------------- polls */

static void add_poll(measuring *m, const kit_poll *poll) {
    kit_host *host = m->host;
    if (host->n_polls == m->room) {
        m->room = m->room ? 2 * m->room : 64;
        kit_poll *polls = mill_scratch(m->run, m->room * sizeof *polls);
        if (host->n_polls > 0)
            memcpy(polls, host->polls, host->n_polls * sizeof *polls);
        host->polls = polls;
    }
    host->polls[host->n_polls++] = *poll;
    kit_thread *t = &host->threads[poll->thread];
    t->poll = kit_add(t->poll, poll->end - poll->start);
}

/* Whether the thread polled from `start` to `end`, where it goes on. */
static void look_at_stall(measuring *m, uint32_t thread, int64_t start, int64_t end) {
    if (m->last[thread] == 0)
        return;
    const launch *last = &m->launches[m->last[thread] - 1];
    const kit_activity *a = &m->all->devices[last->device].v[last->activity];
    if (!kit_kind_in(m->all, m->notify, a->kind) || a->start >= end ||
        (end > a->end && end - a->end > m->rule->late))
        return;
    size_t next = m->next;
    while (next < m->n_launches && m->launches[next].device != last->device)
        next++;
    kit_poll poll = {thread, last->device, last->activity, start, end, MILL_UNKNOWN, MILL_UNKNOWN};
    if (next < m->n_launches) {
        const mill_trace *trace = m->all->trace;
        poll.next_launch = mill_i64(trace, &trace->cpu.start, m->launches[next].call);
        poll.next_start = m->launches[next].start;
    }
    add_poll(m, &poll);
}

/* ---------------------------------------------------------------- the walk */

static void add_slice(measuring *m, uint32_t row) {
    const mill_trace *trace = m->all->trace;
    mill_cpu_kind kind = (mill_cpu_kind)mill_u8(trace, &trace->cpu.kind, row);
    bool call = kind == MILL_CPU_RUNTIME || kind == MILL_CPU_DRIVER;
    if (!call && kind != MILL_CPU_OP)
        return;
    uint32_t on = mill_u32(trace, &trace->cpu.thread, row);
    kit_thread *t = &m->host->threads[on];
    int64_t start = mill_i64(trace, &trace->cpu.start, row);
    int64_t dur = mill_i64(trace, &trace->cpu.dur, row), gap;
    if (t->work.n > 0 && start > t->work.last &&
        !__builtin_sub_overflow(start, t->work.last, &gap) && gap > m->rule->stall)
        look_at_stall(m, on, t->work.last, start);
    kit_tally_add(&t->work, start, start + dur);
    t->calls += call;
    if (call && m->is_sync[mill_u32(trace, &trace->cpu.name, row)])
        t->sync = kit_add(t->sync, dur);
    for (; m->next < m->n_launches && m->launches[m->next].call <= row; m->next++)
        m->last[mill_u32(trace, &trace->cpu.thread, m->launches[m->next].call)] =
            (uint32_t)m->next + 1;
}

/* CUDA, HIP and their drivers all call it so: cudaStreamSynchronize, cuCtxSynchronize. */
static const bool *find_syncs(const measuring *m) {
    const mill_trace *trace = m->all->trace;
    bool *is_sync = mill_scratch(m->run, trace->names.texts.n + 1);
    for (uint32_t i = 0; i < trace->names.texts.n; i++)
        is_sync[i] = strstr(mill_name(trace, i), "Synchronize") != NULL;
    return is_sync;
}

mill_status kit_host_measure(mill_run *run, const kit_activities *all, const mill_list *notify,
                             const kit_poll_rule *rule, kit_host *ret_host) {
    const mill_trace *trace = all->trace;
    measuring m = {.run = run, .all = all, .rule = rule, .host = ret_host};
    *ret_host =
        (kit_host){.threads = mill_scratch(run, trace->threads.n * sizeof *ret_host->threads)};
    m.notify = kit_kinds_named(run, all, notify);
    m.is_sync = find_syncs(&m);
    m.last = mill_scratch(run, trace->threads.n * sizeof *m.last);
    find_launches(&m);
    for (uint64_t row = 0; row < trace->cpu.n; row++) {
        if (row % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        add_slice(&m, (uint32_t)row);
    }
    return MILL_OK;
}

int64_t kit_poll_cost(const kit_activities *all, const kit_poll *poll) {
    const kit_activity *notify = &all->devices[poll->device].v[poll->notify];
    if (poll->next_start == MILL_UNKNOWN)
        return MILL_UNKNOWN;
    return poll->next_start > notify->end ? poll->next_start - notify->end : 0;
}
