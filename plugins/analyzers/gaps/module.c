/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage classes `gaps` and `launch` and their options. */
#include "gaps.h"

#include <tracemill/report.h>

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

static const char *const rules[] = {"ours", "hta", NULL};

static const mill_option gaps_option_table[] = {
    KIT_SELECTION_OPTIONS(gaps_options, selection),
    KIT_GAP_OPTIONS(gaps_options, rule),
    {.name = "gap-rule",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(gaps_options, by, ENUM),
     .def = "ours",
     .choices = rules,
     .help = "Whose causes: ours, or those of HolisticTraceAnalysis, for comparison: host_wait if "
             "the next activity was launched after the gap began, else kernel_wait if the gap is "
             "below hta-threshold, else other; each for the whole gap."},
    {.name = "hta-threshold",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(gaps_options, hta_threshold, DURATION),
     .def = "30us",
     .min = 0,
     .max = 1e18,
     .help = "Heuristic, with gap-rule = hta: HolisticTraceAnalysis's consecutive_kernel_delay. It "
             "counts that in the trace's own unit, which is the µs in most."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(gaps_options, top, INT),
     .def = "10",
     .min = 1,
     .max = 1000,
     .unit = "rows",
     .help = "How many of the largest gaps are listed, for each stream and each device."},
    {.name = "lanes",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(gaps_options, lanes, BOOL),
     .def = "no",
     .help = "Put all gaps with their causes into the report as lanes of a timeline."},
    {0},
};

static const mill_option launch_option_table[] = {
    KIT_SELECTION_OPTIONS(launch_options, selection),
    {.name = "unqueued-within",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(launch_options, unqueued, DURATION),
     .def = "50us",
     .min = 0,
     .max = 1e18,
     .help = "Heuristic: an activity that was launched while its stream was empty was not queued "
             "if it started sooner than this; a later start waited for something else."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(launch_options, top, INT),
     .def = "20",
     .min = 1,
     .max = 1000,
     .unit = "rows",
     .help = "How many API calls and synchronisations are listed."},
    {0},
};

static const mill_stage gaps_stage = {
    MILL_STAGE_HEAD,
    .name = "gaps",
    .summary = "Why the device, and each of its streams, stands still",
    .help = "Finds the time in which a whole device runs nothing, and the gaps between the "
            "activities of each stream, and gives each a cause: nothing was launched yet, launch "
            "latency, the pause between two kernels, a wait for multiprocessors, for "
            "communication, or for computation. Lists the largest gaps with what comes after them "
            "and what they waited for. Where the trace records the waits of streams for events, "
            "they decide. Else causes are told by timing: they are a heuristic, and its thresholds "
            "are options.",
    .inputs = inputs,
    .outputs = outputs,
    .options = gaps_option_table,
    .options_size = sizeof(gaps_options),
    .run = gaps_run,
};

static const mill_stage launch_stage = {
    MILL_STAGE_HEAD,
    .name = "launch",
    .summary = "How far the CPU runs ahead of the device, and what it does meanwhile",
    .help = "For the activities of each device, each stream and each thread: the time from the "
            "launch call to the start, how long calls take, how deep the queue gets, and the "
            "latency where nothing was queued. For the CPU: calls of the runtime and driver API "
            "by name, explicit synchronisations, and how long each thread is busy.",
    .inputs = inputs,
    .outputs = outputs,
    .options = launch_option_table,
    .options_size = sizeof(launch_options),
    .run = launch_run,
};

static const mill_stage *const stages[] = {&gaps_stage, &launch_stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.gaps",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Idle time with its causes, and launches",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
