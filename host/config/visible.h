/* SPDX-License-Identifier: Apache-2.0 */
/* Text that others wrote (names of files, words of the command line, what a plugin says) on its way
 * to a terminal. */
#ifndef TRACEMILL_CONFIG_VISIBLE_H
#define TRACEMILL_CONFIG_VISIBLE_H

#include <glib.h>

/* Appends the character, or an escape such as \x1b or \u202e if a terminal could take it for
 * anything but one visible place. */
void visible_append(GString *out, gunichar c);

/* `text` as valid UTF-8, such characters escaped; lines stay lines. The caller frees it. */
char *visible(const char *text);

#endif
