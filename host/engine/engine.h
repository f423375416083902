/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: runs a plan, with items flowing from stage to stage over --jobs threads. */
#ifndef HOST_ENGINE_ENGINE_H
#define HOST_ENGINE_ENGINE_H

#include "check/plan.h"
#include "engine/causes.h"

typedef struct engine_options {
    unsigned jobs;        /* threads that run stages; at least 1 */
    int64_t timeout_ns;   /* of the whole run; 0: none */
    mill_level log_level; /* messages beyond it are dropped */
    bool colour;          /* on stderr */
    bool capture;         /* keep what stages print to standard output instead of printing it */
} engine_options;

/* One run that ended badly, or a gate that was not met. */
typedef struct failure {
    const plan_stage *stage; /* NULL: the whole pipeline */
    char *key;               /* of the item; "" where there is none */
    mill_status status;
    bool tolerated; /* a warning: the stage is optional, and can't work with the item's content */
    causes causes;
} failure;

typedef struct stage_outcome {
    const plan_stage *stage;
    unsigned done, failed, skipped; /* runs */
    int64_t busy_ns, longest_ns;    /* in callbacks: the sum over runs, and the longest one */
    uint64_t peak_bytes; /* most memory that one run had of the host: values and scratch */
} stage_outcome;

/* What one run or stage printed, if it was captured. */
typedef struct printed {
    const plan_stage *stage;
    char *key; /* of the item; "" where there is none */
    char *text;
} printed;

typedef struct outcome {
    GPtrArray *failures; /* of failure *, in the order of stages, then keys */
    GPtrArray *printed;  /* of printed * */
    stage_outcome *stages;
    unsigned n_stages;
    int exit_code;
    int64_t wall_ns;
} outcome;

/* The table of services, for modules that are loaded before there is an engine. */
extern const mill_host engine_host;

/* Calls the class's own `check` with the stage's options; it must have one. The causes of a failure
 * are added to ret_causes. ret_lost: it brought the process of the stage down, or did not end. */
mill_status engine_check(const plan *whole, const plan_stage *p, causes *ret_causes,
                         bool *ret_lost);

/* Runs the plan. One at a time in a process, since it takes SIGINT and SIGTERM for itself. */
outcome *engine_run(const plan *p, const engine_options *options);
void outcome_destroy(outcome *o);

#endif
