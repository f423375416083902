/* SPDX-License-Identifier: Apache-2.0 */
/* The remarks of a report: what the figures are of, and what they can't say. */
#include "overlap.h"

#include <string.h>
#include <tracemill/kit/trace_notes.h>

#define NONE (KIT_ALWAYS & ~KIT_IN_ANY)

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

/* What part of the profile the figures are of. */
static void note_selection(kit_report *r, const overlap_analysis *analysis) {
    const kit_activities *all = &analysis->all;
    char left_out[KIT_NUMBER_MAX];
    if (all->left_out > 0)
        kit_note(r, MILL_INFO, "left_out",
                 "%s activities outside of the steps and the window asked for are left out.",
                 kit_format_int(left_out, (int64_t)all->left_out, KIT_GROUP));
}

/* How much the attribution places, and what is left out where that is too little. */
static void note_places(kit_report *r, const overlap_device *device) {
    char placed[KIT_NUMBER_MAX];
    kit_format_percent(placed, device->placed, device->all.busy);
    if (device->staged || device->chunked)
        kit_note(r, MILL_INFO, "coverage",
                 "Device %s: %s of its busy time is placed in a stage or a chunk.",
                 device->view->number, placed);
    else if (device->placed > 0)
        kit_note(r, MILL_WARNING, "coverage_low",
                 "Device %s: only %s of its busy time is placed in a stage or a chunk, less than "
                 "min-coverage: what is told by stage, chunk and layer is left out.",
                 device->view->number, placed);
    else
        kit_note(r, MILL_INFO, "coverage_none",
                 "Device %s: the attribution places nothing in a stage or a chunk, so nothing is "
                 "told by these.",
                 device->view->number);
}

static void note_sms(kit_report *r, const overlap_device *device) {
    if (!device->sm.held)
        kit_note(r, MILL_INFO, "sms_unknown",
                 "Device %s: how many SMs it has is not in the trace: nothing is told of SMs, and "
                 "no gap is a wait for them.",
                 device->view->number);
    else if (!device->sm.all_known)
        kit_note(r, MILL_INFO, "grids_unknown",
                 "Device %s: of some kernels the grid is not in the trace, so it is not told how "
                 "many SMs are held.",
                 device->view->number);
}

/* How it is told why communication is exposed, where that is more than a guess by timing. */
static void note_waits(kit_report *r, const overlap_device *device) {
    size_t n[KIT_GAP_METHODS] = {0};
    for (size_t i = 0; i < device->gaps.n; i++)
        n[device->gaps.v[i].method]++;
    if (n[KIT_GAP_RECORDED] > 0)
        kit_note(r, MILL_INFO, "waits_recorded",
                 "Device %s: why the stream that computes most stands still is recorded for %zu of "
                 "its gaps, told by timing for %zu, and by their length for %zu.",
                 device->view->number, n[KIT_GAP_RECORDED], n[KIT_GAP_BY_TIMING],
                 n[KIT_GAP_BY_LENGTH]);
}

void overlap_tell_notes(kit_report *r, const overlap_analysis *analysis) {
    kit_note_trace(analysis->run, r, analysis->all.trace);
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        note_communication(analysis->run, r, &analysis->devices[i]);
        note_other(r, &analysis->devices[i]);
        if (analysis->all.places)
            note_places(r, &analysis->devices[i]);
        note_sms(r, &analysis->devices[i]);
        note_waits(r, &analysis->devices[i]);
    }
    note_absent_streams(r, analysis);
    note_selection(r, analysis);
    if (!analysis->all.places && analysis->all.n_devices > 0)
        kit_note(r, MILL_INFO, "no_attribution",
                 "Nothing is told by stage, chunk and layer: the input attribution is not "
                 "connected.");
}
