/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object that is no module. */
#include <tracemill/tracemill.h>

MILL_EXPORT const char acme_version[] = "1.0";
