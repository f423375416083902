/* SPDX-License-Identifier: Apache-2.0 */
/* Random orders of no family: on all placements, with B or Bi and W, with pairs or none, and with
 * micro-batches in any order. */
#ifndef DUALPIPE_TESTS_RANDOM_PLAN_H
#define DUALPIPE_TESTS_RANDOM_PLAN_H

#include "sim.h"

#include <glib.h>

/* runs: the order can't deadlock where transfers never block. In the run's scratch. */
const pp_plan *random_plan(mill_run *run, GRand *rand, bool runs);

/* Durations of each cell, from 0 on; latency, links that are taken (only where transfers never
 * block), slowness and the pair rule in some of the cases. */
pp_timing random_timing(mill_run *run, GRand *rand, const pp_plan *plan, pp_comm comm);

#endif
