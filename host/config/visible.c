/* SPDX-License-Identifier: Apache-2.0 */
/* Text that others wrote, made fit for a terminal: it can neither steer it nor reorder what stands
 * around it. */
#include "config/visible.h"

void visible_append(GString *out, gunichar c) {
    switch (g_unichar_type(c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT: /* reordering marks among them */
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
        g_string_append_printf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)c);
        break;
    default:
        g_string_append_unichar(out, c);
    }
}

char *visible(const char *text) {
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *out = g_string_new(NULL);
    for (const char *c = valid; *c != '\0'; c = g_utf8_next_char(c))
        if (*c == '\n')
            g_string_append_c(out, '\n');
        else
            visible_append(out, g_utf8_get_char(c));
    return g_string_free(out, FALSE);
}
