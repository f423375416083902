/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `inflight`, its options and its run. */
#include "inflight.h"

static const mill_port inputs[] = {
    {"trace", MILL_TYPE_TRACE, "The profile of one rank.", 0, 0},
    {"attribution", MILL_TYPE_ATTRIBUTION, "Steps, and annotations that tell sends from receives.",
     MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "Transfers in flight, what hides them, what is exposed.", 0, 0},
    {0},
};

static const char *const modes[] = {"auto", "on", "off", NULL};
static const char *const pairings[] = {"alternate", "fifo", "annotation", NULL};
static const char *const bases[] = {"min", "p10", NULL};

static const mill_option options[] = {
    KIT_SELECTION_OPTIONS(inflight_options, selection),
    {.name = "inflight",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(inflight_options, mode, ENUM),
     .def = "auto",
     .choices = modes,
     .help = "off infers nothing; on pairs all kernels that match; auto (a heuristic) only those "
             "between which their stream computes at least half of the times: others are whole "
             "transfers."},
    {.name = "ll-regex",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(inflight_options, ll_regex, REGEX),
     /* Looks on from the first deep_ep only: from each, a hostile name costs its length squared. */
     .def = "^(?>.*?(deep_|dpsk::)ep)(?=.*(_ll|low_lat)).*(dispatch|combine)",
     .help = "Names of kernels that may be launched once to send and once to receive. What holds "
             "clean_ is none of them. They must be communication by the reader's rules."},
    {.name = "pairing",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(inflight_options, pairing, ENUM),
     .def = "alternate",
     .choices = pairings,
     .help =
         "How launches become transfers. alternate (a heuristic): send, receive, send, receive; "
         "fifo (a heuristic): `depth` sends, then as many receives; annotation: as send-regex "
         "and recv-regex say, in order."},
    {.name = "depth",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(inflight_options, depth, INT),
     .def = "1",
     .min = 1,
     .max = 2,
     .unit = "transfers",
     .help = "How many transfers of a group are in flight at once, with pairing fifo and "
             "annotation."},
    {.name = "send-regex",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(inflight_options, send_regex, REGEX),
     .def = "op_(dispatch|combine)_a",
     .help = "With pairing annotation: what sends, in the kernel's name or in that of an "
             "annotation around its launch (innermost first; those need the attribution)."},
    {.name = "recv-regex",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(inflight_options, recv_regex, REGEX),
     .def = "op_(dispatch|combine)_b",
     .help = "Likewise what receives."},
    {.name = "expert-regex",
     .type = MILL_OPT_REGEX,
     .offset = MILL_OPT_OFF(inflight_options, expert_regex, REGEX),
     .def = "m_grouped|grouped_gemm|masked",
     .help = "Heuristic: names of the experts' kernels, which follow the receive of a dispatch and "
             "come before the send of a combine. Tells where a cut profile begins."},
    {.name = "max-flight",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(inflight_options, max_flight, DURATION),
     .def = "20ms",
     .min = 0,
     .max = 4e18,
     .help = "Heuristic: what is received later than this was not sent by the launch before."},
    {.name = "recv-base",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(inflight_options, base, ENUM),
     .def = "min",
     .choices = bases,
     .help = "Heuristic: how long a receive takes if it waits for nothing: the shortest of its "
             "group, or the tenth percentile."},
    {.name = "recv-time",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(inflight_options, recv_time, DURATION),
     .def = "0s",
     .min = 0,
     .max = 1e18,
     .help = "That time, where it is known; 0s: as recv-base says."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(inflight_options, top, INT),
     .def = "20",
     .min = 1,
     .max = 100000,
     .unit = "rows",
     .help = "How many transfers of each device are listed, those with most exposed time; and how "
             "many kernels without a partner."},
    {0},
};

static mill_status check_options(mill_run *run, const void *opts) {
    const inflight_options *o = opts;
    if (o->pairing == INFLIGHT_ALTERNATE && o->depth > 1)
        return mill_fail(run, MILL_E_CONFIG,
                         "pairing = alternate has one transfer in flight: for depth = %lld set "
                         "pairing = fifo or annotation",
                         (long long)o->depth);
    if (o->pairing != INFLIGHT_ANNOTATION &&
        (mill_option_given(run, "send-regex") || mill_option_given(run, "recv-regex")))
        return mill_fail(run, MILL_E_CONFIG, "send-regex and recv-regex need pairing = annotation");
    return MILL_OK;
}

static mill_status open_inflight(mill_run *run, const void *opts, void *state) {
    const inflight_options *o = opts;
    inflight_regexes *r = state;
    const struct {
        const char *pattern;
        mill_regex **ret_regex;
    } all[] = {{o->ll_regex, &r->ll},
               {o->send_regex, &r->send},
               {o->recv_regex, &r->recv},
               {o->expert_regex, &r->expert}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mill_status status = run->host->regex_new(run, all[i].pattern, 0, all[i].ret_regex);
        if (status != MILL_OK)
            return status;
    }
    return MILL_OK;
}

static mill_status run_inflight(mill_run *run, const void *opts, void *state) {
    inflight_analysis a;
    mill_status status =
        inflight_analyse(run, mill_input(run, 0, 0), mill_input(run, 1, 0), opts, state, &a);
    if (status != MILL_OK)
        return status;
    return mill_output(run, 0, inflight_tell(run, &a));
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = "inflight",
    .summary = "Transfers that are in flight while no kernel of theirs runs, as in decoding",
    .help = "Low-latency expert parallelism launches one kernel to send and later the same one to "
            "receive; between them data is in flight and holds no SM. This finds the pairs, and "
            "tells how much of each flight computation hides, how much is exposed, and how long "
            "receives wait. Overlap is told both ways: of kernels only, and with the flights.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(inflight_options),
    .state_size = sizeof(inflight_regexes),
    .check = check_options,
    .open = open_inflight,
    .run = run_inflight,
};

static const mill_stage *const stages[] = {&stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.inflight",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Transfers in flight between a send and a receive kernel",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
