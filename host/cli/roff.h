/* SPDX-License-Identifier: Apache-2.0 */
/* Text for manual pages: roff with the macros of man(7), in ASCII. */
#ifndef HOST_CLI_ROFF_H
#define HOST_CLI_ROFF_H

#include <glib.h>
#include <stdbool.h>

/* `text` so that roff prints it as it is: for what a user would type with `literal`, where '-' is
 * the sign on the keyboard and no line breaks at it. Control characters become blanks. */
void roff_escape(GString *page, const char *text, bool literal);

/* Lines of words; an empty line begins a paragraph (macro .PP, or .IP below a tag with `inside`).
 */
void roff_prose(GString *page, const char *text, bool inside);

/* ".TP" and the tag in bold, then the words in roman. */
void roff_tag(GString *page, const char *tag, const char *words);

/* Lines as they are, in a fixed font. */
void roff_block(GString *page, const char *text);

#endif
