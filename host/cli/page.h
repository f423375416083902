/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people: lines of at most 80 characters, in which nothing can steer the terminal,
 * whatever a plugin says and a file is called. */
#ifndef HOST_CLI_PAGE_H
#define HOST_CLI_PAGE_H

#include <glib.h>

#define PAGE_WIDTH 80

/* Appends the words of `text` to `page` and ends the line. `column` characters stand on the line
 * already; further lines begin with `indent` blanks. An empty line in `text` begins a paragraph.
 * Control characters count as blanks. */
void page_wrap(GString *page, const char *text, unsigned column, unsigned indent);

/* Appends `text` and blanks up to `width` characters, at least one. */
void page_cell(GString *page, const char *text, unsigned width);

#endif
