/* SPDX-License-Identifier: Apache-2.0 */
/* How communication and computation share the multiprocessors of a device. */
#include <tracemill/kit/sms.h>

#include <stdlib.h>

#define CANCEL_ROWS (1u << 16)

static void add_comm(kit_sms *sms, int64_t dur, int64_t n, int64_t hidden) {
    sms->held[n] = kit_add(sms->held[n], dur);
    sms->held_n[n]++;
    sms->comm_time += (double)dur * (double)n;
    sms->hidden_time += (double)hidden * (double)n;
    sms->hidden += (double)hidden;
}

static mill_status add_each(kit_sms *sms, mill_run *run, const kit_device *device,
                            const kit_cover *comp) {
    kit_cover_cursor cursor = {comp, 0};
    double comm = 0;
    bool any = false;
    sms->comm_known = sms->all_known = true;
    for (size_t i = 0; i < device->n; i++) {
        if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->v[i];
        int64_t n = kit_sms_of(sms, device, a), dur = a->end - a->start;
        bool known = a->cat != MILL_GPU_KERNEL || dur == 0 || n > 0;
        sms->all_known &= known;
        sms->held_time += (double)dur * (double)n;
        if (a->cls != KIT_COMM)
            continue;
        any = true;
        sms->comm_known &= known;
        comm += (double)dur;
        add_comm(sms, dur, n, kit_covered_next(&cursor, (kit_interval){a->start, a->end}));
    }
    sms->comm_known &= any;
    sms->mean = sms->comm_time / comm;
    for (int64_t i = 1; i <= device->sms; i++)
        if (sms->held[i] > sms->held[sms->reserved])
            sms->reserved = i;
    return MILL_OK;
}

/* Computation sized to run beside the communication: a grid smaller than the device is as many
 * blocks as SMs it holds. */
static mill_status add_rest(kit_sms *sms, mill_run *run, const kit_device *device,
                            const kit_cover *comm) {
    kit_cover_cursor cursor = {comm, 0};
    int64_t left = sms->comm_known && sms->reserved > 0 ? device->sms - sms->reserved : 0;
    for (size_t i = 0; i < device->n && left > 0; i++) {
        if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->v[i];
        if (a->cls != KIT_COMP || sms->of[i] != left)
            continue;
        kit_tally_add(&sms->rest, a->start, a->end);
        int64_t under = kit_covered_next(&cursor, (kit_interval){a->start, a->end});
        sms->rest_without = kit_add(sms->rest_without, a->end - a->start - under);
    }
    return MILL_OK;
}

mill_status kit_sms_init(kit_sms *sms, mill_run *run, const kit_activities *all,
                         const kit_device *device, const kit_cover *comp, const kit_cover *comm) {
    *sms = (kit_sms){.of = kit_device_sms(all, device)};
    if (!sms->of)
        return MILL_OK;
    size_t n = (size_t)device->sms + 1;
    sms->held = mill_scratch(run, n * sizeof *sms->held);
    sms->held_n = mill_scratch(run, n * sizeof *sms->held_n);
    mill_status status = add_each(sms, run, device, comp);
    if (status == MILL_OK)
        status = add_rest(sms, run, device, comm);
    return status;
}

void kit_sms_finish(kit_sms *sms) {
    free(sms->of);
    sms->of = NULL;
}

static mill_status sweep(kit_sms *sms, mill_run *run, const kit_device *device) {
    int64_t now = device->window.start;
    kit_sweep changes;
    kit_change change;
    kit_sweep_init(&changes, run, device);
    for (size_t i = 0; kit_sweep_next(&changes, &change); i++) {
        if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        kit_sms_pass(sms, device, change.time - now);
        now = change.time;
        kit_sms_change(sms, device, &change);
    }
    return MILL_OK;
}

mill_status kit_sms_measure(kit_sms *sms, mill_run *run, const kit_activities *all,
                            const kit_device *device, const kit_cover *comp,
                            const kit_cover *comm) {
    mill_status status = kit_sms_init(sms, run, all, device, comp, comm);
    if (status == MILL_OK && sms->of)
        status = sweep(sms, run, device);
    kit_sms_finish(sms);
    return status;
}
