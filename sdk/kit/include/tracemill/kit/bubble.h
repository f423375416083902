/* SPDX-License-Identifier: Apache-2.0 */
/* Published formulas of pipeline bubbles: how long a device stands still in one training step.
 *
 * They hold for equal stages and free transfers between them. F, B, W and F&B are those of
 * tracemill/chunk_times.h: B is the whole backward chunk, weights included.
 */
#ifndef TRACEMILL_KIT_BUBBLE_H
#define TRACEMILL_KIT_BUBBLE_H

#include <tracemill/chunk_times.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kit_schedule {
    KIT_SCHEDULE_1F1B,
    KIT_SCHEDULE_ZB1P,
    KIT_SCHEDULE_DUALPIPE,
    KIT_SCHEDULES
} kit_schedule;

typedef struct kit_closed_form {
    const char *id;      /* "zb1p": as in the ids of reports */
    const char *name;    /* "ZB1P" */
    const char *formula; /* "(PP - 1)(F + B - 2W)" */
    const char *source;
} kit_closed_form;

extern const kit_closed_form kit_closed_forms[KIT_SCHEDULES];

/* The bubble in ns. MILL_UNKNOWN where a duration that it needs is, for a number of stages that the
 * schedule can't have, and where it does not fit. Negative where the formula is used outside of its
 * domain. */
int64_t kit_bubble(kit_schedule schedule, const mill_chunk_cost *cost, int64_t stages);

/* What the formulas set the bubble against: m(F + B), or m F&B where the schedule runs pairs. */
int64_t kit_bubble_work(kit_schedule schedule, const mill_chunk_cost *cost, int64_t micro_batches);

/* The number of micro-batches nearest to this one with which the schedule runs on so many stages;
 * 0 if there is none. */
int64_t kit_schedulable(kit_schedule schedule, int64_t stages, int64_t micro_batches);

#ifdef __cplusplus
}
#endif
#endif
