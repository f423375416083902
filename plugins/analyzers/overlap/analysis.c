/* SPDX-License-Identifier: Apache-2.0 */
/* From the GPU activities of a trace to the sets, states and communication kinds of each device. */
#include "overlap.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 1024             /* more come from a file whose device numbers are wrong */
#define MAX_SPAN (INT64_MAX / 2)     /* keeps measure.h's promise */
#define CANCEL_ROWS (1u << 16)       /* activities between two looks at `cancelled` */
#define KIND_NONE "(no kind)"        /* communication whose rule names no kind */
#define KIND_BY_STREAM "(by stream)" /* by the option only: its name says otherwise */

typedef struct activity {
    kit_interval time;
    uint64_t row;
    uint32_t name;
    kit_class cls;
    bool kernel;
    overlap_stream *stream;
} activity;

/* What is done with each activity. */
typedef mill_status (*activity_fn)(mill_run *run, overlap_analysis *analysis, const activity *a);

static kit_class class_of(const mill_trace *trace, uint32_t name) {
    switch (mill_name_class(trace, name)) {
    case MILL_CLASS_COMPUTATION:
        return KIT_COMP;
    case MILL_CLASS_COMMUNICATION:
        return KIT_COMM;
    case MILL_CLASS_MEMORY:
        return KIT_MEM;
    default:
        return KIT_OTHER;
    }
}

/* Calls fn for all activities, in the order of their starts. */
static mill_status for_each(mill_run *run, overlap_analysis *analysis, activity_fn fn) {
    const mill_trace *trace = analysis->trace;
    const mill_gpu *gpu = &trace->gpu;
    mill_status status = MILL_OK;
    for (uint64_t row = 0; row < gpu->n && status == MILL_OK; row++) {
        if (row % CANCEL_ROWS == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        activity a = {
            .time.start = mill_i64(trace, &gpu->start, row),
            .row = row,
            .name = mill_u32(trace, &gpu->name, row),
            .kernel = mill_u8(trace, &gpu->cat, row) == MILL_GPU_KERNEL,
            .stream = &analysis->stream_rows[mill_u32(trace, &gpu->stream, row)],
        };
        if (__builtin_add_overflow(a.time.start, mill_i64(trace, &gpu->dur, row), &a.time.end))
            return mill_fail(
                run, MILL_E_DATA,
                "device %s: an activity ends beyond 2^63 ns: a broken timer; take it out "
                "of the trace",
                a.stream->device->number);
        a.cls = a.stream->named ? KIT_COMM : class_of(trace, a.name);
        status = fn(run, analysis, &a);
    }
    return status;
}

/* Step 1: counts, sums and unions by device and stream. */
static mill_status tally(mill_run *run, overlap_analysis *analysis, const activity *a) {
    (void)analysis;
    overlap_stream *stream = a->stream;
    overlap_device *device = stream->device;
    int64_t span, first = device->all.n ? device->all.first : a->time.start;
    if (__builtin_sub_overflow(a->time.end, first, &span) || span > MAX_SPAN)
        return mill_fail(run, MILL_E_DATA,
                         "device %s: its activities span more than 146 years: a broken timer; take "
                         "those with wrong times out of the trace",
                         device->number);
    kit_tally_add(&device->all, a->time.start, a->time.end);
    kit_tally_add(&device->classes[a->cls], a->time.start, a->time.end);
    kit_tally_add(&stream->all, a->time.start, a->time.end);
    kit_tally_add(&stream->classes[a->cls], a->time.start, a->time.end);
    return MILL_OK;
}

/* Step 2: the intervals of each class. */
static mill_status gather(mill_run *run, overlap_analysis *analysis, const activity *a) {
    (void)run, (void)analysis;
    kit_set *set = &a->stream->device->sets[a->cls];
    set->v[set->n++] = a->time;
    return MILL_OK;
}

/* Step 3: how much of each communication activity is hidden and exposed. */
static mill_status share(mill_run *run, overlap_analysis *analysis, const activity *a) {
    (void)run;
    if (a->cls != KIT_COMM)
        return MILL_OK;
    const mill_trace *trace = analysis->trace;
    overlap_device *device = a->stream->device;

    uint64_t row = trace->kinds.n + 1; /* KIND_BY_STREAM; before it stands KIND_NONE */
    if (class_of(trace, a->name) == KIT_COMM) {
        uint16_t kind = mill_gpu_kind_row(trace, a->row);
        row = kind < trace->kinds.n ? kind : trace->kinds.n;
    }
    overlap_kind *kind = &device->kinds[row];
    kit_interval owned = kit_tally_add(&device->owned, a->time.start, a->time.end);
    kit_tally_add(&kind->tally, a->time.start, a->time.end);
    kind->hidden = kit_add(kind->hidden, kit_covered(&device->hiding, a->time));
    kind->exposed += owned.end - owned.start - kit_covered(&device->hiding, owned);
    return MILL_OK;
}

/* Longest first; MILL_UNKNOWN stands for a sum too large to tell, and comes before all. */
static int compare_longest(int64_t a, const char *name_a, int64_t b, const char *name_b) {
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    return x != y ? (x < y) - (x > y) : strcmp(name_a, name_b);
}

static int compare_kinds(const void *a, const void *b) {
    const overlap_kind *x = a, *y = b;
    return compare_longest(x->tally.sum, x->name, y->tally.sum, y->name);
}

static int compare_names(const void *a, const void *b) {
    const overlap_name *x = a, *y = b;
    return compare_longest(x->sum, x->text, y->sum, y->text);
}

static int compare_devices(const void *a, const void *b) {
    const overlap_device *x = *(overlap_device *const *)a, *y = *(overlap_device *const *)b;
    return (x->id > y->id) - (x->id < y->id);
}

static int compare_streams(const void *a, const void *b) {
    const overlap_stream *x = *(overlap_stream *const *)a, *y = *(overlap_stream *const *)b;
    if (x->device->id != y->device->id)
        return x->device->id > y->device->id ? 1 : -1;
    if (x->id != y->id)
        return x->id > y->id ? 1 : -1;
    return (x > y) - (x < y); /* told apart by their labels, which the trace has in order */
}

static void set_up_rows(mill_run *run, overlap_analysis *analysis) {
    const mill_trace *trace = analysis->trace;
    analysis->device_rows = mill_scratch(run, trace->devices.n * sizeof(overlap_device));
    for (uint64_t i = 0; i < trace->devices.n; i++) {
        overlap_device *device = &analysis->device_rows[i];
        device->id = mill_i64(trace, &trace->devices.id, i);
        kit_format_int(device->number, device->id, 0);
        device->name = mill_string(trace, mill_u32(trace, &trace->devices.name, i));
    }
    const mill_list *named = &analysis->options->streams;
    analysis->stream_rows = mill_scratch(run, trace->streams.n * sizeof(overlap_stream));
    for (uint64_t i = 0; i < trace->streams.n; i++) {
        overlap_stream *stream = &analysis->stream_rows[i];
        stream->id = mill_i64(trace, &trace->streams.id, i);
        stream->label = mill_string(trace, mill_u32(trace, &trace->streams.label, i));
        stream->device = &analysis->device_rows[mill_u32(trace, &trace->streams.device, i)];
        for (size_t j = 0; j < named->n; j++)
            stream->named |= ((const int64_t *)named->v)[j] == stream->id;
    }
}

/* Lists the devices and streams that have activities, in order. */
static mill_status list_active(mill_run *run, overlap_analysis *analysis) {
    const mill_trace *trace = analysis->trace;
    analysis->streams = mill_scratch(run, trace->streams.n * sizeof(overlap_stream *));
    for (uint64_t i = 0; i < trace->streams.n; i++) {
        overlap_stream *stream = &analysis->stream_rows[i];
        if (stream->all.n == 0)
            continue;
        analysis->streams[analysis->n_streams++] = stream;
        stream->device->n_streams++;
    }
    analysis->devices = mill_scratch(run, trace->devices.n * sizeof(overlap_device *));
    for (uint64_t i = 0; i < trace->devices.n; i++)
        if (analysis->device_rows[i].all.n > 0)
            analysis->devices[analysis->n_devices++] = &analysis->device_rows[i];
    if (analysis->n_devices > MAX_DEVICES)
        return mill_fail(run, MILL_E_DATA,
                         "activities on %zu devices, but one rank has at most %d: the numbers in "
                         "args.device (or pid) are not those of devices",
                         analysis->n_devices, MAX_DEVICES);
    qsort(analysis->devices, analysis->n_devices, sizeof *analysis->devices, compare_devices);
    qsort(analysis->streams, analysis->n_streams, sizeof *analysis->streams, compare_streams);
    return MILL_OK;
}

static mill_status measure(mill_run *run, overlap_analysis *analysis) {
    for (size_t i = 0; i < analysis->n_devices; i++)
        for (int c = 0; c < KIT_CLASSES; c++) {
            overlap_device *device = analysis->devices[i];
            size_t n = (size_t)device->classes[c].n;
            device->sets[c].v = mill_scratch(run, n * sizeof(kit_interval));
        }
    mill_status status = for_each(run, analysis, gather);
    if (status != MILL_OK)
        return status;
    for (size_t i = 0; i < analysis->n_devices; i++) {
        overlap_device *device = analysis->devices[i];
        for (int c = 0; c < KIT_CLASSES; c++) {
            kit_set *set = &device->sets[c];
            set->n = kit_intervals_normalise(set->v, set->n);
        }
        kit_states(device->sets, device->all.first, device->all.last, device->states);
    }
    return MILL_OK;
}

/* Every kind that the trace knows, then KIND_NONE and KIND_BY_STREAM. */
static void set_up_kinds(mill_run *run, const mill_trace *trace, overlap_device *device) {
    const kit_set *comp = &device->sets[KIT_COMP];
    kit_cover_init(&device->hiding, comp, mill_scratch(run, (comp->n + 1) * sizeof(int64_t)));
    device->n_kinds = trace->kinds.n + 2;
    device->kinds = mill_scratch(run, device->n_kinds * sizeof *device->kinds);
    for (uint32_t k = 0; k < trace->kinds.n; k++)
        device->kinds[k].name = mill_text(trace, &trace->kinds, k);
    device->kinds[trace->kinds.n].name = KIND_NONE;
    device->kinds[trace->kinds.n + 1].name = KIND_BY_STREAM;
}

static void keep_kinds_that_occur(overlap_device *device) {
    size_t n = 0;
    for (size_t k = 0; k < device->n_kinds; k++)
        if (device->kinds[k].tally.n > 0)
            device->kinds[n++] = device->kinds[k];
    device->n_kinds = n;
    qsort(device->kinds, n, sizeof *device->kinds, compare_kinds);
}

static mill_status share_kinds(mill_run *run, overlap_analysis *analysis) {
    for (size_t i = 0; i < analysis->n_devices; i++)
        if (!overlap_no_communication(analysis->devices[i]))
            set_up_kinds(run, analysis->trace, analysis->devices[i]);
    mill_status status = for_each(run, analysis, share);
    for (size_t i = 0; i < analysis->n_devices; i++)
        if (!overlap_no_communication(analysis->devices[i]))
            keep_kinds_that_occur(analysis->devices[i]);
    return status;
}

/* Where no communication was found: what the kernels there are called. */
static mill_status add_name(mill_run *run, overlap_analysis *analysis, const activity *a) {
    (void)run;
    if (a->kernel && a->cls != KIT_MEM && overlap_no_communication(a->stream->device)) {
        overlap_name *name = &analysis->unmatched[a->name];
        name->n++;
        name->sum = kit_add(name->sum, a->time.end - a->time.start);
    }
    return MILL_OK;
}

static mill_status list_unmatched(mill_run *run, overlap_analysis *analysis) {
    bool all_communicate = true;
    for (size_t i = 0; i < analysis->n_devices; i++)
        all_communicate &= !overlap_no_communication(analysis->devices[i]);
    if (all_communicate)
        return MILL_OK;

    const mill_trace *trace = analysis->trace;
    uint64_t n = trace->names.texts.n;
    analysis->unmatched = mill_scratch(run, n * sizeof *analysis->unmatched);
    mill_status status = for_each(run, analysis, add_name);
    for (uint32_t i = 0; i < n; i++) {
        overlap_name name = analysis->unmatched[i];
        name.text = mill_name(trace, i);
        if (name.n > 0)
            analysis->unmatched[analysis->n_unmatched++] = name;
    }
    qsort(analysis->unmatched, analysis->n_unmatched, sizeof *analysis->unmatched, compare_names);
    return status;
}

mill_status overlap_analyse(mill_run *run, const mill_trace *trace, const overlap_options *options,
                            overlap_analysis *ret_analysis) {
    *ret_analysis = (overlap_analysis){.trace = trace, .options = options};
    set_up_rows(run, ret_analysis);
    mill_status status = for_each(run, ret_analysis, tally);
    if (status == MILL_OK)
        status = list_active(run, ret_analysis);
    if (status == MILL_OK)
        status = measure(run, ret_analysis);
    if (status == MILL_OK)
        status = share_kinds(run, ret_analysis);
    if (status == MILL_OK)
        status = list_unmatched(run, ret_analysis);
    return status;
}
