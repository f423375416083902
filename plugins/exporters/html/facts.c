/* SPDX-License-Identifier: Apache-2.0 */
/* The line that says what a page is about: see facts.h. */
#include "facts.h"
#include "look.h"
#include "write.h"

#include <inttypes.h>
#include <string.h>
#include <tracemill/kit/number.h>

#define NAMES 3 /* of devices */

static void append(GString *line, const char *text) {
    g_string_append(line, line->len ? " · " : "");
    html_text(line, text);
}

/* All lanes that tell a rank tell the same one, or it is left out. */
static void append_rank(GString *line, const mill_report *const *reports, size_t n) {
    int64_t rank = MILL_UNKNOWN;
    for (size_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < reports[i]->n_lanes; k++) {
            int64_t own = reports[i]->lanes[k]->rank;
            if (own != MILL_UNKNOWN && rank != MILL_UNKNOWN && own != rank)
                return;
            rank = own != MILL_UNKNOWN ? own : rank;
        }
    g_autofree char *text = g_strdup_printf("rank %" PRId64, rank);
    if (rank != MILL_UNKNOWN)
        append(line, text);
}

/* Each name once, with how many devices have it. */
static void append_devices(GString *line, const mill_table *t) {
    const mill_table_column *name = look_column(t, "name");
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    uint64_t of[NAMES] = {0}, others = 0;
    for (uint64_t i = 0; name && name->kind == MILL_KIND_TEXT && i < t->rows; i++) {
        const char *text = name->cells[i].text ? name->cells[i].text : "device of unknown name";
        guint at = 0;
        if (!g_ptr_array_find_with_equal_func(names, text, g_str_equal, &at)) {
            at = names->len;
            if (at < NAMES)
                g_ptr_array_add(names, (gpointer)text);
        }
        if (at < NAMES)
            of[at]++;
        else
            others++;
    }
    for (guint i = 0; i < names->len; i++) {
        const char *text = g_ptr_array_index(names, i);
        g_autofree char *many = g_strdup_printf("%" PRIu64 " × %s", of[i], text);
        append(line, of[i] > 1 ? many : text);
    }
    g_autofree char *rest = g_strdup_printf("%" PRIu64 " other devices", others);
    if (others)
        append(line, rest);
}

/* A count of the report; one of each device is told where all have the same. */
static void append_count(GString *line, const mill_report *r, const char *id, const char *one,
                         const char *many) {
    int64_t count = MILL_UNKNOWN;
    for (uint64_t i = 0; i < r->n_figures; i++) {
        const mill_figure *f = r->figures[i];
        if (strcmp(f->id, id) != 0 || f->kind != MILL_KIND_COUNT)
            continue;
        if (count != MILL_UNKNOWN && f->value.i != count)
            return;
        count = f->value.i;
    }
    char digits[KIT_NUMBER_MAX];
    g_autofree char *text =
        g_strdup_printf("%s %s", kit_format_int(digits, count, KIT_GROUP), count == 1 ? one : many);
    if (count != MILL_UNKNOWN)
        append(line, text);
}

/* What the figures are of. */
static void append_window(GString *line, const mill_report *r) {
    for (uint64_t i = 0; i < r->n_figures; i++) {
        const mill_figure *f = r->figures[i];
        if (strcmp(f->id, "window_rule") != 0 || f->kind != MILL_KIND_TEXT || !f->value.text)
            continue;
        g_autofree char *text = g_strdup_printf("window: %s", f->value.text);
        append(line, text);
        return;
    }
}

/* "F, B, W by annotation": the methods that a report of chunks used. */
static void append_methods(GString *line, const mill_report *r) {
    const mill_table *t = look_table(r, "methods");
    const mill_table_column *method = t ? look_column(t, "method") : NULL;
    const mill_table_column *used = t ? look_column(t, "used") : NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    if (!method || !used || method->kind != MILL_KIND_TEXT || used->kind != MILL_KIND_TEXT)
        return;
    for (uint64_t i = 0; i < t->rows; i++)
        if (g_strcmp0(used->cells[i].text, "yes") == 0 && method->cells[i].text &&
            !g_ptr_array_find_with_equal_func(names, method->cells[i].text, g_str_equal, NULL))
            g_ptr_array_add(names, (gpointer)method->cells[i].text);
    if (names->len == 0)
        return;
    g_ptr_array_add(names, NULL);
    g_autofree char *list = g_strjoinv(", ", (char **)names->pdata);
    g_autofree char *text = g_strdup_printf("F, B, W by %s", list);
    append(line, text);
}

void facts_append(GString *page, const mill_report *const *reports, size_t n) {
    g_autoptr(GString) line = g_string_new(NULL);
    append_rank(line, reports, n);
    for (size_t i = 0; i < n; i++) {
        if (g_strcmp0(reports[i]->id, "overlap") != 0)
            continue;
        const mill_table *devices = look_table(reports[i], "devices");
        if (devices)
            append_devices(line, devices);
        append_count(line, reports[i], "sms", "SM", "SMs");
        append_count(line, reports[i], "streams", "stream", "streams");
        append_count(line, reports[i], "activities", "activity", "activities");
        append_window(line, reports[i]);
        append_count(line, reports[i], "diagnostics", "diagnostic of the reader",
                     "diagnostics of the reader");
        break;
    }
    for (size_t i = 0; i < n; i++)
        if (g_strcmp0(reports[i]->id, "chunks") == 0)
            append_methods(line, reports[i]);
    if (line->len)
        g_string_append_printf(page, "<p class=\"facts soft\">%s</p>\n", line->str);
}
