/* SPDX-License-Identifier: Apache-2.0 */
/* The categories ("cat") of events that make rows, in all the spellings that writers used. */
#ifndef KINETO_CATEGORY_H
#define KINETO_CATEGORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct category {
    const char *text;
    uint8_t gpu; /* mill_gpu_cat, or 0 */
    uint8_t cpu; /* mill_cpu_kind, or 0 */
    bool sync;   /* a row of syncs */
} category;

/* Of what has a category that is none of ours: no row. */
extern const category category_unknown;
/* Of slices that count as no more than time on a thread. */
extern const category category_other;

/* Compares without regard to case. */
const category *category_find(const char *text, size_t length);

#endif
