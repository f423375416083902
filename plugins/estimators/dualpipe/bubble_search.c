/* SPDX-License-Identifier: Apache-2.0 */
/* The search for a better schedule, and what it found. */
#include "bubble.h"

#include <tracemill/kit/measure.h>

/* What the search is given to ask for the durations of a plan. */
static const pp_timing *timing_for(mill_run *run, void *context, const pp_plan *plan) {
    const bubble_analysis *a = context;
    bubble_case c = bubble_case_of(a, pp_family_of(plan->id), a->m[0], a->in.likely);
    c.plan = plan;
    return bubble_timing(run, a, &c);
}

/* Room for activations in millionths of a device's share, beside so many copies of parameters. */
static int64_t room_beside(const bubble_analysis *a, int64_t copies) {
    if (a->memory_limit == MILL_UNKNOWN || a->activations <= 0)
        return MILL_UNKNOWN;
    int64_t bytes = a->memory_limit - copies * a->options->parameters;
    __int128 room = bytes < 0 ? 0 : (__int128)bytes * 1000000 / a->activations;
    return room < INT64_MAX ? (int64_t)room : INT64_MAX;
}

/* Also those that do not run with these sizes, whose placement may do with another order. */
static const pp_family **candidates(mill_run *run, const bubble_analysis *a, uint32_t copies) {
    const pp_family **list = mill_scratch(run, (a->n_schedules + 1) * sizeof *list);
    size_t n = 0;
    for (size_t s = 0; s < a->n_schedules; s++) {
        const bubble_case *c = bubble_at(a, 0, s, a->in.likely);
        if (c->family && c->family->copies == copies)
            list[n++] = c->family;
    }
    return list;
}

static mill_status simulate_found(mill_run *run, bubble_analysis *a) {
    bubble_case *c = &a->found_case;
    *c = bubble_case_of(a, pp_family_of(a->found->plan->id), a->m[0], a->in.likely);
    c->id = "search";
    c->name = a->found->how;
    c->plan = a->found->plan;
    c->record = true;
    return bubble_simulate_plan(run, a, c);
}

static bool is_better(const pp_found *found, const pp_found *than) {
    return found->plan && (!than->plan || found->makespan < than->makespan);
}

/* Schedules with more copies of the parameters have less room for activations: each kind is
 * searched with its own limit. */
mill_status bubble_search(mill_run *run, bubble_analysis *a) {
    const bubble_options *o = a->options;
    pp_found *best = mill_scratch(run, sizeof *best);
    *best = (pp_found){.bound.ns = INT64_MAX};
    bool proven = true; /* each of its kind */
    for (uint32_t copies = 1; copies <= 2; copies++) {
        pp_goal goal = {
            .families = candidates(run, a, copies),
            .sizes = bubble_case_of(a, NULL, a->m[0], a->in.likely).sizes,
            .timing = timing_for,
            .context = a,
            .memory = room_beside(a, copies),
            .until_weight = o->freed == BUBBLE_FREED_WEIGHT,
            .split = bubble_mean_cost(&a->in, a->in.likely).input != MILL_UNKNOWN,
            .effort = o->effort,
            .seed = (uint64_t)o->seed,
        };
        if (!goal.families[0])
            continue;
        pp_found found;
        mill_status status = pp_search(run, &goal, &found);
        if (status != MILL_OK)
            return status;
        if (!found.plan && found.bound.ns == MILL_UNKNOWN) /* none of these runs */
            continue;
        proven &= found.proven;
        int64_t tried = best->tried + found.tried;
        pp_bound bound = found.bound.ns < best->bound.ns ? found.bound : best->bound;
        *best = is_better(&found, best) ? found : *best;
        best->tried = tried;
        best->bound = bound;
    }
    best->proven = best->plan && (proven || best->makespan == best->bound.ns);
    a->found = best;
    return best->plan ? simulate_found(run, a) : MILL_OK;
}

void bubble_tell_search(mill_run *run, kit_report *r, const bubble_analysis *a) {
    const pp_found *f = a->found;
    if (!f)
        return;
    if (!f->plan) {
        kit_note(r, MILL_WARNING, "search_found_nothing",
                 "The search found no schedule that fits in memory-limit.");
        return;
    }
    kit_table *t = kit_table_begin(
        r, "search", "Search",
        bubble_text(run, "The best of %lld simulated schedules.", (long long)f->tried));
    kit_table_column(t, MILL_KIND_TEXT, "schedule", "schedule", NULL, NULL);
    kit_table_column(t, MILL_KIND_NS, "makespan", "step", NULL, NULL);
    kit_table_column(t, MILL_KIND_NS, "bound", "bound", NULL,
                     "No schedule of these families is shorter.");
    kit_table_column(t, MILL_KIND_RATIO, "over_bound", "over bound", NULL,
                     "(step - bound) / bound: how much could be left at most.");
    kit_table_column(t, MILL_KIND_REAL, "shares", "peak", "micro-batches",
                     "Activations that a device holds at most, in those of a whole device.");
    kit_table_column(t, MILL_KIND_TEXT, "proven", "proven best", NULL, NULL);
    kit_table_row(t);
    kit_cell_text(t, f->how);
    kit_cell_int(t, f->makespan);
    kit_cell_int(t, f->bound.ns);
    kit_cell_ratio(t, kit_subtract(f->makespan, f->bound.ns), f->bound.ns);
    kit_cell_real(t, (double)bubble_live(a, &a->found_case) / bubble_chunks_a_share(f->plan));
    kit_cell_text(t, f->proven ? "yes" : "no");
}
