/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the critical path of a device: forward over time for what each activity could have waited
 * for, then backward from the last end. */
#include "path.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/sweep.h>

#define CANCEL_ROWS (1u << 16) /* activities between two looks at `cancelled` */
#define NONE KIT_NO_ACTIVITY

/* What each activity waited for. */
typedef struct links {
    uint32_t *before; /* the activity, or NONE */
    uint8_t *link;    /* path_link */
} links;

typedef struct finder {
    mill_run *run;
    const kit_activities *all;
    const kit_device *device;
    const kit_gap_rule *rule;
    uint32_t *stream_last; /* of each stream: what ended last, or NONE */
    uint32_t last;         /* of all that takes time */
    kit_waits waits;
    links links;
} finder;

/* The end that is decisive for a whole device: the later; then of the longer activity, which
 * tells more; then on the lower stream, and launched first. */
static bool ends_later(const kit_device *device, uint32_t a, uint32_t b) {
    const kit_activity *x = &device->v[a], *y = &device->v[b];
    if (x->end != y->end)
        return x->end > y->end;
    if (x->start != y->start)
        return x->start < y->start;
    return x->stream != y->stream ? x->stream < y->stream : a < b;
}

static void note_end(finder *f, uint32_t i) {
    const kit_activity *v = f->device->v;
    uint32_t *last = &f->stream_last[v[i].stream];
    if (*last == NONE || v[i].end > v[*last].end || (v[i].end == v[*last].end && i > *last))
        *last = i;
    if (v[i].end > v[i].start && (f->last == NONE || ends_later(f->device, i, f->last)))
        f->last = i;
}

static bool launched_after(const finder *f, const kit_activity *a, int64_t time) {
    const mill_trace *trace = f->all->trace;
    uint32_t launch = mill_u32(trace, &trace->gpu.launch, a->row);
    return launch != MILL_NONE && mill_i64(trace, &trace->cpu.start, launch) >= time;
}

/* Whether what the trace records that the activity waited for held it up: its own stream was free,
 * and it was launched, before that ended. */
static bool held_up(const finder *f, const kit_activity *a, uint32_t own, uint32_t recorded) {
    const kit_activity *v = f->device->v;
    return (own == NONE || v[recorded].end > v[own].end) && !launched_after(f, a, v[recorded].end);
}

/* Whether by timing it waited for another stream: what ended last of all ended just before, while
 * its own had been free for longer than the pause between two kernels. */
static bool seems_held_up(const finder *f, const kit_activity *a, uint32_t own, uint32_t other) {
    const kit_activity *v = f->device->v;
    bool later = other != NONE && (own == NONE || v[other].end > v[own].end);
    bool paused = own == NONE || a->start - v[own].end > f->rule->kernel_gap;
    return later && paused && v[other].stream != a->stream &&
           a->start - v[other].end <= f->rule->tolerance;
}

/* Where the step before the activity leads; all ends up to its start are known. */
static path_link link_of(const finder *f, const kit_activity *a, uint32_t own, uint32_t other,
                         uint32_t recorded) {
    const kit_activity *v = f->device->v;
    if (own == NONE && other == NONE)
        return PATH_FIRST;
    if (recorded != NONE && held_up(f, a, own, recorded))
        return PATH_RECORDED;
    if (recorded == NONE && seems_held_up(f, a, own, other))
        return PATH_CROSS;
    if (launched_after(f, a, v[own == NONE ? other : own].end))
        return PATH_HOST;
    return own == NONE ? PATH_CROSS : PATH_STREAM;
}

static void link_activity(finder *f, uint32_t i) {
    const kit_activity *v = f->device->v;
    uint32_t own = f->stream_last[v[i].stream], other = f->last;
    uint32_t recorded = kit_waited_for(&f->waits, i);
    if (recorded != NONE && v[recorded].end > v[i].start)
        recorded = NONE; /* times contradict it */
    path_link link = link_of(f, &v[i], own, other, recorded);
    bool to_own =
        own != NONE && (link == PATH_STREAM ||
                        (link == PATH_HOST && (other == NONE || v[own].end > v[other].end)));
    f->links.before[i] = to_own                  ? own
                         : link == PATH_FIRST    ? NONE
                         : link == PATH_RECORDED ? recorded
                                                 : other;
    f->links.link[i] = (uint8_t)link;
}

static mill_status link_all(finder *f) {
    const kit_device *device = f->device;
    kit_sweep sweep;
    kit_change change;
    kit_sweep_init(&sweep, f->run, device);
    bool more = kit_sweep_next(&sweep, &change);
    for (uint32_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i];
        if (i % CANCEL_ROWS == 0 && mill_cancelled(f->run))
            return MILL_E_CANCELLED;
        for (; more && change.time <= a->start; more = kit_sweep_next(&sweep, &change))
            if (!change.begins)
                note_end(f, (uint32_t)(change.activity - device->v));
        link_activity(f, i);
        if (a->start == a->end) /* the sweep leaves it out */
            note_end(f, i);
    }
    for (; more; more = kit_sweep_next(&sweep, &change))
        if (!change.begins)
            note_end(f, (uint32_t)(change.activity - device->v));
    return MILL_OK;
}

/* ---------------------------------------------------------------- the way back */

/* Where the path ends. If nothing takes time, at the last activity. */
static uint32_t last_of(const finder *f) {
    return f->last != NONE ? f->last : (uint32_t)f->device->n - 1;
}

static void walk_back(const finder *f, path *ret_path) {
    const kit_activity *v = f->device->v;
    size_t n = 0;
    for (uint32_t i = last_of(f); i != NONE; i = f->links.before[i])
        n++;
    *ret_path = (path){.v = mill_scratch(f->run, n * sizeof(path_step)), .n = n};
    for (uint32_t i = last_of(f); i != NONE; i = f->links.before[i]) {
        uint32_t before = f->links.before[i];
        ret_path->v[--n] = (path_step){
            .activity = i,
            .link = f->links.link[i],
            .gap = before == NONE ? v[i].start : v[before].end,
            .ready = v[i].start,
            .cause = PATH_LATE,
        };
        ret_path->recorded += f->links.link[i] == PATH_RECORDED;
        ret_path->hops += f->links.link[i] == PATH_RECORDED || f->links.link[i] == PATH_CROSS;
    }
    ret_path->head = v[ret_path->v[0].activity].start - f->device->window.start;
    ret_path->tail = f->device->window.end - v[last_of(f)].end;
}

/* Steps that did not wait for the CPU have the causes of gaps. */
static mill_status explain(const finder *f, path *p) {
    const kit_activity *v = f->device->v;
    kit_gap *gaps = kit_alloc(p->n, sizeof *gaps);
    size_t n = 0, at = 0;
    for (size_t i = 1; i < p->n; i++) {
        const path_step *s = &p->v[i];
        if (s->link != PATH_HOST)
            gaps[n++] = (kit_gap){
                .start = s->gap,
                .end = v[s->activity].start,
                .next = s->activity,
                .one_place = s->link == PATH_STREAM && kit_one_place(f->all, v[s->activity].place,
                                                                     v[p->v[i - 1].activity].place),
            };
    }
    mill_status status = kit_gaps_explain(f->run, f->all, f->device, f->rule, gaps, n);
    for (size_t i = 1; i < p->n && status == MILL_OK; i++) {
        path_step *s = &p->v[i];
        if (s->link == PATH_HOST)
            continue;
        s->ready = gaps[at].ready;
        s->cause = gaps[at].cause;
        at++;
    }
    free(gaps);
    return status;
}

mill_status path_find(mill_run *run, const kit_activities *all, const kit_device *device,
                      const kit_gap_rule *rule, path *ret_path) {
    finder f = {
        .run = run,
        .all = all,
        .device = device,
        .rule = rule,
        .stream_last = kit_alloc(all->n_streams, sizeof *f.stream_last),
        .last = NONE,
        .links = {kit_alloc(device->n, sizeof *f.links.before), kit_alloc(device->n, 1)},
    };
    memset(f.stream_last, 0xff, all->n_streams * sizeof *f.stream_last); /* NONE */
    mill_status status = kit_waits_init(&f.waits, run, all, device);
    if (status == MILL_OK)
        status = link_all(&f);
    if (status == MILL_OK) {
        walk_back(&f, ret_path);
        status = explain(&f, ret_path);
    }
    kit_waits_finish(&f.waits);
    free(f.stream_last);
    free(f.links.before);
    free(f.links.link);
    return status;
}
