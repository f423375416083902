/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through a history of loads, and plans anew when it is time to: from what was seen until
 * then, for the steps that come. */
#include "moves.h"
#include "replay.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

double replay_balancedness(const replay_analysis *a, const replay_mode *m) {
    double max = 0, mean = 0;
    for (uint64_t s = 0; s < a->steps; s++) {
        max += m->max[s];
        mean += m->mean[s];
    }
    return max > 0 ? mean / max : NAN;
}

double replay_sglang(const replay_analysis *a, const replay_mode *m) {
    double sum = 0, layers = 0;
    for (uint64_t s = 0; s < a->steps; s++) {
        sum += m->sglang[s];
        layers += m->loaded[s];
    }
    return layers > 0 ? sum / layers : NAN;
}

/* ---------------------------------------------------------------- one way to go on */

typedef struct walk {
    const replay_analysis *a;
    replay_mode *mode;
    int32_t *now, *next; /* [layers][slots] */
    bool planned;        /* `now` is a plan, not what engines begin with */
    uint64_t step;       /* the first step that is not known yet */
    double *forecast;    /* [layers of the loads][experts] */
    ep_moves *moves;     /* of each layer, by the last re-plan */
    uint32_t *busiest;
} walk;

static int32_t *plan_at(const walk *w, int32_t *plans, size_t layer) {
    return plans + layer * w->a->problem.shape.slots;
}

/* The loads that are expected: the forecast, but for the mean the steps themselves, so that it can
 * be planned for all of them (the option objective). To be freed. */
static double *expected(const walk *w, size_t layer, ep_loads *ret_loads) {
    const ep_problem *p = &w->a->problem;
    const kit_forecast_rule *rule = &w->a->options->rule;
    uint32_t experts = p->shape.experts;
    if (rule->method == KIT_FORECAST_MEAN) {
        uint64_t steps = kit_forecast_steps(rule, w->step);
        double *load = ep_layer_loads(p, (uint32_t)layer, w->step - steps, steps);
        *ret_loads = (ep_loads){experts, (uint32_t)steps, load};
        return load;
    }
    double *load = kit_alloc(experts, sizeof *load);
    memcpy(load, w->forecast + (size_t)p->layer[layer] * experts, experts * sizeof *load);
    *ret_loads = (ep_loads){experts, 1, load};
    return load;
}

static mill_status replan_layer(mill_run *run, void *arg, size_t i) {
    walk *w = arg;
    const ep_problem *p = &w->a->problem;
    const ep_shape *s = &p->shape;
    if (mill_cancelled(run))
        return MILL_E_CANCELLED;
    ep_loads loads;
    ep_answer answer;
    double *load = expected(w, i, &loads);
    int32_t *held = kit_alloc(s->slots, sizeof *held), *plan = plan_at(w, w->next, i);
    ep_held(p, plan_at(w, w->now, i), held);
    ep_plan_layer(p, &loads, w->planned ? held : NULL, plan, NULL, &answer);
    w->moves[i] = ep_count_moves(s, held, plan);
    w->busiest[i] = ep_busiest(s, held, plan);
    free(held);
    free(load);
    return MILL_OK;
}

static mill_status replan(walk *w) {
    const ep_problem *p = &w->a->problem;
    if (w->a->options->rule.method != KIT_FORECAST_MEAN)
        kit_forecast(p->loads, w->step, &w->a->options->rule, w->forecast);
    mill_status status = p->run->host->parallel(p->run, p->n, replan_layer, w);
    if (status != MILL_OK)
        return status;
    w->mode->replans++;
    for (uint32_t i = 0; i < p->n; i++) {
        w->mode->same_gpu += w->moves[i].same_gpu;
        w->mode->same_node += w->moves[i].same_node;
        w->mode->cross_node += w->moves[i].cross_node;
        w->mode->busiest += w->busiest[i];
    }
    int32_t *old = w->now;
    w->now = w->next;
    w->next = old;
    w->planned = true;
    return MILL_OK;
}

/* What a step takes as the slots are filled now. As before is with all GPUs, also those that have
 * failed since. */
static void take_step(walk *w, uint64_t step, double *gpu) {
    const ep_problem *p = &w->a->problem;
    replay_mode *m = w->mode;
    ep_shape shape = p->shape;
    if (m->when == REPLAY_NEVER)
        shape.speed = p->speed;
    for (uint32_t i = 0; i < p->n; i++) {
        const double *load = mill_expert_load_at(p->loads, w->a->first + step, p->layer[i]);
        double max = 0, mean = ep_mean_load(&shape, load);
        ep_gpu_loads(&shape, load, plan_at(w, w->now, i), gpu);
        for (uint32_t g = 0; g < shape.gpus; g++)
            max = gpu[g] > max ? gpu[g] : max;
        m->max[step] += max;
        m->mean[step] += mean;
        m->sglang[step] += max > 0 ? mean / max : 0;
        m->loaded[step] += max > 0;
    }
}

/* SGLang's balancedness of the last steps before this one. */
static bool is_below(const walk *w, uint64_t step) {
    const replay_mode *m = w->mode;
    uint64_t window = (uint64_t)w->a->options->observe;
    double sum = 0, layers = 0;
    for (uint64_t s = step - window; s < step; s++) {
        sum += m->sglang[s];
        layers += m->loaded[s];
    }
    return layers > 0 && sum / layers < m->threshold;
}

/* The first plan comes at once, whenever others do. A threshold waits until all steps that it looks
 * at were taken under the plan that it judges. */
static bool is_time(const walk *w, uint64_t step, uint64_t since) {
    const replay_mode *m = w->mode;
    if (m->when == REPLAY_NEVER)
        return false;
    if (step == 0)
        return true;
    if (m->when == REPLAY_EVERY)
        return step % (uint64_t)m->interval == 0;
    return m->when == REPLAY_BELOW && since >= (uint64_t)w->a->options->observe &&
           is_below(w, step);
}

static mill_status go(walk *w) {
    const ep_problem *p = &w->a->problem;
    double *gpu = mill_scratch(p->run, p->shape.gpus * sizeof *gpu);
    uint64_t planned_at = 0;
    for (uint32_t i = 0; i < p->n; i++)
        ep_before(p, i, plan_at(w, w->now, i));
    w->planned = p->previous != NULL;
    for (uint64_t step = 0; step < w->a->steps; step++) {
        w->step = w->a->first + step;
        if (is_time(w, step, step - planned_at)) {
            mill_status status = replan(w);
            if (status != MILL_OK)
                return status;
            planned_at = step;
        }
        if (mill_cancelled(p->run))
            return MILL_E_CANCELLED;
        take_step(w, step, gpu);
    }
    return MILL_OK;
}

/* ---------------------------------------------------------------- all of them */

static replay_mode *add_mode(replay_analysis *a, replay_when when, const char *id,
                             const char *label) {
    mill_run *run = a->problem.run;
    replay_mode *m = &a->modes[a->n_modes++];
    *m = (replay_mode){.when = when, .id = id, .label = label};
    m->max = mill_scratch(run, a->steps * sizeof *m->max);
    m->mean = mill_scratch(run, a->steps * sizeof *m->mean);
    m->sglang = mill_scratch(run, a->steps * sizeof *m->sglang);
    m->loaded = mill_scratch(run, a->steps * sizeof *m->loaded);
    return m;
}

static void list_modes(replay_analysis *a) {
    mill_run *run = a->problem.run;
    const int64_t *interval = a->options->intervals.v;
    const double *threshold = a->options->thresholds.v;
    size_t n = 2 + a->options->intervals.n + a->options->thresholds.n;
    a->modes = mill_scratch(run, n * sizeof *a->modes);
    add_mode(a, REPLAY_NEVER, "before", "as before");
    add_mode(a, REPLAY_ONCE, "once", "planned once");
    for (size_t i = 0; i < a->options->intervals.n; i++) {
        if ((uint64_t)interval[i] >= a->steps) /* would be planned once */
            continue;
        replay_mode *m =
            add_mode(a, REPLAY_EVERY, ep_text(run, "every_%lld", (long long)interval[i]),
                     ep_text(run, "every %lld steps", (long long)interval[i]));
        m->interval = interval[i];
    }
    for (size_t i = 0; i < a->options->thresholds.n; i++) {
        replay_mode *m =
            add_mode(a, REPLAY_BELOW, ep_text(run, "below_%ld", lround(1000 * threshold[i])),
                     ep_text(run, "below %.4g %%", 100 * threshold[i]));
        m->threshold = threshold[i];
    }
}

mill_status replay_run(replay_analysis *a) {
    const ep_problem *p = &a->problem;
    size_t plans = (size_t)p->n * p->shape.slots * sizeof(int32_t);
    a->first = (uint64_t)a->options->observe;
    a->steps = p->loads->steps - a->first;
    list_modes(a);
    walk w = {.a = a,
              .now = mill_scratch(p->run, plans),
              .next = mill_scratch(p->run, plans),
              .forecast = mill_scratch(p->run, (size_t)p->loads->layers * p->loads->experts *
                                                   sizeof *w.forecast),
              .moves = mill_scratch(p->run, p->n * sizeof *w.moves),
              .busiest = mill_scratch(p->run, p->n * sizeof *w.busiest)};
    for (size_t i = 0; i < a->n_modes; i++) {
        w.mode = &a->modes[i];
        mill_status status = go(&w);
        if (status != MILL_OK)
            return status;
        mill_progress(p->run, i + 1, a->n_modes, "ways to plan");
    }
    return MILL_OK;
}
