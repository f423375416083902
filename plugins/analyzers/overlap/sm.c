/* SPDX-License-Identifier: Apache-2.0 */
/* How communication and computation share the multiprocessors (SMs) of a device. A kernel holds at
 * most as many as its grid has blocks: an upper bound, since a profile does not tell more. */
#include "overlap.h"

static bool holds_known_sms(const overlap_device *device, const kit_activity *a) {
    return a->cat != MILL_GPU_KERNEL || a->start == a->end || overlap_sms_of(device, a) > 0;
}

static void add_comm(overlap_device *device) {
    overlap_sm *sm = &device->sm;
    double busy = 0;
    sm->comm_known = device->n_comm > 0;
    for (size_t i = 0; i < device->n_comm; i++) {
        const overlap_comm *comm = &device->comm[i];
        const kit_activity *a = &device->view->v[comm->activity];
        int64_t sms = overlap_sms_of(device, a);
        sm->comm_known &= holds_known_sms(device, a);
        sm->held[sms] = kit_add(sm->held[sms], a->end - a->start);
        sm->held_n[sms]++;
        sm->comm_time += (double)(a->end - a->start) * (double)sms;
        sm->hidden_time += (double)comm->hidden * (double)sms;
        sm->hidden += (double)comm->hidden;
        busy += (double)(a->end - a->start);
    }
    sm->mean = sm->comm_time / busy;
    for (int64_t i = 1; i <= device->view->sms; i++)
        if (sm->held[i] > sm->held[sm->reserved])
            sm->reserved = i;
}

/* Computation sized to run beside the communication: a grid smaller than the device is as many
 * blocks as SMs it holds. */
static mill_status add_rest(overlap_analysis *analysis, overlap_device *device) {
    overlap_sm *sm = &device->sm;
    kit_cover_cursor cursor = {&device->communication, 0};
    int64_t left = sm->comm_known && sm->reserved > 0 ? device->view->sms - sm->reserved : 0;
    sm->all_known = true;
    for (size_t i = 0; i < device->view->n; i++) {
        if (overlap_cancelled(analysis, i))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->view->v[i];
        sm->all_known &= holds_known_sms(device, a);
        if (left == 0 || a->cls != KIT_COMP || sm->of[i] != left)
            continue;
        kit_tally_add(&sm->rest, a->start, a->end);
        int64_t under = kit_covered_next(&cursor, (kit_interval){a->start, a->end});
        sm->rest_without = kit_add(sm->rest_without, a->end - a->start - under);
    }
    return MILL_OK;
}

mill_status overlap_find_sm(overlap_analysis *analysis, overlap_device *device) {
    device->sm.of = kit_device_sms(&analysis->all, device->view);
    if (!device->sm.of)
        return MILL_OK;
    size_t n = (size_t)device->view->sms + 1;
    device->sm.held = mill_scratch(analysis->run, n * sizeof *device->sm.held);
    device->sm.held_n = mill_scratch(analysis->run, n * sizeof *device->sm.held_n);
    add_comm(device);
    return add_rest(analysis, device);
}

/* ---------------------------------------------------------------- what is told */

void overlap_tell_sm_figures(kit_report *r, const overlap_device *device, const char *scope) {
    const overlap_sm *sm = &device->sm;
    if (!sm->held)
        return;
    double whole = (double)device->view->sms * (double)overlap_time(device, KIT_ALWAYS);
    double sms = (double)device->view->sms;
    kit_figure_int(r, MILL_KIND_COUNT, "sms", "SMs", scope, "Multiprocessors of the device.",
                   device->view->sms);
    if (sm->all_known)
        kit_figure_share(r, "sm_utilisation", "SMs that kernels can hold", scope,
                         "∫ min(SMs, Σ SMs held) / (SMs · window); a kernel holds min(blocks, SMs)",
                         sm->used_time / whole);
    if (!sm->comm_known)
        return;
    kit_figure_share(r, "comm_sm_share", "SMs that communication holds", scope,
                     "Σ duration · SMs held / (SMs · window)", sm->comm_time / whole);
    kit_figure_real(r, "comm_mean_sms", "SMs it holds while it runs", scope,
                    "Σ duration · SMs held / Σ duration", "SMs", sm->mean);
    kit_figure_share(r, "comp_capacity_left", "SMs left to computation", scope,
                     "1 - Σ hidden · SMs held / (SMs · Σ hidden)",
                     1 - sm->hidden_time / (sms * sm->hidden));
    if (sm->rest.n == 0)
        return;
    kit_figure_int(r, MILL_KIND_COUNT, "reserved_sms", "SMs reserved", scope,
                   "As many as communication holds for most of its time.", sm->reserved);
    kit_figure_int(r, MILL_KIND_COUNT, "rest_kernels", "kernels sized for the rest", scope,
                   "Computation of exactly as many blocks as SMs are left.", sm->rest.n);
    kit_figure_int(r, MILL_KIND_NS, "rest_time", "their time", scope, "Σ durations", sm->rest.sum);
    kit_figure_int(r, MILL_KIND_NS, "rest_time_without_comm", "of it without communication", scope,
                   "Σ |a ∖ M|: the reserved SMs stand idle", sm->rest_without);
}

static const kit_column held_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_COUNT, "sms", "SMs", "min(blocks of the grid, SMs of the device)"},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {0},
};

void overlap_tell_sm(kit_report *r, const overlap_analysis *analysis) {
    bool known = false;
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        known |= analysis->devices[i].sm.comm_known;
    if (!known)
        return;
    kit_table *t = kit_table_of(r, "comm_by_sms", "Communication by SMs held",
                                "An upper bound: as many as its grid has blocks.", held_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const overlap_device *device = &analysis->devices[i];
        for (int64_t sms = device->view->sms; device->sm.comm_known && sms >= 0; sms--) {
            if (device->sm.held_n[sms] == 0)
                continue;
            kit_table_row(t);
            kit_cell_int(t, device->view->id);
            kit_cell_int(t, sms);
            kit_cell_int(t, device->sm.held_n[sms]);
            kit_cell_int(t, device->sm.held[sms]);
        }
    }
}
