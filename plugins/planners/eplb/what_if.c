/* SPDX-License-Identifier: Apache-2.0 */
/* The same loads with other sizes, policies and limits: what redundancy, groups and moves are
 * worth. */
#include "eplb.h"
#include "text.h"

#include <math.h>
#include <string.h>

double eplb_balancedness(const ep_worth *w) {
    return w->max > 0 ? w->mean / w->max : NAN;
}

double eplb_over(const ep_worth *w, const ep_worth *base) {
    return base->max > 0 ? w->max / base->max : NAN;
}

const eplb_case *eplb_find_case(const eplb_analysis *a, const char *id) {
    for (size_t i = 0; i < a->n_cases; i++)
        if (strcmp(a->cases[i].id, id) == 0)
            return &a->cases[i];
    return NULL;
}

static mill_status add(eplb_analysis *a, const char *id, const char *change, const ep_problem *p) {
    eplb_case *c = &a->cases[a->n_cases];
    *c = (eplb_case){.id = id, .change = change, .slots = p->shape.slots};
    mill_status status = ep_worth_of_plans(p, &c->worth);
    a->n_cases += status == MILL_OK;
    return status;
}

static mill_status add_like(eplb_analysis *a, const char *id, const char *change, uint32_t slots,
                            ep_policy policy, const ep_options *options) {
    ep_problem like;
    if (!ep_problem_like(&a->problem, slots, policy, &like))
        return MILL_OK;
    like.options = options;
    return add(a, id, change, &like);
}

static mill_status add_reference(eplb_analysis *a) {
    ep_problem like = a->problem;
    if (like.reference || !like.starts)
        return MILL_OK;
    like.reference = true;
    return add(a, "reference", "eplb.py's plan", &like);
}

static mill_status add_moves(eplb_analysis *a, const ep_options *options) {
    ep_problem like = a->problem;
    if (!like.previous || like.reference || like.max_moves != MILL_UNKNOWN)
        return MILL_OK;
    like.options = options;
    like.max_moves = like.shape.slots / 8;
    return add(a, "few_moves",
               ep_text(like.run, "at most %lld experts a layer move", (long long)like.max_moves),
               &like);
}

mill_status eplb_what_if(eplb_analysis *a) {
    const ep_problem *p = &a->problem;
    const ep_shape *s = &p->shape;
    ep_options options = *p->options; /* a fast search tells enough */
    options.search = options.search == EP_SEARCH_NONE ? EP_SEARCH_NONE : EP_SEARCH_FAST;
    a->cases = mill_scratch(p->run, 8 * sizeof *a->cases);
    if (!a->options->what_if || p->odd)
        return MILL_OK;
    bool global = p->policy == EP_GLOBAL;
    mill_status status = add_reference(a);
    if (status == MILL_OK && s->slots > s->experts)
        status =
            add_like(a, "no_redundancy", "no redundant experts", s->experts, p->policy, &options);
    if (status == MILL_OK)
        status = add_like(a, "more_slots", "one slot more on each GPU", s->slots + s->gpus,
                          p->policy, &options);
    if (status == MILL_OK && s->nodes > 1)
        status = add_like(a, global ? "hierarchical" : "global",
                          global ? "groups stay on their nodes" : "any expert on any GPU", s->slots,
                          global ? EP_HIERARCHICAL : EP_GLOBAL, &options);
    return status == MILL_OK ? add_moves(a, &options) : status;
}

static const kit_column columns[] = {
    {MILL_KIND_TEXT, "change", "change", "What is different from this plan."},
    {MILL_KIND_COUNT, "slots", "slots", "Physical experts of a layer."},
    {MILL_KIND_RATIO, "balancedness", "balancedness", "Σ of mean / Σ of largest GPU load (vLLM)"},
    {MILL_KIND_RATIO, "over_plan", "largest", "Σ of largest GPU loads / that of this plan"},
    {0},
};

static void tell_row(kit_table *t, const eplb_analysis *a, const char *change, uint32_t slots,
                     const ep_worth *worth) {
    kit_table_row(t);
    kit_cell_text(t, change);
    kit_cell_int(t, slots);
    kit_cell_share(t, eplb_balancedness(worth));
    kit_cell_share(t, eplb_over(worth, &a->after));
}

void eplb_tell_what_if(kit_report *r, const eplb_analysis *a) {
    if (a->n_cases == 0)
        return;
    kit_table *t = kit_table_of(r, "what_if", "What changes would do",
                                "The same loads, planned anew with a fast search.", columns);
    tell_row(t, a, "as planned", a->problem.shape.slots, &a->after);
    for (size_t i = 0; i < a->n_cases; i++)
        tell_row(t, a, a->cases[i].change, a->cases[i].slots, &a->cases[i].worth);
}
