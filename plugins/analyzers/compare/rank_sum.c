/* SPDX-License-Identifier: Apache-2.0 */
/* The Mann-Whitney test. For small samples the distribution of the sum of ranks is counted, ties
 * and all; for others it is near normal. H. B. Mann, D. R. Whitney, "On a test of whether one of
 * two random variables is stochastically larger than the other", 1947. */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <tracemill/kit/arena.h>

#define EXACT 20 /* values of each sample up to which it is counted */

typedef struct value {
    int64_t value;
    bool first;   /* of sample x */
    int64_t rank; /* twice its rank: a mean of ranks may be a half */
} value;

static int compare_values(const void *a, const void *b) {
    int64_t x = ((const value *)a)->value, y = ((const value *)b)->value;
    return (x > y) - (x < y);
}

/* Gives equal values the mean of their ranks. Returns Σ (t³ - t) over groups of t equal ones. */
static double give_ranks(value *v, size_t n) {
    double ties = 0;
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && v[k].value == v[i].value;)
            k++;
        for (size_t j = i; j < k; j++)
            v[j].rank = (int64_t)(i + 1 + k); /* 2 · ((i + 1) + k) / 2 */
        double t = (double)(k - i);
        ties += t * t * t - t;
    }
    return ties;
}

/* The share of all choices of nx of the ranks whose sum is as far from the mean as `sum`. */
static double counted(const value *v, size_t n, size_t nx, int64_t sum) {
    size_t most = n * (n + 1) + 1; /* sums of doubled ranks are below */
    double *ways = kit_alloc((nx + 1) * most, sizeof *ways);
    double all = 0, far = 0;
    int64_t mean = (int64_t)(nx * (n + 1));
    ways[0] = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1 < nx ? i + 1 : nx; k > 0; k--)
            for (size_t s = (size_t)v[i].rank; s < most; s++)
                ways[k * most + s] += ways[(k - 1) * most + s - (size_t)v[i].rank];
    for (size_t s = 0; s < most; s++) {
        all += ways[nx * most + s];
        if (llabs((int64_t)s - mean) >= llabs(sum - mean))
            far += ways[nx * most + s];
    }
    free(ways);
    return far / all;
}

double compare_rank_sum(const int64_t *x, size_t nx, const int64_t *y, size_t ny) {
    size_t n = nx + ny;
    value *v = kit_alloc(n, sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = i < nx ? (value){x[i], true, 0} : (value){y[i - nx], false, 0};
    qsort(v, n, sizeof *v, compare_values);
    double ties = give_ranks(v, n);
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i].first ? v[i].rank : 0;
    double p;
    if (nx <= EXACT && ny <= EXACT) {
        p = counted(v, n, nx, sum);
    } else {
        double all = (double)n, mean = (double)nx * (all + 1) / 2;
        double variance = (double)nx * (double)ny / 12 * (all + 1 - ties / (all * (all - 1)));
        double far = fabs((double)sum / 2 - mean) - 0.5; /* sums are whole, the normal is not */
        p = variance <= 0 || far <= 0 ? 1 : erfc(far / sqrt(2 * variance));
    }
    free(v);
    return p;
}
