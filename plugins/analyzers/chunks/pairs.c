/* SPDX-License-Identifier: Apache-2.0 */
/* Finds F&B: a forward and a backward chunk that a device runs at once.
 *
 * A heuristic, unless an annotation says so: two chunks are a pair if in their common time both are
 * active for at least `pair-share` of the time in which the less active of them is.
 */
#include "chunks.h"

#include <stdlib.h>

typedef struct finding {
    kit_cover forward, backward, both; /* when chunks of either kind, and of both, are active */
    kit_cover comp, comm;
    const chunks_sample **f, **b; /* by start */
    size_t n_f, n_b;
} finding;

typedef struct pairs {
    int64_t n, span, bound; /* sums */
} pairs;

static void cover(mill_run *run, kit_cover *c, const kit_set *set) {
    kit_cover_init(c, set, mill_scratch(run, (set->n + 1) * sizeof(int64_t)));
}

enum { BACKWARD, FORWARD };

/* In what sort of chunk an activity is. */
static uint32_t direction(const void *context, const kit_activity *x) {
    const chunks_analysis *a = context;
    if (!chunks_counts(a, x->place))
        return MILL_NONE;
    return a->all.places->chunk[x->place] == MILL_CHUNK_FORWARD ? FORWARD : BACKWARD;
}

static int compare_starts(const void *a, const void *b) {
    const chunks_sample *x = *(const chunks_sample *const *)a;
    const chunks_sample *y = *(const chunks_sample *const *)b;
    if (x->span.start != y->span.start)
        return x->span.start < y->span.start ? -1 : 1;
    return (x > y) - (x < y);
}

static size_t list_chunks(mill_run *run, const chunks_device *d, mill_chunk chunk,
                          const chunks_sample ***ret_list) {
    const chunks_sample **list = mill_scratch(run, (size_t)d->n[chunk] * sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < d->n_samples; i++)
        if (d->samples[i].chunk == chunk)
            list[n++] = &d->samples[i];
    qsort(list, n, sizeof *list, compare_starts);
    *ret_list = list;
    return n;
}

static int compare_micro_batches(const void *a, const void *b) {
    const chunks_sample *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->micro_batch != y->micro_batch)
        return x->micro_batch < y->micro_batch ? -1 : 1;
    return (x->instance > y->instance) - (x->instance < y->instance);
}

/* The gradients of the weights that belong to a backward chunk, or NULL. */
static const chunks_sample *weight_of(const chunks_device *d, const chunks_sample *backward) {
    const chunks_sample *first = /* samples stand in the order of chunks */
        d->samples + d->n[MILL_CHUNK_FORWARD] + d->n[MILL_CHUNK_BACKWARD];
    return bsearch(backward, first, (size_t)d->n[MILL_CHUNK_WEIGHT], sizeof *first,
                   compare_micro_batches);
}

static kit_interval common(kit_interval a, kit_interval b) {
    kit_interval c = {chunks_longer(a.start, b.start), a.end < b.end ? a.end : b.end};
    return c.start < c.end ? c : (kit_interval){c.start, c.start};
}

static void add_pair(pairs *p, const finding *f, kit_interval span) {
    int64_t comp = kit_covered(&f->comp, span), comm = kit_covered(&f->comm, span);
    p->n++;
    p->span = kit_add(p->span, span.end - span.start);
    p->bound = kit_add(p->bound, chunks_longer(comp, comm));
}

/* Walks both lists by time; a chunk is part of one pair at most. */
static void weave(const chunks_analysis *a, const chunks_device *d, const finding *f, pairs *p) {
    for (size_t i = 0, j = 0; i < f->n_f && j < f->n_b;) {
        kit_interval x = f->f[i]->span, y = f->b[j]->span;
        int64_t both = kit_covered(&f->both, common(x, y));
        int64_t forward = kit_covered(&f->forward, x), backward = kit_covered(&f->backward, y);
        int64_t less = forward < backward ? forward : backward;
        if (both == 0 || (double)both < a->options->pair_share * (double)less) {
            x.end <= y.end ? i++ : j++;
            continue;
        }
        kit_interval span = {x.start < y.start ? x.start : y.start, chunks_longer(x.end, y.end)};
        const chunks_sample *w = weight_of(d, f->b[j]);
        if (w && w->span.start <= span.end) /* woven in too, not put off */
            span.end = chunks_longer(span.end, w->span.end);
        add_pair(p, f, span);
        i++, j++;
    }
}

void chunks_find_pairs(mill_run *run, const chunks_analysis *a, chunks_device *d) {
    finding f = {0};
    pairs p = {0};
    const kit_set *sets = d->device->sets;
    cover(run, &f.comp, &sets[KIT_COMP]);
    cover(run, &f.comm, &sets[KIT_COMM]);
    for (size_t i = 0; i < d->n_samples; i++)
        if (d->samples[i].chunk == MILL_CHUNK_PAIR)
            add_pair(&p, &f, d->samples[i].span);
    if (p.n == 0 && d->n[MILL_CHUNK_FORWARD] > 0 && d->n[MILL_CHUNK_BACKWARD] > 0) {
        kit_set active[2];
        kit_sets_of(run, d->device, direction, a, active, 2);
        size_t most = active[FORWARD].n + active[BACKWARD].n;
        kit_set both = {mill_scratch(run, most * sizeof(kit_interval)), 0};
        both.n = kit_intervals_intersect(active[FORWARD].v, active[FORWARD].n, active[BACKWARD].v,
                                         active[BACKWARD].n, both.v);
        cover(run, &f.forward, &active[FORWARD]);
        cover(run, &f.backward, &active[BACKWARD]);
        cover(run, &f.both, &both);
        f.n_f = list_chunks(run, d, MILL_CHUNK_FORWARD, &f.f);
        f.n_b = list_chunks(run, d, MILL_CHUNK_BACKWARD, &f.b);
        weave(a, d, &f, &p);
    }
    d->n[MILL_CHUNK_PAIR] = p.n;
    d->pair = chunks_mean(p.span, p.n * a->per_chunk);
    d->pair_bound = chunks_mean(p.bound, p.n * a->per_chunk);
}
