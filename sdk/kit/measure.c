/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of overlap on plain intervals. */
#include <tracemill/kit/measure.h>

#include <string.h>
#include <tracemill/trace.h>

int64_t kit_add(int64_t a, int64_t b) {
    int64_t sum;
    if (a == MILL_UNKNOWN || b == MILL_UNKNOWN || __builtin_add_overflow(a, b, &sum))
        return MILL_UNKNOWN;
    return sum;
}

int64_t kit_subtract(int64_t a, int64_t b) {
    int64_t difference;
    if (a == MILL_UNKNOWN || b == MILL_UNKNOWN || __builtin_sub_overflow(a, b, &difference))
        return MILL_UNKNOWN;
    return difference;
}

kit_interval kit_tally_add(kit_tally *tally, int64_t start, int64_t end) {
    if (tally->n == 0)
        tally->first = tally->last = start;

    /* Nothing before started later, so what it covers of [start, end) ends at `last`. */
    kit_interval owned = {start > tally->last ? start : tally->last, end};
    if (owned.start > end)
        owned.start = end;
    if (end > tally->last)
        tally->last = end;
    tally->n++;
    tally->sum = kit_add(tally->sum, end - start);
    tally->busy += owned.end - owned.start;
    return owned;
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

void kit_states(const kit_set sets[KIT_CLASSES], int64_t start, int64_t end,
                int64_t ret_states[KIT_STATES]) {
    size_t at[KIT_CLASSES];
    for (unsigned c = 0; c < KIT_CLASSES; c++)
        at[c] = first_after(&sets[c], start);
    memset(ret_states, 0, KIT_STATES * sizeof *ret_states);
    for (int64_t now = start, next; now < end; now = next) {
        unsigned state = 0;
        next = end;
        for (unsigned c = 0; c < KIT_CLASSES; c++) {
            const kit_set *set = &sets[c];
            while (at[c] < set->n && set->v[at[c]].end <= now)
                at[c]++;
            if (at[c] == set->n)
                continue;
            const kit_interval *interval = &set->v[at[c]];
            bool active = interval->start <= now;
            int64_t change = active ? interval->end : interval->start;
            state |= (unsigned)active << c;
            next = change < next ? change : next;
        }
        ret_states[state] += next - now;
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

/* |set ∩ (-∞, time)| */
static int64_t covered_before(const kit_cover *cover, int64_t time) {
    const kit_interval *v = cover->set->v;
    size_t low = 0,
           high = cover->set->n; /* finds the first interval that starts at time or later */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v[middle].start < time)
            low = middle + 1;
        else
            high = middle;
    }
    bool inside = low > 0 && v[low - 1].end > time;
    return cover->before[low] - (inside ? v[low - 1].end - time : 0);
}

int64_t kit_covered(const kit_cover *cover, kit_interval interval) {
    return covered_before(cover, interval.end) - covered_before(cover, interval.start);
}

int64_t kit_percentile(const int64_t *sorted, size_t n, unsigned percent) {
    size_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
    return sorted[rank > 0 ? rank - 1 : 0];
}
