/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of text cut into fields. */
#include "csv.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>

#define LONGEST_NUMBER 63
#define MARK "\xef\xbb\xbf" /* U+FEFF, which some writers put first */

void csv_init(csv *c, const char *text, size_t length) {
    *c = (csv){.at = text, .end = text + length};
    if (length >= 3 && memcmp(text, MARK, 3) == 0)
        c->at += 3;
}

void csv_finish(csv *c) {
    free(c->fields);
}

static bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static csv_field trimmed(const char *from, const char *to) {
    while (from < to && blank(*from))
        from++;
    while (to > from && blank(to[-1]))
        to--;
    if (to - from >= 2 && *from == '"' && to[-1] == '"')
        return trimmed(from + 1, to - 1);
    return (csv_field){from, (size_t)(to - from)};
}

static void add(csv *c, csv_field field) {
    if (c->n == c->room) {
        c->room = c->room ? 2 * c->room : 64;
        c->fields = kit_realloc(c->fields, c->room, sizeof *c->fields);
    }
    c->fields[c->n++] = field;
}

static char find_separator(csv_field line) {
    static const char tried[] = ";,\t";
    for (const char *s = tried; *s; s++)
        if (memchr(line.text, *s, line.length))
            return *s;
    return ' ';
}

static void cut(csv *c, const char *at, const char *end) {
    bool blanks = c->separator == ' ';
    for (c->n = 0;; at++) {
        while (blanks && at < end && blank(*at))
            at++;
        const char *begin = at;
        while (at < end && (blanks ? !blank(*at) : *at != c->separator))
            at++;
        if (!blanks || at > begin)
            add(c, trimmed(begin, at));
        if (at == end)
            return;
    }
}

/* Does the comment on the first line name columns? */
static bool names_columns(csv_field line) {
    static const char *const words[] = {"layer", "expert"};
    for (size_t i = 0; i < 2; i++)
        if (!memmem(line.text, line.length, words[i], strlen(words[i])))
            return false;
    return true;
}

bool csv_next(csv *c) {
    while (c->at < c->end) {
        const char *newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
        csv_field line = {c->at, (size_t)((newline ? newline : c->end) - c->at)};
        csv_field text = trimmed(line.text, line.text + line.length);
        c->at = newline ? newline + 1 : c->end;
        c->line++;
        if (text.length > 0 && *text.text == '#' && c->separator == '\0' && names_columns(text))
            line = text = (csv_field){text.text + 1, text.length - 1};
        if (text.length == 0 || *text.text == '#')
            continue;
        if (c->separator == '\0')
            c->separator = find_separator(line);
        cut(c, line.text, line.text + line.length);
        return true;
    }
    return false;
}

bool csv_number(csv_field field, double *ret) {
    char text[LONGEST_NUMBER + 1], *end;
    if (field.length == 0 || field.length > LONGEST_NUMBER)
        return false;
    memcpy(text, field.text, field.length);
    text[field.length] = '\0';
    *ret = strtod(text, &end);
    return end == text + field.length && !memchr(text, 'x', field.length) && end > text;
}
