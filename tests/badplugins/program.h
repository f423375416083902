/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program on a folder of modules that a test makes and removes. */
#ifndef TRACEMILL_TESTS_PROGRAM_H
#define TRACEMILL_TESTS_PROGRAM_H

#include <glib.h>
#include <stdbool.h>

/* A new folder that only its owner may write to; end it once its files are removed. */
void program_begin(void);
void program_end(void);

/* The path of a file in the folder, freed by the caller. */
char *program_path(const char *name);
void program_write(const char *name, const char *data, gsize size);
/* A file of the build's folder tests/. */
void program_read_built(const char *name, char **ret_data, gsize *ret_size);
void program_copy_built(const char *from, const char *to);
void program_remove(const char *name); /* if it is there */

/* How a run ended. In the texts the folder is written FOLDER. */
typedef struct result {
    int exit_code;
    char *out, *err;
} result;

void result_finish(result *r);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(result, result_finish)

/* Runs `tracemill COMMAND --plugin-path FOLDER ARGUMENT…` to its end. Arguments end with NULL. */
result program_run(const char *command, ...) G_GNUC_NULL_TERMINATED;

/* Fails the test if `part` is not in `text`. */
void program_says(const char *text, const char *part);

#endif
