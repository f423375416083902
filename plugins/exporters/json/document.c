/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as JSON: see document.h. */
#include "document.h"

static const char *kind_name(mill_kind kind) {
    static const char *const names[] = {
        [MILL_KIND_TEXT] = "text",   [MILL_KIND_COUNT] = "count", [MILL_KIND_NS] = "ns",
        [MILL_KIND_BYTES] = "bytes", [MILL_KIND_RATIO] = "ratio", [MILL_KIND_REAL] = "real",
        [MILL_KIND_ID] = "id"};
    return (size_t)kind < G_N_ELEMENTS(names) ? names[kind] : NULL;
}

static const char *level_name(mill_level level) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    return (size_t)level < G_N_ELEMENTS(names) ? names[level] : NULL;
}

static cJSON *datum(mill_kind kind, mill_datum value) {
    switch (kind) {
    case MILL_KIND_TEXT:
        return json_text(value.text);
    case MILL_KIND_COUNT:
    case MILL_KIND_NS:
    case MILL_KIND_BYTES:
    case MILL_KIND_ID:
        return json_int(value.i);
    case MILL_KIND_RATIO:
    case MILL_KIND_REAL:
        return json_real(value.d);
    }
    return cJSON_CreateNull(); /* a kind that is newer than this exporter */
}

static void add_text(cJSON *object, const char *key, const char *text) {
    cJSON_AddItemToObjectCS(object, key, json_text(text));
}

static void add_int(cJSON *object, const char *key, int64_t value) {
    cJSON_AddItemToObjectCS(object, key, json_int(value));
}

/* The unit in which the value stands here. own: that of a REAL. */
static void add_kind(cJSON *object, mill_kind kind, const char *own) {
    add_text(object, "kind", kind_name(kind));
    add_text(object, "unit",
             kind == MILL_KIND_NS      ? "ns"
             : kind == MILL_KIND_BYTES ? "B"
             : kind == MILL_KIND_REAL  ? own
                                       : NULL);
}

static void put_figures(json_writer *w, const mill_report *r) {
    json_open(w, "figures", '[');
    for (uint64_t i = 0; i < r->n_figures; i++) {
        const mill_figure *f = r->figures[i];
        cJSON *object = cJSON_CreateObject();
        add_text(object, "id", f->id);
        add_text(object, "label", f->label);
        add_text(object, "scope", f->scope);
        add_kind(object, f->kind, f->unit);
        cJSON_AddItemToObjectCS(object, "value", datum(f->kind, f->value));
        add_text(object, "help", f->help);
        json_put(w, NULL, object);
    }
    json_close(w, ']');
}

static void put_table(json_writer *w, const mill_table *t) {
    json_open(w, NULL, '{');
    json_put(w, "id", json_text(t->id));
    json_put(w, "label", json_text(t->label));
    json_put(w, "help", json_text(t->help));
    json_open(w, "columns", '[');
    for (uint64_t i = 0; i < t->n_columns; i++) {
        const mill_table_column *c = t->columns[i];
        cJSON *object = cJSON_CreateObject();
        add_text(object, "id", c->id);
        add_text(object, "label", c->label);
        add_kind(object, c->kind, c->unit);
        add_text(object, "help", c->help);
        json_put(w, NULL, object);
    }
    json_close(w, ']');
    json_open(w, "rows", '[');
    for (uint64_t row = 0; row < t->rows; row++) {
        cJSON *cells = cJSON_CreateArray();
        for (uint64_t i = 0; i < t->n_columns; i++)
            cJSON_AddItemToArray(cells, datum(t->columns[i]->kind, t->columns[i]->cells[row]));
        json_put(w, NULL, cells);
    }
    json_close(w, ']');
    json_close(w, '}');
}

static void put_notes(json_writer *w, const mill_report *r) {
    json_open(w, "notes", '[');
    for (uint64_t i = 0; i < r->n_notes; i++) {
        cJSON *object = cJSON_CreateObject();
        add_text(object, "id", r->notes[i]->id);
        add_text(object, "level", level_name(r->notes[i]->level));
        add_text(object, "text", r->notes[i]->text);
        json_put(w, NULL, object);
    }
    json_close(w, ']');
}

static void put_findings(json_writer *w, const mill_report *r) {
    json_open(w, "findings", '[');
    for (uint64_t i = 0; i < r->n_findings; i++) {
        const mill_finding *f = r->findings[i];
        cJSON *object = cJSON_CreateObject();
        add_text(object, "id", f->id);
        add_text(object, "rule", f->rule);
        add_text(object, "level", level_name(f->level));
        add_text(object, "where", f->where);
        add_text(object, "evidence", f->evidence);
        add_text(object, "advice", f->advice);
        add_int(object, "cost_ns", f->cost_ns);
        add_int(object, "gain_ns", f->gain_ns);
        cJSON_AddItemToObjectCS(object, "confidence", json_real(f->confidence));
        add_int(object, "at_ns", f->at_ns);
        add_int(object, "at_base_ns", f->at_ns == MILL_UNKNOWN ? MILL_UNKNOWN : f->at_base_ns);
        json_put(w, NULL, object);
    }
    json_close(w, ']');
}

static void put_lane(json_writer *w, const mill_lane *lane) {
    json_open(w, NULL, '{');
    json_put(w, "id", json_text(lane->id));
    json_put(w, "label", json_text(lane->label));
    json_put(w, "rank", json_int(lane->rank));
    json_put(w, "device", json_int(lane->device));
    json_put(w, "stream", json_int(lane->stream));
    json_put(w, "base_ns", json_int(lane->base_ns));
    json_open(w, "texts", '[');
    for (uint64_t i = 0; i < lane->n_texts; i++)
        json_put(w, NULL, json_text(lane->texts[i]));
    json_close(w, ']');
    json_open(w, "intervals", '[');
    for (uint64_t i = 0; i < lane->n; i++) {
        int64_t finding = lane->finding ? lane->finding[i] : -1;
        cJSON *cells = cJSON_CreateArray();
        cJSON_AddItemToArray(cells, json_int(lane->start[i]));
        cJSON_AddItemToArray(cells, json_int(lane->end[i]));
        cJSON_AddItemToArray(cells, json_int(lane->text[i]));
        cJSON_AddItemToArray(cells, json_int(lane->cls[i]));
        cJSON_AddItemToArray(cells, json_int(finding < 0 ? MILL_UNKNOWN : finding));
        json_put(w, NULL, cells);
    }
    json_close(w, ']');
    json_close(w, '}');
}

static void put_series(json_writer *w, const mill_series *s) {
    json_open(w, NULL, '{');
    json_put(w, "id", json_text(s->id));
    json_put(w, "label", json_text(s->label));
    json_put(w, "kind", json_text(s->kind == MILL_SERIES_HEAT ? "heat" : "curve"));
    json_put(w, "x_label", json_text(s->x_label));
    json_put(w, "x_unit", json_text(s->x_unit));
    json_put(w, "y_label", json_text(s->y_label));
    json_put(w, "y_unit", json_text(s->y_unit));
    json_open(w, "points", '[');
    for (uint64_t i = 0; i < s->n; i++) {
        cJSON *point = cJSON_CreateArray();
        cJSON_AddItemToArray(point, json_real(s->x[i]));
        cJSON_AddItemToArray(point, json_real(s->y[i]));
        json_put(w, NULL, point);
    }
    json_close(w, ']');
    json_close(w, '}');
}

void json_report(json_writer *w, const mill_report *r, const json_origin *origin, bool schema) {
    json_open(w, NULL, '{');
    if (schema)
        json_put(w, "schema", json_text(JSON_SCHEMA));
    json_put(w, "key", json_text(origin->key));
    json_put(w, "stage", json_text(origin->stage));
    json_put(w, "type", json_text(origin->type));
    json_put(w, "id", json_text(r->id));
    json_put(w, "title", json_text(r->title));
    json_put(w, "subject", json_text(r->subject));
    json_put(w, "summary", json_text(r->summary));
    put_notes(w, r);
    put_figures(w, r);
    json_open(w, "tables", '[');
    for (uint64_t i = 0; i < r->n_tables; i++)
        put_table(w, r->tables[i]);
    json_close(w, ']');
    put_findings(w, r);
    json_open(w, "lanes", '[');
    for (uint64_t i = 0; i < r->n_lanes; i++)
        put_lane(w, r->lanes[i]);
    json_close(w, ']');
    json_open(w, "series", '[');
    for (uint64_t i = 0; i < r->n_series; i++)
        put_series(w, r->series[i]);
    json_close(w, ']');
    json_close(w, '}');
}
