/* SPDX-License-Identifier: Apache-2.0 */
/* Looks values up in a report by their ids. What is not there ends the test with a message. */
#ifndef TRACEMILL_TESTS_LOOK_H
#define TRACEMILL_TESTS_LOOK_H

#include <glib.h>
#include <tracemill/report.h>

/* scope NULL: the figure that has none. */
int64_t look_int(const mill_report *report, const char *id, const char *scope);
double look_ratio(const mill_report *report, const char *id, const char *scope);
bool look_has_figure(const mill_report *report, const char *id);

/* NULL: the report has no such table, or note. */
const mill_table *look_table(const mill_report *report, const char *id);
const mill_note *look_note(const mill_report *report, const char *id);

/* The row of `device` in which column `key` is `value`; -1: there is none. */
int64_t look_row(const mill_table *table, int64_t device, const char *key, const char *value);
/* The same where the column is an id; key NULL: the first row of the device. */
int64_t look_row_of(const mill_table *table, int64_t device, const char *key, int64_t value);

mill_datum look_cell(const mill_table *table, int64_t row, const char *column);

#endif
