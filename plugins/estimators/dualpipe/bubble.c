/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `bubble`, its ports, options and run. */
#include "bubble.h"
#include "torch_csv.h"

#include <string.h>

static const mill_port inputs[] = {
    {"times", MILL_TYPE_CHUNK_TIMES, "How long the chunks of each stage take.", MILL_PORT_OPTIONAL,
     0},
    {"measured", MILL_TYPE_SCHEDULE, "A step as it ran, to be told beside the simulated ones.",
     MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "The schedules side by side, and why they stand still.", 0, 0},
    {"schedules", MILL_TYPE_SCHEDULE,
     "One item for each schedule that runs, with the first number of micro-batches; `search`: what "
     "the search found.",
     MILL_PORT_ITEMS, 0},
    {0},
};

static const char *const pair_rules[] = {"own", "overlap", NULL};
static const char *const comms[] = {"dep", "blocking", NULL};
static const char *const freed[] = {"backward", "weight", NULL};

#define DURATION_OPTION(option, field_, text)                                                      \
    {                                                                                              \
        .name = option, .type = MILL_OPT_DURATION,                                                 \
        .offset = MILL_OPT_OFF(bubble_options, field_, DURATION), .min = 0, .max = 1e15,           \
        .help = text                                                                               \
    }

static const mill_option options[] = {
    {.name = "pp",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(bubble_options, pp, INT),
     .def = "16",
     .min = 1,
     .max = 65536,
     .unit = "devices",
     .help =
         "Devices of the pipeline. Left out: as many as rows of durations, if there are several."},
    {.name = "m",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(bubble_options, micro_batches, LIST),
     .def = "32, 40, 60, 80, 120",
     .min = 1,
     .max = 1e6,
     .unit = "micro-batches",
     .help = "Numbers of micro-batches in a step. Schedules are compared in detail for the first."},
    {.name = "schedules",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(bubble_options, schedules, LIST),
     .def = "all",
     .help = "gpipe, 1f1b, interleaved, eager-1f1b, zb-h1 (zb1p), zb-h2, zb-v, v-half, v-min, "
             "chimera, hanayo, dualpipe, dualpipev; or all."},
    {.name = "v",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(bubble_options, chunks, INT),
     .def = "2",
     .min = 1,
     .max = 255,
     .unit = "chunks",
     .help =
         "Model chunks of a device, where the schedule leaves that open (interleaved, hanayo)."},
    {.name = "warm-up",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(bubble_options, warm_up, INT),
     .def = "1",
     .min = 0,
     .max = 1e6,
     .unit = "micro-batches",
     .help = "Eager 1F1B: forwards before the first backward, beyond those of 1F1B."},
    {.name = "weight-lag",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(bubble_options, weight_lag, INT),
     .min = 0,
     .max = 1e6,
     .unit = "chunks",
     .help = "ZB-H1: how many W may wait behind their Bi. Left out: the rank's number."},
    {.name = "schedule-file",
     .type = MILL_OPT_PATH,
     .offset = MILL_OPT_OFF(bubble_options, schedule_file, PATH),
     .help = "A schedule of your own, as CSV of torch.distributed.pipelining, compared with the "
             "others."},
    DURATION_OPTION("forward", forward,
                    "F: the forward chunk of a device's share of the model, "
                    "one micro-batch. Replaces what was measured."),
    DURATION_OPTION("backward", backward,
                    "B: all of the backward chunk. B = Bi + W: two of the "
                    "three give the third."),
    DURATION_OPTION("input", input, "Bi: gradients of the input."),
    DURATION_OPTION("weight", weight, "W: gradients of the weights."),
    DURATION_OPTION("pair", pair, "F&B: a forward and a backward chunk that run at once."),
    {.name = "table",
     .type = MILL_OPT_PATH,
     .offset = MILL_OPT_OFF(bubble_options, table, PATH),
     .help = "Durations of each stage instead of `times`: CSV with the columns stage, forward_us, "
             "backward_us, input_us, weight_us, pair_us; or with _ns, _ms, _s."},
    {.name = "pair-rule",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(bubble_options, pair_rule, ENUM),
     .def = "own",
     .choices = pair_rules,
     .help = "How long F&B takes: its own duration, or max(F, B) + alpha min(F, B)."},
    {.name = "alpha",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(bubble_options, alpha, NUM),
     .def = "0",
     .min = 0,
     .max = 1,
     .help = "Share of the shorter half of F&B that does not overlap; with pair-rule = overlap."},
    {.name = "communication",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(bubble_options, comm, ENUM),
     .def = "dep",
     .choices = comms,
     .help = "dep: transfers never block. blocking: the sends and receives between two operations "
             "are one batch that both sides wait for, as dualpipe.py has it."},
    {.name = "latency",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(bubble_options, latency, DURATION),
     .def = "0s",
     .min = 0,
     .max = 1e15,
     .help =
         "Of a transfer between two ranks. Left out: with the input measured, its median transfer "
         "(unless transfer-bytes are given)."},
    {.name = "transfer-bytes",
     .type = MILL_OPT_BYTES,
     .offset = MILL_OPT_OFF(bubble_options, transfer_bytes, BYTES),
     .def = "0B",
     .min = 0,
     .max = 1e15,
     .help = "Activations (or gradients) of one micro-batch between two stages."},
    {.name = "bandwidth",
     .type = MILL_OPT_BYTES,
     .offset = MILL_OPT_OFF(bubble_options, bandwidth, BYTES),
     .min = 1,
     .max = 1e15,
     .unit = "per second",
     .help = "Of a link between two ranks, one way: transfer-bytes take their time on it."},
    {.name = "slowness",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(bubble_options, slowness, LIST),
     .min = 0.001,
     .max = 1000,
     .help = "Factors of all durations of rank 0, 1, …; ranks that are not listed have 1."},
    {.name = "jitter",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(bubble_options, jitter, NUM),
     .def = "0",
     .min = 0,
     .max = 0.999,
     .help =
         "Each duration is multiplied by 1 + jitter u, u uniform in (-1, 1): percentiles of the "
         "makespan over `samples` steps are told."},
    {.name = "seed",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(bubble_options, seed, INT),
     .def = "1",
     .min = 0,
     .max = 1e15,
     .help = "Of jitter and search: the same one gives the same figures."},
    {.name = "samples",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(bubble_options, samples, INT),
     .def = "100",
     .min = 1,
     .max = 100000,
     .unit = "steps",
     .help = "Steps that are simulated with jitter."},
    {.name = "activations",
     .type = MILL_OPT_BYTES,
     .offset = MILL_OPT_OFF(bubble_options, activations, BYTES),
     .min = 0,
     .max = 1e15,
     .help = "What a device keeps of one micro-batch from F to B, for its whole share of the "
             "model. Left out: memory is told in micro-batches."},
    {.name = "parameters",
     .type = MILL_OPT_BYTES,
     .offset = MILL_OPT_OFF(bubble_options, parameters, BYTES),
     .def = "0B",
     .min = 0,
     .max = 1e15,
     .help = "Parameters, gradients and optimizer state of a device's share of the model, once: "
             "DualPipe and Chimera hold two copies."},
    {.name = "memory-limit",
     .type = MILL_OPT_BYTES,
     .offset = MILL_OPT_OFF(bubble_options, memory_limit, BYTES),
     .min = 1,
     .max = 1e15,
     .help =
         "Of a device: schedules that need more are not taken for the best. Needs activations."},
    {.name = "freed",
     .type = MILL_OPT_ENUM,
     .offset = MILL_OPT_OFF(bubble_options, freed, ENUM),
     .def = "weight",
     .choices = freed,
     .help = "When activations are freed, where the backward chunk is split: after Bi (backward) "
             "or only after W (weight)."},
    {.name = "search",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(bubble_options, search, BOOL),
     .def = "no",
     .help = "Looks for a schedule that is better than those known by name."},
    {.name = "effort",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(bubble_options, effort, INT),
     .def = "2000",
     .min = 1,
     .max = 1e9,
     .unit = "simulations",
     .help = "What the search may try."},
    {.name = "compare",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(bubble_options, compare, LIST),
     .def = "1f1b, zb-h1, dualpipe",
     .help = "Schedules of which the step is told for each m, on each basis of the durations, and "
             "the formulas; or all. Those of `detail` are always compared."},
    {.name = "detail",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(bubble_options, detail, LIST),
     .help = "Schedules of which idle times, the critical path, changes and timelines are told. "
             "Left out: the one with the shortest step."},
    {.name = "lanes",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(bubble_options, lanes, LIST),
     .help = "Schedules, of those that are simulated, whose timelines are told, for exporters that "
             "draw; or all. Left out: those in `detail`."},
    {.name = "min-gain",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(bubble_options, min_gain, NUM),
     .def = "0.01",
     .min = 0,
     .max = 1,
     .help = "Findings that would win less than this share of the step are left out."},
    {.name = "most-operations",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(bubble_options, most_operations, INT),
     .def = "200000",
     .min = 0,
     .max = 1e9,
     .unit = "operations",
     .help = "Longer schedules get their figures, but no timeline, critical path or causes."},
    {0},
};

/* ---------------------------------------------------------------- check */

static mill_status check_schedules(mill_run *run, const char *option, const mill_list *list,
                                   bool all_too) {
    const char *const *ids = list->v;
    for (size_t i = 0; i < list->n; i++)
        if (!pp_family_of(ids[i]) && !(all_too && strcmp(ids[i], "all") == 0))
            return mill_fail(run, MILL_E_CONFIG,
                             "%s = %s: no such schedule; there are gpipe, 1f1b, interleaved, "
                             "eager-1f1b, zb-h1, zb-h2, zb-v, v-half, v-min, chimera, hanayo, "
                             "dualpipe, dualpipev%s",
                             option, ids[i], all_too ? ", and all" : "");
    return MILL_OK;
}

static mill_status check_micro_batches(mill_run *run, const mill_list *list) {
    const int64_t *m = list->v;
    if (list->n == 0)
        return mill_fail(run, MILL_E_CONFIG, "m is empty: list at least one number");
    for (size_t i = 1; i < list->n; i++)
        for (size_t k = 0; k < i; k++)
            if (m[k] == m[i])
                return mill_fail(run, MILL_E_CONFIG, "m lists %lld twice", (long long)m[i]);
    return MILL_OK;
}

static mill_status check_bubble(mill_run *run, const void *opts) {
    const bubble_options *o = opts;
    mill_status status = check_schedules(run, "schedules", &o->schedules, true);
    if (status == MILL_OK)
        status = check_schedules(run, "compare", &o->compare, true);
    if (status == MILL_OK)
        status = check_schedules(run, "detail", &o->detail, false);
    if (status == MILL_OK)
        status = check_schedules(run, "lanes", &o->lanes, true);
    if (status == MILL_OK)
        status = check_micro_batches(run, &o->micro_batches);
    if (status != MILL_OK)
        return status;
    if (mill_option_given(run, "memory-limit") && !mill_option_given(run, "activations"))
        return mill_fail(run, MILL_E_CONFIG,
                         "memory-limit needs activations: bytes that a device keeps of one "
                         "micro-batch");
    if (o->transfer_bytes > 0 && !mill_option_given(run, "bandwidth"))
        return mill_fail(run, MILL_E_CONFIG, "transfer-bytes needs bandwidth, bytes per second");
    if ((double)o->transfer_bytes > 1e6 * (double)o->bandwidth)
        return mill_fail(run, MILL_E_CONFIG,
                         "transfer-bytes / bandwidth is over a million seconds: bandwidth is in "
                         "bytes per second");
    if (mill_option_given(run, "table") && mill_option_given(run, "forward"))
        return mill_fail(run, MILL_E_CONFIG,
                         "both table and forward: durations come from one or the other");
    return MILL_OK;
}

/* ---------------------------------------------------------------- run */

static mill_status emit(mill_run *run, const bubble_analysis *a, const bubble_case *c) {
    return c->result.items ? run->host->emit(run, 1, c->id, bubble_value(run, a, c)) : MILL_OK;
}

static mill_status emit_schedules(mill_run *run, const bubble_analysis *a) {
    mill_status status = emit(run, a, &a->found_case);
    for (size_t s = 0; s < a->n_schedules && status == MILL_OK; s++)
        status = emit(run, a, bubble_at(a, 0, s, a->in.likely));
    return status;
}

static mill_status run_bubble(mill_run *run, const void *opts, void *state) {
    (void)state;
    const bubble_options *o = opts;
    bubble_analysis a = {
        .options = o,
        .measured = mill_input(run, 1, 0),
        .activations = mill_option_given(run, "activations") ? o->activations : MILL_UNKNOWN,
        .memory_limit = mill_option_given(run, "memory-limit") ? o->memory_limit : MILL_UNKNOWN,
        .weight_lag = mill_option_given(run, "weight-lag") ? (uint32_t)o->weight_lag : UINT32_MAX,
    };
    mill_status status = MILL_OK;
    if (o->schedule_file)
        status = pp_torch_read(run, o->schedule_file, &a.file, &a.file_left_out);
    if (status == MILL_OK)
        status = bubble_read_inputs(run, mill_input(run, 0, 0), &a);
    if (status == MILL_OK)
        status = bubble_compare(run, &a);
    if (status == MILL_OK)
        status = bubble_ask_what_if(run, &a);
    if (status == MILL_OK && o->search)
        status = bubble_search(run, &a);
    if (status == MILL_OK)
        status = mill_output(run, 0, bubble_tell(run, &a));
    if (status == MILL_OK)
        status = emit_schedules(run, &a);
    return status;
}

static const mill_stage bubble_stage = {
    MILL_STAGE_HEAD,
    .name = "bubble",
    .summary = "How long a training step takes under each pipeline schedule, and why",
    .help = "Simulates DualPipe, DualPipeV and the schedules that compete with them, operation by "
            "operation, with durations that were measured (`times`, from chunks or chunks.join), "
            "or given by options or a table. Tells step times, bubbles, memory, closed forms with "
            "where they fail, what ranks wait for, and what a change would be worth.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(bubble_options),
    .check = check_bubble,
    .run = run_bubble,
};

static const mill_stage *const stages[] = {&bubble_stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.dualpipe",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Pipeline schedules and their bubbles",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
