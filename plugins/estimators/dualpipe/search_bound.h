/* SPDX-License-Identifier: Apache-2.0 */
/* What no order on a placement can undercut, its limit of memory included. */
#ifndef DUALPIPE_SEARCH_BOUND_H
#define DUALPIPE_SEARCH_BOUND_H

#include "search_shop.h"

/* Shortest durations, and shortest ways through the model, of one cell. */
typedef struct pp_ways {
    int64_t forward;
    int64_t back;    /* of a backward chunk, until its gradient is there */
    int64_t weighed; /* of all of it, W too */
    int64_t reach;   /* when a first forward can start here */
    int64_t turn;    /* from the end of a forward here until its gradient comes back here */
    int64_t leave;   /* what must follow the end of a last backward (B or Bi) here */
} pp_ways;

/* Of each cell. */
void pp_ways_of(const pp_shop *shop, pp_ways *ret_ways);

/* The greater of the bound of orders in any memory and of what the memory allows. ns is
 * MILL_UNKNOWN if a time does not fit. */
pp_bound pp_shop_bound(mill_run *run, const pp_shop *shop);

#endif
