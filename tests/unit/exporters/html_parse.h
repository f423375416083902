/* SPDX-License-Identifier: Apache-2.0 */
/* A page as a browser reads it, for the tests of html.write. */
#ifndef TRACEMILL_TESTS_HTML_PARSE_H
#define TRACEMILL_TESTS_HTML_PARSE_H

#include <glib.h>
#include <stdbool.h>

/* Reads a whole page. Ends the test where a tag isn't closed, an element is one that html.write
 * never makes, an attribute could run or fetch something, an id comes twice, a link within the page
 * leads nowhere, or the rows of a table have different numbers of cells. Returns the text that
 * is seen, elements apart by a line break, blanks as they are. */
GString *html_parse(const GString *page);

/* The content of the page's last <script> that runs, or NULL. */
char *html_script(const GString *page);

/* How often a text comes in another. */
unsigned html_count(const char *text, const char *part);

#endif
