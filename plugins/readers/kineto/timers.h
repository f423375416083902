/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that a training program timed itself: events of no category of ours, with mb_id. */
#ifndef KINETO_TIMERS_H
#define KINETO_TIMERS_H

#include "json.h"

#include <tracemill/kit/trace_builder.h>

/* Fills in what the args say, and appends the row. */
void timers_take(kit_trace *b, kit_timer_row *row, json_value args);

#endif
