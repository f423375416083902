/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the stage class `bubble` with settings and durations, and finds rows of its report. */
#ifndef TEST_BUBBLE_RUN_H
#define TEST_BUBBLE_RUN_H

#include "bench_host.h"

#include <tracemill/chunk_times.h>
#include <tracemill/report.h>

#define MS INT64_C(1000000)
#define U MILL_UNKNOWN
#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* settings: NULL-terminated. */
bench *bubble_begin(const char *const *settings);
/* It must end well. */
const mill_report *bubble_run(bench *b);
void bubble_fails(const char *const *settings, mill_status right, const char *cause);

/* The first row in which the column of texts has the value, from a row on; or -1. */
int64_t row_from(const mill_table *t, int64_t row, const char *column, const char *value);
/* Of the first row of the schedule. */
mill_datum cell(const mill_report *r, const char *table, const char *schedule, const char *column);
/* Of the table `what_if`. */
mill_datum changed(const mill_report *r, const char *change, const char *column);

/* One basis after another, for each of n stages. */
mill_chunk_times times_of(const mill_chunk_cost *costs, size_t n);

#define COST(f, bi, w, fb)                                                                         \
    { (f) * MS, ((bi) + (w)) * MS, (bi)*MS, (w)*MS, (fb)*MS }
#define NO_WEIGHT(f, b)                                                                            \
    { (f) * MS, (b)*MS, U, U, U }

#endif
