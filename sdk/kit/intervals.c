/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the algebra of interval sets. */
#include <tracemill/kit/intervals.h>

#include <stdbool.h>
#include <stdlib.h>

static int64_t min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Unsigned, since the set may span more than INT64_MAX. */
static uint64_t length(kit_interval v) {
    return (uint64_t)v.end - (uint64_t)v.start;
}

static int by_start(const void *a, const void *b) {
    int64_t x = ((const kit_interval *)a)->start, y = ((const kit_interval *)b)->start;
    return (x > y) - (x < y);
}

/* Appends to a set an interval that starts no earlier than the last one there. */
static size_t append(kit_interval *set, size_t n, kit_interval v) {
    if (v.start >= v.end)
        return n;
    if (n > 0 && v.start <= set[n - 1].end) {
        set[n - 1].end = max(set[n - 1].end, v.end);
        return n;
    }
    set[n] = v;
    return n + 1;
}

size_t kit_intervals_normalise(kit_interval *v, size_t n) {
    for (size_t i = 1; i < n; i++) {
        if (v[i].start < v[i - 1].start) {
            qsort(v, n, sizeof *v, by_start);
            break;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        kept = append(v, kept, v[i]);
    return kept;
}

size_t kit_intervals_union(const kit_interval *a, size_t na, const kit_interval *b, size_t nb,
                           kit_interval *out) {
    size_t n = 0, i = 0, j = 0;
    while (i < na || j < nb) {
        bool from_a = j == nb || (i < na && a[i].start <= b[j].start);
        n = append(out, n, from_a ? a[i++] : b[j++]);
    }
    return n;
}

/* Finds the next piece of a ∩ b, from a[*i] and b[*j] on. */
static bool next_common(const kit_interval *a, size_t na, const kit_interval *b, size_t nb,
                        size_t *i, size_t *j, kit_interval *ret_piece) {
    while (*i < na && *j < nb) {
        kit_interval x = a[*i], y = b[*j];
        *(x.end < y.end ? i : j) += 1;
        ret_piece->start = max(x.start, y.start);
        ret_piece->end = min(x.end, y.end);
        if (ret_piece->start < ret_piece->end)
            return true;
    }
    return false;
}

size_t kit_intervals_intersect(const kit_interval *a, size_t na, const kit_interval *b, size_t nb,
                               kit_interval *out) {
    size_t n = 0, i = 0, j = 0;
    kit_interval piece;
    while (next_common(a, na, b, nb, &i, &j, &piece))
        out[n++] = piece;
    return n;
}

size_t kit_intervals_subtract(const kit_interval *a, size_t na, const kit_interval *b, size_t nb,
                              kit_interval *out) {
    size_t n = 0, j = 0;
    for (size_t i = 0; i < na; i++) {
        int64_t at = a[i].start;
        while (at < a[i].end) {
            while (j < nb && b[j].end <= at)
                j++;
            int64_t hole = j < nb ? b[j].start : a[i].end;
            if (at < hole)
                out[n++] = (kit_interval){at, min(hole, a[i].end)};
            at = hole < a[i].end ? b[j].end : a[i].end;
        }
    }
    return n;
}

size_t kit_intervals_clip(kit_interval *v, size_t n, int64_t start, int64_t end) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        kept = append(v, kept, (kit_interval){max(v[i].start, start), min(v[i].end, end)});
    return kept;
}

int64_t kit_intervals_length(const kit_interval *v, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += length(v[i]);
    return (int64_t)sum;
}

int64_t kit_intervals_common(const kit_interval *a, size_t na, const kit_interval *b, size_t nb) {
    uint64_t sum = 0;
    size_t i = 0, j = 0;
    kit_interval piece;
    while (next_common(a, na, b, nb, &i, &j, &piece))
        sum += length(piece);
    return (int64_t)sum;
}

int64_t kit_intervals_within(const kit_interval *v, size_t n, int64_t start, int64_t end) {
    if (start >= end)
        return 0;
    /* Callers ask for many windows of one set, so the first interval is found by bisection. */
    size_t first = 0, last = n;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (v[middle].end <= start)
            first = middle + 1;
        else
            last = middle;
    }
    uint64_t sum = 0;
    for (size_t i = first; i < n && v[i].start < end; i++)
        sum += length((kit_interval){max(v[i].start, start), min(v[i].end, end)});
    return (int64_t)sum;
}
