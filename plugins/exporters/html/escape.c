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

static void append_hidden(GString *page, gunichar c) {
    g_string_append_printf(page, c < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)c);
}

static void append_text(GString *page, gunichar c) {
    if (is_hidden(c) && c != '\n')
        append_hidden(page, c);
    else
        entity(page, c);
}

static void append_json(GString *page, gunichar c) {
    if (c == '\n' || c == '<' || c == '>' || c == '&' || c == '\'')
        g_string_append_printf(page, "\\u%04x", (unsigned)c);
    else if (c == '"' || c == '\\')
        g_string_append_printf(page, "\\%c", (int)c);
    else if (is_hidden(c)) {
        g_string_append_c(page, '\\'); /* of what stands for it, which begins with another */
        append_hidden(page, c);
    } else
        g_string_append_unichar(page, c);
}

/* What is no UTF-8 could lead beyond the end of the text. */
static void each(GString *page, const char *text, void (*append)(GString *page, gunichar c)) {
    const char *c = text ? text : "";
    g_autofree char *mended = g_utf8_validate(c, -1, NULL) ? NULL : g_utf8_make_valid(c, -1);
    for (c = mended ? mended : c; *c != '\0'; c = g_utf8_next_char(c))
        append(page, g_utf8_get_char(c));
}

void escape_text(GString *page, const char *text) {
    each(page, text, append_text);
}

void escape_json(GString *page, const char *text) {
    g_string_append_c(page, '"');
    each(page, text, append_json);
    g_string_append_c(page, '"');
}

char *escape_cut(const char *text, glong most) {
    char *valid = g_utf8_make_valid(text ? text : "", -1);
    if (g_utf8_strlen(valid, -1) <= most)
        return valid;
    *g_utf8_offset_to_pointer(valid, most) = '\0';
    char *cut = g_strconcat(valid, "…", NULL);
    g_free(valid);
    return cut;
}
