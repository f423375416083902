/* SPDX-License-Identifier: Apache-2.0 */
/* Line charts, as SVG with axes, ticks, units and a legend. */
#ifndef HTML_CHART_H
#define HTML_CHART_H

#include <glib.h>
#include <tracemill/report.h>

typedef struct chart_curve {
    const char *label;
    const double *x, *y; /* NaN: no value */
    uint64_t n;
} chart_curve;

typedef struct chart {
    const char *title;
    const char *x_label, *x_unit, *y_label, *y_unit; /* units or NULL */
    const chart_curve *curves;
    size_t n;
    bool stacked; /* each curve on those before it; all have the same x */
} chart;

/* Where a curve has more points than pixels, each pixel shows their range: none is left out. */
void chart_append(GString *page, const chart *c);

/* All curves of a report: those that follow each other with the same labels share a chart. The SMs
 * held, of the report of overlap, are stacked. */
void chart_series(GString *page, const mill_report *report);

#endif
