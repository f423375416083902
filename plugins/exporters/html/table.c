/* SPDX-License-Identifier: Apache-2.0 */
/* A report's tables and figures: see table.h. */
#include "table.h"
#include "write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tracemill/kit/value.h>

#define SCOPES 16   /* columns of figures */
#define FIGURES 200 /* of a report */

#define LONG_CELL 20 /* bytes; what is shorter stays on one line */

static void append_head_cell(GString *page, const char *label, const char *unit, const char *help,
                             bool number) {
    g_string_append(page, number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
    if (help && *help) {
        g_string_append(page, "<abbr");
        html_attribute(page, "title", help);
        g_string_append_c(page, '>');
    }
    html_short(page, label, 40);
    g_string_append(page, help && *help ? "</abbr>" : "");
    if (unit) {
        g_string_append(page, " <span class=\"unit\">");
        html_text(page, unit);
        g_string_append(page, "</span>");
    }
    g_string_append(page, "</th>");
}

/* Shares of a whole, which a bar shows well. */
static bool has_bars(const mill_table_column *c, uint64_t rows) {
    if (c->kind != MILL_KIND_RATIO)
        return false;
    for (uint64_t i = 0; i < rows; i++)
        if (!isnan(c->cells[i].d) && !(c->cells[i].d >= 0 && c->cells[i].d <= 1))
            return false;
    return true;
}

/* One device in all rows: that is told once, above. */
static bool is_common(const mill_table_column *c, uint64_t rows) {
    if (c->kind != MILL_KIND_ID || strcmp(c->id, "device") != 0 || c->cells[0].i == MILL_UNKNOWN)
        return false;
    for (uint64_t i = 1; i < rows; i++)
        if (c->cells[i].i != c->cells[0].i)
            return false;
    return true;
}

static void append_cell(GString *page, const mill_table_column *c, uint64_t row, bool bar) {
    bool known = !kit_value_is_unknown(c->kind, c->cells[row]);
    if (c->kind == MILL_KIND_TEXT) {
        bool is_long = known && strlen(c->cells[row].text) > LONG_CELL;
        g_string_append(page, is_long ? "<td class=\"long\">" : "<td class=\"word\">");
    } else if (bar && known) {
        g_string_append(page, "<td class=\"n bar\" style=\"--v:");
        html_percent(page, c->cells[row].d);
        g_string_append(page, "\">");
    } else {
        g_string_append(page, "<td class=\"n\">");
    }
    html_value(page, c->kind, c->cells[row]);
    g_string_append(page, "</td>");
}

static void append_rest(GString *page, uint64_t n, uint64_t rows, const char *what) {
    if (n > rows)
        g_string_append_printf(page,
                               "<p class=\"soft\">… and %" PRIu64 " more %s of %" PRIu64 "</p>\n",
                               n - rows, what, n);
}

static void append_rows(GString *page, const mill_table *t, uint64_t rows, const bool *skip) {
    g_autofree bool *bars = g_new0(bool, t->n_columns);
    g_string_append(page, "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
    for (uint64_t i = 0; i < t->n_columns; i++) {
        const mill_table_column *c = t->columns[i];
        bars[i] = has_bars(c, t->rows);
        if (!skip[i])
            append_head_cell(page, html_label(c->label, c->id), kit_value_unit(c->kind, c->unit),
                             c->help, c->kind != MILL_KIND_TEXT);
    }
    g_string_append(page, "</tr></thead><tbody>\n");
    for (uint64_t row = 0; row < MIN(t->rows, rows); row++) {
        g_string_append(page, "<tr>");
        for (uint64_t i = 0; i < t->n_columns; i++)
            if (!skip[i])
                append_cell(page, t->columns[i], row, bars[i]);
        g_string_append(page, "</tr>\n");
    }
    g_string_append(page, "</tbody></table></div>\n");
    append_rest(page, t->rows, rows, "rows");
}

void table_append(GString *page, const mill_table *t, const char *id, uint64_t rows) {
    g_autofree bool *skip = g_new0(bool, t->n_columns + 1);
    g_string_append_printf(page, "<section class=\"table\" id=\"%s\"><h3>", id);
    html_text(page, html_label(t->label, t->id));
    for (uint64_t i = 0; t->rows && t->n_columns > 1 && i < t->n_columns; i++) {
        skip[i] = is_common(t->columns[i], t->rows);
        if (skip[i])
            g_string_append_printf(page, "<span class=\"soft\"> · device %" PRId64 "</span>",
                                   t->columns[i]->cells[0].i);
    }
    g_string_append(page, "</h3>\n");
    if (t->help && *t->help) {
        g_string_append(page, "<p class=\"help\">");
        html_text(page, t->help);
        g_string_append(page, "</p>\n");
    }
    if (t->rows && t->n_columns)
        append_rows(page, t, rows, skip);
    else
        g_string_append(page, "<p class=\"soft\">none</p>\n");
    g_string_append(page, "</section>\n");
}

/* ---------------------------------------------------------------- figures */

static void append_list(GString *page, const mill_report *r) {
    g_string_append(page, "<dl class=\"figures\">\n");
    for (uint64_t i = 0; i < MIN(r->n_figures, FIGURES); i++) {
        const mill_figure *f = r->figures[i];
        g_string_append(page, "<div><dt");
        html_attribute(page, "title", f->help);
        g_string_append_c(page, '>');
        html_text(page, html_label(f->label, f->id));
        g_string_append(page, f->kind == MILL_KIND_TEXT ? "</dt><dd class=\"text\">" : "</dt><dd>");
        html_quantity(page, f->kind, f->value, f->unit);
        g_string_append(page, "</dd></div>\n");
    }
    g_string_append(page, "</dl>\n");
    append_rest(page, r->n_figures, FIGURES, "figures");
}

/* A line of the table of figures: one of each scope, where there is one. */
typedef struct line {
    const mill_figure *first, *of[SCOPES];
} line;

typedef struct grid {
    const char *scopes[SCOPES];
    size_t n, left_out;
    GArray *lines;
    GHashTable *open; /* id to the number of the last line with that id */
} grid;

static size_t scope_of(grid *g, const char *scope) {
    for (size_t i = 0; i < g->n; i++)
        if (g_strcmp0(g->scopes[i], scope) == 0)
            return i;
    if (g->n == SCOPES)
        return SCOPES;
    g->scopes[g->n] = scope;
    return g->n++;
}

static void put_figure(grid *g, const mill_figure *f) {
    size_t scope = scope_of(g, f->scope);
    if (scope == SCOPES) {
        g->left_out++;
        return;
    }
    gpointer number;
    if (g_hash_table_lookup_extended(g->open, f->id, NULL, &number)) {
        line *at = &g_array_index(g->lines, line, GPOINTER_TO_SIZE(number));
        if (!at->of[scope]) {
            at->of[scope] = f;
            return;
        }
    }
    line fresh = {.first = f};
    fresh.of[scope] = f;
    g_hash_table_insert(g->open, (gpointer)f->id, GSIZE_TO_POINTER(g->lines->len));
    g_array_append_val(g->lines, fresh);
}

static void append_grid(GString *page, const grid *g) {
    g_string_append(page, "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th "
                          "scope=\"col\">figure</th>");
    for (size_t s = 0; s < g->n; s++)
        append_head_cell(page, g->scopes[s] ? g->scopes[s] : "all", NULL, NULL, true);
    g_string_append(page, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < MIN(g->lines->len, FIGURES); i++) {
        const line *l = &g_array_index(g->lines, line, i);
        g_string_append(page, "<tr><th scope=\"row\"");
        html_attribute(page, "title", l->first->help);
        g_string_append_c(page, '>');
        html_text(page, html_label(l->first->label, l->first->id));
        g_string_append(page, "</th>");
        for (size_t s = 0; s < g->n; s++) {
            g_string_append(page, "<td class=\"n\">");
            if (l->of[s])
                html_quantity(page, l->of[s]->kind, l->of[s]->value, l->of[s]->unit);
            g_string_append(page, "</td>");
        }
        g_string_append(page, "</tr>\n");
    }
    g_string_append(page, "</tbody></table></div>\n");
    append_rest(page, g->lines->len, FIGURES, "figures");
    if (g->left_out)
        g_string_append_printf(page, "<p class=\"soft\">… and %zu figures of other scopes</p>\n",
                               g->left_out);
}

void table_figures(GString *page, const mill_report *report) {
    bool scopes = false;
    for (uint64_t i = 0; i < report->n_figures; i++)
        scopes |= report->figures[i]->scope != NULL;
    if (!report->n_figures)
        return;
    if (!scopes) {
        append_list(page, report);
        return;
    }
    grid g = {.lines = g_array_new(FALSE, FALSE, sizeof(line)),
              .open = g_hash_table_new(g_str_hash, g_str_equal)};
    for (uint64_t i = 0; i < report->n_figures; i++)
        put_figure(&g, report->figures[i]);
    append_grid(page, &g);
    g_array_free(g.lines, TRUE);
    g_hash_table_unref(g.open);
}
