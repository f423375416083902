/* SPDX-License-Identifier: Apache-2.0 */
/* Moves that bring all GPUs under a target: tabu search on Σ max(0, load - target)².
 *
 * Each step takes the GPU that is furthest over its target and makes the move that lowers the sum
 * the most, or raises it the least: it exchanges two slots, or gives a slot of an expert that has
 * several replicas to another expert, by which the shares of both change everywhere. A slot's
 * expert may not come back to the GPU it left for some steps. */
#include "search_climb.h"

#define IDLE 5 /* steps without progress before numbers of replicas are changed */

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
        .change = kit_alloc((size_t)task->gpus * task->dims, sizeof *c->change),
        .touched = kit_alloc(task->gpus, sizeof *c->touched),
        .stamp = kit_alloc(task->gpus, sizeof *c->stamp),
    };
}

void ep_climb_finish(ep_climb *c) {
    free(c->target);
    free(c->excess);
    free(c->until);
    free(c->change);
    free(c->touched);
    free(c->stamp);
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
        c->step + 3 + (uint32_t)(ep_random(&c->random) % 8);
}

static bool fits(const ep_climb *c, const ep_state *s, uint32_t gpu, uint32_t expert) {
    const ep_task *t = c->task;
    return !t->distinct || expert == t->experts ||
           !s->held[(size_t)gpu * (t->experts + 1) + expert];
}

/* ---------------------------------------------------------------- exchanges */

/* How much the excess of both GPUs falls if a replica of e goes from a to b and one of f comes
 * back. dims is a constant where it is 1, so that the loop goes away. */
static inline double exchange(const ep_climb *c, const ep_state *s, uint32_t a, uint32_t b,
                              uint32_t e, uint32_t f, uint32_t dims) {
    const ep_task *t = c->task;
    double sum = -c->excess[a] - c->excess[b];
    for (uint32_t d = 0; d < dims; d++) {
        double less = s->share[(size_t)e * dims + d] - s->share[(size_t)f * dims + d];
        sum += over(s->gpu_load[(size_t)a * dims + d] - less * t->inverse[a], c->target[d]);
        sum += over(s->gpu_load[(size_t)b * dims + d] + less * t->inverse[b], c->target[d]);
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
    if (tabu(c, b, e) || tabu(c, a, f) || !fits(c, s, b, e) || !fits(c, s, a, f))
        return;
    int64_t cost = ep_move_cost(t, a, f) + ep_move_cost(t, b, e) - ep_move_cost(t, a, e) -
                   ep_move_cost(t, b, f);
    delta = rated(c, s, delta, cost);
    if (delta < best->delta)
        *best = (move){delta, i, j, 0};
}

static inline void exchanges_with(ep_climb *c, const ep_state *s, uint32_t a, uint32_t b,
                                  uint32_t dims, move *best) {
    const ep_task *t = c->task;
    const uint32_t *first = t->shape->first;
    bool apart = t->shape->node[a] != t->shape->node[b];
    for (uint32_t i = first[a]; i < first[a + 1]; i++) {
        uint32_t e = s->expert[i];
        if (apart && t->home[e] != EP_ANY_NODE)
            continue;
        for (uint32_t j = first[b]; j < first[b + 1]; j++) {
            uint32_t f = s->expert[j];
            if (e == f || (apart && t->home[f] != EP_ANY_NODE))
                continue;
            if (dims == 1 && s->share[e] <= s->share[f])
                continue; /* a would get more */
            double delta = exchange(c, s, a, b, e, f, dims);
            if (delta < best->delta)
                try_exchange(c, s, i, j, delta, best);
        }
    }
    c->work += (uint64_t)(first[a + 1] - first[a]) * (first[b + 1] - first[b]) * dims;
}

static void find_exchange(ep_climb *c, const ep_state *s, uint32_t a, move *best) {
    const ep_task *t = c->task;
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
            exchanges_with(c, s, a, b, 1, best);
        else
            exchanges_with(c, s, a, b, t->dims, best);
        if (best->delta <= -c->excess[a])
            return; /* as good as it gets: a is under the target, and b too */
    }
}

/* ---------------------------------------------------------------- replicas */

static void add_change(ep_climb *c, uint32_t gpu, const double *of, double times) {
    uint32_t dims = c->task->dims;
    double *change = c->change + (size_t)gpu * dims;
    if (c->stamp[gpu] != c->stamps) {
        c->stamp[gpu] = c->stamps;
        c->touched[c->n_touched++] = gpu;
        for (uint32_t d = 0; d < dims; d++)
            change[d] = 0;
    }
    for (uint32_t d = 0; d < dims; d++)
        change[d] += of[d] * times;
}

/* How much the sum falls if the slot gets f instead of e. */
static double replace(ep_climb *c, const ep_state *s, uint32_t slot, uint32_t f) {
    const ep_task *t = c->task;
    uint32_t e = s->expert[slot], dims = t->dims;
    const double *load_e = t->load + (size_t)e * dims, *load_f = t->load + (size_t)f * dims;
    double n = s->count[e], m = s->count[f];
    c->n_touched = 0;
    c->stamps++;
    if (e < t->experts)
        for (uint32_t i = s->head[e]; i != EP_END; i = s->next[i])
            add_change(c, t->gpu[i], load_e, i == slot ? -1 / n : 1 / (n - 1) - 1 / n);
    for (uint32_t i = s->head[f]; i != EP_END; i = s->next[i])
        add_change(c, t->gpu[i], load_f, 1 / (m + 1) - 1 / m);
    add_change(c, t->gpu[slot], load_f, 1 / (m + 1));
    double sum = 0;
    for (uint32_t k = 0; k < c->n_touched; k++) {
        uint32_t g = c->touched[k];
        sum -= c->excess[g];
        for (uint32_t d = 0; d < dims; d++)
            sum += over(s->gpu_load[(size_t)g * dims + d] +
                            c->change[(size_t)g * dims + d] * t->inverse[g],
                        c->target[d]);
    }
    c->work += (uint64_t)(c->n_touched + 1) * 4 * dims;
    return sum;
}

static void try_replace(ep_climb *c, const ep_state *s, uint32_t slot, uint32_t f, move *best) {
    const ep_task *t = c->task;
    uint32_t e = s->expert[slot], b = t->gpu[slot];
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
    memset(c->until, 0, c->task->gpus * ((size_t)c->task->experts + 1) * sizeof *c->until);
    c->step = 0;
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

static void spread_slot(ep_climb *c, ep_state *s, uint32_t i) {
    const ep_task *t = c->task;
    uint32_t a = t->gpu[i], e = s->expert[i];
    move best = {.delta = INFINITY};
    for (uint32_t f = 0; f < t->experts; f++)
        try_replace(c, s, i, f, &best);
    for (uint32_t j = 0; j < t->slots; j++) {
        uint32_t b = t->gpu[j], f = s->expert[j];
        if (t->inverse[b] > 0 && ep_may_hold(t, b, e) && ep_may_hold(t, a, f))
            try_exchange(c, s, i, j, exchange(c, s, a, b, e, f, t->dims), &best);
    }
    if (best.delta < INFINITY)
        make(c, s, &best);
}

void ep_climb_spread(ep_climb *c, ep_state *s) {
    const ep_task *t = c->task;
    memset(c->until, 0, t->gpus * ((size_t)t->experts + 1) * sizeof *c->until);
    for (uint32_t i = 0; i < t->slots; i++) {
        uint32_t e = s->expert[i];
        if (e == t->experts || s->held[(size_t)t->gpu[i] * (t->experts + 1) + e] < 2)
            continue;
        refresh(c, s);
        c->step += 100; /* nothing is tabu */
        spread_slot(c, s, i);
    }
}
