/* SPDX-License-Identifier: Apache-2.0 */
/* Closed forms beside the simulation, and why the published ones differ from it. */
#include "bubble.h"

static const kit_column columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_NS, "published", "published", "Bubble by the published formula; may be negative."},
    {MILL_KIND_NS, "exact", "exact",
     "Bubble by our formula, which equals the simulation's in its domain."},
    {MILL_KIND_NS, "exact_makespan", "exact step", "By our formula."},
    {MILL_KIND_NS, "makespan", "simulated", "The step that the simulation has."},
    {0},
};

static const kit_column formula_columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_TEXT, "what", "what", NULL},
    {MILL_KIND_TEXT, "text", "formula, or source", NULL},
    {0},
};

/* What one chunk of the case costs, where all cost the same; F&B by the rule in use. */
static mill_chunk_cost chunk_cost(const bubble_case *c) {
    const pp_timing *t = c->timing;
    const pp_op pair = {.kind = MILL_OP_PAIR, .chunk2 = c->family->pairs};
    return (mill_chunk_cost){
        t->forward[0],
        t->backward[0],
        t->input[0],
        t->weight[0],
        c->family->pairs ? pp_duration(c->plan, t, 0, pair) : MILL_UNKNOWN,
    };
}

static void tell_bubble(kit_table *t, const bubble_case *c, const pp_form *form) {
    kit_table_row(t);
    kit_cell_text(t, c->name);
    kit_cell_int(t, form->published);
    kit_cell_int(t, form->span_idle != MILL_UNKNOWN ? form->span_idle : form->bubble);
    kit_cell_int(t, form->makespan);
    kit_cell_int(t, c->makespan);
}

static void tell_formula(kit_table *t, const bubble_case *c, const char *what, const char *text) {
    if (!text)
        return;
    kit_table_row(t);
    kit_cell_text(t, c->name);
    kit_cell_text(t, what);
    kit_cell_text(t, text);
}

static void tell_formulas(kit_report *r, const bubble_analysis *a, const bubble_case **cases,
                          const pp_form *forms, size_t n) {
    kit_table *t = kit_table_of(r, "formulas", "Formulas of bubbles, and sources",
                                "Of the schedules that are compared.", formula_columns);
    for (size_t i = 0; i < n; i++) {
        if (!bubble_compared(a, cases[i]))
            continue;
        tell_formula(t, cases[i], "published", forms[i].published_formula);
        tell_formula(t, cases[i], "published in", forms[i].published_source);
        if (forms[i].exact_formula != forms[i].published_formula)
            tell_formula(t, cases[i], "exact", forms[i].exact_formula);
        tell_formula(t, cases[i], "order from", cases[i]->family->source);
    }
}

static void note_difference(mill_run *run, kit_report *r, const bubble_case *c,
                            const pp_form *form) {
    const char *id = bubble_text(run, "form_%s", bubble_id(run, c->id));
    if (form->domain)
        kit_note(r, MILL_INFO, id, "%s: no closed form here: %s.", c->name, form->domain);
    else if (form->why)
        kit_note(r, MILL_INFO, id, "%s, closed form of %s: %s", c->name, form->which, form->why);
}

void bubble_tell_forms(mill_run *run, kit_report *r, const bubble_analysis *a) {
    const bubble_options *o = a->options;
    if (!bubble_equal(&a->in) || a->latency > 0 || o->transfer_bytes > 0 || o->slowness.n > 0 ||
        o->comm != PP_COMM_DEP) {
        kit_note(r, MILL_INFO, "no_closed_forms",
                 "Closed forms are left out: they hold for equal stages and ranks, and transfers "
                 "that take no time.");
        return;
    }
    size_t n = 0;
    const bubble_case **cases = mill_scratch(run, (a->n_schedules + 1) * sizeof *cases);
    for (size_t s = 0; s < a->n_schedules; s++) {
        const bubble_case *c = bubble_at(a, 0, s, a->in.likely);
        if (c->family && !c->reason)
            cases[n++] = c;
    }
    pp_form *forms = mill_scratch(run, (n + 1) * sizeof *forms);
    kit_table *t = kit_table_of(r, "forms", "Closed forms",
                                "For equal stages and transfers that take no time.", columns);
    for (size_t i = 0; i < n; i++) {
        mill_chunk_cost cost = chunk_cost(cases[i]);
        forms[i] = pp_form_of(run, cases[i]->family, &cases[i]->sizes, &cost);
        if (forms[i].exact_formula || forms[i].published_formula)
            tell_bubble(t, cases[i], &forms[i]);
        if (bubble_compared(a, cases[i]))
            note_difference(run, r, cases[i], &forms[i]);
    }
    tell_formulas(r, a, cases, forms, n);
}
