/* SPDX-License-Identifier: Apache-2.0 */
/* A module that calls a library which calls another one. */
#include "bad.h"

int acme_more(void);

static mill_status run(mill_run *run, const void *opts, void *state) {
    return acme_more() == 0 ? bad_run(run, opts, state) : MILL_E_DATA;
}

static const mill_stage class = BAD_CLASS("bad", run);
static const mill_stage *const classes[] = {&class, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {MILL_MODULE_HEAD, .id = "bad", .version = "1.0",
                                                .stages = classes};
