/* SPDX-License-Identifier: Apache-2.0 */
/* The pictures of the report of overlap: where the window goes, and which stages run at once. */
#ifndef HTML_WATERFALL_H
#define HTML_WATERFALL_H

#include <glib.h>
#include <tracemill/report.h>

/* For each device: computation, exposed communication by reason, memory work alone and idle time,
 * which are the window. Left out where the report lacks one of them, or they don't add up.
 * reasons: its table exposed_comm_by_reason, or NULL: nothing is exposed. */
void waterfall_append(GString *page, const mill_report *report, const mill_table *reasons);

/* Computation's stages by communication's; t NULL: nothing. */
void matrix_append(GString *page, const mill_table *t);

#endif
