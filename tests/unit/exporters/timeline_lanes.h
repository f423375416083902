/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes made by hand, and their timelines, for the tests of html.write's timelines. */
#ifndef TIMELINE_LANES_H
#define TIMELINE_LANES_H

#include "timeline.h"

#include <cjson/cJSON.h>

typedef struct span {
    int64_t start, end;
    uint32_t text, cls;
} span;

typedef struct lane_data {
    mill_lane lane;
    int64_t *start, *end;
    uint32_t *text, *cls;
} lane_data;

lane_data *lane_of(const span *v, size_t n, int64_t base);

/* Of lane_data. */
GPtrArray *lanes_new(void);
mill_report report_of(GPtrArray *made);

GString *figure(const mill_report *report, uint64_t budget);
/* What the figure's script reads. */
cJSON *data_of(const GString *page);

/* Adds the tests of links and gaps. */
void timeline_marks_tests(void);

#endif
