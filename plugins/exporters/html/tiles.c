/* SPDX-License-Identifier: Apache-2.0 */
/* The few numbers that a reader wants first: see tiles.h. */
#include "tiles.h"
#include "look.h"
#include "write.h"

#include <string.h>
#include <tracemill/kit/value.h>

#define FIRST 6 /* figures of an analysis that is not listed */

/* What a tile shows: a figure, or the first cell of a table's column. */
typedef struct tile {
    const char *report, *figure;
    const char *table, *column; /* instead of a figure */
    const char *scope;          /* the figure's; NULL: the first of that id */
    const char *over;           /* a figure that it is a part of */
    const char *of, *of_what;   /* a figure that stands below it as "of 132 SMs" */
    const char *label;          /* NULL: the figure's */
    const char *if_any;         /* a count: no tile where it is 0 */
} tile;

static const tile tiles[] = {
    {.report = "overlap", .figure = "T"},
    {.report = "overlap", .figure = "comp", .over = "T"},
    {.report = "overlap", .figure = "overlap_over_comm"},
    {.report = "overlap", .figure = "actionable_exposed", .over = "T"},
    {.report = "overlap",
     .table = "notify_wait",
     .column = "share",
     .label = "communication that waits for other ranks"},
    {.report = "overlap",
     .figure = "comm_mean_sms",
     .of = "sms",
     .of_what = "SMs",
     .label = "SMs that communication holds"},
    {.report = "inflight", .figure = "pairs"},
    {.report = "inflight", .figure = "overlap_over_comm_with_flight", .if_any = "pairs"},
    {.report = "inflight", .figure = "exposed_comm_with_flight", .over = "T", .if_any = "pairs"},
    {.report = "inflight", .figure = "idle_in_flight", .over = "T", .if_any = "pairs"},
    {.report = "bubble", .figure = "best"},
    {.report = "bubble", .figure = "best_makespan"},
    {.report = "bubble", .figure = "best_bubble"},
    {.report = "bubble", .figure = "best_over_1f1b"},
    {.report = "bubble", .figure = "pp"},
    {.report = "bubble", .figure = "m"},
    {.report = "eplb",
     .figure = "balancedness_vllm",
     .scope = "before",
     .label = "balancedness before"},
    {.report = "eplb",
     .figure = "balancedness_vllm",
     .scope = "after",
     .label = "balancedness after"},
    {.report = "eplb", .figure = "gain"},
    {.report = "eplb", .figure = "gap"},
    {.report = "eplb", .figure = "proven", .of = "layers", .of_what = "layers"},
    {.report = "eplb.replay", .figure = "best"},
    {.report = "eplb.replay", .figure = "policy"},
    {.report = "eplb.replay", .figure = "steps"},
    {.report = "eplb.replay", .figure = "layers"},
};

static const mill_table_column *column_of(const mill_report *r, const tile *t) {
    const mill_table *table = t->table ? look_table(r, t->table) : NULL;
    return table && table->rows > 0 ? look_column(table, t->column) : NULL;
}

static bool is_time(const mill_figure *f) {
    return f && f->kind == MILL_KIND_NS && f->value.i != MILL_UNKNOWN;
}

/* What stands below the number: its scope, and what it is of. */
static void append_below(GString *page, const mill_report *r, const tile *t, const mill_figure *f) {
    char digits[KIT_NUMBER_MAX];
    const mill_figure *whole = look_figure(r, t->over, f->scope);
    const mill_figure *of = look_figure(r, t->of, f->scope);
    g_string_append(page, "<span class=\"soft\">");
    if (f->scope && !t->scope)
        html_text(page, f->scope);
    g_string_append(page, f->scope && !t->scope && (whole || of) ? ", " : "");
    if (is_time(whole) && is_time(f) && whole->value.i > 0) {
        g_string_append(page, kit_format_percent(digits, f->value.i, whole->value.i));
        g_string_append(page, " of the ");
        html_text(page, html_label(whole->label, whole->id));
    } else if (of && !kit_value_is_unknown(of->kind, of->value)) {
        g_string_append(page, "of ");
        html_value(page, of->kind, of->value);
        g_string_append_c(page, ' ');
        html_text(page, t->of_what);
    }
    g_string_append(page, "</span>");
}

static void append_tile(GString *page, const char *label, const char *help, mill_kind kind,
                        mill_datum value, const char *unit) {
    g_string_append(page, "<div class=\"tile\"");
    html_attribute(page, "title", help);
    g_string_append(page, "><dt>");
    html_text(page, label);
    g_string_append(page, kind == MILL_KIND_TEXT ? "</dt><dd class=\"text\">" : "</dt><dd>");
    html_quantity(page, kind, value, unit);
}

static void append_known(GString *page, const mill_report *r, const tile *t) {
    const mill_figure *f = look_figure(r, t->figure, t->scope);
    const mill_table_column *c = column_of(r, t);
    const mill_figure *any = look_figure(r, t->if_any, NULL);
    if ((!f && !c) || (any && any->kind == MILL_KIND_COUNT && any->value.i == 0))
        return;
    if (f) {
        append_tile(page, t->label ? t->label : html_label(f->label, f->id), f->help, f->kind,
                    f->value, t->of ? NULL : f->unit);
        append_below(page, r, t, f);
    } else {
        append_tile(page, t->label, c->help, c->kind, c->cells[0], c->unit);
    }
    g_string_append(page, "</dd></div>\n");
}

static void append_first(GString *page, const mill_report *r) {
    for (uint64_t i = 0, n = 0; i < r->n_figures && n < FIRST; i++) {
        const mill_figure *f = r->figures[i];
        if (kit_value_is_unknown(f->kind, f->value))
            continue;
        n++;
        append_tile(page, html_label(f->label, f->id), f->help, f->kind, f->value, f->unit);
        g_string_append(page, "<span class=\"soft\">");
        html_text(page, f->scope);
        g_string_append(page, "</span></dd></div>\n");
    }
}

void tiles_append(GString *page, const mill_report *const *reports, size_t n) {
    g_autoptr(GString) list = g_string_new(NULL);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < G_N_ELEMENTS(tiles); k++)
            if (g_strcmp0(reports[i]->id, tiles[k].report) == 0)
                append_known(list, reports[i], &tiles[k]);
    if (!list->len && n)
        append_first(list, reports[0]);
    if (list->len)
        g_string_append_printf(page, "<dl class=\"tiles\">\n%s</dl>\n", list->str);
}
