/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `eplb`, its options and its run. */
#include "eplb.h"
#include "options.h"
#include "replay.h"
#include "text.h"

#include <tracemill/kit/expert_plan.h>

static const mill_port inputs[] = {
    {"loads", MILL_TYPE_EXPERT_LOAD, "How many tokens each expert gets.", 0, 0},
    {"previous", MILL_TYPE_EXPERT_PLAN, "What the slots hold now.", MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"plan", MILL_TYPE_EXPERT_PLAN, "Which expert each slot of each layer holds.", 0, 0},
    {"report", MILL_TYPE_REPORT, "What the plan is worth, what it costs, how good one could be.", 0,
     0},
    {0},
};

static const mill_option options[] = {
    EP_OPTIONS(eplb_options, common),
    {.name = "what-if",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(eplb_options, what_if, BOOL),
     .def = "yes",
     .help = "Also plan with other sizes and policies, to tell what they would change."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(eplb_options, top, INT),
     .def = "10",
     .min = 1,
     .max = 100000,
     .unit = "rows",
     .help = "How many of the hottest experts are listed."},
    {.name = "gpu-rows",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(eplb_options, gpu_rows, INT),
     .def = "64",
     .min = 0,
     .max = 1e9,
     .unit = "rows",
     .help = "List what each GPU holds in each layer, and its load, if that takes no more rows."},
    {.name = "min-gain",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(eplb_options, min_gain, NUM),
     .def = "0.01",
     .min = 0,
     .max = 1,
     .unit = "of the largest GPU load",
     .help = "Heuristic: what changes less than this is no finding, or one that says to leave it."},
    {0},
};

static mill_status check(mill_run *run, const void *opts) {
    return ep_check_options(run, &((const eplb_options *)opts)->common);
}

static mill_expert_plan *plan_of(const eplb_analysis *a) {
    const ep_problem *p = &a->problem;
    const ep_shape *s = &p->shape;
    int32_t *expert = mill_scratch(p->run, (size_t)p->n * s->slots * sizeof *expert);
    uint32_t *rank = mill_scratch(p->run, (size_t)p->n * s->slots * sizeof *rank);
    int64_t *layer = mill_scratch(p->run, p->n * sizeof *layer);
    for (size_t i = 0; i < p->n; i++) {
        layer[i] = a->layers[i].number;
        for (size_t slot = 0; slot < s->slots; slot++) {
            expert[i * s->slots + slot] = a->layers[i].after.expert[slot];
            rank[i * s->slots + slot] = a->layers[i].rank[slot];
        }
    }
    const char *of = p->loads->subject ? p->loads->subject : "loads";
    return kit_expert_plan(p->run,
                           &(mill_expert_plan){
                               .layers = p->n,
                               .experts = s->experts,
                               .slots = s->slots,
                               .gpus = s->gpus,
                               .nodes = s->nodes,
                               .groups = s->groups,
                               .subject = ep_text(p->run, "eplb of %s", of),
                               .policy = ep_policy_text(p),
                               .first = s->first,
                               .node = s->node,
                               .expert = expert,
                               .rank = p->reference ? rank : NULL, /* else by slot */
                               .layer = p->loads->layer || p->options->layers.n ? layer : NULL,
                           });
}

static mill_status run_eplb(mill_run *run, const void *opts, void *state) {
    (void)state;
    eplb_analysis a = {.options = opts};
    mill_status status = ep_problem_init(&a.problem, run, &a.options->common, mill_input(run, 0, 0),
                                         mill_input(run, 1, 0));
    if (status == MILL_OK && !a.problem.previous && mill_option_given(run, "max-moves"))
        status = mill_fail(run, MILL_E_CONFIG, "max-moves needs a plan at the input previous");
    if (status != MILL_OK)
        return status;
    a.layers = mill_scratch(run, a.problem.n * sizeof *a.layers);
    status = ep_plan_layers(&a.problem, a.layers);
    if (status != MILL_OK)
        return status;
    eplb_sum_up(&a);
    status = eplb_what_if(&a);
    if (status != MILL_OK)
        return status;
    status = mill_output(run, 0, plan_of(&a));
    return status == MILL_OK ? mill_output(run, 1, eplb_tell(&a)) : status;
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = "eplb",
    .summary = "Where to put the experts of MoE layers, and how many replicas of each",
    .help = "Plans which expert each slot of each GPU holds, so that the GPU with most load has as "
            "little as can be: eplb.py's plan bit for bit (policy = reference), or a better one "
            "under the same rules, with a lower bound that tells how good one could be. The report "
            "sets it beside the placement before, and says what moving there costs.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(eplb_options),
    .check = check,
    .run = run_eplb,
};

static const mill_stage *const stages[] = {&stage, &replay_stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.eplb",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Placement and replication of MoE experts",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
