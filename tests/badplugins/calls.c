/* SPDX-License-Identifier: Apache-2.0 */
/* A module that calls functions of two other libraries while it runs. */
#include "bad.h"

int acme_more(void);
mill_status acme_start(const mill_host *host);

static mill_status run(mill_run *run, const void *opts, void *state) {
    mill_status status = acme_more() == 0 ? acme_start(run->host) : MILL_E_DATA;
    return status == MILL_OK ? bad_run(run, opts, state) : status;
}

static const mill_stage class = BAD_CLASS("bad", run);
static const mill_stage *const classes[] = {&class, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {MILL_MODULE_HEAD, .id = "bad", .version = "1.0",
                                                .stages = classes};
