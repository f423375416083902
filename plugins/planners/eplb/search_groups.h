/* SPDX-License-Identifier: Apache-2.0 */
/* Which groups of experts go to which node. */
#ifndef EPLB_SEARCH_GROUPS_H
#define EPLB_SEARCH_GROUPS_H

#include "bound.h"

typedef struct ep_partition {
    double bound;   /* of the objective: no plan with these groups on these nodes is better */
    uint32_t *node; /* of each group */
} ep_partition;

typedef struct ep_partitions {
    uint32_t n, limit;   /* the best ones, rising in bound; at most `limit` are kept */
    ep_partition *items; /* [limit + 1] */
    bool complete;       /* every partition was looked at */
} ep_partitions;

void ep_partitions_init(ep_partitions *p, const ep_task *t, uint32_t limit);
void ep_partitions_finish(ep_partitions *p);

/* Looks at partitions of as many groups on every node that leave each expert a slot, as many of
 * them as `work` allows. */
void ep_partitions_find(ep_partitions *p, const ep_task *t, uint64_t work);

#endif
