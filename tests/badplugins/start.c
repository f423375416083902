/* SPDX-License-Identifier: Apache-2.0 */
/* A module that calls a function of another library, libacme, if that is linked. */
#include "bad.h"

mill_status acme_start(const mill_host *host);

static const mill_stage class = BAD_CLASS("bad", bad_run);
static const mill_stage *const classes[] = {&class, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {MILL_MODULE_HEAD, .id = "bad", .version = "1.0",
                                                .stages = classes, .init = acme_start};
