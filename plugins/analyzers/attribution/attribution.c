/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `attribution`, its options and its run. */
#include "attribution.h"

#include <string.h>

static const mill_port inputs[] = {
    {"trace", MILL_TYPE_TRACE, "The profile of one rank.", 0, 0},
    {0},
};

enum { OUT_ATTRIBUTION, OUT_REPORT };

static const mill_port outputs[] = {
    [OUT_ATTRIBUTION] = {"attribution", MILL_TYPE_ATTRIBUTION,
                         "Step, stage, chunk, layer and micro-batch of each activity.", 0, 0},
    [OUT_REPORT] = {"report", MILL_TYPE_REPORT, "How much could be placed, and by what.",
                    MILL_PORT_OPTIONAL, 0},
    {0},
};

/* By mill_method, but for the first. */
static const char *const methods[] = {"auto",     "annotation", "rules", "autograd",
                                      "sequence", "pipeline",   NULL};

static const mill_option options[] = {
    {.name = "method",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(attribution_options, method, ENUM),
     .def = "auto",
     .choices = methods,
     .help = "How places are found; methods are never mixed. auto takes the first of annotation, "
             "rules, autograd, sequence and pipeline that covers min-coverage, else the one that "
             "covers most."},
    {.name = "min-coverage",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(attribution_options, min_coverage, NUM),
     .def = "95",
     .min = 0,
     .max = 100,
     .unit = "%",
     .help = "Share of the time in which the GPU is busy that a method must place; below it there "
             "is a warning."},
    {.name = "stage-regex",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(attribution_options, stage_regex, REGEX),
     .def = "^(?<stage>[A-Za-z_]+)\\((?<chunk>[FBW])\\)$",
     .help = "Annotations that tell a stage. Groups: stage, chunk (F, B, W or words for them), "
             "layer, mb (micro-batch)."},
    {.name = "step-regex",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(attribution_options, step_regex, REGEX),
     .def = "^ProfilerStep#(?<step>\\d+)$",
     .help = "Annotations that are steps. Group: step, its number."},
    {.name = "pipeline-regex",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(attribution_options, pipeline_regex, REGEX),
     .def = "^\\W*(?<chunk>1F1B|(forward_?|backward|weight)+)(_chunk)?\\W*$",
     .help = "Annotations of whole chunks, for the method pipeline. Groups as of stage-regex."},
    {.name = "wgrad-regex",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(attribution_options, wgrad_regex, REGEX),
     .def = "",
     .help = "Kernels that make gradients of weights, for the method autograd. Empty: none is "
             "taken for one, and W is a part of B."},
    {.name = "optimizer-regex",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(attribution_options, optimizer_regex, REGEX),
     .def = "^(Optimizer\\.|## optimizer ##$)",
     .help = "Annotations of work that is no part of a chunk, for the method autograd."},
    {.name = "cached-regex",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(attribution_options, cached_regex, REGEX),
     .def = "cached_notify|::dispatch<(true|false), *\\d+, *true",
     .help = "Kernels of a dispatch that reuses an earlier layout, and so belongs to the backward "
             "pass, for the method sequence."},
    {.name = "rules",
     .type = MILL_OPT_PATH,
     .offset = MILL_OPT_OFF(attribution_options, rules, PATH),
     .help = "A file with rules of your own: which annotations, ops and kernels belong to which "
             "stage, chunk, layer and micro-batch."},
    {.name = "inherit",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(attribution_options, inherit, BOOL),
     .def = "yes",
     .help = "A launch on a thread with no annotation around it takes the innermost one of another "
             "thread of its process, as the autograd engine's threads need."},
    {.name = "steps-by-start",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(attribution_options, steps_by_start, BOOL),
     .def = "yes",
     .help = "Where no activity of the trace has a launch call, take the step in which it starts; "
             "no: its step is unknown."},
    {.name = "partial-below",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(attribution_options, partial_below, NUM),
     .def = "50",
     .min = 0,
     .max = 100,
     .unit = "%",
     .help = "A first or last step with fewer activities than this share of the median step's is "
             "not whole (from three steps on)."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(attribution_options, top, INT),
     .def = "10",
     .min = 1,
     .max = 1000,
     .unit = "rows",
     .help = "How many annotations without a stage are listed."},
    {0},
};

/* The group `name` in a regular expression as it is written. */
static bool has_group(const char *regex, const char *name) {
    size_t length = strlen(name);
    for (const char *p = strstr(regex, name); p; p = strstr(p + 1, name))
        if (p > regex &&
            ((p[-1] == '<' && p[length] == '>') || (p[-1] == '\'' && p[length] == '\'')))
            return true;
    return false;
}

static mill_status attribution_check(mill_run *run, const void *opts) {
    const attribution_options *o = opts;
    if (o->stage_regex[0] != '\0' && !has_group(o->stage_regex, "stage"))
        return mill_fail(run, MILL_E_CONFIG,
                         "stage-regex has no group that names the stage: write (?<stage>…) around "
                         "the part that does");
    if (o->method == MILL_METHOD_RULE && !o->rules)
        return mill_fail(run, MILL_E_CONFIG,
                         "method = rules needs rules: name their file by the option rules");
    return MILL_OK;
}

static mill_status attribution_open(mill_run *run, const void *opts, void *state) {
    const attribution_options *o = opts;
    pattern_set *p = state;
    mill_status status = pattern_init(run, o->stage_regex, &p->stage);
    if (status == MILL_OK)
        status = pattern_init(run, o->step_regex, &p->step);
    if (status == MILL_OK)
        status = pattern_init(run, o->pipeline_regex, &p->pipeline);
    if (status == MILL_OK)
        status = pattern_init(run, o->wgrad_regex, &p->wgrad);
    if (status == MILL_OK)
        status = pattern_init(run, o->optimizer_regex, &p->optimizer);
    if (status == MILL_OK)
        status = pattern_init(run, o->cached_regex, &p->cached);
    if (status == MILL_OK && o->rules)
        status = rules_load(run, o->rules, &p->rules);
    return status;
}

static mill_status attribution_run(mill_run *run, const void *opts, void *state) {
    const mill_trace *trace = mill_input(run, 0, 0);
    mill_attribution *value = mill_value_alloc(run, NULL, sizeof *value);
    value->size = sizeof *value;
    site_table sites;
    method_outcome outcome;
    mill_status status = sites_find(run, trace, opts, state, &sites);
    if (status != MILL_OK)
        return status;
    status = places_find(run, trace, opts, state, &sites, value, &outcome);
    if (status == MILL_OK) {
        steps_find(run, trace, opts, state, &sites, value);
        status = mill_output(run, OUT_REPORT,
                             attribution_tell(run, trace, opts, &sites, value, &outcome));
    }
    sites_finish(&sites);
    return status == MILL_OK ? mill_output(run, OUT_ATTRIBUTION, value) : status;
}

static void attribution_close(mill_run *run, void *state) {
    (void)run;
    pattern_set *p = state;
    kit_arena_finish(&p->rules.memory);
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = "attribution",
    .summary = "Where in the model's work each GPU activity belongs: step, stage, chunk, layer",
    .help = "Follows each activity to the call that launched it, and from there to the annotations "
            "around that call, or finds its place by rules of yours, by the autograd engine's ops, "
            "by the order of expert-parallel communication, or by annotations of whole chunks. The "
            "result serves every analysis that needs places; how much of the busy time has one, "
            "and by which method, is in the report.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(attribution_options),
    .state_size = sizeof(pattern_set),
    .check = attribution_check,
    .open = attribution_open,
    .run = attribution_run,
    .close = attribution_close,
};

static const mill_stage *const stages[] = {&stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.attribution",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Places of GPU activities in the model's work",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
