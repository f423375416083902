/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: a checked pipeline, ready to run. `check` makes one and stops; `run` makes one and goes
 * on, so what the first passes the second accepts. */
#ifndef HOST_CHECK_PLAN_H
#define HOST_CHECK_PLAN_H

#include "config/document.h"
#include "config/globs.h"
#include "config/problems.h"
#include "config/values.h"
#include "module/modules.h"

typedef struct plan_stage plan_stage;

/* One end of a connection: an output of a stage. */
typedef struct plan_source {
    plan_stage *stage;
    unsigned output; /* index in the class's outputs */
} plan_source;

typedef struct plan_input {
    GArray *sources; /* of plan_source, in the order of the INI file; empty: not connected */
} plan_input;

struct plan_stage {
    unsigned index; /* in the order of sections */
    const char *name;
    origin at;
    const stage_class *cls;

    void *opts;           /* the options struct; GLOB and ITEM fields hold the text as written */
    GPtrArray *memory;    /* what the fields of opts point into */
    bool *given;          /* for each option: set by the user */
    int glob;             /* index of the GLOB option, or -1 */
    GPtrArray *files;     /* of globs_file *, if glob >= 0, in the natural order of keys */
    int64_t timeout_ns;   /* of one callback; 0: none */
    bool isolate;         /* its instances live in processes of their own, */
    int64_t memory_bytes; /* and may have so much memory each; 0: any amount */
    bool optional;        /* what it can't do with an item's content is no failure of the run */

    plan_input *inputs; /* for each input port */
    bool stream;        /* has a STREAM port */
    bool keyed;         /* runs once per key */
    bool dynamic;       /* what flows out has sub-keys that are known only at run time */
    GPtrArray *keys;    /* of char *: the keys known before anything is read; {""} if not keyed */
    unsigned depth;     /* stages between it and the readers, at most */
};

typedef struct plan {
    char *name, *path;
    document *doc;
    vars *vars; /* what its settings may refer to */
    modules *modules;
    GPtrArray *stages;   /* of plan_stage *, in the order of sections */
    GHashTable *unknown; /* names of sections whose class was not found, told already */
    GPtrArray *ordered;  /* the same, every stage after those it takes from */
    bool stop_on_error;
} plan;

typedef struct plan_request {
    const char *pipeline;    /* a file, or a bare name of a ready one */
    const char *const *args; /* the files after it: ${args}; NULL-terminated */
    const char *const *sets; /* "stage.key=value"; NULL-terminated */
    const char *data_dir;    /* ${tracemill:data} */
    bool isolate;            /* run.isolate = yes in all stages that do not say otherwise */
} plan_request;

/* Reads and checks the pipeline. NULL if there are errors; all of them are in `told`. Owner:
 * the caller. The modules and what the request points to must outlive the plan. */
plan *plan_create(const plan_request *request, modules *all, problems *told);
void plan_destroy(plan *p); /* NULL: nothing */

/* The file that a pipeline's name on the command line means. NULL: there is none, told. */
char *plan_find(const plan_request *request, problems *told);
/* The names of the ready pipelines, in order; NULL-terminated, g_strfreev. */
char **plan_ready(const char *data_dir);

/* The host's own settings of every stage ("run.timeout"), and those of [pipeline] but `include`:
 * for those who describe them. */
const mill_option *plan_run_options(size_t *ret_n);
const mill_option *plan_pipeline_options(size_t *ret_n);

#endif
