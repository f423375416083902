/* SPDX-License-Identifier: Apache-2.0 */
/* Reports in tests: values by their ids, and the whole in lines. */
#include "private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tracemill/kit/value.h>

/* ---------------------------------------------------------------- by id */

static bool same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static mill_datum unknown(mill_kind kind) {
    mill_datum none = {.i = MILL_UNKNOWN};
    if (kind == MILL_KIND_TEXT)
        none.text = NULL;
    if (kind == MILL_KIND_RATIO || kind == MILL_KIND_REAL)
        none.d = NAN;
    return none;
}

static mill_datum not_there(const char *what, const char *id) {
    kt_text words = {0};
    kt_text_addf(&words, "the report has no %s \"%s\"", what, id);
    kit_test_expect(false, kt_text_of(&words), NULL, 0);
    kt_text_clear(&words);
    return unknown(MILL_KIND_COUNT);
}

mill_datum kit_test_figure(const mill_report *report, const char *id, const char *scope) {
    for (uint64_t i = 0; report && i < report->n_figures; i++)
        if (same(report->figures[i]->id, id) && same(report->figures[i]->scope, scope))
            return report->figures[i]->value;
    return not_there("figure", id);
}

mill_datum kit_test_cell(const mill_report *report, const char *table, uint64_t row,
                         const char *column) {
    const mill_table *t = kit_test_table(report, table);
    if (!t || row >= t->rows)
        return not_there(t ? "such row in table" : "table", table);
    for (uint64_t c = 0; c < t->n_columns; c++)
        if (same(t->columns[c]->id, column))
            return t->columns[c]->cells[row];
    return not_there("column", column);
}

const mill_table *kit_test_table(const mill_report *report, const char *id) {
    for (uint64_t i = 0; report && i < report->n_tables; i++)
        if (same(report->tables[i]->id, id))
            return report->tables[i];
    return NULL;
}

const mill_note *kit_test_note(const mill_report *report, const char *id) {
    for (uint64_t i = 0; report && i < report->n_notes; i++)
        if (same(report->notes[i]->id, id))
            return report->notes[i];
    return NULL;
}

const mill_finding *kit_test_finding(const mill_report *report, const char *id) {
    for (uint64_t i = 0; report && i < report->n_findings; i++)
        if (same(report->findings[i]->id, id))
            return report->findings[i];
    return NULL;
}

/* ---------------------------------------------------------------- in lines */

static void add_text(kt_text *out, const char *name, const char *s) {
    if (s)
        kt_text_addf(out, " %s=\"%s\"", name, s);
}

static void add_int(kt_text *out, const char *name, int64_t value) {
    if (value != MILL_UNKNOWN)
        kt_text_addf(out, " %s=%" PRId64, name, value);
}

static void add_value(kt_text *out, mill_kind kind, mill_datum value) {
    char number[KIT_NUMBER_MAX];
    if (kit_value_is_unknown(kind, value))
        kt_text_add(out, "unknown", 7);
    else if (kind == MILL_KIND_TEXT)
        kt_text_addf(out, "\"%s\"", value.text);
    else if (kind == MILL_KIND_RATIO || kind == MILL_KIND_REAL)
        kt_text_addf(out, "%s", kit_format_real(number, value.d));
    else
        kt_text_addf(out, "%" PRId64, value.i);
}

static void dump_figure(kt_text *out, const mill_figure *f) {
    kt_text_addf(out, "figure %s kind=%d value=", f->id, (int)f->kind);
    add_value(out, f->kind, f->value);
    add_text(out, "scope", f->scope);
    add_text(out, "label", f->label);
    add_text(out, "unit", f->unit);
    add_text(out, "help", f->help);
    kt_text_add(out, "\n", 1);
}

static void dump_table(kt_text *out, const mill_table *t) {
    kt_text_addf(out, "table %s", t->id);
    add_text(out, "label", t->label);
    add_text(out, "help", t->help);
    kt_text_add(out, "\n", 1);
    for (uint64_t c = 0; c < t->n_columns; c++) {
        const mill_table_column *column = t->columns[c];
        kt_text_addf(out, "  column %s kind=%d", column->id, (int)column->kind);
        add_text(out, "label", column->label);
        add_text(out, "unit", column->unit);
        add_text(out, "help", column->help);
        kt_text_add(out, "\n", 1);
    }
    for (uint64_t row = 0; row < t->rows; row++) {
        kt_text_add(out, "  row", 5);
        for (uint64_t c = 0; c < t->n_columns; c++) {
            kt_text_add(out, " ", 1);
            add_value(out, t->columns[c]->kind, t->columns[c]->cells[row]);
        }
        kt_text_add(out, "\n", 1);
    }
}

static void dump_finding(kt_text *out, const mill_finding *f) {
    kt_text_addf(out, "finding %s rule=%s level=%d", f->id, f->rule, (int)f->level);
    add_text(out, "where", f->where);
    add_text(out, "evidence", f->evidence);
    add_text(out, "advice", f->advice);
    add_int(out, "cost", f->cost_ns);
    add_int(out, "gain", f->gain_ns);
    add_int(out, "at", f->at_ns);
    add_int(out, "at_base", f->at_base_ns);
    kt_text_addf(out, " confidence=%.17g\n", f->confidence);
}

static void dump_lane(kt_text *out, const mill_lane *l) {
    kt_text_addf(out, "lane %s", l->id);
    add_text(out, "label", l->label);
    add_int(out, "rank", l->rank);
    add_int(out, "device", l->device);
    add_int(out, "stream", l->stream);
    add_int(out, "base", l->base_ns);
    kt_text_add(out, "\n", 1);
    for (uint64_t i = 0; i < l->n; i++) {
        kt_text_addf(out, "  %" PRId64 " %" PRId64, l->start[i], l->end[i]);
        add_text(out, "label", l->texts[l->text[i]]);
        add_text(out, "class", l->texts[l->cls[i]]);
        if (l->finding)
            add_int(out, "finding", l->finding[i]);
        kt_text_add(out, "\n", 1);
    }
}

static void dump_series(kt_text *out, const mill_series *s) {
    kt_text_addf(out, "series %s kind=%u", s->id, s->kind);
    add_text(out, "label", s->label);
    add_text(out, "x", s->x_label);
    add_text(out, "x-unit", s->x_unit);
    add_text(out, "y", s->y_label);
    add_text(out, "y-unit", s->y_unit);
    kt_text_add(out, "\n", 1);
    for (uint64_t i = 0; i < s->n; i++)
        kt_text_addf(out, "  %.17g %.17g\n", s->x[i], s->y[i]);
}

char *kit_test_dump(const mill_report *r) {
    kt_text out = {0};
    kt_text_addf(&out, "report %s", r->id);
    add_text(&out, "title", r->title);
    add_text(&out, "subject", r->subject);
    add_text(&out, "summary", r->summary);
    kt_text_add(&out, "\n", 1);
    for (uint64_t i = 0; i < r->n_figures; i++)
        dump_figure(&out, r->figures[i]);
    for (uint64_t i = 0; i < r->n_tables; i++)
        dump_table(&out, r->tables[i]);
    for (uint64_t i = 0; i < r->n_notes; i++) {
        kt_text_addf(&out, "note %s level=%d", r->notes[i]->id, (int)r->notes[i]->level);
        add_text(&out, "text", r->notes[i]->text);
        kt_text_add(&out, "\n", 1);
    }
    for (uint64_t i = 0; i < r->n_findings; i++)
        dump_finding(&out, r->findings[i]);
    for (uint64_t i = 0; i < r->n_lanes; i++)
        dump_lane(&out, r->lanes[i]);
    for (uint64_t i = 0; i < r->n_series; i++)
        dump_series(&out, r->series[i]);
    return out.s;
}
