/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of mill.report/1, and what exporters rely on in one. */
#include <inttypes.h>
#include <tracemill/report.h>

#include "types/checks.h"
#include "types/shapes.h"

#define OPTIONAL .optional = true

/* ---------------------------------------------------------------- figures, tables */

static bool check_kind(reader *r, const char *of, const char *id, mill_kind kind) {
    return (kind >= MILL_KIND_TEXT && kind <= MILL_KIND_ID) ||
           reader_wrong(r, "the %s \"%s\" is of kind %d", of, id, (int)kind);
}

static bool check_level(reader *r, const char *of, const char *id, mill_level level) {
    return (level >= MILL_ERROR && level <= MILL_DEBUG) ||
           reader_wrong(r, "the %s \"%s\" is of level %d", of, id, (int)level);
}

static const shape_field figure_fields[] = {
    SHAPE_PLAIN(mill_figure, size),
    SHAPE_PLAIN(mill_figure, kind),
    SHAPE_TEXT(mill_figure, id),
    SHAPE_TEXT(mill_figure, label),
    SHAPE_TEXT(mill_figure, scope, OPTIONAL),
    SHAPE_TEXT(mill_figure, unit, OPTIONAL),
    SHAPE_TEXT(mill_figure, help, OPTIONAL),
    SHAPE_DATUM(mill_figure, value, kind),
};

static bool check_figure(reader *r, const void *data, const void *outer) {
    (void)outer;
    const mill_figure *f = data;
    return check_kind(r, "figure", f->id, f->kind);
}

static const shape figure_shape = {"figure", SHAPE_SIZES(mill_figure, 56), figure_fields,
                                   G_N_ELEMENTS(figure_fields), check_figure};

static const shape_field column_fields[] = {
    SHAPE_PLAIN(mill_table_column, size),
    SHAPE_PLAIN(mill_table_column, kind),
    SHAPE_TEXT(mill_table_column, id),
    SHAPE_TEXT(mill_table_column, label),
    SHAPE_TEXT(mill_table_column, unit, OPTIONAL),
    SHAPE_TEXT(mill_table_column, help, OPTIONAL),
    SHAPE_DATA(mill_table_column, cells, kind,
               .count = {.factors = {SHAPE_FACTOR(mill_table, rows)}, .outer = true}),
};

static bool check_column(reader *r, const void *data, const void *outer) {
    (void)outer;
    const mill_table_column *c = data;
    return check_kind(r, "column", c->id, c->kind);
}

static const shape column_shape = {"column", SHAPE_SIZES(mill_table_column, 48), column_fields,
                                   G_N_ELEMENTS(column_fields), check_column};

static const shape_field table_fields[] = {
    SHAPE_PLAIN(mill_table, size),
    SHAPE_PLAIN(mill_table, reserved),
    SHAPE_TEXT(mill_table, id),
    SHAPE_TEXT(mill_table, label),
    SHAPE_TEXT(mill_table, help, OPTIONAL),
    SHAPE_STRUCTS(mill_table, columns, &column_shape, SHAPE_COUNT(mill_table, n_columns)),
    SHAPE_PLAIN(mill_table, n_columns),
    SHAPE_PLAIN(mill_table, rows),
};

/* Rows that no column has would be any number. */
static bool check_table(reader *r, const void *data, const void *outer) {
    (void)outer;
    const mill_table *t = data;
    return t->n_columns > 0 || t->rows == 0 ||
           reader_wrong(r, "the table \"%s\" has %" PRIu64 " rows, but no column", t->id, t->rows);
}

static const shape table_shape = {"table", SHAPE_SIZES(mill_table, 56), table_fields,
                                  G_N_ELEMENTS(table_fields), check_table};

/* ---------------------------------------------------------------- notes, findings */

static const shape_field note_fields[] = {
    SHAPE_PLAIN(mill_note, size),
    SHAPE_PLAIN(mill_note, level),
    SHAPE_TEXT(mill_note, id),
    SHAPE_TEXT(mill_note, text),
};

static bool check_note(reader *r, const void *data, const void *outer) {
    (void)outer;
    const mill_note *n = data;
    return check_level(r, "note", n->id, n->level);
}

static const shape note_shape = {"note", SHAPE_SIZES(mill_note, 24), note_fields,
                                 G_N_ELEMENTS(note_fields), check_note};

static const shape_field finding_fields[] = {
    SHAPE_PLAIN(mill_finding, size),
    SHAPE_PLAIN(mill_finding, level),
    SHAPE_TEXT(mill_finding, id),
    SHAPE_TEXT(mill_finding, rule),
    SHAPE_TEXT(mill_finding, where, OPTIONAL),
    SHAPE_TEXT(mill_finding, evidence, OPTIONAL),
    SHAPE_TEXT(mill_finding, advice, OPTIONAL),
    SHAPE_PLAIN(mill_finding, cost_ns),
    SHAPE_PLAIN(mill_finding, gain_ns),
    SHAPE_PLAIN(mill_finding, confidence),
    SHAPE_PLAIN(mill_finding, at_ns),
    SHAPE_PLAIN(mill_finding, at_base_ns),
};

static bool check_finding(reader *r, const void *data, const void *outer) {
    (void)outer;
    const mill_finding *f = data;
    return check_level(r, "finding", f->id, f->level);
}

static const shape finding_shape = {"finding", SHAPE_SIZES(mill_finding, 88), finding_fields,
                                    G_N_ELEMENTS(finding_fields), check_finding};

/* ---------------------------------------------------------------- lanes, series */

static const shape_field lane_fields[] = {
    SHAPE_PLAIN(mill_lane, size),
    SHAPE_PLAIN(mill_lane, reserved),
    SHAPE_TEXT(mill_lane, id),
    SHAPE_TEXT(mill_lane, label),
    SHAPE_PLAIN(mill_lane, rank),
    SHAPE_PLAIN(mill_lane, device),
    SHAPE_PLAIN(mill_lane, stream),
    SHAPE_PLAIN(mill_lane, base_ns),
    SHAPE_PLAIN(mill_lane, n),
    SHAPE_ARRAY(mill_lane, start, SHAPE_COUNT(mill_lane, n)),
    SHAPE_ARRAY(mill_lane, end, SHAPE_COUNT(mill_lane, n)),
    SHAPE_ARRAY(mill_lane, text, SHAPE_COUNT(mill_lane, n)),
    SHAPE_ARRAY(mill_lane, cls, SHAPE_COUNT(mill_lane, n)),
    SHAPE_ARRAY(mill_lane, finding, SHAPE_COUNT(mill_lane, n), OPTIONAL),
    SHAPE_TEXTS(mill_lane, texts, SHAPE_COUNT(mill_lane, n_texts)),
    SHAPE_PLAIN(mill_lane, n_texts),
};

static bool check_lane(reader *r, const void *data, const void *outer) {
    const mill_lane *l = data;
    const mill_report *report = outer;
    return check_intervals(r, "interval", l->start, l->end, l->n) &&
           check_below(r, "label of interval", l->text, l->n, l->n_texts, 0) &&
           check_below(r, "class of interval", l->cls, l->n, l->n_texts, 0) &&
           (l->finding == NULL || check_i64(r, "finding of interval", l->finding, l->n, -1,
                                            (int64_t)report->n_findings - 1));
}

static const shape lane_shape = {"lane", SHAPE_SIZES(mill_lane, 120), lane_fields,
                                 G_N_ELEMENTS(lane_fields), check_lane};

static const shape_field series_fields[] = {
    SHAPE_PLAIN(mill_series, size),
    SHAPE_PLAIN(mill_series, kind),
    SHAPE_TEXT(mill_series, id),
    SHAPE_TEXT(mill_series, label),
    SHAPE_TEXT(mill_series, x_label, OPTIONAL),
    SHAPE_TEXT(mill_series, x_unit, OPTIONAL),
    SHAPE_TEXT(mill_series, y_label, OPTIONAL),
    SHAPE_TEXT(mill_series, y_unit, OPTIONAL),
    SHAPE_PLAIN(mill_series, n),
    SHAPE_ARRAY(mill_series, x, SHAPE_COUNT(mill_series, n)),
    SHAPE_ARRAY(mill_series, y, SHAPE_COUNT(mill_series, n)),
};

static bool check_series(reader *r, const void *data, const void *outer) {
    (void)outer;
    const mill_series *s = data;
    return check_number(r, "the kind of a series", s->kind, MILL_SERIES_CURVE, MILL_SERIES_HEAT);
}

static const shape series_shape = {"series", SHAPE_SIZES(mill_series, 80), series_fields,
                                   G_N_ELEMENTS(series_fields), check_series};

/* ---------------------------------------------------------------- reports */

static const shape_field report_fields[] = {
    SHAPE_PLAIN(mill_report, size),
    SHAPE_PLAIN(mill_report, reserved),
    SHAPE_TEXT(mill_report, id),
    SHAPE_TEXT(mill_report, title),
    SHAPE_TEXT(mill_report, subject, OPTIONAL),
    SHAPE_TEXT(mill_report, summary, OPTIONAL),
    SHAPE_STRUCTS(mill_report, figures, &figure_shape, SHAPE_COUNT(mill_report, n_figures)),
    SHAPE_STRUCTS(mill_report, tables, &table_shape, SHAPE_COUNT(mill_report, n_tables)),
    SHAPE_STRUCTS(mill_report, notes, &note_shape, SHAPE_COUNT(mill_report, n_notes)),
    SHAPE_STRUCTS(mill_report, findings, &finding_shape, SHAPE_COUNT(mill_report, n_findings)),
    SHAPE_STRUCTS(mill_report, lanes, &lane_shape, SHAPE_COUNT(mill_report, n_lanes)),
    SHAPE_STRUCTS(mill_report, series, &series_shape, SHAPE_COUNT(mill_report, n_series)),
    SHAPE_PLAIN(mill_report, n_figures),
    SHAPE_PLAIN(mill_report, n_tables),
    SHAPE_PLAIN(mill_report, n_notes),
    SHAPE_PLAIN(mill_report, n_findings),
    SHAPE_PLAIN(mill_report, n_lanes),
    SHAPE_PLAIN(mill_report, n_series),
};

const shape report_shape = {"report", SHAPE_SIZES(mill_report, 136), report_fields,
                            G_N_ELEMENTS(report_fields), NULL};
