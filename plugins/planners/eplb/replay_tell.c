/* SPDX-License-Identifier: Apache-2.0 */
/* The report: how balanced the steps were under each way to plan, what moving cost, what pays. */
#include "replay.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/measure.h>
#include <tracemill/kit/number.h>

/* ---------------------------------------------------------------- what it costs */

static int64_t loaded(const replay_mode *m) {
    return m->same_node + m->cross_node;
}

static int64_t to_ns(double ns) {
    return ns >= 0 && ns < 9e18 ? llround(ns) : MILL_UNKNOWN;
}

/* The slowest GPU's experts: `expert-time` is what they take in balance. */
static int64_t compute_ns(const replay_analysis *a, const replay_mode *m) {
    double balancedness = replay_balancedness(a, m);
    if (a->options->expert_time == 0 || !(balancedness > 0))
        return MILL_UNKNOWN;
    return to_ns((double)a->options->expert_time * (double)a->steps / balancedness);
}

/* Layer after layer, each as long as the GPU takes that loads most. */
static int64_t move_ns(const replay_analysis *a, const replay_mode *m) {
    int64_t bytes = a->problem.options->expert_bytes, bandwidth = a->options->bandwidth;
    if (m->busiest == 0)
        return 0;
    if (bytes == 0 || bandwidth == 0)
        return MILL_UNKNOWN;
    return to_ns((double)m->busiest * (double)bytes / (double)bandwidth * 1e9);
}

static int64_t total_ns(const replay_analysis *a, const replay_mode *m) {
    return kit_add(compute_ns(a, m), move_ns(a, m));
}

/* Once GPUs have failed nothing goes on as before. */
static bool is_open(const replay_analysis *a, const replay_mode *m) {
    return m->when != REPLAY_NEVER || a->problem.options->failed.n == 0;
}

/* The one with the least time; where times are unknown, NULL. */
static const replay_mode *cheapest(const replay_analysis *a) {
    const replay_mode *best = NULL;
    for (size_t i = 0; i < a->n_modes; i++) {
        int64_t ns = total_ns(a, &a->modes[i]);
        if (ns == MILL_UNKNOWN)
            return NULL;
        if (is_open(a, &a->modes[i]) && (!best || ns < total_ns(a, best)))
            best = &a->modes[i];
    }
    return best;
}

static const replay_mode *most_balanced(const replay_analysis *a) {
    const replay_mode *best = NULL;
    for (size_t i = 0; i < a->n_modes; i++)
        if (is_open(a, &a->modes[i]) &&
            (!best || replay_balancedness(a, &a->modes[i]) > replay_balancedness(a, best)))
            best = &a->modes[i];
    return best;
}

/* ---------------------------------------------------------------- tables */

static const kit_column columns[] = {
    {MILL_KIND_TEXT, "planned", "planned", "When slots are filled anew."},
    {MILL_KIND_COUNT, "replans", "plans", "How often that is."},
    {MILL_KIND_RATIO, "balancedness_vllm", "balancedness (vLLM)",
     "Σ of mean / Σ of largest GPU loads, over layers and steps."},
    {MILL_KIND_RATIO, "balancedness_sglang", "(SGLang)",
     "Mean over layers and steps of mean / largest GPU load."},
    {MILL_KIND_RATIO, "worst", "worst step", "The lowest Σ mean / Σ largest over the layers."},
    {0},
};

static double worst_step(const replay_analysis *a, const replay_mode *m) {
    double worst = NAN;
    for (uint64_t s = 0; s < a->steps; s++)
        if (m->max[s] > 0 && !(m->mean[s] / m->max[s] >= worst))
            worst = m->mean[s] / m->max[s];
    return worst;
}

static void tell_balance(kit_report *r, const replay_analysis *a) {
    kit_table *t =
        kit_table_of(r, "modes", "Balance",
                     "Of all steps after the first window, which is only looked at.", columns);
    for (size_t i = 0; i < a->n_modes; i++) {
        const replay_mode *m = &a->modes[i];
        kit_table_row(t);
        kit_cell_text(t, m->label);
        kit_cell_int(t, m->replans);
        kit_cell_share(t, replay_balancedness(a, m));
        kit_cell_share(t, replay_sglang(a, m));
        kit_cell_share(t, worst_step(a, m));
    }
}

static const kit_column cost_columns[] = {
    {MILL_KIND_TEXT, "planned", "planned", "When slots are filled anew."},
    {MILL_KIND_COUNT, "same_node", "same node",
     "Experts loaded from another GPU of the node, over layers and plans."},
    {MILL_KIND_COUNT, "cross_node", "other node", "Those that no GPU of the node held."},
    {MILL_KIND_BYTES, "bytes", "loaded", "Both, by the option expert-bytes."},
    {MILL_KIND_NS, "compute", "experts",
     "Computation of the slowest GPU's experts: expert-time x steps / balancedness (vLLM)."},
    {MILL_KIND_NS, "moving", "moving",
     "Layer after layer, experts of the GPU that loads most x expert-bytes / bandwidth."},
    {MILL_KIND_NS, "total", "in all", "Both: nothing is hidden."},
    {0},
};

static void tell_cost(kit_report *r, const replay_analysis *a) {
    int64_t bytes = a->problem.options->expert_bytes;
    kit_table *t = kit_table_of(r, "cost", "Cost", NULL, cost_columns);
    for (size_t i = 0; i < a->n_modes; i++) {
        const replay_mode *m = &a->modes[i];
        kit_table_row(t);
        kit_cell_text(t, m->label);
        kit_cell_int(t, m->same_node);
        kit_cell_int(t, m->cross_node);
        kit_cell_int(t, loaded(m) == 0 ? 0 : bytes ? loaded(m) * bytes : MILL_UNKNOWN);
        kit_cell_int(t, compute_ns(a, m));
        kit_cell_int(t, move_ns(a, m));
        kit_cell_int(t, total_ns(a, m));
    }
}

/* Over time: Σ of mean / Σ of largest of each step. */
static void add_series(kit_report *r, const replay_analysis *a, const replay_mode *m) {
    const int64_t *number = a->problem.loads->step;
    double *x = kit_alloc(a->steps, sizeof *x), *y = kit_alloc(a->steps, sizeof *y);
    for (uint64_t s = 0; s < a->steps; s++) {
        x[s] = number ? (double)number[a->first + s] : (double)(a->first + s);
        y[s] = m->max[s] > 0 ? m->mean[s] / m->max[s] : NAN;
    }
    kit_series(r, &(mill_series){
                      .size = sizeof(mill_series),
                      .id = ep_text(a->problem.run, "balancedness_%s", m->id),
                      .label = m->label,
                      .x_label = "step",
                      .y_label = "balancedness (vLLM)",
                      .n = a->steps,
                      .x = x,
                      .y = y,
                  });
    free(x);
    free(y);
}

/* ---------------------------------------------------------------- the answer */

static void tell_summary(kit_report *r, const replay_analysis *a) {
    const replay_mode *best = cheapest(a), *once = &a->modes[1], *even = most_balanced(a);
    char ms[KIT_NUMBER_MAX];
    if (best == once) {
        kit_report_summary(r,
                           "Planned once takes least time, moving included: %.2f %% balanced. No "
                           "further plan pays for itself.",
                           100 * replay_balancedness(a, best));
        return;
    }
    if (best) {
        int64_t saved = kit_subtract(total_ns(a, once), total_ns(a, best));
        kit_report_summary(r,
                           "Least time, moving included: %s, %.2f %% balanced; %s ms less than "
                           "planned once.",
                           best->label, 100 * replay_balancedness(a, best),
                           kit_format_ms(ms, saved, KIT_GROUP));
        return;
    }
    kit_report_summary(r,
                       "Most balanced: %s, %.2f %%; planned once %.2f %%, as before %.2f %%. "
                       "Whether moving experts pays is unknown.",
                       even->label, 100 * replay_balancedness(a, even),
                       100 * replay_balancedness(a, once),
                       100 * replay_balancedness(a, &a->modes[0]));
}

static void tell_notes(kit_report *r, const replay_analysis *a) {
    const ep_problem *p = &a->problem;
    const replay_options *o = a->options;
    if (p->warning)
        kit_note(r, MILL_WARNING, "sizes", "%s.", p->warning);
    if (!cheapest(a))
        kit_note(r, MILL_INFO, "cost_unknown",
                 "What pays is unknown without all of expert-bytes, bandwidth and expert-time.");
    kit_note(r, MILL_INFO, "before",
             p->previous ? "As before: the previous plan."
                         : "As before: the placement that engines begin with, slot p holds expert "
                           "p mod %u.",
             p->shape.experts);
    if (p->options->failed.n)
        kit_note(r, MILL_INFO, "before_failing",
                 "As before is with all GPUs, before any failed: what was, and no way to go on.");
    for (size_t i = 0; i < a->options->intervals.n; i++)
        if ((uint64_t)((const int64_t *)o->intervals.v)[i] >= a->steps)
            kit_note(r, MILL_INFO, "interval_too_long",
                     "Every %lld steps is no more than once in %llu.",
                     (long long)((const int64_t *)o->intervals.v)[i], (unsigned long long)a->steps);
}

mill_report *replay_tell(const replay_analysis *a) {
    const ep_problem *p = &a->problem;
    kit_report *r =
        kit_report_begin(p->run, "eplb.replay", "Expert placement over time", p->loads->subject);
    const replay_mode *best = cheapest(a);
    char forecast[KIT_FORECAST_TEXT];
    tell_summary(r, a);
    tell_notes(r, a);
    kit_figure_text(r, "policy", "policy", NULL, NULL, ep_policy_text(p));
    kit_figure_text(r, "best", "least time", NULL,
                    "The way to plan with the least time of experts and moving.",
                    best ? best->label : NULL);
    kit_figure_int(r, MILL_KIND_COUNT, "layers", "layers", NULL, NULL, p->n);
    kit_figure_int(r, MILL_KIND_COUNT, "steps", "steps", NULL,
                   "After those that are only observed.", (int64_t)a->steps);
    kit_figure_text(r, "forecast", "planned for", NULL,
                    "How the loads of the steps that come are told from those before.",
                    kit_forecast_text(forecast, &a->options->rule, p->loads->steps));
    tell_balance(r, a);
    tell_cost(r, a);
    for (size_t i = 0; i < a->n_modes; i++)
        add_series(r, a, &a->modes[i]);
    return kit_report_end(r);
}
