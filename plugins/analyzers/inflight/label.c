/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which candidates send and which receive: by annotations, or by their order.
 *
 * In order, a group's launches go round a cycle of `depth` sends and as many receives. Where in the
 * cycle the profile begins is unknown, so every place is tried, and the one kept for which most
 * launches lie as they should beside the experts' computation: a dispatch is received right before
 * it, a combine is sent right after.
 */
#include "inflight.h"

#include <stdlib.h>
#include <string.h>

typedef struct order {
    int64_t *experts; /* starts of the experts' kernels, rising */
    int64_t *starts;  /* of all candidates, rising */
    int64_t *ends;    /* of all candidates, rising */
    size_t n_experts, n;
} order;

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* How many of the sorted times are below `time`. */
static size_t count_below(const int64_t *times, size_t n, int64_t time) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_experts(mill_run *run, const inflight_analysis *a, uint32_t name) {
    const char *text = mill_name(a->all.trace, name);
    return text && run->host->regex_match(a->regexes->expert, text, strlen(text), NULL, 0);
}

/* When the experts' kernels begin. */
static void list_experts(mill_run *run, const inflight_analysis *a, const inflight_device *d,
                         order *o) {
    const mill_trace *trace = a->all.trace;
    enum { NOT_ASKED, NO, YES };
    uint8_t *matches = mill_scratch(run, trace->names.texts.n + 1);
    size_t room = 0;
    for (int fill = 0; fill < 2; fill++) {
        if (fill)
            o->experts = mill_scratch(run, room * sizeof *o->experts);
        for (size_t i = 0; i < d->device->n; i++) {
            const kit_activity *x = &d->device->v[i];
            if (x->cls != KIT_COMP)
                continue;
            uint32_t name = mill_u32(trace, &trace->gpu.name, x->row);
            if (matches[name] == NOT_ASKED)
                matches[name] = is_experts(run, a, name) ? YES : NO;
            if (matches[name] == NO)
                continue;
            if (fill)
                o->experts[o->n_experts++] = x->start;
            else
                room++;
        }
    }
}

static order order_of(mill_run *run, const inflight_analysis *a, const inflight_device *d) {
    order o = {.n = d->n_candidates};
    list_experts(run, a, d, &o);
    o.starts = mill_scratch(run, o.n * sizeof *o.starts);
    o.ends = mill_scratch(run, o.n * sizeof *o.ends);
    for (size_t i = 0; i < o.n; i++) {
        o.starts[i] = inflight_activity(d, i)->start;
        o.ends[i] = inflight_activity(d, i)->end;
    }
    qsort(o.ends, o.n, sizeof *o.ends, compare_times);
    return o;
}

static bool experts_begin_in(const order *o, int64_t start, int64_t end) {
    size_t at = count_below(o->experts, o->n_experts, start);
    return at < o->n_experts && o->experts[at] < end;
}

/* An experts' kernel begins after it, before the next candidate. */
static bool before_experts(const order *o, const kit_activity *x) {
    size_t next = count_below(o->starts, o->n, x->end);
    return experts_begin_in(o, x->end, next < o->n ? o->starts[next] : INT64_MAX);
}

/* An experts' kernel begins before it, after the candidate before. */
static bool after_experts(const order *o, const kit_activity *x) {
    size_t before = count_below(o->ends, o->n, x->start + 1);
    return experts_begin_in(o, before > 0 ? o->ends[before - 1] : INT64_MIN, x->start);
}

static inflight_role role_at(size_t place, size_t depth) {
    return place % (2 * depth) < depth ? INFLIGHT_SEND : INFLIGHT_RECEIVE;
}

static void label_by_order(const order *o, inflight_device *d, const inflight_group *g,
                           size_t depth) {
    bool dispatch = strcmp(g->kind, "dispatch") == 0;
    inflight_role telling = dispatch ? INFLIGHT_RECEIVE : INFLIGHT_SEND;
    size_t score[4] = {0}, best = 0; /* depth is at most 2 */
    for (size_t i = 0; i < g->n; i++) {
        const kit_activity *x = inflight_activity(d, g->members[i]);
        bool as_it_should = dispatch ? before_experts(o, x) : after_experts(o, x);
        for (size_t offset = 0; offset < 2 * depth && as_it_should; offset++)
            score[offset] += role_at(i + offset, depth) == telling;
    }
    for (size_t offset = 1; offset < 2 * depth; offset++)
        best = score[offset] > score[best] ? offset : best;
    for (size_t i = 0; i < g->n; i++)
        d->candidates[g->members[i]].role = (uint8_t)role_at(i + best, depth);
}

/* ---------------------------------------------------------------- annotations */

typedef struct words {
    mill_run *run;
    const inflight_analysis *a;
    uint8_t *of_name;  /* 1 + inflight_role of each name of the trace; 0: not asked yet */
    uint8_t *of_place; /* the same of each place */
} words;

static inflight_role role_of_name(words *w, uint32_t name) {
    const char *text = mill_name(w->a->all.trace, name);
    const mill_host *host = w->run->host;
    if (!text)
        return INFLIGHT_UNTOLD;
    if (w->of_name[name] == 0) {
        size_t length = strlen(text);
        inflight_role role = INFLIGHT_UNTOLD;
        if (host->regex_match(w->a->regexes->send, text, length, NULL, 0))
            role = INFLIGHT_SEND;
        else if (host->regex_match(w->a->regexes->recv, text, length, NULL, 0))
            role = INFLIGHT_RECEIVE;
        w->of_name[name] = (uint8_t)(1 + role);
    }
    return (inflight_role)(w->of_name[name] - 1);
}

/* What the innermost annotation says that says anything. */
static inflight_role role_of_place(words *w, uint32_t place) {
    const mill_cpu *cpu = &w->a->all.trace->cpu;
    if (place == MILL_NONE)
        return INFLIGHT_UNTOLD;
    if (w->of_place[place] == 0) {
        inflight_role role = INFLIGHT_UNTOLD;
        uint32_t row = w->a->all.places->annotation[place];
        while (row != MILL_NONE && role == INFLIGHT_UNTOLD) {
            role = role_of_name(w, mill_u32(w->a->all.trace, &cpu->name, row));
            row = mill_u32(w->a->all.trace, &cpu->parent, row);
        }
        w->of_place[place] = (uint8_t)(1 + role);
    }
    return (inflight_role)(w->of_place[place] - 1);
}

static void label_by_words(mill_run *run, const inflight_analysis *a, inflight_device *d) {
    const mill_trace *trace = a->all.trace;
    words w = {run, a, mill_scratch(run, trace->names.texts.n + 1), NULL};
    if (a->all.places)
        w.of_place = mill_scratch(run, a->all.places->n_places + 1);
    for (size_t i = 0; i < d->n_candidates; i++) {
        const kit_activity *x = inflight_activity(d, i);
        inflight_role role = role_of_name(&w, mill_u32(trace, &trace->gpu.name, x->row));
        if (role == INFLIGHT_UNTOLD)
            role = role_of_place(&w, x->place);
        d->candidates[i].role = (uint8_t)role;
    }
}

void inflight_label(mill_run *run, const inflight_analysis *a, inflight_device *d) {
    if (a->options->pairing == INFLIGHT_ANNOTATION) {
        label_by_words(run, a, d);
        return;
    }
    bool paired = false;
    for (size_t i = 0; i < d->n_groups; i++)
        paired |= !d->groups[i].whole;
    if (!paired)
        return;
    order o = order_of(run, a, d);
    for (size_t i = 0; i < d->n_groups; i++)
        if (!d->groups[i].whole)
            label_by_order(&o, d, &d->groups[i], (size_t)inflight_depth(a->options));
}
