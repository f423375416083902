/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of durations against sorted values. */
#include <tracemill/kit/stats.h>

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define MOST 300
#define GROUPS 4

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of every magnitude, of both signs, many of them the same. */
static int64_t random_value(void) {
    uint64_t bits = (uint64_t)g_test_rand_int() << 32 ^ (uint32_t)g_test_rand_int();
    int64_t value = (int64_t)(bits >> g_test_rand_int_range(2, 64));
    return g_test_rand_int_range(0, 3) ? value : -value;
}

/* The smallest value with at least `percent` of all at or below it. */
static int64_t percentile(const int64_t *sorted, size_t n, size_t percent) {
    size_t i = 0;
    while ((i + 1) * 100 < n * percent)
        i++;
    return sorted[i];
}

static void check(const kit_stats *s, const int64_t *values, size_t n) {
    int64_t sorted[MOST];
    __int128 sum = 0;
    g_assert_cmpint(s->n, ==, (int64_t)n);
    if (n == 0) {
        g_assert_cmpint(s->sum, ==, MILL_UNKNOWN);
        g_assert_cmpint(s->mean, ==, MILL_UNKNOWN);
        g_assert_cmpint(s->p50, ==, MILL_UNKNOWN);
        return;
    }
    for (size_t i = 0; i < n; i++)
        sum += sorted[i] = values[i];
    qsort(sorted, n, sizeof *sorted, compare);
    g_assert_cmpint(s->min, ==, sorted[0]);
    g_assert_cmpint(s->p50, ==, percentile(sorted, n, 50));
    g_assert_cmpint(s->p90, ==, percentile(sorted, n, 90));
    g_assert_cmpint(s->p99, ==, percentile(sorted, n, 99));
    g_assert_cmpint(s->max, ==, sorted[n - 1]);
    if (s->sum == MILL_UNKNOWN) {
        g_assert_cmpint(s->mean, ==, MILL_UNKNOWN);
        return;
    }
    g_assert_true(s->sum == (int64_t)sum);
    __int128 off = 2 * ((__int128)s->mean * (__int128)n - sum); /* twice what rounding did */
    g_assert_true(sum >= 0 ? off > -(__int128)n && off <= (__int128)n
                           : off >= -(__int128)n && off < (__int128)n);
}

static void test_random(void) {
    for (int round = 0; round < 2000; round++) {
        int64_t values[MOST], group_values[GROUPS][MOST];
        uint32_t groups[MOST];
        size_t n = (size_t)g_test_rand_int_range(0, MOST), in_group[GROUPS] = {0};
        for (size_t i = 0; i < n; i++) {
            values[i] = random_value();
            groups[i] = (uint32_t)g_test_rand_int_range(0, GROUPS);
            group_values[groups[i]][in_group[groups[i]]++] = values[i];
        }
        kit_stats by[GROUPS], all;
        kit_stats_by(values, groups, n, by, GROUPS);
        for (int g = 0; g < GROUPS; g++)
            check(&by[g], group_values[g], in_group[g]);
        int64_t copy[MOST];
        memcpy(copy, values, n * sizeof *copy);
        all = kit_stats_of(copy, n);
        check(&all, values, n);
    }
}

static void test_mean(void) {
    g_assert_cmpint(kit_stats_of((int64_t[]){1, 2}, 2).mean, ==, 2);
    g_assert_cmpint(kit_stats_of((int64_t[]){-1, -2}, 2).mean, ==, -2);
    g_assert_cmpint(kit_stats_of((int64_t[]){1, 1, 2}, 3).mean, ==, 1);
    g_assert_cmpint(kit_stats_of((int64_t[]){INT64_MAX, 1}, 2).mean, ==, MILL_UNKNOWN);
}

static void test_spread(void) {
    int64_t values[] = {7, -3, 5, 100}, one[] = {-4};
    g_assert_cmpint(kit_median(values, 4), ==, 5); /* the lower of the two in the middle */
    g_assert_cmpint(values[0], ==, -3);
    g_assert_cmpint(kit_mad(values, 4, 5), ==, 2); /* of 8, 0, 2, 95 */
    g_assert_cmpint(kit_median(one, 1), ==, -4);
    g_assert_cmpint(kit_mad(one, 1, -4), ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/stats/random", test_random);
    g_test_add_func("/kit/stats/mean", test_mean);
    g_test_add_func("/kit/stats/spread", test_spread);
    return g_test_run();
}
