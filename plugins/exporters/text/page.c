/* SPDX-License-Identifier: Apache-2.0 */
/* Text for a terminal: see page.h. */
#include "page.h"

#include <stdbool.h>
#include <string.h>

/* Whether a terminal could take the character for anything but one visible place. */
static bool steers(gunichar c) {
    switch (g_unichar_type(c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
        return true;
    default:
        return false;
    }
}

char *text_clean(const char *text) {
    if (!text)
        return NULL;
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *clean = g_string_sized_new(strlen(valid) + 1);
    for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        if (!steers(c))
            g_string_append_unichar(clean, c);
        else if (c == '\n')
            g_string_append(clean, "\\n");
        else if (c == '\t')
            g_string_append(clean, "\\t");
        else
            g_string_append_printf(clean, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
    }
    return g_string_free(clean, FALSE);
}

size_t text_width(const char *clean) {
    return (size_t)g_utf8_strlen(clean, -1);
}

char *text_shorten(const char *clean, size_t width) {
    size_t have = text_width(clean);
    if (have <= width)
        return g_strdup(clean);
    size_t tail = (width - 1) / 2, head = width - 1 - tail;
    const char *head_end = g_utf8_offset_to_pointer(clean, (glong)head);
    const char *tail_start = g_utf8_offset_to_pointer(clean, (glong)(have - tail));
    return g_strdup_printf("%.*s…%s", (int)(head_end - clean), clean, tail_start);
}

/* Whether a line may end at the blank `p`: not inside "4 190", and not before the unit of a number.
 */
static bool may_break(const char *text, const char *p) {
    if (p == text || !g_ascii_isdigit(p[-1]))
        return true;
    return !g_ascii_isdigit(p[1]) && p[1] != '%' && !g_str_has_prefix(p + 1, "µs");
}

/* The end of the word that begins at `p`; *ret_width is its width. */
static const char *word_end(const char *text, const char *p, size_t *ret_width) {
    size_t width = 0;
    for (; *p && !(*p == ' ' && may_break(text, p)); p = g_utf8_next_char(p))
        width++;
    *ret_width = width;
    return p;
}

size_t text_longest_word(const char *clean) {
    size_t longest = 0, width;
    for (const char *p = clean; *p; p += *p == ' ') {
        p = word_end(clean, p, &width);
        longest = MAX(longest, width);
    }
    return longest;
}

GPtrArray *text_lines(const char *clean, size_t width) {
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GString) line = g_string_new(NULL);
    size_t used = 0;
    for (const char *p = clean; *p;) {
        size_t word;
        const char *end = word_end(clean, p, &word);
        if (used && used + 1 + word > width) {
            g_ptr_array_add(lines, g_strdup(line->str));
            g_string_truncate(line, 0);
            used = 0;
        }
        for (; word > width; word -= width) {
            const char *cut = g_utf8_offset_to_pointer(p, (glong)width);
            g_ptr_array_add(lines, g_strndup(p, (gsize)(cut - p)));
            p = cut;
        }
        if (used && word) {
            g_string_append_c(line, ' ');
            used++;
        }
        g_string_append_len(line, p, end - p);
        used += word;
        p = end + (*end == ' ');
    }
    if (used)
        g_ptr_array_add(lines, g_strdup(line->str));
    return lines;
}

void text_paragraph(GString *out, const char *lead, const char *clean, size_t width) {
    size_t indent = text_width(lead);
    g_autoptr(GPtrArray) lines = text_lines(clean, MAX(width, indent + 1) - indent);
    for (guint i = 0; i < lines->len; i++) {
        if (i == 0)
            g_string_append(out, lead);
        else
            text_repeat(out, " ", indent);
        g_string_append(out, lines->pdata[i]);
        g_string_append_c(out, '\n');
    }
}

void text_repeat(GString *out, const char *character, size_t n) {
    while (n--)
        g_string_append(out, character);
}

void text_end_line(GString *out) {
    size_t length = out->len;
    while (length > 0 && out->str[length - 1] == ' ')
        length--;
    g_string_truncate(out, length);
    g_string_append_c(out, '\n');
}
