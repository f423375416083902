/* SPDX-License-Identifier: Apache-2.0 */
/* What stands beside the events in the top object: ranks, devices, the base of times. */
#ifndef KINETO_FACTS_H
#define KINETO_FACTS_H

#include "json.h"

#include <tracemill/kit/trace_builder.h>

bool facts_want(const char *key);
/* Members that are missing, or of an odd type, stay unknown. */
void facts_take(kit_trace *b, const char *key, json_value value);

/* The whole number that a number, or a string that holds one, is; else MILL_UNKNOWN. */
int64_t facts_int(json_value value);

/* A string of the trace, or a number or a list as it is written; MILL_NONE of anything else, and of
 * an empty string. */
uint32_t facts_string(kit_trace *b, json_value value);

/* values[i] is the member of an object that is called keys[i]: the last one of that name, or none.
 * Of what is no object all are none. */
void facts_pick(json_value object, const char *const *keys, json_value *values, size_t n);

#endif
