/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `eplb.replay`, its options and its run. */
#include "replay.h"

#include "options.h"

#include <inttypes.h>
#include <math.h>

static const mill_port inputs[] = {
    {"loads", MILL_TYPE_EXPERT_LOAD, "How many tokens each expert got, step by step.", 0, 0},
    {"previous", MILL_TYPE_EXPERT_PLAN, "What the slots hold at first.", MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "Balancedness over time, what moving costs, what pays.", 0, 0},
    {0},
};

static const mill_option options[] = {
    EP_OPTIONS(replay_options, common),
    {.name = "intervals",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(replay_options, intervals, LIST),
     .def = "10, 100, 1000",
     .min = 1,
     .max = 1e9,
     .unit = "steps",
     .help = "Plan anew every so many steps; each is tried."},
    {.name = "thresholds",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(replay_options, thresholds, LIST),
     .def = "0.9",
     .min = 0,
     .max = 1,
     .unit = "of balance",
     .help = "Plan anew when the balancedness of the last steps (SGLang's) is below this; each is "
             "tried."},
    KIT_FORECAST_OPTIONS(replay_options, rule),
    {.name = "observe",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(replay_options, observe, INT),
     .def = "10",
     .min = 1,
     .max = 1e6,
     .unit = "steps",
     .help = "The first steps are only observed, so many of them; a threshold looks at as many."},
    {.name = "bandwidth",
     .type = MILL_OPT_BYTES,
     .offset = MILL_OPT_OFF(replay_options, bandwidth, BYTES),
     .min = 1,
     .max = 1e15,
     .unit = "a second",
     .help = "At which a GPU loads experts. Not given: the time of moving is unknown."},
    {.name = "expert-time",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(replay_options, expert_time, DURATION),
     .min = 1,
     .max = 1e15,
     .help = "What the experts of a step take, of all these layers, where all GPUs have the same "
             "load. Not given: times are unknown."},
    {0},
};

/* Each way to plan has a name, with thresholds to a tenth of a percent. */
static mill_status check_ways(mill_run *run, const replay_options *o) {
    const int64_t *interval = o->intervals.v;
    const double *threshold = o->thresholds.v;
    for (size_t i = 0; i < o->intervals.n; i++)
        for (size_t j = 0; j < i; j++)
            if (interval[i] == interval[j])
                return mill_fail(run, MILL_E_CONFIG, "intervals: %" PRId64 " stands there twice",
                                 interval[i]);
    for (size_t i = 0; i < o->thresholds.n; i++)
        for (size_t j = 0; j < i; j++)
            if (lround(1000 * threshold[i]) == lround(1000 * threshold[j]))
                return mill_fail(run, MILL_E_CONFIG,
                                 "thresholds: %g and %g are less than 0.001 apart", threshold[j],
                                 threshold[i]);
    return MILL_OK;
}

static mill_status check(mill_run *run, const void *opts) {
    const replay_options *o = opts;
    if (check_ways(run, o) != MILL_OK)
        return MILL_E_CONFIG;
    if (o->common.objective != EP_MEAN && o->rule.method != KIT_FORECAST_MEAN)
        return mill_fail(run, MILL_E_CONFIG,
                         "objective = %s looks at several steps, which only forecast = mean does",
                         ep_objectives[o->common.objective]);
    return ep_check_options(run, &o->common);
}

static mill_status run_replay(mill_run *run, const void *opts, void *state) {
    (void)state;
    replay_analysis a = {.options = opts};
    const mill_expert_load *loads = mill_input(run, 0, 0);
    if (loads->steps <= (uint64_t)a.options->observe)
        return mill_fail(run, MILL_E_DATA,
                         "there are %" PRIu64 " steps of loads: observe = %" PRId64
                         " leaves none to go through",
                         loads->steps, a.options->observe);
    mill_status status =
        ep_problem_init(&a.problem, run, &a.options->common, loads, mill_input(run, 1, 0));
    if (status == MILL_OK && a.problem.odd)
        status = mill_fail(run, MILL_E_DATA,
                           "some loads are negative, infinite or not a number: nothing can be "
                           "said of what plans are worth");
    if (status == MILL_OK)
        status = replay_run(&a);
    return status == MILL_OK ? mill_output(run, 0, replay_tell(&a)) : status;
}

const mill_stage replay_stage = {
    MILL_STAGE_HEAD,
    .name = "eplb.replay",
    .summary = "How balanced experts stay over time, and when a new placement pays",
    .help = "Goes through a history of loads under several ways to plan: never, once, every so "
            "many steps, and when the balancedness falls below a threshold. Each plan is made from "
            "the steps before it and serves the steps after it. Tells balancedness over "
            "time, experts that move, and which way takes least time.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(replay_options),
    .check = check,
    .run = run_replay,
};
