/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan of a layer comes to: loads of GPUs, counts of replicas, its value. */
#include "layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/expert_plan.h>

void ep_counts(const ep_shape *shape, const int32_t *plan, uint32_t *ret_count) {
    memset(ret_count, 0, shape->experts * sizeof *ret_count);
    for (uint32_t s = 0; s < shape->slots; s++)
        if (plan[s] >= 0)
            ret_count[plan[s]]++;
}

mill_expert_plan ep_place(const ep_shape *shape) {
    return (mill_expert_plan){
        .experts = shape->experts,
        .slots = shape->slots,
        .gpus = shape->gpus,
        .nodes = shape->nodes,
        .first = shape->first,
        .node = shape->node,
    };
}

static void loads_of_counts(const ep_shape *shape, const double *load, const int32_t *plan,
                            const uint32_t *count, double *ret_load) {
    mill_expert_plan place = ep_place(shape);
    kit_gpu_loads(&place, load, plan, count, ret_load);
    for (uint32_t g = 0; shape->speed && g < shape->gpus; g++)
        ret_load[g] = shape->speed[g] > 0 ? ret_load[g] / shape->speed[g] : NAN;
}

void ep_gpu_loads(const ep_shape *shape, const double *load, const int32_t *plan,
                  double *ret_load) {
    uint32_t *count = kit_alloc(shape->experts, sizeof *count);
    ep_counts(shape, plan, count);
    loads_of_counts(shape, load, plan, count, ret_load);
    free(count);
}

double ep_mean_load(const ep_shape *shape, const double *load) {
    double sum = 0, speed = shape->speed ? 0 : shape->gpus;
    for (uint32_t e = 0; e < shape->experts; e++)
        sum += load[e];
    for (uint32_t g = 0; shape->speed && g < shape->gpus; g++)
        speed += shape->speed[g];
    return sum / speed;
}

static double largest(const double *load, uint32_t gpus) {
    double most = 0;
    for (uint32_t g = 0; g < gpus; g++)
        if (load[g] > most) /* not of a GPU that has failed */
            most = load[g];
    return most;
}

void ep_mean_of_steps(const ep_loads *loads, double *ret_load) {
    for (uint32_t e = 0; e < loads->experts; e++) {
        double sum = 0;
        for (uint32_t t = 0; t < loads->steps; t++)
            sum += loads->load[(size_t)t * loads->experts + e];
        ret_load[e] = sum / loads->steps;
    }
}

double ep_value(const ep_shape *shape, const ep_loads *loads, ep_objective objective,
                const int32_t *plan) {
    uint32_t *count = kit_alloc(shape->experts, sizeof *count);
    double *gpu = kit_alloc(shape->gpus, sizeof *gpu);
    double *mean = kit_alloc(shape->experts, sizeof *mean);
    double value = 0;
    ep_counts(shape, plan, count);
    if (objective == EP_MEAN) {
        ep_mean_of_steps(loads, mean);
        loads_of_counts(shape, mean, plan, count, gpu);
        value = largest(gpu, shape->gpus);
    }
    for (uint32_t t = 0; objective != EP_MEAN && t < loads->steps; t++) {
        const double *load = loads->load + (size_t)t * loads->experts;
        double whole = ep_mean_load(shape, load);
        loads_of_counts(shape, load, plan, count, gpu);
        double most = largest(gpu, shape->gpus);
        if (objective == EP_STEP_MAX)
            value += most / loads->steps;
        else if (whole > 0 && most / whole > value)
            value = most / whole;
    }
    free(mean);
    free(gpu);
    free(count);
    return value;
}

uint32_t ep_duplicates(const ep_shape *shape, const int32_t *plan) {
    uint32_t *last = kit_alloc(shape->experts, sizeof *last); /* GPU + 1 that held it last */
    uint32_t gpus = 0;
    for (uint32_t g = 0; g < shape->gpus; g++) {
        bool twice = false;
        for (uint32_t s = shape->first[g]; s < shape->first[g + 1]; s++) {
            if (plan[s] < 0)
                continue;
            twice |= last[plan[s]] == g + 1;
            last[plan[s]] = g + 1;
        }
        gpus += twice;
    }
    free(last);
    return gpus;
}

uint32_t ep_splits(const ep_shape *shape, const int32_t *plan) {
    uint32_t size = shape->experts / shape->groups, splits = 0;
    int64_t *node = kit_alloc(shape->groups, sizeof *node); /* 0: none yet; -1: several */
    for (uint32_t g = 0; g < shape->gpus; g++)
        for (uint32_t s = shape->first[g]; s < shape->first[g + 1]; s++) {
            if (plan[s] < 0)
                continue;
            int64_t *at = &node[(uint32_t)plan[s] / size];
            if (*at == 0)
                *at = (int64_t)shape->node[g] + 1;
            else if (*at != (int64_t)shape->node[g] + 1)
                *at = -1;
        }
    for (uint32_t i = 0; i < shape->groups; i++)
        splits += node[i] < 0;
    free(node);
    return splits;
}
