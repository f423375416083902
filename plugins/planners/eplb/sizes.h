/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that do not go together, as sentences with the nearest that do, in the run's scratch; NULL:
 * they do. All are above 0. */
#ifndef EPLB_SIZES_H
#define EPLB_SIZES_H

#include <tracemill/tracemill.h>

const char *ep_fault_groups(mill_run *run, int64_t experts, int64_t groups, int64_t nodes);
const char *ep_fault_nodes(mill_run *run, int64_t groups, int64_t nodes);
const char *ep_fault_gpus(mill_run *run, int64_t gpus, int64_t nodes);
const char *ep_fault_slots(mill_run *run, int64_t slots, int64_t experts, int64_t gpus);

#endif
