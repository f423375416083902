/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny layers, small enough to try every content of every slot. */
#include "tiny.h"

#include <math.h>
#include <string.h>

static void make_gpus(tiny *t, GRand *random, uint32_t nodes) {
    uint32_t gpus = nodes == 2 ? 2 * (uint32_t)g_rand_int_range(random, 1, 3)
                               : (uint32_t)g_rand_int_range(random, 1, 4);
    bool fast = g_rand_boolean(random), failed = gpus > 2 && g_rand_int_range(random, 0, 4) == 0;
    uint32_t most = gpus > 2 ? 2 : 3, size = (uint32_t)g_rand_int_range(random, 1, (int)most + 1);
    bool unequal = g_rand_int_range(random, 0, 4) == 0;
    for (uint32_t g = 0; g < gpus; g++) {
        t->first[g + 1] =
            t->first[g] + (unequal ? (uint32_t)g_rand_int_range(random, 1, (int)most + 1) : size);
        t->node[g] = g / (gpus / nodes);
        t->speed[g] = fast ? g_rand_int_range(random, 2, 5) * 0.5 : 1;
    }
    if (failed)
        t->speed[g_rand_int_range(random, 0, (int)gpus)] = 0;
    t->shape.gpus = gpus;
    t->shape.nodes = nodes;
    t->shape.slots = t->first[gpus];
}

void tiny_make(tiny *t, GRand *random) {
    do {
        uint32_t nodes = 1 + (uint32_t)g_rand_boolean(random);
        *t = (tiny){.policy = nodes == 2 && g_rand_boolean(random) ? EP_HIERARCHICAL : EP_GLOBAL,
                    .objective = (ep_objective)g_rand_int_range(random, 0, 3)};
        make_gpus(t, random, nodes);
        t->shape.experts = nodes * (uint32_t)g_rand_int_range(random, 1, 4 - (int)nodes + 1);
        t->shape.groups = t->shape.experts;
        t->shape.distinct = g_rand_boolean(random);
        t->shape.first = t->first;
        t->shape.node = t->node;
        t->shape.speed = t->speed;
    } while (!ep_search_fits(&t->shape, t->policy) || t->shape.slots > 7);
    t->loads = (ep_loads){t->shape.experts, (uint32_t)g_rand_int_range(random, 1, 4), t->load};
    if (t->objective == EP_MEAN && t->loads.steps == 3)
        t->loads.steps = 1;
    for (uint32_t i = 0; i < t->loads.steps * t->shape.experts; i++)
        t->load[i] = g_rand_int_range(random, 0, 3) ? g_rand_int_range(random, 0, 20)
                                                    : g_rand_double_range(random, 0, 100);
}

bool tiny_valid(const tiny *t, const int32_t *plan) {
    uint32_t n = t->shape.experts;
    uint32_t on_node[8][2] = {0}, groups_on[2] = {0};
    for (uint32_t g = 0; g < t->shape.gpus; g++)
        for (uint32_t i = t->first[g]; i < t->first[g + 1]; i++) {
            if ((plan[i] < 0) != (t->speed[g] == 0))
                return false;
            if (plan[i] >= 0)
                on_node[plan[i]][t->node[g]]++;
            for (uint32_t j = t->first[g]; j < i; j++)
                if (t->shape.distinct && plan[i] >= 0 && plan[i] == plan[j])
                    return false;
        }
    for (uint32_t e = 0; e < n; e++) {
        if (on_node[e][0] + on_node[e][1] == 0)
            return false;
        if (t->policy == EP_HIERARCHICAL && on_node[e][0] && on_node[e][1])
            return false;
        groups_on[on_node[e][0] ? 0 : 1]++;
    }
    return t->policy != EP_HIERARCHICAL || groups_on[0] == groups_on[1];
}

static double most_of_step(const tiny *t, const int32_t *plan, uint32_t step, double *ret_mean) {
    double most = 0, sum = 0, speed = 0;
    for (uint32_t g = 0; g < t->shape.gpus; g++) {
        double load = 0;
        for (uint32_t i = t->first[g]; i < t->first[g + 1]; i++) {
            double replicas = 0, whole = 0;
            for (uint32_t j = 0; plan[i] >= 0 && j < t->shape.slots; j++)
                replicas += plan[j] == plan[i];
            if (plan[i] < 0)
                continue;
            if (step < t->loads.steps)
                whole = t->load[step * t->shape.experts + (uint32_t)plan[i]];
            for (uint32_t s = 0; step == t->loads.steps && s < t->loads.steps; s++)
                whole += t->load[s * t->shape.experts + (uint32_t)plan[i]] / t->loads.steps;
            load += whole / replicas;
        }
        sum += load;
        speed += t->speed[g];
        if (t->speed[g] > 0)
            most = fmax(most, load / t->speed[g]);
    }
    *ret_mean = sum / speed;
    return most;
}

double tiny_value(const tiny *t, const int32_t *plan) {
    double mean, value = 0;
    if (t->objective == EP_MEAN)
        return most_of_step(t, plan, t->loads.steps, &mean);
    for (uint32_t s = 0; s < t->loads.steps; s++) {
        double most = most_of_step(t, plan, s, &mean);
        if (t->objective == EP_STEP_MAX)
            value += most / t->loads.steps;
        else if (mean > 0)
            value = fmax(value, most / mean);
    }
    return value;
}

double tiny_optimum(const tiny *t) {
    int32_t plan[8] = {0};
    double best = INFINITY;
    uint32_t at = 0;
    for (uint32_t g = 0; g < t->shape.gpus; g++)
        for (uint32_t i = t->first[g]; i < t->first[g + 1]; i++)
            plan[i] = t->speed[g] > 0 ? 0 : -1;
    while (at < t->shape.slots) { /* counts up, a digit a slot */
        if (tiny_valid(t, plan))
            best = fmin(best, tiny_value(t, plan));
        for (at = 0; at < t->shape.slots; at++) {
            if (plan[at] < 0)
                continue;
            if (++plan[at] < (int32_t)t->shape.experts)
                break;
            plan[at] = 0;
        }
    }
    return best;
}
