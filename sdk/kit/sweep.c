/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the starts of activities, which are sorted, with their ends, which a heap sorts. */
#include <tracemill/kit/sweep.h>

#include <string.h>

void kit_sweep_init(kit_sweep *s, mill_run *run, const kit_device *device) {
    *s = (kit_sweep){.run = run, .next = device->v, .last = device->v + device->n};
}

static void push(kit_sweep *s, const kit_activity *activity) {
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        kit_running *running = mill_scratch(s->run, room * sizeof *running);
        if (s->n > 0)
            memcpy(running, s->running, s->n * sizeof *running);
        s->running = running;
        s->room = room;
    }
    kit_running *v = s->running, new = {activity->end, activity};
    size_t i = s->n++;
    for (; i > 0 && v[(i - 1) / 2].end > new.end; i = (i - 1) / 2)
        v[i] = v[(i - 1) / 2];
    v[i] = new;
}

static const kit_activity *pop(kit_sweep *s) {
    kit_running *v = s->running, last = v[--s->n];
    const kit_activity *first = v[0].activity;
    size_t i = 0, child;
    while ((child = 2 * i + 1) < s->n) {
        child += child + 1 < s->n && v[child + 1].end < v[child].end;
        if (v[child].end >= last.end)
            break;
        v[i] = v[child];
        i = child;
    }
    v[i] = last;
    return first;
}

bool kit_sweep_next(kit_sweep *s, kit_change *ret_change) {
    while (s->next < s->last && s->next->start == s->next->end)
        s->next++;
    bool more = s->next < s->last;
    if (s->n > 0 && (!more || s->running[0].end <= s->next->start)) {
        const kit_activity *a = pop(s);
        *ret_change = (kit_change){a->end, a, false};
        return true;
    }
    if (!more)
        return false;
    push(s, s->next);
    *ret_change = (kit_change){s->next->start, s->next, true};
    s->next++;
    return true;
}
