/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the stage `eplb.replay` share. */
#ifndef EPLB_REPLAY_H
#define EPLB_REPLAY_H

#include "problem.h"

#include <tracemill/kit/forecast.h>
#include <tracemill/kit/report.h>

typedef struct replay_options {
    ep_options common;
    mill_list intervals, thresholds;
    kit_forecast_rule rule;
    int64_t observe, bandwidth, expert_time;
} replay_options;

typedef enum replay_when {
    REPLAY_NEVER, /* the placement before is kept */
    REPLAY_ONCE,
    REPLAY_EVERY,
    REPLAY_BELOW, /* when the balancedness of the last steps is below the threshold */
} replay_when;

/* One way to go on, and what came of it. Loads are summed over layers, and over the steps
 * after those that are only observed. */
typedef struct replay_mode {
    replay_when when;
    int64_t interval;
    double threshold;
    const char *id, *label;
    double *max, *mean; /* of each of those steps */
    double *sglang;     /* Σ over the layers of mean / largest */
    uint32_t *loaded;   /* layers with loads in that step */
    int64_t replans, same_gpu, same_node, cross_node;
    int64_t busiest; /* Σ over re-plans and layers: experts that one GPU must load, the most */
} replay_mode;

typedef struct replay_analysis {
    const replay_options *options;
    ep_problem problem;
    uint64_t first, steps; /* those that are gone through */
    replay_mode *modes;
    size_t n_modes;
} replay_analysis;

mill_status replay_run(replay_analysis *a);

/* Over all steps: the definitions of vLLM and SGLang; NaN: there are no loads. */
double replay_balancedness(const replay_analysis *a, const replay_mode *m);
double replay_sglang(const replay_analysis *a, const replay_mode *m);

mill_report *replay_tell(const replay_analysis *a);

extern const mill_stage replay_stage;

#endif
