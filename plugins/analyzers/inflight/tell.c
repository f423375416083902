/* SPDX-License-Identifier: Apache-2.0 */
/* The report of transfers in flight: figures, tables, notes, and the sentence at its head. */
#include "inflight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/report.h>
#include <tracemill/kit/trace_notes.h>

#define C KIT_IN_COMP
#define M KIT_IN_COMM
#define NONE (KIT_ALWAYS & ~KIT_IN_ANY)

/* Sums over all pairs of a device. */
static inflight_group total_of(const inflight_device *d) {
    inflight_group t = {0};
    for (size_t i = 0; i < d->n_groups; i++) {
        const inflight_group *g = &d->groups[i];
        t.pairs += g->pairs;
        t.unpaired += g->unpaired;
        t.send = kit_add(t.send, g->send);
        t.flight = kit_add(t.flight, g->flight);
        t.hidden = kit_add(t.hidden, g->hidden);
        t.idle = kit_add(t.idle, g->idle);
        t.recv = kit_add(t.recv, g->recv);
        t.wait = kit_add(t.wait, g->wait);
        t.latency = kit_add(t.latency, g->latency);
        t.exposed = kit_add(t.exposed, g->exposed);
    }
    return t;
}

/* A ratio of two times that may be unknown. */
static void figure_ratio(kit_report *r, const char *id, const char *label, const char *scope,
                         const char *help, int64_t part, int64_t whole) {
    bool known = part != MILL_UNKNOWN && whole != MILL_UNKNOWN;
    kit_figure_ratio(r, id, label, scope, help, part, known ? whole : 0);
}

/* ---------------------------------------------------------------- figures */

static void tell_transfers(kit_report *r, const inflight_device *d, const char *scope) {
    const inflight_group t = total_of(d);
    const struct {
        const char *id, *label, *help;
        int64_t value;
    } times[] = {
        {"send", "sends", "Σ durations of the kernels that send", t.send},
        {"flight", "in flight", "Σ from the end of a send to the start of its receive", t.flight},
        {"flight_hidden", "in flight, hidden", "Σ |flight ∩ C|", t.hidden},
        {"flight_idle", "in flight, device idle", "Σ |flight ∖ (C ∪ M ∪ X)|", t.idle},
        {"recv", "receives", "Σ durations of the kernels that receive", t.recv},
        {"recv_wait", "receives, waiting",
         "Σ max(0, receive - base): what had not arrived when it was needed", t.wait},
        {"latency", "latency", "Σ from the start of a send to the end of its receive", t.latency},
        {"exposed", "exposed", "Σ latency in which nothing computes", t.exposed},
    };
    kit_figure_int(r, MILL_KIND_COUNT, "pairs", "transfers", scope,
                   "Pairs of a kernel that sends and one that receives.", (int64_t)t.pairs);
    kit_figure_int(r, MILL_KIND_COUNT, "unpaired", "kernels without partner", scope,
                   "Phases of transfers whose other phase was not found.", (int64_t)t.unpaired);
    for (size_t i = 0; i < sizeof times / sizeof *times && t.pairs > 0; i++)
        kit_figure_int(r, MILL_KIND_NS, times[i].id, times[i].label, scope, times[i].help,
                       times[i].value);
    if (t.pairs == 0)
        return;
    figure_ratio(r, "hidden_over_latency", "latency hidden in flight", scope,
                 "flight_hidden / latency", t.hidden, t.latency);
    figure_ratio(r, "flight_hidden_ratio", "flight hidden", scope, "flight_hidden / flight",
                 t.hidden, t.flight);
}

static void tell_modes_of(kit_report *r, const inflight_device *d, const char *scope) {
    const struct {
        const char *id, *label, *help;
        const int64_t *states;
        uint32_t mask;
    } times[] = {
        {"T", "window", "As in the report of overlap.", d->off, KIT_ALWAYS},
        {"comp", "computation", "|C|", d->off, C},
        {"idle", "idle", "Neither computation, communication nor memory work runs.", d->off, NONE},
        {"comm", "communication", "|M|: kernels only", d->off, M},
        {"comm_with_flight", "communication and flights", "|M′| = |M ∪ V|", d->on, M},
        {"overlap", "hidden communication", "|C ∩ M|", d->off, (C & M)},
        {"overlap_with_flight", "hidden, with flights", "|C ∩ M′|", d->on, (C & M)},
        {"exposed_comm", "exposed communication", "|M ∖ C|", d->off, M & ~C},
        {"exposed_comm_with_flight", "exposed, with flights", "|M′ ∖ C|", d->on, M & ~C},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        kit_figure_int(r, MILL_KIND_NS, times[i].id, times[i].label, scope, times[i].help,
                       kit_time_in(times[i].states, times[i].mask));
    kit_figure_int(r, MILL_KIND_NS, "idle_in_flight", "idle, transfer in flight", scope,
                   "|V ∖ (C ∪ M ∪ X)|: the part of idle in which data is under way.",
                   d->idle_in_flight);
    kit_figure_ratio(r, "overlap_over_comm", "communication hidden", scope, "|C ∩ M| / |M|",
                     kit_time_in(d->off, C & M), kit_time_in(d->off, M));
    kit_figure_ratio(r, "overlap_over_comm_with_flight", "hidden, with flights", scope,
                     "|C ∩ M′| / |M′|", kit_time_in(d->on, C & M), kit_time_in(d->on, M));
}

/* ---------------------------------------------------------------- tables */

static const kit_column mode_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "counted", "counted", "What communication is."},
    {MILL_KIND_NS, "comm", "comm.", NULL},
    {MILL_KIND_NS, "overlap", "hidden", NULL},
    {MILL_KIND_NS, "exposed_comm", "exposed", NULL},
    {MILL_KIND_RATIO, "overlap_over_comm", "share", "hidden over comm."},
    {MILL_KIND_NS, "idle", "idle",
     "The same both ways: a flight keeps no part of the device busy."},
    {MILL_KIND_NS, "idle_in_flight", "in flight", "The part of idle in which data is under way."},
    {0},
};

static void tell_mode(kit_table *t, const inflight_device *d, const char *counted,
                      const int64_t *states, int64_t idle_in_flight) {
    kit_table_row(t);
    kit_cell_int(t, d->device->id);
    kit_cell_text(t, counted);
    kit_cell_int(t, kit_time_in(states, M));
    kit_cell_int(t, kit_time_in(states, C & M));
    kit_cell_int(t, kit_time_in(states, M & ~C));
    kit_cell_ratio(t, kit_time_in(states, C & M), kit_time_in(states, M));
    kit_cell_int(t, kit_time_in(d->off, NONE));
    kit_cell_int(t, idle_in_flight);
}

static void tell_modes(kit_report *r, const inflight_analysis *a) {
    kit_table *t =
        kit_table_of(r, "modes", "Overlap without flights and with them", NULL, mode_columns);
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const inflight_device *d = &a->devices[i];
        tell_mode(t, d, "kernels only", d->off, MILL_UNKNOWN);
        tell_mode(t, d, "kernels and flights", d->on, d->idle_in_flight);
    }
}

static const kit_column group_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_TEXT, "mode", "mode",
     "send and receive: launched once for each phase; whole: nothing is inferred"},
    {MILL_KIND_COUNT, "n", "n", "kernels"},
    {MILL_KIND_COUNT, "pairs", "pairs", NULL},
    {MILL_KIND_COUNT, "unpaired", "alone", "Kernels without a partner."},
    {MILL_KIND_NS, "send", "send", "Σ over the pairs, as all that follow"},
    {MILL_KIND_NS, "flight", "flight", NULL},
    {MILL_KIND_NS, "flight_hidden", "hidden", "|flight ∩ C|"},
    {MILL_KIND_NS, "flight_idle", "idle", "|flight ∖ (C ∪ M ∪ X)|"},
    {MILL_KIND_NS, "recv", "receive", NULL},
    {MILL_KIND_NS, "recv_base", "base", "A receive that waits for nothing; not a sum."},
    {MILL_KIND_NS, "recv_wait", "wait", NULL},
    {MILL_KIND_NS, "latency", "latency", NULL},
    {MILL_KIND_NS, "exposed", "exposed", NULL},
    {MILL_KIND_COUNT, "grid", "grid", "blocks"},
    {MILL_KIND_TEXT, "name", "name", NULL},
    {0},
};

static void tell_group(const inflight_analysis *a, kit_table *t, const inflight_device *d,
                       const inflight_group *g) {
    const int64_t sums[] = {g->send, g->flight, g->hidden,  g->idle,   g->recv,
                            g->base, g->wait,   g->latency, g->exposed};
    kit_table_row(t);
    kit_cell_int(t, d->device->id);
    kit_cell_text(t, g->kind);
    kit_cell_text(t, g->whole ? "whole" : "send and receive");
    kit_cell_int(t, (int64_t)g->n);
    kit_cell_int(t, (int64_t)g->pairs);
    kit_cell_int(t, (int64_t)g->unpaired);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        kit_cell_int(t, g->pairs > 0 ? sums[i] : MILL_UNKNOWN);
    kit_cell_int(t, g->grid);
    kit_cell_text(t, g->name == MILL_NONE ? "(several)" : mill_name(a->all.trace, g->name));
}

static void tell_groups(kit_report *r, const inflight_analysis *a) {
    kit_table *t = kit_table_of(r, "groups", "Kernels that may send or receive",
                                "Those of one name and size are a group.", group_columns);
    for (size_t i = 0; i < a->all.n_devices; i++)
        for (size_t k = 0; k < a->devices[i].n_groups; k++)
            tell_group(a, t, &a->devices[i], &a->devices[i].groups[k]);
}

static const kit_column transfer_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_NS, "start", "start", "Of the send, from the window's start."},
    {MILL_KIND_NS, "send", "send", NULL},
    {MILL_KIND_NS, "flight", "flight", NULL},
    {MILL_KIND_NS, "flight_hidden", "hidden", "|flight ∩ C|"},
    {MILL_KIND_NS, "flight_idle", "idle", "|flight ∖ (C ∪ M ∪ X)|"},
    {MILL_KIND_NS, "recv", "receive", NULL},
    {MILL_KIND_NS, "recv_base", "base", "A receive that waits for nothing."},
    {MILL_KIND_NS, "recv_wait", "wait", "max(0, receive - base)"},
    {MILL_KIND_NS, "latency", "latency", "From the start of the send to the end of the receive."},
    {MILL_KIND_NS, "exposed", "exposed", "The part of latency in which nothing computes."},
    {MILL_KIND_NS, "at_least", "at least",
     "The data was under way at least so long: flight + wait, where it had not arrived in time."},
    {MILL_KIND_NS, "at_most", "at most",
     "The data was under way at most so long: flight, where it had arrived in time."},
    {0},
};

typedef struct rank {
    int64_t exposed;
    size_t candidate;
} rank;

static int compare_exposed(const void *a, const void *b) {
    const rank *x = a, *y = b;
    if (x->exposed != y->exposed)
        return x->exposed > y->exposed ? -1 : 1;
    return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

static void tell_transfer(kit_table *t, const kit_device *device, const inflight_pair *p) {
    kit_table_row(t);
    kit_cell_int(t, device->id);
    kit_cell_text(t, p->group->kind);
    kit_cell_int(t, p->send->start - device->window.start);
    kit_cell_int(t, p->send->end - p->send->start);
    kit_cell_int(t, p->flight);
    kit_cell_int(t, p->hidden);
    kit_cell_int(t, p->idle);
    kit_cell_int(t, p->recv_time);
    kit_cell_int(t, p->group->base);
    kit_cell_int(t, p->wait);
    kit_cell_int(t, p->latency);
    kit_cell_int(t, p->exposed);
    kit_cell_int(t, p->wait > 0 ? p->flight + p->wait : MILL_UNKNOWN);
    kit_cell_int(t, p->wait > 0 ? MILL_UNKNOWN : p->flight);
}

static void tell_worst(mill_run *run, kit_report *r, const inflight_analysis *a) {
    kit_table *t =
        kit_table_of(r, "transfers", "Transfers with most exposed time", NULL, transfer_columns);
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const inflight_device *d = &a->devices[i];
        rank *list = mill_scratch(run, d->n_pairs * sizeof *list);
        size_t n = 0;
        for (size_t k = 0; k < d->n_candidates; k++)
            if (inflight_is_pair(d, k)) {
                list[n] = (rank){d->exposed[n], k};
                n++;
            }
        qsort(list, n, sizeof *list, compare_exposed);
        for (size_t k = 0; k < n && k < (size_t)a->options->top; k++) {
            inflight_pair p = inflight_measure(d, list[k].candidate);
            tell_transfer(t, d->device, &p);
        }
    }
}

static const kit_column unpaired_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_TEXT, "phase", "phase", NULL},
    {MILL_KIND_NS, "start", "start", "From the window's start."},
    {MILL_KIND_NS, "dur", "duration", NULL},
    {MILL_KIND_TEXT, "reason", "why", NULL},
    {0},
};

static const char *const fates[INFLIGHT_FATES] = {
    [INFLIGHT_NO_PARTNER] = "no partner in the profile",
    [INFLIGHT_TOO_FAR] = "partner is further than max-flight",
    [INFLIGHT_OTHER_STEP] = "partner is in another step",
    [INFLIGHT_CROSSED] = "receive begins before the send ends",
    [INFLIGHT_NO_LABEL] = "neither send-regex nor recv-regex matches",
};

static void tell_unpaired(kit_report *r, const inflight_analysis *a) {
    static const char *const phases[] = {"unknown", "send", "receive"};
    kit_table *t = kit_table_of(r, "unpaired", "Kernels without a partner",
                                "No flight is counted for them.", unpaired_columns);
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const inflight_device *d = &a->devices[i];
        size_t told = 0;
        for (size_t k = 0; k < d->n_candidates && told < (size_t)a->options->top; k++) {
            const inflight_candidate *c = &d->candidates[k];
            const kit_activity *x = inflight_activity(d, k);
            if (!fates[c->fate])
                continue;
            told++;
            kit_table_row(t);
            kit_cell_int(t, d->device->id);
            kit_cell_text(t, d->groups[c->group].kind);
            kit_cell_text(t, phases[c->role]);
            kit_cell_int(t, x->start - d->device->window.start);
            kit_cell_int(t, x->end - x->start);
            kit_cell_text(t, fates[c->fate]);
        }
    }
}

/* ---------------------------------------------------------------- lanes */

/* One flight on the time axis of its device. */
typedef struct flight {
    kit_interval time;
    int64_t sent; /* start of its send */
    uint32_t group, lane;
} flight;

typedef struct landing {
    int64_t time;
    uint32_t flight;
} landing;

static int compare_landings(const void *a, const void *b) {
    const landing *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->flight > y->flight) - (x->flight < y->flight);
}

static flight *list_flights(mill_run *run, const inflight_device *d) {
    flight *list = mill_scratch(run, d->n_pairs * sizeof *list);
    int64_t base = d->device->window.start;
    size_t n = 0;
    for (size_t i = 0; i < d->n_candidates; i++) {
        if (!inflight_is_pair(d, i))
            continue;
        const kit_activity *s = inflight_activity(d, i);
        const kit_activity *r = inflight_activity(d, d->candidates[i].partner);
        list[n++] = (flight){.time = {s->end - base, r->start - base},
                             .sent = s->start - base,
                             .group = d->candidates[i].group};
    }
    return list;
}

/* Gives each flight a lane that is free before its send starts. Only
 * flights of earlier sends can have landed by then, so that theirs are chosen already. */
static void choose_lanes(mill_run *run, flight *flights, size_t n) {
    landing *landings = mill_scratch(run, n * sizeof *landings);
    uint32_t *free_lanes = mill_scratch(run, n * sizeof *free_lanes);
    uint32_t lanes = 0;
    size_t n_free = 0, landed = 0;
    for (size_t i = 0; i < n; i++)
        landings[i] = (landing){flights[i].time.end, (uint32_t)i};
    qsort(landings, n, sizeof *landings, compare_landings);
    for (size_t i = 0; i < n; i++) {
        for (; landings[landed].time < flights[i].sent; landed++)
            free_lanes[n_free++] = flights[landings[landed].flight].lane;
        flights[i].lane = n_free > 0 ? free_lanes[--n_free] : lanes++;
    }
}

static int compare_lanes(const void *a, const void *b) {
    const flight *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return (x->time.start > y->time.start) - (x->time.start < y->time.start);
}

static void tell_lane(mill_run *run, kit_report *r, const inflight_device *d, const flight *flights,
                      size_t n, const char *const *kinds) {
    int64_t *start = mill_scratch(run, n * sizeof *start);
    int64_t *end = mill_scratch(run, n * sizeof *end);
    uint32_t *group = mill_scratch(run, n * sizeof *group);
    for (size_t i = 0; i < n; i++) {
        start[i] = flights[i].time.start;
        end[i] = flights[i].time.end;
        group[i] = flights[i].group;
    }
    char id[2 * KIT_NUMBER_MAX + 16];
    snprintf(id, sizeof id, "in_flight_%s_%u", d->device->number, (unsigned)flights[0].lane);
    kit_lane(r, &(mill_lane){
                    .id = id,
                    .label = "in flight",
                    .rank = MILL_UNKNOWN,
                    .device = d->device->id,
                    .stream = MILL_UNKNOWN,
                    .base_ns = d->device->window.start,
                    .n = n,
                    .start = start,
                    .end = end,
                    .text = group,
                    .cls = group,
                    .texts = kinds,
                    .n_texts = d->n_groups,
                });
}

static void tell_lanes(mill_run *run, kit_report *r, const inflight_device *d) {
    flight *flights = list_flights(run, d);
    const char **kinds = mill_scratch(run, d->n_groups * sizeof *kinds);
    for (size_t g = 0; g < d->n_groups; g++)
        kinds[g] = d->groups[g].kind;
    choose_lanes(run, flights, d->n_pairs);
    qsort(flights, d->n_pairs, sizeof *flights, compare_lanes);
    for (size_t first = 0, end; first < d->n_pairs; first = end) {
        for (end = first + 1; end < d->n_pairs && flights[end].lane == flights[first].lane;)
            end++;
        tell_lane(run, r, d, flights + first, end - first, kinds);
    }
}

/* ---------------------------------------------------------------- notes */

static void note_device(kit_report *r, const inflight_analysis *a, const inflight_device *d) {
    size_t whole = 0;
    for (size_t i = 0; i < d->n_groups; i++)
        whole += d->groups[i].whole ? d->groups[i].n : 0;
    if (a->options->mode == INFLIGHT_OFF)
        return;
    if (d->not_communication > 0)
        kit_note(r, MILL_WARNING, "not_communication",
                 "Device %s: %lld kernels match ll-regex but are no communication by the rules, so "
                 "they are left out: write a rule for them (the reader's option rules).",
                 d->device->number, (long long)d->not_communication);
    if (d->n_candidates == 0)
        kit_note(r, MILL_INFO, "no_candidates",
                 "Device %s: no kernel's name matches ll-regex, so that no flight is inferred. If "
                 "transfers are sent and received by kernels of other names, give it those.",
                 d->device->number);
    if (whole > 0)
        kit_note(r, MILL_INFO, "whole_kernels",
                 "Device %s: %zu kernels count as whole transfers, since their stream does not "
                 "compute between them; inflight = on pairs them all the same.",
                 d->device->number, whole);
    if (d->n_unpaired > 0)
        kit_note(r, MILL_WARNING, "unpaired",
                 "Device %s: %zu kernels have no partner; no flight is counted for them.",
                 d->device->number, d->n_unpaired);
}

static void tell_summary(kit_report *r, const inflight_analysis *a) {
    inflight_group t = {0};
    for (size_t i = 0; i < a->all.n_devices; i++) {
        inflight_group one = total_of(&a->devices[i]);
        t.pairs += one.pairs;
        t.hidden = kit_add(t.hidden, one.hidden);
        t.latency = kit_add(t.latency, one.latency);
        t.exposed = kit_add(t.exposed, one.exposed);
        t.wait = kit_add(t.wait, one.wait);
    }
    char hidden[KIT_NUMBER_MAX], exposed[KIT_NUMBER_MAX], wait[KIT_NUMBER_MAX];
    if (a->all.n_devices == 0)
        kit_report_summary(r, "No device events: nothing can be said of transfers.");
    else if (a->options->mode == INFLIGHT_OFF)
        kit_report_summary(r, "Inference is off: the figures are of kernels only.");
    else if (t.pairs == 0)
        kit_report_summary(r, "No transfer in flight was found: the figures are of kernels only.");
    else
        kit_report_summary(r,
                           "%zu transfers: %s of their latency is hidden in flight, %s µs are "
                           "exposed, %s µs of that waiting for data.",
                           t.pairs, kit_format_percent(hidden, t.hidden, t.latency),
                           kit_format_us(exposed, t.exposed, KIT_GROUP),
                           kit_format_us(wait, t.wait, KIT_GROUP));
}

mill_report *inflight_tell(mill_run *run, const inflight_analysis *a) {
    kit_report *r = kit_report_begin(run, "inflight", "Transfers in flight",
                                     mill_at(a->all.trace, a->all.trace->path));
    size_t groups = 0, unpaired = 0, pairs = 0;
    tell_summary(r, a);
    kit_note_trace(run, r, a->all.trace);
    for (size_t i = 0; i < a->all.n_devices; i++) {
        const inflight_device *d = &a->devices[i];
        note_device(r, a, d);
        tell_transfers(r, d, d->device->scope);
        tell_modes_of(r, d, d->device->scope);
        groups += d->n_groups;
        unpaired += d->n_unpaired;
        pairs += d->n_pairs;
    }
    if (a->all.n_devices > 0)
        tell_modes(r, a);
    if (groups > 0)
        tell_groups(r, a);
    if (pairs > 0)
        tell_worst(run, r, a);
    if (unpaired > 0)
        tell_unpaired(r, a);
    for (size_t i = 0; i < a->all.n_devices; i++)
        tell_lanes(run, r, &a->devices[i]);
    return kit_report_end(r);
}
