/* SPDX-License-Identifier: Apache-2.0 */
/* The few numbers that a reader wants first, of the reports that have them. */
#ifndef HTML_TILES_H
#define HTML_TILES_H

#include <glib.h>
#include <tracemill/report.h>

/* Of reports of one item. An analysis that tiles.c doesn't know shows its first figures, if no
 * other report has a tile. Nothing is written where there is nothing to show. */
void tiles_append(GString *page, const mill_report *const *reports, size_t n);

#endif
