/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the report share. */
#ifndef PIPELINE_TELL_H
#define PIPELINE_TELL_H

#include "pipeline.h"

/* Rounded to ns, half up; sums are not negative. */
int64_t pipe_mean(int64_t sum, int64_t n);

/* notes.c */
void pipe_tell_notes(kit_report *r, const pipe_analysis *a);
void pipe_tell_clocks(kit_report *r, const pipe_analysis *a);
void pipe_tell_finding(kit_report *r, const pipe_analysis *a);
void pipe_tell_lanes(kit_report *r, const pipe_analysis *a, const pipe_pass *pass);

#endif
