/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people: lines of at most 80 characters. */
#ifndef HOST_CLI_PAGE_H
#define HOST_CLI_PAGE_H

#include <glib.h>

#define PAGE_WIDTH 80

/* Appends the words of `text` to `page` and ends the line. `column` characters stand on the line
 * already; further lines begin with `indent` blanks. An empty line in `text` begins a paragraph.
 * Control characters count as blanks, so that a plugin's text can't steer the terminal. */
void page_wrap(GString *page, const char *text, unsigned column, unsigned indent);

/* Appends `text` and blanks up to `width` characters, at least one. */
void page_cell(GString *page, const char *text, unsigned width);

#endif
