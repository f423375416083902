/* SPDX-License-Identifier: Apache-2.0 */
/* Text of a profile inside a page: it can end no tag, attribute or script, and is shown as it is.
 */
#ifndef HTML_ESCAPE_H
#define HTML_ESCAPE_H

#include <glib.h>

/* For the content of an element, and for an attribute's value in double quotes. NULL is the empty
 * text; in both, what can't be seen is shown escaped, and what is no UTF-8 as U+FFFD. */
void escape_text(GString *page, const char *text);

/* A string of JSON with its quotes, which may stand inside <script>: <, > and & are written as \u.
 */
void escape_json(GString *page, const char *text);

/* So many characters of a text at most, with an ellipsis for the others; valid UTF-8. */
char *escape_cut(const char *text, glong most);

#endif
