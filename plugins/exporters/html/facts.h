/* SPDX-License-Identifier: Apache-2.0 */
/* The line that says what a page is about: rank, devices and how large they are. */
#ifndef HTML_FACTS_H
#define HTML_FACTS_H

#include <glib.h>
#include <tracemill/report.h>

/* What the reports of one item tell of it; nothing where they tell nothing. */
void facts_append(GString *page, const mill_report *const *reports, size_t n);

#endif
