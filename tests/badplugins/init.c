/* SPDX-License-Identifier: Apache-2.0 */
/* A module whose init is INIT. */
#include "bad.h"

#include <stdlib.h>

__attribute__((unused)) static mill_status fails(const mill_host *host) {
    mill_init_fail(host, MILL_E_IO, "no licence at %s", "/etc/acme");
    return mill_init_fail(host, MILL_E_PLUGIN, "can't start");
}

__attribute__((unused)) static mill_status fails_silently(const mill_host *host) {
    (void)host;
    return MILL_E_PLUGIN;
}

__attribute__((unused)) static mill_status aborts(const mill_host *host) {
    (void)host;
    abort();
}

static const mill_stage class = BAD_CLASS("bad", bad_run);
static const mill_stage *const classes[] = {&class, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {MILL_MODULE_HEAD, .id = "bad", .version = "1.0",
                                                .stages = classes, .init = INIT};
