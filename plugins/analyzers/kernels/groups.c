/* SPDX-License-Identifier: Apache-2.0 */
/* Groups activities, and describes the durations of each group. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

#define CANCEL_ROWS (1u << 16)

/* Longest first; MILL_UNKNOWN stands for a sum too large to tell, and comes before all. */
static int compare_groups(const void *a, const void *b) {
    const kernels_group *x = a, *y = b;
    uint64_t i = (uint64_t)x->stats.sum, j = (uint64_t)y->stats.sum;
    if (i != j)
        return i < j ? 1 : -1;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->key > y->key) - (x->key < y->key);
}

mill_status kernels_group_by(const kernels_analysis *analysis, const kit_device *device,
                             size_t n_keys, kernels_key_fn key, kernels_text_fn text,
                             kernels_groups *ret_groups) {
    mill_run *run = analysis->run;
    uint32_t *group_of = mill_scratch(run, n_keys * sizeof *group_of); /* number + 1; 0: none yet */
    uint32_t *keys = mill_scratch(run, n_keys * sizeof *keys);
    uint32_t *groups = mill_scratch(run, device->n * sizeof *groups);
    int64_t *durs = mill_scratch(run, device->n * sizeof *durs);
    uint32_t n_groups = 0;
    size_t n = 0;
    for (size_t i = 0; i < device->n; i++) {
        if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->v[i];
        uint32_t k = key(analysis, a);
        if (k == MILL_NONE)
            continue;
        if (group_of[k] == 0) {
            keys[n_groups] = k;
            group_of[k] = ++n_groups;
        }
        groups[n] = group_of[k] - 1;
        durs[n++] = a->end - a->start;
    }
    kit_stats *stats = mill_scratch(run, n_groups * sizeof *stats);
    kit_stats_by(durs, groups, n, stats, n_groups);
    *ret_groups = (kernels_groups){mill_scratch(run, n_groups * sizeof(kernels_group)), n_groups};
    for (uint32_t g = 0; g < n_groups; g++)
        ret_groups->v[g] = (kernels_group){keys[g], text(analysis, keys[g]), stats[g]};
    if (n_groups > 0)
        qsort(ret_groups->v, n_groups, sizeof *ret_groups->v, compare_groups);
    return MILL_OK;
}

int64_t kernels_sum(const kit_device *device) {
    int64_t sum = 0;
    for (size_t i = 0; i < device->n; i++)
        sum = kit_add(sum, device->v[i].end - device->v[i].start);
    return sum;
}
