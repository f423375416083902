/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes made ready for a timeline: see lanes.h. */
#include "lanes.h"

#include <stdlib.h>
#include <string.h>

#define MARKS 1000u

static void lane_destroy(gpointer p) {
    lanes_lane *lane = p;
    g_array_unref(lane->intervals);
    g_free(lane);
}

lanes *lanes_create(void) {
    lanes *l = g_new0(lanes, 1);
    l->lanes = g_ptr_array_new_with_free_func(lane_destroy);
    l->kinds = kinds_create();
    l->marks = g_array_new(FALSE, FALSE, sizeof(lanes_mark));
    l->reports = g_ptr_array_new();
    return l;
}

void lanes_destroy(lanes *l) {
    if (!l)
        return;
    g_ptr_array_unref(l->lanes);
    kinds_destroy(l->kinds);
    g_array_unref(l->marks);
    g_ptr_array_unref(l->reports);
    g_free(l);
}

/* ---------------------------------------------------------------- reading */

/* The numbers that the texts of a lane have in the timeline, looked up when they are used. */
typedef struct text_map {
    const mill_lane *lane;
    uint32_t *number;
} text_map;

static uint32_t text_number(kinds *k, text_map *map, uint32_t text) {
    if (text >= map->lane->n_texts || !map->lane->texts[text])
        return kinds_text(k, "unknown");
    if (map->number[text] == UINT32_MAX)
        map->number[text] = kinds_text(k, map->lane->texts[text]);
    return map->number[text];
}

/* Whether the interval has a time that can be shown; else counts why not. */
static bool read_times(lanes *l, const mill_lane *lane, uint64_t i, lanes_interval *ret) {
    int64_t base = lane->base_ns == MILL_UNKNOWN ? 0 : lane->base_ns;
    if (lane->start[i] == MILL_UNKNOWN || lane->end[i] == MILL_UNKNOWN)
        l->losses.broken++;
    else if (lane->end[i] < lane->start[i])
        l->losses.backwards++;
    else if (lane->end[i] == lane->start[i])
        l->losses.empty++;
    else if (__builtin_add_overflow(lane->start[i], base, &ret->start) ||
             __builtin_add_overflow(lane->end[i], base, &ret->end))
        l->losses.broken++;
    else
        return true;
    return false;
}

static void note_base(lanes *l, const mill_lane *lane) {
    int64_t base = lane->base_ns == MILL_UNKNOWN ? 0 : lane->base_ns;
    if (!l->has_base)
        l->zero_ns = base;
    else if (base != l->zero_ns)
        l->bases_differ = true;
    l->has_base = true;
}

static void add_lane(lanes *l, const mill_report *report, const mill_lane *lane) {
    GArray *intervals = g_array_sized_new(FALSE, FALSE, sizeof(lanes_interval), (guint)lane->n);
    g_autofree uint32_t *numbers = g_new(uint32_t, lane->n_texts + 1);
    memset(numbers, 0xff, (lane->n_texts + 1) * sizeof *numbers);
    text_map map = {lane, numbers};
    for (uint64_t i = 0; i < lane->n; i++) {
        lanes_interval interval = {.mark = -1};
        if (!read_times(l, lane, i, &interval))
            continue;
        uint32_t cls = text_number(l->kinds, &map, lane->cls[i]);
        uint32_t label = text_number(l->kinds, &map, lane->text[i]);
        uint64_t ns = (uint64_t)interval.end - (uint64_t)interval.start;
        interval.kind = kinds_add(l->kinds, cls, label, ns);
        if (lane->finding && lane->finding[i] >= 0 &&
            (uint64_t)lane->finding[i] < report->n_findings)
            interval.mark = (int32_t)MIN(lane->finding[i], INT32_MAX);
        g_array_append_val(intervals, interval);
    }
    if (intervals->len == 0) {
        g_array_unref(intervals);
        return;
    }
    note_base(l, lane);
    lanes_lane *added = g_new0(lanes_lane, 1);
    *added = (lanes_lane){
        .lane = lane, .report = report, .origin = l->reports->len, .intervals = intervals};
    g_ptr_array_add(l->lanes, added);
}

void lanes_add(lanes *l, const mill_report *report) {
    for (uint64_t i = 0; i < report->n_lanes; i++)
        add_lane(l, report, report->lanes[i]);
    g_ptr_array_add(l->reports, (gpointer)report);
}

/* ---------------------------------------------------------------- one clock */

static lanes_lane *lane_at(const lanes *l, guint i) {
    return g_ptr_array_index(l->lanes, i);
}

#define INTERVAL(lane, i) (&g_array_index((lane)->intervals, lanes_interval, i))

static void find_range(const lanes *l, int64_t *ret_start, int64_t *ret_end) {
    int64_t start = INT64_MAX, end = INT64_MIN;
    for (guint i = 0; i < l->lanes->len; i++)
        for (guint k = 0; k < lane_at(l, i)->intervals->len; k++) {
            const lanes_interval *v = INTERVAL(lane_at(l, i), k);
            start = MIN(start, v->start);
            end = MAX(end, v->end);
        }
    *ret_start = start;
    *ret_end = end;
}

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median_start(const lanes *l) {
    GArray *starts = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = 0; i < l->lanes->len; i++)
        for (guint k = 0; k < lane_at(l, i)->intervals->len; k++)
            g_array_append_val(starts, INTERVAL(lane_at(l, i), k)->start);
    qsort(starts->data, starts->len, sizeof(int64_t), compare_times);
    int64_t median = g_array_index(starts, int64_t, starts->len / 2);
    g_array_unref(starts);
    return median;
}

static uint64_t distance(int64_t a, int64_t b) {
    return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

/* Cuts off what is farther from most of the intervals than numbers of JavaScript are exact. */
static void drop_far(lanes *l) {
    int64_t middle = median_start(l), half = (int64_t)(LANES_SPAN_NS / 2);
    int64_t from = middle < INT64_MIN + half ? INT64_MIN : middle - half;
    int64_t to = middle > INT64_MAX - half ? INT64_MAX : middle + half;
    for (guint i = 0; i < l->lanes->len;) {
        GArray *v = lane_at(l, i)->intervals;
        guint kept = 0;
        for (guint k = 0; k < v->len; k++) {
            lanes_interval x = g_array_index(v, lanes_interval, k);
            l->losses.far += x.start < from || x.end > to;
            x.start = MAX(x.start, from);
            x.end = MIN(x.end, to);
            if (x.start < x.end)
                g_array_index(v, lanes_interval, kept++) = x;
        }
        g_array_set_size(v, kept);
        if (kept)
            i++;
        else
            g_ptr_array_remove_index(l->lanes, i);
    }
}

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t find_tick(const lanes *l) {
    uint64_t tick = 0;
    for (guint i = 0; i < l->lanes->len && tick != 1; i++)
        for (guint k = 0; k < lane_at(l, i)->intervals->len && tick != 1; k++) {
            const lanes_interval *v = INTERVAL(lane_at(l, i), k);
            uint64_t start = distance(v->start, l->start_ns), end = distance(v->end, l->start_ns);
            if (tick == 0 || start % tick)
                tick = gcd(tick, start);
            if (tick == 0 || end % tick)
                tick = gcd(tick, end);
        }
    return (int64_t)MAX(tick, 1);
}

static void set_clock(lanes *l) {
    int64_t end;
    find_range(l, &l->start_ns, &end);
    if (distance(l->start_ns, end) > LANES_SPAN_NS) {
        drop_far(l);
        if (l->lanes->len == 0)
            return;
        find_range(l, &l->start_ns, &end);
    }
    l->tick_ns = find_tick(l);
    l->span = (end - l->start_ns) / l->tick_ns;
    for (guint i = 0; i < l->lanes->len; i++)
        for (guint k = 0; k < lane_at(l, i)->intervals->len; k++) {
            lanes_interval *v = INTERVAL(lane_at(l, i), k);
            v->start = (v->start - l->start_ns) / l->tick_ns;
            v->end = (v->end - l->start_ns) / l->tick_ns;
            v->kind = kinds_final(l->kinds, v->kind);
        }
}

/* ---------------------------------------------------------------- rows */

static int compare_intervals(const void *a, const void *b) {
    const lanes_interval *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->mark > y->mark) - (x->mark < y->mark);
}

static void sort(lanes_lane *lane) {
    for (guint i = 1; i < lane->intervals->len; i++)
        if (compare_intervals(INTERVAL(lane, i - 1), INTERVAL(lane, i)) > 0) {
            g_array_sort(lane->intervals, compare_intervals);
            return;
        }
}

/* The row of an interval: the first that is free. Where none is, the last, from when it is free. */
static unsigned choose_row(lanes *l, int64_t *row_end, unsigned *n_rows, lanes_interval *v) {
    for (unsigned r = 0; r < LANES_ROWS; r++)
        if (r == *n_rows || row_end[r] <= v->start) {
            *n_rows = MAX(*n_rows, r + 1);
            row_end[r] = v->end;
            return r;
        }
    l->losses.crowded++;
    v->start = row_end[LANES_ROWS - 1];
    if (v->end <= v->start)
        return LANES_ROWS; /* nothing of it can be shown */
    row_end[LANES_ROWS - 1] = v->end;
    return LANES_ROWS - 1;
}

static void stack(lanes *l, lanes_lane *lane) {
    guint n = lane->intervals->len;
    int64_t row_end[LANES_ROWS] = {0};
    size_t count[LANES_ROWS + 1] = {0}, next[LANES_ROWS + 1] = {0};
    g_autofree uint8_t *row = g_new(uint8_t, n);
    for (guint i = 0; i < n; i++) {
        row[i] = (uint8_t)choose_row(l, row_end, &lane->n_rows, INTERVAL(lane, i));
        count[row[i]]++;
    }
    for (unsigned r = 0; r < LANES_ROWS; r++)
        next[r + 1] = next[r] + count[r];
    if (count[0] < n) {
        lanes_interval *sorted = g_new(lanes_interval, n);
        size_t at[LANES_ROWS + 1];
        memcpy(at, next, sizeof at);
        for (guint i = 0; i < n; i++)
            sorted[at[row[i]]++] = *INTERVAL(lane, i);
        memcpy(lane->intervals->data, sorted, n * sizeof *sorted);
        g_free(sorted);
    }
    for (unsigned r = 0; r < lane->n_rows; r++) {
        lane->rows[r] = (lanes_row){INTERVAL(lane, next[r]), count[r]};
        l->n += count[r];
    }
}

/* ---------------------------------------------------------------- findings */

int64_t lanes_from(const lanes *l) {
    return distance(l->start_ns, l->zero_ns) > LANES_SPAN_NS / 2 ? 0 : l->start_ns - l->zero_ns;
}

bool lanes_offset(const lanes *l, const mill_finding *finding, int64_t *ret_offset) {
    int64_t at, base = finding->at_base_ns == MILL_UNKNOWN ? l->zero_ns : finding->at_base_ns;
    if (l->lanes->len == 0 || finding->at_ns == MILL_UNKNOWN ||
        (finding->at_base_ns == MILL_UNKNOWN && l->bases_differ) ||
        __builtin_add_overflow(finding->at_ns, base, &at) || at < l->start_ns ||
        distance(at, l->start_ns) > (uint64_t)(l->span * l->tick_ns))
        return false;
    *ret_offset = at - l->start_ns;
    return true;
}

/* A mark for each finding that has a time here; intervals then know theirs. */
static void set_marks(lanes *l) {
    for (guint r = 0; r < l->reports->len; r++) {
        const mill_report *report = g_ptr_array_index(l->reports, r);
        g_autofree int32_t *mark_of = g_new(int32_t, report->n_findings + 1);
        for (uint64_t i = 0; i < report->n_findings; i++) {
            lanes_mark mark = {.finding = report->findings[i]};
            mark_of[i] = -1;
            if (!lanes_offset(l, mark.finding, &mark.at))
                continue;
            if (l->marks->len == MARKS) {
                l->losses.marks++;
                continue;
            }
            mark_of[i] = (int32_t)l->marks->len;
            g_array_append_val(l->marks, mark);
        }
        for (guint i = 0; i < l->lanes->len; i++)
            for (guint k = 0; lane_at(l, i)->origin == r && lane_at(l, i)->lane->finding &&
                              k < lane_at(l, i)->intervals->len;
                 k++) {
                lanes_interval *v = INTERVAL(lane_at(l, i), k);
                v->mark = v->mark < 0 ? -1 : mark_of[v->mark];
            }
    }
}

bool lanes_neighbours(const lanes *l, guint i) {
    const lanes_lane *a = lane_at(l, i), *b = lane_at(l, i + 1);
    return a->origin == b->origin && a->lane->rank == b->lane->rank &&
           a->lane->device == b->lane->device;
}

/* Where each lane of a report is of another rank, as those of schedules are, titles only repeat
 * what the lanes' labels say. */
static void set_groups(lanes *l) {
    for (guint i = 0, end; i < l->lanes->len; i = end) {
        bool some = false;
        for (end = i + 1; end < l->lanes->len && lane_at(l, end)->origin == lane_at(l, i)->origin;
             end++)
            some |= lanes_neighbours(l, end - 1);
        for (guint k = i; k < end; k++)
            lane_at(l, k)->in_group = some || end == i + 1;
    }
}

void lanes_finish(lanes *l, uint64_t text_bytes) {
    if (l->lanes->len == 0)
        return;
    kinds_finish(l->kinds, text_bytes);
    set_clock(l);
    for (guint i = 0; i < l->lanes->len; i++)
        sort(lane_at(l, i));
    for (guint i = 0; i < l->lanes->len; i++)
        stack(l, lane_at(l, i));
    set_marks(l);
    set_groups(l);
}
