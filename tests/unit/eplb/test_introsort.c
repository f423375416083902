/* SPDX-License-Identifier: Apache-2.0 */
/* The order of equal loads, against the std::sort of the compiler's own libstdc++. */
#include "introsort.h"

#include <glib.h>
#include <math.h>
#include <string.h>

bool std_sort(ep_item *v, size_t n);

static void assert_same(const ep_item *v, size_t n) {
    g_autofree ep_item *ours = g_memdup2(v, (n + 1) * sizeof *v);
    g_autofree ep_item *theirs = g_memdup2(v, (n + 1) * sizeof *v);
    ep_introsort(ours, n, false);
    if (!std_sort(theirs, n)) {
        g_test_skip("skipped: the C++ library is not libstdc++");
        return;
    }
    for (size_t i = 0; i < n; i++)
        g_assert_cmpuint(ours[i].index, ==, theirs[i].index);
}

static void test_random(void) {
    for (size_t n = 0; n < 600; n++)
        for (int values = 1; values <= 1000; values *= 10) {
            g_autofree ep_item *v = g_new0(ep_item, n + 1);
            for (size_t i = 0; i < n; i++) {
                int32_t load = g_test_rand_int_range(-1, values);
                v[i] = (ep_item){load < 0 ? NAN : (float)load, (uint32_t)i};
            }
            assert_same(v, n);
        }
}

/* Loads for which the median of three is the second highest, again and again: the sort runs too
 * deep and ends as a heap. Each load comes three times. */
static void test_deep(void) {
    for (size_t half = 50; half < 400; half++) {
        size_t n = 2 * half;
        g_autofree ep_item *v = g_new0(ep_item, n + 1);
        for (size_t i = 0; i < half; i++) {
            size_t rank = i % 2 == 0 ? i : half + i - 1;
            v[i] = (ep_item){-(float)(rank / 3), (uint32_t)i};
            v[half + i] = (ep_item){-(float)((2 * i + 1) / 3), (uint32_t)(half + i)};
        }
        assert_same(v, n);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eplb/introsort/random", test_random);
    g_test_add_func("/eplb/introsort/deep", test_deep);
    return g_test_run();
}
