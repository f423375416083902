/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts loads falling, the way that libstdc++'s std::sort does: where equal ones end up is part of
 * what eplb.py gives. */
#ifndef EPLB_INTROSORT_H
#define EPLB_INTROSORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ep_item {
    float load;
    uint32_t index;
} ep_item;

/* NaN comes first. stable: equal loads by index, rising; then the algorithm does not matter. */
void ep_introsort(ep_item *v, size_t n, bool stable);

#endif
