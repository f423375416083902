/* SPDX-License-Identifier: Apache-2.0 */
/* A report as a page of GitHub-flavoured Markdown. */
#ifndef MARKDOWN_PAGE_H
#define MARKDOWN_PAGE_H

#include <glib.h>
#include <tracemill/report.h>

/* Appends the page. key: of the item, or "". rows: of figures, of each table and of findings, at
 * most; what is left out is counted. */
void markdown_page(GString *out, const mill_report *report, const char *key, uint64_t rows);

#endif
