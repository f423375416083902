/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `compare`, its options and its run. */
#include "compare.h"

/* Lists, so that two readers with files of any names can be connected; each takes one. */
static const mill_port inputs[] = {
    {"base", MILL_TYPE_TRACE, "The profile to compare with; one.", MILL_PORT_MANY, 0},
    {"new", MILL_TYPE_TRACE, "The profile in question; one.", MILL_PORT_MANY, 0},
    {"base-attribution", MILL_TYPE_ATTRIBUTION, "Stages and steps of the base.",
     MILL_PORT_MANY | MILL_PORT_OPTIONAL, 0},
    {"new-attribution", MILL_TYPE_ATTRIBUTION, "Stages and steps of the new one.",
     MILL_PORT_MANY | MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "What became slower, and what faster.", 0, 0},
    {0},
};

static const mill_option options[] = {
    KIT_SELECTION_OPTIONS(compare_options, selection),
    KIT_GAP_OPTIONS(compare_options, gaps),
    {.name = "force",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(compare_options, force, BOOL),
     .def = "no",
     .help = "Compare traces that are not alike (device, ranks, steps, stages) all the same."},
    {.name = "min-matched",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, min_matched, NUM),
     .def = "0.95",
     .min = 0,
     .max = 1,
     .help = "Share of both traces' time that must be found in the other; else activities are "
             "looked for by less: stage, name and ordinal; name and size; name; kind."},
    {.name = "template-numbers",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(compare_options, template_numbers, BOOL),
     .def = "yes",
     .help = "Kernels whose template arguments differ in a number are different ones."},
    {.name = "min-change",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, min_change, NUM),
     .def = "0.05",
     .min = 0,
     .max = 1000,
     .help = "Heuristic: a kernel's change counts if its median changes by more than this."},
    {.name = "noise",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, noise, NUM),
     .def = "3",
     .min = 0,
     .max = 1000,
     .unit = "σ",
     .help = "Heuristic: a kernel's change counts if it is above so many times the base's own "
             "spread (1.4826 MAD)."},
    {.name = "stage-change",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, stage_change, NUM),
     .def = "0.05",
     .min = 0,
     .max = 1000,
     .help = "Heuristic: a stage's change counts if its computation or communication changes by "
             "more than this."},
    {.name = "min-time",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(compare_options, min_time, DURATION),
     .def = "20us",
     .min = 0,
     .max = 1e18,
     .help = "Heuristic: a change counts if it is longer than this, summed."},
    {.name = "min-share",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, min_share, NUM),
     .def = "0.001",
     .min = 0,
     .max = 1,
     .help = "Heuristic: a change counts if it is longer than this share of the base's window, "
             "summed."},
    {.name = "min-steps",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(compare_options, min_steps, INT),
     .def = "5",
     .min = 2,
     .max = 1e9,
     .unit = "steps",
     .help = "With so many whole steps on both sides, a change must also show in the steps by the "
             "Mann-Whitney test."},
    {.name = "max-p",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, max_p, NUM),
     .def = "0.01",
     .min = 0,
     .max = 1,
     .help = "Heuristic: a change is refused if the Mann-Whitney test holds it for chance with at "
             "least this probability."},
    {.name = "window-share",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, window_share, NUM),
     .def = "0.01",
     .min = 0,
     .max = 1,
     .help = "Heuristic: the window and the busy time must change by more than this share of the "
             "window."},
    {.name = "exposed-share",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, exposed_share, NUM),
     .def = "0.005",
     .min = 0,
     .max = 1,
     .help = "Heuristic: exposed communication, what of it is waited for, and notify must change "
             "by more than this share of the window."},
    {.name = "overlap-points",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, overlap_points, NUM),
     .def = "0.5",
     .min = 0,
     .max = 100,
     .unit = "points",
     .help = "Heuristic: the hidden share of communication must change by more than this."},
    {.name = "cast-points",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, cast_points, NUM),
     .def = "1",
     .min = 0,
     .max = 100,
     .unit = "points",
     .help = "Heuristic: the share of casts in computation must change by more than this."},
    {.name = "notify-kinds",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(compare_options, notify_kinds, LIST),
     .def = "notify, barrier",
     .help = "Heuristic: kinds in which ranks only wait for each other: their change is skew, and "
             "never a regression."},
    {.name = "cast-kinds",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(compare_options, cast_kinds, LIST),
     .def = "cast_transpose",
     .help = "Kinds of computation that only change how numbers are stored."},
    {.name = "fail-over",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, fail_over, NUM),
     .def = "0.02",
     .min = 0,
     .max = 1000,
     .help = "A regression longer than this share of the base's window ends the run with exit "
             "code 1."},
    {.name = "fail-overlap",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(compare_options, fail_overlap, NUM),
     .def = "1",
     .min = 0,
     .max = 100,
     .unit = "points",
     .help = "A fall of the hidden share of communication by more than this ends the run with exit "
             "code 1."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(compare_options, top, INT),
     .def = "20",
     .min = 1,
     .max = 1000000,
     .unit = "rows",
     .help = "How many kernels are listed, in each table."},
    {0},
};

/* The one item of a port, or NULL where it is not connected. */
static mill_status take(mill_run *run, uint32_t port, const void **ret_value) {
    size_t n = mill_input_count(run, port);
    if (n > 1)
        return mill_fail(run, MILL_E_DATA,
                         "%s is %zu profiles: compare takes one of each side; name one file, and "
                         "run it once for each rank",
                         inputs[port].name, n);
    *ret_value = n == 1 ? mill_input(run, port, 0) : NULL;
    if (n == 0 && !(inputs[port].flags & MILL_PORT_OPTIONAL))
        return mill_fail(run, MILL_E_DATA, "%s is missing: it was not read", inputs[port].name);
    return MILL_OK;
}

static mill_status take_side(compare_analysis *a, compare_end end) {
    compare_side *s = &a->side[end];
    const void *trace, *places;
    mill_status status = take(a->run, (uint32_t)end, &trace);
    if (status == MILL_OK)
        status = take(a->run, (uint32_t)end + COMPARE_ENDS, &places);
    if (status != MILL_OK)
        return status;
    s->trace = trace;
    s->places = places;
    return kit_activities_select(a->run, trace, places, &a->options->selection, &s->all);
}

/* Of nothing there is no change: a gate must not be met by a profile without device events. */
static mill_status refuse_nothing(const compare_analysis *a, compare_end end) {
    const compare_side *s = &a->side[end];
    const char *path = mill_at(s->trace, s->trace->path);
    if (s->all.n_devices > 0)
        return MILL_OK;
    return mill_fail(a->run, MILL_E_DATA, "%s (%s) has nothing to compare: %s", inputs[end].name,
                     path ? path : "a profile",
                     s->trace->gpu.n == 0
                         ? "it holds no device events; record it with ProfilerActivity.CUDA"
                         : "no activity lies in the steps and the window asked for");
}

static mill_status analyse(compare_analysis *a) {
    mill_status status = take_side(a, COMPARE_BASE);
    if (status == MILL_OK)
        status = take_side(a, COMPARE_NEW);
    if (status == MILL_OK && !a->side[COMPARE_BASE].places != !a->side[COMPARE_NEW].places)
        return mill_fail(a->run, MILL_E_CONFIG,
                         "one side has an attribution, the other has none: connect both or none");
    if (status != MILL_OK)
        return status;
    for (compare_end end = 0; end < COMPARE_ENDS && status == MILL_OK; end++)
        status = refuse_nothing(a, end);
    if (status != MILL_OK)
        return status;
    compare_make_items(a);
    compare_find_differences(a);
    status = compare_refuse(a);
    if (status == MILL_OK)
        status = compare_measure(a);
    return status;
}

static mill_status run_compare(mill_run *run, const void *opts, void *state) {
    (void)state;
    compare_analysis a = {
        .run = run,
        .options = opts,
        .names = kit_intern_create(),
        .stages = kit_intern_create(),
    };
    mill_report *report = NULL;
    mill_status status = analyse(&a);
    if (status == MILL_OK) {
        compare_match(&a);
        compare_judge(&a);
        report = compare_tell(&a);
    }
    kit_intern_destroy(a.names);
    kit_intern_destroy(a.stages);
    if (status == MILL_OK)
        status = mill_output(run, 0, report);
    return status == MILL_OK && a.gate ? MILL_GATE : status;
}

static const mill_stage stage_class = {
    MILL_STAGE_HEAD,
    .name = "compare",
    .summary = "What became slower from one profile to another",
    .help = "Compares two profiles of the same work: headline figures, stages, and kernels that "
            "are found in both, each with a threshold against noise. Traces that are not alike are "
            "refused, with what differs.\n\nA regression above `fail-over`, or a fall of the "
            "hidden share of communication above `fail-overlap`, ends the run with exit code 1; "
            "the report is made all the same.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(compare_options),
    .run = run_compare,
};

static const mill_stage *const stages[] = {&stage_class, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.compare",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Regressions between profiles",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
