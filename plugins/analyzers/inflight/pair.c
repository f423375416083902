/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs sends with receives, and measures what each transfer hides and what it exposes. */
#include "inflight.h"

#include <stdlib.h>
#include <string.h>

#define OPEN 2 /* sends of a group in flight at once, at most: DeepEP has two buffers */

const char *const inflight_reasons[INFLIGHT_REASONS] = {
    "no partner in the profile", "partner is further than max-flight", "partner is in another step",
    "receive begins before the send ends", "neither send-regex nor recv-regex matches"};

/* ---------------------------------------------------------------- pairing */

typedef struct pairing {
    const inflight_analysis *a;
    inflight_device *d;
    uint32_t group;
    size_t open[OPEN]; /* candidates that were sent, oldest first */
    size_t n_open;
} pairing;

static void leave(pairing *p, size_t candidate, inflight_reason reason) {
    p->d->groups[p->group].unpaired++;
    p->d->unpaired[p->d->n_unpaired++] = (inflight_unpaired){
        .activity = inflight_activity(p->d, candidate),
        .group = p->group,
        .role = p->d->candidates[candidate].role,
        .reason = reason,
    };
}

static size_t take_oldest(pairing *p) {
    size_t oldest = p->open[0];
    p->n_open--;
    memmove(p->open, p->open + 1, p->n_open * sizeof *p->open);
    return oldest;
}

static uint32_t step_of(const inflight_analysis *a, const kit_activity *x) {
    return x->place == MILL_NONE ? MILL_NONE : a->all.places->step[x->place];
}

static void join(pairing *p, size_t candidate) {
    size_t sent = take_oldest(p);
    const kit_activity *s = inflight_activity(p->d, sent), *r = inflight_activity(p->d, candidate);
    inflight_reason reason = INFLIGHT_REASONS;
    if (r->start < s->end)
        reason = INFLIGHT_CROSSED;
    else if (r->start - s->end > p->a->options->max_flight)
        reason = INFLIGHT_TOO_FAR;
    else if (step_of(p->a, s) != step_of(p->a, r))
        reason = INFLIGHT_OTHER_STEP;
    if (reason != INFLIGHT_REASONS) {
        leave(p, sent, reason);
        leave(p, candidate, reason);
        return;
    }
    p->d->groups[p->group].pairs++;
    p->d->pairs[p->d->n_pairs++] = (inflight_pair){.send = s, .recv = r, .group = p->group};
}

static void pair_group(const inflight_analysis *a, inflight_device *d, uint32_t group) {
    const inflight_group *g = &d->groups[group];
    pairing p = {.a = a, .d = d, .group = group};
    size_t depth = (size_t)inflight_depth(a->options);
    for (size_t i = 0; i < g->n && !g->whole; i++) {
        size_t candidate = g->members[i];
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

static int compare_activities(const kit_activity *x, const kit_activity *y) {
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x > y) - (x < y);
}

static int compare_pairs(const void *a, const void *b) {
    return compare_activities(((const inflight_pair *)a)->send, ((const inflight_pair *)b)->send);
}

static int compare_unpaired(const void *a, const void *b) {
    return compare_activities(((const inflight_unpaired *)a)->activity,
                              ((const inflight_unpaired *)b)->activity);
}

/* ---------------------------------------------------------------- measuring */

static int64_t recv_time(const inflight_pair *p) {
    return p->recv->end - p->recv->start;
}

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A receive takes this long when all has arrived before it begins. `pairs` are those of the group.
 */
static void set_base(mill_run *run, const inflight_options *o, inflight_group *g,
                     const inflight_pair *pairs) {
    int64_t *times = mill_scratch(run, g->pairs * sizeof *times);
    if (g->pairs == 0)
        return;
    for (size_t i = 0; i < g->pairs; i++)
        times[i] = recv_time(&pairs[i]);
    qsort(times, g->pairs, sizeof *times, compare_times);
    g->base = o->recv_time > 0          ? o->recv_time
              : o->base == INFLIGHT_P10 ? kit_percentile(times, g->pairs, 10)
                                        : times[0];
}

static void measure_pair(inflight_device *d, inflight_pair *p, const kit_cover *comp,
                         const kit_cover *busy) {
    inflight_group *g = &d->groups[p->group];
    kit_interval flight = {p->send->end, p->recv->start}, whole = {p->send->start, p->recv->end};
    int64_t latency = whole.end - whole.start;
    p->hidden = kit_covered(comp, flight);
    p->idle = flight.end - flight.start - kit_covered(busy, flight);
    p->wait = recv_time(p) > g->base ? recv_time(p) - g->base : 0;
    p->exposed = latency - kit_covered(comp, whole);
    g->send = kit_add(g->send, p->send->end - p->send->start);
    g->flight = kit_add(g->flight, flight.end - flight.start);
    g->hidden = kit_add(g->hidden, p->hidden);
    g->idle = kit_add(g->idle, p->idle);
    g->recv = kit_add(g->recv, recv_time(p));
    g->wait = kit_add(g->wait, p->wait);
    g->latency = kit_add(g->latency, latency);
    g->exposed = kit_add(g->exposed, p->exposed);
}

static kit_set set_of(mill_run *run, size_t room) {
    return (kit_set){mill_scratch(run, room * sizeof(kit_interval)), 0};
}

static kit_set join_sets(mill_run *run, const kit_set *a, const kit_set *b) {
    kit_set set = set_of(run, a->n + b->n);
    set.n = kit_intervals_union(a->v, a->n, b->v, b->n, set.v);
    return set;
}

static void measure_pairs(mill_run *run, inflight_device *d) {
    const kit_set *sets = d->device->sets;
    kit_set compute_or_comm = join_sets(run, &sets[KIT_COMP], &sets[KIT_COMM]);
    kit_set busy = join_sets(run, &compute_or_comm, &sets[KIT_MEM]);
    kit_cover comp, any;
    kit_cover_init(&comp, &sets[KIT_COMP],
                   mill_scratch(run, (sets[KIT_COMP].n + 1) * sizeof(int64_t)));
    kit_cover_init(&any, &busy, mill_scratch(run, (busy.n + 1) * sizeof(int64_t)));
    d->flights = set_of(run, d->n_pairs);
    for (size_t i = 0; i < d->n_pairs; i++) {
        inflight_pair *p = &d->pairs[i];
        measure_pair(d, p, &comp, &any);
        d->flights.v[d->flights.n++] = (kit_interval){p->send->end, p->recv->start};
    }
    d->flights.n = kit_intervals_normalise(d->flights.v, d->flights.n);
    d->idle_in_flight = kit_intervals_length(d->flights.v, d->flights.n) -
                        kit_intervals_common(d->flights.v, d->flights.n, busy.v, busy.n);
}

/* M′ = M ∪ V takes the place of M. */
static void measure_states(mill_run *run, inflight_device *d) {
    kit_set sets[KIT_CLASSES];
    kit_interval window = d->device->window;
    memcpy(sets, d->device->sets, sizeof sets);
    kit_states(sets, window.start, window.end, d->off);
    sets[KIT_COMM] = join_sets(run, &sets[KIT_COMM], &d->flights);
    kit_states(sets, window.start, window.end, d->on);
}

void inflight_pair_up(mill_run *run, const inflight_analysis *a, inflight_device *d) {
    d->pairs = mill_scratch(run, d->n_candidates * sizeof *d->pairs);
    d->unpaired = mill_scratch(run, d->n_candidates * sizeof *d->unpaired);
    for (uint32_t g = 0; g < d->n_groups; g++) {
        size_t first = d->n_pairs;
        pair_group(a, d, g);
        set_base(run, a->options, &d->groups[g], d->pairs + first);
    }
    qsort(d->pairs, d->n_pairs, sizeof *d->pairs, compare_pairs);
    qsort(d->unpaired, d->n_unpaired, sizeof *d->unpaired, compare_unpaired);
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
