/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting, and the first few of many, against qsort. */
#include <tracemill/kit/sort.h>
#include <tracemill/kit/top.h>

#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST 500

static int compare_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Distinct ones, if the values are to be. */
static size_t random_values(uint32_t *values, bool distinct) {
    size_t n = (size_t)g_test_rand_int_range(0, MOST);
    int shift = g_test_rand_int_range(0, 32);
    for (size_t i = 0; i < n; i++)
        values[i] = distinct ? (uint32_t)i * 2654435761u : (uint32_t)g_test_rand_int() >> shift;
    return n;
}

static void test_sort(void) {
    for (int round = 0; round < 500; round++) {
        uint32_t values[MOST], right[MOST];
        size_t n = random_values(values, false);
        memcpy(right, values, sizeof right);
        qsort(right, n, sizeof *right, compare_u32);
        kit_sort_u32(values, n);
        for (size_t i = 0; i < n; i++)
            g_assert_cmpuint(values[i], ==, right[i]);
    }
}

static void test_top(void) {
    for (int round = 0; round < 500; round++) {
        uint32_t values[MOST];
        size_t n = random_values(values, true), top = (size_t)g_test_rand_int_range(0, 60);
        kit_top t;
        kit_top_init(&t, top, sizeof *values, compare_u32);
        for (size_t i = 0; i < n; i++)
            kit_top_add(&t, &values[i]);
        g_assert_cmpuint(kit_top_sort(&t), ==, MIN(n, top));
        g_assert_cmpuint(t.room, <=, MAX(16, 4 * top));
        qsort(values, n, sizeof *values, compare_u32);
        for (size_t i = 0; i < t.n; i++)
            g_assert_cmpuint(((const uint32_t *)t.v)[i], ==, values[i]);
        kit_top_finish(&t);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/sort/u32", test_sort);
    g_test_add_func("/kit/sort/top", test_top);
    return g_test_run();
}
