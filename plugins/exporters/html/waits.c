/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps of streams that a timeline marks: see waits.h. */
#include "waits.h"
#include "picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the table */

enum {
    DEVICE,
    STREAM,
    START,
    TIME,
    LATE,
    CAUSE,
    STAGE,
    NEXT,
    OTHER,
    OTHER_STAGE,
    BLOCKER,
    END,
    COLUMNS
};

static const struct {
    const char *id;
    mill_kind kind;
} wanted[COLUMNS] = {
    [DEVICE] = {"device", MILL_KIND_ID},        [STREAM] = {"stream", MILL_KIND_ID},
    [START] = {"start", MILL_KIND_NS},          [TIME] = {"time", MILL_KIND_NS},
    [LATE] = {"not_launched", MILL_KIND_NS},    [CAUSE] = {"cause", MILL_KIND_TEXT},
    [STAGE] = {"next_stage", MILL_KIND_TEXT},   [NEXT] = {"next", MILL_KIND_TEXT},
    [OTHER] = {"blocker_stream", MILL_KIND_ID}, [OTHER_STAGE] = {"blocker_stage", MILL_KIND_TEXT},
    [BLOCKER] = {"blocker", MILL_KIND_TEXT},    [END] = {"blocker_end", MILL_KIND_NS},
};

/* Whether it has all columns. */
static bool read_table(const mill_table *t, const mill_datum *cells[COLUMNS]) {
    if (strcmp(t->id, "largest") != 0)
        return false;
    for (int c = 0; c < COLUMNS; c++) {
        cells[c] = NULL;
        for (uint64_t i = 0; i < t->n_columns && !cells[c]; i++)
            if (strcmp(t->columns[i]->id, wanted[c].id) == 0 &&
                t->columns[i]->kind == wanted[c].kind)
                cells[c] = t->columns[i]->cells;
        if (!cells[c])
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- places */

static const lanes_lane *lane_at(const lanes *l, guint i) {
    return g_ptr_array_index(l->lanes, i);
}

/* ns from the timeline's start; false where the timeline does not reach. */
static bool place(const lanes *l, int64_t base, int64_t at, int64_t *ret) {
    mill_finding there = {.at_ns = at, .at_base_ns = base == MILL_UNKNOWN ? 0 : base};
    return lanes_offset(l, &there, ret);
}

/* The lane of the gap itself, of its own report; -1: there is none. */
static gint own_lane(const lanes *l, guint origin, int64_t device, int64_t stream) {
    for (guint i = 0; i < l->lanes->len; i++) {
        const lanes_lane *lane = lane_at(l, i);
        if (lane->origin == origin && lane->lane->device == device && lane->lane->stream == stream)
            return (gint)i;
    }
    return -1;
}

/* Whether an interval of the row ends then. Rows are sorted and without overlaps, so by end too. */
static bool ends_at(const lanes_row *row, int64_t tick) {
    size_t low = 0, high = row->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (row->v[middle].end < tick)
            low = middle + 1;
        else
            high = middle;
    }
    return low < row->n && row->v[low].end == tick;
}

/* The lane that shows the blocker: of its stream, with something that ends when it does. */
static gint lane_of_blocker(const lanes *l, const waits_gap *gap) {
    const mill_lane *own = lane_at(l, gap->lane)->lane;
    for (guint i = 0; i < l->lanes->len; i++) {
        const lanes_lane *lane = lane_at(l, i);
        if (lane->lane->rank != own->rank || lane->lane->device != own->device ||
            lane->lane->stream != gap->blocker_stream)
            continue;
        for (unsigned r = 0; r < lane->n_rows; r++)
            if (ends_at(&lane->rows[r], gap->blocker_end / l->tick_ns))
                return (gint)i;
    }
    return -1;
}

/* ---------------------------------------------------------------- all of them */

static void add_row(const lanes *l, guint origin, const mill_datum *cells[COLUMNS], uint64_t row,
                    GArray *gaps) {
    int64_t start = cells[START][row].i, end, stream = cells[STREAM][row].i;
    gint lane = own_lane(l, origin, cells[DEVICE][row].i, stream);
    if (lane < 0 || start == MILL_UNKNOWN || stream == MILL_UNKNOWN || !cells[CAUSE][row].text ||
        __builtin_add_overflow(start, cells[TIME][row].i, &end))
        return;
    int64_t base = lane_at(l, (guint)lane)->lane->base_ns;
    const char *stage = cells[STAGE][row].text, *next = cells[NEXT][row].text;
    waits_gap gap = {.lane = (guint)lane,
                     .not_launched = MAX(cells[LATE][row].i, 0),
                     .rest = cells[CAUSE][row].text,
                     .next = stage ? stage : next,
                     .blocker = cells[BLOCKER][row].text,
                     .of_stage = cells[OTHER_STAGE][row].text,
                     .blocker_stream = cells[OTHER][row].i,
                     .blocker_lane = -1};
    if (!place(l, base, start, &gap.start) || !place(l, base, end, &gap.end))
        return;
    if (gap.blocker_stream != MILL_UNKNOWN && place(l, base, cells[END][row].i, &gap.blocker_end))
        gap.blocker_lane = lane_of_blocker(l, &gap);
    g_array_append_val(gaps, gap);
}

static int compare_gaps(const void *a, const void *b) {
    const waits_gap *x = a, *y = b;
    int64_t i = x->end - x->start, j = y->end - y->start;
    if (i != j)
        return i < j ? 1 : -1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

GArray *waits_find(const lanes *l, int64_t least) {
    GArray *gaps = g_array_new(FALSE, FALSE, sizeof(waits_gap));
    const mill_datum *cells[COLUMNS];
    for (guint r = 0; r < l->reports->len; r++) {
        const mill_report *report = g_ptr_array_index(l->reports, r);
        for (uint64_t t = 0; t < report->n_tables; t++) {
            if (!read_table(report->tables[t], cells))
                continue;
            for (uint64_t row = 0; row < report->tables[t]->rows; row++)
                if (cells[TIME][row].i > 0 && cells[TIME][row].i >= least)
                    add_row(l, r, cells, row, gaps);
        }
    }
    if (gaps->len)
        qsort(gaps->data, gaps->len, sizeof(waits_gap), compare_gaps);
    return gaps;
}

const char *waits_cause(const waits_gap *gap) {
    int64_t rest = gap->end - gap->start - gap->not_launched;
    return gap->not_launched > rest ? "not_launched" : gap->rest;
}

char *waits_text(const waits_gap *gap) {
    g_autofree char *time = picture_time(gap->end - gap->start);
    GString *text = g_string_new(gap->next ? gap->next : "what comes next");
    g_string_append_printf(text, " waits %s", time);
    if (gap->blocker)
        g_string_append_printf(text, " for %s", gap->blocker);
    if (gap->blocker && gap->of_stage)
        g_string_append_printf(text, " of %s", gap->of_stage);
    if (gap->blocker && gap->blocker_stream != MILL_UNKNOWN)
        g_string_append_printf(text, " on stream %" PRId64, gap->blocker_stream);
    g_autofree char *late = picture_time(gap->not_launched);
    if (gap->not_launched > 0)
        g_string_append_printf(text, " (not launched for %s, then %s)", late, gap->rest);
    else
        g_string_append_printf(text, " (%s)", gap->rest);
    return g_string_free(text, FALSE);
}
