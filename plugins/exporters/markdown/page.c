/* SPDX-License-Identifier: Apache-2.0 */
/* A report as a page of GitHub-flavoured Markdown: see page.h. */
#include "page.h"
#include "inline.h"

#include <inttypes.h>
#include <string.h>
#include <tracemill/kit/value.h>

#define CELL 80 /* characters; names of kernels have thousands */

static const char *label_of(const char *label, const char *id) {
    return label ? label : id;
}

static void append_value(GString *out, mill_kind kind, mill_datum value) {
    char digits[KIT_NUMBER_MAX];
    if (kind == MILL_KIND_TEXT && value.text)
        markdown_cell(out, value.text, CELL);
    else
        g_string_append(out, kit_format_value(digits, kind, value));
}

/* How many of n are shown; the line that says how many are not. */
static uint64_t shown(uint64_t n, uint64_t rows) {
    return MIN(n, rows);
}

static void append_rest(GString *out, uint64_t n, uint64_t rows, const char *what) {
    if (n > rows)
        g_string_append_printf(out, "\n*… and %" PRIu64 " more %s of %" PRIu64 "*\n", n - rows,
                               what, n);
}

/* ---------------------------------------------------------------- head */

static void append_head(GString *out, const mill_report *r, const char *key) {
    g_string_append(out, "## ");
    markdown_text(out, label_of(r->title, r->id), false);
    g_string_append_c(out, '\n');
    if (r->subject || *key) {
        g_string_append(out, "\nof ");
        markdown_text(out, r->subject ? r->subject : key, false);
        g_string_append_c(out, '\n');
    }
    if (r->summary && *r->summary) {
        g_string_append(out, "\n**");
        markdown_text(out, r->summary, false);
        g_string_append(out, "**\n");
    }
}

/* As GitHub's alerts, one a level. */
static void append_notes(GString *out, const mill_report *r) {
    static const char *const alerts[] = {"CAUTION", "WARNING", "NOTE"};
    for (size_t level = 0; level < G_N_ELEMENTS(alerts); level++) {
        bool begun = false;
        for (uint64_t i = 0; i < r->n_notes; i++) {
            if (MIN((size_t)r->notes[i]->level, G_N_ELEMENTS(alerts) - 1) != level)
                continue;
            if (!begun)
                g_string_append_printf(out, "\n> [!%s]\n", alerts[level]);
            begun = true;
            g_string_append(out, "> - ");
            markdown_line(out, r->notes[i]->text);
            g_string_append_c(out, '\n');
        }
    }
}

/* ---------------------------------------------------------------- figures and tables */

static bool has_scopes(const mill_report *r) {
    for (uint64_t i = 0; i < r->n_figures; i++)
        if (r->figures[i]->scope)
            return true;
    return false;
}

static void append_figure(GString *out, const mill_figure *f, bool scopes) {
    const char *unit = kit_value_unit(f->kind, f->unit);
    g_string_append(out, "| ");
    markdown_cell(out, label_of(f->label, f->id), CELL);
    if (scopes) {
        g_string_append(out, " | ");
        markdown_cell(out, f->scope ? f->scope : "", CELL);
    }
    g_string_append(out, " | ");
    append_value(out, f->kind, f->value);
    if (unit && !kit_value_is_unknown(f->kind, f->value)) {
        g_string_append_c(out, ' ');
        markdown_cell(out, unit, CELL);
    }
    g_string_append(out, " |\n");
}

static void append_figures(GString *out, const mill_report *r, uint64_t rows) {
    bool scopes = has_scopes(r);
    if (!r->n_figures)
        return;
    g_string_append(out, scopes ? "\n| figure | of | value |\n| :--- | :--- | ---: |\n"
                                : "\n| figure | value |\n| :--- | ---: |\n");
    for (uint64_t i = 0; i < shown(r->n_figures, rows); i++)
        append_figure(out, r->figures[i], scopes);
    append_rest(out, r->n_figures, rows, "figures");
}

static void append_columns(GString *out, const mill_table *t) {
    for (uint64_t i = 0; i < t->n_columns; i++) {
        const mill_table_column *c = t->columns[i];
        const char *unit = kit_value_unit(c->kind, c->unit);
        g_autofree char *name =
            g_strdup_printf(unit ? "%s (%s)" : "%s", label_of(c->label, c->id), unit);
        g_string_append(out, i ? " | " : "| ");
        markdown_cell(out, name, CELL);
    }
    g_string_append(out, " |\n");
    for (uint64_t i = 0; i < t->n_columns; i++)
        g_string_append(out, t->columns[i]->kind == MILL_KIND_TEXT ? "| :--- " : "| ---: ");
    g_string_append(out, "|\n");
}

static void append_table(GString *out, const mill_table *t, uint64_t rows) {
    g_string_append(out, "\n### ");
    markdown_text(out, label_of(t->label, t->id), false);
    g_string_append(out, t->rows && t->n_columns ? "\n\n" : "\n\nnone\n");
    if (!t->rows || !t->n_columns)
        return;
    append_columns(out, t);
    for (uint64_t row = 0; row < shown(t->rows, rows); row++) {
        for (uint64_t i = 0; i < t->n_columns; i++) {
            g_string_append(out, i ? " | " : "| ");
            append_value(out, t->columns[i]->kind, t->columns[i]->cells[row]);
        }
        g_string_append(out, " |\n");
    }
    append_rest(out, t->rows, rows, "rows");
}

/* ---------------------------------------------------------------- findings */

static void append_time(GString *line, const char *what, int64_t ns) {
    char digits[KIT_NUMBER_MAX];
    if (ns != MILL_UNKNOWN)
        g_string_append_printf(line, "%s%s %s µs", line->len ? ", " : "", what,
                               kit_format_us(digits, ns, KIT_GROUP));
}

static void append_sentence(GString *out, const char *text) {
    if (!text)
        return;
    g_string_append_c(out, ' ');
    markdown_text(out, text, false);
}

static void append_finding(GString *out, const mill_finding *f) {
    static const char *const levels[] = {"error", "warning", "info", "detail"};
    g_autoptr(GString) numbers = g_string_new(NULL);
    g_string_append(out, "1. **");
    markdown_text(out, label_of(f->rule, f->id), false);
    g_string_append_printf(out, "** (%s)", levels[MIN((size_t)f->level, MILL_DEBUG)]);
    if (f->where) {
        g_string_append(out, ", ");
        markdown_text(out, f->where, false);
    }
    g_string_append_c(out, ':');
    append_sentence(out, f->evidence);
    append_sentence(out, f->advice);
    append_time(numbers, "costs", f->cost_ns);
    append_time(numbers, "gain at most", f->gain_ns);
    append_time(numbers, "at", f->at_ns);
    if (f->confidence >= 0)
        g_string_append_printf(numbers, "%sconfidence %.0f %%", numbers->len ? ", " : "",
                               f->confidence * 100);
    if (numbers->len)
        g_string_append_printf(out, " *(%s)*", numbers->str);
    g_string_append_c(out, '\n');
}

static void append_findings(GString *out, const mill_report *r, uint64_t rows) {
    if (!r->n_findings)
        return;
    g_string_append(out, "\n### Findings\n\n");
    for (uint64_t i = 0; i < shown(r->n_findings, rows); i++)
        append_finding(out, r->findings[i]);
    append_rest(out, r->n_findings, rows, "findings");
}

/* ---------------------------------------------------------------- the whole page */

/* Lanes and series are pictures: the page only tells that there are some. */
static void append_pictures(GString *out, const mill_report *r) {
    uint64_t intervals = 0, points = 0;
    for (uint64_t i = 0; i < r->n_lanes; i++)
        intervals += r->lanes[i]->n;
    for (uint64_t i = 0; i < r->n_series; i++)
        points += r->series[i]->n;
    if (r->n_lanes || r->n_series)
        g_string_append_printf(out,
                               "\n*Not shown: lanes %" PRIu64 " (intervals %" PRIu64
                               "), series %" PRIu64 " (points %" PRIu64 ")*\n",
                               r->n_lanes, intervals, r->n_series, points);
}

void markdown_page(GString *out, const mill_report *report, const char *key, uint64_t rows) {
    append_head(out, report, key);
    append_notes(out, report);
    append_figures(out, report, rows);
    for (uint64_t i = 0; i < report->n_tables; i++)
        append_table(out, report->tables[i], rows);
    append_findings(out, report, rows);
    append_pictures(out, report);
}
