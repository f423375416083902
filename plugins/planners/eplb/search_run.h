/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that compete: each is improved for a while, the better half goes on. */
#ifndef EPLB_SEARCH_RUN_H
#define EPLB_SEARCH_RUN_H

#include "search_adopt.h"

/* How much an effort does. Work is in comparisons for each slot of the layer. */
typedef struct ep_means {
    uint64_t work;
    uint32_t partitions, levels, rules; /* of starts, and what each is made with */
    uint32_t rivals;                    /* candidates that are improved */
    uint32_t patience;                  /* steps without progress before an attempt ends */
    uint32_t rounds;                    /* of the bound for few slots */
    uint64_t exact;                     /* steps of branch and bound */
    double tolerance;                   /* this close to the bound is good enough */
} ep_means;

typedef struct ep_candidate {
    double value, floor;  /* no plan with its homes is below the floor */
    const uint32_t *node; /* of each group; NULL: any */
    const int32_t *base;  /* what each attempt begins from; NULL: the best so far */
    int32_t *plan;
    uint32_t order; /* in which it came */
} ep_candidate;

typedef struct ep_run {
    ep_search *s;
    const ep_means *means;
    uint64_t end;  /* of the work */
    int32_t *plan; /* the best so far */
    double value;  /* of it */
    double floor;  /* no plan is below; a plan that is at it is proven */
    ep_candidate *candidate;
    uint32_t n, limit; /* candidates */
} ep_run;

void ep_run_init(ep_run *r, ep_search *s, const ep_means *means, int32_t *plan);
void ep_run_finish(ep_run *r);

/* Remembers the plan in hand if it is the best. */
void ep_run_offer(ep_run *r);

/* The plan in hand becomes a candidate. */
ep_candidate *ep_run_add(ep_run *r, const uint32_t *node, double floor);

/* Candidates from scratch, with homes as they are settled. */
void ep_run_starts(ep_run *r, const uint32_t *node, double floor);

/* Improves the plan in hand until it is at `goal` or below, with targets from `floor` on. */
void ep_run_improve(ep_run *r, ep_candidate *c, double goal, uint64_t work);

/* Improves the candidates until the work is done. */
void ep_run_compete(ep_run *r);

/* For small layers: all plans with homes as they are settled. false: did not end. */
bool ep_run_exact(ep_run *r, uint64_t *work);

#endif
