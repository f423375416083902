/* SPDX-License-Identifier: Apache-2.0 */
/* What of communication is waiting: ranks for each other, and the CPU for the device. */
#include <tracemill/kit/rank_waits.h>

#include "communication.h"

/* ---------------------------------------------------------------- ranks for each other */

static const kit_column wait_columns[] = {
    {MILL_KIND_ID, "device", "dev.", NULL},
    {MILL_KIND_COUNT, "n", "n", "kernels"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_RATIO, "share", "share", "of the Σ durations of all communication"},
    {MILL_KIND_NS, "min", "shortest", NULL},
    {MILL_KIND_NS, "excess", "above it", "Σ (duration - shortest)"},
    {0},
};

static const kit_column layer_columns[] = {
    {MILL_KIND_ID, "device", "dev.", NULL}, {MILL_KIND_ID, "step", "step", NULL},
    {MILL_KIND_ID, "layer", "layer", NULL}, {MILL_KIND_COUNT, "n", "n", "kernels"},
    {MILL_KIND_NS, "sum", "sum", NULL},     {MILL_KIND_NS, "min", "min", NULL},
    {MILL_KIND_NS, "max", "max", NULL},     {0},
};

static void tell_layers(const communication_analysis *analysis, kit_table *t,
                        const kit_device *device, const kit_rank_waits *waits) {
    for (size_t i = 0; i < waits->n_layers; i++) {
        const kit_layer_wait *w = &waits->layers[i];
        kit_table_row(t);
        kit_cell_int(t, device->id);
        kit_cell_int(t, kit_step_number(&analysis->all, w->step));
        kit_cell_int(t, w->layer);
        kit_cell_int(t, w->n);
        kit_cell_int(t, w->sum);
        kit_cell_int(t, w->min);
        kit_cell_int(t, w->max);
    }
}

mill_status communication_tell_waits(const communication_analysis *analysis, kit_report *r) {
    size_t n = analysis->all.n_devices;
    kit_rank_waits *waits = mill_scratch(analysis->run, n * sizeof *waits);
    bool any = false, layered = false;
    for (size_t i = 0; i < n; i++) {
        mill_status status =
            kit_rank_waits_find(analysis->run, &analysis->all, &analysis->all.devices[i],
                                &analysis->options->notify, &waits[i]);
        if (status != MILL_OK)
            return status;
        any |= waits[i].all.n > 0;
        layered |= waits[i].n_layers > 0;
    }
    if (!any)
        return MILL_OK;
    kit_table *t = kit_table_of(r, "waiting", "Waiting for other ranks",
                                "Kernels in which ranks only wait for each other. What exceeds "
                                "the shortest is at most other ranks' delay: one rank's profile "
                                "can't tell more.",
                                wait_columns);
    for (size_t i = 0; i < n; i++) {
        if (waits[i].all.n == 0)
            continue;
        kit_table_row(t);
        kit_cell_int(t, analysis->all.devices[i].id);
        kit_cell_int(t, waits[i].all.n);
        kit_cell_int(t, waits[i].all.sum);
        kit_cell_ratio(t, waits[i].all.sum, analysis->sums[i]);
        kit_cell_int(t, waits[i].all.min);
        kit_cell_int(t, waits[i].excess);
    }
    if (!layered)
        return MILL_OK;
    t = kit_table_of(r, "waiting_by_layer", "Waiting for other ranks, layer by layer",
                     "If it grows, this rank runs ahead of others.", layer_columns);
    for (size_t i = 0; i < n; i++)
        tell_layers(analysis, t, &analysis->all.devices[i], &waits[i]);
    return MILL_OK;
}

/* ---------------------------------------------------------------- the CPU for the device */

static const kit_column poll_columns[] = {
    {MILL_KIND_ID, "device", "dev.", NULL},
    {MILL_KIND_ID, "tid", "thread", NULL},
    {MILL_KIND_NS, "start", "start", "Of the stall, from the window's start; so the next ones."},
    {MILL_KIND_NS, "time", "stall", "The thread does nothing that the profile shows."},
    {MILL_KIND_NS, "notify_start", "polled for", "Start of the communication polled for."},
    {MILL_KIND_NS, "notify_end", "to", "Its end."},
    {MILL_KIND_TEXT, "stage", "in stage", "Its stage."},
    {MILL_KIND_NS, "after", "after it", "From its end to the end of the stall."},
    {MILL_KIND_NS, "next_launch", "next launch", "Of communication, from the stall's end on."},
    {MILL_KIND_NS, "next_start", "starts", "The first communication launched from there on."},
    {MILL_KIND_NS, "cost", "cost", "From the end of the communication polled for to that start."},
    {0},
};

static int64_t since(const kit_device *device, int64_t time) {
    return kit_subtract(time, device->window.start);
}

static void tell_poll(const communication_analysis *analysis, kit_table *t, const kit_poll *poll) {
    const kit_device *device = &analysis->all.devices[poll->device];
    const kit_activity *notify = &device->v[poll->notify];
    const mill_threads *threads = &analysis->all.trace->threads;
    kit_table_row(t);
    kit_cell_int(t, device->id);
    kit_cell_int(t, mill_i64(analysis->all.trace, &threads->tid, poll->thread));
    kit_cell_int(t, since(device, poll->start));
    kit_cell_int(t, poll->end - poll->start);
    kit_cell_int(t, since(device, notify->start));
    kit_cell_int(t, since(device, notify->end));
    kit_cell_text(t, kit_stage_name(&analysis->all, notify->place));
    kit_cell_int(t, poll->end - notify->end);
    kit_cell_int(t, since(device, poll->next_launch));
    kit_cell_int(t, since(device, poll->next_start));
    kit_cell_int(t, kit_poll_cost(&analysis->all, poll));
}

mill_status communication_tell_polls(const communication_analysis *analysis, kit_report *r) {
    kit_host host;
    mill_status status = kit_host_measure(analysis->run, &analysis->all, &analysis->options->notify,
                                          &analysis->options->polls, &host);
    if (status == MILL_OK && analysis->options->lanes)
        communication_tell_lanes(analysis, r, &host);
    if (status != MILL_OK || host.n_polls == 0)
        return status;
    int64_t time = 0, cost = 0;
    for (size_t i = 0; i < host.n_polls; i++) {
        int64_t of = kit_poll_cost(&analysis->all, &host.polls[i]);
        time = kit_add(time, host.polls[i].end - host.polls[i].start);
        cost = kit_add(cost, of == MILL_UNKNOWN ? 0 : of);
    }
    kit_figure_int(r, MILL_KIND_COUNT, "polls", "stalls of the CPU in polls", NULL,
                   "Heuristic: a thread waits in a loop for communication to end.",
                   (int64_t)host.n_polls);
    kit_figure_int(r, MILL_KIND_NS, "poll_time", "time of the CPU in polls", NULL, "Σ stalls",
                   time);
    kit_figure_int(r, MILL_KIND_NS, "poll_cost", "what they cost the device", NULL,
                   "Σ of the time from the end of the communication polled for to the start of "
                   "the next, where there is one.",
                   cost);
    kit_table *t =
        kit_table_of(r, "host_polls", "Polls of the CPU",
                     "Threads that wait in a loop for communication to end.", poll_columns);
    for (size_t i = 0; i < host.n_polls && i < (size_t)analysis->options->top; i++)
        tell_poll(analysis, t, &host.polls[i]);
    return MILL_OK;
}
