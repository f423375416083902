/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a page that is one report. */
#ifndef HTML_REPORT_H
#define HTML_REPORT_H

#include <glib.h>
#include <tracemill/report.h>

/* id: of the element, begins those of its tables. stage: that made it. notes: from this level on.
 */
void report_append(GString *page, const mill_report *report, const char *id, const char *stage,
                   uint64_t rows, mill_level notes);

/* Its notes of the levels `from` to `to`, as a list; nothing where there are none. seen: texts that
 * were told already and are not told again, to which these are added; or NULL. */
void report_notes(GString *page, const mill_report *report, mill_level from, mill_level to,
                  GHashTable *seen);

#endif
