/* SPDX-License-Identifier: Apache-2.0 */
/* Closed forms of the makespan and the bubble, ours and published ones, and lower bounds.
 *
 * They hold for equal stages and no latency. Ours are exact where `bubble` is known: checked
 * against the simulation on thousands of random cases by tests.
 */
#ifndef DUALPIPE_FORMS_H
#define DUALPIPE_FORMS_H

#include "families.h"
#include "sim.h"

#include <tracemill/chunk_times.h>

typedef struct pp_form {
    const char *published_formula; /* "(PP/2 - 1)(F&B + B - 3W)", or NULL */
    const char *published_source;  /* of it, or NULL */
    const char *exact_formula;     /* of the bubble, or NULL: none is known */
    int64_t published;  /* ns of bubble; may be negative out of its domain; MILL_UNKNOWN: none */
    int64_t bubble;     /* ns, exact: makespan - busy of `which` rank; MILL_UNKNOWN: none known or
                         * out of domain */
    int64_t makespan;   /* ns, exact; MILL_UNKNOWN likewise */
    int64_t span_idle;  /* ns, exact: most that a rank stands still between its first start and its
                         * last end. Given for ZB-H2, whose published bubble is this one; else
                         * MILL_UNKNOWN, and the published one is to be set against `bubble` */
    const char *which;  /* whose idle time published and bubble are of: "every rank" */
    const char *why;    /* why published and exact differ for these numbers; NULL: they do not */
    const char *domain; /* why exact is unknown though a formula is: "needs F&B >= max(F, B)"; NULL:
                         * it is known, or has no formula */
} pp_form;

/* Texts are constant or in the run's scratch. Durations of `cost` are of one chunk of that family,
 * so with v chunks a rank of 1/v of a device's layers. Sizes are some that the family takes. */
pp_form pp_form_of(mill_run *run, const pp_family *family, const pp_sizes *sizes,
                   const mill_chunk_cost *cost);

/* No schedule of this kind with these sizes is shorter. */
typedef struct pp_bound {
    int64_t ns;          /* MILL_UNKNOWN: a time does not fit */
    uint32_t rank;       /* that it comes from */
    const char *formula; /* its parts in words and numbers: "rank 7: 70 ns until its first forward
                          * can start + 600 ns of work + 140 ns from its last backward on" */
} pp_bound;

/* Of every order in which the ranks of this plan could run its micro-batches on the same cells with
 * the same kinds of operations (whole or split backward chunks, pairs or none), with any memory.
 * Per-stage durations, slowness, jitter at its least, latency and link time are taken into account.
 */
pp_bound pp_bound_of(mill_run *run, const pp_plan *plan, const pp_timing *timing);

#endif
