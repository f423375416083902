/* SPDX-License-Identifier: Apache-2.0 */
/* Moves that bring all GPUs under a target. */
#ifndef EPLB_SEARCH_CLIMB_H
#define EPLB_SEARCH_CLIMB_H

#include "search_private.h"

/* What a change of an expert's replicas does to the GPUs that hold it, in a step. */
typedef struct ep_climb_sum {
    double sum;
    uint64_t step; /* + 1 */
} ep_climb_sum;

typedef struct ep_climb {
    const ep_task *task;
    double *target;  /* [dims]: set by the caller */
    double *excess;  /* of each GPU: what it is over the target, squared and summed */
    uint64_t *until; /* [gpus][experts + 1]: the step until which an expert must stay away */
    uint64_t step;   /* never falls */
    ep_climb_sum *if_less, *if_more; /* [experts + 1]: one replica fewer, one more */
    uint64_t work; /* comparisons done so far: the measure of effort, never time */
    uint64_t random;
} ep_climb;

void ep_climb_init(ep_climb *c, const ep_task *task);
void ep_climb_finish(ep_climb *c);

/* Changes the plan until no load is over the target: true; or until `work` is done or `patience`
 * steps have brought no progress: false. */
bool ep_climb_run(ep_climb *c, ep_state *s, uint64_t work, uint32_t patience);

/* Gives some slots of experts that have several replicas to others, at random. */
void ep_climb_kick(ep_climb *c, ep_state *s, uint32_t times);

/* Takes second replicas off GPUs as far as the limit of moves allows. */
void ep_climb_spread(ep_climb *c, ep_state *s);

#endif
