/* SPDX-License-Identifier: Apache-2.0 */
/* Where the window goes, and which stages run at once: see waterfall.h. */
#include "waterfall.h"
#include "heat.h"
#include "look.h"
#include "write.h"

#include <inttypes.h>
#include <string.h>
#include <tracemill/kit/value.h>

#define DEVICES 8
#define STAGES 24 /* of a matrix, across and down */

/* ---------------------------------------------------------------- the parts of a window */

typedef struct part {
    const char *label;
    int64_t ns;
    const char *class; /* of page.css */
} part;

static bool time_of(const mill_report *r, const char *id, const char *scope, int64_t *ret_ns) {
    const mill_figure *f = look_scoped(r, id, scope);
    if (!f || f->kind != MILL_KIND_NS || f->value.i == MILL_UNKNOWN)
        return false;
    *ret_ns = f->value.i;
    return true;
}

static void add_part(GArray *parts, const char *label, int64_t ns, const char *class) {
    part p = {label, ns, class};
    if (ns > 0)
        g_array_append_val(parts, p);
}

/* Whether a row of the table is of the scope "device N"; without scopes there is one device. */
static bool is_of(const mill_table *t, uint64_t row, const char *scope) {
    const mill_table_column *device = look_column(t, "device");
    if (!scope)
        return true;
    g_autofree char *own = device ? g_strdup_printf("device %" PRId64, device->cells[row].i) : NULL;
    return g_strcmp0(own, scope) == 0;
}

static void add_reasons(GArray *parts, const mill_table *t, const char *scope) {
    const mill_table_column *reason = t ? look_column(t, "reason") : NULL;
    const mill_table_column *time = t ? look_column(t, "time") : NULL;
    if (!reason || !time || reason->kind != MILL_KIND_TEXT || time->kind != MILL_KIND_NS)
        return;
    const mill_table_column *meaning = look_column(t, "meaning");
    for (uint64_t i = 0; i < t->rows; i++) {
        if (!is_of(t, i, scope))
            continue;
        const char *text =
            meaning && meaning->kind == MILL_KIND_TEXT ? meaning->cells[i].text : NULL;
        bool waits = g_strcmp0(reason->cells[i].text, "wait_comm") == 0;
        add_part(parts, text ? text : reason->cells[i].text, time->cells[i].i, waits ? "c5" : "c1");
    }
}

/* Times that add up without overflow, to the window. */
static bool is_whole(const GArray *parts, int64_t window) {
    int64_t rest = window;
    for (guint i = 0; i < parts->len; i++) {
        int64_t ns = g_array_index(parts, part, i).ns;
        if (ns > rest)
            return false;
        rest -= ns;
    }
    return rest == 0 && window > 0;
}

/* A row: its bar begins where that of the row above ends. */
static void append_part(GString *page, const part *p, int64_t before, int64_t whole,
                        int64_t window) {
    char digits[KIT_NUMBER_MAX];
    g_string_append(page, "<tr><th scope=\"row\">");
    html_text(page, p->label);
    g_string_append(page, "</th><td class=\"fall\"><span class=\"");
    g_string_append(page, p->class);
    g_string_append(page, "\" style=\"margin-left:");
    html_percent(page, (double)before / (double)whole);
    g_string_append(page, ";width:");
    html_percent(page, (double)p->ns / (double)whole);
    g_string_append(page, "\"></span></td><td class=\"n\">");
    html_value(page, MILL_KIND_NS, (mill_datum){.i = p->ns});
    double share = (double)p->ns / (double)window;
    g_string_append_printf(page, "</td><td class=\"n\">%s</td></tr>\n",
                           kit_format_value(digits, MILL_KIND_RATIO, (mill_datum){.d = share}));
}

/* The first part is most of the window as a rule: the others have a scale of their own. */
static void append_parts(GString *page, const GArray *parts, int64_t window) {
    const part *first = &g_array_index(parts, part, 0);
    int64_t rest = window - first->ns, before = 0;
    g_string_append(page, "<tbody>\n");
    append_part(page, first, 0, window, window);
    if (rest > 0) {
        append_part(page, &(part){"all else, drawn larger below", rest, "rest"}, first->ns, window,
                    window);
        g_string_append(page, "</tbody><tbody class=\"zoom\">\n");
    }
    for (guint i = 1; i < parts->len; i++) {
        const part *p = &g_array_index(parts, part, i);
        append_part(page, p, before, rest, window);
        before += p->ns;
    }
    g_string_append(page, "</tbody><tfoot>\n");
    append_part(page, &(part){"window", window, "rest"}, 0, window, window);
    g_string_append(page, "</tfoot>");
}

static void append_device(GString *page, const mill_report *r, const mill_table *reasons,
                          const char *scope) {
    int64_t window, comp, memory, idle;
    if (!time_of(r, "T", scope, &window) || !time_of(r, "comp", scope, &comp) || comp <= 0 ||
        !time_of(r, "excl_mem_only", scope, &memory) || !time_of(r, "idle", scope, &idle))
        return;
    g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof(part));
    add_part(parts, "computation", comp, "c0");
    add_reasons(parts, reasons, scope);
    add_part(parts, "only memory copies and sets", memory, "c3");
    add_part(parts, "idle", idle, "idle");
    if (!is_whole(parts, window))
        return;
    g_string_append(page, "<figure class=\"waterfall\"><figcaption>Where the window goes");
    if (scope) {
        g_string_append(page, ", ");
        html_text(page, scope);
    }
    g_string_append(page, "<span class=\"soft\"> · computation, then communication that nothing "
                          "hides, by reason</span></figcaption>\n<div class=\"scroll\" "
                          "tabindex=\"0\"><table><thead><tr><th scope=\"col\">part</th><th "
                          "scope=\"col\"></th><th scope=\"col\" class=\"n\">time <span "
                          "class=\"unit\">µs</span></th><th scope=\"col\" class=\"n\">of the "
                          "window <span class=\"unit\">%</span></th></tr></thead>");
    append_parts(page, parts, window);
    g_string_append(page, "</table></div></figure>\n");
}

void waterfall_append(GString *page, const mill_report *report, const mill_table *reasons) {
    size_t drawn = 0;
    for (uint64_t i = 0; i < report->n_figures && drawn < DEVICES; i++)
        if (strcmp(report->figures[i]->id, "T") == 0) {
            append_device(page, report, reasons, report->figures[i]->scope);
            drawn++;
        }
}

/* ---------------------------------------------------------------- the matrix */

/* The times of one device: row and column stages by their order in the table. */
typedef struct matrix {
    const char *comp[STAGES], *comm[STAGES];
    size_t n_comp, n_comm;
    int64_t time[STAGES][STAGES]; /* 0: never at once */
    int64_t longest;
    bool cut;
} matrix;

static size_t index_of(const char **names, size_t *n, const char *name) {
    for (size_t i = 0; i < *n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    if (*n == STAGES)
        return STAGES;
    names[*n] = name;
    return (*n)++;
}

static void append_matrix(GString *page, const matrix *m, int64_t device) {
    g_string_append_printf(page,
                           "<figure class=\"matrix\"><figcaption>Which stages run at once, in "
                           "µs<span class=\"soft\"> · device %" PRId64
                           " · down: computation of, across: communication of</span></figcaption>"
                           "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th "
                           "scope=\"col\"></th>",
                           device);
    for (size_t c = 0; c < m->n_comm; c++) {
        g_string_append(page, "<th scope=\"col\" class=\"n\">");
        html_short(page, m->comm[c], 30);
        g_string_append(page, "</th>");
    }
    g_string_append(page, "</tr></thead><tbody>\n");
    for (size_t r = 0; r < m->n_comp; r++) {
        g_string_append(page, "<tr><th scope=\"row\">");
        html_short(page, m->comp[r], 30);
        g_string_append(page, "</th>");
        for (size_t c = 0; c < m->n_comm; c++) {
            if (m->time[r][c] == 0) {
                g_string_append(page, "<td class=\"n soft\">–</td>");
                continue;
            }
            int level = heat_level((double)m->time[r][c], 0, (double)m->longest);
            g_string_append_printf(page, "<td class=\"n b%d\">", level);
            html_value(page, MILL_KIND_NS, (mill_datum){.i = m->time[r][c]});
            g_string_append(page, "</td>");
        }
        g_string_append(page, "</tr>\n");
    }
    g_string_append(page, "</tbody></table></div>\n");
    if (m->cut)
        g_string_append(page, "<p class=\"soft\">More stages than fit are in the table only.</p>");
    g_string_append(page, "</figure>\n");
}

/* One matrix for each device; a device's rows follow each other. */
void matrix_append(GString *page, const mill_table *t) {
    const mill_table_column *device = t ? look_column(t, "device") : NULL;
    const mill_table_column *comp = t ? look_column(t, "comp_stage") : NULL;
    const mill_table_column *comm = t ? look_column(t, "comm_stage") : NULL;
    const mill_table_column *time = t ? look_column(t, "time") : NULL;
    if (!device || !comp || !comm || !time || device->kind != MILL_KIND_ID ||
        comp->kind != MILL_KIND_TEXT || comm->kind != MILL_KIND_TEXT || time->kind != MILL_KIND_NS)
        return;
    g_autofree matrix *m = g_new(matrix, 1);
    size_t drawn = 0;
    for (uint64_t i = 0, next; i < t->rows && drawn < DEVICES; i = next, drawn++) {
        *m = (matrix){0};
        for (next = i; next < t->rows && device->cells[next].i == device->cells[i].i; next++) {
            if (!comp->cells[next].text || !comm->cells[next].text || time->cells[next].i <= 0)
                continue;
            size_t r = index_of(m->comp, &m->n_comp, comp->cells[next].text);
            size_t c = index_of(m->comm, &m->n_comm, comm->cells[next].text);
            m->cut |= r == STAGES || c == STAGES;
            if (r == STAGES || c == STAGES)
                continue;
            m->time[r][c] = time->cells[next].i;
            m->longest = MAX(m->longest, time->cells[next].i);
        }
        if (m->n_comp)
            append_matrix(page, m, device->cells[i].i);
    }
}
