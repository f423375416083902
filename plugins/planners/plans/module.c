/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.plans: placements of experts in files, and what changes from one to another. */
#include "plans.h"

static const mill_stage *const stages[] = {&pl_read_stage, &pl_write_stage, &pl_diff_stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.plans",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Reads, writes and compares placements of experts",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
