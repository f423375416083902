/* SPDX-License-Identifier: Apache-2.0 */
/* Writes reports as rows. */
#include "values.h"

static const char *kind_text(mill_kind kind) {
    static const char *const texts[] = {
        [MILL_KIND_TEXT] = "text",   [MILL_KIND_COUNT] = "count", [MILL_KIND_NS] = "ns",
        [MILL_KIND_BYTES] = "bytes", [MILL_KIND_RATIO] = "ratio", [MILL_KIND_REAL] = "real",
        [MILL_KIND_ID] = "id",
    };
    return (size_t)kind < sizeof texts / sizeof *texts ? texts[kind] : NULL;
}

static const char *unit_text(mill_kind kind, const char *own) {
    return kind == MILL_KIND_NS ? "ns" : kind == MILL_KIND_BYTES ? "B" : own;
}

static const char *level_text(mill_level level) {
    static const char *const texts[] = {"error", "warning", "info", "debug"};
    return (size_t)level < sizeof texts / sizeof *texts ? texts[level] : NULL;
}

static void put_value(database *d, mill_kind kind, mill_datum value) {
    if (kind == MILL_KIND_TEXT)
        database_text(d, value.text);
    else if (kind == MILL_KIND_RATIO || kind == MILL_KIND_REAL)
        database_real(d, value.d);
    else
        database_int(d, value.i);
}

static void put_figures(database *d, int64_t item, const mill_report *r) {
    for (uint64_t i = 0; i < r->n_figures; i++) {
        const mill_figure *f = r->figures[i];
        database_row(d, TABLE_FIGURE);
        database_int(d, item);
        database_text(d, f->id);
        database_text(d, f->scope);
        database_text(d, kind_text(f->kind));
        database_text(d, unit_text(f->kind, f->unit));
        put_value(d, f->kind, f->value);
        database_text(d, f->label);
        database_text(d, f->help);
        database_end(d);
    }
}

static void put_column(database *d, int64_t table, const mill_table_column *c, uint64_t rows) {
    int64_t key = d->next[TABLE_COLUMN]++;
    database_row(d, TABLE_COLUMN);
    database_int(d, key);
    database_int(d, table);
    database_text(d, c->id);
    database_text(d, kind_text(c->kind));
    database_text(d, unit_text(c->kind, c->unit));
    database_text(d, c->label);
    database_text(d, c->help);
    database_end(d);
    for (uint64_t row = 0; !d->status && row < rows; row++) {
        database_row(d, TABLE_CELL);
        database_int(d, key);
        database_int(d, (int64_t)row);
        put_value(d, c->kind, c->cells[row]);
        database_end(d);
    }
}

static void put_tables(database *d, int64_t item, const mill_report *r) {
    for (uint64_t i = 0; i < r->n_tables; i++) {
        const mill_table *t = r->tables[i];
        int64_t key = d->next[TABLE_TABLE]++;
        database_row(d, TABLE_TABLE);
        database_int(d, key);
        database_int(d, item);
        database_text(d, t->id);
        database_int(d, (int64_t)t->rows);
        database_text(d, t->label);
        database_text(d, t->help);
        database_end(d);
        for (uint64_t c = 0; c < t->n_columns; c++)
            put_column(d, key, t->columns[c], t->rows);
    }
}

static void put_notes(database *d, int64_t item, const mill_report *r) {
    for (uint64_t i = 0; i < r->n_notes; i++) {
        const mill_note *n = r->notes[i];
        database_row(d, TABLE_NOTE);
        database_int(d, item);
        database_text(d, n->id);
        database_text(d, level_text(n->level));
        database_text(d, n->text);
        database_end(d);
    }
}

static void put_findings(database *d, int64_t item, const mill_report *r) {
    for (uint64_t i = 0; i < r->n_findings; i++) {
        const mill_finding *f = r->findings[i];
        database_row(d, TABLE_FINDING);
        database_int(d, d->next[TABLE_FINDING] + (int64_t)i);
        database_int(d, item);
        database_text(d, f->id);
        database_text(d, f->rule);
        database_text(d, level_text(f->level));
        database_text(d, f->where);
        database_text(d, f->evidence);
        database_text(d, f->advice);
        database_int(d, f->cost_ns);
        database_int(d, f->gain_ns);
        database_real(d, f->confidence);
        database_int(d, f->at_ns);
        database_int(d, f->at_ns == MILL_UNKNOWN ? MILL_UNKNOWN : f->at_base_ns);
        database_end(d);
    }
}

/* The findings of the report begin at the next key. */
static void put_intervals(database *d, int64_t lane, const mill_lane *l) {
    for (uint64_t i = 0; !d->status && i < l->n; i++) {
        int64_t finding = l->finding ? l->finding[i] : -1;
        database_row(d, TABLE_INTERVAL);
        database_int(d, lane);
        database_int(d, l->start[i]);
        database_int(d, l->end[i]);
        database_text(d, l->texts[l->text[i]]);
        database_text(d, l->texts[l->cls[i]]);
        database_int(d, finding < 0 ? MILL_UNKNOWN : d->next[TABLE_FINDING] + finding);
        database_end(d);
        if (i % 1024 == 0 && mill_cancelled(d->run))
            d->status = MILL_E_CANCELLED;
    }
}

static void put_lanes(database *d, int64_t item, const mill_report *r) {
    for (uint64_t i = 0; i < r->n_lanes; i++) {
        const mill_lane *l = r->lanes[i];
        int64_t key = d->next[TABLE_LANE]++;
        database_row(d, TABLE_LANE);
        database_int(d, key);
        database_int(d, item);
        database_text(d, l->id);
        database_text(d, l->label);
        database_int(d, l->rank);
        database_int(d, l->device);
        database_int(d, l->stream);
        database_int(d, l->base_ns);
        database_end(d);
        put_intervals(d, key, l);
    }
}

static void put_points(database *d, int64_t series, const mill_series *s) {
    for (uint64_t i = 0; i < s->n; i++) {
        database_row(d, TABLE_POINT);
        database_int(d, series);
        database_real(d, s->x[i]);
        database_real(d, s->y[i]);
        database_end(d);
    }
}

static void put_series(database *d, int64_t item, const mill_report *r) {
    for (uint64_t i = 0; i < r->n_series; i++) {
        const mill_series *s = r->series[i];
        int64_t key = d->next[TABLE_SERIES]++;
        database_row(d, TABLE_SERIES);
        database_int(d, key);
        database_int(d, item);
        database_text(d, s->id);
        database_text(d, s->label);
        database_text(d, s->x_label);
        database_text(d, s->x_unit);
        database_text(d, s->y_label);
        database_text(d, s->y_unit);
        database_text(d, s->kind == MILL_SERIES_HEAT ? "heat" : "curve");
        database_end(d);
        put_points(d, key, s);
    }
}

mill_status write_report(database *d, int64_t item, const mill_report *r) {
    database_row(d, TABLE_REPORT);
    database_int(d, item);
    database_text(d, r->id);
    database_text(d, r->title);
    database_text(d, r->subject);
    database_text(d, r->summary);
    database_end(d);
    put_figures(d, item, r);
    put_tables(d, item, r);
    put_notes(d, item, r);
    put_findings(d, item, r);
    put_lanes(d, item, r);
    put_series(d, item, r);
    d->next[TABLE_FINDING] += (int64_t)r->n_findings;
    return d->status;
}
