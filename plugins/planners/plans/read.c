/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class plan.read. */
#include "plans.h"

#include <string.h>
#include <tracemill/kit/npy.h>

enum { PORT_PLAN };

typedef mill_status (*reader)(const pl_file *file, pl_draft *ret);

/* JSON begins with a bracket, .npy with its name; the rest is YAML, which may begin with anything.
 */
static reader reader_of(const pl_file *f) {
    size_t i = 0;
    if (kit_npy_is(f->data, f->length))
        return pl_read_npy;
    while (i < f->length && f->data[i] && strchr(" \t\r\n", f->data[i]))
        i++;
    return i < f->length && strchr("{[", f->data[i]) && f->data[i] ? pl_read_json : pl_read_yaml;
}

mill_status pl_read(const pl_file *f, const pl_read_options *o, mill_expert_plan **ret_plan) {
    static const char *const names[] = {PL_FORMAT_NAMES};
    static const reader readers[] = {
        [PL_JSON] = pl_read_json,   [PL_SGLANG] = pl_read_json, [PL_TRTLLM] = pl_read_yaml,
        [PL_ASCEND] = pl_read_json, [PL_VLLM] = pl_read_json,   [PL_NPY] = pl_read_npy,
    };
    pl_draft draft = {0};
    if (f->length == 0)
        return pl_fail(f, "expected a plan, found an empty file");
    mill_status status = (o->format ? readers[o->format - 1] : reader_of(f))(f, &draft);
    if (status)
        return status;
    if (o->format && (int)draft.format != o->format - 1)
        return pl_fail(f, "expected the format %s, as the option says, found %s",
                       names[o->format - 1], names[draft.format]);
    return pl_build(f, o, &draft, ret_plan);
}

static mill_status run_read(mill_run *run, const void *opts, void *state) {
    (void)state;
    const pl_read_options *o = opts;
    mill_source *source;
    mill_expert_plan *plan;
    mill_status status = run->host->source_map(run, o->path, &source);
    if (status)
        return status;
    pl_file file = {run, o->path, source->data, source->length};
    status = pl_read(&file, o, &plan);
    return status ? status : mill_output(run, PORT_PLAN, plan);
}

static const mill_port outputs[] = {
    {.name = "plan", .type = MILL_TYPE_EXPERT_PLAN, .help = "the plan that the file holds"},
    {0},
};

static const char *const formats[] = {"auto", PL_FORMAT_NAMES, NULL};

#define PL_COUNT(option, field, most, text)                                                        \
    {                                                                                              \
        .name = option, .type = MILL_OPT_INT, .offset = MILL_OPT_OFF(pl_read_options, field, INT), \
        .def = "0", .min = 0, .max = most, .help = text,                                           \
    }

static const mill_option option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_REQUIRED,
     .offset = MILL_OPT_OFF(pl_read_options, path, PATH),
     .help = "The file. Of the three of npy the one whose name ends in phy2log.npy."},
    {.name = "format",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(pl_read_options, format, ENUM),
     .def = "auto",
     .choices = formats,
     .help = "What the file must be; auto: whatever it is, by its content."},
    PL_COUNT("gpus", gpus, 1e6, "GPUs, which share the slots equally; 0: as the file says."),
    PL_COUNT("nodes", nodes, 1e6,
             "Nodes, which share the GPUs equally; 0: as the file says, or unknown."),
    PL_COUNT("experts", experts, 1e6,
             "Logical experts of a layer; 0: as the file says, or one more than the highest."),
    PL_COUNT("layers", layers, 10000,
             "MoE layers that the file must have, or whose slots its one list is (vllm); 0: any."),
    PL_COUNT(
        "first-layer", first_layer, 1e6,
        "The model's number of its first MoE layer, where the file has none (vllm, vllm-ascend, "
        "npy). Of sglang, which has a row for each layer, those above it are left out."),
    {0},
};

const mill_stage pl_read_stage = {
    MILL_STAGE_HEAD,
    .name = "plan.read",
    .summary = "Reads placements of experts, as serving engines take them",
    .help =
        "SGLang's --init-expert-location, TensorRT-LLM's moe_load_balancer.yaml, vllm-ascend's "
        "expert_map_path, vLLM's list, eplb.py's arrays as .npy, and the JSON of plan.write. What "
        "a format does not hold is given by options.",
    .outputs = outputs,
    .options = option_table,
    .options_size = sizeof(pl_read_options),
    .run = run_read,
};
