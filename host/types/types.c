/* SPDX-License-Identifier: Apache-2.0 */
/* The mill.* value types, which the host implements for all modules. */
#include "types/types.h"

#include <glib.h>
#include <string.h>
#include <tracemill/attribution.h>
#include <tracemill/chunk_times.h>
#include <tracemill/expert_load.h>
#include <tracemill/expert_plan.h>
#include <tracemill/report.h>
#include <tracemill/schedule.h>
#include <tracemill/trace.h>

/* All their values are made by value_alloc, so none needs a free of its own. */
static const mill_type trace_type = {
    .size = sizeof(mill_type),
    .id = MILL_TYPE_TRACE,
    .help = "one rank's profile in columns",
};

static const mill_type report_type = {
    .size = sizeof(mill_type),
    .id = MILL_TYPE_REPORT,
    .help = "what an analysis says: figures, tables, notes, findings, lanes, series",
};

static const mill_type attribution_type = {
    .size = sizeof(mill_type),
    .id = MILL_TYPE_ATTRIBUTION,
    .help = "stage, chunk, layer, micro-batch and step of each GPU activity of a trace",
};

static const mill_type chunk_times_type = {
    .size = sizeof(mill_type),
    .id = MILL_TYPE_CHUNK_TIMES,
    .help = "how long the chunks of a pipeline take: F, B, Bi, W and F&B of each stage",
};

static const mill_type schedule_type = {
    .size = sizeof(mill_type),
    .id = MILL_TYPE_SCHEDULE,
    .help = "what each rank of a pipeline does when: simulated, or seen in a profile",
};

static const mill_type expert_load_type = {
    .size = sizeof(mill_type),
    .id = MILL_TYPE_EXPERT_LOAD,
    .help = "how many tokens each expert of each layer got, step by step",
};

static const mill_type expert_plan_type = {
    .size = sizeof(mill_type),
    .id = MILL_TYPE_EXPERT_PLAN,
    .help = "which expert each physical slot of each layer holds",
};

/* A value of a plugin of 1.0 ends with this field, however many came after it. */
#define SIZE_1_0(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))

static const struct {
    const mill_type *type;
    uint32_t least_size;
} known[] = {
    {&trace_type, SIZE_1_0(mill_trace, timers)},
    {&report_type, SIZE_1_0(mill_report, n_series)},
    {&attribution_type, SIZE_1_0(mill_attribution, busy)},
    {&chunk_times_type, SIZE_1_0(mill_chunk_times, methods)},
    {&schedule_type, SIZE_1_0(mill_schedule, live)},
    {&expert_load_type, SIZE_1_0(mill_expert_load, ranks)},
    {&expert_plan_type, SIZE_1_0(mill_expert_plan, layer)},
};

const mill_type *types_find(const char *id) {
    for (gsize i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i].type->id, id) == 0)
            return known[i].type;
    return NULL;
}

uint32_t types_least_size(const char *id) {
    for (gsize i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i].type->id, id) == 0)
            return known[i].least_size;
    return 0;
}
