/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of all reports of an item: see findings.h. */
#include "findings.h"
#include "write.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/value.h>

typedef struct entry {
    const mill_finding *finding;
    const mill_report *report;
    size_t order;
} entry;

/* By gain, else by cost; what has neither comes last, in its own order. */
static int64_t weight(const mill_finding *f) {
    return f->gain_ns != MILL_UNKNOWN ? f->gain_ns : f->cost_ns;
}

static int compare_entries(const void *a, const void *b) {
    const entry *p = a, *q = b;
    int64_t x = weight(p->finding), y = weight(q->finding);
    if (x != y)
        return x < y ? 1 : -1;
    return p->order < q->order ? -1 : 1;
}

static void append_number(GString *page, const char *what, int64_t ns) {
    if (ns == MILL_UNKNOWN)
        return;
    g_string_append_printf(page, "<li>%s ", what);
    html_time(page, ns);
    g_string_append(page, "</li>");
}

static void append_sentence(GString *page, const char *class, const char *text) {
    if (!text || !*text)
        return;
    g_string_append_printf(page, "<p class=\"%s\">", class);
    html_prose(page, text);
    g_string_append(page, "</p>");
}

/* Where the timeline counts from elsewhere, both times are told: that of the axis and the
 * finding's own, which other exporters show. */
static void append_place(GString *page, const entry *e, findings_link link, void *arg) {
    int64_t at = e->finding->at_ns, shown = at;
    g_string_append(page, "<li>");
    bool linked = link(arg, e->report, page, e->finding, &shown);
    g_string_append(page, linked ? "show at " : "at ");
    html_time(page, shown);
    if (shown != at) {
        g_string_append(page, " (");
        html_time(page, at);
        g_string_append(page, " from its device’s start)");
    }
    g_string_append(page, linked ? "</a></li>" : "</li>");
}

static void append_entry(GString *page, const entry *e, findings_link link, void *arg) {
    static const char *const levels[] = {"error", "warning", "info", "detail"};
    const mill_finding *f = e->finding;
    const char *level = levels[MIN((size_t)f->level, G_N_ELEMENTS(levels) - 1)];
    g_string_append_printf(page, "<li class=\"finding %s\"><p class=\"where\"><span class=\"rule\"",
                           level);
    html_attribute(page, "title", html_label(e->report->title, e->report->id));
    g_string_append_c(page, '>');
    html_text(page, html_label(f->rule, f->id));
    g_string_append_printf(page, "</span> <span class=\"level\">%s</span> ", level);
    html_text(page, f->where);
    g_string_append(page, "</p>");
    append_sentence(page, "evidence", f->evidence);
    append_sentence(page, "advice", f->advice);
    g_string_append(page, "<ul class=\"numbers\">");
    append_number(page, "costs", f->cost_ns);
    append_number(page, "gain at most", f->gain_ns);
    if (f->confidence >= 0 && f->confidence <= 1)
        g_string_append_printf(page, "<li>confidence %.0f %%</li>", f->confidence * 100);
    if (f->at_ns != MILL_UNKNOWN)
        append_place(page, e, link, arg);
    g_string_append(page, "</ul></li>\n");
}

void findings_append(GString *page, const mill_report *const *reports, size_t n, const char *id,
                     size_t first, uint64_t rows, findings_link link, void *arg) {
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(entry));
    for (size_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < reports[i]->n_findings; k++) {
            entry e = {reports[i]->findings[k], reports[i], all->len};
            g_array_append_val(all, e);
        }
    if (!all->len)
        return;
    qsort(all->data, all->len, sizeof(entry), compare_entries);
    g_string_append_printf(
        page, "<section class=\"findings\" id=\"%s\"><h2>What could be won</h2><ol>\n", id);
    guint shown = (guint)MIN(all->len, rows);
    for (guint i = 0; i < shown; i++) {
        if (i == first)
            g_string_append_printf(page,
                                   "</ol><details><summary>%u more, which win less</summary><ol "
                                   "start=\"%u\">\n",
                                   shown - i, i + 1);
        append_entry(page, &g_array_index(all, entry, i), link, arg);
    }
    g_string_append(page, shown > first ? "</ol></details>\n" : "</ol>\n");
    if (shown < all->len)
        g_string_append_printf(page, "<p class=\"soft\">… and %u more findings of %u</p>\n",
                               all->len - shown, all->len);
    g_string_append(page, "</section>\n");
}
