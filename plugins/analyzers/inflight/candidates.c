/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kernels that may be phases of a transfer, groups those that look alike, and tells
 * groups launched in two phases from those whose kernels are whole transfers. */
#include "inflight.h"

#include <string.h>
#include <tracemill/kit/intern.h>

#define CANCEL_ROWS (1u << 16) /* activities between two looks at `cancelled` */

/* What DeepEP clears its buffers with: no transfer. */
#define NO_TRANSFER "clean_"

/* ---------------------------------------------------------------- names */

static bool found(mill_run *run, const mill_regex *regex, const char *text) {
    return regex && text && run->host->regex_match(regex, text, strlen(text), NULL, 0);
}

static bool name_matches(mill_run *run, const inflight_analysis *a, uint32_t name) {
    const char *text = mill_name(a->all.trace, name);
    return text && !strstr(text, NO_TRANSFER) && found(run, a->regexes->ll, text);
}

/* The kind by the trace's rules, if they tell which half it is; else by its name. */
static const char *kind_of(const inflight_analysis *a, uint32_t name) {
    const char *kind = mill_name_kind(a->all.trace, name);
    const char *text = mill_name(a->all.trace, name);
    if (kind && (strcmp(kind, "dispatch") == 0 || strcmp(kind, "combine") == 0))
        return kind;
    const char *dispatch = strstr(text, "dispatch"), *combine = strstr(text, "combine");
    if (dispatch && (!combine || dispatch < combine))
        return "dispatch";
    return combine ? "combine" : kind ? kind : "(no kind)";
}

/* ---------------------------------------------------------------- candidates */

static mill_status list_candidates(mill_run *run, const inflight_analysis *a, inflight_device *d) {
    const mill_trace *trace = a->all.trace;
    enum { NOT_ASKED, NO, YES };
    uint8_t *matches = mill_scratch(run, trace->names.texts.n + 1);
    size_t room = 0;
    for (int fill = 0; fill < 2; fill++) {
        if (fill && room == 0)
            break;
        if (fill)
            d->candidates = mill_scratch(run, room * sizeof *d->candidates);
        for (size_t i = 0; i < d->device->n; i++) {
            const kit_activity *x = &d->device->v[i];
            if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
                return MILL_E_CANCELLED;
            if (x->cat != MILL_GPU_KERNEL)
                continue;
            uint32_t name = mill_u32(trace, &trace->gpu.name, x->row);
            if (matches[name] == NOT_ASKED)
                matches[name] = name_matches(run, a, name) ? YES : NO;
            if (matches[name] == NO)
                continue;
            if (fill && x->cls == KIT_COMM)
                d->candidates[d->n_candidates++] =
                    (inflight_candidate){.activity = (uint32_t)i, .role = INFLIGHT_UNTOLD};
            else if (fill)
                d->not_communication++;
            else
                room++;
        }
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- groups */

/* What the launches of a group have in common. Where annotations tell the phases apart, names and
 * grids of the two may differ. */
static inflight_group look_of(const inflight_analysis *a, const kit_activity *x) {
    const mill_trace *trace = a->all.trace;
    uint32_t name = mill_u32(trace, &trace->gpu.name, x->row);
    inflight_group g = {.kind = kind_of(a, name),
                        .name = MILL_NONE,
                        .grid = MILL_UNKNOWN,
                        .block = MILL_UNKNOWN,
                        .base = MILL_UNKNOWN};
    if (a->options->pairing != INFLIGHT_ANNOTATION) {
        g.name = name;
        g.grid = mill_i64(trace, &trace->gpu.grid, x->row);
        g.block = mill_i64(trace, &trace->gpu.block, x->row);
    }
    return g;
}

static uint32_t number_of(kit_intern *looks, const inflight_group *g) {
    const int64_t key[] = {g->name, g->grid, g->block};
    if (g->name == MILL_NONE)
        return kit_intern_add(looks, g->kind, strlen(g->kind), 0);
    return kit_intern_add(looks, (const char *)key, sizeof key, 0);
}

/* Numbers the groups by their first launch. */
static void make_groups(mill_run *run, const inflight_analysis *a, inflight_device *d) {
    kit_intern *looks = kit_intern_create();
    for (size_t i = 0; i < d->n_candidates; i++) {
        inflight_group g = look_of(a, inflight_activity(d, i));
        d->candidates[i].group = number_of(looks, &g);
    }
    d->n_groups = kit_intern_count(looks);
    kit_intern_destroy(looks);
    d->groups = mill_scratch(run, d->n_groups * sizeof *d->groups);
    for (size_t i = 0; i < d->n_candidates; i++) {
        inflight_group *g = &d->groups[d->candidates[i].group];
        if (g->n++ == 0) {
            *g = look_of(a, inflight_activity(d, i));
            g->n = 1;
        }
    }
    uint32_t *members = mill_scratch(run, d->n_candidates * sizeof *members);
    for (size_t g = 0; g < d->n_groups; g++) {
        d->groups[g].members = members;
        members += d->groups[g].n;
        d->groups[g].n = 0;
    }
    for (size_t i = 0; i < d->n_candidates; i++) {
        inflight_group *g = &d->groups[d->candidates[i].group];
        g->members[g->n++] = (uint32_t)i;
    }
}

/* ---------------------------------------------------------------- two phases or one */

/* Counts how often the stream of a group's launch computes before the group's next one. A stream
 * runs its kernels in order, so that its last one to begin is also the last one to end. */
static void count_between(mill_run *run, const inflight_analysis *a, inflight_device *d) {
    const kit_activity **last = mill_scratch(run, a->all.n_streams * sizeof *last);
    const kit_activity **before = mill_scratch(run, d->n_groups * sizeof *before);
    size_t next = 0;
    for (size_t i = 0; i < d->device->n && next < d->n_candidates; i++) {
        const kit_activity *x = &d->device->v[i];
        if (x->cls == KIT_COMP)
            last[x->stream] = x;
        if (d->candidates[next].activity != i)
            continue;
        uint32_t g = d->candidates[next++].group;
        const kit_activity *sent = before[g], *comp = sent ? last[sent->stream] : NULL;
        d->groups[g].between += comp && comp->start >= sent->end && comp->end <= x->start;
        before[g] = x;
    }
}

/* In the low-latency mode with a receive hook both phases run on the stream that computes, with
 * computation between them; without it one kernel does both, on the stream of communication. */
static void choose_modes(const inflight_analysis *a, inflight_device *d) {
    bool sure = a->options->mode == INFLIGHT_ON || a->options->pairing == INFLIGHT_ANNOTATION;
    for (size_t i = 0; i < d->n_groups; i++) {
        inflight_group *g = &d->groups[i];
        g->whole = !sure && g->between * 2 < g->n - 1;
    }
}

mill_status inflight_find_candidates(mill_run *run, inflight_analysis *a, inflight_device *d) {
    mill_status status = list_candidates(run, a, d);
    if (status != MILL_OK)
        return status;
    make_groups(run, a, d);
    count_between(run, a, d);
    choose_modes(a, d);
    return MILL_OK;
}
