/* SPDX-License-Identifier: Apache-2.0 */
/* Plans to begin a search with. */
#ifndef EPLB_SEARCH_START_H
#define EPLB_SEARCH_START_H

#include "search_private.h"

/* Who gets the slots that are left once every expert has as many replicas as it needs. */
typedef enum ep_spare_rule {
    EP_SPARE_LARGEST,  /* the largest share, as eplb.py */
    EP_SPARE_SMALLEST, /* the smallest: shares that fill gaps */
    EP_SPARE_HALF,     /* the largest below half of the target */
    EP_SPARE_RULES,
} ep_spare_rule;

typedef struct ep_starter {
    const ep_task *task;
    double *weight;   /* [experts]: load over target, in the worst dimension */
    double *scale;    /* [dims]: 1 / target */
    uint32_t *count;  /* [experts] */
    double *gpu_load; /* [gpus][dims], over the target */
    double *share;    /* [dims]: of the replica in hand, over the target, at speed 1 */
    uint32_t *left;   /* of each GPU: slots that are not filled */
    struct ep_item {
        double share;
        uint32_t expert;
        bool many; /* on most GPUs: they come first, while all have room */
    } * items;     /* [experts] */
} ep_starter;

void ep_starter_init(ep_starter *s, const ep_task *task);
void ep_starter_finish(ep_starter *s);

/* As many replicas of each expert as it takes to bring its share under the target [dims], then the
 * largest first to the GPU that it leaves with the least load. May put replicas of an expert on one
 * GPU where no other has room. */
void ep_starter_plan(ep_starter *s, const double *target, ep_spare_rule rule, int32_t *ret_plan);

#endif
