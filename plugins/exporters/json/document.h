/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as JSON: schema tracemill.reports/1, described in README.md. */
#ifndef JSON_DOCUMENT_H
#define JSON_DOCUMENT_H

#include "writer.h"

#include <tracemill/report.h>

#define JSON_SCHEMA "tracemill.reports/1"
#define JSON_DEPTH 2u /* containers open between two reports of a document */

/* Where a report comes from. */
typedef struct json_origin {
    const char *key, *stage, *type;
} json_origin;

/* Writes the object of one report. schema: begin it with the schema, for it stands alone. */
void json_report(json_writer *w, const mill_report *report, const json_origin *origin, bool schema);

#endif
