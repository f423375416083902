/* SPDX-License-Identifier: Apache-2.0 */
/* What plan.diff finds, for its report. */
#ifndef PLANS_DIFF_H
#define PLANS_DIFF_H

#include "plans.h"

#include <tracemill/kit/expert_plan.h>
#include <tracemill/kit/top.h>

typedef struct df_options {
    int64_t expert_bytes; /* 0: unknown */
    int64_t top;
} df_options;

/* A layer that both plans have. */
typedef struct df_layer {
    int64_t layer;
    uint32_t before, after; /* rows of the plans */
    int64_t load;           /* row of the loads, or -1 */
    uint32_t changed;       /* slots that hold another expert */
    uint32_t replicas;      /* experts that have more, or fewer, replicas */
    kit_moves moves;
    double mean, max_before, max_after; /* GPU loads; NaN: unknown */
} df_layer;

/* An expert of a layer that a GPU must get, or that has more or fewer replicas. */
typedef struct df_expert {
    int64_t layer;
    uint32_t expert, before, after; /* replicas */
    uint32_t fetched;               /* GPUs that must get it */
    double load;                    /* NaN: unknown */
} df_expert;

typedef struct df_result {
    const mill_expert_plan *before, *after;
    const mill_expert_load *loads; /* or NULL */
    df_layer *layers;
    uint32_t n_layers, only_before, only_after, without_loads;
    kit_top experts; /* df_expert */
    bool nodes;      /* known */
} df_result;

mill_report *df_tell(mill_run *run, const df_options *options, df_result *result);

#endif
