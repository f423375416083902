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

#include "types/shapes.h"
#include "types/trace.h"

/* All their values are made by value_alloc, so none needs a free of its own. */
static const mill_type trace_type = {
    .size = sizeof(mill_type),
    .id = MILL_TYPE_TRACE,
    .help = "one rank's profile in columns",
    .save = trace_save,
    .load = trace_load,
};

/* A type whose values are saved and loaded by a shape. */
#define SHAPED(name, type_id, text)                                                                \
    static mill_status name##_save(mill_run *run, const void *data, mill_sink *sink) {             \
        (void)run;                                                                                 \
        return shape_save(&name##_shape, type_id, data, sink);                                     \
    }                                                                                              \
    static mill_status name##_load(mill_run *run, mill_source *source, void **ret_data) {          \
        return shape_load(&name##_shape, type_id, run, source, ret_data);                          \
    }                                                                                              \
    static const mill_type name##_type = {                                                         \
        .size = sizeof(mill_type),                                                                 \
        .id = type_id,                                                                             \
        .help = text,                                                                              \
        .save = name##_save,                                                                       \
        .load = name##_load,                                                                       \
    }

SHAPED(report, MILL_TYPE_REPORT,
       "what an analysis says: figures, tables, notes, findings, lanes, series");
SHAPED(attribution, MILL_TYPE_ATTRIBUTION,
       "stage, chunk, layer, micro-batch and step of each GPU activity of a trace");
SHAPED(chunk_times, MILL_TYPE_CHUNK_TIMES,
       "how long the chunks of a pipeline take: F, B, Bi, W and F&B of each stage");
SHAPED(schedule, MILL_TYPE_SCHEDULE,
       "what each rank of a pipeline does when: simulated, or seen in a profile");
SHAPED(expert_load, MILL_TYPE_EXPERT_LOAD,
       "how many tokens each expert of each layer got, step by step");
SHAPED(expert_plan, MILL_TYPE_EXPERT_PLAN, "which expert each physical slot of each layer holds");

static const struct {
    const mill_type *type;
    const shape *shape; /* NULL: of a trace */
} known[] = {
    {&trace_type, NULL},
    {&report_type, &report_shape},
    {&attribution_type, &attribution_shape},
    {&chunk_times_type, &chunk_times_shape},
    {&schedule_type, &schedule_shape},
    {&expert_load_type, &expert_load_shape},
    {&expert_plan_type, &expert_plan_shape},
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
            return known[i].shape != NULL ? known[i].shape->least : TRACE_LEAST_SIZE;
    return 0;
}
