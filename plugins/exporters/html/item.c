/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a page that is about one item: see item.h. */
#include "item.h"
#include "facts.h"
#include "findings.h"
#include "report.h"
#include "tiles.h"
#include "timeline.h"
#include "write.h"

#include <string.h>

#define FINDINGS 7 /* at first; the others are folded */

/* Lanes of one subject on one clock. */
typedef struct clock_line {
    const char *subject;
    bool based; /* its lanes say when their time 0 was */
    timeline *timeline;
    const mill_report *first;
} clock_line;

typedef struct item {
    const mill_report **reports;
    const page_report *from;
    size_t n;
    const char *id;
    GArray *lines; /* clock_line */
    char **ids;    /* of the reports' elements */
} item;

/* ---------------------------------------------------------------- timelines */

/* Lanes of a simulated schedule begin at 0; those of a profile know when it was. */
static bool is_based(const mill_report *r) {
    return r->n_lanes > 0 && r->lanes[0]->base_ns != MILL_UNKNOWN && r->lanes[0]->base_ns != 0;
}

static clock_line *line_of(const item *it, const mill_report *r) {
    for (guint i = 0; i < it->lines->len; i++) {
        clock_line *line = &g_array_index(it->lines, clock_line, i);
        if (g_strcmp0(line->subject, r->subject) == 0 &&
            (r->n_lanes == 0 || line->based == is_based(r)))
            return line;
    }
    return NULL;
}

static void create_timelines(item *it, const page_options *options) {
    for (size_t i = 0; i < it->n; i++) {
        const mill_report *r = it->reports[i];
        if (r->n_lanes == 0 || line_of(it, r))
            continue;
        clock_line line = {.subject = r->subject, .based = is_based(r), .first = r};
        g_array_append_val(it->lines, line);
    }
    for (guint i = 0; i < it->lines->len; i++) {
        g_autofree char *id = g_strdup_printf("%s-timeline-%u", it->id, i + 1);
        clock_line *line = &g_array_index(it->lines, clock_line, i);
        line->timeline = timeline_create(id, options->budget / it->lines->len);
        timeline_mark_gaps(line->timeline, options->gaps);
    }
    for (size_t i = 0; i < it->n; i++) { /* those without lanes too, for their findings' marks */
        clock_line *line = line_of(it, it->reports[i]);
        if (line)
            timeline_add(line->timeline, it->reports[i]);
    }
}

static bool has_timeline(const item *it) {
    for (guint i = 0; i < it->lines->len; i++)
        if (!timeline_is_empty(g_array_index(it->lines, clock_line, i).timeline))
            return true;
    return false;
}

static bool link_to(void *arg, const mill_report *report, GString *out, const mill_finding *finding,
                    int64_t *ret_shown) {
    clock_line *line = line_of(arg, report);
    return line && timeline_link(line->timeline, out, finding, ret_shown);
}

static void append_timelines(GString *out, const item *it) {
    if (!has_timeline(it))
        return;
    g_string_append_printf(out, "<section class=\"timelines\" id=\"%s-time\"><h2>Timeline</h2>\n",
                           it->id);
    for (guint i = 0; i < it->lines->len; i++) {
        const clock_line *line = &g_array_index(it->lines, clock_line, i);
        if (timeline_is_empty(line->timeline))
            continue;
        if (it->lines->len > 1) {
            g_string_append(out, "<h3>");
            html_text(out, html_label(line->first->title, line->first->id));
            g_string_append(out, line->subject ? " · " : "");
            html_text(out, line->subject);
            g_string_append(out, "</h3>\n");
        }
        timeline_append(line->timeline, out);
    }
    g_string_append(out, "</section>\n");
}

/* ---------------------------------------------------------------- the lead */

/* What the item is called: its key, else its first subject, else what it is a report of. */
static char *name_of(const char *key, const mill_report *const *reports, size_t n) {
    if (key && *key)
        return g_strdup(key);
    for (size_t i = 0; i < n; i++)
        if (reports[i]->subject && *reports[i]->subject)
            return g_strdup(html_file_name(reports[i]->subject));
    return g_strdup(n ? html_label(reports[0]->title, reports[0]->id) : "");
}

/* The first report's answer is the page's; those of the others stand below with their names. */
static void append_answers(GString *out, const item *it) {
    size_t first = 0;
    while (first < it->n && !(it->reports[first]->summary && *it->reports[first]->summary))
        first++;
    if (first == it->n)
        return;
    g_string_append(out, "<p class=\"verdict\">");
    html_prose(out, it->reports[first]->summary);
    g_string_append(out, "</p>\n");
    bool begun = false;
    for (size_t i = first + 1; i < it->n; i++) {
        const mill_report *r = it->reports[i];
        if (!r->summary || !*r->summary)
            continue;
        g_string_append(out, begun ? "" : "<dl class=\"answers\">\n");
        begun = true;
        g_string_append_printf(out, "<div><dt><a href=\"#%s\">", it->ids[i]);
        html_text(out, html_label(r->title, r->id));
        g_string_append(out, "</a></dt><dd>");
        html_prose(out, r->summary);
        g_string_append(out, "</dd></div>\n");
    }
    g_string_append(out, begun ? "</dl>\n" : "");
}

static void append_lead(GString *out, const item *it, const char *name, const char *title) {
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_string_append(out, "<header class=\"lead\">");
    g_string_append(out, "<p class=\"soft\">");
    html_text(out, title ? title : "Tracemill");
    g_string_append(out, "</p>\n<h1>");
    html_text(out, name);
    g_string_append(out, "</h1>\n");
    facts_append(out, it->reports, it->n);
    append_answers(out, it);
    for (size_t i = 0; i < it->n; i++)
        report_notes(out, it->reports[i], MILL_ERROR, MILL_WARNING, seen);
    tiles_append(out, it->reports, it->n);
    g_string_append(out, "</header>\n");
}

static void append_links(item_links *links, const item *it, const char *name, bool findings) {
    g_string_append_printf(links->name, "<a class=\"item-name\" href=\"#%s\">", it->id);
    html_short(links->name, name, 40);
    g_string_append(links->name, "</a>");
    GString *parts = links->parts;
    g_string_append(parts, "<ul>\n");
    if (has_timeline(it))
        g_string_append_printf(parts, "<li><a href=\"#%s-time\">Timeline</a></li>\n", it->id);
    if (findings)
        g_string_append_printf(parts, "<li><a href=\"#%s-found\">What could be won</a></li>\n",
                               it->id);
    for (size_t i = 0; i < it->n; i++) {
        g_string_append_printf(parts, "<li><a href=\"#%s\">", it->ids[i]);
        html_short(parts, html_label(it->reports[i]->title, it->reports[i]->id), 60);
        g_string_append(parts, "</a></li>\n");
    }
    g_string_append(parts, "</ul>");
}

/* ---------------------------------------------------------------- all of it */

static void init(item *it, const char *id, const page_report *from, size_t n) {
    *it = (item){.reports = g_new0(const mill_report *, n + 1),
                 .from = from,
                 .n = n,
                 .id = id,
                 .lines = g_array_new(FALSE, TRUE, sizeof(clock_line)),
                 .ids = g_new0(char *, n + 1)};
    for (size_t i = 0; i < n; i++) {
        g_autofree char *part = html_id(from[i].stage);
        it->reports[i] = from[i].report;
        it->ids[i] = g_strdup_printf("%s-report-%zu-%s", id, i + 1, part);
    }
}

static void finish(item *it) {
    for (guint i = 0; i < it->lines->len; i++)
        timeline_destroy(g_array_index(it->lines, clock_line, i).timeline);
    g_array_free(it->lines, TRUE);
    g_free(it->reports);
    g_strfreev(it->ids);
}

bool item_append(GString *out, item_links *links, const page_options *options, const char *id,
                 const char *key, const page_report *reports, size_t n) {
    item it;
    init(&it, id, reports, n);
    create_timelines(&it, options);
    g_autofree char *name = name_of(key, it.reports, n);
    g_autofree char *found = g_strconcat(id, "-found", NULL);
    g_string_append_printf(out, "<article id=\"%s\">\n", id);
    append_lead(out, &it, name, options->title);
    append_timelines(out, &it);
    size_t before = out->len;
    findings_append(out, it.reports, n, found, FINDINGS, options->rows, link_to, &it);
    append_links(links, &it, name, out->len > before);
    /* Of several reports, each has its warnings again: the lead may be far away. */
    mill_level notes = n > 1 ? MILL_ERROR : MILL_INFO;
    for (size_t i = 0; i < n; i++)
        report_append(out, it.reports[i], it.ids[i], reports[i].stage, options->rows, notes);
    g_string_append(out, "</article>\n");
    bool timed = has_timeline(&it);
    finish(&it);
    return timed;
}
