/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `pipeline`, its options and its run. */
#include "pipeline.h"

#include <tracemill/kit/number.h>

static const mill_port inputs[] = {
    {"in", PIPE_TYPE, "Those of each profile, made by pipeline.operations.", MILL_PORT_MANY, 0},
    {0},
};

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "Bubbles by cause, stages, ranks and steps side by side.", 0, 0},
    {"schedule", MILL_TYPE_SCHEDULE, "One step as measured: see the option step.", 0, 0},
    {"times", MILL_TYPE_CHUNK_TIMES, "How long F and B of each stage take: for estimators.", 0, 0},
    {0},
};

static const mill_option options[] = {
    {.name = "ranks-per-stage",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(pipe_options, ranks_per_stage, INT),
     .def = "1",
     .min = 1,
     .max = 1e9,
     .unit = "ranks",
     .help = "Of profiles: how many ranks of consecutive numbers make one stage, as Megatron "
             "numbers them (tensor, expert and data parallel ranks inside). Timelines tell their "
             "stages."},
    {.name = "step",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(pipe_options, step, INT),
     .min = 0,
     .max = 9e15,
     .help = "The step that `schedule` and the lanes show. Left out: the one of median span."},
    {.name = "replica",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(pipe_options, replica, INT),
     .def = "0",
     .min = 0,
     .max = 1e9,
     .help = "The pipeline that they show, of those that run the same stages on other data."},
    {.name = "slow-stage",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(pipe_options, slow_stage, NUM),
     .def = "1.05",
     .min = 1,
     .max = 1000,
     .help = "Heuristic: a stage that makes the span longer by this factor is a finding."},
    {.name = "min-coverage",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(pipe_options, min_coverage, NUM),
     .def = "0.95",
     .min = 0,
     .max = 1,
     .help = "If less of the computation belongs to operations, the report warns."},
    {.name = "infer-peers",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(pipe_options, infer_peers, BOOL),
     .def = "yes",
     .help = "Heuristic: where profiles do not tell who a stage exchanges work with (PyTorch does "
             "not for batch_isend_irecv), tell it by the work before and after."},
    {.name = "detail",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(pipe_options, detail, BOOL),
     .def = "no",
     .help = "The table of each stage in each step, too."},
    {.name = "lanes",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(pipe_options, lanes, BOOL),
     .def = "no",
     .help = "Put the step into the report as lanes of a timeline, one a stage."},
    {0},
};

static bool ever_computes(const pipe_analysis *a, int64_t stage) {
    for (size_t i = 0; i < a->n_events; i++)
        if (pipe_computes(a->events[i].op->kind) && a->members[a->events[i].member].stage == stage)
            return true;
    return false;
}

/* ", stage 2 never does", or "". */
static const char *tell_silent(const pipe_analysis *a, char text[KIT_NUMBER_MAX]) {
    size_t stage = 0;
    while (stage < a->n_stages && ever_computes(a, (int64_t)stage))
        stage++;
    text[0] = '\0';
    if (stage < a->n_stages)
        snprintf(text, KIT_NUMBER_MAX, ", stage %zu never does", stage);
    return text;
}

/* Why there is nothing to tell. */
static mill_status fail_empty(const pipe_analysis *a) {
    bool any = false, given = mill_option_given(a->run, "step");
    char step[KIT_NUMBER_MAX], first[KIT_NUMBER_MAX], last[KIT_NUMBER_MAX];
    for (size_t i = 0; i < a->n_steps * a->n_replicas; i++)
        any |= a->passes[i].complete;
    if (any)
        return mill_fail(a->run, MILL_E_CONFIG,
                         "no such step of such a pipeline: step = %s, replica = %lld; steps have "
                         "the numbers %s to %s, pipelines 0 to %zu",
                         given ? kit_format_int(step, a->options->step, 0) : "any",
                         (long long)a->options->replica, kit_format_int(first, a->steps[0], 0),
                         kit_format_int(last, a->steps[a->n_steps - 1], 0), a->n_replicas - 1);
    return mill_fail(
        a->run, MILL_E_DATA,
        "no step in which every stage runs forward or backward work (stages here: %zu, "
        "ranks: %zu, profiles: %zu%s); give the profiles of all stages, and tell what is "
        "forward and backward by annotations or by rules of the attribution",
        a->n_stages, a->n_members, a->n_clocks, tell_silent(a, step));
}

static mill_status run_pipeline(mill_run *run, const void *opts, void *state) {
    (void)state;
    pipe_analysis a = {.run = run, .options = opts};
    mill_status status = pipe_gather(&a);
    if (status != MILL_OK)
        return status;
    if (a.options->infer_peers)
        pipe_guess_peers(&a);
    pipe_match(&a);
    pipe_measure(&a);
    if (!pipe_chosen(&a))
        return fail_empty(&a);
    status = pipe_replay(&a);
    if (status != MILL_OK)
        return status;
    mill_chunk_times *times = pipe_times(&a);
    status = mill_output(run, 0, pipe_tell(&a, times));
    if (status == MILL_OK)
        status = mill_output(run, 1, pipe_schedule(&a));
    return status == MILL_OK ? mill_output(run, 2, times) : status;
}

static const mill_stage pipeline_stage = {
    MILL_STAGE_HEAD,
    .name = "pipeline",
    .summary = "How a pipeline ran: bubbles by cause, slow stages, the schedule as measured",
    .help = "Puts together what the ranks of a pipeline did, aligns their clocks by the work that "
            "they hand to each other, and tells for each stage what it waits for, what transfers "
            "cost, and what a slow stage costs all.\n\nTakes the small values that "
            "pipeline.operations makes of each profile, or of a step timeline.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(pipe_options),
    .run = run_pipeline,
};

static const mill_stage *const stages[] = {&pipe_operations_stage, &pipeline_stage, NULL};
static const mill_type *const types[] = {&pipe_type, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.pipeline",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Measured pipelines",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
    .types = types,
};
