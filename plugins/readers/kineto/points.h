/* SPDX-License-Identifier: Apache-2.0 */
/* Events that have a time but no duration: counters, memory records, arrows. */
#ifndef KINETO_POINTS_H
#define KINETO_POINTS_H

#include "event.h"
#include "rows.h"

/* A row of the counters for each number among the args of a ph C. */
void points_counter(rows *r, const event *e, const char *name, size_t length, uint64_t byte);

/* The same for what "[memory]" says of allocated and reserved bytes. */
void points_memory(rows *r, const event *e, uint64_t byte);

/* An arrow's ph s, t or f. */
void points_flow(rows *r, const event *e, const char *name, size_t length, uint64_t byte);

#endif
