/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `findings`, its options and its run. */
#include "findings.h"

#include <tracemill/kit/trace_notes.h>

#include "list.h"

enum { TRACE, ATTRIBUTION };

static const mill_port inputs[] = {
    {"trace", MILL_TYPE_TRACE, "The profile of one rank.", 0, 0},
    {"attribution", MILL_TYPE_ATTRIBUTION,
     "Stages, layers and steps of its activities. Without it G10 and G11 do not apply.",
     MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "The findings, and what each rule saw.", 0, 0},
    {0},
};

#define NUMBER_OPTION(option, field, of, value, least, most, text)                                 \
    {                                                                                              \
        .name = option, .type = MILL_OPT_NUM,                                                      \
        .offset = MILL_OPT_OFF(findings_options, field, NUM), .def = value, .min = least,          \
        .max = most, .unit = of, .help = text,                                                     \
    }
#define PERCENT_OPTION(option, field, value, text)                                                 \
    NUMBER_OPTION(option, field, "%", value, 0, 100, text)
#define TIMES_OPTION(option, field, value, text)                                                   \
    NUMBER_OPTION(option, field, "times", value, 1, 1e9, text)
#define TIME_OPTION(option, field, value, text)                                                    \
    {                                                                                              \
        .name = option, .type = MILL_OPT_DURATION,                                                 \
        .offset = MILL_OPT_OFF(findings_options, field, DURATION), .def = value, .min = 0,         \
        .max = 1e18, .help = text,                                                                 \
    }

static const mill_option options[] = {
    KIT_SELECTION_OPTIONS(findings_options, selection),
    KIT_GAP_OPTIONS(findings_options, gaps),
    KIT_WAIT_OPTION(findings_options, notify),
    KIT_POLL_OPTIONS(findings_options, polls),
    PERCENT_OPTION("min-gain", min_gain, "0.5",
                   "Of the window: what could win less is no finding."),
    PERCENT_OPTION("dominant-share", dominant, "50",
                   "Heuristic, G1: computation, communication or idleness of this share of the "
                   "window dominates."),
    PERCENT_OPTION("notify-share", notify_share, "20",
                   "Heuristic, G3: waiting for other ranks above this share of communication."),
    TIMES_OPTION("notify-rise", notify_rise, "1.5",
                 "Heuristic, G3: or so much longer waits in the last layer than in the first."),
    {.name = "cast-kinds",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(findings_options, cast_kinds, LIST),
     .def = "cast_transpose",
     .help = "G6: kinds of computation that cast or transpose."},
    PERCENT_OPTION("cast-share", cast_share, "8",
                   "Heuristic, G6: casts and transposes above this share of computation."),
    TIME_OPTION("small-kernel", small_kernel, "5us",
                "Heuristic, G7: kernels up to this are small."),
    PERCENT_OPTION("small-share", small_share, "20",
                   "Heuristic, G7: small kernels above this share of the kernels of computation."),
    PERCENT_OPTION("not-launched-share", not_launched, "1",
                   "Heuristic, G8: the computing stream waits for launches above this share of the "
                   "window."),
    TIMES_OPTION("imbalance", imbalance, "1.1",
                 "Heuristic, G10: a stage that takes so much longer in one layer than on average."),
    TIMES_OPTION("contention", contention, "1.15",
                 "Heuristic, G11: operations so much slower beside communication."),
    PERCENT_OPTION("with-comm", with_comm, "90",
                   "Heuristic, G11: what runs beside communication for this share of its time."),
    PERCENT_OPTION("without-comm", without_comm, "10",
                   "Heuristic, G11: what runs beside it for at most this share runs without it."),
    TIME_OPTION("min-op", min_op, "20us",
                "Heuristic, G11 and noise: operations shorter than this are not compared."),
    {.name = "varying-stages",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(findings_options, varying_stages, REGEX),
     .def = "^mlp",
     .help = "Heuristic, G11 and noise: stages whose work depends on the tokens, as an expression "
             "found in their names; their operations are not compared. Empty: none."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(findings_options, top, INT),
     .def = "12",
     .min = 0,
     .max = 1e6,
     .unit = "rows",
     .help = "How many operations with and without communication are listed."},
    {0},
};

static mill_status look_at(findings_analysis *a, findings_device *d) {
    d->window = d->view->window.end - d->view->window.start;
    kit_states(d->view->sets, d->view->window.start, d->view->window.end, d->states);
    kit_covers_of(a->run, d->view, d->covers);
    for (size_t i = 0; i < d->view->n; i++) {
        const kit_activity *v = &d->view->v[i];
        d->sums[v->cls] = kit_add(d->sums[v->cls], v->end - v->start);
    }
    d->primary = kit_primary_stream(a->run, &a->all, d->view);
    mill_status status =
        kit_rank_waits_find(a->run, &a->all, d->view, &a->options->notify, &d->waits);
    if (status == MILL_OK)
        status = kit_sms_measure(&d->sms, a->run, &a->all, d->view, &d->covers[KIT_COMP],
                                 &d->covers[KIT_COMM]);
    if (status == MILL_OK)
        status = findings_compare_ops(a, d);
    return status;
}

static mill_status check_device(findings_analysis *a, findings_device *d) {
    mill_status status = look_at(a, d);
    if (status == MILL_OK)
        status = findings_check_overlap(a, d);
    if (status == MILL_OK)
        status = findings_check_computation(a, d);
    if (status == MILL_OK)
        status = findings_check_host(a, d);
    return status;
}

static mill_status check_all(findings_analysis *a) {
    const findings_options *o = a->options;
    a->devices = mill_scratch(a->run, a->all.n_devices * sizeof *a->devices);
    mill_status status = kit_gaps_find_each(a->run, &a->all, &o->gaps, &a->gaps);
    if (status == MILL_OK)
        status = kit_host_measure(a->run, &a->all, &o->notify, &o->polls, &a->host);
    for (size_t i = 0; i < a->all.n_devices && status == MILL_OK; i++) {
        a->devices[i].view = &a->all.devices[i];
        status = check_device(a, &a->devices[i]);
    }
    return status;
}

static mill_status findings_run(mill_run *run, const void *opts, void *state) {
    (void)state;
    findings_list list = {0};
    findings_analysis a = {.run = run, .options = opts, .list = &list};
    mill_status status =
        kit_activities_select(run, mill_input(run, TRACE, 0), mill_input(run, ATTRIBUTION, 0),
                              &a.options->selection, &a.all);
    if (status == MILL_OK)
        status = check_all(&a);
    if (status != MILL_OK)
        return status;
    kit_report *r =
        kit_report_begin(run, "findings", "Findings", mill_at(a.all.trace, a.all.trace->path));
    kit_note_trace(run, r, a.all.trace);
    findings_tell(&a, r);
    return mill_output(run, 0, kit_report_end(r));
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = "findings",
    .summary = "What could be won, by rules that each give evidence and an upper bound",
    .help = "Checks the rules G1 to G12 on each device of a profile: what dominates, computation "
            "that waits for communication, ranks that wait for each other, multiprocessors that "
            "are short or stand idle, casts, small kernels, late launches, polls, uneven layers, "
            "contention, copies. A finding says where, on what numbers it rests, what it costs, "
            "what can be won at most, and what to do. What could win less than min-gain is none.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(findings_options),
    .run = findings_run,
};

static const mill_stage *const stages[] = {&stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.findings",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Findings and guidance",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
