/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the pipeline as rows. Each writes into the item that has been begun, and returns the
 * database's status. */
#ifndef SQLITE_VALUES_H
#define SQLITE_VALUES_H

#include "database.h"

#include <tracemill/report.h>
#include <tracemill/schedule.h>
#include <tracemill/trace.h>

mill_status write_trace(database *d, int64_t item, const mill_trace *trace);
mill_status write_report(database *d, int64_t item, const mill_report *report);
mill_status write_schedule(database *d, int64_t item, const mill_schedule *schedule);

#endif
