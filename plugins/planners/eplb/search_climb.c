/* SPDX-License-Identifier: Apache-2.0 */
/* Moves that bring all GPUs under a target: tabu search on Σ max(0, load - target)².
 *
 * Each step takes the GPU that is furthest over its target and makes the move that lowers the sum
 * the most, or raises it the least: it exchanges two slots, or gives a slot of an expert that has
 * several replicas to another expert, by which the shares of both change everywhere. A slot's
 * expert may not come back to the GPU it left for some steps. */
#include "search_climb.h"

#define TENURE 11 /* steps that an expert stays away at most */
#define IDLE 5    /* steps without progress before numbers of replicas are changed */

typedef struct move {
    double delta;   /* of the sum, for each expert that a GPU must load if moves are few */
    uint32_t slot;  /* a slot of the GPU in hand, or the one that gets `expert` */
    uint32_t other; /* the slot to exchange with; EP_END: none */
    uint32_t expert;
} move;

void ep_climb_init(ep_climb *c, const ep_task *task) {
    size_t cells = task->gpus * ((size_t)task->experts + 1);
    *c = (ep_climb){
        .task = task,
        .target = kit_alloc(task->dims, sizeof *c->target),
        .excess = kit_alloc(task->gpus, sizeof *c->excess),
        .until = kit_alloc(cells, sizeof *c->until),
        .if_less = kit_alloc((size_t)task->experts + 1, sizeof *c->if_less),
        .if_more = kit_alloc((size_t)task->experts + 1, sizeof *c->if_more),
    };
}

void ep_climb_finish(ep_climb *c) {
    free(c->target);
    free(c->excess);
    free(c->until);
    free(c->if_less);
    free(c->if_more);
}

static inline double over(double load, double target) {
    double more = load - target;
    return more > 0 ? more * more : 0;
}

static double gpu_excess(const ep_climb *c, const ep_state *s, uint32_t gpu) {
    uint32_t dims = c->task->dims;
    double sum = 0;
    for (uint32_t d = 0; d < dims; d++)
        sum += over(s->gpu_load[(size_t)gpu * dims + d], c->target[d]);
    return sum;
}

static uint32_t refresh(ep_climb *c, const ep_state *s) {
    uint32_t worst = 0;
    for (uint32_t g = 0; g < c->task->gpus; g++) {
        c->excess[g] = gpu_excess(c, s, g);
        if (c->excess[g] > c->excess[worst])
            worst = g;
    }
    return worst;
}

static bool tabu(const ep_climb *c, uint32_t gpu, uint32_t expert) {
    return c->until[(size_t)gpu * (c->task->experts + 1) + expert] > c->step;
}

static void forbid(ep_climb *c, uint32_t gpu, uint32_t expert) {
    c->until[(size_t)gpu * (c->task->experts + 1) + expert] =
        c->step + 3 + (uint32_t)(ep_random(&c->random) % (TENURE - 3));
}

static bool fits(const ep_climb *c, const ep_state *s, uint32_t gpu, uint32_t expert) {
    const ep_task *t = c->task;
    return !t->distinct || expert == t->experts ||
           !s->held[(size_t)gpu * (t->experts + 1) + expert];
}

/* ---------------------------------------------------------------- exchanges */

/* How much the excess of both GPUs falls if a replica of e goes from a to b and one of f comes
 * back. */
static double exchange(const ep_climb *c, const ep_state *s, uint32_t a, uint32_t b, uint32_t e,
                       uint32_t f) {
    const ep_task *t = c->task;
    double sum = -c->excess[a] - c->excess[b];
    for (uint32_t d = 0; d < t->dims; d++) {
        double less = s->share[(size_t)e * t->dims + d] - s->share[(size_t)f * t->dims + d];
        sum += over(s->gpu_load[(size_t)a * t->dims + d] - less * t->inverse[a], c->target[d]);
        sum += over(s->gpu_load[(size_t)b * t->dims + d] + less * t->inverse[b], c->target[d]);
    }
    return sum;
}

/* Fewer moves for the same gain are better where they are limited. */
static double rated(const ep_climb *c, const ep_state *s, double delta, int64_t cost) {
    if (c->task->moves == INT64_MAX || cost <= 0)
        return delta;
    if (s->moves + cost > c->task->moves)
        return INFINITY;
    return delta < 0 ? delta / (double)(1 + cost) : delta * (double)(1 + cost);
}

static void try_exchange(const ep_climb *c, const ep_state *s, uint32_t i, uint32_t j, double delta,
                         move *best) {
    const ep_task *t = c->task;
    uint32_t a = t->gpu[i], b = t->gpu[j], e = s->expert[i], f = s->expert[j];
    if (e == f || !ep_may_hold(t, b, e) || !ep_may_hold(t, a, f) || tabu(c, b, e) ||
        tabu(c, a, f) || !fits(c, s, b, e) || !fits(c, s, a, f))
        return;
    int64_t cost = ep_move_cost(t, a, f) + ep_move_cost(t, b, e) - ep_move_cost(t, a, e) -
                   ep_move_cost(t, b, f);
    delta = rated(c, s, delta, cost);
    if (delta < best->delta)
        *best = (move){delta, i, j, 0};
}

static void exchanges_with(ep_climb *c, const ep_state *s, uint32_t a, uint32_t b, move *best) {
    const ep_task *t = c->task;
    const uint32_t *first = t->shape->first;
    for (uint32_t i = first[a]; i < first[a + 1]; i++)
        for (uint32_t j = first[b]; j < first[b + 1]; j++) {
            double delta = exchange(c, s, a, b, s->expert[i], s->expert[j]);
            if (delta < best->delta)
                try_exchange(c, s, i, j, delta, best);
        }
}

/* The same for one dimension, where most of the time goes. */
static void exchanges_with_1(ep_climb *c, const ep_state *s, uint32_t a, uint32_t b, move *best) {
    const ep_task *t = c->task;
    const uint32_t *first = t->shape->first;
    double over_a = s->gpu_load[a] - c->target[0], over_b = s->gpu_load[b] - c->target[0];
    double inverse_a = t->inverse[a], inverse_b = t->inverse[b];
    double now = c->excess[a] + c->excess[b];
    for (uint32_t j = first[b]; j < first[b + 1]; j++) {
        double theirs = s->share[s->expert[j]];
        for (uint32_t i = first[a]; i < first[a + 1]; i++) {
            double less = s->share[s->expert[i]] - theirs;
            double left_a = over_a - less * inverse_a, left_b = over_b + less * inverse_b;
            if (less <= 0)
                continue; /* a would get more */
            left_a = left_a > 0 ? left_a : 0;
            left_b = left_b > 0 ? left_b : 0;
            double delta = left_a * left_a + left_b * left_b - now;
            if (delta < best->delta)
                try_exchange(c, s, i, j, delta, best);
        }
    }
}

static void find_exchange(ep_climb *c, const ep_state *s, uint32_t a, move *best) {
    const ep_task *t = c->task;
    const uint32_t *first = t->shape->first;
    uint32_t node = t->shape->node[a], from = 0, n = t->gpus;
    if (t->bound_to_nodes) {
        from = t->node_gpu[node];
        n = t->node_gpu[node + 1] - from;
    }
    uint32_t turn = (uint32_t)(ep_random(&c->random) % n); /* equal moves: not always the first */
    for (uint32_t k = 0; k < n; k++) {
        uint32_t b = from + (k + turn) % n;
        if (b == a || t->inverse[b] <= 0)
            continue;
        if (t->dims == 1)
            exchanges_with_1(c, s, a, b, best);
        else
            exchanges_with(c, s, a, b, best);
        c->work += (uint64_t)(first[a + 1] - first[a]) * (first[b + 1] - first[b]) * t->dims;
        if (best->delta <= -c->excess[a])
            return; /* as good as it gets: a is under the target, and b too */
    }
}

/* ---------------------------------------------------------------- replicas */

/* How much the excess of a GPU changes by a part of the load of e more and one of f. */
static double change(const ep_climb *c, const ep_state *s, uint32_t gpu, uint32_t e, double of_e,
                     uint32_t f, double of_f) {
    const ep_task *t = c->task;
    double sum = -c->excess[gpu];
    for (uint32_t d = 0; d < t->dims; d++) {
        double more =
            t->load[(size_t)e * t->dims + d] * of_e + t->load[(size_t)f * t->dims + d] * of_f;
        sum += over(s->gpu_load[(size_t)gpu * t->dims + d] + more * t->inverse[gpu], c->target[d]);
    }
    return sum;
}

/* What parts of its load the other replicas of an expert take over if one goes, and what they give
 * up if one comes. */
static double part_if_less(const ep_state *s, uint32_t e) {
    double n = s->count[e];
    return e < s->task->experts ? 1 / (n - 1) - 1 / n : 0;
}

static double part_if_more(const ep_state *s, uint32_t f) {
    double n = s->count[f];
    return 1 / (n + 1) - 1 / n;
}

/* Over all GPUs that hold an expert: found once for each step. */
static double on_holders(ep_climb *c, const ep_state *s, uint32_t e, double part,
                         ep_climb_sum *known) {
    if (known[e].step == c->step + 1)
        return known[e].sum;
    double sum = 0;
    for (uint32_t i = s->head[e]; i != EP_END && part != 0; i = s->next[i])
        sum += change(c, s, c->task->gpu[i], e, part, e, 0);
    c->work += s->count[e];
    known[e] = (ep_climb_sum){sum, c->step + 1};
    return sum;
}

/* How much the sum falls if the slot gets f instead of e. */
static double replace(ep_climb *c, const ep_state *s, uint32_t slot, uint32_t f) {
    const ep_task *t = c->task;
    uint32_t e = s->expert[slot], b = t->gpu[slot];
    double less = part_if_less(s, e), more = part_if_more(s, f);
    double sum = on_holders(c, s, e, less, c->if_less) + on_holders(c, s, f, more, c->if_more);
    sum -= change(c, s, b, e, less, e, 0);
    sum += change(c, s, b, e, e < t->experts ? -1.0 / s->count[e] : 0, f, 1.0 / (s->count[f] + 1));
    for (uint32_t i = s->head[f]; i != EP_END; i = s->next[i]) {
        uint32_t g = t->gpu[i];
        if (s->held[(size_t)g * (t->experts + 1) + e] && g != b) /* both change there */
            sum += change(c, s, g, e, less, f, more) - change(c, s, g, e, less, e, 0) -
                   change(c, s, g, f, more, f, 0);
    }
    c->work += 4;
    return sum;
}

static void try_replace(ep_climb *c, const ep_state *s, uint32_t slot, uint32_t f, move *best) {
    const ep_task *t = c->task;
    uint32_t e = s->expert[slot], b = t->gpu[slot];
    c->work++;
    if (e == f || !ep_may_hold(t, b, f) || !fits(c, s, b, f) || tabu(c, b, f))
        return;
    int64_t cost = ep_move_cost(t, b, f) - ep_move_cost(t, b, e);
    double delta = rated(c, s, replace(c, s, slot, f), cost);
    if (delta < best->delta)
        *best = (move){delta, slot, EP_END, f};
}

static bool spare(const ep_state *s, uint32_t slot) {
    uint32_t e = s->expert[slot];
    return e == s->task->experts || s->count[e] > 1;
}

/* One more replica, elsewhere, of what GPU a holds; or something else instead of a replica of it.
 */
static void find_replacement(ep_climb *c, const ep_state *s, uint32_t a, move *best) {
    const ep_task *t = c->task;
    const uint32_t *first = t->shape->first;
    for (uint32_t i = 0; i < t->slots; i++) {
        if (!spare(s, i) || t->inverse[t->gpu[i]] <= 0)
            continue;
        if (t->gpu[i] == a)
            for (uint32_t f = 0; f < t->experts; f++)
                try_replace(c, s, i, f, best);
        else
            for (uint32_t j = first[a]; j < first[a + 1]; j++)
                if (s->expert[j] < t->experts)
                    try_replace(c, s, i, s->expert[j], best);
    }
}

/* ---------------------------------------------------------------- the search */

static void make(ep_climb *c, ep_state *s, const move *m) {
    const ep_task *t = c->task;
    uint32_t e = s->expert[m->slot];
    forbid(c, t->gpu[m->slot], e);
    if (m->other == EP_END) {
        ep_state_put(s, m->slot, m->expert);
    } else {
        forbid(c, t->gpu[m->other], s->expert[m->other]);
        ep_state_swap(s, m->slot, m->other);
    }
}

bool ep_climb_run(ep_climb *c, ep_state *s, uint64_t work, uint32_t patience) {
    uint64_t end = c->work + work;
    double least = INFINITY;
    c->step += TENURE; /* nothing is tabu */
    for (uint32_t idle = 0; idle < patience && c->work < end; c->step++, idle++) {
        uint32_t a = refresh(c, s);
        c->work += c->task->gpus;
        if (c->excess[a] <= 0)
            return true;
        double sum = 0;
        for (uint32_t g = 0; g < c->task->gpus; g++)
            sum += c->excess[g];
        if (sum < least * (1 - 1e-9)) {
            least = sum;
            idle = 0;
        }
        move best = {.delta = INFINITY};
        find_exchange(c, s, a, &best);
        if (best.delta >= 0 && idle >= IDLE)
            find_replacement(c, s, a, &best);
        if (best.delta < INFINITY)
            make(c, s, &best);
    }
    return false;
}

void ep_climb_kick(ep_climb *c, ep_state *s, uint32_t times) {
    const ep_task *t = c->task;
    for (uint32_t tries = 0; times && tries < 100 * times; tries++) {
        uint32_t i = (uint32_t)(ep_random(&c->random) % t->slots), gpu = t->gpu[i];
        uint64_t dice = ep_random(&c->random);
        uint32_t f = dice & 1 ? (uint32_t)((dice >> 1) % t->experts)
                              : s->expert[(dice >> 1) % t->slots]; /* hot ones have more slots */
        if (!spare(s, i) || t->inverse[gpu] <= 0 || f == t->experts || f == s->expert[i] ||
            !ep_may_hold(t, gpu, f) || !fits(c, s, gpu, f))
            continue;
        ep_state_put(s, i, f);
        times--;
    }
}

static void spread_slot(ep_climb *c, ep_state *s, uint32_t i) {
    const ep_task *t = c->task;
    uint32_t a = t->gpu[i], e = s->expert[i];
    move best = {.delta = INFINITY};
    for (uint32_t f = 0; f < t->experts; f++)
        try_replace(c, s, i, f, &best);
    for (uint32_t j = 0; j < t->slots; j++) {
        uint32_t b = t->gpu[j];
        if (t->inverse[b] > 0)
            try_exchange(c, s, i, j, exchange(c, s, a, b, e, s->expert[j]), &best);
    }
    if (best.delta < INFINITY)
        make(c, s, &best);
}

void ep_climb_spread(ep_climb *c, ep_state *s) {
    const ep_task *t = c->task;
    for (uint32_t i = 0; i < t->slots; i++) {
        uint32_t e = s->expert[i];
        if (e == t->experts || s->held[(size_t)t->gpu[i] * (t->experts + 1) + e] < 2)
            continue;
        refresh(c, s);
        c->step += TENURE; /* nothing is tabu */
        spread_slot(c, s, i);
    }
}
