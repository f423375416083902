/* SPDX-License-Identifier: Apache-2.0 */
/* Owns the building of mill.report/1 values: what is listed grows in scratch memory, what it lists
 * lies in the value from the start. */
#include <tracemill/kit/report.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* An array that grows in scratch memory. */
typedef struct list {
    void *v;
    size_t n, room;
} list;

struct kit_report {
    mill_run *run;
    mill_report *value;
    list figures, tables, notes, findings, lanes, series; /* of pointers, but tables: kit_table * */
};

struct kit_table {
    kit_report *report;
    mill_table *value;
    list columns; /* mill_table_column * */
    list cells;   /* mill_datum, row by row */
    size_t rows;
};

static void *add(mill_run *run, list *l, size_t size) {
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 16;
        void *v = mill_scratch(run, room * size);
        if (l->n)
            memcpy(v, l->v, l->n * size);
        l->v = v;
        l->room = room;
    }
    return (char *)l->v + l->n++ * size;
}

static void add_pointer(mill_run *run, list *l, void *item) {
    *(void **)add(run, l, sizeof item) = item;
}

static void *get_pointer(const list *l, size_t i) {
    return ((void **)l->v)[i];
}

static void *alloc(kit_report *r, size_t size) {
    return mill_value_alloc(r->run, r->value, size);
}

static const void *copy(kit_report *r, const void *data, size_t n, size_t size) {
    void *memory = alloc(r, n * size);
    if (n)
        memcpy(memory, data, n * size);
    return memory;
}

/* The list's pointers in memory of the value, as the report's arrays are. */
static const void *pointers(kit_report *r, const list *l) {
    return copy(r, l->v, l->n, sizeof(void *));
}

/* ---------------------------------------------------------------- text */

static bool is_tail(unsigned char byte) {
    return (byte & 0xc0) == 0x80;
}

/* Bytes of the valid UTF-8 sequence at s (RFC 3629, table 3-7 of Unicode), 0: there is none. */
static size_t sequence(const unsigned char *s, size_t left) {
    if (s[0] < 0x80)
        return s[0] != 0;
    if (s[0] < 0xc2 || s[0] > 0xf4 || left < 2)
        return 0;
    /* The second byte's range rules out overlong forms, surrogates, and what is above U+10FFFF. */
    unsigned char low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    if (s[1] < low || s[1] > high)
        return 0;
    if (s[0] < 0xe0)
        return 2;
    if (left < 3 || !is_tail(s[2]))
        return 0;
    if (s[0] < 0xf0)
        return 3;
    return left >= 4 && is_tail(s[3]) ? 4 : 0;
}

const char *kit_text_utf8(mill_run *run, void *value, const char *text, size_t length) {
    static const char replacement[] = "\xef\xbf\xbd";
    const unsigned char *s = (const unsigned char *)text;
    size_t bad = 0;
    for (size_t i = 0, n; i < length; i += n ? n : 1) {
        n = sequence(s + i, length - i);
        bad += n == 0;
    }
    char *out = (char *)mill_value_alloc(run, value, length + 2 * bad + 1), *at = out;
    for (size_t i = 0, n; i < length; i += n ? n : 1) {
        n = sequence(s + i, length - i);
        const char *from = n ? text + i : replacement;
        size_t count = n ? n : sizeof replacement - 1;
        memcpy(at, from, count);
        at += count;
    }
    return out;
}

/* NULL stays NULL: unknown, or not given. */
static const char *text(kit_report *r, const char *s) {
    return s ? kit_text_utf8(r->run, r->value, s, strlen(s)) : NULL;
}

MILL_PRINTF(2, 0)
static const char *text_of(kit_report *r, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *s = mill_scratch(r->run, length < 0 ? 1 : (size_t)length + 1);
    if (length > 0)
        vsnprintf(s, (size_t)length + 1, format, again);
    va_end(again);
    return text(r, s);
}

/* ---------------------------------------------------------------- the report */

kit_report *kit_report_begin(mill_run *run, const char *id, const char *title,
                             const char *subject) {
    kit_report *r = mill_scratch(run, sizeof *r);
    r->run = run;
    r->value = mill_value_alloc(run, NULL, sizeof *r->value);
    r->value->size = sizeof *r->value;
    r->value->id = text(r, id);
    r->value->title = text(r, title);
    r->value->subject = text(r, subject);
    return r;
}

void kit_report_summary(kit_report *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    r->value->summary = text_of(r, format, args);
    va_end(args);
}

void kit_note(kit_report *r, mill_level level, const char *id, const char *format, ...) {
    mill_note *note = alloc(r, sizeof *note);
    va_list args;
    va_start(args, format);
    *note = (mill_note){sizeof *note, level, text(r, id), text_of(r, format, args)};
    va_end(args);
    add_pointer(r->run, &r->notes, note);
}

/* ---------------------------------------------------------------- figures */

static double ratio(int64_t numerator, int64_t denominator) {
    if (denominator == 0 || numerator == MILL_UNKNOWN || denominator == MILL_UNKNOWN)
        return NAN;
    return (double)numerator / (double)denominator;
}

static bool is_integer(mill_kind kind) {
    return kind == MILL_KIND_COUNT || kind == MILL_KIND_NS || kind == MILL_KIND_BYTES ||
           kind == MILL_KIND_ID;
}

static mill_figure *add_figure(kit_report *r, mill_kind kind, const char *id, const char *label,
                               const char *scope, const char *help) {
    mill_figure *figure = alloc(r, sizeof *figure);
    figure->size = sizeof *figure;
    figure->kind = kind;
    figure->id = text(r, id);
    figure->label = text(r, label);
    figure->scope = text(r, scope);
    figure->help = text(r, help);
    add_pointer(r->run, &r->figures, figure);
    return figure;
}

void kit_figure_text(kit_report *r, const char *id, const char *label, const char *scope,
                     const char *help, const char *s) {
    add_figure(r, MILL_KIND_TEXT, id, label, scope, help)->value.text = text(r, s);
}

void kit_figure_int(kit_report *r, mill_kind kind, const char *id, const char *label,
                    const char *scope, const char *help, int64_t value) {
    assert(is_integer(kind));
    add_figure(r, kind, id, label, scope, help)->value.i = value;
}

void kit_figure_ratio(kit_report *r, const char *id, const char *label, const char *scope,
                      const char *help, int64_t numerator, int64_t denominator) {
    add_figure(r, MILL_KIND_RATIO, id, label, scope, help)->value.d = ratio(numerator, denominator);
}

void kit_figure_share(kit_report *r, const char *id, const char *label, const char *scope,
                      const char *help, double value) {
    add_figure(r, MILL_KIND_RATIO, id, label, scope, help)->value.d = value;
}

void kit_figure_real(kit_report *r, const char *id, const char *label, const char *scope,
                     const char *help, const char *unit, double value) {
    mill_figure *figure = add_figure(r, MILL_KIND_REAL, id, label, scope, help);
    figure->unit = text(r, unit);
    figure->value.d = value;
}

/* ---------------------------------------------------------------- tables */

kit_table *kit_table_begin(kit_report *r, const char *id, const char *label, const char *help) {
    kit_table *t = mill_scratch(r->run, sizeof *t);
    t->report = r;
    t->value = alloc(r, sizeof *t->value);
    t->value->size = sizeof *t->value;
    t->value->id = text(r, id);
    t->value->label = text(r, label);
    t->value->help = text(r, help);
    add_pointer(r->run, &r->tables, t);
    return t;
}

void kit_table_column(kit_table *t, mill_kind kind, const char *id, const char *label,
                      const char *unit, const char *help) {
    assert(t->rows == 0);
    kit_report *r = t->report;
    mill_table_column *column = alloc(r, sizeof *column);
    *column = (mill_table_column){sizeof *column, kind,          text(r, id), text(r, label),
                                  text(r, unit),  text(r, help), NULL};
    add_pointer(r->run, &t->columns, column);
}

static mill_kind next_kind(const kit_table *t) {
    assert(t->cells.n < t->rows * t->columns.n); /* a cell too many, or no row begun */
    const mill_table_column *column = get_pointer(&t->columns, t->cells.n % t->columns.n);
    return column->kind;
}

static void add_cell(kit_table *t, mill_datum cell) {
    *(mill_datum *)add(t->report->run, &t->cells, sizeof cell) = cell;
}

static void fill_row(kit_table *t) {
    while (t->cells.n < t->rows * t->columns.n) {
        mill_kind kind = next_kind(t);
        if (kind == MILL_KIND_TEXT)
            add_cell(t, (mill_datum){.text = NULL});
        else if (is_integer(kind))
            add_cell(t, (mill_datum){.i = MILL_UNKNOWN});
        else
            add_cell(t, (mill_datum){.d = NAN});
    }
}

kit_table *kit_table_of(kit_report *r, const char *id, const char *label, const char *help,
                        const kit_column *columns) {
    kit_table *t = kit_table_begin(r, id, label, help);
    for (const kit_column *c = columns; c->id; c++)
        kit_table_column(t, c->kind, c->id, c->label, NULL, c->help);
    return t;
}

void kit_table_row(kit_table *t) {
    fill_row(t);
    t->rows++;
}

void kit_cell_text(kit_table *t, const char *s) {
    assert(next_kind(t) == MILL_KIND_TEXT);
    add_cell(t, (mill_datum){.text = text(t->report, s)});
}

void kit_cell_int(kit_table *t, int64_t value) {
    assert(is_integer(next_kind(t)));
    add_cell(t, (mill_datum){.i = value});
}

void kit_cell_ratio(kit_table *t, int64_t numerator, int64_t denominator) {
    assert(next_kind(t) == MILL_KIND_RATIO);
    add_cell(t, (mill_datum){.d = ratio(numerator, denominator)});
}

void kit_cell_share(kit_table *t, double value) {
    assert(next_kind(t) == MILL_KIND_RATIO);
    add_cell(t, (mill_datum){.d = value});
}

void kit_cell_real(kit_table *t, double value) {
    assert(next_kind(t) == MILL_KIND_REAL);
    add_cell(t, (mill_datum){.d = value});
}

/* Turns the rows of cells into the columns of the value. */
static mill_table *end_table(kit_table *t) {
    kit_report *r = t->report;
    fill_row(t);
    const mill_datum *cells = t->cells.v;
    for (size_t c = 0; c < t->columns.n; c++) {
        mill_datum *column = alloc(r, t->rows * sizeof *column);
        for (size_t row = 0; row < t->rows; row++)
            column[row] = cells[row * t->columns.n + c];
        ((mill_table_column *)get_pointer(&t->columns, c))->cells = column;
    }
    t->value->columns = pointers(r, &t->columns);
    t->value->n_columns = t->columns.n;
    t->value->rows = t->rows;
    return t->value;
}

/* ---------------------------------------------------------------- findings, lanes, series */

void kit_finding(kit_report *r, const mill_finding *finding) {
    mill_finding *f = alloc(r, sizeof *f);
    *f = *finding;
    f->size = sizeof *f;
    f->id = text(r, finding->id);
    f->rule = text(r, finding->rule);
    f->where = text(r, finding->where);
    f->evidence = text(r, finding->evidence);
    f->advice = text(r, finding->advice);
    add_pointer(r->run, &r->findings, f);
}

void kit_lane(kit_report *r, const mill_lane *lane) {
    mill_lane *l = alloc(r, sizeof *l);
    *l = *lane;
    l->size = sizeof *l;
    l->id = text(r, lane->id);
    l->label = text(r, lane->label);
    l->start = copy(r, lane->start, lane->n, sizeof *lane->start);
    l->end = copy(r, lane->end, lane->n, sizeof *lane->end);
    l->text = copy(r, lane->text, lane->n, sizeof *lane->text);
    l->cls = copy(r, lane->cls, lane->n, sizeof *lane->cls);
    if (lane->finding)
        l->finding = copy(r, lane->finding, lane->n, sizeof *lane->finding);
    const char **texts = alloc(r, lane->n_texts * sizeof *texts);
    for (size_t i = 0; i < lane->n_texts; i++)
        texts[i] = text(r, lane->texts[i]);
    l->texts = texts;
    add_pointer(r->run, &r->lanes, l);
}

void kit_series(kit_report *r, const mill_series *series) {
    mill_series *s = alloc(r, sizeof *s);
    *s = *series;
    s->size = sizeof *s;
    s->id = text(r, series->id);
    s->label = text(r, series->label);
    s->x_label = text(r, series->x_label);
    s->x_unit = text(r, series->x_unit);
    s->y_label = text(r, series->y_label);
    s->y_unit = text(r, series->y_unit);
    s->x = copy(r, series->x, series->n, sizeof *series->x);
    s->y = copy(r, series->y, series->n, sizeof *series->y);
    add_pointer(r->run, &r->series, s);
}

mill_report *kit_report_end(kit_report *r) {
    mill_report *value = r->value;
    for (size_t i = 0; i < r->tables.n; i++) {
        mill_table *table = end_table(get_pointer(&r->tables, i));
        ((void **)r->tables.v)[i] = table;
    }
    value->figures = pointers(r, &r->figures);
    value->tables = pointers(r, &r->tables);
    value->notes = pointers(r, &r->notes);
    value->findings = pointers(r, &r->findings);
    value->lanes = pointers(r, &r->lanes);
    value->series = pointers(r, &r->series);
    value->n_figures = r->figures.n;
    value->n_tables = r->tables.n;
    value->n_notes = r->notes.n;
    value->n_findings = r->findings.n;
    value->n_lanes = r->lanes.n;
    value->n_series = r->series.n;
    return value;
}
