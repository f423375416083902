/* SPDX-License-Identifier: Apache-2.0 */
/* Describes many durations by a few figures, in O(n). */
#include <tracemill/kit/stats.h>

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/measure.h>

/* Sorts by one byte after another, from the lowest; those that all values share are left out. */
static void sort_values(int64_t *values, size_t n) {
    int64_t *from = values, *to = kit_alloc(n, sizeof *to);
    uint64_t differ = 0;
    for (size_t i = 1; i < n; i++)
        differ |= (uint64_t)(values[i] ^ values[0]);
    for (int shift = 0; shift < 64; shift += 8) {
        if ((differ >> shift & 0xff) == 0)
            continue;
        uint64_t sign = shift == 56 ? 0x80 : 0; /* negative ones come first */
        size_t at[256] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++)
            at[((uint64_t)from[i] >> shift & 0xff) ^ sign]++;
        for (int b = 0; b < 256; b++) {
            size_t count = at[b];
            at[b] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            to[at[((uint64_t)from[i] >> shift & 0xff) ^ sign]++] = from[i];
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != values) {
        memcpy(values, from, n * sizeof *values);
        to = from;
    }
    free(to);
}

static int64_t rounded_mean(int64_t sum, int64_t n) {
    if (sum == MILL_UNKNOWN)
        return MILL_UNKNOWN;
    int64_t mean = sum / n, rest = sum % n;
    if (rest >= n - rest)
        mean++;
    else if (-rest >= n + rest)
        mean--;
    return mean;
}

kit_stats kit_stats_of(int64_t *values, size_t n) {
    const int64_t u = MILL_UNKNOWN;
    if (n == 0)
        return (kit_stats){0, u, u, u, u, u, u, u};
    sort_values(values, n);
    kit_stats s = {.n = (int64_t)n};
    for (size_t i = 0; i < n; i++)
        s.sum = kit_add(s.sum, values[i]);
    s.mean = rounded_mean(s.sum, s.n);
    s.min = values[0];
    s.p50 = kit_percentile(values, n, 50);
    s.p90 = kit_percentile(values, n, 90);
    s.p99 = kit_percentile(values, n, 99);
    s.max = values[n - 1];
    return s;
}

void kit_stats_by(const int64_t *values, const uint32_t *groups, size_t n, kit_stats *ret_stats,
                  size_t n_groups) {
    int64_t *sorted = kit_alloc(n, sizeof *sorted);
    size_t *end = kit_alloc(n_groups + 1, sizeof *end);
    for (size_t i = 0; i < n; i++)
        end[groups[i] + 1]++;
    for (size_t g = 0; g < n_groups; g++)
        end[g + 1] += end[g];
    for (size_t i = 0; i < n; i++)
        sorted[end[groups[i]]++] = values[i]; /* end[g] was where group g begins */
    for (size_t g = 0, begin = 0; g < n_groups; begin = end[g++])
        ret_stats[g] = kit_stats_of(sorted + begin, end[g] - begin);
    free(end);
    free(sorted);
}

int64_t kit_median(int64_t *values, size_t n) {
    sort_values(values, n);
    return kit_percentile(values, n, 50);
}

int64_t kit_mad(int64_t *values, size_t n, int64_t centre) {
    for (size_t i = 0; i < n; i++)
        values[i] = values[i] < centre ? centre - values[i] : values[i] - centre;
    return kit_median(values, n);
}

static const kit_column columns[] = {
    {MILL_KIND_COUNT, "n", "n", NULL},
    {MILL_KIND_NS, "sum", "sum", NULL},
    {MILL_KIND_NS, "mean", "mean", NULL},
    {MILL_KIND_NS, "min", "min", NULL},
    {MILL_KIND_NS, "p50", "p50", "Percentile by nearest rank."},
    {MILL_KIND_NS, "p90", "p90", "Percentile by nearest rank."},
    {MILL_KIND_NS, "p99", "p99", "Percentile by nearest rank."},
    {MILL_KIND_NS, "max", "max", NULL},
};

void kit_table_stats(kit_table *t) {
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        kit_table_column(t, columns[i].kind, columns[i].id, columns[i].label, NULL,
                         columns[i].help);
}

void kit_cell_stats(kit_table *t, const kit_stats *s) {
    const int64_t cells[] = {s->n, s->sum, s->mean, s->min, s->p50, s->p90, s->p99, s->max};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        kit_cell_int(t, cells[i]);
}
