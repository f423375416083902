/* SPDX-License-Identifier: Apache-2.0 */
/* How a schedule looks in a file. */
#ifndef SCHEDULE_FORMATS_H
#define SCHEDULE_FORMATS_H

#include <tracemill/kit/export.h>
#include <tracemill/schedule.h>

/* A table: a line for each operation, under a header. */
void table_header(kit_export *out);
void table_rows(kit_export *out, const mill_schedule *schedule, const char *item);

/* torch.distributed.pipelining's CSV: a line for each rank, a cell for each computation. It can't
 * tell of two ways through the model, nor of what is not known: MILL_E_DATA with the reason. */
mill_status torch_check(mill_run *run, const mill_schedule *schedule);
void torch_rows(kit_export *out, const mill_schedule *schedule); /* of one that passed the check */

#endif
