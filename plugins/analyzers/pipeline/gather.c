/* SPDX-License-Identifier: Apache-2.0 */
/* From the profiles' operations to the members of pipelines, their steps, and their events in
 * order. */
#include "pipeline.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/number.h>

#define MAX_STAGES 65536    /* more than any pipeline has; a stage beyond is a mistake */
#define PIPE_MAX_CHUNKS 256 /* the same, of model chunks of a rank */
#define MAX_MICRO_BATCHES (1 << 30)
#define MAX_SPAN (INT64_MAX / 8) /* ns of all profiles together, so that no sum overflows */

static int compare_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts, and leaves each value once. */
static size_t distinct(int64_t *v, size_t n) {
    size_t kept = 0;
    qsort(v, n, sizeof *v, compare_i64);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || v[i] != v[i - 1])
            v[kept++] = v[i];
    return kept;
}

static uint32_t place_in(const int64_t *sorted, size_t n, int64_t value) {
    return (uint32_t)((const int64_t *)bsearch(&value, sorted, n, sizeof *sorted, compare_i64) -
                      sorted);
}

/* ---------------------------------------------------------------- clocks */

/* Widens [*first, *last] by the times of a profile on a clock, and adds up its durations. False:
 * they do not fit. */
static bool widen(const pipe_operations *p, int64_t base, int64_t *first, int64_t *last,
                  int64_t *sum) {
    for (uint64_t k = 0; k < p->n_ops; k++) {
        int64_t start, end;
        if (__builtin_add_overflow(p->ops[k].start, base, &start) ||
            __builtin_add_overflow(p->ops[k].end, base, &end) ||
            __builtin_add_overflow(*sum, end - start, sum))
            return false;
        *first = start < *first ? start : *first;
        *last = end > *last ? end : *last;
    }
    return true;
}

/* Times count from the first one, on the wall clock if all profiles tell it. */
static mill_status set_origins(pipe_analysis *a) {
    int64_t first = INT64_MAX, last = INT64_MIN, sum = 0, span;
    bool wall = true, fits = true;
    for (size_t i = 0; i < a->n_clocks; i++)
        wall &= a->clocks[i].profile->base_ns != MILL_UNKNOWN;
    for (size_t i = 0; i < a->n_clocks; i++) {
        pipe_clock *c = &a->clocks[i];
        c->origin = wall ? c->profile->base_ns : 0;
        fits &= widen(c->profile, c->origin, &first, &last, &sum);
    }
    if (first > last && fits)
        return MILL_OK;
    fits = fits && !__builtin_sub_overflow(last, first, &span) && span < MAX_SPAN && sum < MAX_SPAN;
    for (size_t i = 0; i < a->n_clocks; i++)
        fits &= !__builtin_sub_overflow(a->clocks[i].origin, first, &a->clocks[i].origin);
    return fits ? MILL_OK
                : mill_fail(a->run, MILL_E_DATA,
                            "the profiles' operations are, or add up to, more than %d years: they "
                            "are of different runs, or a clock is broken",
                            (int)(MAX_SPAN / INT64_C(31557600000000000)));
}

static mill_status check_numbers(const pipe_analysis *a, const pipe_operations *p) {
    for (uint64_t k = 0; k < p->n_ops; k++)
        if (p->ops[k].chunk >= PIPE_MAX_CHUNKS || p->ops[k].micro_batch >= MAX_MICRO_BATCHES) {
            char chunk[KIT_NUMBER_MAX], micro_batch[KIT_NUMBER_MAX];
            return mill_fail(a->run, MILL_E_DATA,
                             "%s: an operation of model chunk %s, micro-batch %s: there are at "
                             "most %d chunks and %d micro-batches, which count from 0",
                             p->path, kit_format_int(chunk, p->ops[k].chunk, 0),
                             kit_format_int(micro_batch, p->ops[k].micro_batch, 0), PIPE_MAX_CHUNKS,
                             MAX_MICRO_BATCHES);
        }
    return MILL_OK;
}

static mill_status take_profiles(pipe_analysis *a) {
    mill_status status = MILL_OK;
    a->n_clocks = mill_input_count(a->run, 0);
    a->clocks = mill_scratch(a->run, a->n_clocks * sizeof *a->clocks);
    for (size_t i = 0; i < a->n_clocks; i++) {
        a->clocks[i] = (pipe_clock){.profile = mill_input(a->run, 0, i)};
        a->n_members += a->clocks[i].profile->n_workers;
        a->n_events += a->clocks[i].profile->n_ops;
        if (status == MILL_OK)
            status = check_numbers(a, a->clocks[i].profile);
    }
    return status == MILL_OK ? set_origins(a) : status;
}

/* ---------------------------------------------------------------- members */

static pipe_member timeline_member(const pipe_analysis *a, const pipe_worker *w) {
    char *label = mill_scratch(a->run, 2 * KIT_NUMBER_MAX + 16), dp[KIT_NUMBER_MAX],
         tp[KIT_NUMBER_MAX];
    snprintf(label, 2 * KIT_NUMBER_MAX + 16, "DP %s, TP %s", kit_format_int(dp, w->dp, 0),
             kit_format_int(tp, w->tp, 0));
    return (pipe_member){.rank = MILL_UNKNOWN,
                         .stage = w->stage,
                         .replica_key = (int64_t)((uint64_t)w->dp << 32) + w->tp,
                         .label = label};
}

/* Megatron numbers ranks with pipeline parallelism outermost (megatron/core/parallel_state.py). */
static pipe_member profile_member(const pipe_analysis *a, int64_t rank) {
    char *label = mill_scratch(a->run, KIT_NUMBER_MAX + 16), number[KIT_NUMBER_MAX];
    int64_t n = a->options->ranks_per_stage;
    snprintf(label, KIT_NUMBER_MAX + 16, "pipeline %s", kit_format_int(number, rank % n, 0));
    return (pipe_member){.rank = rank, .stage = rank / n, .replica_key = rank % n, .label = label};
}

static int compare_members(const void *a, const void *b) {
    const pipe_member *x = a, *y = b;
    if (x->replica_key != y->replica_key)
        return x->replica_key < y->replica_key ? -1 : 1;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

/* Whether every profile tells its rank, so that none need be counted. */
static bool ranks_told(const pipe_analysis *a) {
    for (size_t i = 0; i < a->n_clocks; i++)
        for (uint64_t k = 0; k < a->clocks[i].profile->n_workers; k++)
            if (!a->clocks[i].profile->timeline &&
                a->clocks[i].profile->workers[k].rank == MILL_UNKNOWN)
                return false;
    return true;
}

static void list_members(pipe_analysis *a) {
    bool told = ranks_told(a);
    size_t n = 0;
    for (size_t i = 0; i < a->n_clocks; i++)
        for (uint64_t k = 0; k < a->clocks[i].profile->n_workers; k++) {
            const pipe_worker *w = &a->clocks[i].profile->workers[k];
            pipe_member m = a->clocks[i].profile->timeline
                                ? timeline_member(a, w)
                                : profile_member(a, told ? w->rank : (int64_t)n);
            m.clock = (uint32_t)i;
            m.worker = (uint32_t)k;
            a->members[n++] = m;
        }
    qsort(a->members, n, sizeof *a->members, compare_members);
}

static mill_status number_members(pipe_analysis *a) {
    for (size_t i = 0; i < a->n_members; i++) {
        pipe_member *m = &a->members[i], *before = i ? m - 1 : NULL;
        if (m->stage < 0 || m->stage >= MAX_STAGES)
            return mill_fail(a->run, MILL_E_DATA, "%s: pipeline stage %lld is none",
                             a->clocks[m->clock].profile->path, (long long)m->stage);
        if (before && compare_members(before, m) == 0)
            return mill_fail(a->run, MILL_E_DATA,
                             "%s and %s: both are stage %lld of %s; give each rank once, and say "
                             "how many ranks a stage has (ranks-per-stage)",
                             a->clocks[before->clock].profile->path,
                             a->clocks[m->clock].profile->path, (long long)m->stage, m->label);
        bool new_replica = !before || before->replica_key != m->replica_key;
        a->n_replicas += new_replica;
        m->replica = (uint32_t)(a->n_replicas - 1);
        if ((size_t)m->stage >= a->n_stages)
            a->n_stages = (size_t)m->stage + 1;
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- events */

static int compare_places(const void *a, const void *b) {
    const pipe_member *x = a, *y = b;
    if (x->replica != y->replica)
        return x->replica < y->replica ? -1 : 1;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

uint32_t pipe_member_at(const pipe_analysis *a, uint32_t replica, int64_t stage) {
    const pipe_member key = {.replica = replica, .stage = stage};
    const pipe_member *m =
        bsearch(&key, a->members, a->n_members, sizeof *a->members, compare_places);
    return m ? (uint32_t)(m - a->members) : MILL_NONE;
}

/* Of a timeline, stages go round: with several model chunks the last one sends to the first. */
static uint32_t peer_of(const pipe_analysis *a, const pipe_member *m, const pipe_op *op) {
    int64_t p = (int64_t)a->n_stages, n = a->options->ranks_per_stage;
    if (!pipe_communicates(op->kind) || op->peer == MILL_UNKNOWN)
        return MILL_NONE;
    if (a->clocks[m->clock].profile->timeline)
        return pipe_member_at(a, m->replica, (op->peer + p) % p);
    return op->peer >= 0 && op->peer % n == m->rank % n
               ? pipe_member_at(a, m->replica, op->peer / n)
               : MILL_NONE;
}

static int compare_events(const void *a, const void *b) {
    const pipe_event *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op); /* of one profile, in the order of starts */
}

static void list_steps(pipe_analysis *a) {
    size_t n = 0;
    a->steps = mill_scratch(a->run, a->n_events * sizeof *a->steps);
    for (size_t i = 0; i < a->n_clocks; i++)
        for (uint64_t k = 0; k < a->clocks[i].profile->n_ops; k++)
            a->steps[n++] = a->clocks[i].profile->ops[k].step;
    a->n_steps = distinct(a->steps, n);
}

static uint64_t first_op(const pipe_operations *p, uint32_t worker) {
    uint64_t low = 0, high = p->n_ops;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (p->ops[middle].worker < worker)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void list_events(pipe_analysis *a) {
    size_t n = 0;
    a->events = mill_scratch(a->run, a->n_events * sizeof *a->events);
    for (uint32_t i = 0; i < a->n_members; i++) {
        const pipe_member *m = &a->members[i];
        const pipe_clock *clock = &a->clocks[m->clock];
        const pipe_operations *p = clock->profile;
        for (uint64_t k = first_op(p, m->worker); k < p->n_ops && p->ops[k].worker == m->worker;
             k++) {
            const pipe_op *op = &p->ops[k];
            a->events[n++] = (pipe_event){
                .op = op,
                .start = op->start + clock->origin,
                .end = op->end + clock->origin,
                .chunk = op->chunk == MILL_UNKNOWN ? 0 : op->chunk,
                .micro_batch = op->micro_batch,
                .step = place_in(a->steps, a->n_steps, op->step),
                .member = i,
                .peer = peer_of(a, m, op),
                .match = MILL_NONE,
                .wait = op->end - op->start,
            };
        }
    }
    a->n_events = n;
    qsort(a->events, n, sizeof *a->events, compare_events);
}

/* Micro-batches that are not told are counted: both directions take them in turn. */
static void count_micro_batches(pipe_analysis *a, pipe_cell *cell) {
    int64_t next[PIPE_WEIGHT + 1] = {0};
    for (size_t i = 0; i < cell->n; i++) {
        pipe_event *e = &cell->v[i];
        if (!pipe_computes(e->op->kind))
            continue;
        if (e->micro_batch == MILL_UNKNOWN)
            e->micro_batch = next[e->op->kind];
        next[e->op->kind]++;
        a->last_chunk = e->chunk > a->last_chunk ? e->chunk : a->last_chunk;
    }
}

static void cut_cells(pipe_analysis *a) {
    a->cells = mill_scratch(a->run, a->n_steps * a->n_members * sizeof *a->cells);
    for (size_t i = 0; i < a->n_events; i++) {
        pipe_event *e = &a->events[i];
        pipe_cell *cell = &a->cells[e->step * a->n_members + e->member];
        cell->v = cell->n++ ? cell->v : e;
    }
    for (size_t i = 0; i < a->n_steps * a->n_members; i++)
        count_micro_batches(a, &a->cells[i]);
}

pipe_cell *pipe_cell_of(const pipe_analysis *a, uint32_t step, uint32_t replica, size_t stage) {
    uint32_t member = pipe_member_at(a, replica, (int64_t)stage);
    return member == MILL_NONE ? NULL : &a->cells[step * a->n_members + member];
}

mill_status pipe_gather(pipe_analysis *a) {
    mill_status status = take_profiles(a);
    if (status != MILL_OK)
        return status;
    a->members = mill_scratch(a->run, a->n_members * sizeof *a->members);
    list_members(a);
    status = number_members(a);
    if (status != MILL_OK)
        return status;
    list_steps(a);
    list_events(a);
    cut_cells(a);
    return MILL_OK;
}
