/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a GLOB option names, each with the key of its run. */
#ifndef TRACEMILL_CONFIG_GLOBS_H
#define TRACEMILL_CONFIG_GLOBS_H

#include "config/vars.h"

typedef struct globs_file {
    char *path;
    char *key; /* what the wildcards matched (joined by '-'), else the base name; "stdin" for "-" */
} globs_file;

/* The files of the patterns in `s` (* ? [..] within a folder; relative to the working directory),
 * in the natural order of keys: an array of globs_file *, or NULL if something is wrong, which is
 * then told in `p` (PROBLEM_NOINPUT where a file is missing). With missing_ok, what matches no file
 * is left out without an error. A file that several patterns match comes once. */
GPtrArray *globs_expand(const setting *s, vars *v, bool missing_ok, problems *p);

#endif
