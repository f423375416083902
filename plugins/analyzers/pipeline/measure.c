/* SPDX-License-Identifier: Apache-2.0 */
/* How each member spends the span of a step's pipeline: computing, or idle for which cause; and in
 * which order it takes its micro-batches. */
#include "pipeline.h"

#include <stdlib.h>
#include <tracemill/kit/stats.h>

static void widen(kit_interval *to, int64_t start, int64_t end) {
    to->start = start < to->start ? start : to->start;
    to->end = end > to->end ? end : to->end;
}

/* ---------------------------------------------------------------- one cell */

/* The union of the transfers of a cell. */
static kit_set transfers_of(const pipe_analysis *a, const pipe_cell *cell) {
    kit_set set = {mill_scratch(a->run, cell->n * sizeof *set.v), 0};
    for (size_t i = 0; i < cell->n; i++) {
        const pipe_event *e = &cell->v[i];
        if (pipe_communicates(e->op->kind) && e->start + e->wait < e->end)
            set.v[set.n++] = (kit_interval){e->start + e->wait, e->end};
    }
    set.n = kit_intervals_normalise(set.v, set.n);
    return set;
}

/* What a gap before an operation is for. Forward work comes from the stage before, backward work
 * from the one behind; with several chunks the ends of the pipeline get theirs from each other. */
static int64_t *cause_of(const pipe_analysis *a, const pipe_event *e, bool first, pipe_time *t) {
    int64_t stage = a->members[e->member].stage;
    if (first)
        return &t->startup;
    if (e->op->kind == PIPE_FORWARD && (stage > 0 || e->chunk > 0))
        return &t->wait_forward;
    if (e->op->kind == PIPE_BACKWARD &&
        (stage + 1 < (int64_t)a->n_stages || e->chunk < a->last_chunk))
        return &t->wait_backward;
    return &t->own;
}

static void add_gap(pipe_time *t, int64_t *cause, const kit_set *transfers, kit_interval gap) {
    if (gap.start >= gap.end)
        return;
    int64_t moved = kit_intervals_within(transfers->v, transfers->n, gap.start, gap.end);
    t->transfer += moved;
    *cause += gap.end - gap.start - moved;
}

static void count_event(pipe_time *t, const pipe_event *e, int64_t *live) {
    t->n_forward += e->op->kind == PIPE_FORWARD;
    t->n_backward += e->op->kind == PIPE_BACKWARD;
    t->n_p2p += pipe_communicates(e->op->kind);
    *live += (e->op->kind == PIPE_FORWARD) - (e->op->kind == PIPE_BACKWARD);
    t->live = *live > t->live ? *live : t->live;
}

static void measure_cell(const pipe_analysis *a, pipe_cell *cell, kit_interval span) {
    pipe_time *t = &cell->time;
    kit_set transfers = transfers_of(a, cell);
    int64_t last = span.start, covered = 0, live = 0, compute = 0;
    bool first = true;
    for (size_t i = 0; i < cell->n; i++) {
        const pipe_event *e = &cell->v[i];
        count_event(t, e, &live);
        if (!pipe_computes(e->op->kind))
            continue;
        add_gap(t, cause_of(a, e, first, t), &transfers, (kit_interval){last, e->start});
        covered += e->end > last ? e->end - (e->start > last ? e->start : last) : 0;
        compute += e->op->owned;
        t->at_once += e->end - e->start;
        last = e->end > last ? e->end : last;
        first = false;
    }
    add_gap(t, &t->tail, &transfers, (kit_interval){last, span.end});
    t->span = span.end - span.start;
    t->compute = compute < covered ? compute : covered; /* timers may overlap a little */
    t->inside = covered - t->compute;
    t->bubble = t->span - t->compute;
    t->at_once -= covered;
    t->sent_and_received = kit_intervals_length(transfers.v, transfers.n);
}

/* ---------------------------------------------------------------- order */

/* Operation i of a stage with m micro-batches: of 1F1B, which warms up with one forward more for
 * each stage behind it (Narayanan et al. 2021, arXiv:2104.04473, section 2.2), or of GPipe. */
static void right_op(pipe_order order, size_t i, size_t warm_up, size_t m, pipe_kind *ret_kind,
                     size_t *ret_micro_batch) {
    size_t w = order == PIPE_GPIPE || warm_up > m ? m : warm_up, steady = 2 * (m - w);
    bool forward = i < w || (i < w + steady && (i - w) % 2 == 0);
    *ret_kind = forward ? PIPE_FORWARD : PIPE_BACKWARD;
    if (i < w)
        *ret_micro_batch = i;
    else if (i < w + steady)
        *ret_micro_batch = (i - w) / 2 + (forward ? w : 0);
    else
        *ret_micro_batch = i - m;
}

static bool has_order(const pipe_analysis *a, const pipe_cell *cell, pipe_order order) {
    size_t m = (size_t)cell->time.n_forward, k = 0;
    if (cell->time.n_backward != cell->time.n_forward || m == 0)
        return false;
    size_t warm_up = a->n_stages - 1 - (size_t)a->members[cell->v->member].stage;
    for (size_t i = 0; i < cell->n; i++) {
        const pipe_event *e = &cell->v[i];
        pipe_kind kind;
        size_t micro_batch;
        if (!pipe_computes(e->op->kind))
            continue;
        right_op(order, k++, warm_up, m, &kind, &micro_batch);
        if (e->op->kind != kind || e->chunk != 0 || e->micro_batch != (int64_t)micro_batch)
            return false;
    }
    return true;
}

static pipe_order order_of_pass(const pipe_analysis *a, const pipe_pass *pass) {
    for (pipe_order order = PIPE_1F1B; order <= PIPE_GPIPE; order++) {
        bool same = true;
        for (size_t s = 0; s < a->n_stages && same; s++)
            same = has_order(a, pipe_cell_of(a, pass->step, pass->replica, s), order);
        if (same)
            return order;
    }
    return PIPE_UNKNOWN_ORDER;
}

const char *pipe_order_name(pipe_order order) {
    static const char *const names[] = {"none", "1F1B", "GPipe", "other"};
    return names[order];
}

pipe_order pipe_order_of(const pipe_analysis *a) {
    pipe_order order = PIPE_NO_ORDER;
    for (size_t i = 0; i < a->n_steps * a->n_replicas; i++) {
        if (!a->passes[i].complete)
            continue;
        if (order != PIPE_NO_ORDER && order != a->passes[i].order)
            return PIPE_UNKNOWN_ORDER;
        order = a->passes[i].order;
    }
    return order;
}

/* ---------------------------------------------------------------- passes */

/* Each is forward once in every chunk. */
static int64_t micro_batches_of(const pipe_cell *cell) {
    int64_t n[PIPE_MAX_CHUNKS] = {0}, most = 0;
    for (size_t i = 0; i < cell->n; i++) {
        const pipe_event *e = &cell->v[i];
        if (e->op->kind == PIPE_FORWARD && ++n[e->chunk] > most)
            most = n[e->chunk];
    }
    return most;
}

static void measure_pass(pipe_analysis *a, pipe_pass *pass) {
    const kit_interval nothing = {INT64_MAX, INT64_MIN};
    pass->whole = pass->span = nothing;
    pass->complete = true;
    pass->replayed = pass->ideal = MILL_UNKNOWN;
    for (size_t s = 0; s < a->n_stages; s++) {
        const pipe_cell *cell = pipe_cell_of(a, pass->step, pass->replica, s);
        bool computes = false;
        for (size_t i = 0; cell && i < cell->n; i++) {
            const pipe_event *e = &cell->v[i];
            widen(&pass->whole, e->start, e->end);
            if (pipe_computes(e->op->kind))
                widen(&pass->span, e->start, e->end);
            computes |= pipe_computes(e->op->kind);
        }
        pass->complete &= computes;
    }
    if (!pass->complete)
        return;
    for (size_t s = 0; s < a->n_stages; s++) {
        pipe_cell *cell = pipe_cell_of(a, pass->step, pass->replica, s);
        measure_cell(a, cell, pass->span);
        int64_t micro_batches = micro_batches_of(cell);
        if (micro_batches > pass->micro_batches)
            pass->micro_batches = micro_batches;
    }
    pass->order = order_of_pass(a, pass);
}

void pipe_measure(pipe_analysis *a) {
    a->passes = mill_scratch(a->run, a->n_steps * a->n_replicas * sizeof *a->passes);
    for (uint32_t step = 0; step < a->n_steps; step++)
        for (uint32_t replica = 0; replica < a->n_replicas; replica++) {
            pipe_pass *pass = &a->passes[step * a->n_replicas + replica];
            *pass = (pipe_pass){.step = step, .replica = replica};
            measure_pass(a, pass);
        }
}

void pipe_add_time(pipe_time *sum, const pipe_time *t) {
    int64_t *to = (int64_t *)sum;
    const int64_t *from = (const int64_t *)t;
    for (size_t i = 0; i < offsetof(pipe_time, live) / sizeof *to; i++)
        to[i] = kit_add(to[i], from[i]);
    sum->live = t->live > sum->live ? t->live : sum->live;
}

pipe_time pipe_sum(const pipe_analysis *a, size_t stage, int64_t *ret_n) {
    pipe_time sum = {0};
    *ret_n = 0;
    for (size_t i = 0; i < a->n_steps * a->n_replicas; i++) {
        const pipe_pass *pass = &a->passes[i];
        if (!pass->complete)
            continue;
        pipe_add_time(&sum, &pipe_cell_of(a, pass->step, pass->replica, stage)->time);
        ++*ret_n;
    }
    return sum;
}

kit_interval pipe_step_span(const pipe_analysis *a, uint32_t step) {
    kit_interval whole = {INT64_MAX, INT64_MIN};
    for (size_t k = 0; k < a->n_replicas; k++) {
        const pipe_pass *pass = &a->passes[step * a->n_replicas + k];
        if (pass->whole.start <= pass->whole.end)
            widen(&whole, pass->whole.start, pass->whole.end);
    }
    return whole;
}

/* ---------------------------------------------------------------- the chosen one */

static bool wanted(const pipe_analysis *a, const pipe_pass *pass, bool given) {
    return pass->complete && pass->replica == (uint32_t)a->options->replica &&
           (!given || a->steps[pass->step] == a->options->step);
}

const pipe_pass *pipe_chosen(const pipe_analysis *a) {
    bool given = mill_option_given(a->run, "step");
    int64_t *spans = mill_scratch(a->run, a->n_steps * sizeof *spans);
    size_t n = 0;
    for (size_t i = 0; i < a->n_steps * a->n_replicas; i++)
        if (wanted(a, &a->passes[i], given))
            spans[n++] = a->passes[i].span.end - a->passes[i].span.start;
    if (n == 0)
        return NULL;
    int64_t median = kit_median(spans, n);
    for (size_t i = 0;; i++)
        if (wanted(a, &a->passes[i], given) &&
            a->passes[i].span.end - a->passes[i].span.start == median)
            return &a->passes[i];
}
