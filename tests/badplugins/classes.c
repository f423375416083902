/* SPDX-License-Identifier: Apache-2.0 */
/* A module with the classes CLASSES. */
#include "bad.h"

__attribute__((unused)) static const mill_stage works = BAD_CLASS("bad", bad_run);
__attribute__((unused)) static const mill_stage no_run = BAD_CLASS("bad", NULL);
static const mill_stage *const classes[] = {CLASSES};

MILL_EXPORT const mill_module mill_module_v1 = {MILL_MODULE_HEAD, .id = "bad", .version = "1.0",
                                                .stages = classes};
