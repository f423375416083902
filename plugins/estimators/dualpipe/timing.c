/* SPDX-License-Identifier: Apache-2.0 */
/* How long operations take: their durations on each rank, the jitter, and that times fit. */
#include "sim_private.h"

#define MILLION 1000000

/* Durations that do not fit are as long as can be, so that no sum with them fits. */
static int64_t fit(__int128 ns) {
    return ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

/* Rounded to the nearest ns. */
static int64_t millionths(int64_t ns, int64_t factor) {
    return fit(((__int128)ns * factor + MILLION / 2) / MILLION);
}

static int64_t pair_duration(const pp_timing *timing, uint32_t forward, uint32_t backward) {
    if (timing->pair_rule == PP_PAIR_OWN) {
        int64_t x = timing->pair[forward], y = timing->pair[backward];
        return x < 0 || y < 0 ? MILL_UNKNOWN : x / 2 + y / 2 + (x & y & 1);
    }
    int64_t f = timing->forward[forward], b = timing->backward[backward];
    if (f < 0 || b < 0)
        return MILL_UNKNOWN;
    int64_t longer = f > b ? f : b, shorter = f > b ? b : f;
    return fit((__int128)longer + millionths(shorter, timing->alpha));
}

int64_t pp_duration(const pp_plan *plan, const pp_timing *timing, uint32_t rank, pp_op op) {
    const int64_t *const columns[] = {
        [MILL_OP_FORWARD] = timing->forward,
        [MILL_OP_BACKWARD] = timing->backward,
        [MILL_OP_INPUT] = timing->input,
        [MILL_OP_WEIGHT] = timing->weight,
    };
    uint32_t cells = rank * plan->chunks;
    int64_t ns = op.kind == MILL_OP_PAIR
                     ? pair_duration(timing, cells + op.chunk, cells + op.chunk2)
                     : columns[op.kind][cells + op.chunk];
    if (ns < 0)
        return MILL_UNKNOWN;
    return timing->slowness ? millionths(ns, timing->slowness[rank]) : ns;
}

/* ---------------------------------------------------------------- jitter */

/* The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static int64_t jittered(const pp_timing *timing, uint32_t rank, uint64_t place, int64_t duration) {
    uint64_t hash = mix(mix(mix(timing->seed) + rank) + place);
    /* Odd numbers over 2^32: uniform in (-1, 1), and symmetric. */
    int64_t u = (int64_t)(hash >> 32) * 2 + 1 - (INT64_C(1) << 32);
    __int128 change = (__int128)duration * timing->jitter * u;
    return duration + (int64_t)(change / ((__int128)MILLION << 32));
}

int64_t pp_begin_one(const pp_workspace *w, uint32_t rank, int64_t start, int64_t duration) {
    pp_rank_state *state = &w->ranks[rank];
    if (w->timing->jitter) {
        int64_t changed = jittered(w->timing, rank, state->place, duration);
        state->busy += changed - duration;
        duration = changed;
    }
    if (w->start) {
        w->start[state->record + state->place] = start;
        w->end[state->record + state->place] = start + duration;
    }
    state->place++;
    return duration;
}

/* ---------------------------------------------------------------- all of a plan */

static void take_cell(pp_workspace *w, uint32_t rank, uint32_t chunk, const bool *used) {
    int64_t *durations = w->durations[rank * w->plan->chunks + chunk];
    for (uint8_t kind = MILL_OP_FORWARD; kind <= MILL_OP_WEIGHT; kind++)
        durations[kind - MILL_OP_FORWARD] =
            used[kind] ? pp_duration(w->plan, w->timing, rank, (pp_op){kind, (uint8_t)chunk, 0, 0})
                       : MILL_UNKNOWN;
}

static void take_pairs(pp_workspace *w, uint32_t rank) {
    uint32_t chunks = w->plan->chunks;
    int64_t *pair = w->pairs + (size_t)rank * chunks * chunks;
    for (uint32_t f = 0; f < chunks; f++)
        for (uint32_t b = 0; b < chunks; b++)
            *pair++ = pp_duration(w->plan, w->timing, rank,
                                  (pp_op){MILL_OP_PAIR, (uint8_t)f, (uint8_t)b, 0});
}

/* Σ of the durations of a rank, or a negative number: one is not known. */
static __int128 sum_rank(const pp_workspace *w, uint32_t rank, pp_op *ret_unknown) {
    const pp_plan *plan = w->plan;
    __int128 sum = 0;
    for (uint32_t l = plan->first[rank]; l < plan->first[rank + 1]; l++) {
        const pp_loop *loop = &plan->loops[l];
        for (uint32_t i = 0; i < loop->n; i++) {
            pp_op op = plan->ops[loop->first + i];
            int64_t duration = pp_op_duration(w, rank, op);
            *ret_unknown = op;
            if (duration < 0)
                return -1;
            sum += (__int128)duration * loop->repeat;
        }
    }
    return sum;
}

/* No chain of operations and transfers holds any of them twice, so no time exceeds their sum. */
bool pp_take_durations(pp_workspace *w, pp_fault *ret_fault) {
    const pp_plan *plan = w->plan;
    const pp_timing *timing = w->timing;
    bool used[MILL_OP_PAIR + 1] = {false};
    for (uint64_t i = 0; i < plan->n_ops; i++)
        used[plan->ops[i].kind] = true;
    __int128 sum = ((__int128)timing->latency + timing->occupied) * 2 * plan->total;
    for (uint32_t rank = 0; rank < plan->ranks; rank++) {
        for (uint32_t chunk = 0; chunk < plan->chunks; chunk++)
            take_cell(w, rank, chunk, used);
        if (w->pairs)
            take_pairs(w, rank);
        *ret_fault = (pp_fault){.what = PP_FAULT_UNKNOWN, .rank = rank};
        __int128 part = sum_rank(w, rank, &ret_fault->op);
        if (part < 0)
            return false;
        sum += part;
        w->ranks[rank].busy = fit(part);
    }
    if (timing->jitter) /* which doubles a duration at most */
        sum *= 2;
    ret_fault->what = PP_FAULT_TOO_LONG;
    return sum < INT64_MAX;
}
