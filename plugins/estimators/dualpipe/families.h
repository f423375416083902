/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules that are known by name: sizes that they take, and their orders. */
#ifndef DUALPIPE_FAMILIES_H
#define DUALPIPE_FAMILIES_H

#include "plan.h"

/* What a schedule is asked for. */
typedef struct pp_sizes {
    uint32_t ranks;         /* devices */
    uint32_t micro_batches; /* of a step */
    uint32_t chunks;        /* of a rank (v), for families that can choose; else ignored */
    uint32_t warm_up;       /* eager 1F1B: forwards before the first backward, more than 1F1B's, at
                             * most; a rank runs no more than PP - 1 - rank of them; else ignored */
    uint32_t weight_lag;    /* ZB-H1: W's behind Bi's at most; UINT32_MAX: the family's own */
} pp_sizes;

typedef struct pp_family {
    const char *id, *name;
    const char *source; /* paper or repository, section */
    const char *rule;   /* of sizes, in a sentence: "PP and m are even, m is at least 2 PP" */
    bool split;         /* has Bi and W */
    bool pairs;         /* has F&B */
    bool choosable;     /* takes `chunks` */
    uint32_t chunks;    /* else: of a rank */
    uint32_t copies;    /* of the parameters over all ranks: 2 for DualPipe and Chimera, else 1 */
    /* Whether it runs with these sizes; else the nearest that it runs with in *ret_nearest, by
     * changing m first, then ranks. */
    bool (*takes)(const pp_sizes *sizes, pp_sizes *ret_nearest);
    /* Of sizes that it takes. Not whole if the run is cancelled meanwhile. */
    const pp_plan *(*plan)(mill_run *run, const pp_sizes *sizes);
} pp_family;

/* NULL-terminated, in the order of reports: gpipe, 1f1b, interleaved, eager-1f1b, zb-h1, zb-h2,
 * zb-v, v-half, v-min, chimera, hanayo, dualpipe, dualpipev. */
extern const pp_family *const pp_families[];
const pp_family *pp_family_of(const char *id); /* also by other usual names ("zb1p"); or NULL */

#endif
