/* SPDX-License-Identifier: Apache-2.0 */
/* Text for a terminal: cleaned of what could steer it, broken into lines, shortened, padded.
 *
 * All widths count code points. "Clean" text is what text_clean gives: valid UTF-8 in which every
 * code point is one visible place.
 */
#ifndef TEXT_PAGE_H
#define TEXT_PAGE_H

#include <glib.h>

/* A clean copy: control and format characters (ESC, line ends, bidirectional overrides) become
 * visible escapes such as \x1b, bytes that are no UTF-8 become U+FFFD. NULL gives NULL. */
char *text_clean(const char *text);

size_t text_width(const char *clean);

/* A copy of at most `width` (at least 1) places, with … in the middle where something is left out:
 * the ends of names tell more than their middle. */
char *text_shorten(const char *clean, size_t width);

/* The lines of a paragraph, each at most `width` (at least 1) wide, broken at blanks. Words wider
 * than a line are broken anywhere. Numbers stay together with their groups and their unit. */
GPtrArray *text_lines(const char *clean, size_t width);

/* The width of the widest part of a paragraph that text_lines keeps together. */
size_t text_longest_word(const char *clean);

/* Appends a paragraph: its first line begins with `lead`, the others with as many blanks. */
void text_paragraph(GString *out, const char *lead, const char *clean, size_t width);

/* Appends `n` times the character. */
void text_repeat(GString *out, const char *character, size_t n);

/* Appends a line end, after taking the blanks at the end of the line away. */
void text_end_line(GString *out);

#endif
