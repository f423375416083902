/* SPDX-License-Identifier: Apache-2.0 */
/* The report: the answer in figures, before and after, by every definition in use. */
#include "eplb.h"
#include "text.h"

#include <math.h>

static const char BEFORE[] = "before", AFTER[] = "after";

void eplb_sum_up(eplb_analysis *a) {
    a->before = a->after = (ep_worth){0};
    for (uint32_t i = 0; i < a->problem.n; i++) {
        const ep_layer *l = &a->layers[i];
        bool mean = a->problem.options->objective == EP_MEAN;
        ep_add_worth(&a->before, l->before.max, l->before.mean, NAN);
        ep_add_worth(&a->after, l->after.max, l->after.mean, mean ? l->answer.bound : NAN);
    }
}

static const ep_placement *side(const ep_layer *l, const char *scope) {
    return scope == BEFORE ? &l->before : &l->after;
}

/* ---------------------------------------------------------------- figures */

static void tell_sizes(kit_report *r, const eplb_analysis *a) {
    const ep_problem *p = &a->problem;
    const ep_shape *s = &p->shape;
    const struct {
        const char *id, *label, *help;
        int64_t value;
    } sizes[] = {
        {"layers", "layers", NULL, p->n},
        {"steps", "steps of loads", NULL, (int64_t)p->loads->steps},
        {"experts", "experts a layer", NULL, s->experts},
        {"slots", "slots a layer", "Physical experts, over all GPUs.", s->slots},
        {"gpus", "GPUs", NULL, s->gpus},
        {"nodes", "nodes", NULL, s->nodes},
        {"groups", "groups of experts", NULL, s->groups},
    };
    kit_figure_text(r, "policy", "policy", NULL, NULL, ep_policy_text(p));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        kit_figure_int(r, MILL_KIND_COUNT, sizes[i].id, sizes[i].label, NULL, sizes[i].help,
                       sizes[i].value);
}

static void tell_balance(kit_report *r, const eplb_analysis *a, const char *scope) {
    const ep_worth *w = scope == BEFORE ? &a->before : &a->after;
    kit_figure_share(r, "balancedness_sglang", "balancedness (SGLang)", scope,
                     "Mean over the layers of mean GPU load / largest GPU load.",
                     w->n ? w->sglang / w->n : NAN);
    kit_figure_share(r, "balancedness_vllm", "balancedness (vLLM)", scope,
                     "Σ over the layers of mean GPU load / Σ of largest GPU load.",
                     eplb_balancedness(w));
    double imbalance = 0, worst = NAN;
    for (uint32_t i = 0; i < a->problem.n; i++) {
        const ep_placement *q = side(&a->layers[i], scope);
        imbalance += q->max > 0 ? (q->max - q->mean) / q->mean : 0;
        worst = !(q->worst <= worst) && q->max > 0 ? q->worst : worst;
    }
    kit_figure_share(r, "imbalance_trtllm", "imbalance (TensorRT-LLM)", scope,
                     "Mean over the layers of (largest - mean GPU load) / mean.",
                     w->n ? imbalance / w->n : NAN);
    if (a->problem.loads->steps > 1)
        kit_figure_share(r, "imbalance_worst", "imbalance, worst step", scope,
                         "The largest of any step and layer: (largest - mean GPU load) / mean.",
                         worst - 1);
}

static void tell_placement(kit_report *r, const eplb_analysis *a, const char *scope) {
    int64_t duplicates = 0, splits = 0, most = 0;
    for (uint32_t i = 0; i < a->problem.n; i++) {
        const ep_placement *q = side(&a->layers[i], scope);
        duplicates += q->duplicates;
        splits += q->splits;
        most = q->most > most ? q->most : most;
    }
    kit_figure_int(r, MILL_KIND_COUNT, "most_replicas", "most replicas of an expert", scope, NULL,
                   most);
    kit_figure_int(r, MILL_KIND_COUNT, "duplicates", "GPUs with an expert twice", scope,
                   "Over all layers; the second replica there takes memory and no load off.",
                   duplicates);
    if (a->problem.shape.nodes > 1 && a->problem.shape.groups > 1)
        kit_figure_int(r, MILL_KIND_COUNT, "splits", "groups split over nodes", scope,
                       "Over all layers: groups whose experts are on several nodes.", splits);
}

/* Σ over the layers, step by step: what the slowest GPU has to compute. */
static double gain(const eplb_analysis *a) {
    double before = 0, after = 0;
    for (uint32_t i = 0; i < a->problem.n; i++) {
        before += a->layers[i].before.step_max;
        after += a->layers[i].after.step_max;
    }
    return after > 0 ? before / after : NAN;
}

static void tell_gain(kit_report *r, const eplb_analysis *a) {
    int64_t proven = 0;
    for (uint32_t i = 0; i < a->problem.n; i++)
        proven += a->layers[i].answer.proven;
    kit_figure_real(r, "gain", "expert computation is faster by", NULL,
                    "Σ over steps and layers of the largest GPU load, before / after: what the "
                    "slowest GPU computes, if its time grows with its tokens. The rest of a layer "
                    "(attention, transfers) is not in it.",
                    "times", gain(a));
    double bound = a->after.bound;
    kit_figure_share(r, "gap", "above the lower bound", NULL,
                     "Σ of largest GPU loads / Σ of their lower bounds - 1. No plan under the same "
                     "policy and with the same slots is below the bound.",
                     bound > 0 ? a->after.max / bound - 1 : NAN);
    kit_figure_int(r, MILL_KIND_COUNT, "proven", "layers proven best", NULL,
                   "Their plan reaches the lower bound.", proven);
}

static void tell_moves(kit_report *r, const eplb_analysis *a) {
    int64_t gpu = 0, node = 0, cross = 0, bytes = a->problem.options->expert_bytes;
    for (uint32_t i = 0; i < a->problem.n; i++) {
        gpu += a->layers[i].moves.same_gpu;
        node += a->layers[i].moves.same_node;
        cross += a->layers[i].moves.cross_node;
    }
    kit_figure_int(r, MILL_KIND_COUNT, "moves_same_gpu", "slots filled from the same GPU", NULL,
                   "Slots, over all layers, that hold another expert than before, which their GPU "
                   "holds already.",
                   gpu);
    kit_figure_int(r, MILL_KIND_COUNT, "moves_same_node", "from another GPU of the node", NULL,
                   "Likewise, where a GPU of the same node held it.", node);
    kit_figure_int(r, MILL_KIND_COUNT, "moves_cross_node", "from another node", NULL,
                   "Likewise, where no GPU of the node did.", cross);
    kit_figure_int(r, MILL_KIND_BYTES, "bytes_same_node", "bytes to load within nodes", NULL, NULL,
                   bytes ? node * bytes : MILL_UNKNOWN);
    kit_figure_int(r, MILL_KIND_BYTES, "bytes_cross_node", "bytes to load across nodes", NULL, NULL,
                   bytes ? cross * bytes : MILL_UNKNOWN);
}

/* ---------------------------------------------------------------- notes */

static void note_layers(kit_report *r, const eplb_analysis *a) {
    const char *empty = "";
    const ep_problem *p = &a->problem;
    uint32_t n = 0, broken = 0, over = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const ep_layer *l = &a->layers[i];
        broken += l->answer.distinct_broken;
        over += p->max_moves != MILL_UNKNOWN &&
                (int64_t)l->moves.same_node + l->moves.cross_node > p->max_moves;
        if (l->after.mean == 0 && n++ < 8)
            empty = ep_text(p->run, "%s%s%lld", empty, *empty ? ", " : "", (long long)l->number);
    }
    if (n)
        kit_note(r, MILL_WARNING, "no_load",
                 "%u layer%s no load at all (%s%s): each expert has a slot there, and the layer is "
                 "left out of the balancedness.",
                 n, n == 1 ? " has" : "s have", empty, n > 8 ? ", …" : "");
    if (broken)
        kit_note(
            r, MILL_WARNING, "duplicates_forced",
            "In %u layer%s an expert is on a GPU twice, since %s.", broken, broken == 1 ? "" : "s",
            p->options->search == EP_SEARCH_NONE ? "eplb.py's plan is so and search = none keeps it"
                                                 : "no plan under these rules avoids it");
    if (over)
        kit_note(r, MILL_WARNING, "moves_forced",
                 "In %u layer%s more than %lld experts move, since the failed GPUs or the policy "
                 "leave no choice.",
                 over, over == 1 ? "" : "s", (long long)p->max_moves);
}

static void tell_notes(kit_report *r, const eplb_analysis *a) {
    const ep_problem *p = &a->problem;
    if (p->warning)
        kit_note(r, MILL_WARNING, "sizes", "%s.", p->warning);
    if (p->odd)
        kit_note(r, MILL_WARNING, "odd_loads",
                 "Some loads are negative, infinite or not a number. eplb.py takes them, and so "
                 "did this; nothing is said of what the plan is worth.");
    note_layers(r, a);
    kit_note(r, MILL_INFO, "before",
             p->previous ? "Before: the previous plan, %s."
                         : "Before: the placement that engines begin "
                           "with, slot p holds expert p mod %s.",
             p->previous ? p->previous->subject ? p->previous->subject : "without a name"
                         : ep_text(p->run, "%u", p->shape.experts));
}

static void tell_summary(kit_report *r, const eplb_analysis *a) {
    double before = 100 * eplb_balancedness(&a->before), after = 100 * eplb_balancedness(&a->after);
    const ep_worth *w = &a->after;
    if (isnan(after)) {
        kit_report_summary(r, "%u layers are planned; what the plan is worth is unknown.",
                           a->problem.n);
        return;
    }
    const char *best = "";
    if (w->bound > 0)
        best = ep_text(a->problem.run, "; no plan under these rules has more than %.2f %%",
                       100 * w->mean / w->bound);
    kit_report_summary(r,
                       "Balancedness goes from %.2f to %.2f %%: the slowest GPU computes experts "
                       "%.2f times as fast%s.",
                       before, after, gain(a), best);
}

mill_report *eplb_tell(const eplb_analysis *a) {
    const ep_problem *p = &a->problem;
    kit_report *r = kit_report_begin(p->run, "eplb", "Expert placement", p->loads->subject);
    tell_summary(r, a);
    tell_notes(r, a);
    tell_sizes(r, a);
    tell_balance(r, a, BEFORE);
    tell_placement(r, a, BEFORE);
    tell_balance(r, a, AFTER);
    tell_placement(r, a, AFTER);
    tell_gain(r, a);
    tell_moves(r, a);
    eplb_tell_what_if(r, a);
    eplb_tell_layers(r, a);
    eplb_tell_findings(r, a);
    return kit_report_end(r);
}
