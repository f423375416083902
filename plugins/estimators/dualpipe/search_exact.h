/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest order of a tiny pipeline, by branch and bound over all orders. */
#ifndef DUALPIPE_SEARCH_EXACT_H
#define DUALPIPE_SEARCH_EXACT_H

#include "search_shop.h"

/* Whether the shop is one for which all orders can be gone through. */
bool pp_exact_fits(const pp_shop *shop);

/* Replaces the order by the shortest one if that is shorter; its makespan must be set. True: all
 * were gone through or cut off, so the order is now proven to be a shortest one. False: that needs
 * more than `nodes` steps, or the run is cancelled; the order is then the best that was found. */
bool pp_order_exact(pp_order *order, mill_run *run, const pp_shop *shop, uint64_t nodes);

#endif
