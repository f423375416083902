/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON document written from its start to its end, so that only the newest part is in memory.
 *
 * Containers are opened and closed here; what they hold comes in small cJSON trees, each on a line
 * of its own where the document is indented. Errors of the sink are kept and end the writing;
 * json_writer_end tells the first one.
 */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include <cjson/cJSON.h>
#include <glib.h>
#include <tracemill/tracemill.h>

typedef struct json_writer {
    mill_sink *sink;
    GString *text; /* not yet in the sink */
    bool indent;
    unsigned depth; /* containers open */
    bool first;     /* nothing is in the innermost one yet */
    mill_status status;
} json_writer;

/* depth: containers open from an earlier part of the document; first: the innermost is empty. */
void json_writer_begin(json_writer *w, mill_sink *sink, bool indent, unsigned depth, bool first);
mill_status json_writer_end(json_writer *w);

/* Adds a member (key given) or an element (key NULL). Takes `value`. */
void json_put(json_writer *w, const char *key, cJSON *value);
void json_open(json_writer *w, const char *key, char bracket); /* '{' or '[' */
void json_close(json_writer *w, char bracket);                 /* '}' or ']' */
void json_end_line(json_writer *w);

/* Leaves of the trees. Text NULL, MILL_UNKNOWN, and what is not finite become null; text that is no
 * valid UTF-8 is mended. Whole numbers keep all 64 bits. */
cJSON *json_text(const char *text);
cJSON *json_int(int64_t value);
cJSON *json_real(double value);

#endif
