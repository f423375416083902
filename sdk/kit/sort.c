/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts by one digit after another, from the lowest. */
#include <tracemill/kit/sort.h>

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static void sort_digit(const uint32_t *from, size_t n, unsigned shift, uint32_t *to) {
    size_t at[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        at[from[i] >> shift & (DIGITS - 1)]++;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t count = at[d];
        at[d] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

void kit_sort_u32(uint32_t *values, size_t n) {
    uint32_t *from = values, *to = kit_realloc(NULL, n, sizeof *to), all = 0;
    for (size_t i = 0; i < n; i++)
        all |= values[i];
    for (unsigned shift = 0; shift < 32 && all >> shift; shift += DIGIT_BITS) {
        uint32_t *swap = from;
        sort_digit(from, n, shift, to);
        from = to;
        to = swap;
    }
    if (from != values) {
        memcpy(values, from, n * sizeof *values);
        to = from;
    }
    free(to);
}
