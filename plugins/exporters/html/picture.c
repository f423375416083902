/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of a timeline that needs no JavaScript: see picture.h. */
#include "picture.h"
#include "escape.h"
#include "levels.h"

#include <string.h>
#include <tracemill/kit/number.h>

#define ROW_HEIGHT 18u
#define COLUMNS 960u
#define FEWEST_COLUMNS 120u
#define TICKS 6
#define MOST_WAITS 100u /* in the picture */

char *picture_time(int64_t ns) {
    char text[KIT_NUMBER_MAX];
    if (ns >= 10000000)
        return g_strdup_printf("%s ms", kit_format_ms(text, ns, KIT_GROUP));
    return g_strdup_printf("%s µs", kit_format_us(text, ns, KIT_GROUP));
}

static const lanes_lane *lane_at(const lanes *l, guint i) {
    return g_ptr_array_index(l->lanes, i);
}

char *picture_group(const lanes *l, guint i) {
    const lanes_lane *lane = lane_at(l, i), *before = i ? lane_at(l, i - 1) : NULL;
    if (before && before->origin == lane->origin && (!lane->in_group || lanes_neighbours(l, i - 1)))
        return NULL;
    GString *group = g_string_new(lane->report->title);
    if (lane->in_group && lane->lane->rank != MILL_UNKNOWN)
        g_string_append_printf(group, ", rank %" G_GINT64_FORMAT, lane->lane->rank);
    if (lane->in_group && lane->lane->device != MILL_UNKNOWN)
        g_string_append_printf(group, ", device %" G_GINT64_FORMAT, lane->lane->device);
    return g_string_free(group, FALSE);
}

/* ---------------------------------------------------------------- a row */

/* One outline for each class; the pieces of a column stand on each other in the order of classes.
 */
typedef struct painting {
    GString *paths[KINDS_CLASSES];
    uint64_t ns[KINDS_CLASSES]; /* ticks, for the description */
    uint64_t width, bin, filled;
    unsigned top;
} painting;

static void paint(void *arg, const levels_piece *piece) {
    painting *p = arg;
    if (piece->bin != p->bin)
        p->filled = 0;
    p->bin = piece->bin;
    double unit = (double)ROW_HEIGHT / (double)p->width;
    unsigned low = (unsigned)((double)p->filled * unit + 0.5);
    p->filled += piece->ticks;
    unsigned high = (unsigned)((double)p->filled * unit + 0.5);
    p->ns[piece->cls] += piece->ticks * piece->run;
    if (high == low)
        return;
    if (!p->paths[piece->cls])
        p->paths[piece->cls] = g_string_new(NULL);
    g_string_append_printf(
        p->paths[piece->cls],
        "M%" G_GUINT64_FORMAT " %uh%" G_GUINT64_FORMAT "v%uh-%" G_GUINT64_FORMAT "z", piece->bin,
        p->top + ROW_HEIGHT - high, piece->run, high - low, piece->run);
}

static void append_paths(const lanes *l, const char *id, painting *p, GString *page) {
    for (size_t c = 0; c < kinds_n_classes(l->kinds); c++) {
        if (!p->paths[c])
            continue;
        const kinds_class *cls = kinds_class_at(l->kinds, c);
        g_string_append_printf(page, "<path class=\"tl-c%u\" d=\"%s\"/>", cls->colour,
                               p->paths[c]->str);
        if (cls->hatched)
            g_string_append_printf(page, "<path fill=\"url(#%s-hatch)\" d=\"%s\"/>", id,
                                   p->paths[c]->str);
        g_string_free(p->paths[c], TRUE);
    }
}

/* "stream 7: F 51.2 %, B 40.3 %" of the whole range, for those who can't see it. */
static void append_description(const lanes *l, const lanes_lane *lane, const painting *p,
                               GString *page) {
    char text[KIT_NUMBER_MAX];
    escape_text(page, lane->lane->label);
    for (size_t c = 0, n = 0; c < kinds_n_classes(l->kinds); c++) {
        if (p->ns[c] == 0)
            continue;
        g_string_append(page, n++ ? ", " : ": ");
        escape_text(page, kinds_class_at(l->kinds, c)->name);
        g_string_append_printf(page, " %s", kit_format_percent(text, (int64_t)p->ns[c], l->span));
    }
}

/* Those of the first MOST that are a column wide. */
static void append_waits(const lanes *l, const GArray *waits, guint lane, uint64_t column,
                         GString *page) {
    double ns = (double)column * (double)l->tick_ns;
    for (guint i = 0; i < MIN(waits->len, MOST_WAITS); i++) {
        const waits_gap *gap = &g_array_index(waits, waits_gap, i);
        double x = (double)gap->start / ns, end = (double)gap->end / ns;
        if (gap->lane != lane || end - x < 1)
            continue;
        g_autofree char *text = waits_text(gap);
        char from[G_ASCII_DTOSTR_BUF_SIZE], width[G_ASCII_DTOSTR_BUF_SIZE],
            to[G_ASCII_DTOSTR_BUF_SIZE];
        g_ascii_formatd(from, sizeof from, "%.1f", x);
        g_ascii_formatd(width, sizeof width, "%.1f", end - x);
        g_ascii_formatd(to, sizeof to, "%.1f", end);
        g_string_append_printf(page, "<g class=\"tl-wait\"><title>");
        escape_text(page, text);
        g_string_append_printf(page, "</title><path d=\"M%s 1h%sv16h-%sz\"/>", from, width, width);
        if (gap->blocker_lane >= 0)
            g_string_append_printf(page, "<path class=\"tl-to\" d=\"M%s %sz\"/>", to,
                                   (guint)gap->blocker_lane < lane ? "0l-5 9h10" : "18l-5 -9h10");
        g_string_append(page, "</g>");
    }
}

static void append_lane(const lanes *l, const GArray *waits, guint i, const char *id,
                        uint64_t columns, GString *page) {
    const lanes_lane *lane = lane_at(l, i);
    painting p = {.width = ((uint64_t)l->span + columns - 1) / columns, .bin = UINT64_MAX};
    for (unsigned r = 0; r < lane->n_rows; r++) {
        p.top = r * (ROW_HEIGHT + 1);
        p.bin = UINT64_MAX;
        levels_walk(&lane->rows[r], l->kinds, p.width, paint, &p);
    }
    unsigned height = lane->n_rows * (ROW_HEIGHT + 1) - 1;
    g_string_append(page, "<div class=\"tl-lane\"><span>");
    escape_text(page, lane->lane->label);
    g_string_append_printf(page,
                           "</span><svg viewBox=\"0 0 %.3f %u\" height=\"%u\" "
                           "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
                           (double)l->span / (double)p.width, height, height);
    append_description(l, lane, &p, page);
    g_string_append(page, "\">");
    append_paths(l, id, &p, page);
    append_waits(l, waits, i, p.width, page);
    g_string_append(page, "</svg></div>\n");
}

/* ---------------------------------------------------------------- the axis */

static void append_axis(const lanes *l, GString *page) {
    int64_t span = l->span * l->tick_ns, step = 1;
    static const int steps[] = {2, 5, 2};
    for (unsigned i = 0; span / step > TICKS; i++)
        step = i % 3 == 1 ? step / 2 * steps[1] : step * steps[0];
    int64_t from = lanes_from(l);
    int64_t rest = from % step < 0 ? from % step + step : from % step;
    g_string_append(page, "<div class=\"tl-lane tl-axis\"><span></span><div>");
    for (int64_t at = rest ? step - rest : 0; at < span - span / 12; at += step) {
        g_autofree char *time = picture_time(from + at);
        char left[G_ASCII_DTOSTR_BUF_SIZE];
        g_ascii_formatd(left, sizeof left, "%.3f", 100.0 * (double)at / (double)span);
        g_string_append_printf(page, "<span style=\"left:%s%%\">%s</span>", left, time);
    }
    g_string_append(page, "</div></div>\n");
}

static void append_hatch(const char *id, GString *page) {
    g_string_append_printf(
        page,
        "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" "
        "class=\"tl-defs\"><defs><pattern id=\"%s-hatch\" width=\"5\" "
        "height=\"5\" patternUnits=\"userSpaceOnUse\"><path d=\"M-1 1l2-2M0 5l5-5"
        "M4 6l2-2\" class=\"tl-hatch-line\"/></pattern></defs></svg>\n",
        id);
}

static void append_group(const lanes *l, guint i, GString *page) {
    g_autofree char *group = picture_group(l, i);
    if (!group)
        return;
    g_string_append(page, "<p class=\"tl-group\">");
    escape_text(page, group);
    g_string_append(page, "</p>\n");
}

void picture_append(const lanes *l, const GArray *waits, const char *id, uint64_t limit,
                    GString *page) {
    append_hatch(id, page);
    append_axis(l, page);
    gsize begin = page->len;
    guint shown = 0;
    for (unsigned columns = COLUMNS; columns >= FEWEST_COLUMNS && shown < l->lanes->len;
         columns /= 2) {
        g_string_truncate(page, begin);
        for (shown = 0; shown < l->lanes->len; shown++) {
            gsize before = page->len;
            append_group(l, shown, page);
            append_lane(l, waits, shown, id, columns, page);
            if (page->len - begin > limit) {
                g_string_truncate(page, before);
                break;
            }
        }
    }
    if (shown < l->lanes->len)
        g_string_append_printf(
            page,
            "<p class=\"tl-note\">%u more lanes are not in this picture, to keep "
            "the page small.</p>\n",
            l->lanes->len - shown);
}
