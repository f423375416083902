/* SPDX-License-Identifier: Apache-2.0 */
/* What could be done: findings, from the comparison of schedules and from what-if cases. */
#include "bubble.h"

#include <string.h>

static void find(mill_run *run, kit_report *r, const char *rule, const mill_finding *finding) {
    mill_finding f = *finding;
    f.size = sizeof f;
    f.level = MILL_INFO;
    f.id = bubble_text(run, "%s_%s", rule, finding->id);
    f.rule = rule;
    f.at_ns = MILL_UNKNOWN;
    kit_finding(r, &f);
}

static bool pays(const bubble_analysis *a, int64_t now, int64_t then) {
    return then < now && (double)(now - then) >= a->options->min_gain * (double)now;
}

/* ---------------------------------------------------------------- another schedule */

/* Share of the bases on which the best is shorter than 1F1B. */
static double confidence(const bubble_analysis *a) {
    const bubble_case *best = a->best - a->in.likely, *base = a->baseline - a->in.likely;
    size_t n = 0;
    for (size_t b = 0; b < a->in.n_bases; b++)
        n += !best[b].reason && !base[b].reason && best[b].makespan < base[b].makespan;
    return (double)n / (double)a->in.n_bases;
}

static void find_schedule(mill_run *run, kit_report *r, const bubble_analysis *a) {
    const bubble_case *best = a->best, *base = a->baseline;
    if (!best || !base || best == base)
        return;
    if (!pays(a, base->makespan, best->makespan))
        return;
    const char *memory =
        bubble_text(run,
                    "peak activations of %.4g micro-batches instead of %.4g, %u cop%s of the "
                    "parameters",
                    (double)bubble_live(a, best) / bubble_chunks_a_share(best->plan),
                    (double)bubble_live(a, base), best->family ? best->family->copies : 1,
                    best->family && best->family->copies > 1 ? "ies" : "y");
    find(run, r, "P1",
         &(mill_finding){
             .id = bubble_id(run, best->id),
             .where = bubble_text(run, "PP = %u, m = %lld", a->in.pp, (long long)a->m[0]),
             .evidence = bubble_text(run, "a step takes %s with %s, %s with 1F1B; %s",
                                     bubble_ms(run, best->makespan), best->name,
                                     bubble_ms(run, base->makespan), memory),
             .advice = bubble_text(run, "run %s instead of 1F1B%s", best->name,
                                   a->memory_limit == MILL_UNKNOWN ? ", if its memory fits" : ""),
             .cost_ns = base->makespan,
             .gain_ns = base->makespan - best->makespan,
             .confidence = confidence(a),
         });
}

/* The search has found a shorter one than those known by name. */
static void find_order(mill_run *run, kit_report *r, const bubble_analysis *a) {
    const bubble_case *best = a->best, *found = &a->found_case;
    if (!best || !found->plan || !pays(a, best->makespan, found->makespan))
        return;
    find(run, r, "P5",
         &(mill_finding){
             .id = "search",
             .where = bubble_text(run, "PP = %u, m = %lld", a->in.pp, (long long)a->m[0]),
             .evidence = bubble_text(run, "a step takes %s with what the search found, %s with %s",
                                     bubble_ms(run, found->makespan),
                                     bubble_ms(run, best->makespan), best->name),
             .advice = "look at the order that was found: the item `search` of the output "
                       "schedules",
             .cost_ns = best->makespan,
             .gain_ns = best->makespan - found->makespan,
             .confidence = 1,
         });
}

/* ---------------------------------------------------------------- changes that pay */

static const struct {
    const char *rule, *change, *advice;
} changes[] = {
    {"P2", BUBBLE_HIDDEN,
     "overlap the communication of a pair better: F&B takes longer than its "
     "computation"},
    {"P3", BUBBLE_ALIKE, "balance the stages: give the slow ones fewer layers"},
    {"P4", BUBBLE_NO_TRANSFERS,
     "shorten transfers, or take a schedule whose slack absorbs them "
     "(ZB-H1, ZB-V)"},
};

static void find_change(mill_run *run, kit_report *r, const bubble_analysis *a,
                        const bubble_case *as_is, const bubble_case *c) {
    if (c->reason || !pays(a, as_is->makespan, c->makespan))
        return;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (strcmp(changes[i].change, c->change) == 0)
            find(run, r, changes[i].rule,
                 &(mill_finding){
                     .id = bubble_id(run, c->id),
                     .where = bubble_text(run, "%s, PP = %u, m = %u", c->name, c->sizes.ranks,
                                          c->sizes.micro_batches),
                     .evidence = bubble_text(run, "a step takes %s; %s: %s",
                                             bubble_ms(run, as_is->makespan), c->change,
                                             bubble_ms(run, c->makespan)),
                     .advice = changes[i].advice,
                     .cost_ns = as_is->makespan,
                     .gain_ns = as_is->makespan - c->makespan,
                     .confidence = 1,
                 });
}

void bubble_tell_findings(mill_run *run, kit_report *r, const bubble_analysis *a) {
    find_schedule(run, r, a);
    find_order(run, r, a);
    const bubble_case *as_is = NULL;
    for (size_t i = 0; i < a->n_what_if; i++) {
        const bubble_case *c = &a->what_if[i];
        if (strcmp(c->change, BUBBLE_AS_IS) == 0)
            as_is = c;
        else
            find_change(run, r, a, as_is, c);
    }
}
