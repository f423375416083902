/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for the values of a condition in a report, and compares them: see check.h. */
#include "check.h"

#include <string.h>
#include <tracemill/kit/number.h>

/* One condition on its way through a report. */
typedef struct search {
    mill_run *run;
    const gate_condition *condition;
    const mill_report *report;
    gate_check *check;
    gate_value worst, limit; /* of the values that are known */
    bool has_worst;
    bool worst_fails;
} search;

const char *gate_nearest(const char *word, const char *const *names, size_t n) {
    size_t length = strlen(word), least = MAX(1, length / 3) + 1;
    const char *nearest = NULL;
    g_autofree size_t *row = g_new(size_t, length + 1);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i <= length; i++)
            row[i] = i;
        for (const char *c = names[k]; *c; c++) { /* row[i]: word[0, i) to the name up to c */
            size_t diagonal = row[0]++;
            for (size_t i = 1; i <= length; i++) {
                size_t above = row[i], changed = diagonal + (word[i - 1] != *c);
                row[i] = MIN(MIN(above, row[i - 1]) + 1, changed);
                diagonal = above;
            }
        }
        if (row[length] < least) {
            least = row[length];
            nearest = names[k];
        }
    }
    return nearest;
}

/* ---------------------------------------------------------------- values */

static mill_status read_limit(search *s, const gate_value *value) {
    const gate_condition *c = s->condition;
    bool orders = c->test != GATE_EQUAL && c->test != GATE_UNEQUAL;
    if (value->kind == MILL_KIND_TEXT && orders)
        return mill_fail(s->run, MILL_E_CONFIG,
                         "fail-if = %s: that value is text, which has only == and !=", c->text);
    if (!gate_limit_read(c->limit, value, &s->limit))
        return mill_fail(s->run, MILL_E_CONFIG, "fail-if = %s: \"%s\" is not %s", c->text, c->limit,
                         gate_limit_form(value->kind));
    return MILL_OK;
}

/* Whether a is farther from passing than b. Both pass, or both fail. */
static bool is_worse(gate_operator test, const gate_value *a, const gate_value *b) {
    switch (test) {
    case GATE_ABOVE:
    case GATE_AT_LEAST:
        return gate_holds(a, GATE_ABOVE, b);
    case GATE_BELOW:
    case GATE_AT_MOST:
        return gate_holds(a, GATE_BELOW, b);
    default:
        return false; /* the first stays */
    }
}

/* Takes a value into account. Its limit has been read. Gives whether it is the one to tell. */
static bool weigh(search *s, const gate_value *value) {
    s->check->tested++;
    if (gate_is_unknown(value)) {
        s->check->unknown++;
        return false;
    }
    gate_operator test = s->condition->test;
    bool fails = gate_holds(value, test, &s->limit);
    s->check->failed += fails;
    if (s->has_worst &&
        (fails < s->worst_fails || (fails == s->worst_fails && !is_worse(test, value, &s->worst))))
        return false;
    s->has_worst = true;
    s->worst_fails = fails;
    s->worst = *value;
    return true;
}

static void tell_where(gate_check *check, char *where) {
    g_free(check->where);
    check->where = where;
}

/* ---------------------------------------------------------------- figures */

static mill_status no_such(search *s, const char *what, const char *word, GPtrArray *names) {
    const char *near = gate_nearest(word, (const char *const *)names->pdata, names->len);
    return mill_fail(s->run, MILL_E_CONFIG, "fail-if = %s: %s has no %s \"%s\"%s%s%s",
                     s->condition->text, s->report->id, what, word, near ? "; did you mean \"" : "",
                     near ? near : "", near ? "\"?" : "");
}

static mill_status no_figure(search *s) {
    const gate_condition *c = s->condition;
    const mill_report *r = s->report;
    for (uint64_t i = 0; i < r->n_tables; i++)
        if (strcmp(r->tables[i]->id, c->item) == 0)
            return mill_fail(s->run, MILL_E_CONFIG,
                             "fail-if = %s: %s.%s is a table; say also which column of it", c->text,
                             r->id, c->item);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (uint64_t i = 0; i < r->n_figures; i++)
        g_ptr_array_add(names, (gpointer)r->figures[i]->id);
    return no_such(s, "figure", c->item, names);
}

static mill_status check_figures(search *s) {
    const gate_condition *c = s->condition;
    bool found = false;
    for (uint64_t i = 0; i < s->report->n_figures; i++) {
        const mill_figure *f = s->report->figures[i];
        if (strcmp(f->id, c->item) != 0)
            continue;
        gate_value value = {f->kind, f->unit, f->value};
        mill_status status = read_limit(s, &value);
        if (status)
            return status;
        found = true;
        if (c->selection && g_strcmp0(f->scope, c->selection) != 0)
            continue;
        if (weigh(s, &value))
            tell_where(s->check, g_strdup(f->scope));
    }
    return found ? MILL_OK : no_figure(s);
}

/* ---------------------------------------------------------------- columns of tables */

static const mill_table *find_table(const mill_report *report, const char *id) {
    for (uint64_t i = 0; i < report->n_tables; i++)
        if (strcmp(report->tables[i]->id, id) == 0)
            return report->tables[i];
    return NULL;
}

static const mill_table_column *find_column(const mill_table *table, const char *id) {
    for (uint64_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i]->id, id) == 0)
            return table->columns[i];
    return NULL;
}

static mill_status no_column(search *s, const mill_table *table) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    if (table) {
        for (uint64_t i = 0; i < table->n_columns; i++)
            g_ptr_array_add(names, (gpointer)table->columns[i]->id);
        return no_such(s, "column", s->condition->column, names);
    }
    for (uint64_t i = 0; i < s->report->n_tables; i++)
        g_ptr_array_add(names, (gpointer)s->report->tables[i]->id);
    return no_such(s, "table", s->condition->item, names);
}

/* The text or number that names something in a cell; NULL: another kind, or unknown. */
static char *cell_name(const mill_table_column *column, uint64_t row) {
    char digits[KIT_NUMBER_MAX];
    mill_datum cell = column->cells[row];
    if (column->kind == MILL_KIND_TEXT)
        return g_strdup(cell.text);
    if (column->kind == MILL_KIND_ID && cell.i != MILL_UNKNOWN)
        return g_strdup(kit_format_int(digits, cell.i, 0));
    return NULL;
}

static bool is_selected(const mill_table *table, uint64_t row, const char *selection) {
    for (uint64_t i = 0; selection && i < table->n_columns; i++) {
        g_autofree char *name = cell_name(table->columns[i], row);
        if (g_strcmp0(name, selection) == 0)
            return true;
    }
    return !selection;
}

/* What names a row: its cells of text and ids on the left of the one that is compared. */
static char *row_name(const mill_table *table, const mill_table_column *compared, uint64_t row) {
    GString *name = g_string_new(NULL);
    for (uint64_t i = 0; table->columns[i] != compared; i++) {
        g_autofree char *cell = cell_name(table->columns[i], row);
        if (cell)
            g_string_append_printf(name, "%s%s %s", name->len ? ", " : "", table->columns[i]->id,
                                   cell);
    }
    if (!name->len)
        g_string_append_printf(name, "row %" G_GUINT64_FORMAT, row + 1);
    return g_string_free(name, FALSE);
}

static mill_status check_column(search *s) {
    const gate_condition *c = s->condition;
    const mill_table *table = find_table(s->report, c->item);
    const mill_table_column *column = table ? find_column(table, c->column) : NULL;
    if (!column)
        return no_column(s, table);
    mill_status status = read_limit(s, &(gate_value){.kind = column->kind, .unit = column->unit});
    for (uint64_t row = 0; !status && row < table->rows; row++) {
        gate_value value = {column->kind, column->unit, column->cells[row]};
        if (is_selected(table, row, c->selection) && weigh(s, &value))
            tell_where(s->check, row_name(table, column, row));
    }
    return status;
}

/* ---------------------------------------------------------------- checks */

/* No rows of a table are no failure (it may list what is wrong); a row or scope that was asked for
 * and is not there is unknown. */
static gate_verdict judge(const gate_check *check) {
    if (check->failed)
        return GATE_FAIL;
    if (check->unknown || (!check->tested && check->condition->selection))
        return GATE_UNKNOWN;
    return GATE_PASS;
}

mill_status gate_check_create(mill_run *run, const gate_condition *condition,
                              const mill_report *report, const char *key, gate_check **ret_check) {
    gate_check *check = g_new0(gate_check, 1);
    check->condition = condition;
    check->key = g_strdup(key);
    search s = {.run = run, .condition = condition, .report = report, .check = check};
    mill_status status = condition->column ? check_column(&s) : check_figures(&s);
    if (status) {
        gate_check_destroy(check);
        return status;
    }
    if (s.has_worst)
        check->value = gate_value_text(&s.worst, &s.limit, condition->limit);
    check->verdict = judge(check);
    *ret_check = check;
    return MILL_OK;
}

gate_check *gate_check_nothing(const gate_condition *condition) {
    gate_check *check = g_new0(gate_check, 1);
    check->condition = condition;
    check->key = g_strdup("");
    check->verdict = GATE_UNKNOWN;
    return check;
}

void gate_check_destroy(gate_check *check) {
    g_free(check->key);
    g_free(check->where);
    g_free(check->value);
    g_free(check);
}
