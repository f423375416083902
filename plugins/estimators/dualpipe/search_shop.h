/* SPDX-License-Identifier: Apache-2.0 */
/* What the search plays with: a placement with its durations and its limit of memory, and orders of
 * operations for it that are cheap to change and to time.
 *
 * Micro-batches are all alike. So the k-th forward of a cell may be taken to be of micro-batch k,
 * and so for backward and W: if some order is possible, it is with these numbers, since what a
 * stage needs to have run a k-th time is only that the one before has. An order is thus no more
 * than kinds and chunks.
 */
#ifndef DUALPIPE_SEARCH_SHOP_H
#define DUALPIPE_SEARCH_SHOP_H

#include "search.h"

#include <tracemill/kit/arena.h>

typedef struct pp_shop {
    const pp_plan *plan;     /* any whole order on this placement: its cells are read */
    const pp_timing *timing; /* of that plan */
    pp_place place;
    uint32_t ranks, chunks, cells, per_cell;
    bool split;        /* may run Bi and W */
    bool whole;        /* may run B */
    bool pairs;        /* may run pairs, and some take less time than their F and B */
    bool until_weight; /* memory is freed at the end of W instead of Bi */
    int64_t most;      /* chunks that a rank may hold; INT64_MAX: no limit */
    const int64_t *forward, *backward, *input, *weight; /* ns, of each cell */
    const int64_t *pair;       /* ns, [cell of the forward half * chunks + chunk of the other] */
    int64_t latency, occupied; /* as in pp_timing */
    const uint32_t *link;      /* [2 cell], [2 cell + 1]: what its activations, its gradients go
                                * over; PP_NO_LINK: they stay on the rank, or end here */
    uint32_t links;
    uint32_t stride; /* operations of a rank at most */
} pp_shop;

#define PP_NO_LINK UINT32_MAX

/* An order for all ranks. */
typedef struct pp_order {
    pp_op *ops;  /* those of rank r begin at r * stride */
    uint32_t *n; /* of each rank */
    int64_t makespan;
} pp_order;

/* How far each rank is, while an order is made or timed. */
typedef struct pp_front {
    int64_t *free;                                     /* of each rank: end of what it has run */
    int64_t *live;                                     /* of each rank: chunks held */
    uint32_t *forwards, *backwards, *inputs, *weights; /* of each cell: how many it has run;
                                                        * backwards: inputs too */
    int64_t *activation, *gradient; /* [cell * per_cell + k]: when it comes; -1: not yet known */
    int64_t *link_free;             /* of each link */
    uint32_t *at, *ready;           /* used by pp_order_time: operations timed of each rank; those
                                     * that can go on */
    uint32_t n_ready;
} pp_front;

/* The placement with the goal's durations and limits. False: these durations are not known. */
bool pp_shop_init(pp_shop *shop, mill_run *run, const pp_goal *goal, pp_place place,
                  uint32_t chunks, bool pairs);
int64_t pp_shop_duration(const pp_shop *shop, uint32_t rank, pp_op op);

void pp_order_init(pp_order *order, kit_arena *memory, const pp_shop *shop);
void pp_order_copy(pp_order *to, const pp_order *from, const pp_shop *shop);
void pp_order_of(pp_order *order, mill_run *run, const pp_shop *shop, const pp_plan *plan);
const pp_plan *pp_order_plan(const pp_order *order, mill_run *run, const pp_shop *shop);
/* The order of this rank is whole and keeps within the memory. Changes the front. */
bool pp_order_allowed(const pp_order *order, pp_front *front, const pp_shop *shop, uint32_t rank);
/* The makespan, or MILL_UNKNOWN for a deadlock. ret_start, if not NULL: of each operation, by its
 * place in order->ops. Resets the front first; only its moments and at are of use afterwards. */
int64_t pp_order_time(const pp_order *order, pp_front *front, const pp_shop *shop,
                      int64_t *ret_start);

void pp_front_init(pp_front *front, kit_arena *memory, const pp_shop *shop);
void pp_front_copy(pp_front *to, const pp_front *from, const pp_shop *shop);
void pp_front_reset(pp_front *front, const pp_shop *shop);
/* When the rank may start `op` next: -1 if what it needs from others is not yet known. */
int64_t pp_front_start(const pp_front *front, const pp_shop *shop, uint32_t rank, pp_op op);
/* Whether the rank has what `op` needs from itself: a forward before a backward, memory. */
bool pp_front_allows(const pp_front *front, const pp_shop *shop, uint32_t rank, pp_op op);
/* The two halves of running it: what it counts for the rank; when what it sends is there. */
void pp_front_count(pp_front *front, const pp_shop *shop, uint32_t rank, pp_op op);
int64_t pp_front_arrival(pp_front *front, const pp_shop *shop, uint32_t link, int64_t end);
void pp_front_run(pp_front *front, const pp_shop *shop, uint32_t rank, pp_op op, int64_t start);

#endif
