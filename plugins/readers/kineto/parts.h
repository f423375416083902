/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of one file, until it is known how many there are: only then have they keys. */
#ifndef KINETO_PARTS_H
#define KINETO_PARTS_H

#include <tracemill/trace.h>

typedef struct part {
    char *name; /* in the archive */
    mill_trace *trace;
} part;

/* All zero bytes: none. */
typedef struct parts {
    part *v;
    size_t n;
} parts;

/* The name is copied, the trace borrowed. */
void parts_add(parts *all, const char *name, mill_trace *trace);
/* Posts them on output 0. `single`: the only one has the key of its file; otherwise each has a
 * sub-key made of its name without the folders that all share. */
mill_status parts_emit(mill_run *run, const parts *all, bool single);
void parts_finish(parts *all);

#endif
