/* SPDX-License-Identifier: Apache-2.0 */
/* Text of a profile inside a page: it can end no tag, attribute or script, and is shown as it is.
 */
#ifndef HTML_ESCAPE_H
#define HTML_ESCAPE_H

#include <glib.h>

/* For the content of an element, and for an attribute's value in double quotes. Control characters
 * are shown escaped. NULL is the empty text. */
void escape_text(GString *page, const char *text);

/* A string of JSON with its quotes, which may stand inside <script>: <, >, & and the line
 * separators of JavaScript are written as \u. */
void escape_json(GString *page, const char *text);

#endif
