/* SPDX-License-Identifier: Apache-2.0 */
/* A module built for a newer ABI than any host of this source speaks: found, but never loaded. */
#include <tracemill/tracemill.h>

MILL_EXPORT const mill_module mill_module_v1 = {
    .magic = MILL_MAGIC,
    .abi_major = MILL_ABI_MAJOR,
    .abi_minor = MILL_ABI_MINOR + 1,
    .size = sizeof(mill_module),
    .id = "org.acme.fit",
    .version = "2.0.0",
};
