/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs sends with receives, and measures what each transfer hides and what it exposes. */
#include "inflight.h"

#include <stdlib.h>
#include <string.h>

#define OPEN 2 /* sends of a group in flight at once, at most: DeepEP has two buffers */

/* ---------------------------------------------------------------- pairing */

typedef struct pairing {
    const inflight_analysis *a;
    inflight_device *d;
    inflight_group *group;
    uint32_t open[OPEN]; /* candidates that were sent, oldest first */
    size_t n_open;
} pairing;

static void leave(pairing *p, uint32_t candidate, inflight_fate fate) {
    p->d->candidates[candidate].fate = (uint8_t)fate;
    p->group->unpaired++;
    p->d->n_unpaired++;
}

static uint32_t take_oldest(pairing *p) {
    uint32_t oldest = p->open[0];
    p->n_open--;
    memmove(p->open, p->open + 1, p->n_open * sizeof *p->open);
    return oldest;
}

static uint32_t step_of(const inflight_analysis *a, const kit_activity *x) {
    return x->place == MILL_NONE ? MILL_NONE : a->all.places->step[x->place];
}

static void join(pairing *p, uint32_t candidate) {
    uint32_t sent = take_oldest(p);
    const kit_activity *s = inflight_activity(p->d, sent), *r = inflight_activity(p->d, candidate);
    inflight_fate fate = INFLIGHT_PAIRED;
    if (r->start < s->end)
        fate = INFLIGHT_CROSSED;
    else if (r->start - s->end > p->a->options->max_flight)
        fate = INFLIGHT_TOO_FAR;
    else if (step_of(p->a, s) != step_of(p->a, r))
        fate = INFLIGHT_OTHER_STEP;
    if (fate != INFLIGHT_PAIRED) {
        leave(p, sent, fate);
        leave(p, candidate, fate);
        return;
    }
    inflight_candidate *c = p->d->candidates;
    c[sent].fate = c[candidate].fate = (uint8_t)fate;
    c[sent].partner = candidate;
    c[candidate].partner = sent;
    p->group->pairs++;
    p->d->n_pairs++;
}

static void pair_group(const inflight_analysis *a, inflight_device *d, inflight_group *g) {
    pairing p = {.a = a, .d = d, .group = g};
    size_t depth = (size_t)inflight_depth(a->options);
    for (size_t i = 0; i < g->n && !g->whole; i++) {
        uint32_t candidate = g->members[i];
        switch (d->candidates[candidate].role) {
        case INFLIGHT_SEND:
            if (p.n_open == depth)
                leave(&p, take_oldest(&p), INFLIGHT_NO_PARTNER);
            p.open[p.n_open++] = candidate;
            break;
        case INFLIGHT_RECEIVE:
            if (p.n_open > 0)
                join(&p, candidate);
            else
                leave(&p, candidate, INFLIGHT_NO_PARTNER);
            break;
        default:
            leave(&p, candidate, INFLIGHT_NO_LABEL);
        }
    }
    while (p.n_open > 0)
        leave(&p, take_oldest(&p), INFLIGHT_NO_PARTNER);
}

/* ---------------------------------------------------------------- measuring */

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A receive takes this long when all has arrived before it begins. */
static void set_base(mill_run *run, const inflight_options *o, const inflight_device *d,
                     inflight_group *g) {
    if (g->pairs == 0)
        return;
    int64_t *times = mill_scratch(run, g->pairs * sizeof *times);
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++) {
        const inflight_candidate *c = &d->candidates[g->members[i]];
        const kit_activity *x = inflight_activity(d, g->members[i]);
        if (c->fate == INFLIGHT_PAIRED && c->role == INFLIGHT_RECEIVE)
            times[n++] = x->end - x->start;
    }
    qsort(times, n, sizeof *times, compare_times);
    g->base = o->recv_time > 0          ? o->recv_time
              : o->base == INFLIGHT_P10 ? kit_percentile(times, n, 10)
                                        : times[0];
}

bool inflight_is_pair(const inflight_device *d, size_t candidate) {
    const inflight_candidate *c = &d->candidates[candidate];
    return c->fate == INFLIGHT_PAIRED && c->role == INFLIGHT_SEND;
}

inflight_pair inflight_measure(const inflight_device *d, size_t candidate) {
    const inflight_candidate *c = &d->candidates[candidate];
    const kit_activity *s = inflight_activity(d, candidate), *r = inflight_activity(d, c->partner);
    const inflight_group *g = &d->groups[c->group];
    kit_interval flight = {s->end, r->start}, whole = {s->start, r->end};
    int64_t recv_time = r->end - r->start;
    return (inflight_pair){
        .send = s,
        .recv = r,
        .group = g,
        .flight = flight.end - flight.start,
        .hidden = kit_covered(&d->comp, flight),
        .idle = flight.end - flight.start - kit_covered(&d->any, flight),
        .recv_time = recv_time,
        .wait = recv_time > g->base ? recv_time - g->base : 0,
        .latency = whole.end - whole.start,
        .exposed = whole.end - whole.start - kit_covered(&d->comp, whole),
    };
}

static void add_pair(inflight_group *g, const inflight_pair *p) {
    g->send = kit_add(g->send, p->send->end - p->send->start);
    g->flight = kit_add(g->flight, p->flight);
    g->hidden = kit_add(g->hidden, p->hidden);
    g->idle = kit_add(g->idle, p->idle);
    g->recv = kit_add(g->recv, p->recv_time);
    g->wait = kit_add(g->wait, p->wait);
    g->latency = kit_add(g->latency, p->latency);
    g->exposed = kit_add(g->exposed, p->exposed);
}

static kit_set join_sets(mill_run *run, const kit_set *a, const kit_set *b) {
    kit_set set = {mill_scratch(run, (a->n + b->n) * sizeof(kit_interval)), 0};
    set.n = kit_intervals_union(a->v, a->n, b->v, b->n, set.v);
    return set;
}

static void measure_pairs(mill_run *run, inflight_device *d) {
    const kit_set *sets = d->device->sets;
    kit_set compute_or_comm = join_sets(run, &sets[KIT_COMP], &sets[KIT_COMM]);
    d->busy = join_sets(run, &compute_or_comm, &sets[KIT_MEM]);
    kit_cover_init(&d->comp, &sets[KIT_COMP],
                   mill_scratch(run, (sets[KIT_COMP].n + 1) * sizeof(int64_t)));
    kit_cover_init(&d->any, &d->busy, mill_scratch(run, (d->busy.n + 1) * sizeof(int64_t)));
    d->flights.v = mill_scratch(run, d->n_pairs * sizeof *d->flights.v);
    d->exposed = mill_scratch(run, d->n_pairs * sizeof *d->exposed);
    for (size_t i = 0; i < d->n_candidates; i++) {
        if (!inflight_is_pair(d, i))
            continue;
        inflight_pair p = inflight_measure(d, i);
        add_pair(&d->groups[d->candidates[i].group], &p);
        d->exposed[d->flights.n] = p.exposed;
        d->flights.v[d->flights.n++] = (kit_interval){p.send->end, p.recv->start};
    }
    kit_set *v = &d->flights;
    v->n = kit_intervals_normalise(v->v, v->n);
    d->idle_in_flight =
        kit_intervals_length(v->v, v->n) - kit_intervals_common(v->v, v->n, d->busy.v, d->busy.n);
}

/* M′ = M ∪ V takes the place of M. */
static void measure_states(mill_run *run, inflight_device *d) {
    kit_set sets[KIT_CLASSES];
    kit_interval window = d->device->window;
    memcpy(sets, d->device->sets, sizeof sets);
    kit_states(sets, window.start, window.end, d->off);
    memcpy(d->on, d->off, sizeof d->on);
    if (d->n_pairs == 0)
        return;
    sets[KIT_COMM] = join_sets(run, &sets[KIT_COMM], &d->flights);
    kit_states(sets, window.start, window.end, d->on);
}

void inflight_pair_up(mill_run *run, const inflight_analysis *a, inflight_device *d) {
    for (size_t g = 0; g < d->n_groups; g++) {
        pair_group(a, d, &d->groups[g]);
        set_base(run, a->options, d, &d->groups[g]);
    }
    if (d->n_pairs > 0)
        measure_pairs(run, d);
    measure_states(run, d);
}

mill_status inflight_analyse(mill_run *run, const mill_trace *trace,
                             const mill_attribution *attribution, const inflight_options *options,
                             const inflight_regexes *regexes, inflight_analysis *ret_analysis) {
    inflight_analysis *a = ret_analysis;
    *a = (inflight_analysis){.options = options, .regexes = regexes};
    mill_status status =
        kit_activities_select(run, trace, attribution, &options->selection, &a->all);
    if (status != MILL_OK)
        return status;
    a->devices = mill_scratch(run, a->all.n_devices * sizeof *a->devices);
    for (size_t i = 0; i < a->all.n_devices; i++) {
        inflight_device *d = &a->devices[i];
        d->device = &a->all.devices[i];
        if (options->mode != INFLIGHT_OFF) {
            status = inflight_find_candidates(run, a, d);
            if (status != MILL_OK)
                return status;
            inflight_label(run, a, d);
        }
        inflight_pair_up(run, a, d);
    }
    return MILL_OK;
}
