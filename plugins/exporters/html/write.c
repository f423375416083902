/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts of a page write: see write.h. */
#include "write.h"
#include "escape.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/value.h>

#define CELL 88      /* characters of a text in a cell */
#define TOOLTIP 1000 /* characters of an attribute */

const char *html_label(const char *label, const char *id) {
    return label && *label ? label : id ? id : "";
}

void html_text(GString *page, const char *text) {
    escape_text(page, text);
}

/* Whether the blank at `at` is within a number, or between one and its unit. */
static bool holds_together(const char *text, const char *at) {
    if (at == text || !g_ascii_isdigit(at[-1]))
        return false;
    bool group = g_ascii_isdigit(at[1]) && g_ascii_isdigit(at[2]) && g_ascii_isdigit(at[3]);
    return (group && !g_ascii_isdigit(at[4])) || at[1] == '%' || g_str_has_prefix(at + 1, "µs") ||
           g_str_has_prefix(at + 1, "ms");
}

void html_prose(GString *page, const char *text) {
    g_autoptr(GString) words = g_string_new(NULL);
    for (const char *c = text ? text : ""; *c; c++) {
        if (*c == ' ' && holds_together(text, c))
            g_string_append(words, "\u00a0");
        else
            g_string_append_c(words, *c);
    }
    html_text(page, words->str);
}

/* `most` characters of valid text, with an ellipsis in the middle for what was cut. */
static char *shorten(const char *valid, size_t length, size_t most) {
    size_t tail = (most - 1) / 3, head = most - 1 - tail;
    const char *head_end = g_utf8_offset_to_pointer(valid, (glong)head);
    const char *tail_start = g_utf8_offset_to_pointer(valid, (glong)(length - tail));
    return g_strdup_printf("%.*s…%s", (int)(head_end - valid), valid, tail_start);
}

void html_attribute(GString *page, const char *name, const char *value) {
    if (!value || !*value)
        return;
    g_autofree char *valid = g_utf8_make_valid(value, -1);
    size_t length = (size_t)g_utf8_strlen(valid, -1);
    g_autofree char *cut = length > TOOLTIP ? shorten(valid, length, TOOLTIP) : g_strdup(valid);
    g_string_append_printf(page, " %s=\"", name);
    escape_text(page, cut);
    g_string_append_c(page, '"');
}

void html_short(GString *page, const char *text, size_t most) {
    if (!text)
        return;
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    size_t length = (size_t)g_utf8_strlen(valid, -1);
    if (length <= most) {
        escape_text(page, valid);
        return;
    }
    g_autofree char *cut = shorten(valid, length, most);
    g_string_append(page, "<span");
    html_attribute(page, "title", valid);
    g_string_append_c(page, '>');
    escape_text(page, cut);
    g_string_append(page, "</span>");
}

void html_value(GString *page, mill_kind kind, mill_datum value) {
    char digits[KIT_NUMBER_MAX];
    if (kit_value_is_unknown(kind, value))
        g_string_append(page, "<span class=\"unknown\">unknown</span>");
    else if (kind == MILL_KIND_TEXT)
        html_short(page, value.text, CELL);
    else
        g_string_append_printf(page, "<span class=\"v\">%s</span>",
                               kit_format_value(digits, kind, value));
}

void html_quantity(GString *page, mill_kind kind, mill_datum value, const char *unit) {
    const char *shown = kit_value_unit(kind, unit);
    html_value(page, kind, value);
    if (!shown || kit_value_is_unknown(kind, value))
        return;
    g_string_append(page, " <span class=\"unit\">");
    html_text(page, shown);
    g_string_append(page, "</span>");
}

void html_time(GString *page, int64_t ns) {
    html_quantity(page, MILL_KIND_NS, (mill_datum){.i = ns}, NULL);
}

void html_number(GString *page, double value) {
    char digits[KIT_NUMBER_MAX];
    g_string_append(page, kit_format_value(digits, MILL_KIND_REAL, (mill_datum){.d = value}));
}

void html_coordinate(GString *page, double value) {
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(digits, sizeof digits, "%.1f", value);
    size_t length = strlen(digits);
    if (g_str_has_suffix(digits, ".0"))
        digits[length - 2] = '\0';
    g_string_append(page, strcmp(digits, "-0") == 0 ? "0" : digits);
}

void html_percent(GString *page, double share) {
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    double clamped = isnan(share) ? 0 : CLAMP(share, 0, 1);
    g_string_append(page, g_ascii_formatd(digits, sizeof digits, "%.2f", clamped * 100));
    g_string_append_c(page, '%');
}

char *html_id(const char *text) {
    char *id = g_ascii_strdown(text ? text : "", -1);
    g_strcanon(id, "abcdefghijklmnopqrstuvwxyz0123456789-", '-');
    return id;
}

const char *html_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
