/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a device, and the tables that hold of every profile. */
#include "overlap.h"

#include <stdio.h>
#include <string.h>

#define C KIT_IN_COMP
#define M KIT_IN_COMM
#define X KIT_IN_MEM
#define NONE (KIT_ALWAYS & ~KIT_IN_ANY)

/* Figures that are a time: the states in which it passes. */
static const struct {
    const char *id, *label, *help;
    uint32_t states;
} times[] = {
    {"T", "window", "From the first start to the last end of the device's activities.", KIT_ALWAYS},
    {"busy", "busy", "|C ∪ M ∪ X|: any of the three below runs", KIT_IN_ANY},
    {"idle", "idle", "window - busy", NONE},
    {"comp", "computation", "|C|: the union of all computation", C},
    {"comm", "communication", "|M|: the union of all communication", M},
    {"mem", "memory copies and sets", "|X|: the union of all memory work", X},
    {"overlap", "hidden communication", "|C ∩ M|", (C & M)},
    {"exposed_comm", "exposed communication", "|M ∖ C|", M & ~C},
    {"comp_without_comm", "computation without communication", "|C ∖ M|", C & ~M},
    {"excl_comp_only", "only computation", "|C ∖ M ∖ X|", C & ~M & ~X},
    {"excl_comm_only", "only communication", "|M ∖ C ∖ X|", M & ~C & ~X},
    {"excl_mem_only", "only memory", "|X ∖ C ∖ M|", X & ~C & ~M},
    {"excl_comp_comm", "computation and communication", "|C ∩ M ∖ X|", (C & M & ~X)},
    {"excl_comp_mem", "computation and memory", "|C ∩ X ∖ M|", (C & X & ~M)},
    {"excl_comm_mem", "communication and memory", "|M ∩ X ∖ C|", (M & X & ~C)},
    {"excl_comp_comm_mem", "all three", "|C ∩ M ∩ X|", (C & M & X)},
    {"excl_idle", "none of the three",
     "idle, as the last of the eight states that add up to the window", NONE},
};

/* Figures that are one time over another. */
static const struct {
    const char *id, *label, *help;
    uint32_t part, whole;
} ratios[] = {
    {"overlap_over_comm", "communication hidden", "|C ∩ M| / |M|", (C & M), M},
    {"overlap_over_comp", "computation that hides communication", "|C ∩ M| / |C|", (C & M), C},
    {"jaccard", "overlap of either", "|C ∩ M| / |C ∪ M|", (C & M), C | M},
    {"exposed_over_comm", "communication exposed", "|M ∖ C| / |M|", M & ~C, M},
    {"exposed_over_T", "window lost to exposed communication", "|M ∖ C| / window", M & ~C,
     KIT_ALWAYS},
};

static const char *const class_names[KIT_CLASSES] = {"computation", "communication", "memory",
                                                     "other"};

/* Figures of one device, or unknown ones for NULL. Ratios say something only where there is
 * communication: without it a 0 % would read like a result. */
void overlap_tell_figures(kit_report *r, const overlap_device *device, const char *scope) {
    bool communicates = device && !overlap_no_communication(device);
    kit_figure_int(r, MILL_KIND_NS, "actionable_exposed", "actionable exposed communication", scope,
                   "Exposed while the stream that computes most waits for it (wait_comm): what "
                   "better overlap can win.",
                   communicates ? device->reasons[KIT_GAP_WAIT_COMM] : MILL_UNKNOWN);
    kit_figure_int(r, MILL_KIND_COUNT, "activities", "activities", scope,
                   "Kernels, copies and memsets, those of zero duration too.",
                   device ? device->all.n : 0);
    kit_figure_int(r, MILL_KIND_COUNT, "streams", "streams", scope, "Streams with activities.",
                   device ? (int64_t)device->n_streams : 0);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        kit_figure_int(r, MILL_KIND_NS, times[i].id, times[i].label, scope, times[i].help,
                       overlap_time(device, times[i].states));
    if (device && device->classes[KIT_OTHER].n > 0) {
        kit_figure_int(r, MILL_KIND_NS, "other", "other device work", scope,
                       "|O|: work that is none of the three", overlap_time(device, KIT_IN_OTHER));
        kit_figure_int(r, MILL_KIND_NS, "other_in_idle", "other device work while idle", scope,
                       "|O ∖ (C ∪ M ∪ X)|: the part of idle in which it runs",
                       overlap_time(device, KIT_IN_OTHER & NONE));
    }

    int64_t comp = overlap_time(device, C), comm = overlap_time(device, M);
    bool known = device && comm > 0;
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        kit_figure_ratio(r, ratios[i].id, ratios[i].label, scope, ratios[i].help,
                         overlap_time(device, ratios[i].part),
                         known ? overlap_time(device, ratios[i].whole) : 0);
    kit_figure_ratio(r, "overlap_over_min", "overlap of the shorter", scope,
                     "|C ∩ M| / min(|C|, |M|)", overlap_time(device, C & M),
                     comp < comm ? comp : comm);
    kit_figure_ratio(r, "serial_speedup", "time if run one after another", scope,
                     "(|C| + |M|) / |C ∪ M|: 1 is no overlap, 2 the most there can be",
                     known ? comp + comm : 0, known ? overlap_time(device, C | M) : 0);
    kit_figure_ratio(r, "bound_efficiency", "window filled by the longer of both", scope,
                     "max(|C|, |M|) / window: 1 is perfect overlap and no idle time",
                     comp > comm ? comp : comm, known ? overlap_time(device, KIT_ALWAYS) : 0);
}

/* What the window is, in words: "steps 2-5, the first 1 left out, cut to their time on the CPU". */
static const char *window_rule(const overlap_analysis *analysis) {
    enum { ROOM = 256 };
    const kit_selection *o = &analysis->options->selection;
    char *text = mill_scratch(analysis->run, ROOM + strlen(o->steps)), us[KIT_NUMBER_MAX];
    size_t room = ROOM + strlen(o->steps);
    bool all = strcmp(o->steps, "all") == 0;
    int n = o->steps[0]
                ? snprintf(text, room, "%s%s", all ? "all steps" : "steps ", all ? "" : o->steps)
                : snprintf(text, room, "from the first activity to the last");
    if (o->warm_up > 0)
        n +=
            snprintf(text + n, room - (size_t)n, ", without the first %lld", (long long)o->warm_up);
    if (o->whole_steps)
        n += snprintf(text + n, room - (size_t)n, ", whole ones only");
    if (o->clip == KIT_CLIP_CPU)
        n += snprintf(text + n, room - (size_t)n, ", cut to their time on the CPU");
    if (o->from > 0)
        n += snprintf(text + n, room - (size_t)n, ", from %s µs on",
                      kit_format_us(us, o->from, KIT_GROUP));
    if (o->to > 0)
        snprintf(text + n, room - (size_t)n, ", up to %s µs", kit_format_us(us, o->to, KIT_GROUP));
    return text;
}

void overlap_tell_selection(kit_report *r, const overlap_analysis *analysis) {
    const mill_trace *trace = analysis->all.trace;
    int64_t n = 0;
    for (uint64_t i = 0; i < trace->diagnostics.n; i++)
        n = kit_add(n, (int64_t)mill_u64(trace, &trace->diagnostics.count, i));
    kit_figure_text(r, "window_rule", "what the window is", NULL,
                    "What is looked at, by the options steps, warm-up, whole-steps, clip, from and "
                    "to.",
                    window_rule(analysis));
    kit_figure_int(r, MILL_KIND_COUNT, "diagnostics", "skipped or mended by the reader", NULL,
                   "Σ of the counts in the reader's notes.", n);
}

static const kit_column device_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "name", "name", NULL},
    {MILL_KIND_COUNT, "activities", "n", "activities"},
    {MILL_KIND_NS, "T", "window", NULL},
    {MILL_KIND_NS, "busy", "busy", "|C ∪ M ∪ X|"},
    {MILL_KIND_NS, "comp", "comp.", "|C|"},
    {MILL_KIND_NS, "comm", "comm.", "|M|"},
    {MILL_KIND_NS, "exposed_comm", "exposed", "|M ∖ C|"},
    {MILL_KIND_RATIO, "overlap_over_comm", "hidden", "|C ∩ M| / |M|"},
    {0},
};

void overlap_tell_devices(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t = kit_table_of(r, "devices", "Devices", NULL, device_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++) {
        const overlap_device *device = &analysis->devices[i];
        kit_table_row(t);
        kit_cell_int(t, device->view->id);
        kit_cell_text(t, device->view->name);
        kit_cell_int(t, device->all.n);
        kit_cell_int(t, overlap_time(device, KIT_ALWAYS));
        kit_cell_int(t, overlap_time(device, KIT_IN_ANY));
        kit_cell_int(t, overlap_time(device, C));
        kit_cell_int(t, overlap_time(device, M));
        kit_cell_int(t, overlap_time(device, M & ~C));
        kit_cell_ratio(t, overlap_time(device, C & M), overlap_time(device, M));
    }
}

static const kit_column stream_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_ID, "stream", "stream", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_NS, "busy", "busy", "|union|"},
    {MILL_KIND_NS, "comp", "comp.", "|union| of computation"},
    {MILL_KIND_NS, "comm", "comm.", "|union| of communication"},
    {MILL_KIND_NS, "mem", "mem.", "|union| of copies and sets"},
    {MILL_KIND_NS, "first", "first", "First start, from the window's."},
    {MILL_KIND_NS, "last", "last", "Last end, from the window's start."},
    {0},
};

/* Some streams have no number, or the same as another of their device. */
static bool numbers_are_not_enough(const overlap_analysis *analysis) {
    for (size_t i = 0; i < analysis->all.n_streams; i++) {
        const overlap_stream *stream = &analysis->streams[i];
        const overlap_stream *before = i ? &analysis->streams[i - 1] : NULL;
        if (stream->view->id == MILL_UNKNOWN ||
            (before && before->device == stream->device && before->view->id == stream->view->id))
            return true;
    }
    return false;
}

void overlap_tell_streams(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t = kit_table_of(r, "streams", "Streams",
                                "Busy, and the classes, are the time covered by activities of "
                                "the stream; sum counts coinciding ones each.",
                                stream_columns);
    bool labelled = numbers_are_not_enough(analysis);
    if (labelled)
        kit_table_column(t, MILL_KIND_TEXT, "label", "label", NULL, "The file's word for it.");
    for (size_t i = 0; i < analysis->all.n_streams; i++) {
        const overlap_stream *stream = &analysis->streams[i];
        kit_table_row(t);
        kit_cell_int(t, stream->device->view->id);
        kit_cell_int(t, stream->view->id);
        kit_cell_int(t, stream->all.n);
        kit_cell_int(t, stream->all.sum);
        kit_cell_int(t, stream->all.busy);
        kit_cell_int(t, stream->classes[KIT_COMP].busy);
        kit_cell_int(t, stream->classes[KIT_COMM].busy);
        kit_cell_int(t, stream->classes[KIT_MEM].busy);
        kit_cell_int(t, stream->all.first - stream->device->view->window.start);
        kit_cell_int(t, stream->all.last - stream->device->view->window.start);
        if (labelled)
            kit_cell_text(t, stream->view->label);
    }
}

static const kit_column class_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},  {MILL_KIND_TEXT, "class", "class", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities"}, {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_NS, "busy", "busy", "|union|"}, {0},
};

void overlap_tell_classes(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t = kit_table_of(r, "classes", "Activities by class", NULL, class_columns);
    for (size_t i = 0; i < analysis->all.n_devices; i++)
        for (int c = 0; c < KIT_CLASSES; c++) {
            const kit_tally *tally = &analysis->devices[i].classes[c];
            if (c == KIT_OTHER && tally->n == 0)
                continue;
            kit_table_row(t);
            kit_cell_int(t, analysis->devices[i].view->id);
            kit_cell_text(t, class_names[c]);
            kit_cell_int(t, tally->n);
            kit_cell_int(t, tally->sum);
            kit_cell_int(t, tally->busy);
        }
}

static const kit_column name_columns[] = {
    {MILL_KIND_TEXT, "name", "name", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {0},
};

void overlap_tell_unmatched(kit_report *r, const overlap_analysis *analysis) {
    if (analysis->n_unmatched == 0)
        return;
    kit_table *t =
        kit_table_of(r, "unmatched_names", "Longest kernels that no rule calls communication",
                     "On the devices without communication, summed over them.", name_columns);
    size_t top = (size_t)analysis->options->top;
    for (size_t i = 0; i < analysis->n_unmatched && i < top; i++) {
        kit_table_row(t);
        kit_cell_text(t, analysis->unmatched[i].text);
        kit_cell_int(t, analysis->unmatched[i].n);
        kit_cell_int(t, analysis->unmatched[i].sum);
    }
}
