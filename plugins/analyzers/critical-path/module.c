/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `critical-path`, its options and its run. */
#include "path.h"

static const mill_port inputs[] = {
    {"trace", MILL_TYPE_TRACE, "The profile of one rank.", 0, 0},
    {"attribution", MILL_TYPE_ATTRIBUTION,
     "Stages and layers of its activities, of the class attribution. Without it they are unknown.",
     MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "Figures and tables of each device.", 0, 0},
    {0},
};

static const mill_option options[] = {
    KIT_SELECTION_OPTIONS(path_options, selection),
    KIT_GAP_OPTIONS(path_options, rule),
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(path_options, top, INT),
     .def = "20",
     .min = 1,
     .max = 1000,
     .unit = "rows",
     .help = "How many pieces of critical communication are listed, for each device."},
    {.name = "lanes",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(path_options, lanes, BOOL),
     .def = "no",
     .help = "Put the path into the report as a lane of a timeline."},
    {0},
};

enum { PORT_TRACE, PORT_ATTRIBUTION };

static mill_status path_run(mill_run *run, const void *opts, void *state) {
    (void)state;
    const path_options *o = opts;
    kit_activities all;
    mill_status status =
        kit_activities_select(run, mill_input(run, PORT_TRACE, 0),
                              mill_input(run, PORT_ATTRIBUTION, 0), &o->selection, &all);
    if (status != MILL_OK)
        return status;
    path *paths = mill_scratch(run, all.n_devices * sizeof *paths);
    for (size_t d = 0; d < all.n_devices && status == MILL_OK; d++)
        status = path_find(run, &all, &all.devices[d], &o->rule, &paths[d]);
    return status == MILL_OK ? mill_output(run, 0, path_tell(run, &all, o, paths)) : status;
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = "critical-path",
    .summary = "Which work, waits and gaps decide how long a device takes",
    .help = "From the last end back to the first start of each device: before each activity stands "
            "the one it waited for, on its own stream, on another, or, if it was launched late, "
            "the one that ended last. What lies on this path decides how long it all takes; what "
            "does not can get faster for nothing. The path and its gaps fill the window. Where the "
            "trace records the waits of streams for events, they decide. Else waits are told by "
            "timing: the path is a heuristic, and its thresholds are options.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(path_options),
    .run = path_run,
};

static const mill_stage *const stages[] = {&stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.critical-path",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "The critical path of a device",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
