/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the activities that were selected: SMs, names, sets. */
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/activities.h>
#include <tracemill/kit/arena.h>

int64_t kit_activity_sms(const kit_activities *all, const kit_device *device,
                         const kit_activity *a) {
    int64_t grid = mill_i64(all->trace, &all->trace->gpu.grid, a->row);
    if (grid < 0 || device->sms < 0) /* as MILL_UNKNOWN is */
        return 0;
    return grid < device->sms ? grid : device->sms;
}

uint32_t *kit_device_sms(const kit_activities *all, const kit_device *device) {
    if (device->sms <= 0 || device->sms > KIT_MOST_SMS)
        return NULL;
    uint32_t *sms = kit_alloc(device->n, sizeof *sms);
    for (size_t i = 0; i < device->n; i++)
        sms[i] = (uint32_t)kit_activity_sms(all, device, &device->v[i]);
    return sms;
}

/* Once to count the intervals of each set, and once to fill them. */
void kit_sets_of(mill_run *run, const kit_device *device, kit_group_fn group, const void *context,
                 kit_set *ret_sets, size_t n_groups) {
    size_t *n = kit_alloc(n_groups, sizeof *n), total = 0;
    int64_t *end = kit_alloc(n_groups, sizeof *end);
    for (size_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i];
        uint32_t g = group(context, a);
        if (g == MILL_NONE || a->start == a->end)
            continue;
        bool apart = n[g] == 0 || a->start > end[g];
        n[g] += apart;
        total += apart;
        end[g] = apart || a->end > end[g] ? a->end : end[g];
    }
    kit_interval *v = mill_scratch(run, total * sizeof *v);
    for (size_t g = 0; g < n_groups; v += n[g++])
        ret_sets[g] = (kit_set){v, 0};
    free(n);
    free(end);
    for (size_t i = 0; i < device->n; i++) {
        uint32_t g = group(context, &device->v[i]);
        if (g != MILL_NONE)
            kit_set_add(&ret_sets[g], device->v[i].start, device->v[i].end);
    }
}

const char *kit_kind_name(const kit_activities *all, uint16_t kind) {
    if (kind == KIT_KIND_STREAM)
        return "(by stream)";
    return kind < all->trace->kinds.n ? mill_text(all->trace, &all->trace->kinds, kind)
                                      : "(no kind)";
}

const char *kit_activity_name(const kit_activities *all, const kit_activity *a) {
    if (a->kind < all->trace->kinds.n)
        return kit_kind_name(all, a->kind);
    return mill_name(all->trace, mill_u32(all->trace, &all->trace->gpu.name, a->row));
}

const bool *kit_kinds_named(mill_run *run, const kit_activities *all, const mill_list *names) {
    const mill_texts *kinds = &all->trace->kinds;
    bool *named = mill_scratch(run, kinds->n + 1);
    for (uint32_t k = 0; k < kinds->n; k++)
        for (size_t i = 0; i < names->n; i++)
            named[k] |=
                strcmp(((const char *const *)names->v)[i], mill_text(all->trace, kinds, k)) == 0;
    return named;
}

void kit_covers_of(mill_run *run, const kit_device *device, kit_cover ret_covers[KIT_CLASSES]) {
    for (int c = 0; c < KIT_CLASSES; c++) {
        const kit_set *set = &device->sets[c];
        kit_cover_init(&ret_covers[c], set, mill_scratch(run, (set->n + 1) * sizeof(int64_t)));
    }
}
