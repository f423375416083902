/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the report of `ranks`. */
#ifndef RANKS_TELL_H
#define RANKS_TELL_H

#include "ranks.h"

/* What limits the figures. */
void ranks_tell_notes(const ranks_analysis *a, kit_report *r);

/* Computation by stage over the ranks, and a finding for each straggler. */
void ranks_tell_causes(const ranks_analysis *a, kit_report *r);

/* Where members are devices: a column for their number, and its cell (MILL_NONE: unknown). */
void ranks_add_device(const ranks_analysis *a, kit_table *t);
void ranks_tell_device(const ranks_analysis *a, kit_table *t, uint32_t member);

/* The file's name without its folders, and of several devices which one. */
const char *ranks_profile(const ranks_analysis *a, const ranks_member *m);

#endif
