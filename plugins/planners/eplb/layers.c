/* SPDX-License-Identifier: Apache-2.0 */
/* Plans layers in parallel, and measures them. What a layer gets does not depend on the others. */
#include "layers.h"

#include <math.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>

/* ---------------------------------------------------------------- measuring */

static double largest(const double *v, uint32_t n) {
    double most = NAN;
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(v[i]) && !(v[i] <= most))
            most = v[i];
    return most;
}

static void count_replicas(const ep_shape *s, ep_placement *q) {
    uint32_t *count = kit_alloc(s->experts, sizeof *count);
    ep_counts(s, q->expert, count);
    for (uint32_t e = 0; e < s->experts; e++) {
        q->most = count[e] > q->most ? count[e] : q->most;
        q->replicated += count[e] > 1;
    }
    free(count);
}

static void measure(const ep_shape *s, const ep_loads *loads, const ep_layer *l, bool odd,
                    ep_placement *q) {
    ep_gpu_loads(s, l->load, q->expert, q->gpu);
    q->mean = odd ? NAN : ep_mean_load(s, l->load);
    q->max = odd ? NAN : largest(q->gpu, s->gpus);
    q->worst = odd ? NAN : ep_value(s, loads, EP_WORST, q->expert);
    q->step_max = odd ? NAN : ep_value(s, loads, EP_STEP_MAX, q->expert);
    q->duplicates = ep_duplicates(s, q->expert);
    q->splits = ep_splits(s, q->expert);
    count_replicas(s, q);
}

/* ---------------------------------------------------------------- planning */

typedef struct work {
    const ep_problem *p;
    ep_layer *layers;
} work;

static void make_room(const ep_problem *p, ep_layer *l) {
    const ep_shape *s = &p->shape;
    l->load = mill_scratch(p->run, s->experts * sizeof *l->load);
    l->rank = mill_scratch(p->run, s->slots * sizeof *l->rank);
    ep_placement *both[] = {&l->before, &l->after};
    for (int i = 0; i < 2; i++) {
        both[i]->expert = mill_scratch(p->run, s->slots * sizeof *both[i]->expert);
        both[i]->gpu = mill_scratch(p->run, s->gpus * sizeof *both[i]->gpu);
    }
}

static mill_status plan_layer(mill_run *run, void *arg, size_t i) {
    const work *w = arg;
    const ep_problem *p = w->p;
    ep_layer *l = &w->layers[i];
    if (mill_cancelled(run))
        return MILL_E_CANCELLED;
    double *load = ep_layer_loads(p, (uint32_t)i, 0, p->loads->steps);
    ep_loads loads = {p->shape.experts, (uint32_t)p->loads->steps, load};
    l->number = ep_layer_number(p, (uint32_t)i);
    ep_mean_of_steps(&loads, l->load);
    int32_t *held = kit_alloc(p->shape.slots, sizeof *held);
    ep_before(p, (uint32_t)i, l->before.expert);
    ep_held(p, l->before.expert, held);
    ep_plan_layer(p, &loads, p->previous ? held : NULL, l->after.expert, l->rank, &l->answer);
    l->moves = ep_count_moves(&p->shape, held, l->after.expert);
    ep_shape whole = p->shape;
    whole.speed = p->speed;
    measure(&whole, &loads, l, p->odd, &l->before);
    measure(&p->shape, &loads, l, p->odd, &l->after);
    free(held);
    free(load);
    return MILL_OK;
}

mill_status ep_plan_layers(const ep_problem *p, ep_layer *ret_layers) {
    for (uint32_t i = 0; i < p->n; i++)
        make_room(p, &ret_layers[i]);
    return p->run->host->parallel(p->run, p->n, plan_layer, &(work){p, ret_layers});
}

/* ---------------------------------------------------------------- other plans */

void ep_add_worth(ep_worth *w, double max, double mean, double bound) {
    w->max += max;
    w->mean += mean;
    w->bound += bound;
    if (!(max > 0))
        return;
    w->sglang += mean / max;
    w->n++;
}

typedef struct values {
    const ep_problem *p;
    double *max, *mean, *bound;
} values;

static mill_status value_layer(mill_run *run, void *arg, size_t i) {
    const values *v = arg;
    const ep_problem *p = v->p;
    const ep_shape *s = &p->shape;
    if (mill_cancelled(run))
        return MILL_E_CANCELLED;
    double *load = ep_layer_loads(p, (uint32_t)i, 0, p->loads->steps);
    double *mean = kit_alloc(s->experts, sizeof *mean), *gpu = kit_alloc(s->gpus, sizeof *gpu);
    int32_t *plan = kit_alloc(s->slots, sizeof *plan);
    ep_loads loads = {s->experts, (uint32_t)p->loads->steps, load};
    ep_answer answer;
    int32_t *held = p->previous ? kit_alloc(s->slots, sizeof *held) : NULL;
    if (held) {
        ep_before(p, (uint32_t)i, plan);
        ep_held(p, plan, held);
    }
    ep_plan_layer(p, &loads, held, plan, NULL, &answer);
    ep_mean_of_steps(&loads, mean);
    ep_gpu_loads(s, mean, plan, gpu);
    v->max[i] = largest(gpu, s->gpus);
    v->mean[i] = ep_mean_load(s, mean);
    v->bound[i] = p->options->objective == EP_MEAN ? answer.bound : NAN;
    void *all[] = {load, mean, gpu, plan, held};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    return MILL_OK;
}

mill_status ep_worth_of_plans(const ep_problem *p, ep_worth *ret_worth) {
    size_t size = p->n * sizeof(double);
    values v = {p, mill_scratch(p->run, size), mill_scratch(p->run, size),
                mill_scratch(p->run, size)};
    mill_status status = p->run->host->parallel(p->run, p->n, value_layer, &v);
    *ret_worth = (ep_worth){0};
    for (uint32_t i = 0; status == MILL_OK && i < p->n; i++)
        ep_add_worth(ret_worth, v.max[i], v.mean[i], v.bound[i]);
    return status;
}
