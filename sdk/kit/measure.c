/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of overlap on plain intervals. */
#include <tracemill/kit/measure.h>

#include <string.h>
#include <tracemill/trace.h>

void kit_set_add(kit_set *set, int64_t start, int64_t end) {
    if (start >= end)
        return;
    if (set->n == 0 || start > set->v[set->n - 1].end)
        set->v[set->n++] = (kit_interval){start, end};
    else if (end > set->v[set->n - 1].end)
        set->v[set->n - 1].end = end;
}

/* The first interval of the set that ends after `time`. */
static size_t first_after(const kit_set *set, int64_t time) {
    size_t low = 0, high = set->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->v[middle].end <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The boundaries of a set in order: starts have even numbers, ends odd ones, so the number of the
 * next boundary says whether the set is active. */
typedef struct boundaries {
    const kit_interval *v;
    size_t next, n;
    unsigned bit;
} boundaries;

static int64_t next_change(const boundaries *b) {
    if (b->next == b->n)
        return INT64_MAX;
    const kit_interval *interval = &b->v[b->next / 2];
    return *(b->next & 1 ? &interval->end : &interval->start);
}

void kit_states(const kit_set sets[KIT_CLASSES], int64_t start, int64_t end,
                int64_t ret_states[KIT_STATES]) {
    boundaries all[KIT_CLASSES];
    int64_t changes[KIT_CLASSES], now = start;
    size_t n = 0;
    unsigned state = 0;
    memset(ret_states, 0, KIT_STATES * sizeof *ret_states);
    for (unsigned c = 0; c < KIT_CLASSES; c++) {
        size_t first = first_after(&sets[c], start);
        if (first == sets[c].n)
            continue;
        bool active = sets[c].v[first].start <= start;
        state |= (unsigned)active << c;
        all[n] = (boundaries){sets[c].v, 2 * first + active, 2 * sets[c].n, 1u << c};
        changes[n] = next_change(&all[n]);
        n++;
    }
    while (now < end) {
        int64_t next = end;
        for (size_t i = 0; i < n; i++)
            next = changes[i] < next ? changes[i] : next;
        ret_states[state] += next - now;
        now = next;
        for (size_t i = 0; i < n; i++) {
            if (changes[i] != now)
                continue;
            state ^= all[i].bit;
            all[i].next++;
            changes[i] = next_change(&all[i]);
        }
    }
}

int64_t kit_time_in(const int64_t states[KIT_STATES], uint32_t mask) {
    int64_t time = 0;
    for (unsigned s = 0; s < KIT_STATES; s++)
        time += mask >> s & 1 ? states[s] : 0;
    return time;
}

void kit_cover_init(kit_cover *cover, const kit_set *set, int64_t *before) {
    before[0] = 0;
    for (size_t i = 0; i < set->n; i++)
        before[i + 1] = before[i] + (set->v[i].end - set->v[i].start);
    *cover = (kit_cover){set, before};
}

/* The first interval of [low, high) that starts at `time` or later. */
static size_t first_from(const kit_interval *v, size_t low, size_t high, int64_t time) {
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same of the whole set, looked for from interval `at` on, in steps that double. */
static size_t first_near(const kit_set *set, size_t at, int64_t time) {
    size_t step = 1;
    if (at < set->n && set->v[at].start < time) {
        size_t low = at + 1;
        while (low < set->n && set->v[low].start < time) {
            at = low + 1;
            low += step;
            step *= 2;
        }
        return first_from(set->v, at, low < set->n ? low : set->n, time);
    }
    size_t high = at;
    while (high > 0 && set->v[high - 1].start >= time) {
        at = high - 1;
        high = high > step ? high - step : 0;
        step *= 2;
    }
    return first_from(set->v, high, at, time);
}

/* |set ∩ (-∞, time)|, of whose intervals the first `n` start before `time` and no more. */
static int64_t covered_before(const kit_cover *cover, size_t n, int64_t time) {
    const kit_interval *v = cover->set->v;
    bool inside = n > 0 && v[n - 1].end > time;
    return cover->before[n] - (inside ? v[n - 1].end - time : 0);
}

int64_t kit_covered_next(kit_cover_cursor *cursor, kit_interval interval) {
    const kit_cover *cover = cursor->cover;
    cursor->at = first_near(cover->set, cursor->at, interval.start);
    size_t end = first_near(cover->set, cursor->at, interval.end);
    return covered_before(cover, end, interval.end) -
           covered_before(cover, cursor->at, interval.start);
}

int64_t kit_covered(const kit_cover *cover, kit_interval interval) {
    kit_cover_cursor cursor = {cover, first_from(cover->set->v, 0, cover->set->n, interval.start)};
    return kit_covered_next(&cursor, interval);
}

size_t kit_percentile_rank(size_t n, unsigned percent) {
    size_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
    return rank > 0 ? rank - 1 : 0;
}

int64_t kit_percentile(const int64_t *sorted, size_t n, unsigned percent) {
    return sorted[kit_percentile_rank(n, percent)];
}
