/* SPDX-License-Identifier: Apache-2.0 */
/* Introsort as in libstdc++'s bits/stl_algo.h and bits/stl_heap.h: quicksort by the median of three
 * down to 16 items, a heap where it gets too deep, insertion at the end. */
#include "introsort.h"

#include <math.h>

#define FEW 16 /* items that are left to the insertion sort */

/* As in torch (aten/native/cpu/SortingKernel.cpp), where NaN is the largest. */
static bool before(const ep_item *a, const ep_item *b, bool stable) {
    if (stable && (a->load == b->load || (isnan(a->load) && isnan(b->load))))
        return a->index < b->index;
    return (isnan(a->load) && !isnan(b->load)) || a->load > b->load;
}

static void swap(ep_item *a, ep_item *b) {
    ep_item old = *a;
    *a = *b;
    *b = old;
}

/* Moves the hole down to a leaf, then the value up from there. */
static void adjust_heap(ep_item *v, size_t hole, size_t n, ep_item value, bool stable) {
    size_t top = hole, child;
    while ((child = 2 * hole + 2) < n) {
        if (before(v + child, v + child - 1, stable))
            child--;
        v[hole] = v[child];
        hole = child;
    }
    if (child == n) {
        v[hole] = v[n - 1];
        hole = n - 1;
    }
    while (hole > top && before(v + (hole - 1) / 2, &value, stable)) {
        v[hole] = v[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    v[hole] = value;
}

static void heap_sort(ep_item *v, size_t n, bool stable) {
    for (size_t parent = n / 2; parent-- > 0;)
        adjust_heap(v, parent, n, v[parent], stable);
    while (n-- > 1) {
        ep_item last = v[n];
        v[n] = v[0];
        adjust_heap(v, 0, n, last, stable);
    }
}

static void median_to(ep_item *to, ep_item *a, ep_item *b, ep_item *c, bool stable) {
    ep_item *low = a, *high = b;
    if (!before(a, b, stable)) {
        low = b;
        high = a;
    }
    if (before(high, c, stable))
        swap(to, high);
    else
        swap(to, before(low, c, stable) ? c : low);
}

/* The place of the first item of the right part. */
static size_t partition(ep_item *v, size_t n, bool stable) {
    median_to(v, v + 1, v + n / 2, v + n - 1, stable);
    size_t left = 1, right = n;
    for (;; left++) {
        while (before(v + left, v, stable))
            left++;
        right--;
        while (before(v, v + right, stable))
            right--;
        if (left >= right)
            return left;
        swap(v + left, v + right);
    }
}

static void quick_sort(ep_item *v, size_t n, unsigned depth, bool stable) {
    while (n > FEW) {
        if (depth-- == 0) {
            heap_sort(v, n, stable);
            return;
        }
        size_t cut = partition(v, n, stable);
        quick_sort(v + cut, n - cut, depth, stable);
        n = cut;
    }
}

static void insertion_sort(ep_item *v, size_t n, bool stable) {
    for (size_t i = 1; i < n; i++) {
        ep_item value = v[i];
        size_t at = i;
        for (; at > 0 && before(&value, v + at - 1, stable); at--)
            v[at] = v[at - 1];
        v[at] = value;
    }
}

void ep_introsort(ep_item *v, size_t n, bool stable) {
    unsigned log = 0;
    while (n >> log > 1)
        log++;
    quick_sort(v, n, 2 * log, stable);
    insertion_sort(v, n, stable);
}
