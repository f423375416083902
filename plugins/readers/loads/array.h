/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of loads, and of the experts that tokens were sent to. */
#ifndef LOADS_ARRAY_H
#define LOADS_ARRAY_H

#include "gather.h"

#include <tracemill/kit/npy.h>

/* Makes the value of an array of loads ([layers, experts], [steps, layers, experts]) or, if the
 * option `content` says so, of assignments ([tokens, layers], [tokens, layers, choices]). */
mill_status ld_read_array(ld_reading *r, const kit_npy *a);

/* Adds an array [experts] to a row. */
mill_status ld_gather_array(ld_gather *g, size_t row, const kit_npy *a);

#endif
