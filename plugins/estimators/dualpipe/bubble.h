/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the stage class `bubble` share: options, durations, and cases: each is one
 * schedule that is simulated with one set of sizes and durations. All memory is the run's scratch.
 */
#ifndef DUALPIPE_BUBBLE_H
#define DUALPIPE_BUBBLE_H

#include "forms.h"
#include "search.h"

#include <tracemill/chunk_times.h>
#include <tracemill/kit/report.h>
#include <tracemill/kit/stats.h>

typedef enum bubble_freed { BUBBLE_FREED_BACKWARD, BUBBLE_FREED_WEIGHT } bubble_freed;

typedef struct bubble_options {
    int64_t pp;
    mill_list micro_batches; /* of int64 */
    mill_list schedules;     /* of ids; "all" stands for all */
    int64_t chunks, warm_up, weight_lag;
    const char *schedule_file;
    int64_t forward, backward, input, weight, pair;
    const char *table;
    int pair_rule; /* pp_pair_rule */
    double alpha;
    int comm; /* pp_comm */
    int64_t latency, transfer_bytes, bandwidth;
    mill_list slowness; /* of double, rank by rank */
    double jitter;
    int64_t seed, samples;
    int64_t activations, parameters, memory_limit; /* bytes; see bubble_analysis */
    int freed;                                     /* bubble_freed */
    bool search;
    int64_t effort;
    mill_list compare; /* of ids; "all" stands for all */
    mill_list detail;  /* of ids; none: the best */
    mill_list lanes;   /* of ids; "all" stands for all; none: those in detail */
    double min_gain;
    int64_t most_operations;
} bubble_options;

/* ---------------------------------------------------------------- durations (bubble_inputs.c) */

/* The model, cut into `n` equal shares of its layers; how long each takes on each basis. */
typedef struct bubble_inputs {
    const char *subject; /* what was measured, or NULL */
    uint32_t pp;         /* devices */
    size_t n;            /* shares: pp, or 1 that stands for pp alike ones */
    size_t n_bases, likely;
    const char *const *bases;     /* ids */
    const mill_chunk_cost *costs; /* costs[share * n_bases + basis] */
} bubble_inputs;

/* Rows of the file of the option `table` (bubble_table.c). */
mill_status bubble_read_table(mill_run *run, const char *path, mill_chunk_cost **ret_costs,
                              size_t *ret_n);
/* Two of B, Bi and W give the third. False: they are all known and B is not Bi + W, or a part is
 * longer than the whole. */
bool bubble_complete_cost(mill_chunk_cost *cost);
/* All shares are alike. */
bool bubble_equal(const bubble_inputs *in);
/* The mean over shares, so for alike ones what each costs. */
mill_chunk_cost bubble_mean_cost(const bubble_inputs *in, size_t basis);

/* ---------------------------------------------------------------- cases (bubble_cases.c) */

/* What is asked for. */
typedef struct bubble_case {
    const pp_family *family; /* NULL: the schedule of the option schedule-file */
    const char *id, *name;
    pp_sizes sizes;
    size_t basis;
    const char *change; /* of a what-if: what is not as it is; else NULL */
    bool hidden;        /* F&B takes what it would if all communication were hidden */
    bool alike;         /* stages and ranks are the mean of what they are */
    int64_t latency, occupied;
    bool record;
    /* What comes of it. */
    const pp_plan *plan; /* NULL: it does not run with these sizes */
    const char *reason;  /* why there are no figures; NULL: there are */
    const char *nearest; /* sizes with which it runs, or NULL */
    const pp_timing *timing;
    pp_result result;
    int64_t makespan, idle_sum, idle_min, idle_max; /* over ranks; the sum may be MILL_UNKNOWN */
    int64_t live, live_weight;                      /* most of any rank, in chunks */
} bubble_case;

/* Makespans over seeds. */
typedef struct bubble_jitter {
    int64_t mean, p50, p95, max;
} bubble_jitter;

typedef struct bubble_analysis {
    const bubble_options *options;
    const mill_schedule *measured; /* or NULL */
    bubble_inputs in;
    int64_t latency;                   /* of a transfer; if not given, as measured */
    int64_t activations, memory_limit; /* bytes, or MILL_UNKNOWN: not given */
    uint32_t weight_lag;               /* UINT32_MAX: not given */
    const pp_plan *file;               /* of the option schedule-file, or NULL */
    uint64_t file_left_out;
    /* By micro-batches, schedule, basis; those of the first number of micro-batches come first. */
    bubble_case *cases;
    const int64_t *m; /* numbers of micro-batches */
    size_t n_schedules, n_m;
    const bubble_case **detail; /* those that are told in detail, the best first; recorded */
    size_t n_detail;
    const bubble_case *best;     /* or NULL: none runs */
    const bubble_case *baseline; /* 1F1B at its side, or NULL */
    bubble_case *what_if;        /* n_what_if, grouped by `detail`; the first is as it is */
    size_t n_what_if;
    const pp_found *found;  /* by the search; NULL: none was asked for */
    bubble_case found_case; /* with its plan, if it found one */
    bubble_jitter *jitter;  /* of each schedule; NULL: no jitter */
} bubble_analysis;

/* a->in (bubble_inputs.c). times: or NULL. */
mill_status bubble_read_inputs(mill_run *run, const mill_chunk_times *times, bubble_analysis *a);
/* The durations of a case for the cells of its plan (bubble_timing.c); NULL with a reason in
 * c->reason if the schedule needs one that is not known. */
const pp_timing *bubble_timing(mill_run *run, const bubble_analysis *a, bubble_case *c);
/* F&B if all communication of both chunks were hidden can be told. */
bool bubble_can_hide(const bubble_analysis *a);

/* Simulates c->plan. */
mill_status bubble_simulate_plan(mill_run *run, const bubble_analysis *a, bubble_case *c);
/* Simulates n cases on all threads; the plan of a case is used again for the next one if that
 * differs in its basis only. */
mill_status bubble_simulate(mill_run *run, const bubble_analysis *a, bubble_case *cases, size_t n);
/* Whether a list of ids has the family's, or "all". */
bool bubble_is_listed(const mill_list *list, const pp_family *family);
/* Told on each basis for each number of micro-batches: by the options compare and detail. */
bool bubble_compared(const bubble_analysis *a, const bubble_case *c);
/* A case as the options say. family NULL: the file's schedule. */
bubble_case bubble_case_of(const bubble_analysis *a, const pp_family *family, int64_t m,
                           size_t basis);
/* All of a->cases, the best, those in detail, jitter. */
mill_status bubble_compare(mill_run *run, bubble_analysis *a);
/* a->what_if (bubble_what_if.c). Changes that findings rest on: */
#define BUBBLE_AS_IS "as it is"
#define BUBBLE_HIDDEN "F&B hides transfers"
#define BUBBLE_ALIKE "all ranks alike"
#define BUBBLE_NO_TRANSFERS "no transfer time"
mill_status bubble_ask_what_if(mill_run *run, bubble_analysis *a);

static inline const bubble_case *bubble_at(const bubble_analysis *a, size_t m, size_t schedule,
                                           size_t basis) {
    return &a->cases[(m * a->n_schedules + schedule) * a->in.n_bases + basis];
}

/* ---------------------------------------------------------------- memory (bubble_memory.c) */

/* Chunks that make a device's whole share of the model: V-shapes cut it in two. */
static inline uint32_t bubble_chunks_a_share(const pp_plan *plan) {
    return plan->bidirectional ? 1 : plan->chunks;
}
/* Most chunks that a rank holds, by the rule of the option `freed`. */
int64_t bubble_live(const bubble_analysis *a, const bubble_case *c);
/* Of a rank: parameters and activations at their peak; MILL_UNKNOWN: options are missing. */
int64_t bubble_memory(const bubble_analysis *a, const bubble_case *c);
bool bubble_fits(const bubble_analysis *a, const bubble_case *c); /* true where it is unknown */

/* a->found, a->found_case (bubble_search.c). */
mill_status bubble_search(mill_run *run, bubble_analysis *a);

/* ---------------------------------------------------------------- telling */

mill_report *bubble_tell(mill_run *run, const bubble_analysis *a);
void bubble_tell_memory(kit_report *r, const bubble_analysis *a);
void bubble_tell_forms(mill_run *run, kit_report *r, const bubble_analysis *a);
void bubble_tell_detail(mill_run *run, kit_report *r, const bubble_analysis *a);
void bubble_tell_lanes(mill_run *run, kit_report *r, const bubble_analysis *a);
void bubble_tell_what_if(kit_report *r, const bubble_analysis *a);
void bubble_tell_search(mill_run *run, kit_report *r, const bubble_analysis *a);
void bubble_tell_findings(mill_run *run, kit_report *r, const bubble_analysis *a);

/* The value of a case that was recorded (bubble_value.c). */
mill_schedule *bubble_value(mill_run *run, const bubble_analysis *a, const bubble_case *c);

/* The bubble ratio of a case as a cell: Σ of idle times / (ranks * makespan). */
void bubble_cell_share(kit_table *t, const bubble_case *c);
/* printf into the run's scratch. */
MILL_PRINTF(2, 3) const char *bubble_text(mill_run *run, const char *format, ...);
/* A time in sentences, whole µs: "6 533.551 ms". */
const char *bubble_ms(mill_run *run, int64_t ns);
/* The id of a schedule as a part of ids in reports: "zb_h1". */
const char *bubble_id(mill_run *run, const char *id);

/* value * times / by; MILL_UNKNOWN where it does not fit. */
static inline int64_t bubble_scaled(int64_t value, int64_t times, int64_t by) {
    int64_t product;
    return __builtin_mul_overflow(value, times, &product) ? MILL_UNKNOWN : product / by;
}

#endif
