/* SPDX-License-Identifier: Apache-2.0 */
/* Looks values up in a report by their ids. */
#include "look.h"

static const mill_figure *find_figure(const mill_report *report, const char *id,
                                      const char *scope) {
    for (uint64_t i = 0; i < report->n_figures; i++)
        if (g_str_equal(report->figures[i]->id, id) &&
            g_strcmp0(report->figures[i]->scope, scope) == 0)
            return report->figures[i];
    g_error("no figure \"%s\" of %s", id, scope ? scope : "the whole report");
}

int64_t look_int(const mill_report *report, const char *id, const char *scope) {
    const mill_figure *figure = find_figure(report, id, scope);
    g_assert_true(figure->kind == MILL_KIND_NS || figure->kind == MILL_KIND_COUNT ||
                  figure->kind == MILL_KIND_BYTES || figure->kind == MILL_KIND_ID);
    return figure->value.i;
}

double look_ratio(const mill_report *report, const char *id, const char *scope) {
    const mill_figure *figure = find_figure(report, id, scope);
    g_assert_cmpint(figure->kind, ==, MILL_KIND_RATIO);
    return figure->value.d;
}

bool look_has_figure(const mill_report *report, const char *id) {
    for (uint64_t i = 0; i < report->n_figures; i++)
        if (g_str_equal(report->figures[i]->id, id))
            return true;
    return false;
}

const mill_table *look_table(const mill_report *report, const char *id) {
    for (uint64_t i = 0; i < report->n_tables; i++)
        if (g_str_equal(report->tables[i]->id, id))
            return report->tables[i];
    return NULL;
}

const mill_note *look_note(const mill_report *report, const char *id) {
    for (uint64_t i = 0; i < report->n_notes; i++)
        if (g_str_equal(report->notes[i]->id, id))
            return report->notes[i];
    return NULL;
}

mill_datum look_cell(const mill_table *table, int64_t row, const char *column) {
    g_assert_cmpint(row, >=, 0);
    g_assert_cmpint(row, <, (int64_t)table->rows);
    for (uint64_t c = 0; c < table->n_columns; c++)
        if (g_str_equal(table->columns[c]->id, column))
            return table->columns[c]->cells[row];
    g_error("table \"%s\" has no column \"%s\"", table->id, column);
}

int64_t look_row(const mill_table *table, int64_t device, const char *key, const char *value) {
    for (int64_t row = 0; row < (int64_t)table->rows; row++)
        if (look_cell(table, row, "device").i == device &&
            g_str_equal(look_cell(table, row, key).text, value))
            return row;
    return -1;
}

int64_t look_row_of(const mill_table *table, int64_t device, const char *key, int64_t value) {
    for (int64_t row = 0; row < (int64_t)table->rows; row++)
        if (look_cell(table, row, "device").i == device &&
            (!key || look_cell(table, row, key).i == value))
            return row;
    return -1;
}
