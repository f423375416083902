/* SPDX-License-Identifier: Apache-2.0 */
/* A module whose first 12 bytes are HEAD. */
#include "bad.h"

static const mill_stage class = BAD_CLASS("bad", bad_run);
static const mill_stage *const classes[] = {&class, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {HEAD, .id = "bad", .version = "1.0",
                                                .stages = classes};
