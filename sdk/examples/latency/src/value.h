/* SPDX-License-Identifier: Apache-2.0 */
/* Values of org.example.latency/1 in the making, and the type itself. */
#ifndef EXAMPLE_LATENCY_VALUE_H
#define EXAMPLE_LATENCY_VALUE_H

#include "latency.h"

#include <tracemill/tracemill.h>

extern const mill_type latency_type;

/* An empty one, in memory of its own. */
latency *latency_create(mill_run *run);

/* A wait in ns; below 0: an early one. False if the sum no longer fits. */
bool latency_add(latency *l, int64_t wait);
/* All that `from` has. False if a sum no longer fits. */
bool latency_merge(latency *l, const latency *from);

/* An upper bound of the wait that `part` (0 to 1) of all waits but the early ones are within: the
 * end of its bin, the longest where that is less; MILL_UNKNOWN without waits. */
int64_t latency_quantile(const latency *l, double part);

#endif
