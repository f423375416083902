/* SPDX-License-Identifier: Apache-2.0 */
/* Text as GitHub-flavoured Markdown: see inline.h. */
#include "inline.h"

#include <string.h>

/* Whether it would steer an editor or a terminal, or can't be seen. */
static bool is_invisible(gunichar c) {
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

static char *visible(const char *text) {
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *clean = g_string_sized_new(strlen(valid) + 1);
    for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        if (!is_invisible(c))
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

/* "GH-7", or what may be the hash of a commit: GitHub makes links of both. */
static bool is_reference(const char *word) {
    const char *gh = strstr(word, "GH-");
    if (gh && g_ascii_isdigit(gh[3]))
        return true;
    for (const char *c = word; *c;) {
        size_t hex = strspn(c, "0123456789abcdef"), digits = strspn(c, "0123456789");
        bool alone = !g_ascii_isalnum(c[hex]) && (c == word || !g_ascii_isalnum(c[-1]));
        if (alone && hex >= 7 && hex <= 40 && digits < hex)
            return true;
        c += MAX(hex, 1);
    }
    return false;
}

/* GitHub Flavored Markdown 0.29, section 6; mentions (@), issues (#), emoji (:x:) and formulas ($)
 * are GitHub's own. A colon at the end of a word is that of a sentence. */
static bool is_special(const char *word) {
    const char *colon = strchr(word, ':');
    return strpbrk(word, "\\`*_[]<>&~|#@$") || (colon && colon[1]) || strstr(word, "www.") ||
           is_reference(word);
}

/* What begins a list, or is a rule, where it stands first in a line. */
static bool begins_block(const char *word) {
    size_t digits = strspn(word, "0123456789"), dashes = strspn(word, "-");
    bool number = digits > 0 && (word[digits] == '.' || word[digits] == ')') && !word[digits + 1];
    return number || strcmp(word, "+") == 0 || (dashes > 0 && !word[dashes]);
}

static size_t longest_run(const char *text, char c) {
    size_t longest = 0, run = 0;
    for (; *text; text++) {
        run = *text == c ? run + 1 : 0;
        longest = MAX(longest, run);
    }
    return longest;
}

/* The fence is longer than any run of backticks within; a blank keeps it off one at an end. */
static void append_code(GString *out, const char *text, bool cell) {
    size_t length = strlen(text);
    g_autofree char *fence = g_strnfill(longest_run(text, '`') + 1, '`');
    const char *gap = text[0] == '`' || text[length - 1] == '`' ? " " : "";
    g_string_append_printf(out, "%s%s", fence, gap);
    for (const char *p = text; *p; p++) {
        if (cell && *p == '|')
            g_string_append_c(out, '\\');
        g_string_append_c(out, *p);
    }
    g_string_append_printf(out, "%s%s", gap, fence);
}

/* Appends what was gathered of one kind of words. */
static void flush(GString *out, GString *words, bool code, bool cell) {
    if (words->len == 0)
        return;
    if (code)
        append_code(out, words->str, cell);
    else
        g_string_append(out, words->str);
    g_string_truncate(words, 0);
}

/* Special words that follow each other are one span. */
static void append_words(GString *out, const char *clean, bool cell, bool first) {
    g_auto(GStrv) words = g_strsplit(clean, " ", -1);
    g_autoptr(GString) same = g_string_new(NULL);
    bool code = false;
    for (char **word = words; *word; word++) {
        bool blank = same->len > 0;
        if (!**word)
            continue;
        if ((is_special(*word) || (first && begins_block(*word))) != code) {
            flush(out, same, code, cell);
            code = !code;
            g_string_append(out, blank ? " " : "");
        } else if (blank) {
            g_string_append_c(same, ' ');
        }
        g_string_append(same, *word);
        first = false;
    }
    flush(out, same, code, cell);
}

void markdown_text(GString *out, const char *text, bool cell) {
    if (!text)
        return;
    g_autofree char *clean = visible(text);
    append_words(out, clean, cell, false);
}

void markdown_line(GString *out, const char *text) {
    g_autofree char *clean = visible(text ? text : "");
    append_words(out, clean, false, true);
}

void markdown_cell(GString *out, const char *text, size_t most) {
    g_autofree char *clean = visible(text);
    size_t length = (size_t)g_utf8_strlen(clean, -1);
    if (length <= most) {
        append_words(out, clean, true, false);
        return;
    }
    size_t tail = (most - 1) / 2, head = most - 1 - tail;
    const char *head_end = g_utf8_offset_to_pointer(clean, (glong)head);
    const char *tail_start = g_utf8_offset_to_pointer(clean, (glong)(length - tail));
    g_autofree char *cut = g_strdup_printf("%.*s…%s", (int)(head_end - clean), clean, tail_start);
    append_words(out, cut, true, false);
}
