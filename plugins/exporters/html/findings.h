/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of all reports of an item, those that could win most first. */
#ifndef HTML_FINDINGS_H
#define HTML_FINDINGS_H

#include <glib.h>
#include <tracemill/report.h>

/* Writes what jumps to a finding: an <a …> start tag, and true, with its time as the axis there
 * counts; or nothing, and false. */
typedef bool (*findings_link)(void *arg, const mill_report *report, GString *page,
                              const mill_finding *finding, int64_t *ret_shown);

/* id: of the element. first: so many in sight, the others are behind them, folded; rows: so many in
 * all, what is left out is counted. */
void findings_append(GString *page, const mill_report *const *reports, size_t n, const char *id,
                     size_t first, uint64_t rows, findings_link link, void *arg);

#endif
