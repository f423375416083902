/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of reports whose figures, known by their ids, are parts of one whole. */
#ifndef HTML_VIEWS_H
#define HTML_VIEWS_H

#include <glib.h>
#include <tracemill/report.h>

/* Where the report's window goes, which stages run at once, how far a plan is from its bound: what
 * of it the report's ids allow. */
void views_append(GString *page, const mill_report *report);

#endif
