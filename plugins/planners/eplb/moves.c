/* SPDX-License-Identifier: Apache-2.0 */
/* What it takes to get from one plan to another, and how to take less. */
#include "moves.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/expert_plan.h>

ep_moves ep_count_moves(const ep_shape *shape, const int32_t *before, const int32_t *after) {
    mill_expert_plan place = ep_place(shape);
    kit_moves m = kit_count_moves(&place, before, after, NULL);
    return (ep_moves){m.same_gpu, m.same_node, m.cross_node + m.unknown};
}

/* Which experts each GPU holds: [gpus][experts]. */
static bool *held_by(const ep_shape *shape, const int32_t *plan) {
    bool *held = kit_alloc((size_t)shape->gpus * shape->experts, sizeof *held);
    for (uint32_t g = 0; g < shape->gpus; g++)
        for (uint32_t s = shape->first[g]; s < shape->first[g + 1]; s++)
            if (plan[s] >= 0)
                held[(size_t)g * shape->experts + (uint32_t)plan[s]] = true;
    return held;
}

/* Experts of the set of GPU g in `plan` that GPU h does not hold in `before`. */
static int32_t cost_of(const ep_shape *shape, const bool *held, const int32_t *plan, uint32_t g,
                       uint32_t h) {
    const bool *there = held + (size_t)h * shape->experts;
    int32_t cost = 0;
    for (uint32_t s = shape->first[g]; s < shape->first[g + 1]; s++) {
        bool again = false; /* a second replica is copied from the first */
        for (uint32_t i = shape->first[g]; i < s; i++)
            again |= plan[i] == plan[s];
        cost += plan[s] >= 0 && !again && !there[plan[s]];
    }
    return cost;
}

uint32_t ep_busiest(const ep_shape *shape, const int32_t *before, const int32_t *after) {
    bool *held = held_by(shape, before);
    int32_t most = 0;
    for (uint32_t g = 0; g < shape->gpus; g++) {
        int32_t cost = cost_of(shape, held, after, g, g);
        most = cost > most ? cost : most;
    }
    free(held);
    return (uint32_t)most;
}

/* ---------------------------------------------------------------- relabel */

/* Rows to columns with the least sum of costs, by shortest augmenting paths with potentials
 * (Jonker, Volgenant: A shortest augmenting path algorithm for dense and sparse linear assignment
 * problems, Computing 38, 1987); O(n³). All arrays but cost begin with a place for column 0, where
 * each path begins. */
typedef struct assignment {
    uint32_t n;
    const int32_t *cost;        /* [n][n] */
    int32_t *row_price, *price; /* potentials of rows and columns */
    int32_t *least;             /* the shortest way to each column in this search */
    uint32_t *row, *from;       /* of each column: the row it is given to; the column before it */
    bool *used;
} assignment;

/* Goes on from column `at` and returns the nearest column not reached yet. */
static uint32_t nearest_column(assignment *a, uint32_t at) {
    uint32_t next = 0;
    int32_t step = INT32_MAX;
    const int32_t *cost = a->cost + (size_t)(a->row[at] - 1) * a->n;
    a->used[at] = true;
    for (uint32_t j = 1; j <= a->n; j++) {
        if (a->used[j])
            continue;
        int32_t way = cost[j - 1] - a->row_price[a->row[at]] - a->price[j];
        if (way < a->least[j]) {
            a->least[j] = way;
            a->from[j] = at;
        }
        if (a->least[j] < step) {
            step = a->least[j];
            next = j;
        }
    }
    for (uint32_t j = 0; j <= a->n; j++) {
        if (a->used[j]) {
            a->row_price[a->row[j]] += step;
            a->price[j] -= step;
        } else {
            a->least[j] -= step;
        }
    }
    return next;
}

static void assign_row(assignment *a, uint32_t row) {
    uint32_t at = 0;
    a->row[0] = row;
    for (uint32_t j = 0; j <= a->n; j++) {
        a->least[j] = INT32_MAX;
        a->used[j] = false;
    }
    do
        at = nearest_column(a, at);
    while (a->row[at]);
    for (; at; at = a->from[at])
        a->row[at] = a->row[a->from[at]];
}

/* ret_row: of each column. Returns the sum. */
static int32_t assign(uint32_t n, const int32_t *cost, uint32_t *ret_row) {
    int32_t *numbers = kit_alloc(3 * ((size_t)n + 1), sizeof *numbers);
    uint32_t *columns = kit_alloc(2 * ((size_t)n + 1), sizeof *columns);
    assignment a = {
        .n = n,
        .cost = cost,
        .row_price = numbers,
        .price = numbers + n + 1,
        .least = numbers + 2 * ((size_t)n + 1),
        .row = columns,
        .from = columns + n + 1,
        .used = kit_alloc((size_t)n + 1, sizeof *a.used),
    };
    for (uint32_t i = 1; i <= n; i++)
        assign_row(&a, i);
    int32_t sum = 0;
    for (uint32_t j = 0; j < n; j++) {
        ret_row[j] = a.row[j + 1] - 1;
        sum += cost[(size_t)ret_row[j] * n + j];
    }
    free(a.used);
    free(columns);
    free(numbers);
    return sum;
}

/* GPUs that may change places hold the same number of slots at the same speed. */
static bool alike(const ep_shape *shape, uint32_t g, uint32_t h) {
    return shape->first[g + 1] - shape->first[g] == shape->first[h + 1] - shape->first[h] &&
           (!shape->speed || shape->speed[g] == shape->speed[h]);
}

/* More than all slots of a plan could cost, and small enough to be added up. */
static int32_t forbidden(const ep_shape *shape) {
    return (int32_t)shape->slots + 1;
}

/* A run of GPUs [from, from + n) of the plan to the run [to, to + n): ret_set[n] is the GPU, from
 * 0, whose set each gets. */
static int32_t match(const ep_shape *shape, const bool *held, const int32_t *plan, uint32_t from,
                     uint32_t to, uint32_t n, uint32_t *ret_set) {
    int32_t *cost = kit_alloc((size_t)n * n, sizeof *cost);
    for (uint32_t g = 0; g < n; g++)
        for (uint32_t h = 0; h < n; h++)
            cost[(size_t)g * n + h] = alike(shape, from + g, to + h)
                                          ? cost_of(shape, held, plan, from + g, to + h)
                                          : forbidden(shape);
    int32_t sum = assign(n, cost, ret_set);
    free(cost);
    return sum;
}

/* Nodes change places as a whole. ret_source: the GPU whose set each GPU gets. */
static void match_nodes(const ep_shape *shape, const bool *held, const int32_t *plan,
                        uint32_t *ret_source) {
    uint32_t n = shape->nodes, *first = kit_alloc((size_t)n + 1, sizeof *first);
    for (uint32_t g = 0; g < shape->gpus; g++)
        first[shape->node[g] + 1] = g + 1;
    uint32_t *set = kit_alloc((size_t)n * shape->gpus, sizeof *set); /* [from node][GPU] */
    uint32_t *node = kit_alloc(n, sizeof *node);
    int32_t *cost = kit_alloc((size_t)n * n, sizeof *cost);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            uint32_t size = first[j + 1] - first[j];
            int32_t *c = &cost[(size_t)i * n + j];
            *c = forbidden(shape);
            if (first[i + 1] - first[i] == size)
                *c = match(shape, held, plan, first[i], first[j], size,
                           set + (size_t)i * shape->gpus + first[j]);
            if (*c > forbidden(shape))
                *c = forbidden(shape);
        }
    assign(n, cost, node);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t g = first[j]; g < first[j + 1]; g++)
            ret_source[g] = first[node[j]] + set[(size_t)node[j] * shape->gpus + g];
    free(cost);
    free(node);
    free(set);
    free(first);
}

void ep_relabel(const ep_shape *shape, const int32_t *before, bool hierarchical, int32_t *plan) {
    bool *held = held_by(shape, before);
    uint32_t *source = kit_alloc(shape->gpus, sizeof *source);
    int32_t *old = kit_alloc(shape->slots, sizeof *old);
    memcpy(old, plan, shape->slots * sizeof *old);
    if (hierarchical)
        match_nodes(shape, held, plan, source);
    else
        match(shape, held, plan, 0, 0, shape->gpus, source);
    for (uint32_t g = 0; g < shape->gpus; g++) {
        uint32_t size = shape->first[g + 1] - shape->first[g];
        memcpy(plan + shape->first[g], old + shape->first[source[g]], size * sizeof *plan);
    }
    free(old);
    free(source);
    free(held);
}

void ep_keep_slots(const ep_shape *shape, const int32_t *before, int32_t *plan) {
    int32_t *left = kit_alloc(shape->slots, sizeof *left); /* experts that have no slot yet */
    for (uint32_t g = 0; g < shape->gpus; g++) {
        uint32_t first = shape->first[g], end = shape->first[g + 1], n = end - first;
        memcpy(left, plan + first, n * sizeof *left);
        for (uint32_t s = first; s < end; s++) {
            uint32_t i = 0;
            while (i < n && left[i] != before[s])
                i++;
            plan[s] = MILL_NO_EXPERT - 1; /* not filled yet */
            if (i == n)
                continue;
            plan[s] = before[s];
            memmove(left + i, left + i + 1, (--n - i) * sizeof *left);
        }
        for (uint32_t s = first, i = 0; s < end; s++)
            if (plan[s] < MILL_NO_EXPERT)
                plan[s] = left[i++];
    }
    free(left);
}
