/* SPDX-License-Identifier: Apache-2.0 */
/* What could be done: more or fewer replicas, another policy, fewer moves, or nothing. */
#include "eplb.h"
#include "text.h"

#include <math.h>

static void find(kit_report *r, const eplb_analysis *a, const char *rule, const char *where,
                 const char *evidence, const char *advice) {
    kit_finding(r, &(mill_finding){
                       .size = sizeof(mill_finding),
                       .level = MILL_INFO,
                       .id = ep_text(a->problem.run, "%s_1", rule),
                       .rule = rule,
                       .where = where,
                       .evidence = evidence,
                       .advice = advice,
                       .cost_ns = MILL_UNKNOWN,
                       .gain_ns = MILL_UNKNOWN,
                       .confidence = 1,
                       .at_ns = MILL_UNKNOWN,
                   });
}

/* By how much the largest loads are above those of another case. */
static double above(const eplb_case *c, const eplb_analysis *a) {
    return c ? 1 / eplb_over(&c->worth, &a->after) - 1 : NAN;
}

static void find_redundancy(kit_report *r, const eplb_analysis *a) {
    mill_run *run = a->problem.run;
    const ep_shape *s = &a->problem.shape;
    const eplb_case *none = eplb_find_case(a, "no_redundancy");
    const eplb_case *more = eplb_find_case(a, "more_slots");
    double without = none ? eplb_over(&none->worth, &a->after) - 1 : NAN;
    if (without < a->options->min_gain)
        find(r, a, "E1", "all layers",
             ep_text(run, "with no redundant experts the largest GPU loads are %.2f %% higher",
                     100 * without),
             ep_text(run, "leave the %u redundant slots out: their memory wins next to nothing",
                     s->slots - s->experts));
    double won = above(more, a);
    if (won >= a->options->min_gain)
        find(r, a, "E2", "all layers",
             ep_text(run, "%u slots instead of %u: the largest GPU loads are %.1f %% lower",
                     more->slots, s->slots, 100 * (1 - eplb_over(&more->worth, &a->after))),
             "give each GPU one slot more, if memory allows");
}

/* The expert that needs most replicas beyond those that it has. */
static void find_hot(kit_report *r, const eplb_analysis *a) {
    const ep_layer *layer = NULL;
    uint32_t expert = 0, layers = 0;
    double most = 1 + a->options->min_gain;
    uint32_t *count = mill_scratch(a->problem.run, a->problem.shape.experts * sizeof *count);
    for (uint32_t i = 0; i < a->problem.n; i++) {
        const ep_layer *l = &a->layers[i];
        ep_counts(&a->problem.shape, l->after.expert, count);
        bool any = false;
        for (uint32_t e = 0; e < a->problem.shape.experts && l->after.mean > 0; e++) {
            double share = count[e] ? l->load[e] / count[e] / l->after.mean : 0;
            any |= share > 1 + a->options->min_gain;
            if (share <= most)
                continue;
            most = share;
            layer = l;
            expert = e;
        }
        layers += any;
    }
    if (!layer)
        return;
    ep_counts(&a->problem.shape, layer->after.expert, count);
    double load = layer->load[expert] / layer->after.mean;
    find(r, a, "E3",
         ep_text(a->problem.run, "layer %lld, expert %u", (long long)layer->number, expert),
         ep_text(a->problem.run,
                 "it has %.2f times a GPU's mean load in %u replica%s, so that one alone is above "
                 "the mean; %u layer%s such experts",
                 load, count[expert], count[expert] == 1 ? "" : "s", layers,
                 layers == 1 ? " has" : "s have"),
         ep_text(a->problem.run, "it needs %.0f replicas: give the layer more slots", ceil(load)));
}

static void find_policy(kit_report *r, const eplb_analysis *a) {
    double cost = above(eplb_find_case(a, "global"), a);
    if (cost >= a->options->min_gain)
        find(r, a, "E4", "all layers",
             ep_text(a->problem.run,
                     "the largest GPU loads are %.1f %% higher since groups stay on their nodes",
                     100 * cost),
             "compare with the time of transfers between nodes; policy = soft-nodes splits only "
             "the groups that must be");
}

static void find_little(kit_report *r, const eplb_analysis *a) {
    double won = eplb_over(&a->before, &a->after) - 1;
    if (won < a->options->min_gain && won >= 0)
        find(r, a, "E5", "all layers",
             ep_text(a->problem.run, "the largest GPU loads are %.2f %% above this plan's before",
                     100 * won),
             "keep the placement: a new one wins next to nothing");
    const eplb_case *few = eplb_find_case(a, "few_moves");
    double rest = few ? eplb_over(&few->worth, &a->after) - 1 : NAN;
    double possible = won > 0 ? rest / won : NAN;
    if (won >= a->options->min_gain && possible < 0.1)
        find(r, a, "E6", "all layers",
             ep_text(a->problem.run, "%s: %.0f %% of what this plan wins", few->change,
                     100 * (1 - possible)),
             ep_text(a->problem.run, "set max-moves = %u", a->problem.shape.slots / 8));
}

void eplb_tell_findings(kit_report *r, const eplb_analysis *a) {
    if (a->problem.odd || a->after.n == 0)
        return;
    find_redundancy(r, a);
    find_hot(r, a);
    find_policy(r, a);
    find_little(r, a);
}
