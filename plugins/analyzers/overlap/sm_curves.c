/* SPDX-License-Identifier: Apache-2.0 */
/* How many multiprocessors communication and the other kernels hold as time goes by. */
#include "overlap.h"

#include <stdio.h>
#include <stdlib.h>

#define PARTS 480 /* of the window; each has the mean over its time */

/* SM time of each part of the window. */
typedef struct usage {
    kit_interval window;
    int64_t n; /* parts */
    double comm[PARTS], other[PARTS];
} usage;

/* Where part i begins; that of i = n is the window's end. Exact for any window. */
static int64_t border(const usage *u, int64_t i) {
    int64_t time = u->window.end - u->window.start;
    return u->window.start + time / u->n * i + time % u->n * i / u->n;
}

/* Nothing changes from `from` to `to`, which lie in the window. *part: that in which `from` is. */
static void pass(usage *u, int64_t *part, int64_t from, int64_t to, double comm, double other) {
    while (from < to) {
        while (border(u, *part + 1) <= from)
            ++*part;
        int64_t next = border(u, *part + 1), end = to < next ? to : next;
        u->comm[*part] += comm * (double)(end - from);
        u->other[*part] += other * (double)(end - from);
        from = end;
    }
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* What kernels want beyond the device's SMs is not held; communication comes first. */
static void sweep(usage *u, mill_run *run, const kit_device *device, const uint32_t *sms) {
    kit_sweep changes;
    kit_change change;
    int64_t comm = 0, all = 0, now = u->window.start, part = 0;
    kit_sweep_init(&changes, run, device);
    while (kit_sweep_next(&changes, &change)) {
        const kit_activity *a = change.activity;
        int64_t to = least(change.time, u->window.end);
        int64_t held = least(comm, device->sms);
        pass(u, &part, now, to, (double)held, (double)(least(all, device->sms) - held));
        now = to > now ? to : now;
        int64_t of = a->cat == MILL_GPU_KERNEL ? sms[a - device->v] : 0;
        all += change.begins ? of : -of;
        if (a->cls == KIT_COMM)
            comm += change.begins ? of : -of;
    }
}

static void tell(kit_report *r, const usage *u, const char *scope, const char *id,
                 const char *label, double *y) {
    char held[KIT_NUMBER_MAX + 32];
    snprintf(held, sizeof held, scope ? "SMs held, %s" : "SMs held", scope);
    double x[PARTS];
    for (int64_t i = 0; i < u->n; i++) {
        int64_t start = border(u, i), length = border(u, i + 1) - start;
        x[i] = ((double)(start - u->window.start) + (double)length / 2) / 1000;
        y[i] /= (double)length;
    }
    kit_series(r, &(mill_series){.size = sizeof(mill_series),
                                 .id = id,
                                 .label = label,
                                 .x_label = "time",
                                 .x_unit = "µs",
                                 .y_label = held,
                                 .y_unit = "SMs",
                                 .n = (uint64_t)u->n,
                                 .x = x,
                                 .y = y});
}

void overlap_tell_sm_curves(kit_report *r, const overlap_analysis *analysis,
                            const overlap_device *device, size_t number) {
    const kit_device *view = device->view;
    int64_t time = view->window.end - view->window.start;
    if (!device->sm.held || !device->sm.all_known || time <= 0)
        return;
    uint32_t *sms = kit_device_sms(&analysis->all, view);
    if (!sms)
        return;
    usage *u = mill_scratch(analysis->run, sizeof *u);
    *u = (usage){.window = view->window, .n = least(PARTS, time)};
    sweep(u, analysis->run, view, sms);
    free(sms);
    char id[KIT_NUMBER_MAX];
    snprintf(id, sizeof id, "sms_comm_%zu", number);
    tell(r, u, view->scope, id, "communication", u->comm);
    snprintf(id, sizeof id, "sms_other_%zu", number);
    tell(r, u, view->scope, id, "other kernels", u->other);
}
