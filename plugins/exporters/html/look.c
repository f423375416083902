/* SPDX-License-Identifier: Apache-2.0 */
/* Things of a report by their ids. */
#include "look.h"

#include <glib.h>
#include <string.h>

const mill_figure *look_figure(const mill_report *r, const char *id, const char *scope) {
    for (uint64_t i = 0; id && i < r->n_figures; i++)
        if (strcmp(r->figures[i]->id, id) == 0 &&
            (!scope || g_strcmp0(r->figures[i]->scope, scope) == 0))
            return r->figures[i];
    return NULL;
}

const mill_figure *look_scoped(const mill_report *r, const char *id, const char *scope) {
    for (uint64_t i = 0; i < r->n_figures; i++)
        if (strcmp(r->figures[i]->id, id) == 0 && g_strcmp0(r->figures[i]->scope, scope) == 0)
            return r->figures[i];
    return NULL;
}

const mill_table *look_table(const mill_report *r, const char *id) {
    for (uint64_t i = 0; i < r->n_tables; i++)
        if (strcmp(r->tables[i]->id, id) == 0)
            return r->tables[i];
    return NULL;
}

const mill_table_column *look_column(const mill_table *t, const char *id) {
    for (uint64_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i]->id, id) == 0)
            return t->columns[i];
    return NULL;
}
