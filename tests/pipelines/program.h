/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program under test, and gives what it said in a form that is the same on every machine.
 */
#ifndef PIPELINES_PROGRAM_H
#define PIPELINES_PROGRAM_H

#include <glib.h>
#include <stdbool.h>

typedef struct outcome {
    int exit_code;
    char *out, *err;
} outcome;

void outcome_finish(outcome *o);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(outcome, outcome_finish)

/* A path in the source tree, and in the build tree. The caller frees it. */
char *program_source(const char *path);
char *program_build(const char *path);

/* The environment that the program is to have: in C.UTF-8, without settings of the user's, with the
 * program's folder in PATH. The caller frees it (g_strfreev). */
char **program_environment(void);

/* Runs argv in `folder`. What comes back is the same on every machine: the folders of sources and
 * build are SOURCE and BUILD, times and sizes of memory N. It must end by itself, not by a signal.
 */
outcome program_spawn(const char *folder, char **env, char **argv);

/* The same for the words of a command line: with NAME=VALUE before it, and "tracemill" standing for
 * the program, which is told where the modules of plugins/ are. `extra` goes between the command
 * and its arguments (NULL: nothing). */
outcome program_run(const char *folder, const char *const *words, const char *const *extra);

/* Fails unless `text` is what the file holds, byte for byte. With TRACEMILL_GOLDEN=update in the
 * environment it writes the file instead. */
void golden_check(const char *path, const char *text);

/* The names in the folder that end so, in order. The caller frees it (g_strfreev). */
char **names_in(const char *folder, const char *suffix);

#endif
