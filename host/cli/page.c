/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people: wrapping and cells. */
#include "cli/page.h"

#include <stdbool.h>
#include <string.h>

#include "config/visible.h"

static bool is_blank(char c) {
    return (unsigned char)c <= ' ' || c == 0x7f;
}

static void blanks(GString *page, unsigned n) {
    g_string_append_printf(page, "%*s", (int)n, "");
}

void page_wrap(GString *page, const char *text, unsigned column, unsigned indent) {
    bool first = true; /* no word on this line yet */
    while (*text) {
        unsigned breaks = 0, length = 0;
        for (; *text && is_blank(*text); text++)
            breaks += *text == '\n';
        while (text[length] && !is_blank(text[length]))
            length++;
        if (length == 0)
            break;
        g_autofree char *raw = g_strndup(text, length), *word = visible(raw);
        unsigned width = (unsigned)g_utf8_strlen(word, -1);
        bool paragraph = breaks > 1 && !first;
        if (paragraph || (column + 1 + width > PAGE_WIDTH && column > indent)) {
            g_string_append(page, paragraph ? "\n\n" : "\n");
            column = 0;
            first = true;
        }
        if (column < indent) {
            blanks(page, indent - column);
            column = indent;
        }
        if (!first) {
            g_string_append_c(page, ' ');
            column++;
        }
        g_string_append(page, word);
        column += width;
        first = false;
        text += length;
    }
    while (g_str_has_suffix(page->str, " ")) /* a last cell without words */
        g_string_truncate(page, page->len - 1);
    g_string_append_c(page, '\n');
}

void page_cell(GString *page, const char *text, unsigned width) {
    g_autofree char *shown = visible(text);
    unsigned used = (unsigned)g_utf8_strlen(shown, -1);
    g_string_append(page, shown);
    blanks(page, used < width ? width - used : 1);
}
