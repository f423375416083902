/* SPDX-License-Identifier: Apache-2.0 */
/* The report of an analysis: its order, its notes, and the sentence at its head. */
#include "overlap.h"

#include <string.h>
#include <tracemill/kit/trace_notes.h>

#define C KIT_IN_COMP
#define M KIT_IN_COMM
#define NONE (KIT_ALWAYS & ~KIT_IN_ANY)

/* ---------------------------------------------------------------- notes */

static const char *join_kinds(mill_run *run, const overlap_device *device) {
    size_t length = 1;
    for (size_t k = 0; k < device->n_kinds; k++)
        length += strlen(device->kinds[k].name) + 2;
    char *text = mill_scratch(run, length), *end = text;
    for (size_t k = 0; k < device->n_kinds; k++)
        end = stpcpy(stpcpy(end, k ? ", " : ""), device->kinds[k].name);
    return text;
}

/* What was counted as communication: without it the figures can't be compared with others. */
static void note_communication(mill_run *run, kit_report *r, const overlap_device *device) {
    if (overlap_no_communication(device))
        kit_note(r, MILL_WARNING, "no_communication",
                 "Device %s: no communication kernels recognised, so ratios over communication "
                 "are unknown. If any of the longest kernels, listed below, communicates, write a "
                 "rule for its name (the reader's option rules), or name its stream (option "
                 "streams-as-communication).",
                 device->view->number);
    else
        kit_note(r, MILL_INFO, "communication_set", "Device %s: counted as communication: %s.",
                 device->view->number, join_kinds(run, device));
}

static void note_other(kit_report *r, const overlap_device *device) {
    char other[KIT_NUMBER_MAX], idle[KIT_NUMBER_MAX];
    if (device->classes[KIT_OTHER].n == 0)
        return;
    kit_note(r, MILL_INFO, "other_work",
             "Device %s: %lld activities (%s µs) are neither computation, communication nor "
             "memory work; %s µs of the idle time are theirs.",
             device->view->number, (long long)device->classes[KIT_OTHER].n,
             kit_format_us(other, overlap_time(device, KIT_IN_OTHER), KIT_GROUP),
             kit_format_us(idle, overlap_time(device, KIT_IN_OTHER & NONE), KIT_GROUP));
}

/* Streams that the option names, but on which nothing runs: most likely a slip. */
static void note_absent_streams(kit_report *r, const overlap_analysis *analysis) {
    const mill_list *named = &analysis->options->selection.streams;
    for (size_t i = 0; i < named->n; i++) {
        int64_t id = ((const int64_t *)named->v)[i];
        size_t s = 0;
        while (s < analysis->all.n_streams && analysis->streams[s].view->id != id)
            s++;
        if (s == analysis->all.n_streams)
            kit_note(r, MILL_WARNING, "stream_absent",
                     "The option streams-as-communication names stream %lld, but nothing runs on "
                     "it; the streams there are stand in the table streams.",
                     (long long)id);
    }
}

static void tell_notes(kit_report *r, const overlap_analysis *analysis) {
    kit_note_trace(analysis->run, r, analysis->all.trace);
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        note_communication(analysis->run, r, &analysis->devices[i]);
        note_other(r, &analysis->devices[i]);
    }
    note_absent_streams(r, analysis);
}

/* ---------------------------------------------------------------- the sentence */

static double hidden_share(const overlap_device *device) {
    return (double)overlap_time(device, C & M) / (double)overlap_time(device, M);
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
    char hidden[KIT_NUMBER_MAX], most[KIT_NUMBER_MAX], lost[KIT_NUMBER_MAX];
    char exposed[KIT_NUMBER_MAX];
    if (analysis->all.n_devices == 0)
        kit_report_summary(r, "No device events: nothing can be said of overlap.");
    else if (!recognised)
        kit_report_summary(r, "No communication kernels recognised: how much communication is "
                              "hidden is unknown.");
    else if (!worst)
        kit_report_summary(r, "All communication has zero duration: there is nothing to hide.");
    else if (analysis->all.n_devices == 1)
        kit_report_summary(
            r,
            "%s of communication is hidden under computation; %s µs (%s of the "
            "window) are exposed.",
            kit_format_percent(hidden, overlap_time(worst, C & M), overlap_time(worst, M)),
            kit_format_us(exposed, overlap_time(worst, M & ~C), KIT_GROUP),
            kit_format_percent(lost, overlap_time(worst, M & ~C), overlap_time(worst, KIT_ALWAYS)));
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
    tell_notes(r, analysis);
    size_t n = analysis->all.n_devices;
    if (n == 0) {
        overlap_tell_figures(r, NULL, NULL);
        return kit_report_end(r);
    }
    for (size_t i = 0; i < n; i++) {
        char scope[KIT_NUMBER_MAX + 8];
        snprintf(scope, sizeof scope, "device %s", analysis->devices[i].view->number);
        overlap_tell_figures(r, &analysis->devices[i], n > 1 ? scope : NULL);
        overlap_tell_sm_figures(r, &analysis->devices[i], n > 1 ? scope : NULL);
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        tables[i](r, analysis);
    if (analysis->options->lanes)
        overlap_tell_lanes(r, analysis);
    return kit_report_end(r);
}
