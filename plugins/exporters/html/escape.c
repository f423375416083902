/* SPDX-License-Identifier: Apache-2.0 */
/* Text of a profile inside a page. */
#include "escape.h"

#include <stdbool.h>

static void entity(GString *page, gunichar c) {
    switch (c) {
    case '&':
        g_string_append(page, "&amp;");
        break;
    case '<':
        g_string_append(page, "&lt;");
        break;
    case '>':
        g_string_append(page, "&gt;");
        break;
    case '"':
        g_string_append(page, "&quot;");
        break;
    case '\'':
        g_string_append(page, "&#39;");
        break;
    default:
        g_string_append_unichar(page, c);
    }
}

/* It can't be seen, or it reorders what stands around it. */
static bool is_hidden(gunichar c) {
    GUnicodeType type = g_unichar_type(c);
    return type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT ||
           type == G_UNICODE_LINE_SEPARATOR || type == G_UNICODE_PARAGRAPH_SEPARATOR;
}

void escape_text(GString *page, const char *text) {
    for (const char *c = text ? text : ""; *c != '\0'; c = g_utf8_next_char(c)) {
        gunichar u = g_utf8_get_char(c);
        if (is_hidden(u) && u != '\n')
            g_string_append_printf(page, u < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)u);
        else
            entity(page, u);
    }
}

void escape_json(GString *page, const char *text) {
    g_string_append_c(page, '"');
    for (const char *c = text ? text : ""; *c != '\0'; c = g_utf8_next_char(c)) {
        gunichar u = g_utf8_get_char(c);
        if (u < 0x20 || u == 0x7f || u == '<' || u == '>' || u == '&' || u == '\'' || u == 0x2028 ||
            u == 0x2029)
            g_string_append_printf(page, "\\u%04x", (unsigned)u);
        else if (u == '"' || u == '\\')
            g_string_append_printf(page, "\\%c", (int)u);
        else
            g_string_append_unichar(page, u);
    }
    g_string_append_c(page, '"');
}
