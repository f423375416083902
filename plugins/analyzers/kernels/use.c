/* SPDX-License-Identifier: Apache-2.0 */
/* How much of the device is used, and how the threads of the CPU spend their time. */
#include "kernels.h"

#include <stdio.h>

/* ---------------------------------------------------------------- the device */

static void tell_sms(kit_report *r, const kit_device *device, const kit_sms *sms, int64_t window,
                     const char *scope) {
    double whole = (double)device->sms * (double)window;
    if (!sms->held) {
        kit_note(r, MILL_INFO, "sms_unknown",
                 "Device %s: how many SMs it has is not in the trace: nothing is told of their "
                 "use.",
                 device->number);
        return;
    }
    if (!sms->all_known) {
        kit_note(r, MILL_INFO, "grids_unknown",
                 "Device %s: of some kernels the grid is not in the trace, so nothing is told of "
                 "the use of its SMs.",
                 device->number);
        return;
    }
    kit_figure_share(r, "sm_utilisation", "SMs that kernels can hold", scope,
                     "∫ min(SMs, Σ SMs held) / (SMs · window); a kernel holds min(blocks, SMs)",
                     sms->used_time / whole);
    kit_figure_int(r, MILL_KIND_NS, "sm_crowded", "more SMs wanted than there are", scope,
                   "The time in which Σ SMs held is above the SMs of the device.", sms->crowded);
    kit_figure_share(r, "sm_efficiency_uncapped", "SM efficiency as TensorBoard counts", scope,
                     "Σ duration · min(1, blocks / SMs) / window. Counts coinciding kernels "
                     "twice, so it may exceed 100 %: not to be quoted.",
                     sms->held_time / whole);
}

static mill_status tell_device(const kernels_analysis *analysis, kit_report *r,
                               const kit_device *device) {
    const char *scope = device->scope;
    int64_t states[KIT_STATES], window = device->window.end - device->window.start;
    kit_cover covers[KIT_CLASSES];
    kit_sms sms;
    kit_states(device->sets, device->window.start, device->window.end, states);
    kit_covers_of(analysis->run, device, covers);
    mill_status status = kit_sms_measure(&sms, analysis->run, &analysis->all, device,
                                         &covers[KIT_COMP], &covers[KIT_COMM]);
    if (status != MILL_OK)
        return status;
    kit_figure_ratio(r, "gpu_busy", "device busy", scope, "|C ∪ M ∪ X| / window",
                     kit_time_in(states, KIT_IN_ANY), window);
    kit_figure_ratio(r, "comp_over_T", "computation runs", scope, "|C| / window",
                     kit_time_in(states, KIT_IN_COMP), window);
    kit_figure_ratio(r, "comm_over_T", "communication runs", scope, "|M| / window",
                     kit_time_in(states, KIT_IN_COMM), window);
    kit_figure_ratio(r, "mem_over_T", "memory work runs", scope, "|X| / window",
                     kit_time_in(states, KIT_IN_MEM), window);
    tell_sms(r, device, &sms, window, scope);
    return MILL_OK;
}

mill_status kernels_tell_use(const kernels_analysis *analysis, kit_report *r) {
    mill_status status = MILL_OK;
    for (size_t i = 0; i < analysis->all.n_devices && status == MILL_OK; i++)
        status = tell_device(analysis, r, &analysis->all.devices[i]);
    kit_note(r, MILL_INFO, "not_in_trace",
             "Achieved occupancy and memory in use are unknown: a trace value holds neither the "
             "profiler's estimates, which are 0 for kernels that it can't estimate, nor its "
             "[memory] events' values.");
    return status;
}

/* ---------------------------------------------------------------- threads */

static const kit_column thread_columns[] = {
    {MILL_KIND_ID, "pid", "process", NULL},
    {MILL_KIND_ID, "tid", "thread", NULL},
    {MILL_KIND_TEXT, "name", "name", NULL},
    {MILL_KIND_NS, "span", "span", "From its first operator or API call to the end of the last."},
    {MILL_KIND_NS, "busy", "at work",
     "|union| of operators and API calls, without synchronisations."},
    {MILL_KIND_NS, "sync", "sync", "Σ of API calls with Synchronize in their name."},
    {MILL_KIND_NS, "poll", "polls", "Heuristic: it waits in a loop for communication to end."},
    {MILL_KIND_NS, "free", "free", "The rest of the span."},
    {0},
};

mill_status kernels_tell_threads(const kernels_analysis *analysis, kit_report *r) {
    const mill_trace *trace = analysis->all.trace;
    const kernels_options *o = analysis->options;
    kit_host host;
    mill_status status =
        kit_host_measure(analysis->run, &analysis->all, &o->notify, &o->polls, &host);
    if (status != MILL_OK)
        return status;
    kit_table *t = NULL;
    for (uint32_t i = 0; i < trace->threads.n; i++) {
        const kit_thread *thread = &host.threads[i];
        if (thread->work.n == 0)
            continue;
        if (!t)
            t = kit_table_of(r, "cpu_threads", "Threads of the CPU",
                             "Those with operators or API calls, in the whole trace.",
                             thread_columns);
        int64_t span = kit_subtract(thread->work.last, thread->work.first);
        int64_t used = kit_add(thread->work.busy, thread->poll);
        kit_table_row(t);
        kit_cell_int(t, mill_i64(trace, &trace->threads.pid, i));
        kit_cell_int(t, mill_i64(trace, &trace->threads.tid, i));
        kit_cell_text(t, mill_string(trace, mill_u32(trace, &trace->threads.name, i)));
        kit_cell_int(t, span);
        kit_cell_int(t, kit_subtract(thread->work.busy, thread->sync));
        kit_cell_int(t, thread->sync);
        kit_cell_int(t, thread->poll);
        kit_cell_int(t, kit_subtract(span, used));
    }
    return MILL_OK;
}
