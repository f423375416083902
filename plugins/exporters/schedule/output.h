/* SPDX-License-Identifier: Apache-2.0 */
/* Text on its way to a file, in pieces, so that a schedule of millions of operations needs no more
 * memory than itself. */
#ifndef SCHEDULE_OUTPUT_H
#define SCHEDULE_OUTPUT_H

#include <glib.h>
#include <tracemill/tracemill.h>

typedef struct output {
    mill_run *run;
    mill_sink *sink;
    GString *text;      /* not yet in the sink */
    mill_status status; /* the first failure, after which nothing is written */
} output;

/* MILL_OK, or why the path can't be opened; then there is nothing to finish. */
mill_status output_init(output *out, mill_run *run, const char *path);
/* Writes the rest. Returns the first failure, or MILL_E_CANCELLED. */
mill_status output_finish(output *out);

void output_char(output *out, char c);
void output_text(output *out, const char *text);
void output_number(output *out, int64_t number);

#endif
