/* SPDX-License-Identifier: Apache-2.0 */
/* The report of an analysis: its order, and the sentence at its head. */
#include "overlap.h"

#include <stdio.h>

#define C KIT_IN_COMP
#define M KIT_IN_COMM

/* ---------------------------------------------------------------- the sentence */

static double hidden_share(const overlap_device *device) {
    return (double)overlap_time(device, C & M) / (double)overlap_time(device, M);
}

/* How long the computing stream waits for communication of the layer. */
static int64_t waits_of_layer(const overlap_analysis *analysis, const overlap_device *device,
                              int64_t layer) {
    int64_t time = 0;
    for (size_t i = 0; i < device->n_exposed; i++) {
        const overlap_exposed *piece = &device->exposed[i];
        const kit_activity *a = &device->view->v[device->comm[piece->comm].activity];
        if (piece->reason == KIT_GAP_WAIT_COMM && overlap_layer_of(analysis, a->place) == layer)
            time += piece->time.end - piece->time.start;
    }
    return time;
}

/* The only layer that more than half of those waits can be in: a vote, weighted by time. */
static int64_t most_waiting_layer(const overlap_analysis *analysis, const overlap_device *device) {
    int64_t layer = MILL_UNKNOWN, votes = 0;
    for (size_t i = 0; i < device->n_exposed; i++) {
        const overlap_exposed *piece = &device->exposed[i];
        if (piece->reason != KIT_GAP_WAIT_COMM)
            continue;
        const kit_activity *a = &device->view->v[device->comm[piece->comm].activity];
        int64_t of = overlap_layer_of(analysis, a->place);
        int64_t length = piece->time.end - piece->time.start;
        votes += of == layer ? length : -length;
        if (votes < 0) {
            layer = of;
            votes = -votes;
        }
    }
    return layer;
}

/* ", most of it in layer 3", where that is so; with several steps there are several layers 3. */
static void tell_where(char *text, size_t size, const overlap_analysis *analysis,
                       const overlap_device *device) {
    int64_t whole = device->reasons[KIT_GAP_WAIT_COMM];
    text[0] = '\0';
    if (!device->layered || whole == 0 || overlap_several_steps(analysis))
        return;
    int64_t layer = most_waiting_layer(analysis, device);
    int64_t part = waits_of_layer(analysis, device, layer);
    if (layer != MILL_UNKNOWN && part > whole / 2)
        snprintf(text, size, part == whole ? ", all in layer %lld" : ", most of it in layer %lld",
                 (long long)layer);
}

static void summarise_one(kit_report *r, const overlap_analysis *analysis,
                          const overlap_device *device) {
    char hidden[KIT_NUMBER_MAX], lost[KIT_NUMBER_MAX], exposed[KIT_NUMBER_MAX];
    char waits[KIT_NUMBER_MAX], share[KIT_NUMBER_MAX], where[KIT_NUMBER_MAX + 32];
    int64_t window = overlap_time(device, KIT_ALWAYS);
    int64_t actionable = device->reasons[KIT_GAP_WAIT_COMM];
    tell_where(where, sizeof where, analysis, device);
    kit_report_summary(
        r,
        "%s of communication is hidden under computation; %s µs (%s of the window) are exposed, "
        "of which %s µs (%s) are actionable%s%s.",
        kit_format_percent(hidden, overlap_time(device, C & M), overlap_time(device, M)),
        kit_format_us(exposed, overlap_time(device, M & ~C), KIT_GROUP),
        kit_format_percent(lost, overlap_time(device, M & ~C), window),
        kit_format_us(waits, actionable, KIT_GROUP), kit_format_percent(share, actionable, window),
        where,
        2 * device->reasons[OVERLAP_SAME_STREAM] > overlap_time(device, M & ~C)
            ? ": most runs on the computing stream itself"
            : "");
}

static void tell_summary(kit_report *r, const overlap_analysis *analysis) {
    const overlap_device *worst = NULL, *best = NULL; /* of those whose communication takes time */
    bool recognised = false;
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const overlap_device *device = &analysis->devices[i];
        recognised |= !overlap_no_communication(device);
        if (overlap_time(device, M) == 0)
            continue;
        if (!worst || hidden_share(device) < hidden_share(worst))
            worst = device;
        if (!best || hidden_share(device) > hidden_share(best))
            best = device;
    }
    char hidden[KIT_NUMBER_MAX], most[KIT_NUMBER_MAX];
    if (analysis->all.trace->gpu.n == 0)
        kit_report_summary(r, "No device events: nothing can be said of overlap.");
    else if (analysis->all.n_devices == 0)
        kit_report_summary(r, "No activity lies in the steps and the window asked for.");
    else if (!recognised)
        kit_report_summary(r, "No communication kernels recognised: how much communication is "
                              "hidden is unknown.");
    else if (!worst)
        kit_report_summary(r, "All communication has zero duration: there is nothing to hide.");
    else if (analysis->all.n_devices == 1)
        summarise_one(r, analysis, worst);
    else
        kit_report_summary(
            r,
            "From %s (device %s) to %s (device %s) of communication is hidden under "
            "computation.",
            kit_format_percent(hidden, overlap_time(worst, C & M), overlap_time(worst, M)),
            worst->view->number,
            kit_format_percent(most, overlap_time(best, C & M), overlap_time(best, M)),
            best->view->number);
}

/* ---------------------------------------------------------------- all of it */

static void (*const tables[])(kit_report *r, const overlap_analysis *analysis) = {
    overlap_tell_reasons, overlap_tell_layers,  overlap_tell_steps,     overlap_tell_kinds,
    overlap_tell_parts,   overlap_tell_kernels, overlap_tell_notify,    overlap_tell_stages,
    overlap_tell_pairs,   overlap_tell_chunks,  overlap_tell_sm,        overlap_tell_devices,
    overlap_tell_streams, overlap_tell_classes, overlap_tell_unmatched,
};

mill_report *overlap_tell(const overlap_analysis *analysis) {
    kit_report *r = kit_report_begin(analysis->run, "overlap", "Compute-communication overlap",
                                     mill_at(analysis->all.trace, analysis->all.trace->path));
    tell_summary(r, analysis);
    overlap_tell_notes(r, analysis);
    size_t n = analysis->all.n_devices;
    if (n == 0) {
        overlap_tell_figures(r, NULL, NULL);
        return kit_report_end(r);
    }
    for (size_t i = 0; i < n; i++) {
        overlap_tell_figures(r, &analysis->devices[i], analysis->all.devices[i].scope);
        overlap_tell_sm_figures(r, &analysis->devices[i], analysis->all.devices[i].scope);
    }
    overlap_tell_selection(r, analysis);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        tables[i](r, analysis);
    if (analysis->options->lanes)
        overlap_tell_lanes(r, analysis);
    return kit_report_end(r);
}
