/* SPDX-License-Identifier: Apache-2.0 */
/* A report as tables: see parts.h. */
#include "parts.h"

#include <glib.h>
#include <string.h>

static const char *unit_of(mill_kind kind, const char *own) {
    switch (kind) {
    case MILL_KIND_NS:
        return "ns";
    case MILL_KIND_BYTES:
        return "B";
    case MILL_KIND_REAL:
        return own;
    default:
        return NULL;
    }
}

static const char *level_name(mill_level level) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    return (size_t)level < G_N_ELEMENTS(names) ? names[level] : NULL;
}

static void begin_row(csv_rows *rows, const csv_origin *origin) {
    csv_text(rows, origin->key);
    csv_text(rows, origin->stage);
}

/* ---------------------------------------------------------------- parts of any report */

static uint64_t one(const mill_report *report) {
    (void)report;
    return 1;
}

static void report_rows(csv_rows *rows, const csv_origin *origin, const mill_report *r) {
    begin_row(rows, origin);
    csv_text(rows, r->id);
    csv_text(rows, origin->type);
    csv_text(rows, r->title);
    csv_text(rows, r->subject);
    csv_text(rows, r->summary);
    csv_end_row(rows);
}

static uint64_t n_figures(const mill_report *r) {
    return r->n_figures;
}

static void figure_rows(csv_rows *rows, const csv_origin *origin, const mill_report *r) {
    for (uint64_t i = 0; i < r->n_figures; i++) {
        const mill_figure *f = r->figures[i];
        begin_row(rows, origin);
        csv_text(rows, r->id);
        csv_text(rows, f->id);
        csv_text(rows, f->scope);
        csv_text(rows, f->label);
        csv_value(rows, f->kind, f->value);
        csv_text(rows, unit_of(f->kind, f->unit));
        csv_end_row(rows);
    }
}

static uint64_t n_notes(const mill_report *r) {
    return r->n_notes;
}

static void note_rows(csv_rows *rows, const csv_origin *origin, const mill_report *r) {
    for (uint64_t i = 0; i < r->n_notes; i++) {
        begin_row(rows, origin);
        csv_text(rows, r->id);
        csv_text(rows, r->notes[i]->id);
        csv_text(rows, level_name(r->notes[i]->level));
        csv_text(rows, r->notes[i]->text);
        csv_end_row(rows);
    }
}

static uint64_t n_findings(const mill_report *r) {
    return r->n_findings;
}

static void finding_rows(csv_rows *rows, const csv_origin *origin, const mill_report *r) {
    for (uint64_t i = 0; i < r->n_findings; i++) {
        const mill_finding *f = r->findings[i];
        begin_row(rows, origin);
        csv_text(rows, r->id);
        csv_text(rows, f->id);
        csv_text(rows, f->rule);
        csv_text(rows, level_name(f->level));
        csv_text(rows, f->where);
        csv_text(rows, f->evidence);
        csv_text(rows, f->advice);
        csv_int(rows, f->cost_ns);
        csv_int(rows, f->gain_ns);
        csv_real(rows, f->confidence);
        csv_int(rows, f->at_ns);
        csv_int(rows, f->at_ns == MILL_UNKNOWN ? MILL_UNKNOWN : f->at_base_ns);
        csv_end_row(rows);
    }
}

static uint64_t n_lanes(const mill_report *r) {
    return r->n_lanes;
}

/* The id of the finding that an interval belongs to. */
static const char *finding_of(const mill_report *r, const mill_lane *lane, uint64_t i) {
    int64_t finding = lane->finding ? lane->finding[i] : -1;
    return finding < 0 || (uint64_t)finding >= r->n_findings ? NULL : r->findings[finding]->id;
}

static void lane_rows(csv_rows *rows, const csv_origin *origin, const mill_report *r) {
    for (uint64_t k = 0; k < r->n_lanes; k++) {
        const mill_lane *lane = r->lanes[k];
        for (uint64_t i = 0; i < lane->n; i++) {
            begin_row(rows, origin);
            csv_text(rows, r->id);
            csv_text(rows, lane->id);
            csv_text(rows, lane->label);
            csv_int(rows, lane->rank);
            csv_int(rows, lane->device);
            csv_int(rows, lane->stream);
            csv_int(rows, lane->base_ns);
            csv_int(rows, lane->start[i]);
            csv_int(rows, lane->end[i]);
            csv_text(rows, lane->texts[lane->text[i]]);
            csv_text(rows, lane->texts[lane->cls[i]]);
            csv_text(rows, finding_of(r, lane, i));
            csv_end_row(rows);
        }
    }
}

static uint64_t n_series(const mill_report *r) {
    return r->n_series;
}

static void series_rows(csv_rows *rows, const csv_origin *origin, const mill_report *r) {
    for (uint64_t k = 0; k < r->n_series; k++) {
        const mill_series *s = r->series[k];
        for (uint64_t i = 0; i < s->n; i++) {
            begin_row(rows, origin);
            csv_text(rows, r->id);
            csv_text(rows, s->id);
            csv_text(rows, s->label);
            csv_text(rows, s->x_label);
            csv_real(rows, s->x[i]);
            csv_text(rows, s->x_unit);
            csv_text(rows, s->y_label);
            csv_real(rows, s->y[i]);
            csv_text(rows, s->y_unit);
            csv_text(rows, s->kind == MILL_SERIES_HEAT ? "heat" : "curve");
            csv_end_row(rows);
        }
    }
}

const csv_part csv_parts[] = {
    {"reports", "item,source,report,type,title,subject,summary", one, report_rows},
    {"figures", "item,source,report,figure,scope,label,value,unit", n_figures, figure_rows},
    {"notes", "item,source,report,note,level,text", n_notes, note_rows},
    {"findings",
     "item,source,report,finding,rule,level,where,evidence,advice,cost [ns],gain [ns],confidence,"
     "at [ns],at base [ns]",
     n_findings, finding_rows},
    {"lanes",
     "item,source,report,lane,label,rank,device,stream,base [ns],start [ns],end [ns],text,class,"
     "finding",
     n_lanes, lane_rows},
    {"series", "item,source,report,series,label,x_label,x,x_unit,y_label,y,y_unit,kind", n_series,
     series_rows},
    {0},
};

/* ---------------------------------------------------------------- tables of a report */

/* As a cell: quoted where it has to be. */
static void append_quoted(GString *header, const char *name) {
    g_auto(GStrv) parts = g_strsplit(name, "\"", -1);
    g_autofree char *doubled = g_strjoinv("\"\"", parts);
    g_string_append_printf(header, strpbrk(name, ",\"\r\n") ? ",\"%s\"" : ",%s", doubled);
}

char *csv_table_header(const mill_table *table) {
    GString *header = g_string_new("item,source");
    for (uint64_t i = 0; i < table->n_columns; i++) {
        const mill_table_column *c = table->columns[i];
        const char *unit = unit_of(c->kind, c->unit);
        g_autofree char *name = unit ? g_strdup_printf("%s [%s]", c->id, unit) : g_strdup(c->id);
        g_autofree char *valid = g_utf8_make_valid(name, -1);
        append_quoted(header, valid);
    }
    return g_string_free(header, FALSE);
}

void csv_table_rows(csv_rows *rows, const csv_origin *origin, const mill_table *table) {
    for (uint64_t row = 0; row < table->rows; row++) {
        begin_row(rows, origin);
        for (uint64_t i = 0; i < table->n_columns; i++)
            csv_value(rows, table->columns[i]->kind, table->columns[i]->cells[row]);
        csv_end_row(rows);
    }
}
