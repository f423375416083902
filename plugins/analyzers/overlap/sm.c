/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of how communication and computation share the multiprocessors of a device. */
#include "overlap.h"

mill_status overlap_find_sm(overlap_analysis *analysis, overlap_device *device) {
    return kit_sms_init(&device->sm, analysis->run, &analysis->all, device->view, &device->comp,
                        &device->communication);
}

/* ---------------------------------------------------------------- what is told */

void overlap_tell_sm_figures(kit_report *r, const overlap_device *device, const char *scope) {
    const kit_sms *sm = &device->sm;
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
