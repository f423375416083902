/* SPDX-License-Identifier: Apache-2.0 */
/* A report's tables and figures. */
#ifndef HTML_TABLE_H
#define HTML_TABLE_H

#include <glib.h>
#include <tracemill/report.h>

/* At most `rows` rows; what is left out is counted. id: of the element. */
void table_append(GString *page, const mill_table *table, const char *id, uint64_t rows);

/* A list, or a table with a column for each scope where figures have several. */
void table_figures(GString *page, const mill_report *report);

#endif
