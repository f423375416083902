/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `ranks`, its options and its run. */
#include "ranks.h"

static const mill_port inputs[] = {
    {"in", RANK_TYPE, "Those of each rank, made by rank.summary.", MILL_PORT_MANY, 0},
    {0},
};

static const mill_port outputs[] = {
    {"report", MILL_TYPE_REPORT, "Who waits for whom, and how even the ranks are.", 0, 0},
    {0},
};

static const mill_option options[] = {
    {.name = "sync-kinds",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(ranks_options, sync_kinds, LIST),
     .def = "all-reduce, barrier, notify",
     .help = "Heuristic: kinds that end on all their ranks together, by which clocks are aligned."},
    {.name = "skip-kinds",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(ranks_options, skip_kinds, LIST),
     .def = "send-recv, p2p-copy, layout",
     .help = "Kinds that are no collectives of a group, and are not matched."},
    {.name = "min-matches",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(ranks_options, min_matches, INT),
     .def = "3",
     .min = 1,
     .max = 1e9,
     .unit = "collectives",
     .help = "Heuristic: a clock is aligned by so many at least."},
    {.name = "max-residual",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(ranks_options, max_residual, DURATION),
     .def = "100us",
     .min = 0,
     .max = 1e18,
     .help = "Heuristic: if the 95th percentile of what is left after alignment is above this, "
             "the collectives do not end together, and the clock is not known."},
    {.name = "straggler-share",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(ranks_options, straggler_share, NUM),
     .def = "0.5",
     .min = 0,
     .max = 1,
     .help = "Heuristic: a straggler comes last in at least this share of the collectives in which "
             "that can be told."},
    {.name = "straggler-wait",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(ranks_options, straggler_wait, NUM),
     .def = "0.01",
     .min = 0,
     .max = 1000,
     .help = "Heuristic: a straggler makes others wait, summed over them, for at least this share "
             "of its window."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(ranks_options, top, INT),
     .def = "10",
     .min = 1,
     .max = 1000000,
     .unit = "rows",
     .help = "How many collectives, and missing ones, are listed."},
    {.name = "detail",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(ranks_options, detail, BOOL),
     .def = "no",
     .help = "Each rank's arrival in the collectives listed, too."},
    {0},
};

static mill_status run_ranks(mill_run *run, const void *opts, void *state) {
    (void)state;
    ranks_analysis a = {.run = run, .options = opts, .texts = kit_intern_create()};
    a.reference = MILL_NONE;
    mill_report *report = NULL;
    mill_status status = ranks_find_members(&a);
    if (status == MILL_OK) {
        ranks_match_up(&a);
        ranks_align(&a);
        ranks_measure(&a);
        report = ranks_tell(&a);
    }
    kit_intern_destroy(a.texts);
    return status == MILL_OK ? mill_output(run, 0, report) : status;
}

static const mill_stage ranks_stage = {
    MILL_STAGE_HEAD,
    .name = "ranks",
    .summary = "Which rank others wait for, and how even the ranks are",
    .help = "Matches the collectives of the ranks of one job, aligns their clocks by those that "
            "end together, and tells in each who came last, what others waited, and what the "
            "transfer itself took. No more is claimed than clocks allow.\n\nTakes the small values "
            "that rank.summary makes of each profile.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(ranks_options),
    .run = run_ranks,
};

static const mill_stage *const stages[] = {&rank_summary_stage, &ranks_stage, NULL};
static const mill_type *const types[] = {&rank_type, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.ranks",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Ranks of a job against each other",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
    .types = types,
};
