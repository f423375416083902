/* SPDX-License-Identifier: Apache-2.0 */
/* Closed forms of the makespan and the bubble, ours and published ones, and lower bounds.
 *
 * They hold for equal stages and no latency. Ours are exact where `holds` says so: checked against
 * the simulation on thousands of random cases by tests.
 */
#ifndef DUALPIPE_FORMS_H
#define DUALPIPE_FORMS_H

#include "families.h"
#include "sim.h"

#include <tracemill/chunk_times.h>

typedef struct pp_form {
    const char *published_formula; /* "(PP/2 - 1)(F&B + B - 3W)", or NULL */
    const char *exact_formula;     /* of the bubble, or NULL: none is known */
    int64_t published; /* ns of bubble; may be negative out of its domain; MILL_UNKNOWN: none */
    int64_t bubble;    /* ns, exact: of `which` rank; MILL_UNKNOWN: none known or out of domain */
    int64_t makespan;  /* ns, exact; MILL_UNKNOWN likewise */
    const char *which; /* whose idle time the two are of: "every rank", "middle ranks" */
    const char *why;   /* why published and exact differ for these numbers; NULL: they do not */
} pp_form;

/* Texts are constant or in the run's scratch. Durations of `cost` are of one chunk of that family,
 * so with v chunks a rank of 1/v of a device's layers. */
pp_form pp_form_of(mill_run *run, const pp_family *family, const pp_sizes *sizes,
                   const mill_chunk_cost *cost);

/* No schedule of this kind with these sizes is shorter. */
typedef struct pp_bound {
    int64_t ns;
    const char *formula; /* "(PP - 1) F + m (F + B)" */
} pp_bound;

/* Per-stage durations (ns, of each cell of the plan) and latency are taken into account. */
pp_bound pp_bound_of(mill_run *run, const pp_plan *plan, const pp_timing *timing);

#endif
