/* SPDX-License-Identifier: Apache-2.0 */
/* Text for manual pages: escapes, paragraphs, tags and blocks. */
#include "cli/roff.h"

#include <string.h>

enum { WIDTH = 78 };

void roff_escape(GString *page, const char *text, bool literal) {
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);
        if (c == '\\')
            g_string_append(page, "\\e");
        else if (c == '-' && literal)
            g_string_append(page, "\\-");
        else if (c == '\'')
            g_string_append(page, "\\(aq");
        else if (c == '^' || c == '`' || c == '~')
            g_string_append(page, c == '^' ? "\\(ha" : c == '`' ? "\\(ga" : "\\(ti");
        else if (c >= 0x80 && !g_unichar_iscntrl(c))
            g_string_append_printf(page, "\\[u%04X]", c);
        else
            g_string_append_c(page, c < ' ' || c == 0x7f || c >= 0x80 ? ' ' : (char)c);
    }
}

/* A word that begins a line must not be taken for a request. */
static void append_word(GString *page, const char *word, gsize *line_begin) {
    bool first = page->len == *line_begin;
    if (!first && page->len - *line_begin + 1 + strlen(word) > WIDTH) {
        g_string_append_c(page, '\n');
        *line_begin = page->len;
        first = true;
    }
    if (!first)
        g_string_append_c(page, ' ');
    else if (*word == '.')
        g_string_append(page, "\\&");
    roff_escape(page, word, g_str_has_prefix(word, "--"));
}

void roff_prose(GString *page, const char *text, bool inside) {
    bool first = true;
    g_auto(GStrv) paragraphs = g_strsplit(text, "\n\n", -1);
    for (char **p = paragraphs; *p != NULL; p++) {
        g_auto(GStrv) words = g_strsplit_set(*p, " \t\n", -1);
        gsize line_begin = page->len;
        for (char **word = words; *word != NULL; word++) {
            if (**word == '\0')
                continue;
            if (page->len == line_begin && !first) {
                g_string_append(page, inside ? ".IP\n" : ".PP\n");
                line_begin = page->len;
            }
            append_word(page, *word, &line_begin);
        }
        if (page->len == line_begin)
            continue;
        g_string_append_c(page, '\n');
        first = false;
    }
}

void roff_tag(GString *page, const char *tag, const char *words) {
    g_string_append(page, ".TP\n\\fB");
    roff_escape(page, tag, true);
    g_string_append(page, "\\fR");
    if (words != NULL && *words != '\0') {
        g_string_append(page, "  ");
        roff_escape(page, words, false);
    }
    g_string_append_c(page, '\n');
}

void roff_block(GString *page, const char *text) {
    g_string_append(page, ".nf\n.ft CW\n");
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        if (**line == '\0') {
            if (line[1] != NULL)
                g_string_append(page, "\\&\n");
            continue;
        }
        if (**line == '.')
            g_string_append(page, "\\&");
        roff_escape(page, *line, true);
        g_string_append_c(page, '\n');
    }
    g_string_append(page, ".ft R\n.fi\n");
}
