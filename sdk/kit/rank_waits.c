/* SPDX-License-Identifier: Apache-2.0 */
/* Gathers the communication in which ranks wait for each other, all of it and layer by layer. */
#include <tracemill/kit/rank_waits.h>

#include <stdlib.h>

#define CANCEL_ROWS (1u << 16)

static int compare_layers(const void *a, const void *b) {
    const kit_layer_wait *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->layer > y->layer) - (x->layer < y->layer);
}

/* Joins those of one step and layer; the list is sorted. */
static size_t join_layers(kit_layer_wait *v, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || compare_layers(&v[kept - 1], &v[i]) != 0) {
            v[kept++] = v[i];
            continue;
        }
        kit_layer_wait *w = &v[kept - 1];
        w->n += v[i].n;
        w->sum = kit_add(w->sum, v[i].sum);
        w->min = v[i].min < w->min ? v[i].min : w->min;
        w->max = v[i].max > w->max ? v[i].max : w->max;
    }
    return kept;
}

mill_status kit_rank_waits_find(mill_run *run, const kit_activities *all, const kit_device *device,
                                const mill_list *kinds, kit_rank_waits *ret_waits) {
    const bool *named = kit_kinds_named(run, all, kinds);
    size_t room = 0, n = 0;
    *ret_waits = (kit_rank_waits){0};
    for (size_t i = 0; i < device->n; i++)
        room += device->v[i].cls == KIT_COMM && kit_kind_in(all, named, device->v[i].kind);
    int64_t *durs = mill_scratch(run, room * sizeof *durs);
    ret_waits->layers = mill_scratch(run, room * sizeof *ret_waits->layers);
    for (size_t i = 0; i < device->n; i++) {
        if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->v[i];
        if (a->cls != KIT_COMM || !kit_kind_in(all, named, a->kind))
            continue;
        int64_t dur = durs[n++] = a->end - a->start, layer = kit_layer_of(all, a->place);
        if (layer != MILL_UNKNOWN)
            ret_waits->layers[ret_waits->n_layers++] =
                (kit_layer_wait){kit_step_of(all, a->place), layer, 1, dur, dur, dur};
    }
    if (ret_waits->n_layers > 0)
        qsort(ret_waits->layers, ret_waits->n_layers, sizeof(kit_layer_wait), compare_layers);
    ret_waits->n_layers = join_layers(ret_waits->layers, ret_waits->n_layers);
    ret_waits->all = kit_stats_of(durs, n);
    ret_waits->excess = MILL_UNKNOWN;
    if (n > 0 && ret_waits->all.sum != MILL_UNKNOWN)
        ret_waits->excess = ret_waits->all.sum - (int64_t)n * ret_waits->all.min;
    return MILL_OK;
}
