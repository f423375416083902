/* SPDX-License-Identifier: Apache-2.0 */
/* How communication and computation share the multiprocessors of a device. */
#include <tracemill/kit/sms.h>

#include <tracemill/kit/sweep.h>

#define CANCEL_ROWS (1u << 16)

static int64_t held(const kit_activities *all, const kit_device *device, const kit_activity *a) {
    return a->cat == MILL_GPU_KERNEL ? kit_activity_sms(all, device, a) : 0;
}

static void add_comm(kit_sms *sms, const kit_activity *a, int64_t n, int64_t hidden) {
    int64_t dur = a->end - a->start;
    sms->held[n] = kit_add(sms->held[n], dur);
    sms->held_n[n]++;
    sms->comm_time += (double)dur * (double)n;
    sms->hidden_time += (double)hidden * (double)n;
    sms->hidden += (double)hidden;
}

static mill_status add_each(mill_run *run, const kit_activities *all, const kit_device *device,
                            const kit_cover covers[KIT_CLASSES], kit_sms *sms) {
    double comm = 0;
    bool any = false;
    sms->comm_known = sms->all_known = true;
    for (size_t i = 0; i < device->n; i++) {
        if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->v[i];
        int64_t n = held(all, device, a);
        bool known = a->cat != MILL_GPU_KERNEL || a->start == a->end || n > 0;
        sms->all_known &= known;
        sms->held_time += (double)(a->end - a->start) * (double)n;
        if (a->cls != KIT_COMM)
            continue;
        any = true;
        sms->comm_known &= known;
        comm += (double)(a->end - a->start);
        add_comm(sms, a, n, kit_covered(&covers[KIT_COMP], (kit_interval){a->start, a->end}));
    }
    sms->comm_known &= any;
    sms->mean = sms->comm_time / comm;
    for (int64_t i = 1; i <= device->sms; i++)
        if (sms->held[i] > sms->held[sms->reserved])
            sms->reserved = i;
    return MILL_OK;
}

/* Computation sized to run beside the communication. */
static mill_status add_rest(mill_run *run, const kit_activities *all, const kit_device *device,
                            const kit_cover *comm, kit_sms *sms) {
    const mill_trace *trace = all->trace;
    if (!sms->comm_known || sms->reserved == 0)
        return MILL_OK;
    for (size_t i = 0; i < device->n; i++) {
        if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        const kit_activity *a = &device->v[i];
        if (a->cls != KIT_COMP ||
            mill_i64(trace, &trace->gpu.grid, a->row) != device->sms - sms->reserved)
            continue;
        kit_tally_add(&sms->rest, a->start, a->end);
        int64_t under = kit_covered(comm, (kit_interval){a->start, a->end});
        sms->rest_without = kit_add(sms->rest_without, a->end - a->start - under);
    }
    return MILL_OK;
}

static mill_status add_used(mill_run *run, const kit_activities *all, const kit_device *device,
                            kit_sms *sms) {
    int64_t n = 0, now = 0;
    kit_sweep sweep;
    kit_sweep_init(&sweep, run, device);
    kit_change change;
    for (size_t i = 0; kit_sweep_next(&sweep, &change); i++) {
        if (i % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        int64_t used = n < device->sms ? n : device->sms;
        sms->used_time += (double)(change.time - now) * (double)used;
        sms->crowded += n > device->sms ? change.time - now : 0;
        now = change.time;
        int64_t of = held(all, device, change.activity);
        n += change.begins ? of : -of;
    }
    return MILL_OK;
}

mill_status kit_sms_measure(mill_run *run, const kit_activities *all, const kit_device *device,
                            const kit_cover covers[KIT_CLASSES], kit_sms *ret_sms) {
    *ret_sms = (kit_sms){0};
    if (device->sms <= 0 || device->sms > KIT_MOST_SMS)
        return MILL_OK;
    size_t n = (size_t)device->sms + 1;
    ret_sms->held = mill_scratch(run, n * sizeof *ret_sms->held);
    ret_sms->held_n = mill_scratch(run, n * sizeof *ret_sms->held_n);
    mill_status status = add_each(run, all, device, covers, ret_sms);
    if (status == MILL_OK)
        status = add_rest(run, all, device, &covers[KIT_COMM], ret_sms);
    if (status == MILL_OK)
        status = add_used(run, all, device, ret_sms);
    return status;
}
