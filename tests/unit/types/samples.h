/* SPDX-License-Identifier: Apache-2.0 */
/* A small value of each mill.* type, in which no field has the value that it has anyway. */
#ifndef TYPES_SAMPLES_H
#define TYPES_SAMPLES_H

#include <tracemill/tracemill.h>

typedef struct sample {
    const char *name; /* "expert-load" */
    const char *type;
    const void *(*make)(mill_run *run);
} sample;

extern const sample samples[]; /* to where name is NULL */

/* A trace of so many GPU activities, each launched by a call, for the ends of segments. */
const void *sample_long_trace(mill_run *run, unsigned n);

#endif
