/* SPDX-License-Identifier: Apache-2.0 */
/* A profile, read, attributed, and analysed by `overlap`. */
#ifndef OVERLAP_ANALYSED_H
#define OVERLAP_ANALYSED_H

#include "data.h"

#include <tracemill/attribution.h>

typedef struct analysed {
    bench *reader, *attribution, *analyzer; /* attribution: or NULL */
    const mill_report *report;
} analysed;

/* settings: options of the analyzer, NULL-terminated. */
void analysed_init(analysed *a, const char *path, const char *const *settings, bool attributed);
void analysed_finish(analysed *a);

#endif
