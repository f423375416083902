/* SPDX-License-Identifier: Apache-2.0 */
/* Reads INI text line by line in front of inih, and refuses or mends what inih alone would damage
 * in silence: long lines, ':' for '=', comments in quotes, broken headers, repeated keys. */
#ifndef TRACEMILL_CONFIG_LINES_H
#define TRACEMILL_CONFIG_LINES_H

#include "config/problems.h"

enum {
    LINES_MAX_FILE = 4 << 20, /* bytes */
    LINES_MAX_LINE = 8192,
    LINES_MAX_NAME = 49, /* of a section or key: inih cuts the rest */
};

/* A new section has `key` and `value` NULL. Lines of one value are joined by '\n'. `line` is that
 * of the key, or of the section's header. All text is borrowed until it returns; false ends the
 * reading. */
typedef bool (*lines_fn)(void *arg, const char *section, uint32_t section_line, const char *key,
                         const char *value, uint32_t line);

/* Reads a file, calling `fn` in its order. `from` is where the file is asked for: problems of
 * opening it (PROBLEM_NOINPUT) are put there; all others at `path` and line. Lines with a problem
 * are left out, the others still come. Returns true if the whole was read without an error. */
bool lines_read(const char *path, origin from, lines_fn fn, void *arg, problems *p);

/* The same for text in memory, of any bytes; `name` stands for the file in messages. */
bool lines_read_memory(const char *name, const char *data, size_t size, lines_fn fn, void *arg,
                       problems *p);

#endif
