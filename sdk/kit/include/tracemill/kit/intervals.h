/* SPDX-License-Identifier: Apache-2.0 */
/* Algebra of interval sets over int64: half-open, sorted, disjoint, in plain arrays of the caller.
 *
 * A *set* is an array of non-empty intervals sorted by start with a gap before each next one
 * (v[i].end < v[i+1].start: touching intervals are one). All but kit_intervals_normalise take and
 * give sets, and run in O(n). Outputs may not overlap inputs unless a line says so. Lengths wrap if
 * a set covers more than INT64_MAX.
 */
#ifndef TRACEMILL_KIT_INTERVALS_H
#define TRACEMILL_KIT_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kit_interval {
    int64_t start, end; /* [start, end) */
} kit_interval;

/* Makes a set in place from any intervals: sorts them if they are not sorted by start (O(n log n),
 * else O(n)), drops empty and backward ones, joins the rest. Returns the number left. */
size_t kit_intervals_normalise(kit_interval *v, size_t n);

/* a ∪ b; out holds up to na + nb. */
size_t kit_intervals_union(const kit_interval *a, size_t na, const kit_interval *b, size_t nb,
                           kit_interval *out);
/* a ∩ b; out holds up to na + nb. */
size_t kit_intervals_intersect(const kit_interval *a, size_t na, const kit_interval *b, size_t nb,
                               kit_interval *out);
/* a ∖ b; out holds up to na + nb. */
size_t kit_intervals_subtract(const kit_interval *a, size_t na, const kit_interval *b, size_t nb,
                              kit_interval *out);
/* a ∩ [start, end), in place. Returns the number left. */
size_t kit_intervals_clip(kit_interval *v, size_t n, int64_t start, int64_t end);

/* |a|, |a ∩ b|, and |a ∩ [start, end)| without building the set. */
int64_t kit_intervals_length(const kit_interval *v, size_t n);
int64_t kit_intervals_common(const kit_interval *a, size_t na, const kit_interval *b, size_t nb);
int64_t kit_intervals_within(const kit_interval *v, size_t n, int64_t start, int64_t end);

#ifdef __cplusplus
}
#endif
#endif
