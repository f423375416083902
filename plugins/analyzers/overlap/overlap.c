/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `overlap`, its options and its run. */
#include <tracemill/kit/rank_waits.h>

#include "overlap.h"

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

static const mill_option options[] = {
    KIT_SELECTION_OPTIONS(overlap_options, selection),
    KIT_GAP_OPTIONS(overlap_options, gaps),
    KIT_WAIT_OPTION(overlap_options, notify),
    {.name = "layer-start",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(overlap_options, layer_start, REGEX),
     .def = "",
     .help = "Stages with which a layer begins, as an expression that is found in their names. "
             "Empty: the stage that runs first."},
    {.name = "min-coverage",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(overlap_options, min_coverage, NUM),
     .def = "50",
     .min = 0,
     .max = 100,
     .unit = "%",
     .help = "Heuristic: what is told by stage, chunk and layer is left out if the attribution "
             "places less than this share of the device's busy time."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(overlap_options, top, INT),
     .def = "10",
     .min = 1,
     .max = 1000,
     .unit = "rows",
     .help = "How many kinds of communication (for each device) and unmatched kernel names are "
             "listed."},
    {.name = "kernels",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(overlap_options, kernels, INT),
     .def = "10",
     .min = 0,
     .max = 1e9,
     .unit = "rows",
     .help = "How many communication kernels, and gaps with exposed communication, are listed, "
             "the most exposed first."},
    {.name = "detail",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(overlap_options, detail, BOOL),
     .def = "no",
     .help = "The long tables too: stages and communication of each layer."},
    {.name = "lanes",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(overlap_options, lanes, BOOL),
     .def = "no",
     .help =
         "Lanes and curves for exporters that draw: streams, the overlap strip, what is exposed "
         "and why."},
    {0},
};

static mill_status overlap_run(mill_run *run, const void *opts, void *state) {
    (void)state;
    const overlap_options *o = opts;
    overlap_analysis analysis = {.run = run, .options = o};
    mill_status status =
        kit_activities_select(run, mill_input(run, TRACE, 0), mill_input(run, ATTRIBUTION, 0),
                              &o->selection, &analysis.all);
    if (status == MILL_OK)
        status = overlap_measure(&analysis);
    if (status != MILL_OK)
        return status;
    return mill_output(run, 0, overlap_tell(&analysis));
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = "overlap",
    .summary = "How much communication hides under computation, and how much is exposed",
    .help = "For each device of a profile: the time in which computation, communication and memory "
            "work run, alone and together, and the ratios that follow from it. Per stream and per "
            "kind of communication as well. Where no communication is recognised the ratios are "
            "unknown, and the longest kernel names that matched no rule are listed.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(overlap_options),
    .run = overlap_run,
};

static const mill_stage *const stages[] = {&stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.overlap",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Overlap of communication and computation",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
