/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the starts of activities, which are sorted, with their ends, which a heap sorts. */
#include <tracemill/kit/sweep.h>

#include <string.h>

void kit_sweep_init(kit_sweep *s, mill_run *run, const kit_device *device) {
    *s = (kit_sweep){.run = run, .device = device};
}

static int64_t end_of(const kit_sweep *s, size_t i) {
    return s->device->v[s->running[i]].end;
}

static void push(kit_sweep *s, uint32_t activity) {
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        uint32_t *running = mill_scratch(s->run, room * sizeof *running);
        if (s->n > 0)
            memcpy(running, s->running, s->n * sizeof *running);
        s->running = running;
        s->room = room;
    }
    size_t i = s->n++;
    int64_t end = s->device->v[activity].end;
    for (; i > 0 && end_of(s, (i - 1) / 2) > end; i = (i - 1) / 2)
        s->running[i] = s->running[(i - 1) / 2];
    s->running[i] = activity;
}

static uint32_t pop(kit_sweep *s) {
    uint32_t first = s->running[0], last = s->running[--s->n];
    int64_t end = s->device->v[last].end;
    size_t i = 0, child;
    while ((child = 2 * i + 1) < s->n) {
        child += child + 1 < s->n && end_of(s, child + 1) < end_of(s, child);
        if (end_of(s, child) >= end)
            break;
        s->running[i] = s->running[child];
        i = child;
    }
    s->running[i] = last;
    return first;
}

bool kit_sweep_next(kit_sweep *s, kit_change *ret_change) {
    const kit_activity *v = s->device->v;
    while (s->next < s->device->n && v[s->next].start == v[s->next].end)
        s->next++;
    bool more = s->next < s->device->n;
    if (s->n > 0 && (!more || end_of(s, 0) <= v[s->next].start)) {
        const kit_activity *a = &v[pop(s)];
        *ret_change = (kit_change){a->end, a, false};
        return true;
    }
    if (!more)
        return false;
    push(s, (uint32_t)s->next);
    *ret_change = (kit_change){v[s->next].start, &v[s->next], true};
    s->next++;
    return true;
}
