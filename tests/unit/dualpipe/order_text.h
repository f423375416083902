/* SPDX-License-Identifier: Apache-2.0 */
/* The order of a rank as text, to compare it with one that was written down. */
#ifndef DUALPIPE_TESTS_ORDER_TEXT_H
#define DUALPIPE_TESTS_ORDER_TEXT_H

#include "plan.h"

/* "F0.2 Bi1.0 FB0.3/1.1": the forward of chunk 0 for micro-batch 2, …, a pair of chunk 0 for 3 and
 * chunk 1 for 1. Freed with g_free. */
char *order_text(mill_run *run, const pp_plan *plan, uint32_t rank);

/* Ends the test if the order is another one. */
void order_check(mill_run *run, const pp_plan *plan, uint32_t rank, const char *right);

#endif
