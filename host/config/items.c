/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting of a value into items. */
#include "config/items.h"

#include <string.h>

value_item *items_new(char *text, bool quoted, bool literal) {
    value_item *it = g_new(value_item, 1);
    *it = (value_item){.text = text, .quoted = quoted, .literal = literal};
    return it;
}

static void free_item(gpointer data) {
    value_item *it = data;
    g_free(it->text);
    g_free(it);
}

GPtrArray *items_array(void) {
    return g_ptr_array_new_with_free_func(free_item);
}

static void skip_blanks(const char **at) {
    *at += strspn(*at, " \t");
}

/* Reads a quoted text; *at is at its opening quote, then after the closing one. Returns NULL if
 * that is not on the same line. */
static char *take_quoted(const char **at) {
    g_autoptr(GString) out = g_string_new(NULL);
    for (const char *c = *at + 1; *c && *c != '\n'; c++) {
        if (*c == '"' && c[1] != '"') {
            *at = c + 1;
            return g_string_free(g_steal_pointer(&out), false);
        }
        if (*c == '"')
            c++;
        g_string_append_c(out, *c);
    }
    return NULL;
}

/* The bytes up to a separator that is not within ${…}, where a default may hold commas. */
static size_t plain_length(const char *text, const char *separators) {
    const char *c = text;
    for (unsigned open = 0; *c && *c != '\n'; c++) {
        if (c[0] == '$' && c[1] == '$')
            c++;
        else if (c[0] == '$' && c[1] == '{')
            open++;
        else if (*c == '}' && open > 0)
            open--;
        else if (open == 0 && strchr(separators, *c))
            break;
    }
    return (size_t)(c - text);
}

/* Reads one item, after which *at is at a separator or the end. Returns what is wrong, or NULL. */
static const char *take_item(const char **at, const char *separators, value_item **ret) {
    skip_blanks(at);
    if (**at != '"') {
        size_t n = plain_length(*at, separators);
        *ret = items_new(g_strchomp(g_strndup(*at, n)), false, false);
        *at += n;
        return NULL;
    }
    char *text = take_quoted(at);
    if (!text)
        return "the closing quote is missing";
    skip_blanks(at);
    if (**at && !strchr(separators, **at)) {
        g_free(text);
        return "text after the closing quote; a quote inside quotes is written twice";
    }
    *ret = items_new(text, true, false);
    return NULL;
}

/* True if only blanks follow up to the end of the line. */
static bool ends_line(const char *at) {
    at += strspn(at, " \t");
    return !*at || *at == '\n';
}

/* Reads all items of `text` into `items`. Returns what is wrong, or NULL. */
static const char *take_items(const char *text, items_form form, GPtrArray *items) {
    const char *separators = form == ITEMS_COMMAS ? ",\n" : "\n";
    for (const char *at = text;; at++) {
        /* A blank line, or what follows the comma at the end of one, is no item. */
        bool none = form != ITEMS_ONE && ends_line(at);
        value_item *it;
        const char *wrong = none ? NULL : take_item(&at, separators, &it);
        if (wrong)
            return wrong;
        if (none) {
            skip_blanks(&at);
        } else {
            g_ptr_array_add(items, it);
            if (form != ITEMS_ONE && !*it->text && !it->quoted)
                return "an item is empty; write \"\" if that is meant";
        }
        if (!*at)
            return NULL;
    }
}

GPtrArray *items_split(const setting *s, items_form form, problems *p) {
    g_autoptr(GPtrArray) items = items_array();
    const char *wrong = take_items(s->value, form, items);
    if (wrong) {
        g_autofree char *quoted = problems_quote(s->value);
        problems_add(p, PROBLEM_CONFIG, MILL_ERROR, s->at, NULL, "[%s] %s = %s: %s", s->section,
                     s->key, quoted, wrong);
        return NULL;
    }
    if (form == ITEMS_ONE && items->len > 1) {
        problems_add(p, PROBLEM_CONFIG, MILL_ERROR, s->at, "it is not a list",
                     "[%s] %s takes one value, %u lines are given", s->section, s->key, items->len);
        return NULL;
    }
    return g_steal_pointer(&items);
}

char *items_format(const char *text, items_form form) {
    size_t n = strlen(text);
    bool edges = n > 0 && (g_ascii_isspace(text[0]) || g_ascii_isspace(text[n - 1]));
    bool needed = edges || text[0] == '"' || (n == 0 && form != ITEMS_ONE) ||
                  (form == ITEMS_COMMAS && strchr(text, ','));
    if (!needed)
        return g_strdup(text);
    g_auto(GStrv) parts = g_strsplit(text, "\"", -1);
    g_autofree char *inner = g_strjoinv("\"\"", parts);
    return g_strdup_printf("\"%s\"", inner);
}
