/* SPDX-License-Identifier: Apache-2.0 */
/* The families of a goal with their parameters. */
#include "search_candidates.h"

#include <stdio.h>
#include <string.h>

#define MOST_VALUES 16 /* of one parameter */

int64_t pp_goal_most(const pp_goal *goal, const pp_plan *plan) {
    if (goal->memory == MILL_UNKNOWN || goal->memory >= INT64_MAX / plan->stages - 1)
        return INT64_MAX;
    /* So many chunks, in millionths of a device's share and rounded down, are within the limit. */
    return ((goal->memory + 1) * plan->stages - 1) / (1000000 * (int64_t)plan->ranks);
}

/* ---------------------------------------------------------------- parameters */

/* The parameter of a family that is not its number of chunks, if it has one. */
static uint32_t *parameter_of(const pp_family *family, pp_sizes *sizes) {
    if (!strcmp(family->id, "eager-1f1b"))
        return &sizes->warm_up;
    if (!strcmp(family->id, "zb-h1"))
        return &sizes->weight_lag;
    return NULL;
}

int64_t pp_most_live(mill_run *run, const pp_plan *plan, bool until_weight) {
    int64_t *live = mill_scratch(run, plan->ranks * sizeof *live), most = 0;
    pp_live(plan, until_weight, live);
    for (uint32_t rank = 0; rank < plan->ranks; rank++)
        if (live[rank] > most)
            most = live[rank];
    return most;
}

static pp_candidate made(mill_run *run, const pp_goal *goal, const pp_family *family,
                         const pp_sizes *sizes) {
    const pp_plan *plan = family->plan(run, sizes);
    int64_t live = pp_most_live(run, plan, goal->until_weight);
    return (pp_candidate){
        .family = family,
        .sizes = *sizes,
        .plan = plan,
        .timing = goal->timing(run, goal->context, plan),
        .fits = live <= pp_goal_most(goal, plan),
        .makespan = MILL_UNKNOWN,
    };
}

/* A family with this number of chunks, and each value of its other parameter. */
static void add_values(mill_run *run, const pp_goal *goal, const pp_family *family, pp_sizes sizes,
                       pp_candidates *all) {
    sizes.weight_lag = UINT32_MAX;
    sizes.warm_up = 1;
    pp_sizes nearest;
    if (!family->takes(&sizes, &nearest)) {
        if (nearest.ranks == sizes.ranks && nearest.chunks == sizes.chunks)
            all->others[all->n_others++] = made(run, goal, family, &nearest);
        return;
    }
    all->v[all->n++] = made(run, goal, family, &sizes);
    uint32_t *value = parameter_of(family, &sizes), most = 2 * sizes.ranks;
    if (!value)
        return;
    if (sizes.micro_batches < most)
        most = sizes.micro_batches;
    uint32_t step = 1 + most / MOST_VALUES;
    for (*value = value == &sizes.warm_up ? 1 + step : 0; *value <= most; *value += step)
        all->v[all->n++] = made(run, goal, family, &sizes);
}

void pp_candidates_make(mill_run *run, const pp_goal *goal, pp_candidates *ret) {
    size_t n_families = 0, most_chunks = goal->sizes.chunks;
    while (goal->families[n_families])
        n_families++;
    size_t room = n_families * (most_chunks + MOST_VALUES + 1);
    *ret = (pp_candidates){
        .v = mill_scratch(run, room * sizeof *ret->v),
        .others = mill_scratch(run, room * sizeof *ret->others),
    };
    for (size_t i = 0; i < n_families; i++) {
        const pp_family *family = goal->families[i];
        pp_sizes sizes = goal->sizes;
        if (family->split && !goal->split)
            continue;
        uint32_t first = family->choosable ? 1 : family->chunks;
        uint32_t last = family->choosable ? goal->sizes.chunks : family->chunks;
        if (last > most_chunks)
            continue;
        for (sizes.chunks = first; sizes.chunks <= last && !mill_cancelled(run); sizes.chunks++)
            add_values(run, goal, family, sizes, ret);
    }
}

/* ---------------------------------------------------------------- how long they take */

int64_t pp_makespan_of(const pp_plan *plan, const pp_timing *timing) {
    pp_workspace *w = pp_workspace_create();
    int64_t makespan = pp_makespan(w, plan, timing);
    pp_workspace_destroy(w);
    return makespan;
}

static mill_status run_one(mill_run *run, void *arg, size_t i) {
    pp_candidate *c = &((pp_candidate *)arg)[i];
    if (mill_cancelled(run))
        return MILL_E_CANCELLED;
    if (c->fits && c->timing)
        c->makespan = pp_makespan_of(c->plan, c->timing);
    return MILL_OK;
}

mill_status pp_candidates_run(mill_run *run, const pp_goal *goal, pp_candidates *all) {
    if (goal->effort < (int64_t)all->n)
        all->n = goal->effort > 0 ? (size_t)goal->effort : 0;
    return run->host->parallel(run, all->n, run_one, all->v);
}

const char *pp_candidate_text(mill_run *run, const pp_candidate *c) {
    char *text = mill_scratch(run, 200);
    int n = snprintf(text, 160, "%s", c->family->name);
    pp_sizes sizes = c->sizes;
    uint32_t *value = parameter_of(c->family, &sizes);
    if (c->family->choosable)
        snprintf(text + n, 40, ", %u chunks", sizes.chunks);
    else if (value == &sizes.warm_up)
        snprintf(text + n, 40, ", warm-up +%u", *value);
    else if (value && *value != UINT32_MAX)
        snprintf(text + n, 40, ", W lag %u", *value);
    return text;
}
