/* SPDX-License-Identifier: Apache-2.0 */
/* The module: the stage class `chunks`, its options and its run. */
#include "chunks.h"

static const mill_port inputs[] = {
    {"trace", MILL_TYPE_TRACE, "The profile of one rank.", 0, 0},
    {"attribution", MILL_TYPE_ATTRIBUTION, "Which chunk each activity belongs to.", 0, 0},
    {0},
};

static const mill_port outputs[] = {
    {"times", MILL_TYPE_CHUNK_TIMES, "F, B, Bi, W and F&B: a row for each device.", 0, 0},
    {"report", MILL_TYPE_REPORT, "How they were found, and the bubbles that follow.", 0, 0},
    {0},
};

static const mill_option options[] = {
    KIT_SELECTION_OPTIONS(chunks_options, selection),
    {.name = "transfer-kinds",
     .type = MILL_OPT_LIST,
     .elem = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(chunks_options, transfer_kinds, LIST),
     .help = "Kinds of communication that move data, and so are a chunk's own cost; what is of "
             "another kind waits for other ranks. Left out: all but notify, barrier and layout."},
    {.name = "weight",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(chunks_options, weight, DURATION),
     .min = 0,
     .max = 1e18,
     .help = "W of one micro-batch, for a profile that does not tell it; 0s: none. Left out, such "
             "a W is unknown."},
    {.name = "micro-batches",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(chunks_options, micro_batches, INT),
     .def = "1",
     .min = 1,
     .max = 1e9,
     .help = "Micro-batches in a step, for a profile that does not tell them apart."},
    {.name = "sm-scale",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(chunks_options, sm_scale, NUM),
     .def = "1",
     .min = 0.001,
     .max = 1000,
     .help = "Heuristic: computation in F, B and W is multiplied by this, to the millionth. A lone "
             "chunk has the SMs that communication took: 0.8485 where that was 20 of 132."},
    {.name = "pair-share",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(chunks_options, pair_share, NUM),
     .def = "0.5",
     .min = 0,
     .max = 1,
     .help = "Heuristic: a forward and a backward chunk are a pair if both are active at once for "
             "this share of the time in which the less active one is."},
    {.name = "min-coverage",
     .type = MILL_OPT_NUM,
     .offset = MILL_OPT_OFF(chunks_options, min_coverage, NUM),
     .def = "0.95",
     .min = 0,
     .max = 1,
     .help = "The report warns where less than this share of the busy time belongs to a chunk."},
    {.name = "top",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(chunks_options, top, INT),
     .def = "20",
     .min = 1,
     .max = 100000,
     .unit = "rows",
     .help = "How many single chunks of each device are listed."},
    CHUNKS_PIPELINE_OPTIONS(chunks_options, pipeline, "16",
                            "Pipeline stages for which the bubbles are told; below 2: none."),
    {0},
};

static mill_status run_chunks(mill_run *run, const void *opts, void *state) {
    (void)state;
    chunks_analysis analysis;
    mill_status status =
        chunks_measure(run, mill_input(run, 0, 0), mill_input(run, 1, 0), opts, &analysis);
    if (status == MILL_OK)
        status = chunks_cost(run, &analysis);
    if (status == MILL_OK)
        status = mill_output(run, 0, chunks_times(run, &analysis));
    if (status == MILL_OK)
        status = mill_output(run, 1, chunks_tell(run, &analysis));
    return status;
}

static const mill_stage chunks_stage = {
    MILL_STAGE_HEAD,
    .name = "chunks",
    .summary = "How long the forward and backward chunks of a pipeline stage take",
    .help = "F, B, its parts Bi (gradients of the input) and W (of the weights), and F&B (a "
            "forward and a backward chunk at once), of one micro-batch, on three bases: "
            "computation only, with transfers in series, and with waits for other ranks. And the "
            "pipeline bubbles that published formulas make of them.\n\nThe output `times` is what "
            "pipeline estimators take; chunks.join makes one of several ranks'.",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(chunks_options),
    .run = run_chunks,
};

static const mill_stage *const stages[] = {&chunks_stage, &chunks_join_stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.chunks",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Durations of pipeline chunks",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
