/* SPDX-License-Identifier: Apache-2.0 */
/* Text as GitHub-flavoured Markdown that shows it as it is.
 *
 * Words in which something could be markup, HTML, a link, a mention, a reference or an emoji become
 * code spans, in which nothing means anything, also not to what GitHub does after rendering. Names
 * of kernels and identifiers are such words; prose hardly has any.
 */
#ifndef MARKDOWN_INLINE_H
#define MARKDOWN_INLINE_H

#include <glib.h>
#include <stdbool.h>

/* Appends it on one line, so that it may not begin one. cell: in a table, where a pipe needs a
 * backslash. Control and format characters become visible escapes such as \x1b, what is no UTF-8
 * U+FFFD. NULL: nothing. */
void markdown_text(GString *out, const char *text, bool cell);
/* The same where it begins a line, or an item of a list. */
void markdown_line(GString *out, const char *text);

/* A cell of a table: at most `most` characters, shortened in the middle. */
void markdown_cell(GString *out, const char *text, size_t most);

#endif
