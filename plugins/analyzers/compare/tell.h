/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the report of `compare` share. */
#ifndef COMPARE_TELL_H
#define COMPARE_TELL_H

#include "compare.h"

/* A headline figure, as reports name it. */
typedef struct compare_headline {
    const char *id, *label; /* NULL: not shown by itself */
    bool judged;
} compare_headline;

extern const compare_headline compare_times[COMPARE_TIMES];

const char *compare_stage_name(const compare_analysis *a, uint32_t stage);

/* Keys with a verdict, or those of one side only, the longest change first. */
typedef enum compare_wanted { COMPARE_CHANGED, COMPARE_ONE_SIDE } compare_wanted;
size_t compare_order(const compare_analysis *a, compare_wanted wanted,
                     const compare_key ***ret_order);

/* The summary, the notes and the findings: every regression. */
void compare_tell_findings(const compare_analysis *a, kit_report *r);

#endif
