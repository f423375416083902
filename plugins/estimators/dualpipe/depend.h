/* SPDX-License-Identifier: Apache-2.0 */
/* Which operation of a recorded result feeds which other one, and when that arrives. */
#ifndef DUALPIPE_DEPEND_H
#define DUALPIPE_DEPEND_H

#include "sim_private.h"

#define PP_NOTHING UINT64_MAX

/* A transfer is number PP_WAYS * operation that sends it + its way. */
#define PP_WAYS 2

typedef struct pp_depend {
    const pp_plan *plan;
    const pp_result *result;
    uint32_t *rank;          /* of each operation */
    uint64_t *made[PP_WAYS]; /* by cell and micro-batch: the operation that makes what goes on from
                              * there */
    /* Of transfers that never block; NULL if links have no limit: */
    int64_t *gone;    /* by transfer: when it has left its link */
    uint64_t *before; /* by transfer: the one before it on its link, or PP_NOTHING */
    /* Of transfers that block, else NULL. Places are counted as operations are: place p is before
     * operation p, the last one of a rank is after its last operation. */
    uint64_t *received, *sent; /* by operation: where its activations are */
    uint64_t *early; /* by place: a later operation whose activations are received there, or
                      * PP_NOTHING */
} pp_depend;

/* timing NULL: without what transfers take. */
void pp_depend_init(pp_depend *d, const pp_plan *plan, const pp_timing *timing,
                    const pp_result *result);
void pp_depend_finish(pp_depend *d);

/* The operation of another rank that makes what `op` needs of a way, and the one that needs what it
 * makes. PP_NOTHING: there is none, or its rank is the same. */
uint64_t pp_source(const pp_depend *d, uint64_t op, pp_way way);
uint64_t pp_sink(const pp_depend *d, uint64_t op, pp_way way);

static inline bool pp_is_first(const pp_depend *d, uint64_t op) {
    return op == d->result->first[d->rank[op]];
}

/* ---------------------------------------------------------------- transfers that block */

#define PP_MEETINGS 6 /* transfers at a place: of two pairs, one early and one late */

/* A transfer as the rank sees it that waits for it at a place. */
typedef struct pp_meeting {
    uint32_t rank; /* the other one */
    uint64_t at;   /* its place */
    bool sends;
    uint32_t links; /* transfers that go the same way between these two places */
} pp_meeting;

/* All that a rank waits for at a place. Returns how many. */
uint32_t pp_meetings(const pp_depend *d, uint32_t rank, uint64_t place,
                     pp_meeting ret_meetings[PP_MEETINGS]);

/* When a rank comes to a place. */
static inline int64_t pp_comes(const pp_depend *d, uint32_t rank, uint64_t place) {
    return place == d->result->first[rank] ? 0 : d->result->end[place - 1];
}

#endif
