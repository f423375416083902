/* SPDX-License-Identifier: Apache-2.0 */
/* Closed forms beside the simulation, and why the published ones differ from it. */
#include "bubble.h"

static const kit_column columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_TEXT, "of", "bubble of", "Whose idle time the bubbles are."},
    {MILL_KIND_NS, "published", "published", "By the published formula; may be negative."},
    {MILL_KIND_NS, "exact", "exact", "By our formula, which equals the simulation in its domain."},
    {MILL_KIND_NS, "exact_makespan", "exact step", "By our formula."},
    {MILL_KIND_NS, "simulated", "simulated", "The step that the simulation has."},
    {MILL_KIND_TEXT, "why", "why they differ", NULL},
    {0},
};

static const kit_column formula_columns[] = {
    {MILL_KIND_TEXT, "schedule", "schedule", NULL},
    {MILL_KIND_TEXT, "published", "published bubble", NULL},
    {MILL_KIND_TEXT, "exact", "exact bubble", NULL},
    {MILL_KIND_TEXT, "source", "source", NULL},
    {0},
};

/* What one chunk of the case costs, where all cost the same. */
static mill_chunk_cost chunk_cost(const bubble_case *c) {
    const pp_timing *t = c->timing;
    return (mill_chunk_cost){t->forward[0], t->backward[0], t->input[0], t->weight[0], t->pair[0]};
}

static void tell_row(mill_run *run, kit_table *t, kit_table *formulas, const bubble_case *c) {
    mill_chunk_cost cost = chunk_cost(c);
    pp_form form = pp_form_of(run, c->family, &c->sizes, &cost);
    kit_table_row(t);
    kit_cell_text(t, c->name);
    kit_cell_text(t, form.which);
    kit_cell_int(t, form.published);
    kit_cell_int(t, form.span_idle != MILL_UNKNOWN ? form.span_idle : form.bubble);
    kit_cell_int(t, form.makespan);
    kit_cell_int(t, c->makespan);
    kit_cell_text(t, form.domain ? form.domain : form.why ? form.why : "");
    kit_table_row(formulas);
    kit_cell_text(formulas, c->name);
    kit_cell_text(formulas, form.published_formula ? form.published_formula : "none");
    kit_cell_text(formulas, form.exact_formula ? form.exact_formula : "none");
    kit_cell_text(formulas, c->family->source);
}

void bubble_tell_forms(mill_run *run, kit_report *r, const bubble_analysis *a) {
    const bubble_options *o = a->options;
    if (!bubble_equal(&a->in) || o->latency > 0 || o->transfer_bytes > 0 || o->slowness.n > 0 ||
        o->comm != PP_COMM_DEP) {
        kit_note(r, MILL_INFO, "no_closed_forms",
                 "Closed forms are left out: they hold for equal stages and ranks, and transfers "
                 "that take no time.");
        return;
    }
    kit_table *t = kit_table_of(r, "forms", "Closed forms",
                                "For equal stages and transfers that take no time.", columns);
    kit_table *formulas =
        kit_table_of(r, "formulas", "Formulas and sources", NULL, formula_columns);
    for (size_t s = 0; s < a->n_schedules; s++) {
        const bubble_case *c = bubble_at(a, 0, s, a->in.likely);
        if (!c->reason && c->family)
            tell_row(run, t, formulas, c);
    }
}
