/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for whom in each collective, and which ranks come last too often. */
#include "ranks.h"

/* Puts the events on the reference's clock; false where one of their clocks is not known. */
static bool align_events(const ranks_analysis *a, ranks_match *m) {
    for (size_t i = 0; i < m->n; i++)
        if (!a->members[m->events[i].member].clock.trusted)
            return false;
    for (size_t i = 0; i < m->n; i++) {
        ranks_event *e = &m->events[i];
        const ranks_clock *clock = &a->members[e->member].clock;
        e->start = ranks_corrected(clock, e->start);
        e->end = ranks_corrected(clock, e->end);
    }
    return true;
}

/* Of a collective: the latest two arrivals, and the first. */
typedef struct arrivals {
    const ranks_event *last;
    int64_t latest, second, earliest, first_end;
} arrivals;

static arrivals arrivals_of(const ranks_match *m) {
    arrivals r = {NULL, INT64_MIN, INT64_MIN, INT64_MAX, INT64_MAX};
    for (size_t i = 0; i < m->n; i++) {
        const ranks_event *e = &m->events[i];
        if (e->start > r.latest) {
            r.second = r.latest;
            r.latest = e->start;
            r.last = e;
        } else if (e->start > r.second) {
            r.second = e->start;
        }
        r.earliest = e->start < r.earliest ? e->start : r.earliest;
        r.first_end = e->end < r.first_end ? e->end : r.first_end;
    }
    return r;
}

/* For how much of the last one's delay its launch call had not begun. */
static int64_t host_late(const ranks_member *m, const arrivals *r) {
    if (r->last->collective->launch == MILL_UNKNOWN)
        return MILL_UNKNOWN;
    int64_t call = m->device->origin + r->last->collective->launch;
    int64_t late = ranks_corrected(&m->clock, call) - r->second;
    int64_t all = r->latest - r->second;
    return late < 0 ? 0 : late < all ? late : all;
}

/* What is closer together than clocks are known says nothing. */
static void measure_by_clocks(ranks_analysis *a, ranks_match *m) {
    arrivals r = arrivals_of(m);
    m->by_clocks = true;
    m->skew = r.latest - r.earliest;
    m->transfer = r.first_end > r.latest ? r.first_end - r.latest : 0;
    if (m->skew <= a->resolution && a->resolution > 0)
        return;
    for (size_t i = 0; i < m->n; i++) {
        ranks_event *e = &m->events[i];
        int64_t wait = r.latest - e->start;
        e->wait = wait < e->collective->dur ? wait : e->collective->dur;
    }
    if (r.latest - r.second <= a->resolution) /* two came last */
        return;
    ranks_member *last = &a->members[r.last->member];
    m->last = r.last->member;
    last->late = kit_add(last->late, r.latest - r.second);
    last->host_late = kit_add(last->host_late, host_late(last, &r));
}

/* Without clocks, the shortest time in the kernel is the transfer, and who has it came last. */
static void measure_by_durations(ranks_analysis *a, ranks_match *m) {
    int64_t least = INT64_MAX, second = INT64_MAX, most = 0;
    uint32_t last = MILL_NONE;
    for (size_t i = 0; i < m->n; i++) {
        int64_t dur = m->events[i].collective->dur;
        if (dur < least) {
            second = least;
            least = dur;
            last = m->events[i].member;
        } else if (dur < second) {
            second = dur;
        }
        most = dur > most ? dur : most;
    }
    m->skew = most - least;
    m->transfer = least;
    for (size_t i = 0; i < m->n; i++)
        m->events[i].wait = m->events[i].collective->dur - least;
    if (!m->cls->sync || second == least)
        return;
    m->last = last;
    a->members[last].late = kit_add(a->members[last].late, second - least);
}

static void count(ranks_analysis *a, ranks_match *m) {
    int64_t sum = 0;
    for (size_t i = 0; i < m->n; i++) {
        ranks_member *member = &a->members[m->events[i].member];
        if (m->events[i].wait == MILL_UNKNOWN)
            continue;
        member->wait = kit_add(member->wait, m->events[i].wait);
        sum = kit_add(sum, m->events[i].wait);
    }
    m->caused = sum;
    if (m->last == MILL_NONE)
        return;
    for (size_t i = 0; i < m->n; i++)
        a->members[m->events[i].member].told++;
    ranks_member *last = &a->members[m->last];
    last->last++;
    last->caused = kit_add(last->caused, sum);
}

void ranks_measure(ranks_analysis *a) {
    for (size_t i = 0; i < a->n_matches; i++) {
        ranks_match *m = &a->matches[i];
        if (align_events(a, m))
            measure_by_clocks(a, m);
        else
            measure_by_durations(a, m);
        count(a, m);
    }
    for (size_t i = 0; i < a->n_members; i++) {
        ranks_member *m = &a->members[i];
        const ranks_options *o = a->options;
        m->straggler = m->last > 0 && (double)m->last >= o->straggler_share * (double)m->told &&
                       (double)m->caused >= o->straggler_wait * (double)m->device->window;
    }
}
