/* SPDX-License-Identifier: Apache-2.0 */
/* What the words of a page mean: see definitions.h. */
#include "definitions.h"
#include "write.h"

struct definitions {
    GHashTable *seen;   /* char *: analysis, words and meaning */
    GHashTable *groups; /* char * to GString *: an analysis' list */
    GPtrArray *order;   /* char *: the keys of groups, as they came */
};

static void free_text(gpointer text) {
    g_string_free(text, TRUE);
}

definitions *definitions_create(void) {
    definitions *d = g_new0(definitions, 1);
    d->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    d->groups = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_text);
    d->order = g_ptr_array_new_with_free_func(g_free);
    return d;
}

void definitions_destroy(definitions *d) {
    if (!d)
        return;
    g_hash_table_unref(d->groups);
    g_hash_table_unref(d->seen);
    g_ptr_array_unref(d->order);
    g_free(d);
}

static GString *group_of(definitions *d, const char *name) {
    GString *group = g_hash_table_lookup(d->groups, name);
    if (!group) {
        group = g_string_new(NULL);
        g_ptr_array_add(d->order, g_strdup(name));
        g_hash_table_insert(d->groups, g_ptr_array_index(d->order, d->order->len - 1), group);
    }
    return group;
}

static void define(definitions *d, const char *name, const char *words, const char *meaning) {
    if (!meaning || !*meaning)
        return;
    char *key = g_strdup_printf("%s\n%s\n%s", name, words, meaning);
    if (!g_hash_table_add(d->seen, key))
        return;
    GString *group = group_of(d, name);
    g_string_append(group, "<div><dt>");
    html_text(group, words);
    g_string_append(group, "</dt><dd>");
    html_text(group, meaning);
    g_string_append(group, "</dd></div>\n");
}

void definitions_add(definitions *d, const mill_report *r) {
    const char *name = html_label(r->title, r->id);
    for (uint64_t i = 0; i < r->n_figures; i++)
        define(d, name, html_label(r->figures[i]->label, r->figures[i]->id), r->figures[i]->help);
    for (uint64_t i = 0; i < r->n_tables; i++)
        for (uint64_t k = 0; k < r->tables[i]->n_columns; k++) {
            const mill_table *t = r->tables[i];
            g_autofree char *words =
                g_strdup_printf("%s, in “%s”", html_label(t->columns[k]->label, t->columns[k]->id),
                                html_label(t->label, t->id));
            define(d, name, words, t->columns[k]->help);
        }
}

bool definitions_append(const definitions *d, GString *page) {
    for (guint i = 0; i < d->order->len; i++) {
        const char *name = g_ptr_array_index(d->order, i);
        const GString *group = g_hash_table_lookup(d->groups, name);
        g_string_append(page, "<h3>");
        html_text(page, name);
        g_string_append(page, "</h3>\n<dl class=\"definitions\">\n");
        g_string_append_len(page, group->str, (gssize)group->len);
        g_string_append(page, "</dl>\n");
    }
    return d->order->len > 0;
}
