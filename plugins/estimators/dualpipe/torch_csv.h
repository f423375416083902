/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules as CSV of torch.distributed.pipelining: a line for each rank, a cell for each action
 * ("0F0": stage, computation, micro-batch), as its _load_csv reads and _dump_csv writes. */
#ifndef DUALPIPE_TORCH_CSV_H
#define DUALPIPE_TORCH_CSV_H

#include "plan.h"

/* Reads one. Computation actions only, and what carries them: SEND_F, RECV_F, UNSHARD, … are left
 * out and counted in *ret_left_out. The placement follows from which rank runs which stage. E_DATA
 * with a cause that names line and cell, E_NOINPUT, E_IO. The plan is whole (pp_whole). */
mill_status pp_torch_read(mill_run *run, const char *path, const pp_plan **ret_plan,
                          uint64_t *ret_left_out);

#endif
