/* SPDX-License-Identifier: Apache-2.0 */
/* Heat maps, as SVG with a legend. */
#ifndef HTML_HEAT_H
#define HTML_HEAT_H

#include <glib.h>
#include <tracemill/report.h>

#define HEAT_LEVELS 9 /* classes h0…h8 of page.css, light to dark (in the dark: dark to light) */

/* All heat maps of a report. Rows that follow each other with one y_label are a map; maps with the
 * same x_label stand side by side with one scale. */
void heat_series(GString *page, const mill_report *report);

/* The level of a value between the ends of a scale. */
int heat_level(double value, double low, double high);

#endif
