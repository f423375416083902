/* SPDX-License-Identifier: Apache-2.0 */
/* Goals of searches with given durations. */
#include "search_goal.h"

/* A chunk has ranks / stages of a device's share. */
static const int64_t *column(mill_run *run, const search_costs *costs, const pp_plan *plan,
                             int64_t share) {
    uint32_t cells = plan->ranks * plan->chunks;
    int64_t *ns = mill_scratch(run, cells * sizeof *ns);
    for (uint32_t cell = 0; cell < cells; cell++) {
        int64_t scale = costs->scale ? costs->scale[cell / plan->chunks] : 10;
        ns[cell] = share == MILL_UNKNOWN
                       ? share
                       : (int64_t)((__int128)share * scale * plan->ranks / plan->stages / 10);
    }
    return ns;
}

const pp_timing *search_timing(mill_run *run, void *context, const pp_plan *plan) {
    const search_costs *costs = context;
    pp_timing *timing = mill_scratch(run, sizeof *timing);
    *timing = (pp_timing){
        .forward = column(run, costs, plan, costs->forward),
        .backward = column(run, costs, plan, costs->backward),
        .input = column(run, costs, plan, costs->input),
        .weight = column(run, costs, plan, costs->weight),
        .pair = column(run, costs, plan, costs->pair),
        .comm = costs->comm,
        .latency = costs->latency,
        .occupied = costs->occupied,
        .jitter = costs->jitter,
    };
    return timing;
}

pp_goal search_goal(const search_costs *costs, uint32_t ranks, uint32_t micro_batches,
                    uint32_t chunks) {
    return (pp_goal){
        .families = pp_families,
        .sizes = {.ranks = ranks, .micro_batches = micro_batches, .chunks = chunks},
        .timing = search_timing,
        .context = (void *)costs,
        .memory = MILL_UNKNOWN,
        .split = true,
        .effort = 20000,
        .seed = 1,
    };
}
