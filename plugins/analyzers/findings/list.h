/* SPDX-License-Identifier: Apache-2.0 */
/* The list that the rules fill and the report is made of. */
#ifndef FINDINGS_LIST_H
#define FINDINGS_LIST_H

#include "findings.h"

typedef struct findings_entry {
    findings_check check;
    const findings_device *device;
    size_t order;
    bool raised; /* it is a finding */
} findings_entry;

typedef struct findings_list {
    findings_entry *v;
    size_t n, room;
} findings_list;

/* For qsort: the order of the findings. */
int findings_compare(const void *a, const void *b);

#endif
