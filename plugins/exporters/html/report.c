/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a page that is one report: see report.h. */
#include "report.h"
#include "chart.h"
#include "heat.h"
#include "table.h"
#include "views.h"
#include "write.h"

void report_notes(GString *page, const mill_report *r, mill_level from, mill_level to,
                  GHashTable *seen) {
    static const char *const levels[] = {"error", "warning", "note"};
    bool begun = false;
    for (uint64_t i = 0; i < r->n_notes; i++) {
        const mill_note *note = r->notes[i];
        const char *level = levels[MIN((size_t)note->level, G_N_ELEMENTS(levels) - 1)];
        if (note->level < from || note->level > to ||
            (seen && !g_hash_table_add(seen, (gpointer)note->text)))
            continue;
        if (!begun)
            g_string_append(page, "<ul class=\"notes\">\n");
        begun = true;
        g_string_append_printf(page, "<li class=\"%s\"><span class=\"level\">%s</span> ", level,
                               level);
        html_prose(page, note->text);
        g_string_append(page, "</li>\n");
    }
    if (begun)
        g_string_append(page, "</ul>\n");
}

/* Ids are unique in a page also where those of the tables aren't. */
static void append_tables(GString *page, const mill_report *r, const char *id, uint64_t rows) {
    g_autoptr(GHashTable) used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_string_append(page, r->n_tables ? "<div class=\"tables\">\n" : "");
    for (uint64_t i = 0; i < r->n_tables; i++) {
        g_autofree char *part = html_id(r->tables[i]->id);
        char *own = g_strdup_printf("%s-%s", id, part);
        for (unsigned k = 2; g_hash_table_contains(used, own); k++) {
            g_free(own);
            own = g_strdup_printf("%s-%s--%u", id, part, k);
        }
        table_append(page, r->tables[i], own, rows);
        g_hash_table_add(used, own);
    }
    g_string_append(page, r->n_tables ? "</div>\n" : "");
}

void report_append(GString *page, const mill_report *r, const char *id, const char *stage,
                   uint64_t rows, mill_level notes) {
    g_string_append_printf(page, "<section class=\"report\" id=\"%s\"><h2>", id);
    html_text(page, html_label(r->title, r->id));
    g_string_append(page, "</h2>\n<p class=\"source soft\">");
    html_text(page, stage);
    if (r->subject && *r->subject) {
        g_string_append(page, " of ");
        html_text(page, r->subject);
    }
    g_string_append(page, "</p>\n");
    if (r->summary && *r->summary) {
        g_string_append(page, "<p class=\"summary\">");
        html_prose(page, r->summary);
        g_string_append(page, "</p>\n");
    }
    report_notes(page, r, notes, MILL_DEBUG, NULL);
    views_append(page, r);
    heat_series(page, r);
    chart_series(page, r);
    table_figures(page, r);
    append_tables(page, r, id, rows);
    g_string_append(page, "</section>\n");
}
