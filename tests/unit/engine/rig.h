/* SPDX-License-Identifier: Apache-2.0 */
/* Runs pipelines of the test modules, in this process or by the program, in a folder of the test's
 * own which is the working directory. */
#ifndef TESTS_ENGINE_RIG_H
#define TESTS_ENGINE_RIG_H

#include "engine/engine.h"

/* Call it first in main; ends the process where it is a child that loads modules for the host. */
void rig_init(int *argc, char ***argv);
int rig_finish(void);
/* A symbol that one of the modules ("flow") exports for tests. */
void *rig_symbol(const char *file, const char *name);

/* Empty files FIRST..LAST, named by `format` with one %d. */
void rig_files(const char *format, int first, int last);
void rig_file(const char *name, const char *content);
/* Removes all files of the folder. */
void rig_clean(void);
/* The content of a file, NULL if there is none. Owner: the caller. */
char *rig_read(const char *name);
/* The names of all files, sorted, each ended by a blank. Owner: the caller. */
char *rig_names(void);

/* How a run in this process ended. */
typedef struct rig_result {
    int exit_code;
    char *printed;  /* all that went to standard output */
    char *parts;    /* the same in its parts: "[STAGE] KEY: TEXT" */
    char *failures; /* one each: "[STAGE] KEY STATUS: CAUSES\n" */
    char *counts;   /* "STAGE done/failed/skipped " of each stage */
} rig_result;
void rig_result_finish(rig_result *r);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(rig_result, rig_result_finish)

/* Does every stage live in a process of its own? The same tests are run so a second time, with
 * TRACEMILL_TEST_ISOLATE set. */
bool rig_isolates(void);

/* False: `check` refuses the pipeline. */
bool rig_accepts(const char *ini);
/* The test fails if the pipeline is refused. */
rig_result rig_run(const char *ini, unsigned jobs);
/* With 1, 2, 3 and 8 jobs it must print just this, and end with this exit code. */
void rig_prints(const char *ini, int exit_code, const char *expected);
/* With 1 and 4 jobs: a failure of that status whose causes hold this text, and its exit code. */
void rig_fails(const char *ini, mill_status status, const char *part);

/* The program: `tracemill run`, in the folder. */
typedef struct rig_process {
    int exit_code; /* -1: ended by a signal */
    char *out, *err;
    int64_t wall_ns;
} rig_process;
void rig_process_finish(rig_process *p);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(rig_process, rig_process_finish)

/* `arguments` is what a shell takes, redirections too. signal_number is sent once the file
 * "started" is there, `times` times (0: never), 100 ms apart. */
rig_process rig_program(const char *ini, const char *arguments, int signal_number, int times);

#endif
