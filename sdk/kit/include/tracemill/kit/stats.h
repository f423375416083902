/* SPDX-License-Identifier: Apache-2.0 */
/* The figures by which reports describe many durations: number, sum, mean, extremes, percentiles.
 */
#ifndef TRACEMILL_KIT_STATS_H
#define TRACEMILL_KIT_STATS_H

#include <tracemill/kit/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ns. Of no values, all but n are MILL_UNKNOWN; so are sum and mean where the sum does not fit. */
typedef struct kit_stats {
    int64_t n, sum;
    int64_t mean;                    /* rounded to ns, half away from zero */
    int64_t min, p50, p90, p99, max; /* percentiles by nearest rank */
} kit_stats;

/* O(n), as the next one. */
kit_stats kit_stats_of(const int64_t *values, size_t n);

/* The same for each of n_groups: ret_stats[g] is of the values whose group is g. */
void kit_stats_by(const int64_t *values, const uint32_t *groups, size_t n, kit_stats *ret_stats,
                  size_t n_groups);

/* The median by nearest rank; sorts the values. And the median of their distances from `centre`
 * (the median absolute deviation, MAD), which overwrites them; these must fit. n is above 0. */
int64_t kit_median(int64_t *values, size_t n);
int64_t kit_mad(int64_t *values, size_t n, int64_t centre);

/* Their columns in a table, and the cells of one row in these. */
void kit_table_stats(kit_table *t);
void kit_cell_stats(kit_table *t, const kit_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
