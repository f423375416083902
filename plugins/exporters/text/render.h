/* SPDX-License-Identifier: Apache-2.0 */
/* A report as a page of text. */
#ifndef TEXT_RENDER_H
#define TEXT_RENDER_H

#include <glib.h>
#include <stdbool.h>
#include <tracemill/report.h>

/* Appends the page. key: of the item, told where the report has no subject. */
void text_render(GString *out, const mill_report *report, const char *key, size_t width,
                 bool definitions);

#endif
