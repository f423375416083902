/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `kernels`, its options and its run. */
#include "kernels.h"

#include <stdio.h>
#include <tracemill/kit/rank_waits.h>
#include <tracemill/kit/trace_notes.h>

enum { TRACE, ATTRIBUTION };

static const mill_port inputs[] = {
    {"trace", MILL_TYPE_TRACE, "The profile of one rank.", 0, 0},
    {"attribution", MILL_TYPE_ATTRIBUTION, "Steps of its activities, to select by them.",
     MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "Figures and tables of each device.", 0, 0},
    {0},
};

static const mill_option options[] = {
    KIT_SELECTION_OPTIONS(kernels_options, selection),
    KIT_WAIT_OPTION(kernels_options, notify),
    KIT_POLL_OPTIONS(kernels_options, polls),
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(kernels_options, top, INT),
     .def = "20",
     .min = 1,
     .max = 1e6,
     .unit = "rows",
     .help = "How many names are listed, for each device."},
    {0},
};

static mill_status (*const parts[])(const kernels_analysis *analysis, kit_report *r) = {
    kernels_tell_use,    kernels_tell_names,   kernels_tell_kinds,
    kernels_tell_copies, kernels_tell_threads,
};

static mill_status kernels_run(mill_run *run, const void *opts, void *state) {
    (void)state;
    kernels_analysis a = {.run = run, .options = opts};
    mill_status status =
        kit_activities_select(run, mill_input(run, TRACE, 0), mill_input(run, ATTRIBUTION, 0),
                              &a.options->selection, &a.all);
    if (status != MILL_OK)
        return status;
    kit_report *r = kit_report_begin(run, "kernels", "Kernels and use of the device",
                                     mill_at(a.all.trace, a.all.trace->path));
    kit_note_trace(run, r, a.all.trace);
    if (a.all.n_devices == 0) {
        kit_report_summary(r, "No device activity to tell of.");
        return mill_output(run, 0, kit_report_end(r));
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == MILL_OK; i++)
        status = parts[i](&a, r);
    if (status != MILL_OK)
        return status;
    return mill_output(run, 0, kit_report_end(r));
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = "kernels",
    .summary = "Where the time of the device goes, kernel by kernel, and how much of it is used",
    .help = "For each device of a profile: the names with the most time, the time by kind of "
            "computation and communication, copies by direction with their rate, and how much of "
            "the device and of its multiprocessors is used. For the CPU: how long its threads "
            "work, synchronise and poll.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(kernels_options),
    .run = kernels_run,
};

static const mill_stage *const stages[] = {&stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.kernels",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Time by kernel, and use of the device",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
