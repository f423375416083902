/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kernels that may be phases of a transfer, groups those that look alike, and tells
 * groups launched in two phases from those whose kernels are whole transfers. */
#include "inflight.h"

#include <stdlib.h>
#include <string.h>

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
        if (fill)
            d->candidates = mill_scratch(run, room * sizeof *d->candidates);
        for (size_t i = 0; i < d->device->n; i++) {
            const kit_activity *x = &d->device->v[i];
            if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
                return MILL_E_CANCELLED;
            uint32_t name = mill_u32(trace, &trace->gpu.name, x->row);
            if (x->cat != MILL_GPU_KERNEL)
                continue;
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

typedef struct look {
    const char *kind;
    uint32_t name;
    int64_t grid, block;
    size_t candidate;
} look;

static int compare_looks(const look *x, const look *y) {
    int kind = strcmp(x->kind, y->kind);
    if (kind != 0)
        return kind < 0 ? 1 : -1; /* dispatch before combine */
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->grid != y->grid)
        return x->grid < y->grid ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

static int compare_in_order(const void *a, const void *b) {
    const look *x = a, *y = b;
    int order = compare_looks(x, y);
    return order ? order : (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* Where annotations tell the phases apart, names and grids of the two may differ. */
static look look_of(const inflight_analysis *a, const inflight_device *d, size_t candidate) {
    const mill_trace *trace = a->all.trace;
    uint32_t row = inflight_activity(d, candidate)->row;
    uint32_t name = mill_u32(trace, &trace->gpu.name, row);
    look l = {kind_of(a, name), MILL_NONE, MILL_UNKNOWN, MILL_UNKNOWN, candidate};
    if (a->options->pairing != INFLIGHT_ANNOTATION) {
        l.name = name;
        l.grid = mill_i64(trace, &trace->gpu.grid, row);
        l.block = mill_i64(trace, &trace->gpu.block, row);
    }
    return l;
}

static void make_groups(mill_run *run, const inflight_analysis *a, inflight_device *d) {
    size_t n = d->n_candidates;
    look *looks = mill_scratch(run, n * sizeof *looks);
    size_t *members = mill_scratch(run, n * sizeof *members);
    for (size_t i = 0; i < n; i++)
        looks[i] = look_of(a, d, i);
    qsort(looks, n, sizeof *looks, compare_in_order);
    for (size_t i = 0; i < n; i++)
        d->n_groups += i == 0 || compare_looks(&looks[i - 1], &looks[i]) != 0;
    d->groups = mill_scratch(run, d->n_groups * sizeof *d->groups);
    inflight_group *g = NULL;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_looks(&looks[i - 1], &looks[i]) != 0) {
            g = g ? g + 1 : d->groups;
            *g = (inflight_group){looks[i].kind,  looks[i].name,          looks[i].grid,
                                  looks[i].block, .members = &members[i], .base = MILL_UNKNOWN};
        }
        g->members[g->n++] = looks[i].candidate;
        d->candidates[looks[i].candidate].group = (uint32_t)(g - d->groups);
    }
}

/* ---------------------------------------------------------------- two phases or one */

typedef struct compute {
    uint32_t stream;
    int64_t start, end;
} compute;

static int compare_computes(const void *a, const void *b) {
    const compute *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static compute *list_computes(mill_run *run, const inflight_device *d, size_t *ret_n) {
    size_t n = 0;
    compute *list = mill_scratch(run, d->device->n * sizeof *list);
    for (size_t i = 0; i < d->device->n; i++)
        if (d->device->v[i].cls == KIT_COMP)
            list[n++] =
                (compute){d->device->v[i].stream, d->device->v[i].start, d->device->v[i].end};
    qsort(list, n, sizeof *list, compare_computes);
    *ret_n = n;
    return list;
}

/* Computation runs on a's stream between a and b. A stream runs its kernels in order, so that the
 * first one after a is also the first to end. */
static bool computes_between(const compute *list, size_t n, const kit_activity *a,
                             const kit_activity *b) {
    compute after = {a->stream, a->end, 0};
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_computes(&list[middle], &after) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && list[low].stream == a->stream && list[low].end <= b->start;
}

/* In the low-latency mode with a receive hook both phases run on the stream that computes, with
 * computation between them; without it one kernel does both, on the stream of communication. */
static void choose_modes(mill_run *run, const inflight_analysis *a, inflight_device *d) {
    size_t n;
    const compute *list = list_computes(run, d, &n);
    for (size_t i = 0; i < d->n_groups; i++) {
        inflight_group *g = &d->groups[i];
        for (size_t k = 1; k < g->n; k++)
            g->between += computes_between(list, n, inflight_activity(d, g->members[k - 1]),
                                           inflight_activity(d, g->members[k]));
        bool sure = a->options->mode == INFLIGHT_ON || a->options->pairing == INFLIGHT_ANNOTATION;
        g->whole = !sure && g->between * 2 < g->n - 1;
    }
}

mill_status inflight_find_candidates(mill_run *run, inflight_analysis *a, inflight_device *d) {
    mill_status status = list_candidates(run, a, d);
    if (status != MILL_OK)
        return status;
    make_groups(run, a, d);
    choose_modes(run, a, d);
    return MILL_OK;
}
