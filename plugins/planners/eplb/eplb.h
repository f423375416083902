/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the stage `eplb` share: its options, its results, and who tells what. */
#ifndef EPLB_EPLB_H
#define EPLB_EPLB_H

#include "layers.h"

#include <tracemill/kit/report.h>

typedef struct eplb_options {
    ep_options common;
    bool what_if;
    int64_t top, gpu_rows;
    double min_gain;
} eplb_options;

/* The same loads under another rule or with other sizes. */
typedef struct eplb_case {
    const char *id, *change;
    uint32_t slots;
    ep_worth worth;
} eplb_case;

typedef struct eplb_analysis {
    const eplb_options *options;
    ep_problem problem;
    ep_layer *layers;       /* problem.n */
    ep_worth before, after; /* of the plans themselves */
    eplb_case *cases;
    size_t n_cases;
} eplb_analysis;

/* Σ over the layers of what each placement is worth. */
void eplb_sum_up(eplb_analysis *a);

/* The balancedness of vLLM: Σ of mean / Σ of largest. And largest / largest. NaN if there is none.
 */
double eplb_balancedness(const ep_worth *w);
double eplb_over(const ep_worth *w, const ep_worth *base);

mill_status eplb_what_if(eplb_analysis *a);
/* NULL: there is no such case. */
const eplb_case *eplb_find_case(const eplb_analysis *a, const char *id);

mill_report *eplb_tell(const eplb_analysis *a);
void eplb_tell_what_if(kit_report *r, const eplb_analysis *a);
void eplb_tell_layers(kit_report *r, const eplb_analysis *a); /* tables and series by layer */
void eplb_tell_findings(kit_report *r, const eplb_analysis *a);

#endif
