/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation of pipelines once more, as plainly as it can be written: maps and sweeps over all
 * ranks. What the tests compare with, and the benchmark. */
#ifndef DUALPIPE_PLAIN_SIM_H
#define DUALPIPE_PLAIN_SIM_H

#include "sim.h"

/* Like pp_simulate with PP_RECORD, but for: false is a deadlock, no jitter, no limit of links in
 * mode blocking, where the batches are those of most families: receives before an operation, sends
 * after it. */
bool plain_simulate(mill_run *run, const pp_plan *plan, const pp_timing *timing,
                    pp_result *ret_result);

/* The same with one operation that takes `more` ns longer. */
bool plain_simulate_longer(mill_run *run, const pp_plan *plan, const pp_timing *timing,
                           uint64_t longer, int64_t more, pp_result *ret_result);

#endif
