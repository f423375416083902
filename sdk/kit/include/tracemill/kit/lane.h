/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of a timeline, interval by interval, labelled with what activities do. */
#ifndef TRACEMILL_KIT_LANE_H
#define TRACEMILL_KIT_LANE_H

#include <tracemill/kit/activities.h>
#include <tracemill/kit/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The texts of an analysis' lanes: its classes first, then stages, then kinds of activities. */
typedef struct kit_lane_texts {
    const kit_activities *all;
    const char **v;
    uint32_t n, stages, kinds; /* how many; where stages and kinds begin */
} kit_lane_texts;

/* In the run's scratch. Class i of a lane is classes[i]. */
kit_lane_texts kit_lane_texts_of(mill_run *run, const kit_activities *all,
                                 const char *const *classes, size_t n_classes);

/* What labels the activity: its stage, or if that is unknown its kind. */
uint32_t kit_lane_text(const kit_lane_texts *texts, const kit_activity *activity);

/* A lane that grows. */
typedef struct kit_lane_rows {
    int64_t base; /* the time 0 of what the report shows */
    int64_t *start, *end;
    uint32_t *text, *cls;
    size_t n, room;
} kit_lane_rows;

/* Times as in the trace; empty intervals are left out. */
void kit_lane_add(kit_lane_rows *rows, int64_t start, int64_t end, uint32_t text, uint32_t cls);

/* Puts the lane of the device (stream MILL_UNKNOWN: of all of it) into the report, and empties
 * rows. */
void kit_lane_put(kit_report *report, const char *id, const char *label, const kit_device *device,
                  int64_t stream, const kit_lane_texts *texts, kit_lane_rows *rows);

#ifdef __cplusplus
}
#endif
#endif
