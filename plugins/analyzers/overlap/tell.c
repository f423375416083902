/* SPDX-License-Identifier: Apache-2.0 */
/* The report of an analysis: figures by device, tables, notes, and the sentence at its head. */
#include "overlap.h"

#include <string.h>
#include <tracemill/kit/number.h>
#include <tracemill/kit/report.h>
#include <tracemill/kit/trace_notes.h>

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

static int64_t time_in(const overlap_device *device, uint32_t states) {
    return device ? kit_time_in(device->states, states) : MILL_UNKNOWN;
}

/* Figures of one device, or unknown ones for NULL. Ratios say something only where there is
 * communication: without it a 0 % would read like a result. */
static void tell_figures(kit_report *r, const overlap_device *device, const char *scope) {
    kit_figure_int(r, MILL_KIND_COUNT, "activities", "activities", scope,
                   "Kernels, copies and memsets, those of zero duration too.",
                   device ? device->all.n : 0);
    kit_figure_int(r, MILL_KIND_COUNT, "streams", "streams", scope, "Streams with activities.",
                   device ? device->n_streams : 0);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        kit_figure_int(r, MILL_KIND_NS, times[i].id, times[i].label, scope, times[i].help,
                       time_in(device, times[i].states));
    if (device && device->classes[KIT_OTHER].n > 0) {
        kit_figure_int(r, MILL_KIND_NS, "other", "other device work", scope,
                       "|O|: work that is none of the three", time_in(device, KIT_IN_OTHER));
        kit_figure_int(r, MILL_KIND_NS, "other_in_idle", "other device work while idle", scope,
                       "|O ∖ (C ∪ M ∪ X)|: the part of idle in which it runs",
                       time_in(device, KIT_IN_OTHER & NONE));
    }

    int64_t comp = time_in(device, C), comm = time_in(device, M);
    bool known = device && comm > 0;
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        kit_figure_ratio(r, ratios[i].id, ratios[i].label, scope, ratios[i].help,
                         time_in(device, ratios[i].part),
                         known ? time_in(device, ratios[i].whole) : 0);
    kit_figure_ratio(r, "overlap_over_min", "overlap of the shorter", scope,
                     "|C ∩ M| / min(|C|, |M|)", time_in(device, C & M), comp < comm ? comp : comm);
    kit_figure_ratio(r, "serial_speedup", "time if run one after another", scope,
                     "(|C| + |M|) / |C ∪ M|: 1 is no overlap, 2 the most there can be",
                     known ? comp + comm : 0, known ? time_in(device, C | M) : 0);
    kit_figure_ratio(r, "bound_efficiency", "window filled by the longer of both", scope,
                     "max(|C|, |M|) / window: 1 is perfect overlap and no idle time",
                     comp > comm ? comp : comm, known ? time_in(device, KIT_ALWAYS) : 0);
}

typedef struct column {
    mill_kind kind;
    const char *id, *label, *help;
} column;

static kit_table *begin_table(kit_report *r, const char *id, const char *label, const char *help,
                              const column *columns) {
    kit_table *t = kit_table_begin(r, id, label, help);
    for (const column *c = columns; c->id; c++)
        kit_table_column(t, c->kind, c->id, c->label, NULL, c->help);
    return t;
}

static const column device_columns[] = {
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

static void tell_devices(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t = begin_table(r, "devices", "Devices", NULL, device_columns);
    for (size_t i = 0; i < analysis->n_devices; i++) {
        const overlap_device *device = analysis->devices[i];
        kit_table_row(t);
        kit_cell_int(t, device->id);
        kit_cell_text(t, device->name);
        kit_cell_int(t, device->all.n);
        kit_cell_int(t, time_in(device, KIT_ALWAYS));
        kit_cell_int(t, time_in(device, KIT_IN_ANY));
        kit_cell_int(t, time_in(device, C));
        kit_cell_int(t, time_in(device, M));
        kit_cell_int(t, time_in(device, M & ~C));
        kit_cell_ratio(t, time_in(device, C & M), time_in(device, M));
    }
}

static const column stream_columns[] = {
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
    for (size_t i = 0; i < analysis->n_streams; i++) {
        const overlap_stream *stream = analysis->streams[i];
        const overlap_stream *before = i ? analysis->streams[i - 1] : NULL;
        if (stream->id == MILL_UNKNOWN ||
            (before && before->device == stream->device && before->id == stream->id))
            return true;
    }
    return false;
}

static void tell_streams(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t = begin_table(r, "streams", "Streams",
                               "Busy, and the classes, are the time covered by activities of "
                               "the stream; sum counts coinciding ones each.",
                               stream_columns);
    bool labelled = numbers_are_not_enough(analysis);
    if (labelled)
        kit_table_column(t, MILL_KIND_TEXT, "label", "label", NULL, "The file's word for it.");
    for (size_t i = 0; i < analysis->n_streams; i++) {
        const overlap_stream *stream = analysis->streams[i];
        kit_table_row(t);
        kit_cell_int(t, stream->device->id);
        kit_cell_int(t, stream->id);
        kit_cell_int(t, stream->all.n);
        kit_cell_int(t, stream->all.sum);
        kit_cell_int(t, stream->all.busy);
        kit_cell_int(t, stream->classes[KIT_COMP].busy);
        kit_cell_int(t, stream->classes[KIT_COMM].busy);
        kit_cell_int(t, stream->classes[KIT_MEM].busy);
        kit_cell_int(t, stream->all.first - stream->device->all.first);
        kit_cell_int(t, stream->all.last - stream->device->all.first);
        if (labelled)
            kit_cell_text(t, stream->label);
    }
}

static const column kind_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_TEXT, "kind", "kind", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_NS, "busy", "busy", "|union|"},
    {MILL_KIND_NS, "exposed", "exposed", "owned time outside of C"},
    {MILL_KIND_RATIO, "hidden", "hidden",
     "Σ |a ∩ C| / Σ durations: counts twice where activities of the kind coincide"},
    {0},
};

static void tell_kind(kit_table *t, const overlap_device *device, const char *name,
                      const overlap_kind *kind) {
    kit_table_row(t);
    kit_cell_int(t, device->id);
    kit_cell_text(t, name);
    kit_cell_int(t, kind->tally.n);
    kit_cell_int(t, kind->tally.sum);
    kit_cell_int(t, kind->tally.busy);
    kit_cell_int(t, kind->exposed);
    kit_cell_ratio(t, kind->hidden, kind->tally.sum);
}

/* Kinds beyond `top` come as one row, so that the column of exposed time still adds up. */
static void tell_kinds(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t = begin_table(
        r, "kinds", "Communication by kind",
        "Where communication coincides, the earliest started owns the time: exposed adds up to the "
        "device's exposed communication.",
        kind_columns);
    for (size_t i = 0; i < analysis->n_devices; i++) {
        const overlap_device *device = analysis->devices[i];
        size_t top = (size_t)analysis->options->top;
        overlap_kind rest = {0};
        for (size_t k = 0; k < device->n_kinds; k++) {
            const overlap_kind *kind = &device->kinds[k];
            if (k < top) {
                tell_kind(t, device, kind->name, kind);
                continue;
            }
            rest.tally.n += kind->tally.n;
            rest.tally.sum = kit_add(rest.tally.sum, kind->tally.sum);
            rest.hidden = kit_add(rest.hidden, kind->hidden);
            rest.exposed += kind->exposed;
        }
        rest.tally.busy = MILL_UNKNOWN;
        if (rest.tally.n > 0)
            tell_kind(t, device, "(others)", &rest);
    }
}

static const column class_columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},  {MILL_KIND_TEXT, "class", "class", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities"}, {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {MILL_KIND_NS, "busy", "busy", "|union|"}, {0},
};

static void tell_classes(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t = begin_table(r, "classes", "Activities by class", NULL, class_columns);
    for (size_t i = 0; i < analysis->n_devices; i++)
        for (int c = 0; c < KIT_CLASSES; c++) {
            const kit_tally *tally = &analysis->devices[i]->classes[c];
            if (c == KIT_OTHER && tally->n == 0)
                continue;
            kit_table_row(t);
            kit_cell_int(t, analysis->devices[i]->id);
            kit_cell_text(t, class_names[c]);
            kit_cell_int(t, tally->n);
            kit_cell_int(t, tally->sum);
            kit_cell_int(t, tally->busy);
        }
}

static const column name_columns[] = {
    {MILL_KIND_TEXT, "name", "name", NULL},
    {MILL_KIND_COUNT, "n", "n", "activities"},
    {MILL_KIND_NS, "sum", "sum", "Σ durations"},
    {0},
};

static void tell_unmatched(kit_report *r, const overlap_analysis *analysis) {
    kit_table *t =
        begin_table(r, "unmatched_names", "Longest kernels that no rule calls communication",
                    "On the devices without communication, summed over them.", name_columns);
    size_t top = (size_t)analysis->options->top;
    for (size_t i = 0; i < analysis->n_unmatched && i < top; i++) {
        kit_table_row(t);
        kit_cell_text(t, analysis->unmatched[i].text);
        kit_cell_int(t, analysis->unmatched[i].n);
        kit_cell_int(t, analysis->unmatched[i].sum);
    }
}

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
                 device->number);
    else
        kit_note(r, MILL_INFO, "communication_set", "Device %s: counted as communication: %s.",
                 device->number, join_kinds(run, device));
}

static void note_other(kit_report *r, const overlap_device *device) {
    char other[KIT_NUMBER_MAX], idle[KIT_NUMBER_MAX];
    if (device->classes[KIT_OTHER].n == 0)
        return;
    kit_note(r, MILL_INFO, "other_work",
             "Device %s: %lld activities (%s µs) are neither computation, communication nor "
             "memory work; %s µs of the idle time are theirs.",
             device->number, (long long)device->classes[KIT_OTHER].n,
             kit_format_us(other, time_in(device, KIT_IN_OTHER), KIT_GROUP),
             kit_format_us(idle, time_in(device, KIT_IN_OTHER & NONE), KIT_GROUP));
}

/* Streams that the option names, but on which nothing runs: most likely a slip. */
static void note_absent_streams(kit_report *r, const overlap_analysis *analysis) {
    const mill_list *named = &analysis->options->streams;
    for (size_t i = 0; i < named->n; i++) {
        int64_t id = ((const int64_t *)named->v)[i];
        size_t s = 0;
        while (s < analysis->n_streams && analysis->streams[s]->id != id)
            s++;
        if (s == analysis->n_streams)
            kit_note(r, MILL_WARNING, "stream_absent",
                     "The option streams-as-communication names stream %lld, but nothing runs on "
                     "it; the streams there are stand in the table streams.",
                     (long long)id);
    }
}

static void tell_notes(mill_run *run, kit_report *r, const overlap_analysis *analysis) {
    kit_note_trace(run, r, analysis->trace);
    for (size_t i = 0; i < analysis->n_devices; i++) {
        note_communication(run, r, analysis->devices[i]);
        note_other(r, analysis->devices[i]);
    }
    note_absent_streams(r, analysis);
}

/* ---------------------------------------------------------------- the sentence */

static double hidden_share(const overlap_device *device) {
    return (double)time_in(device, C & M) / (double)time_in(device, M);
}

static void tell_summary(kit_report *r, const overlap_analysis *analysis) {
    const overlap_device *worst = NULL, *best = NULL; /* of those whose communication takes time */
    bool recognised = false;
    for (size_t i = 0; i < analysis->n_devices; i++) {
        const overlap_device *device = analysis->devices[i];
        recognised |= !overlap_no_communication(device);
        if (time_in(device, M) == 0)
            continue;
        if (!worst || hidden_share(device) < hidden_share(worst))
            worst = device;
        if (!best || hidden_share(device) > hidden_share(best))
            best = device;
    }
    char hidden[KIT_NUMBER_MAX], most[KIT_NUMBER_MAX], lost[KIT_NUMBER_MAX];
    char exposed[KIT_NUMBER_MAX];
    if (analysis->n_devices == 0)
        kit_report_summary(r, "No device events: nothing can be said of overlap.");
    else if (!recognised)
        kit_report_summary(r, "No communication kernels recognised: how much communication is "
                              "hidden is unknown.");
    else if (!worst)
        kit_report_summary(r, "All communication has zero duration: there is nothing to hide.");
    else if (analysis->n_devices == 1)
        kit_report_summary(
            r,
            "%s of communication is hidden under computation; %s µs (%s of the "
            "window) are exposed.",
            kit_format_percent(hidden, time_in(worst, C & M), time_in(worst, M)),
            kit_format_us(exposed, time_in(worst, M & ~C), KIT_GROUP),
            kit_format_percent(lost, time_in(worst, M & ~C), time_in(worst, KIT_ALWAYS)));
    else
        kit_report_summary(
            r,
            "From %s (device %s) to %s (device %s) of communication is hidden under "
            "computation.",
            kit_format_percent(hidden, time_in(worst, C & M), time_in(worst, M)), worst->number,
            kit_format_percent(most, time_in(best, C & M), time_in(best, M)), best->number);
}

mill_report *overlap_tell(mill_run *run, const overlap_analysis *analysis) {
    kit_report *r = kit_report_begin(run, "overlap", "Compute-communication overlap",
                                     mill_at(analysis->trace, analysis->trace->path));
    tell_summary(r, analysis);
    tell_notes(run, r, analysis);
    if (analysis->n_devices == 0) {
        tell_figures(r, NULL, NULL);
        return kit_report_end(r);
    }
    for (size_t i = 0; i < analysis->n_devices; i++) {
        char scope[KIT_NUMBER_MAX + 8];
        snprintf(scope, sizeof scope, "device %s", analysis->devices[i]->number);
        tell_figures(r, analysis->devices[i], analysis->n_devices > 1 ? scope : NULL);
    }
    tell_devices(r, analysis);
    tell_streams(r, analysis);
    tell_kinds(r, analysis);
    tell_classes(r, analysis);
    if (analysis->n_unmatched > 0)
        tell_unmatched(r, analysis);
    return kit_report_end(r);
}
