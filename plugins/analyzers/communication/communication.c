/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `communication`, its options and its run. */
#include "communication.h"

#include <stdio.h>
#include <tracemill/kit/rank_waits.h>
#include <tracemill/kit/trace_notes.h>

enum { TRACE, ATTRIBUTION };

static const mill_port inputs[] = {
    {"trace", MILL_TYPE_TRACE, "The profile of one rank.", 0, 0},
    {"attribution", MILL_TYPE_ATTRIBUTION,
     "Stage, chunk, layer and step of its activities, for all that is told by these.",
     MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "Figures and tables of each device.", 0, 0},
    {0},
};

#define SIZE_OPTION(option, field, of, text)                                                       \
    {                                                                                              \
        .name = option, .type = MILL_OPT_INT,                                                      \
        .offset = MILL_OPT_OFF(communication_options, model.field, INT), .def = "0", .min = 0,     \
        .max = 1e9, .unit = of, .help = text,                                                      \
    }

#define NAME_OPTION(option, field, pattern, text)                                                  \
    {                                                                                              \
        .name = option, .type = MILL_OPT_REGEX,                                                    \
        .offset = MILL_OPT_OFF(communication_options, model.field, REGEX), .def = pattern,         \
        .help = text,                                                                              \
    }

static const mill_option options[] = {
    KIT_SELECTION_OPTIONS(communication_options, selection),
    KIT_WAIT_OPTION(communication_options, notify),
    KIT_POLL_OPTIONS(communication_options, polls),
    {.name = "max-deviation",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(communication_options, max_deviation, NUM),
     .def = "5",
     .min = 0,
     .max = 100,
     .unit = "%",
     .help = "Heuristic: the sequence of communication repeats if at most this share of it is "
             "unlike what came a period before."},
    {.name = "max-period",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(communication_options, max_period, INT),
     .def = "256",
     .min = 1,
     .max = 1e6,
     .unit = "kernels",
     .help = "The longest cycle looked for where the sequence has exceptions."},
    {.name = "cycle",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(communication_options, cycle, INT),
     .def = "50",
     .min = 0,
     .max = 1e6,
     .unit = "rows",
     .help = "How much of the cycle is listed."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(communication_options, top, INT),
     .def = "20",
     .min = 1,
     .max = 1e6,
     .unit = "rows",
     .help = "How many sizes of messages (for each device) and polls are listed."},
    SIZE_OPTION("hidden", hidden, "elements",
                "Width of the model, for estimates of grouped gemms. 0: not given."),
    SIZE_OPTION("expert-hidden", expert_hidden, "elements",
                "Width within an expert, for estimates of grouped gemms. 0: not given."),
    SIZE_OPTION("dispatch-bytes", dispatch_bytes, "bytes",
                "Of one token as it is dispatched, with its scales. 0: not given."),
    SIZE_OPTION("combine-bytes", combine_bytes, "bytes",
                "Of one token as it is combined. 0: not given."),
    SIZE_OPTION("balanced-rows", balanced_rows, "rows",
                "Rows of a layer's experts on a rank if all ranks had the same: tokens of a "
                "micro-batch times experts of a token. 0: not given."),
    NAME_OPTION("rows-forward", rows_forward,
                "swiglu_forward_with_weight_and_per_token.*true, false",
                "Kernels with a block for each row of the layer's experts, forward, as an "
                "expression found in their stage and name with a space between. Empty: none."),
    NAME_OPTION("rows-backward", rows_backward, "^mlp\\(B\\) .*per_token_cast_to_fp8_with_channels",
                "The same, backward. Empty: none."),
    NAME_OPTION("received-tokens", tokens, "reduce_fused_impl",
                "Kernels with a block for each token received, in the same way. Empty: none."),
    {.name = "min-rows",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(communication_options, model.min_rows, INT),
     .def = "8192",
     .min = 0,
     .max = 1e9,
     .unit = "blocks",
     .help = "Heuristic: a grid up to this is not one of rows or of tokens received."},
    {.name = "lanes",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(communication_options, lanes, BOOL),
     .def = "no",
     .help = "Put stages and polls of the CPU into the report as lanes of a timeline."},
    {0},
};

static mill_status (*const parts[])(const communication_analysis *analysis, kit_report *r) = {
    communication_tell_inventory, communication_tell_sequence, communication_tell_waits,
    communication_tell_rates,     communication_tell_polls,    communication_tell_model,
};

static void add_up(communication_analysis *analysis) {
    analysis->sums = mill_scratch(analysis->run, analysis->all.n_devices * sizeof *analysis->sums);
    for (size_t d = 0; d < analysis->all.n_devices; d++)
        for (size_t i = 0; i < analysis->all.devices[d].n; i++) {
            const kit_activity *a = &analysis->all.devices[d].v[i];
            if (a->cls != KIT_COMM)
                continue;
            analysis->n++;
            analysis->sums[d] = kit_add(analysis->sums[d], a->end - a->start);
        }
}

static void tell_summary(const communication_analysis *analysis, kit_report *r) {
    char sum[KIT_NUMBER_MAX];
    int64_t all = 0;
    for (size_t d = 0; d < analysis->all.n_devices; d++)
        all = kit_add(all, analysis->sums[d]);
    if (analysis->n > 0)
        kit_report_summary(r, "%zu communication kernels, %s µs in all.", analysis->n,
                           kit_format_us(sum, all, KIT_GROUP));
    else
        kit_report_summary(r, "No communication kernels recognised.");
}

static mill_status communication_run(mill_run *run, const void *opts, void *state) {
    (void)state;
    communication_analysis a = {.run = run, .options = opts};
    mill_status status =
        kit_activities_select(run, mill_input(run, TRACE, 0), mill_input(run, ATTRIBUTION, 0),
                              &a.options->selection, &a.all);
    if (status != MILL_OK)
        return status;
    kit_report *r = kit_report_begin(run, "communication", "Communication",
                                     mill_at(a.all.trace, a.all.trace->path));
    add_up(&a);
    tell_summary(&a, r);
    kit_note_trace(run, r, a.all.trace);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == MILL_OK && a.n > 0; i++)
        status = parts[i](&a, r);
    if (status != MILL_OK)
        return status;
    return mill_output(run, 0, kit_report_end(r));
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = "communication",
    .summary = "What communication there is, how it repeats, and what of it is waiting",
    .help = "For each device of a profile: communication by kind, stage and stream, the cycle in "
            "which it repeats, kernels in which ranks wait for each other, bandwidth where the "
            "file tells the sizes of messages, and threads of the CPU that poll for it. With the "
            "sizes of a model given as options, estimates for expert parallelism, whose kernels "
            "tell no sizes.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(communication_options),
    .run = communication_run,
};

static const mill_stage *const stages[] = {&stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.communication",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Communication: inventory, sequence, waiting, bandwidth",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
