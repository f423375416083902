/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a plan keep the rules: what failed GPUs held, experts that have no slot, empty slots. */
#include "search_adopt.h"

#include <assert.h>

static double load_of(const ep_task *t, uint32_t e) {
    double sum = 0;
    for (uint32_t d = 0; d < t->dims; d++)
        sum += t->load[(size_t)e * t->dims + d];
    return sum;
}

static double gpu_load(const ep_state *state, uint32_t gpu) {
    double most = 0;
    for (uint32_t d = 0; d < state->task->dims; d++)
        most = fmax(most, state->gpu_load[(size_t)gpu * state->task->dims + d]);
    return most;
}

static bool fits(const ep_state *state, uint32_t gpu, uint32_t e) {
    const ep_task *t = state->task;
    return t->inverse[gpu] > 0 && ep_may_hold(t, gpu, e) &&
           !(t->distinct && state->held[(size_t)gpu * (t->experts + 1) + e]);
}

/* The hottest expert without a slot, those that are bound to a node first. */
static uint32_t next_lost(const ep_state *state) {
    const ep_task *t = state->task;
    uint32_t best = EP_END;
    for (uint32_t e = 0; e < t->experts; e++) {
        if (state->count[e])
            continue;
        bool bound = t->home[e] != EP_ANY_NODE;
        bool best_bound = best != EP_END && t->home[best] != EP_ANY_NODE;
        if (best == EP_END || bound > best_bound ||
            (bound == best_bound && load_of(t, e) > load_of(t, best)))
            best = e;
    }
    return best;
}

/* An empty slot, else that of an expert with several replicas; on the GPU with the least load. */
static void rescue(ep_state *state, uint32_t e) {
    const ep_task *t = state->task;
    uint32_t best = EP_END;
    bool best_empty = false;
    double least = INFINITY;
    for (uint32_t i = 0; i < t->slots; i++) {
        uint32_t old = state->expert[i], gpu = t->gpu[i];
        bool empty = old == t->experts;
        if (!fits(state, gpu, e) || (!empty && state->count[old] < 2))
            continue;
        double load = gpu_load(state, gpu);
        if (empty > best_empty || (empty == best_empty && load < least)) {
            best = i;
            best_empty = empty;
            least = load;
        }
    }
    assert(best != EP_END); /* there are as many slots as experts: ep_search_fits */
    ep_state_put(state, best, e);
}

/* One more replica of what has the largest share. */
static void fill(ep_state *state, uint32_t slot) {
    const ep_task *t = state->task;
    uint32_t gpu = t->gpu[slot], best = EP_END;
    double most = -1;
    for (uint32_t e = 0; e < t->experts; e++) {
        double share = load_of(t, e) / (state->count[e] ? state->count[e] : 1);
        if (share > most && fits(state, gpu, e) &&
            (t->moves == INT64_MAX || state->moves + ep_move_cost(t, gpu, e) <= t->moves)) {
            most = share;
            best = e;
        }
    }
    if (best != EP_END)
        ep_state_put(state, slot, best);
}

void ep_adopt(ep_search *s, const int32_t *plan) {
    const ep_task *t = &s->task;
    ep_state *state = &s->state;
    int32_t *clean = kit_alloc(t->slots, sizeof *clean);
    for (uint32_t i = 0; i < t->slots; i++) {
        bool keeps = plan && plan[i] >= 0 && t->inverse[t->gpu[i]] > 0 &&
                     ep_may_hold(t, t->gpu[i], (uint32_t)plan[i]);
        clean[i] = keeps ? plan[i] : MILL_NO_EXPERT;
    }
    ep_state_set(state, clean);
    free(clean);
    for (uint32_t e; (e = next_lost(state)) != EP_END;)
        rescue(state, e);
    for (uint32_t i = 0; i < t->slots; i++)
        if (state->expert[i] == t->experts && t->inverse[t->gpu[i]] > 0)
            fill(state, i);
    if (t->distinct)
        ep_climb_spread(&s->climb, state);
}
