/* SPDX-License-Identifier: Apache-2.0 */
/* Slices that are written as two events, a begin and an end. */
#ifndef KINETO_PAIRS_H
#define KINETO_PAIRS_H

#include "category.h"

#include <tracemill/kit/trace_join.h>

/* An event on its way to be a row. */
typedef struct slice {
    const category *category;
    kit_gpu_row row; /* of a CPU slice: as much of it as it has */
    bool async;      /* not part of its thread's call stack */
} slice;

typedef struct pairs pairs;

/* The builder is borrowed: for diagnostics. */
pairs *pairs_create(kit_trace *b);
void pairs_destroy(pairs *p); /* NULL: nothing */

/* Remembers a slice that begins. The key says which ends can be its own: those of its thread, the
 * key being the bytes of `track`, or of its id (async). */
void pairs_begin(pairs *p, const char *key, size_t key_length, const char *name, size_t length,
                 const slice *s);
/* Whether pairs_end would find one. */
bool pairs_has(const pairs *p, const char *key, size_t key_length, const char *name, size_t length);
/* The innermost open slice of that key and, unless it is empty, that name, now with its duration.
 * False, and counted: there is none, or it would end before it begins. */
bool pairs_end(pairs *p, const char *key, size_t key_length, const char *name, size_t length,
               int64_t time, uint64_t byte, slice *ret_slice);
/* Opens what is still open in a later part of the file; lines[]: what its numbers of lines become.
 */
void pairs_join(pairs *p, const pairs *part, const kit_join *j, const uint32_t *lines);
/* Counts those that are still open. */
void pairs_finish(pairs *p);

#endif
