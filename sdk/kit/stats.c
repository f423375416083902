/* SPDX-License-Identifier: Apache-2.0 */
/* Describes many durations by a few figures, in O(n). */
#include <tracemill/kit/stats.h>

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/measure.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
#define FEW 64 /* so few values are sorted faster than counted */

static int compare_values(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Values, all of them in [least, most], and the ranks (from 0, rising) of those that are wanted. */
typedef struct selection {
    const int64_t *values;
    size_t n;
    int64_t least, most;
    const size_t *ranks;
    size_t n_ranks;
} selection;

static void select_few(const selection *s, int64_t *ret_values) {
    int64_t sorted[FEW];
    memcpy(sorted, s->values, s->n * sizeof *sorted);
    qsort(sorted, s->n, sizeof *sorted, compare_values);
    for (size_t i = 0; i < s->n_ranks; i++)
        ret_values[i] = sorted[s->ranks[i]];
}

static void select_ranks(const selection *s, int64_t *ret_values);

/* Of the values that begin with one digit, which are `count`, `below` others being smaller. */
static void select_digit(const selection *s, unsigned digit, unsigned shift, size_t count,
                         size_t below, int64_t *ret_values) {
    uint64_t least = (uint64_t)s->least;
    int64_t *values = kit_realloc(NULL, count, sizeof *values);
    size_t ranks[3], n = 0; /* no one asks for more */
    for (size_t i = 0; i < s->n; i++)
        if (((uint64_t)s->values[i] - least) >> shift == digit)
            values[n++] = s->values[i];
    for (size_t i = 0; i < s->n_ranks; i++)
        ranks[i] = s->ranks[i] - below;
    uint64_t first = least + ((uint64_t)digit << shift);
    select_ranks(&(selection){values, n, (int64_t)first,
                              (int64_t)(first + (((uint64_t)1 << shift) - 1)), ranks, s->n_ranks},
                 ret_values);
    free(values);
}

/* Counts the values by their first digit, and looks on among those that have the right one. */
static void select_ranks(const selection *s, int64_t *ret_values) {
    uint64_t least = (uint64_t)s->least, span = (uint64_t)s->most - least;
    unsigned bits = span ? 64 - (unsigned)__builtin_clzll(span) : 0;
    unsigned shift = bits > DIGIT_BITS ? bits - DIGIT_BITS : 0;
    if (s->n <= FEW) {
        select_few(s, ret_values);
        return;
    }
    size_t count[DIGITS] = {0}, below = 0;
    for (size_t i = 0; i < s->n; i++)
        count[((uint64_t)s->values[i] - least) >> shift]++;
    unsigned digit = 0;
    for (size_t i = 0, next; i < s->n_ranks; i = next) {
        for (; below + count[digit] <= s->ranks[i]; digit++)
            below += count[digit];
        for (next = i + 1; next < s->n_ranks && s->ranks[next] < below + count[digit];)
            next++;
        selection here = *s;
        here.ranks += i;
        here.n_ranks = next - i;
        if (shift > 0)
            select_digit(&here, digit, shift, count[digit], below, ret_values + i);
        else
            for (size_t k = i; k < next; k++)
                ret_values[k] = (int64_t)(least + digit);
    }
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

kit_stats kit_stats_of(const int64_t *values, size_t n) {
    const int64_t u = MILL_UNKNOWN;
    if (n == 0)
        return (kit_stats){0, u, u, u, u, u, u, u};
    kit_stats s = {.n = (int64_t)n, .min = values[0], .max = values[0]};
    for (size_t i = 0; i < n; i++) {
        s.sum = kit_add(s.sum, values[i]);
        s.min = values[i] < s.min ? values[i] : s.min;
        s.max = values[i] > s.max ? values[i] : s.max;
    }
    s.mean = rounded_mean(s.sum, s.n);
    const size_t ranks[] = {kit_percentile_rank(n, 50), kit_percentile_rank(n, 90),
                            kit_percentile_rank(n, 99)};
    int64_t percentiles[3];
    select_ranks(&(selection){values, n, s.min, s.max, ranks, 3}, percentiles);
    s.p50 = percentiles[0];
    s.p90 = percentiles[1];
    s.p99 = percentiles[2];
    return s;
}

void kit_stats_by(const int64_t *values, const uint32_t *groups, size_t n, kit_stats *ret_stats,
                  size_t n_groups) {
    int64_t *sorted = kit_realloc(NULL, n, sizeof *sorted); /* by group */
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
