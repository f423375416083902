/* SPDX-License-Identifier: Apache-2.0 */
/* What exporters share: the option `overwrite`, telling what is missing, and text on its way to a
 * sink in pieces, so that a file of any length needs little memory. */
#ifndef TRACEMILL_KIT_EXPORT_H
#define TRACEMILL_KIT_EXPORT_H

#include <tracemill/tracemill.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The option; `field` is a bool of the options struct. */
#define KIT_EXPORT_OPTIONS(owner, field)                                                           \
    {                                                                                              \
        .name = "overwrite", .type = MILL_OPT_BOOL, .offset = MILL_OPT_OFF(owner, field, BOOL),    \
        .def = "yes", .help = "Replace a file that is there already; no: refuse to, and fail."     \
    }

/* sink_open, which refuses a file that is there already unless `overwrite`. A file that this stage
 * has begun to write goes on. Errors (recorded): E_IO, and those of sink_open. */
mill_status kit_export_open(mill_run *run, const char *path, bool overwrite, mill_sink **ret_sink);

/* Warns, in one line, of values that do not come on a STREAM port: the host tells each failure
 * itself. what: "report". In `finish`, where all are known. */
void kit_export_tell_missing(mill_run *run, uint32_t port, const char *what);

/* Goes through the values that do not come on a STREAM port and are missed in a file of one key:
 * its own, those of items that it is part of or that are part of it, and those without a key. key
 * NULL: the file takes all keys. `i` begins with 0; false: there are no more. In `finish`. */
bool kit_export_next_missing(mill_run *run, uint32_t port, const char *key, size_t *i,
                             const char **ret_stage, const char **ret_key);

/* Text for one path, in one callback. */
typedef struct kit_export {
    mill_run *run;
    mill_sink *sink;
    char *text; /* not yet in the sink; scratch memory */
    size_t n;
    mill_status status; /* the first failure, after which nothing is written */
} kit_export;

/* MILL_OK, or why the path can't be opened; then there is nothing to finish. */
mill_status kit_export_init(kit_export *out, mill_run *run, const char *path, bool overwrite);
/* Writes the rest. Returns the first failure, or MILL_E_CANCELLED. */
mill_status kit_export_finish(kit_export *out);

void kit_export_char(kit_export *out, char c);
void kit_export_bytes(kit_export *out, const char *text, size_t length);
void kit_export_text(kit_export *out, const char *text);
/* A cell of CSV, in quotes where it has to be (RFC 4180, section 2): where it holds a comma, a
 * quote or a line end. So it is with a blank at either end, which some readers drop, and with empty
 * text, which is not unknown. */
void kit_export_cell(kit_export *out, const char *text);
/* All digits; not for MILL_UNKNOWN. */
void kit_export_int(kit_export *out, int64_t value);
/* The shortest decimal text that reads back as the same number; finite. */
void kit_export_real(kit_export *out, double value);

#ifdef __cplusplus
}
#endif
#endif
