/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that take a pipeline have in common: options, check, telling what is wrong. */
#ifndef HOST_CLI_PIPELINE_H
#define HOST_CLI_PIPELINE_H

#include "check/plan.h"
#include "cli/command.h"
#include "module/place.h"

typedef struct pipeline {
    command common;
    char **sets;
    char *colour;
    gboolean isolate;
    bool coloured; /* stderr */
    place *where;
    modules *modules;
    problems *problems;
    plan *plan; /* NULL: not good */
} pipeline;

/* Parses the command line (argv[0] is the command, then the pipeline and its files) and makes the
 * plan. False: the command is to end with *ret_exit. Problems are not told yet. Finish it in any
 * case. */
bool pipeline_open(pipeline *p, const GOptionEntry *more, const char *summary, int argc,
                   char **argv, int *ret_exit);
void pipeline_finish(pipeline *p);

/* Writes the problems to stderr. */
void pipeline_tell(pipeline *p);

/* {"schema": …, "pipeline": …, "exit": …, "problems": […]}, for a command to add its own to. */
cJSON *pipeline_json(pipeline *p, const char *schema, int exit_code);

#endif
