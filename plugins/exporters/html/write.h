/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of a page write: text, values with their units, ids of elements, coordinates. */
#ifndef HTML_WRITE_H
#define HTML_WRITE_H

#include <glib.h>
#include <stdbool.h>
#include <tracemill/report.h>

/* Of something that has a label for people and an id. */
const char *html_label(const char *label, const char *id);

/* Text that need not be valid UTF-8, escaped; NULL is nothing. */
void html_text(GString *page, const char *text);
/* The same for sentences: no line ends inside a number or between it and its unit. */
void html_prose(GString *page, const char *text);
/* At most `most` characters, shortened in the middle; a tooltip has more of it. */
void html_short(GString *page, const char *text, size_t most);
/* ` name="…"`, the value escaped and cut; nothing where it is NULL or empty. */
void html_attribute(GString *page, const char *name, const char *value);

/* A value without its unit, "unknown" where it is; text is shortened. */
void html_value(GString *page, mill_kind kind, mill_datum value);
/* The same with its unit behind it. unit: of a REAL. */
void html_quantity(GString *page, mill_kind kind, mill_datum value, const char *unit);
/* ns as µs with the unit. */
void html_time(GString *page, int64_t ns);
/* A double as people read it: six digits at most. */
void html_number(GString *page, double value);
/* For SVG and CSS: one decimal, in any locale. */
void html_coordinate(GString *page, double value);
/* 0…1 as "12.34%" for CSS, clamped. */
void html_percent(GString *page, double share);

/* The letters of a text that may stand in an element's id; others become '-'. */
char *html_id(const char *text);

/* The last part of a path, or all of it where there is none. */
const char *html_file_name(const char *path);

#endif
