/* SPDX-License-Identifier: Apache-2.0 */
/* The first few of many items in some order, without sorting all of them. */
#ifndef TRACEMILL_KIT_TOP_H
#define TRACEMILL_KIT_TOP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As qsort's. Items must all differ in it, so that it does not matter in which order they come. */
typedef int (*kit_compare)(const void *a, const void *b);

/* O(log top) an item; memory for twice `top` of them at most. */
typedef struct kit_top {
    kit_compare compare;
    size_t top, size;
    void *v;
    size_t n, room, kept; /* kept: above 0, v[kept - 1] is the last that can be among the first */
} kit_top;

/* size: bytes of an item. */
void kit_top_init(kit_top *t, size_t top, size_t size, kit_compare compare);
void kit_top_add(kit_top *t, const void *item);
/* Sorts; returns how many items there are in t->v, at most `top`. */
size_t kit_top_sort(kit_top *t);
void kit_top_finish(kit_top *t);

#ifdef __cplusplus
}
#endif
#endif
