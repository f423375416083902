/* SPDX-License-Identifier: Apache-2.0 */
/* Finds things of a report by their ids, for pictures made of certain ones. NULL: it has none. */
#ifndef HTML_LOOK_H
#define HTML_LOOK_H

#include <tracemill/report.h>

/* scope NULL: the first of that id. id NULL: there is none. */
const mill_figure *look_figure(const mill_report *r, const char *id, const char *scope);
/* scope NULL: of the whole report. */
const mill_figure *look_scoped(const mill_report *r, const char *id, const char *scope);

const mill_table *look_table(const mill_report *r, const char *id);
const mill_table_column *look_column(const mill_table *t, const char *id);

#endif
