/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the GPU activities of a trace and orders them by device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/activities.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/columns.h>

#define MAX_DEVICES 1024         /* more come from a file whose device numbers are wrong */
#define MAX_SPAN (INT64_MAX / 2) /* keeps measure.h's promise */
#define CANCEL_ROWS (1u << 16)   /* activities between two looks at `cancelled` */

const char *const kit_clips[] = {"none", "cpu", NULL};

typedef struct name_facts {
    uint16_t kind;
    uint8_t cls; /* kit_class */
} name_facts;

typedef struct selecting {
    mill_run *run;
    const kit_selection *selection;
    kit_activities *all;
    kit_device *devices;        /* of every device row of the trace */
    kit_stream *streams;        /* of every stream row */
    uint32_t *stream_at;        /* of every stream row: its place in `all` */
    name_facts *names;          /* of every name */
    const uint8_t *kind_comm;   /* of every kind of the trace: counts as communication */
    int64_t cpu_start, cpu_end; /* of the steps selected */
} selecting;

/* ---------------------------------------------------------------- steps */

/* "3" or "2-5" as numbers; false if it is neither. */
static bool parse_range(const char *text, int64_t *ret_first, int64_t *ret_last) {
    size_t digits = strspn(text, "0123456789");
    if (!kit_parse_int(text, digits, false, ret_first))
        return false;
    *ret_last = *ret_first;
    if (text[digits] == '\0')
        return true;
    const char *last = text + digits + 1;
    return text[digits] == '-' && last[strspn(last, "0123456789")] == '\0' &&
           kit_parse_int(last, strlen(last), false, ret_last);
}

static mill_status no_step(const selecting *s) {
    const mill_attribution *places = s->all->places;
    if (places->n_steps == 0)
        return mill_fail(s->run, MILL_E_DATA,
                         "the trace has no profiler steps, but steps = %s asks for some: leave "
                         "`steps` out, or name the steps' annotation in the attribution's "
                         "`step-regex`",
                         s->selection->steps);
    char first[KIT_NUMBER_MAX], last[KIT_NUMBER_MAX];
    kit_format_int(first, places->step_number[0], 0);
    kit_format_int(last, places->step_number[places->n_steps - 1], 0);
    return mill_fail(s->run, MILL_E_DATA,
                     "steps = %s with warm-up = %lld%s leaves none of the %llu steps (%s to %s)",
                     s->selection->steps, (long long)s->selection->warm_up,
                     s->selection->whole_steps ? " and whole-steps = yes" : "",
                     (unsigned long long)places->n_steps, first, last);
}

/* Which steps are asked for. */
static mill_status select_steps(selecting *s) {
    const kit_selection *o = s->selection;
    const mill_attribution *places = s->all->places;
    if (o->steps[0] == '\0') {
        if (o->warm_up > 0 || o->whole_steps || o->clip != KIT_CLIP_NONE)
            return mill_fail(s->run, MILL_E_CONFIG,
                             "warm-up, whole-steps and clip need `steps`: set steps = all");
        return MILL_OK;
    }
    int64_t first = INT64_MIN, last = INT64_MAX;
    if (strcmp(o->steps, "all") != 0 && !parse_range(o->steps, &first, &last))
        return mill_fail(s->run, MILL_E_CONFIG,
                         "steps = %s is none of: all, a step's number (3), a range (2-5)",
                         o->steps);
    if (first > last)
        return mill_fail(s->run, MILL_E_CONFIG, "steps = %s ends before it begins: write %lld-%lld",
                         o->steps, (long long)last, (long long)first);
    if (!places)
        return mill_fail(s->run, MILL_E_CONFIG,
                         "steps = %s needs to know what each step launched: connect the input "
                         "`attribution` to a stage of the class attribution",
                         o->steps);
    uint8_t *used = mill_scratch(s->run, places->n_steps + 1);
    s->cpu_start = INT64_MAX;
    s->cpu_end = INT64_MIN;
    for (uint64_t i = 0; i < places->n_steps; i++) {
        int64_t number = places->step_number[i];
        used[i] = i >= (uint64_t)o->warm_up && (!o->whole_steps || places->step_whole[i]) &&
                  (strcmp(o->steps, "all") == 0 || (number >= first && number <= last));
        if (!used[i])
            continue;
        s->all->n_steps++;
        s->cpu_start = places->step_start[i] < s->cpu_start ? places->step_start[i] : s->cpu_start;
        s->cpu_end = places->step_end[i] > s->cpu_end ? places->step_end[i] : s->cpu_end;
    }
    s->all->step_used = used;
    return s->all->n_steps > 0 ? MILL_OK : no_step(s);
}

static bool in_steps(const selecting *s, uint32_t place) {
    if (!s->all->step_used)
        return true;
    uint32_t step = place == MILL_NONE ? MILL_NONE : s->all->places->step[place];
    return step != MILL_NONE && s->all->step_used[step];
}

/* ---------------------------------------------------------------- one activity */

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

/* What each name says, before options that go by streams and kinds. */
static void classify_names(selecting *s) {
    const mill_trace *trace = s->all->trace;
    uint64_t n = trace->names.texts.n;
    s->names = mill_scratch(s->run, n * sizeof *s->names);
    for (uint32_t i = 0; i < n; i++)
        s->names[i] = (name_facts){
            .kind = mill_u16(trace, &trace->names.kind, i),
            .cls = (uint8_t)class_of(trace, i),
        };
}

/* The class and kind that the options make of an activity's own. As mill_gpu_kind_row, the
 * operation that the file tells beats the name. */
static void classify(const selecting *s, kit_activity *a, uint32_t name, uint32_t collective) {
    const mill_trace *trace = s->all->trace;
    a->cls = s->names[name].cls;
    a->kind = s->names[name].kind;
    if (collective != MILL_NONE && a->cls == KIT_COMM) {
        uint16_t kind = mill_u16(trace, &trace->collectives.kind, collective);
        a->kind = kind != UINT16_MAX ? kind : a->kind;
    }
    if (s->all->streams[a->stream].named) {
        a->kind = a->cls == KIT_COMM ? a->kind : KIT_KIND_STREAM;
        a->cls = KIT_COMM;
    } else if (a->cls == KIT_COMM && s->kind_comm &&
               (a->kind >= trace->kinds.n || !s->kind_comm[a->kind])) {
        a->cls = KIT_COMP;
    }
}

/* ---------------------------------------------------------------- all activities, block by block
 */

/* Columns of some rows of the trace's gpu. */
typedef struct block {
    int64_t start[KIT_BLOCK], dur[KIT_BLOCK];
    uint32_t name[KIT_BLOCK], stream[KIT_BLOCK], collective[KIT_BLOCK];
    uint8_t cat[KIT_BLOCK];
} block;

static void read_block(const mill_trace *trace, uint64_t first, size_t n, block *b) {
    kit_read_i64(trace, &trace->gpu.start, first, n, b->start);
    kit_read_i64(trace, &trace->gpu.dur, first, n, b->dur);
    kit_read_u32(trace, &trace->gpu.name, first, n, b->name);
    kit_read_u32(trace, &trace->gpu.stream, first, n, b->stream);
    kit_read_u32(trace, &trace->gpu.collective, first, n, b->collective);
    kit_read_u8(trace, &trace->gpu.cat, first, n, b->cat);
}

/* How many activities of the steps selected each stream and device has. */
static void count_activities(selecting *s) {
    const mill_trace *trace = s->all->trace;
    const uint32_t *place = s->all->places ? s->all->places->place : NULL;
    uint32_t stream[KIT_BLOCK];
    for (uint64_t first = 0; first < trace->gpu.n; first += KIT_BLOCK) {
        size_t n = kit_block_rows(trace->gpu.n, first);
        kit_read_u32(trace, &trace->gpu.stream, first, n, stream);
        for (size_t i = 0; i < n; i++)
            s->streams[stream[i]].n += in_steps(s, place ? place[first + i] : MILL_NONE);
    }
    for (uint64_t i = 0; i < trace->streams.n; i++)
        s->devices[s->streams[i].device].n += s->streams[i].n;
}

static mill_status gather_block(selecting *s, const block *b, uint64_t first, size_t n) {
    const uint32_t *place = s->all->places ? s->all->places->place + first : NULL;
    for (size_t i = 0; i < n; i++) {
        kit_device *device = &s->devices[s->streams[b->stream[i]].device];
        kit_activity a = {
            .start = b->start[i],
            .row = (uint32_t)(first + i),
            .stream = s->stream_at[b->stream[i]],
            .place = place ? place[i] : MILL_NONE,
            .cat = b->cat[i],
        };
        if (__builtin_add_overflow(a.start, b->dur[i], &a.end))
            return mill_fail(s->run, MILL_E_DATA,
                             "device %s: an activity ends beyond 2^63 ns: a broken timer; take it "
                             "out of the trace",
                             device->number);
        if (!in_steps(s, a.place))
            continue;
        classify(s, &a, b->name[i], b->collective[i]);
        if (device->n == 0)
            device->window = (kit_interval){a.start, a.end};
        device->window.end = a.end > device->window.end ? a.end : device->window.end;
        device->v[device->n++] = a;
    }
    return MILL_OK;
}

/* The activities of the steps selected, and the span of each device. */
static mill_status gather(selecting *s) {
    const mill_trace *trace = s->all->trace;
    mill_status status = MILL_OK;
    block b;
    for (uint64_t i = 0; i < trace->devices.n; i++) {
        kit_device *device = &s->devices[i];
        device->v = mill_scratch(s->run, device->n * sizeof *device->v);
        device->n = 0;
    }
    for (uint64_t first = 0; first < trace->gpu.n && status == MILL_OK; first += KIT_BLOCK) {
        size_t n = kit_block_rows(trace->gpu.n, first);
        if (first % CANCEL_ROWS == 0 && mill_cancelled(s->run))
            return MILL_E_CANCELLED;
        read_block(trace, first, n, &b);
        status = gather_block(s, &b, first, n);
    }
    return status;
}

/* ---------------------------------------------------------------- windows */

static mill_status check_span(const selecting *s, const kit_device *device) {
    int64_t span;
    if (__builtin_sub_overflow(device->window.end, device->window.start, &span) || span > MAX_SPAN)
        return mill_fail(s->run, MILL_E_DATA,
                         "device %s: its activities span more than 146 years: a broken timer; take "
                         "those with wrong times out of the trace",
                         device->number);
    return MILL_OK;
}

static int64_t add_up_to_most(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* ret_moments: when an activity of no length begins that belongs to the window. Where the window is
 * cut, its end is not part of it, so that of two windows side by side only one has what begins
 * there. */
static mill_status place_window(selecting *s, kit_device *device, kit_interval *ret_moments) {
    const kit_selection *o = s->selection;
    int64_t first = device->window.start, end = device->window.end;
    kit_interval moments = {first, INT64_MAX};
    if (o->clip == KIT_CLIP_CPU) {
        int64_t span;
        device->window = (kit_interval){s->cpu_start, s->cpu_end};
        if (__builtin_sub_overflow(s->cpu_end, s->cpu_start, &span) || span > MAX_SPAN)
            return mill_fail(s->run, MILL_E_DATA,
                             "the steps span more than 146 years: a broken timer");
        moments = device->window;
    }
    /* first + from can't overflow: a start beyond the end is no window anyway. */
    if (o->from > 0)
        device->window.start = o->from < end - first ? first + o->from : end;
    if (o->to > 0 && o->to < end - first)
        device->window.end = first + o->to;
    if (device->window.end < device->window.start)
        device->window.end = device->window.start;
    if (o->from > 0)
        moments.start = add_up_to_most(first, o->from);
    if (o->to > 0 && (o->to < end - first || moments.end > add_up_to_most(first, o->to)))
        moments.end = add_up_to_most(first, o->to);
    *ret_moments = moments;
    return MILL_OK;
}

static int compare_activities(const void *a, const void *b) {
    const kit_activity *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Cuts to the window. */
static void cut(selecting *s, kit_device *device, const kit_interval *moments) {
    size_t n = 0, first = 0;
    for (size_t i = 0; i < device->n; i++) {
        kit_activity a = device->v[i];
        bool belongs = a.start == a.end && a.start >= moments->start && a.start < moments->end;
        if (a.start < a.end) {
            a.start = a.start > device->window.start ? a.start : device->window.start;
            a.end = a.end < device->window.end ? a.end : device->window.end;
            belongs = a.start < a.end;
        }
        if (belongs)
            device->v[n++] = a;
        else
            s->all->streams[a.stream].n--;
    }
    device->n = n;
    /* Those that now start together are not in the order of their ends. */
    while (first < n && device->v[first].start == device->window.start)
        first++;
    qsort(device->v, first, sizeof *device->v, compare_activities);
}

static uint32_t class_group(const void *context, const kit_activity *a) {
    (void)context;
    return a->cls;
}

/* ---------------------------------------------------------------- devices and streams */

static void set_up_rows(selecting *s) {
    const mill_trace *trace = s->all->trace;
    const mill_list *named = &s->selection->streams;
    s->devices = mill_scratch(s->run, trace->devices.n * sizeof *s->devices);
    for (uint64_t i = 0; i < trace->devices.n; i++) {
        kit_device *device = &s->devices[i];
        device->id = mill_i64(trace, &trace->devices.id, i);
        kit_format_int(device->number, device->id, 0);
        device->name = mill_string(trace, mill_u32(trace, &trace->devices.name, i));
        device->sms = mill_i64(trace, &trace->devices.sms, i);
    }
    s->streams = mill_scratch(s->run, trace->streams.n * sizeof *s->streams);
    for (uint64_t i = 0; i < trace->streams.n; i++) {
        kit_stream *stream = &s->streams[i];
        stream->row = (uint32_t)i;
        stream->id = mill_i64(trace, &trace->streams.id, i);
        stream->label = mill_string(trace, mill_u32(trace, &trace->streams.label, i));
        stream->device = mill_u32(trace, &trace->streams.device, i);
        for (size_t j = 0; j < named->n; j++)
            stream->named |= ((const int64_t *)named->v)[j] == stream->id;
    }
}

/* Which kinds count as communication. A name that no rule knows would silently change all
 * figures, so it is an error. */
static mill_status set_up_kinds(selecting *s) {
    const mill_texts *kinds = &s->all->trace->kinds;
    const mill_list *wanted = &s->selection->communication;
    if (wanted->n == 0)
        return MILL_OK;
    uint8_t *counts = mill_scratch(s->run, kinds->n + 1);
    for (size_t j = 0; j < wanted->n; j++) {
        const char *name = ((const char *const *)wanted->v)[j];
        bool found = false;
        for (uint32_t k = 0; k < kinds->n; k++)
            if (strcmp(mill_text(s->all->trace, kinds, k), name) == 0)
                counts[k] = 1, found = true;
        if (!found)
            return mill_fail(s->run, MILL_E_CONFIG,
                             "communication = %s: no rule of the trace has a kind of that name; "
                             "the kinds stand in the rules file",
                             name);
    }
    s->kind_comm = counts;
    return MILL_OK;
}

typedef struct order {
    uint32_t row;
    const void *record;
    const kit_device *devices;
} order;

static int compare_devices(const void *a, const void *b) {
    const order *x = a, *y = b;
    int64_t i = ((const kit_device *)x->record)->id, j = ((const kit_device *)y->record)->id;
    return i != j ? (i > j) - (i < j) : (x->row > y->row) - (x->row < y->row);
}

static int compare_streams(const void *a, const void *b) {
    const order *x = a, *y = b;
    const kit_stream *s = x->record, *t = y->record;
    int64_t i = x->devices[s->device].id, j = x->devices[t->device].id;
    if (i != j)
        return i < j ? -1 : 1;
    if (s->id != t->id)
        return s->id < t->id ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row); /* labels: the trace has them in order */
}

/* Streams that have activities of the steps selected, in order. */
static void number_streams(selecting *s) {
    kit_activities *all = s->all;
    uint64_t n = all->trace->streams.n;
    order *list = mill_scratch(s->run, n * sizeof *list);
    for (uint32_t i = 0; i < n; i++)
        if (s->streams[i].n > 0)
            list[all->n_streams++] = (order){i, &s->streams[i], s->devices};
    qsort(list, all->n_streams, sizeof *list, compare_streams);
    all->streams = mill_scratch(s->run, all->n_streams * sizeof *all->streams);
    s->stream_at = mill_scratch(s->run, n * sizeof *s->stream_at);
    for (uint32_t i = 0; i < all->n_streams; i++) {
        all->streams[i] = *(const kit_stream *)list[i].record;
        s->stream_at[list[i].row] = i;
    }
}

/* Leaves out the streams all of whose activities were cut off. */
static void drop_streams(selecting *s) {
    kit_activities *all = s->all;
    uint32_t *at = mill_scratch(s->run, all->n_streams * sizeof *at);
    size_t n = 0;
    for (size_t i = 0; i < all->n_streams; i++) {
        at[i] = (uint32_t)n;
        if (all->streams[i].n > 0)
            all->streams[n++] = all->streams[i];
    }
    for (uint64_t d = 0; d < all->trace->devices.n && n < all->n_streams; d++)
        for (size_t i = 0; i < s->devices[d].n; i++)
            s->devices[d].v[i].stream = at[s->devices[d].v[i].stream];
    all->n_streams = n;
}

static const char *scope_of(mill_run *run, const kit_device *device) {
    const size_t room = sizeof "device " + KIT_NUMBER_MAX;
    char *text = mill_scratch(run, room);
    snprintf(text, room, "device %s", device->number);
    return text;
}

/* Keeps the devices that have activities, in order, and renumbers what refers to them. */
static mill_status keep_devices(selecting *s) {
    kit_activities *all = s->all;
    uint64_t n = all->trace->devices.n;
    order *list = mill_scratch(s->run, n * sizeof *list);
    uint32_t *device_at = mill_scratch(s->run, n * sizeof *device_at);
    for (uint32_t i = 0; i < n; i++)
        if (s->devices[i].n > 0)
            list[all->n_devices++] = (order){i, &s->devices[i], NULL};
    if (all->n_devices > MAX_DEVICES)
        return mill_fail(s->run, MILL_E_DATA,
                         "activities on %zu devices, but one rank has at most %d: the numbers in "
                         "args.device (or pid) are not those of devices",
                         all->n_devices, MAX_DEVICES);
    qsort(list, all->n_devices, sizeof *list, compare_devices);
    all->devices = mill_scratch(s->run, all->n_devices * sizeof *all->devices);
    for (uint32_t i = 0; i < all->n_devices; i++) {
        all->devices[i] = *(const kit_device *)list[i].record;
        device_at[list[i].row] = i;
        if (all->n_devices > 1)
            all->devices[i].scope = scope_of(s->run, &all->devices[i]);
    }
    for (size_t i = 0; i < all->n_streams; i++)
        all->streams[i].device = device_at[all->streams[i].device];
    return MILL_OK;
}

/* ---------------------------------------------------------------- all of it */

static mill_status finish_devices(selecting *s) {
    const kit_selection *o = s->selection;
    uint64_t n = s->all->trace->devices.n, rows = 0;
    mill_status status = MILL_OK;
    for (uint64_t i = 0; i < n && status == MILL_OK; i++)
        status = check_span(s, &s->devices[i]);
    for (uint64_t i = 0; i < n && status == MILL_OK; i++) {
        kit_device *device = &s->devices[i];
        kit_interval moments = {0};
        status = place_window(s, device, &moments);
        if (status == MILL_OK && (o->clip || o->from || o->to))
            cut(s, device, &moments);
        kit_sets_of(s->run, device, class_group, NULL, device->sets, KIT_CLASSES);
        rows += device->n;
    }
    s->all->left_out = s->all->trace->gpu.n - rows;
    return status;
}

/* The attribution must be of this trace: it names rows of its tables. */
static mill_status check_places(mill_run *run, const mill_trace *trace,
                                const mill_attribution *places) {
    if (places->n_rows != trace->gpu.n)
        return mill_fail(run, MILL_E_DATA,
                         "the attribution is of another trace (%llu activities, here %llu): "
                         "connect both inputs to the same reader",
                         (unsigned long long)places->n_rows, (unsigned long long)trace->gpu.n);
    for (uint64_t i = 0; i < places->n_places; i++)
        if (places->annotation[i] != MILL_NONE && places->annotation[i] >= trace->cpu.n)
            return mill_fail(
                run, MILL_E_DATA,
                "the attribution is of another trace (it names CPU slice %lu of %llu): "
                "connect both inputs to the same reader",
                (unsigned long)places->annotation[i], (unsigned long long)trace->cpu.n);
    return MILL_OK;
}

mill_status kit_activities_select(mill_run *run, const mill_trace *trace,
                                  const mill_attribution *places, const kit_selection *selection,
                                  kit_activities *ret_activities) {
    *ret_activities = (kit_activities){.trace = trace, .places = places};
    selecting s = {.run = run, .selection = selection, .all = ret_activities};
    mill_status status = places ? check_places(run, trace, places) : MILL_OK;
    if (status != MILL_OK)
        return status;
    if (selection->to > 0 && selection->from >= selection->to)
        return mill_fail(run, MILL_E_CONFIG, "the window is empty: from must be before to");
    set_up_rows(&s);
    classify_names(&s);
    status = set_up_kinds(&s);
    if (status == MILL_OK)
        status = select_steps(&s);
    if (status != MILL_OK)
        return status;
    count_activities(&s);
    number_streams(&s);
    status = gather(&s);
    if (status == MILL_OK)
        status = finish_devices(&s);
    if (status != MILL_OK)
        return status;
    drop_streams(&s);
    return keep_devices(&s);
}
