/* SPDX-License-Identifier: Apache-2.0 */
/* Which operation of a recorded result feeds which other one, and when that arrives. */
#ifndef DUALPIPE_DEPEND_H
#define DUALPIPE_DEPEND_H

#include "sim.h"

#define PP_NOTHING UINT64_MAX

/* What goes from rank to rank; a transfer is number 2 * operation that sends it + this. */
enum { PP_ACTIVATION, PP_GRADIENT, PP_WAYS };

typedef struct pp_depend {
    const pp_plan *plan;
    const pp_result *result;
    uint32_t *rank;          /* of each operation */
    uint64_t *made[PP_WAYS]; /* by cell and micro-batch: the operation that makes what goes on from
                              * there */
    int64_t *gone;           /* by transfer: when it has left its link; NULL: when it is made */
    uint64_t *before;        /* by transfer: the one before it on its link, or PP_NOTHING; NULL
                              * likewise */
} pp_depend;

/* timing NULL: without links. */
void pp_depend_init(pp_depend *d, const pp_plan *plan, const pp_timing *timing,
                    const pp_result *result);
void pp_depend_finish(pp_depend *d);

/* The operation of another rank that makes what `op` needs of a way, and the one that needs what it
 * makes. PP_NOTHING: there is none, or its rank is the same. */
uint64_t pp_source(const pp_depend *d, uint64_t op, int way);
uint64_t pp_sink(const pp_depend *d, uint64_t op, int way);

static inline bool pp_is_first(const pp_depend *d, uint64_t op) {
    return op == d->result->first[d->rank[op]];
}

#endif
