/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of the mill.* types whose structs hold pointers (mill.trace/1 holds none: trace.h). */
#ifndef HOST_TYPES_SHAPES_H
#define HOST_TYPES_SHAPES_H

#include "types/shape.h"

extern const shape report_shape, attribution_shape, chunk_times_shape, schedule_shape,
    expert_load_shape, expert_plan_shape;

#endif
