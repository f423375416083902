/* SPDX-License-Identifier: Apache-2.0 */
/* The module, and its stage class loads.read: one file of expert loads. */
#include "loads.h"

#include <string.h>

static const char *const contents[] = {"auto", "loads", "assignments", NULL};
static const char *const invalids[] = {"fail", "zero", NULL};

/* A copy in the value's memory. */
static const char *value_text(mill_run *run, mill_expert_load *value, const char *text) {
    return kit_text_utf8(run, value, text, strlen(text));
}

static mill_status run_read(mill_run *run, const void *opts, void *state) {
    (void)state;
    const ld_options *o = opts;
    bool standard_input = strcmp(o->path, "-") == 0;
    mill_source *source;
    mill_status status =
        run->host->source_map(run, standard_input ? "/dev/stdin" : o->path, &source);
    if (status != MILL_OK)
        return status;
    ld_reading r = {.run = run,
                    .options = o,
                    .name = standard_input ? "standard input" : o->path,
                    .bytes = source->data,
                    .n = source->length};
    ld_remarks_init(&r.remarks, run);
    status = ld_read(&r);
    if (status == MILL_OK)
        status = ld_judge_invalid(&r);
    if (status != MILL_OK)
        return status;
    r.value->subject = value_text(run, r.value, r.name);
    r.value->ranks = r.ranks;
    ld_remarks_log(&r.remarks);
    ld_inspect(&r.remarks, r.value);
    ld_story story = {"loads", "Expert loads", r.format, o->top};
    mill_report *report = ld_tell(run, &story, r.value, &r.remarks);
    status = mill_output(run, 0, r.value);
    return status == MILL_OK ? mill_output(run, 1, report) : status;
}

static const mill_port outputs[] = {
    {"loads", MILL_TYPE_EXPERT_LOAD, "The loads of the file.", 0, 0},
    {"report", MILL_TYPE_REPORT, "Their shape, what is odd in them, and how uneven they are.", 0,
     0},
    {0},
};

static const mill_option option_list[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_REQUIRED | MILL_OPT_GLOB,
     .offset = MILL_OPT_OFF(ld_options, path, PATH),
     .help =
         "CSV, npy, JSON, safetensors, or the meta_info.json of TensorRT-LLM's statistics, told "
         "apart by content. Wildcards give an item a file: add those of ranks with loads.join."},
    {.name = "content",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(ld_options, content, ENUM),
     .def = "auto",
     .choices = contents,
     .help = "What the numbers are: loads, or assignments (the experts that each token was sent "
             "to). auto: loads, but of a CSV file with columns layer_0, layer_1, … assignments."},
    {.name = "experts",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(ld_options, experts, INT),
     .def = "0",
     .min = 0,
     .max = LD_MOST_EXPERTS,
     .unit = "experts",
     .help = "How many experts a layer has, where a file names only those with a load; 0: as many "
             "as it names. A file that has another number fails."},
    {.name = "tokens-per-step",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(ld_options, tokens_per_step, INT),
     .def = "0",
     .min = 0,
     .max = 1e15,
     .unit = "tokens",
     .help = "Of assignments: so many tokens in a row are a step; 0: all are one step."},
    {.name = "first-layer",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(ld_options, first_layer, INT),
     .def = "0",
     .min = 0,
     .max = 1e6,
     .help = "The model's number of the first layer, where the file does not number them: 3 for "
             "DeepSeek-V3."},
    {.name = "invalid",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(ld_options, invalid, ENUM),
     .def = "fail",
     .choices = invalids,
     .help = "Loads that are NaN, negative or above 1e18: fail, or take them for zero and say so."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(ld_options, top, INT),
     .def = "10",
     .min = 1,
     .max = 1000000,
     .unit = "rows",
     .help = "How many of the hottest experts are listed."},
    {0},
};

static const mill_stage read_stage = {
    MILL_STAGE_HEAD,
    .name = "loads.read",
    .summary = "Reads how many tokens each expert got",
    .help =
        "Loads by step, layer and expert from CSV, npy, JSON and safetensors, as serving engines "
        "record them, or counted from the experts that each token was sent to.\n\nWhat can't be "
        "a load is an error; what is odd is told: layers without load, gaps, a rank that "
        "recorded only its own experts.",
    .outputs = outputs,
    .options = option_list,
    .options_size = sizeof(ld_options),
    .run = run_read,
};

static const mill_stage *const stages[] = {&read_stage, &ld_join_stage, &ld_forecast_stage,
                                           &ld_balancedness_stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.loads",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Loads of experts, and how even engines say they are",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
