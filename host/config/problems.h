/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a pipeline: collected as it is found, then shown all at once in the order of
 * the files. Not for use by several threads at a time. */
#ifndef TRACEMILL_CONFIG_PROBLEMS_H
#define TRACEMILL_CONFIG_PROBLEMS_H

#include <cjson/cJSON.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include <tracemill/tracemill.h>

/* Where a text was written. `file` with line 0: the file as a whole. `file` NULL: `text` says
 * where, such as "--set overlap.top=3". */
typedef struct origin {
    const char *file;
    uint32_t line;
    const char *text;
} origin;

/* What a problem is about; decides the exit code. */
typedef enum problem_kind {
    PROBLEM_CONFIG,  /* 78 */
    PROBLEM_NOINPUT, /* 66, if every error is of this kind */
    PROBLEM_MODULE,  /* 69, if every error is of this kind */
    PROBLEM_PLUGIN,  /* 70, if any error is: a class's `check` died, */
    PROBLEM_TIMEOUT, /* or did not end: 75, likewise */
    PROBLEM_KINDS
} problem_kind;

/* One problem; `text` is one sentence, `hint` may be NULL. */
typedef struct problem {
    problem_kind kind;
    mill_level level; /* MILL_ERROR or MILL_WARNING */
    origin at;
    char *text, *hint;
} problem;

typedef struct problems problems;

problems *problems_create(void);
void problems_destroy(problems *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(problems, problems_destroy)

/* Notes that `file` is read now: problems are shown in the order of these calls. Optional: a file
 * that is first seen in a problem comes after those before it. */
void problems_note_file(problems *p, const char *file);

/* Adds a problem; all texts are copied. One that says the same of the same place is dropped. */
void problems_add(problems *p, problem_kind kind, mill_level level, origin at, const char *hint,
                  const char *format, ...) G_GNUC_PRINTF(6, 7);

/* The number of errors, warnings not counted. */
size_t problems_errors(const problems *p);

/* Problem i in the order of showing, NULL past the last. Valid until the next problems_add. */
const problem *problems_get(problems *p, size_t i);

/* 0 without errors, else as problem_kind says. */
int problems_exit_code(const problems *p);

/* "file:line: error: …" lines with "  hint: …" below; the 51st and later are only counted. "" if
 * there are none. The caller frees it. */
char *problems_format(problems *p, bool colour);

/* An array of {level, kind, file, line, origin, text, hint}, where `file` and `line`, or `origin`,
 * say where. The caller deletes it. */
cJSON *problems_to_json(problems *p);

/* "a.ini:3", "a.ini" or "--set overlap.top=3". The caller frees it. */
char *origin_format(origin at);

/* `text` in double quotes, control characters escaped, cut with "…" when long: fit for a message
 * whatever it holds. The caller frees it. */
char *problems_quote(const char *text);

#endif
