/* SPDX-License-Identifier: Apache-2.0 */
/* A library that a module needs. */
#include <tracemill/tracemill.h>

__attribute__((visibility("default"))) mill_status acme_start(const mill_host *host);

mill_status acme_start(const mill_host *host) {
    (void)host;
    return MILL_OK;
}
