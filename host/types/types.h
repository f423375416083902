/* SPDX-License-Identifier: Apache-2.0 */
/* The mill.* value types, which the host implements for all modules. */
#ifndef HOST_TYPES_TYPES_H
#define HOST_TYPES_TYPES_H

#include <tracemill/tracemill.h>

/* The descriptor of a mill.* type this host knows, or NULL. */
const mill_type *types_find(const char *id);
/* Bytes of the smallest struct that is a value of that type, as the oldest module makes it; every
 * one begins with its size. */
uint32_t types_least_size(const char *id);

#endif
