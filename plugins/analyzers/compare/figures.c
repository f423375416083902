/* SPDX-License-Identifier: Apache-2.0 */
/* Headline figures of a side: the times of its states, and those that tell why they change. */
#include "compare.h"

#include <math.h>

double compare_ratio(int64_t part, int64_t whole) {
    return whole > 0 && part != MILL_UNKNOWN ? (double)part / (double)whole : NAN;
}

static void add(compare_side *s, compare_time time, int64_t value) {
    s->times[time] = kit_add(s->times[time], value);
}

/* |(M ∖ C) ∩ what the computing stream waits for communication|. */
static mill_status add_wait(compare_analysis *a, compare_side *s, const kit_device *device) {
    const kit_set *comp = &device->sets[KIT_COMP], *comm = &device->sets[KIT_COMM];
    uint32_t stream = kit_primary_stream(a->run, &s->all, device);
    kit_gaps gaps;
    if (stream == KIT_ALL_STREAMS)
        return MILL_OK;
    mill_status status = kit_gaps_find(a->run, &s->all, device, stream, &a->options->gaps, &gaps);
    if (status != MILL_OK)
        return status;
    kit_set exposed = {mill_scratch(a->run, (comp->n + comm->n) * sizeof(kit_interval)), 0};
    kit_set waits = {mill_scratch(a->run, gaps.n * sizeof(kit_interval)), 0};
    exposed.n = kit_intervals_subtract(comm->v, comm->n, comp->v, comp->n, exposed.v);
    for (size_t i = 0; i < gaps.n; i++)
        if (gaps.v[i].cause == KIT_GAP_WAIT_COMM)
            waits.v[waits.n++] = (kit_interval){gaps.v[i].ready, gaps.v[i].end};
    waits.n = kit_intervals_normalise(waits.v, waits.n);
    add(s, COMPARE_WAIT_COMM, kit_intervals_common(exposed.v, exposed.n, waits.v, waits.n));
    return MILL_OK;
}

static void add_sums(compare_analysis *a, compare_side *s, const kit_device *device) {
    for (size_t i = 0; i < device->n; i++) {
        const kit_activity *v = &device->v[i];
        const char *kind = kit_kind_name(&s->all, v->kind);
        if (v->cls == KIT_COMP)
            add(s, COMPARE_COMP_SUM, v->end - v->start);
        if (v->cls == KIT_COMP && compare_lists(&a->options->cast_kinds, kind))
            add(s, COMPARE_CAST, v->end - v->start);
        if (v->cls == KIT_COMM && compare_lists(&a->options->notify_kinds, kind))
            add(s, COMPARE_NOTIFY, v->end - v->start);
    }
}

static mill_status measure_device(compare_analysis *a, compare_side *s, const kit_device *device) {
    int64_t states[KIT_STATES];
    kit_states(device->sets, device->window.start, device->window.end, states);
    add(s, COMPARE_T, kit_time_in(states, KIT_ALWAYS));
    add(s, COMPARE_BUSY, kit_time_in(states, KIT_IN_ANY));
    add(s, COMPARE_COMP, kit_time_in(states, KIT_IN_COMP));
    add(s, COMPARE_COMM, kit_time_in(states, KIT_IN_COMM));
    add(s, COMPARE_OVERLAP, kit_time_in(states, KIT_IN_COMP & KIT_IN_COMM));
    add(s, COMPARE_EXPOSED, kit_time_in(states, KIT_IN_COMM & ~KIT_IN_COMP));
    add_sums(a, s, device);
    return add_wait(a, s, device);
}

mill_status compare_measure(compare_analysis *a) {
    for (int end = 0; end < COMPARE_ENDS; end++)
        for (size_t i = 0; i < a->side[end].all.n_devices; i++) {
            mill_status status = measure_device(a, &a->side[end], &a->side[end].all.devices[i]);
            if (status != MILL_OK)
                return status;
        }
    return MILL_OK;
}
