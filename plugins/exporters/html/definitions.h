/* SPDX-License-Identifier: Apache-2.0 */
/* What the words of a page mean, each told once. */
#ifndef HTML_DEFINITIONS_H
#define HTML_DEFINITIONS_H

#include <glib.h>
#include <tracemill/report.h>

typedef struct definitions definitions;

definitions *definitions_create(void);
void definitions_destroy(definitions *d);

/* What a report says of its figures and columns; nothing of it is kept but copies. */
void definitions_add(definitions *d, const mill_report *report);

/* A list for each analysis. False, and nothing written, if there is none. */
bool definitions_append(const definitions *d, GString *page);

#endif
