/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a page: see timeline.h. */
#include "timeline.h"
#include "data.h"
#include "embedded.h"
#include "escape.h"
#include "picture.h"

#include <inttypes.h>
#include <tracemill/kit/number.h>

#define MOST_GAPS 20u /* in the list */
#define AROUND 4096u  /* bytes of the figure beside picture, legend and data */

struct timeline {
    char *id;
    uint64_t budget;
    int64_t gaps; /* ns */
    lanes *lanes;
    GArray *waits; /* waits_gap, once ready */
    bool ready;
};

timeline *timeline_create(const char *id, uint64_t budget) {
    timeline *t = g_new0(timeline, 1);
    t->id = g_strdup(id);
    t->budget = budget;
    t->lanes = lanes_create();
    t->gaps = INT64_MAX;
    return t;
}

void timeline_destroy(timeline *t) {
    if (!t)
        return;
    lanes_destroy(t->lanes);
    if (t->waits)
        g_array_unref(t->waits);
    g_free(t->id);
    g_free(t);
}

void timeline_mark_gaps(timeline *t, int64_t least) {
    g_assert(!t->ready);
    t->gaps = least;
}

void timeline_add(timeline *t, const mill_report *report) {
    g_assert(!t->ready);
    lanes_add(t->lanes, report);
}

/* What is asked first ends the adding. */
static const lanes *ready(const timeline *t) {
    if (!t->ready) {
        timeline *writable = (timeline *)t;
        lanes_finish(writable->lanes, t->budget / 4);
        writable->waits = waits_find(t->lanes, t->gaps);
        writable->ready = true;
    }
    return t->lanes;
}

bool timeline_is_empty(const timeline *t) {
    return t->lanes->lanes->len == 0;
}

/* ---------------------------------------------------------------- sentences */

static void say(GString *page, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void say(GString *page, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_string_append(page, "<p class=\"tl-note\">");
    escape_text(page, text);
    g_string_append(page, "</p>\n");
}

static void say_losses(const lanes *l, GString *page) {
    const lanes_losses *x = &l->losses;
    if (x->backwards)
        say(page, "%" PRIu64 " intervals end before they begin and are not shown.", x->backwards);
    if (x->broken)
        say(page, "%" PRIu64 " intervals have no usable time and are not shown.", x->broken);
    if (x->empty)
        say(page, "%" PRIu64 " intervals of no duration fill nothing and are not shown.", x->empty);
    if (x->far)
        say(page,
            "%" PRIu64 " intervals are more than 52 days from most others, and are cut off there.",
            x->far);
    if (x->crowded)
        say(page,
            "%" PRIu64 " intervals begin while %u others of their lane run: of these only what "
            "comes after the others is shown.",
            x->crowded, LANES_ROWS);
    if (kinds_left_out(l->kinds))
        say(page, "%" PRIu64 " rare labels are left out to keep the page small.",
            kinds_left_out(l->kinds));
    if (l->bases_differ)
        say(page, "Devices begin to count at different times: the axis counts from where the first "
                  "lane does, tables from where their own device does.");
}

/* The budget in MiB that would show all of it. The picture and the labels may take more where the
 * budget is larger, so it has a quarter more than what is counted. */
static uint64_t whole_budget(const data_limits *x, uint64_t used) {
    return ((x->whole + used) / 4 * 5 >> 20) + 1;
}

/* used: bytes without the data. */
static void say_limits(const data_limits *x, uint64_t used, uint64_t budget, GString *page) {
    g_autofree char *width = picture_time(x->coarsest_ns);
    if (x->coarse)
        say(page,
            "The intervals of %" PRIu64 " of %" PRIu64 " rows do not fit into the %" PRIu64
            " KiB that this timeline may take: they are added up over at most %s, and zooming "
            "shows nothing finer. With the option budget = %" PRIu64 "MiB it shows all of them.",
            x->coarse, x->coarse + x->exact + x->omitted, budget / 1024, width,
            whole_budget(x, used));
    if (x->waits)
        say(page, "%" PRIu64 " gaps have no mark, to keep the page small.", x->waits);
    if (x->omitted)
        say(page, "%" PRIu64 " rows are left out when zooming, to keep the page small.",
            x->omitted);
    if (x->lanes)
        say(page, "%" PRIu64 " lanes are left out when zooming, to keep the page small.", x->lanes);
    if (x->marks)
        say(page, "%" PRIu64 " findings have no mark, to keep the page small.", x->marks);
}

/* ---------------------------------------------------------------- the figure */

static void append_link(const timeline *t, GString *page, int64_t offset) {
    g_string_append_printf(page, "<a href=\"#%s\" data-at=\"%" PRId64 "\" data-timeline=\"%s\">",
                           t->id, offset, t->id);
}

static const char *lane_label(const timeline *t, guint i) {
    return ((const lanes_lane *)g_ptr_array_index(t->lanes->lanes, i))->lane->label;
}

static void append_legend(const lanes *l, GString *page) {
    g_string_append(page, "<ul class=\"tl-legend\">");
    for (size_t i = 0; i < kinds_n_classes(l->kinds); i++) {
        const kinds_class *cls = kinds_class_at(l->kinds, i);
        g_string_append_printf(page, "<li><span class=\"tl-key tl-b%u%s\"></span>", cls->colour,
                               cls->hatched ? " tl-hatched" : "");
        escape_text(page, cls->name);
        g_string_append(page, "</li>");
    }
    g_string_append(page, "</ul>\n");
}

static void append_caption(const lanes *l, GString *page) {
    char n[KIT_NUMBER_MAX];
    g_autofree char *span = picture_time(l->span * l->tick_ns);
    g_string_append_printf(page,
                           "<figcaption>%s intervals on %u lanes, %s. Each column shows "
                           "what share of its time each class fills.</figcaption>\n",
                           kit_format_int(n, (int64_t)l->n, KIT_GROUP), l->lanes->len, span);
}

/* What the marked gaps waited for, each with a link to it. */
static void append_gaps(const timeline *t, GString *page) {
    guint most = MIN(t->waits->len, MOST_GAPS);
    gsize begin = page->len;
    if (most == 0)
        return;
    g_autofree char *least = picture_time(t->gaps);
    g_string_append_printf(
        page,
        "<details class=\"tl-gaps\"><summary>%u gaps of %s or more are marked, of "
        "the largest of each stream</summary><ol>\n",
        t->waits->len, least);
    guint n = 0;
    for (; n < most && page->len - begin < t->budget / 16; n++) {
        const waits_gap *gap = &g_array_index(t->waits, waits_gap, n);
        g_autofree char *text = waits_text(gap);
        g_autofree char *at = picture_time(lanes_from(t->lanes) + gap->start);
        g_string_append(page, "<li>");
        append_link(t, page, (gap->start + gap->end) / 2);
        g_string_append_printf(page, "%s</a>, ", at);
        escape_text(page, lane_label(t, gap->lane));
        g_string_append(page, ": ");
        escape_text(page, text);
        g_string_append(page, "</li>\n");
    }
    g_string_append(page, "</ol>");
    if (n < t->waits->len)
        say(page, "%u shorter ones are not listed.", t->waits->len - n);
    g_string_append(page, "</details>\n");
}

void timeline_append(timeline *t, GString *page) {
    const lanes *l = ready(t);
    if (l->lanes->len == 0)
        return;
    gsize begin = page->len;
    g_string_append_printf(page, "<figure class=\"tl\" id=\"%s\">\n", t->id);
    append_caption(l, page);
    append_legend(l, page);
    g_string_append(page, "<div class=\"tl-static\">\n");
    picture_append(l, t->waits, t->id, t->budget / 4, page);
    g_string_append(page, "<p class=\"tl-note\">This is the whole range; with JavaScript it can be "
                          "moved and zoomed.</p>\n</div>\n");
    append_gaps(t, page);
    say_losses(l, page);
    uint64_t used = page->len - begin + AROUND;
    g_string_append(page, "<script type=\"application/json\" class=\"tl-data\">");
    data_limits limits;
    data_append(l, t->waits, t->budget > used ? t->budget - used : 0, page, &limits);
    g_string_append(page, "</script>\n");
    say_limits(&limits, used, t->budget, page);
    if (l->losses.marks)
        say(page, "%" PRIu64 " more findings have no mark.", l->losses.marks);
    g_string_append(page, "</figure>\n");
}

bool timeline_link(const timeline *t, GString *page, const mill_finding *finding,
                   int64_t *ret_shown) {
    int64_t offset;
    if (!lanes_offset(ready(t), finding, &offset))
        return false;
    *ret_shown = lanes_from(t->lanes) + offset;
    append_link(t, page, offset);
    return true;
}

const char *timeline_css(void) {
    return embedded_timeline_css;
}

const char *timeline_js(void) {
    return embedded_timeline_js;
}
