/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the interval sets: against a raster of 60 cells, one bit of a word each. */
#include <glib.h>
#include <tracemill/kit/intervals.h>

#define CELLS 60
#define MAX_RAW 24
#define ROUNDS 20000

/* A set and its raster, whose cell 0 is at `base`. */
typedef struct sample {
    int64_t base;
    kit_interval v[MAX_RAW];
    size_t n;
    uint64_t cells;
} sample;

static uint64_t cells_of(int64_t from, int64_t to) {
    uint64_t cells = 0;
    for (int64_t i = MAX(from, 0); i < MIN(to, CELLS); i++)
        cells |= UINT64_C(1) << i;
    return cells;
}

static int64_t random_base(void) {
    const int64_t bases[] = {0, -CELLS / 2, INT64_MIN, INT64_MAX - CELLS, 1754000000000000000};
    return bases[g_test_rand_int_range(0, G_N_ELEMENTS(bases))];
}

static void check_set(const kit_interval *v, size_t n, int64_t base, uint64_t cells) {
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++) {
        g_assert_cmpint(v[i].start, <, v[i].end);
        if (i > 0)
            g_assert_cmpint(v[i - 1].end, <, v[i].start);
        found |= cells_of(v[i].start - base, v[i].end - base);
    }
    g_assert_cmphex(found, ==, cells);
    g_assert_cmpint(kit_intervals_length(v, n), ==, __builtin_popcountll(cells));
}

/* Any intervals, empty and backward ones too, normalised. */
static sample random_sample(int64_t base) {
    sample s = {.base = base, .n = (size_t)g_test_rand_int_range(0, MAX_RAW + 1)};
    int longest = g_test_rand_int_range(1, CELLS);
    for (size_t i = 0; i < s.n; i++) {
        int start = g_test_rand_int_range(0, CELLS + 1);
        int end = start + g_test_rand_int_range(-2, longest);
        end = CLAMP(end, 0, CELLS);
        s.v[i] = (kit_interval){base + start, base + end};
        s.cells |= cells_of(start, end);
    }
    s.n = kit_intervals_normalise(s.v, s.n);
    check_set(s.v, s.n, base, s.cells);
    return s;
}

static void test_random_pairs(void) {
    for (int round = 0; round < ROUNDS; round++) {
        int64_t base = random_base();
        sample a = random_sample(base), b = random_sample(base);
        kit_interval out[2 * MAX_RAW];

        size_t n = kit_intervals_union(a.v, a.n, b.v, b.n, out);
        check_set(out, n, base, a.cells | b.cells);
        n = kit_intervals_intersect(a.v, a.n, b.v, b.n, out);
        check_set(out, n, base, a.cells & b.cells);
        int64_t common = kit_intervals_length(out, n);
        n = kit_intervals_subtract(a.v, a.n, b.v, b.n, out);
        check_set(out, n, base, a.cells & ~b.cells);

        g_assert_cmpint(kit_intervals_common(a.v, a.n, b.v, b.n), ==, common);
        g_assert_cmpint(kit_intervals_length(a.v, a.n), ==, common + kit_intervals_length(out, n));
    }
}

static void test_random_windows(void) {
    for (int round = 0; round < ROUNDS; round++) {
        sample a = random_sample(random_base());
        int from = g_test_rand_int_range(0, CELLS + 1), to = g_test_rand_int_range(0, CELLS + 1);
        uint64_t cells = a.cells & cells_of(from, to);
        int64_t start = a.base + from, end = a.base + to;
        g_assert_cmpint(kit_intervals_within(a.v, a.n, start, end), ==,
                        __builtin_popcountll(cells));
        a.n = kit_intervals_clip(a.v, a.n, start, end);
        check_set(a.v, a.n, a.base, cells);
    }
}

static void test_empty(void) {
    kit_interval a[] = {{1, 3}}, out[1];
    g_assert_cmpuint(kit_intervals_normalise(NULL, 0), ==, 0);
    g_assert_cmpuint(kit_intervals_union(NULL, 0, NULL, 0, out), ==, 0);
    g_assert_cmpuint(kit_intervals_union(NULL, 0, a, 1, out), ==, 1);
    g_assert_cmpuint(kit_intervals_intersect(a, 1, NULL, 0, out), ==, 0);
    g_assert_cmpuint(kit_intervals_subtract(a, 1, NULL, 0, out), ==, 1);
    g_assert_cmpuint(kit_intervals_subtract(NULL, 0, a, 1, out), ==, 0);
    g_assert_cmpint(kit_intervals_length(NULL, 0), ==, 0);
    g_assert_cmpint(kit_intervals_within(NULL, 0, INT64_MIN, INT64_MAX), ==, 0);
}

/* Lengths above INT64_MAX wrap, as the header says; nothing else may. */
static void test_whole_range(void) {
    kit_interval all[] = {{INT64_MAX, INT64_MIN}, {INT64_MIN, -1}, {-1, INT64_MAX}}, out[2];
    g_assert_cmpuint(kit_intervals_normalise(all, 3), ==, 1);
    g_assert_cmpint(all[0].start, ==, INT64_MIN);
    g_assert_cmpint(all[0].end, ==, INT64_MAX);
    g_assert_cmpint(kit_intervals_length(all, 1), ==, -1);
    g_assert_cmpint(kit_intervals_within(all, 1, 0, INT64_MAX), ==, INT64_MAX);
    g_assert_cmpint(kit_intervals_within(all, 1, INT64_MAX, INT64_MIN), ==, 0);

    kit_interval middle[] = {{-5, 5}};
    g_assert_cmpuint(kit_intervals_subtract(all, 1, middle, 1, out), ==, 2);
    g_assert_cmpint(out[0].start, ==, INT64_MIN);
    g_assert_cmpint(out[0].end, ==, -5);
    g_assert_cmpint(out[1].start, ==, 5);
    g_assert_cmpint(out[1].end, ==, INT64_MAX);
    g_assert_cmpint(kit_intervals_common(all, 1, middle, 1), ==, 10);
}

/* Many, in falling order; each pair of them touches. */
static void test_large(void) {
    const size_t n = 100000;
    g_autofree kit_interval *v = g_new(kit_interval, n);
    for (size_t i = 0; i < n; i++) {
        int64_t start = (int64_t)(n - i) * 10;
        v[i] = (kit_interval){start, start + (i % 2 ? 10 : 3)};
    }
    g_assert_cmpuint(kit_intervals_normalise(v, n), ==, n / 2);
    g_assert_cmpint(kit_intervals_length(v, n / 2), ==, (int64_t)n / 2 * 13);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/intervals/random-pairs", test_random_pairs);
    g_test_add_func("/kit/intervals/random-windows", test_random_windows);
    g_test_add_func("/kit/intervals/empty", test_empty);
    g_test_add_func("/kit/intervals/whole-range", test_whole_range);
    g_test_add_func("/kit/intervals/large", test_large);
    return g_test_run();
}
