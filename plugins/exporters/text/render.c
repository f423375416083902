/* SPDX-License-Identifier: Apache-2.0 */
/* A report as a page of text: see render.h. */
#include "render.h"
#include "grid.h"
#include "page.h"
#include "value.h"

#include <inttypes.h>

#define EXACT_WIDTH 60u  /* pages from this width on have room for the exact ratio too */
#define UNKNOWN_SHOWN 8u /* unknown figures that are named */

typedef struct page {
    GString *out;
    const mill_report *report;
    size_t width;
    bool definitions;
    size_t exact_width; /* which all tables need that were shown in whole µs; 0: none was */
} page;

/* Appends a paragraph of text that may be NULL (then nothing). */
static void print_text(page *p, const char *lead, const char *text) {
    g_autofree char *clean = text_clean(text);
    if (clean)
        text_paragraph(p->out, lead, clean, p->width);
}

static void print_heading(page *p, const char *text) {
    g_string_append_c(p->out, '\n');
    print_text(p, "", text);
}

static void print_head(page *p, const char *key) {
    const mill_report *r = p->report;
    g_autofree char *title = text_clean(r->title ? r->title : r->id);
    text_paragraph(p->out, "", title, p->width);
    text_repeat(p->out, "═", MIN(text_width(title), p->width));
    g_string_append_c(p->out, '\n');
    print_text(p, "", r->subject ? r->subject : *key ? key : NULL);
    if (r->summary)
        print_heading(p, r->summary);
}

/* Warnings first: they say how far the figures below can be believed. */
static void print_notes(page *p) {
    static const char *const leads[] = {"error: ", "warning: ", "note: ", "detail: "};
    if (p->report->n_notes)
        g_string_append_c(p->out, '\n');
    for (unsigned level = MILL_ERROR; level <= MILL_DEBUG; level++)
        for (uint64_t i = 0; i < p->report->n_notes; i++)
            if (MIN(p->report->notes[i]->level, MILL_DEBUG) == level)
                print_text(p, leads[level], p->report->notes[i]->text);
}

/* ---------------------------------------------------------------- figures */

/* A line of figures: one id, a figure for each scope. */
typedef struct figure_row {
    const mill_figure *first;
    const mill_figure **of_scope;
} figure_row;

static void figure_row_free(gpointer data) {
    figure_row *row = data;
    g_free(row->of_scope);
    g_free(row);
}

/* The distinct scopes of figures that are numbers, in order of appearance; "" is the whole report.
 */
static GPtrArray *find_scopes(const mill_report *r) {
    GPtrArray *scopes = g_ptr_array_new();
    for (uint64_t i = 0; i < r->n_figures; i++) {
        char *scope = (char *)(r->figures[i]->scope ? r->figures[i]->scope : "");
        if (text_is_number(r->figures[i]->kind) &&
            !g_ptr_array_find_with_equal_func(scopes, scope, g_str_equal, NULL))
            g_ptr_array_add(scopes, scope);
    }
    return scopes;
}

/* The figures that are numbers, a row for each id. Where one comes twice for a scope, it gets a
 * further row. */
static GPtrArray *arrange_figures(const mill_report *r, const GPtrArray *scopes) {
    GPtrArray *rows = g_ptr_array_new_with_free_func(figure_row_free);
    for (uint64_t i = 0; i < r->n_figures; i++) {
        const mill_figure *f = r->figures[i];
        guint scope = 0;
        if (!text_is_number(f->kind))
            continue;
        g_ptr_array_find_with_equal_func((GPtrArray *)scopes, f->scope ? f->scope : "", g_str_equal,
                                         &scope);
        figure_row *row = NULL;
        for (guint k = 0; k < rows->len && !row; k++) {
            figure_row *other = rows->pdata[k];
            if (g_str_equal(other->first->id, f->id) && !other->of_scope[scope])
                row = other;
        }
        if (!row) {
            row = g_new(figure_row, 1);
            *row = (figure_row){f, g_new0(const mill_figure *, scopes->len)};
            g_ptr_array_add(rows, row);
        }
        row->of_scope[scope] = f;
    }
    return rows;
}

static bool is_unknown(const figure_row *row, guint n_scopes) {
    for (guint i = 0; i < n_scopes; i++)
        if (row->of_scope[i] && !kit_value_is_unknown(row->first->kind, row->of_scope[i]->value))
            return false;
    return true;
}

/* The figures of which nothing is known in one paragraph, which names the first few. */
static void print_unknown(page *p, const GPtrArray *rows) {
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < MIN(rows->len, UNKNOWN_SHOWN); i++) {
        const mill_figure *f = ((const figure_row *)rows->pdata[i])->first;
        g_string_append_printf(names, "%s%s", i ? ", " : "", f->label ? f->label : f->id);
    }
    if (rows->len > UNKNOWN_SHOWN)
        g_string_append_printf(names, ", and %u more", rows->len - UNKNOWN_SHOWN);
    g_string_append_c(p->out, '\n');
    print_text(p, "unknown: ", names->str);
}

static char *exact_ratio(const page *p, const mill_figure *f) {
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    if (p->width < EXACT_WIDTH || f->kind != MILL_KIND_RATIO || f->value.d != f->value.d)
        return NULL;
    return g_strdup(g_ascii_formatd(digits, sizeof digits, "%.6f", f->value.d));
}

/* One scope: value, unit, and a ratio's six decimals too. */
static void add_single(const page *p, text_grid *grid, const figure_row *row) {
    const mill_figure *f = row->first;
    text_grid_cell(grid, text_value(f->kind, f->value));
    text_grid_cell(grid, text_clean(kit_value_unit(f->kind, f->unit)));
    text_grid_cell(grid, exact_ratio(p, f));
}

/* Several: the unit once, then a value for each scope. */
static void add_scoped(text_grid *grid, const figure_row *row, guint n_scopes) {
    text_grid_cell(grid, text_clean(kit_value_unit(row->first->kind, row->first->unit)));
    for (guint i = 0; i < n_scopes; i++) {
        const mill_figure *f = row->of_scope[i];
        text_grid_cell(grid, f ? text_value(f->kind, f->value) : NULL);
    }
}

static void print_known(page *p, const GPtrArray *rows, const GPtrArray *scopes) {
    bool single = scopes->len == 1 && !*(const char *)scopes->pdata[0];
    g_autoptr(text_grid) grid = text_grid_create(single ? 1 : 2, true);
    text_grid_column(grid, NULL, NULL, false);
    if (single)
        text_grid_column(grid, NULL, NULL, true);
    text_grid_column(grid, NULL, NULL, false);
    if (single)
        text_grid_column(grid, NULL, NULL, true);
    for (guint i = 0; i < scopes->len && !single; i++) {
        const char *scope = scopes->pdata[i];
        text_grid_column(grid, *scope ? text_clean(scope) : g_strdup("all"), NULL, true);
    }
    for (guint i = 0; i < rows->len; i++) {
        const figure_row *row = rows->pdata[i];
        text_grid_cell(grid, text_clean(row->first->label ? row->first->label : row->first->id));
        if (single)
            add_single(p, grid, row);
        else
            add_scoped(grid, row, scopes->len);
    }
    g_string_append_c(p->out, '\n');
    text_grid_print(grid, p->width, p->out);
}

static void print_numbers(page *p) {
    g_autoptr(GPtrArray) scopes = find_scopes(p->report);
    g_autoptr(GPtrArray) rows = arrange_figures(p->report, scopes);
    g_autoptr(GPtrArray) known = g_ptr_array_new(), unknown = g_ptr_array_new();
    for (guint i = 0; i < rows->len; i++)
        g_ptr_array_add(is_unknown(rows->pdata[i], scopes->len) ? unknown : known, rows->pdata[i]);
    if (known->len)
        print_known(p, known, scopes);
    if (unknown->len)
        print_unknown(p, unknown);
}

/* Figures that are text: a paragraph each, since they may be long. */
static void print_texts(page *p) {
    bool any = false;
    for (uint64_t i = 0; i < p->report->n_figures; i++) {
        const mill_figure *f = p->report->figures[i];
        if (text_is_number(f->kind))
            continue;
        g_autofree char *value = text_value(f->kind, f->value);
        g_autofree char *label = text_clean(f->label ? f->label : f->id);
        g_autofree char *scope = text_clean(f->scope);
        g_autofree char *line = scope ? g_strdup_printf("%s (%s): %s", label, scope, value)
                                      : g_strdup_printf("%s: %s", label, value);
        g_string_append(p->out, any ? "" : "\n");
        text_paragraph(p->out, "", line, p->width);
        any = true;
    }
}

/* ---------------------------------------------------------------- definitions */

static void print_definition(page *p, const char *label, const char *help) {
    g_autofree char *clean_label = text_clean(label), *clean_help = text_clean(help);
    g_autofree char *line = g_strdup_printf("%s: %s", clean_label, clean_help);
    text_paragraph(p->out, "  ", line, p->width);
}

/* What each figure is, once an id. */
static void print_figure_definitions(page *p) {
    const mill_report *r = p->report;
    g_autoptr(GHashTable) told = g_hash_table_new(g_str_hash, g_str_equal);
    for (uint64_t i = 0; i < r->n_figures; i++) {
        const mill_figure *f = r->figures[i];
        if (!f->help || !g_hash_table_add(told, (gpointer)f->id))
            continue;
        if (g_hash_table_size(told) == 1)
            print_heading(p, "Definitions");
        print_definition(p, f->label ? f->label : f->id, f->help);
    }
}

static void print_table_definitions(page *p, const mill_table *t) {
    print_text(p, "  ", t->help);
    for (uint64_t i = 0; i < t->n_columns; i++)
        if (t->columns[i]->help)
            print_definition(p, t->columns[i]->label ? t->columns[i]->label : t->columns[i]->id,
                             t->columns[i]->help);
}

/* ---------------------------------------------------------------- tables */

static bool has_fractions(const mill_table *t) {
    for (uint64_t i = 0; i < t->n_columns; i++)
        for (uint64_t row = 0; row < t->rows && t->columns[i]->kind == MILL_KIND_NS; row++)
            if (t->columns[i]->cells[row].i != MILL_UNKNOWN &&
                t->columns[i]->cells[row].i % 1000 != 0)
                return true;
    return false;
}

static text_grid *table_grid(const mill_table *t, bool whole) {
    text_grid *grid = text_grid_create(1, false);
    for (uint64_t i = 0; i < t->n_columns; i++) {
        const mill_table_column *c = t->columns[i];
        g_autofree char *unit = text_clean(kit_value_unit(c->kind, c->unit));
        text_grid_column(grid, text_clean(c->label ? c->label : c->id), unit,
                         text_is_number(c->kind));
    }
    for (uint64_t row = 0; row < t->rows; row++)
        for (uint64_t i = 0; i < t->n_columns; i++) {
            mill_kind kind = t->columns[i]->kind;
            mill_datum value = t->columns[i]->cells[row];
            text_grid_cell(grid, whole && kind == MILL_KIND_NS ? text_whole_us(value.i)
                                                               : text_value(kind, value));
        }
    return grid;
}

/* In whole µs if only that makes it one block: a row can be read in one line then. */
static void print_table(page *p, const mill_table *t) {
    const char *label = t->label ? t->label : t->id;
    g_autoptr(text_grid) exact = table_grid(t, false), rounded = NULL;
    if (!t->rows || !t->n_columns) {
        g_autofree char *line = g_strdup_printf("%s: none", label);
        print_heading(p, line);
        return;
    }
    if (text_grid_width(exact, p->width, TEXT_READABLE) > p->width && has_fractions(t))
        rounded = table_grid(t, true);
    bool whole = rounded && text_grid_width(rounded, p->width, TEXT_TIGHT) <= p->width;
    g_autofree char *heading = g_strdup_printf("%s%s", label, whole ? ", in whole µs" : "");
    print_heading(p, heading);
    if (p->definitions)
        print_table_definitions(p, t);
    text_grid_print(whole ? rounded : exact, p->width, p->out);
    if (whole)
        p->exact_width = MAX(p->exact_width, text_grid_width(exact, 0, TEXT_READABLE));
}

static void print_tables(page *p) {
    for (uint64_t i = 0; i < p->report->n_tables; i++)
        print_table(p, p->report->tables[i]);
    g_autofree char *line =
        g_strdup_printf("Times in whole µs are rounded: the option width = %zu shows them exactly, "
                        "and so does json.write.",
                        p->exact_width);
    if (p->exact_width)
        print_heading(p, line);
}

/* ---------------------------------------------------------------- findings */

static void append_time(GString *line, const char *what, int64_t ns) {
    if (ns == MILL_UNKNOWN)
        return;
    g_autofree char *value = text_value(MILL_KIND_NS, (mill_datum){.i = ns});
    g_string_append_printf(line, "%s%s %s µs", line->len ? ", " : "", what, value);
}

static void print_finding(page *p, uint64_t i) {
    const mill_finding *f = p->report->findings[i];
    static const char *const levels[] = {"error", "warning", "info", "detail"};
    g_autofree char *head =
        g_strdup_printf("%s (%s)%s%s", f->rule ? f->rule : f->id, levels[MIN(f->level, MILL_DEBUG)],
                        f->where ? ": " : "", f->where ? f->where : "");
    g_autofree char *lead = g_strdup_printf("%3" PRIu64 ". ", i + 1);
    g_autofree char *indent = g_strnfill(text_width(lead), ' ');
    g_autoptr(GString) numbers = g_string_new(NULL);
    append_time(numbers, "costs", f->cost_ns);
    append_time(numbers, "gain at most", f->gain_ns);
    append_time(numbers, "at", f->at_ns);
    if (f->confidence >= 0)
        g_string_append_printf(numbers, "%sconfidence %.0f %%", numbers->len ? ", " : "",
                               f->confidence * 100);
    print_text(p, lead, head);
    print_text(p, indent, f->evidence);
    print_text(p, indent, f->advice);
    print_text(p, indent, numbers->len ? numbers->str : NULL);
}

/* ---------------------------------------------------------------- the whole page */

/* Lanes and series are pictures: the page only tells that there are some. */
static void print_pictures(page *p) {
    const mill_report *r = p->report;
    uint64_t intervals = 0, points = 0;
    for (uint64_t i = 0; i < r->n_lanes; i++)
        intervals += r->lanes[i]->n;
    for (uint64_t i = 0; i < r->n_series; i++)
        points += r->series[i]->n;
    if (r->n_lanes == 0 && r->n_series == 0)
        return;
    g_autoptr(GString) text = g_string_new("Not shown as text: ");
    if (r->n_lanes)
        g_string_append_printf(text, "lanes %" PRIu64 " (intervals %" PRIu64 ")", r->n_lanes,
                               intervals);
    if (r->n_series)
        g_string_append_printf(text, "%sseries %" PRIu64 " (points %" PRIu64 ")",
                               r->n_lanes ? ", " : "", r->n_series, points);
    g_string_append_c(text, '.');
    print_heading(p, text->str);
}

void text_render(GString *out, const mill_report *report, const char *key, size_t width,
                 bool definitions) {
    page p = {.out = out, .report = report, .width = width, .definitions = definitions};
    print_head(&p, key);
    print_notes(&p);
    print_numbers(&p);
    print_texts(&p);
    if (definitions)
        print_figure_definitions(&p);
    print_tables(&p);
    if (report->n_findings)
        print_heading(&p, "Findings");
    for (uint64_t i = 0; i < report->n_findings; i++)
        print_finding(&p, i);
    print_pictures(&p);
}
