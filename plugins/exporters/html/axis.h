/* SPDX-License-Identifier: Apache-2.0 */
/* An axis of a chart: a range that ends at round numbers, and where its ticks are. */
#ifndef HTML_AXIS_H
#define HTML_AXIS_H

#include <glib.h>
#include <stdbool.h>

typedef struct axis {
    double lo, hi, step; /* both ends are multiples of step */
    int decimals;        /* of a tick's label */
} axis;

/* Fits about `ticks` ticks around [lo, hi]. False where the numbers can't be drawn: not finite, or
 * so large that their difference is not. */
bool axis_fit(axis *ret_axis, double lo, double hi, int ticks);

/* How many ticks there are; the value of tick i. */
int axis_ticks(const axis *a);
double axis_tick(const axis *a, int i);
/* The label of a value at a tick. */
void axis_label(GString *page, const axis *a, double value);

/* Where a value lies between the ends, 0…1. */
double axis_place(const axis *a, double value);

#endif
