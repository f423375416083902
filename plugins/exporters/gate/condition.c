/* SPDX-License-Identifier: Apache-2.0 */
/* Reads conditions: see condition.h. */
#include "condition.h"

#include <string.h>

/* The longer ones first, since each begins with a shorter one. */
static const struct {
    const char *text;
    gate_operator test;
} operators[] = {
    {">=", GATE_AT_LEAST}, {"<=", GATE_AT_MOST}, {"==", GATE_EQUAL},
    {"!=", GATE_UNEQUAL},  {">", GATE_ABOVE},    {"<", GATE_BELOW},
};

/* Reads the operator at the beginning of a text. Returns what follows, or NULL: it is none. */
static const char *read_operator(const char *text, gate_operator *ret_test) {
    for (size_t i = 0; i < G_N_ELEMENTS(operators); i++)
        if (g_str_has_prefix(text, operators[i].text)) {
            *ret_test = operators[i].test;
            return text + strlen(operators[i].text);
        }
    return NULL;
}

static bool is_id(const char *text) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return *text && strspn(text, allowed) == strlen(text);
}

/* Reads `REPORT.ITEM` or `REPORT.TABLE.COLUMN`. */
static bool read_ids(gate_condition *c, const char *text, size_t length) {
    g_autofree char *ids = g_strstrip(g_strndup(text, length));
    g_auto(GStrv) parts = g_strsplit(ids, ".", -1);
    guint n = g_strv_length(parts);
    if (n != 2 && n != 3)
        return false;
    for (guint i = 0; i < n; i++)
        if (!is_id(parts[i]))
            return false;
    c->report = g_strdup(parts[0]);
    c->item = g_strdup(parts[1]);
    c->column = g_strdup(parts[2]);
    return true;
}

/* Reads `[SELECTION]`, if it stands there: up to the last bracket that an operator follows, since
 * names of kernels have brackets too. Returns what follows, or NULL: it has no end. */
static const char *read_selection(gate_condition *c, const char *text) {
    if (*text != '[')
        return text;
    const char *end = NULL, *rest = NULL;
    for (const char *at = text; (at = strchr(at, ']')); at++) {
        const char *next = at + 1 + strspn(at + 1, " \t");
        gate_operator ignored;
        if (!read_operator(next, &ignored))
            continue;
        end = at;
        rest = next;
    }
    if (end)
        c->selection = g_strstrip(g_strndup(text + 1, (gsize)(end - text - 1)));
    return rest;
}

static bool read_condition(gate_condition *c, const char *text) {
    size_t n = strcspn(text, "[<>=!");
    if (!read_ids(c, text, n))
        return false;
    const char *rest = read_selection(c, text + n);
    rest = rest ? read_operator(rest, &c->test) : NULL;
    if (!rest)
        return false;
    c->limit = g_strstrip(g_strdup(rest));
    return *c->limit;
}

mill_status gate_condition_init(gate_condition *c, mill_run *run, const char *text) {
    *c = (gate_condition){.text = text};
    bool orders = false;
    if (read_condition(c, text)) {
        orders = c->test != GATE_EQUAL && c->test != GATE_UNEQUAL;
        const char *digits = c->limit + (*c->limit == '-' || *c->limit == '+');
        if (!orders || g_ascii_isdigit(*digits))
            return MILL_OK;
    }
    mill_status status =
        orders ? mill_fail(run, MILL_E_CONFIG,
                           "fail-if = %s: \"%s\" is not a number; text has only == and !=", text,
                           c->limit)
               : mill_fail(run, MILL_E_CONFIG,
                           "fail-if = %s: not a condition; write REPORT.FIGURE [SCOPE] > LIMIT or "
                           "REPORT.TABLE.COLUMN [ROW] > LIMIT (or >= < <= == !=), such as "
                           "overlap.exposed_over_T > 5%%",
                           text);
    gate_condition_finish(c);
    return status;
}

void gate_condition_finish(gate_condition *c) {
    g_free(c->report);
    g_free(c->item);
    g_free(c->column);
    g_free(c->selection);
    g_free(c->limit);
    *c = (gate_condition){0};
}
