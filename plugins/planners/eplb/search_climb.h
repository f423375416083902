/* SPDX-License-Identifier: Apache-2.0 */
/* Moves that bring all GPUs under a target. */
#ifndef EPLB_SEARCH_CLIMB_H
#define EPLB_SEARCH_CLIMB_H

#include "search_private.h"

typedef struct ep_climb {
    const ep_task *task;
    double *target;  /* [dims]: set by the caller */
    double *excess;  /* of each GPU: what it is over the target, squared and summed */
    uint32_t *until; /* [gpus][experts + 1]: the step until which an expert must stay away */
    uint32_t step;
    double *change;    /* [gpus][dims]: of loads by the move in hand */
    uint32_t *touched; /* GPUs that it changes */
    uint32_t n_touched;
    uint64_t *stamp, stamps; /* of each GPU: the last change that touched it */
    uint64_t work;           /* comparisons done so far: the measure of effort, never time */
    uint64_t random;
} ep_climb;

void ep_climb_init(ep_climb *c, const ep_task *task);
void ep_climb_finish(ep_climb *c);

/* Changes the plan until no load is over the target: true; or until `work` is done or `patience`
 * steps have brought no progress: false. */
bool ep_climb_run(ep_climb *c, ep_state *s, uint64_t work, uint32_t patience);

/* Takes second replicas off GPUs as far as the limit of moves allows. */
void ep_climb_spread(ep_climb *c, ep_state *s);

#endif
