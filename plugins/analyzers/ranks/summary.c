/* SPDX-License-Identifier: Apache-2.0 */
/* The stage class `rank.summary`, which makes a tracemill.rank/1 of a trace, and that type. */
#include "rank.h"

#include <string.h>
#include <tracemill/kit/activities.h>
#include <tracemill/kit/intern.h>
#include <tracemill/kit/rank_waits.h>
#include <tracemill/kit/report.h>

typedef struct options {
    kit_selection selection;
    mill_list notify_kinds; /* of texts */
} options;

typedef struct summing {
    mill_run *run;
    const options *options;
    kit_activities all;
    rank_summary *value;
    kit_intern *texts;
} summing;

static uint32_t text_of(summing *s, const char *text) {
    return text ? kit_intern_add(s->texts, text, strlen(text), 0) : MILL_NONE;
}

static bool waits(const summing *s, uint16_t kind) {
    const mill_list *kinds = &s->options->notify_kinds;
    for (size_t i = 0; i < kinds->n; i++)
        if (strcmp(((const char *const *)kinds->v)[i], kit_kind_name(&s->all, kind)) == 0)
            return true;
    return false;
}

/* ---------------------------------------------------------------- collectives */

static int64_t bytes_of(const mill_trace *t, uint32_t row) {
    const mill_collectives *c = &t->collectives;
    int64_t in = mill_i64(t, &c->in_elems, row), out = mill_i64(t, &c->out_elems, row);
    int64_t size = mill_i64(t, &c->elem_bytes, row), bytes;
    int64_t elems = in > out ? in : out; /* MILL_UNKNOWN is less than all */
    if (elems < 0 || size <= 0 || __builtin_mul_overflow(elems, size, &bytes))
        return MILL_UNKNOWN;
    return bytes;
}

static int64_t launch_of(const mill_trace *t, uint32_t gpu_row, int64_t first) {
    uint32_t call = mill_u32(t, &t->gpu.launch, gpu_row);
    int64_t start;
    if (call == MILL_NONE ||
        __builtin_sub_overflow(mill_i64(t, &t->cpu.start, call), first, &start) ||
        start < -MAX_SPAN || start > MAX_SPAN)
        return MILL_UNKNOWN;
    return start;
}

static rank_collective collective_of(summing *s, const kit_device *device, const kit_activity *a) {
    const mill_trace *t = s->all.trace;
    rank_collective c = {
        .start = a->start - device->window.start,
        .dur = a->end - a->start,
        .launch = launch_of(t, a->row, device->window.start),
        .sequence = MILL_UNKNOWN,
        .step = MILL_UNKNOWN,
        .bytes = MILL_UNKNOWN,
        .group_size = MILL_UNKNOWN,
        .group = MILL_NONE,
        .group_ranks = MILL_NONE,
        .kind = MILL_NONE,
        .stage = text_of(s, kit_stage_name(&s->all, a->place)),
    };
    if (a->kind < t->kinds.n)
        c.kind = text_of(s, kit_kind_name(&s->all, a->kind));
    if (a->place != MILL_NONE && s->all.places->step[a->place] != MILL_NONE)
        c.step = s->all.places->step_number[s->all.places->step[a->place]];
    uint32_t row = mill_u32(t, &t->gpu.collective, a->row);
    if (row == MILL_NONE)
        return c;
    c.sequence = mill_i64(t, &t->collectives.sequence, row);
    c.group_size = mill_i64(t, &t->collectives.group_size, row);
    c.group = text_of(s, mill_string(t, mill_u32(t, &t->collectives.group, row)));
    c.group_ranks = text_of(s, mill_string(t, mill_u32(t, &t->collectives.ranks, row)));
    c.bytes = bytes_of(t, row);
    return c;
}

/* ---------------------------------------------------------------- one device */

static void add_stages(summing *s, const kit_device *device, rank_device *ret_device) {
    uint64_t n = s->all.places ? s->all.places->n_stages : 0;
    rank_stage *stages = mill_value_alloc(s->run, s->value, (n + 1) * sizeof *stages);
    for (size_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i];
        uint32_t stage = a->place == MILL_NONE ? MILL_NONE : s->all.places->stage[a->place];
        rank_stage *to = &stages[stage == MILL_NONE ? n : stage];
        if (a->cls != KIT_COMP)
            continue;
        to->n++;
        to->sum = kit_add(to->sum, a->end - a->start);
    }
    for (uint64_t i = 0; i <= n; i++) {
        if (stages[i].n == 0)
            continue;
        rank_stage *to = &stages[ret_device->n_stages++];
        *to = stages[i];
        to->stage = i == n ? MILL_NONE : text_of(s, s->all.places->stages[i]);
    }
    ret_device->stages = stages;
}

static void add_collectives(summing *s, const kit_device *device, rank_device *d) {
    size_t n = 0;
    for (size_t i = 0; i < device->n; i++)
        n += device->v[i].cls == KIT_COMM;
    rank_collective *collectives = mill_value_alloc(s->run, s->value, n * sizeof *collectives);
    kit_set moving = {mill_scratch(s->run, n * sizeof(kit_interval)), 0};
    for (size_t i = 0; i < device->n; i++) {
        const kit_activity *a = &device->v[i];
        if (a->cls != KIT_COMM)
            continue;
        collectives[d->n_collectives++] = collective_of(s, device, a);
        if (waits(s, a->kind))
            d->notify = kit_add(d->notify, a->end - a->start);
        else
            moving.v[moving.n++] = (kit_interval){a->start, a->end};
    }
    moving.n = kit_intervals_normalise(moving.v, moving.n);
    d->moving = kit_intervals_length(moving.v, moving.n);
    d->collectives = collectives;
}

static mill_status add_device(summing *s, const kit_device *device, rank_device *ret_device) {
    int64_t states[KIT_STATES], base = s->all.trace->base_ns, origin;
    if (__builtin_add_overflow(device->window.start, base == MILL_UNKNOWN ? 0 : base, &origin) ||
        origin < -MAX_TIME || origin > MAX_TIME ||
        device->window.end - device->window.start > MAX_SPAN)
        return mill_fail(s->run, MILL_E_DATA,
                         "device %s: its times begin more than 73 years from 1970, or span more "
                         "than 36: a broken timer",
                         device->number);
    kit_states(device->sets, device->window.start, device->window.end, states);
    rank_device d = {
        .id = device->id,
        .origin = origin,
        .window = kit_time_in(states, KIT_ALWAYS),
        .comp = kit_time_in(states, KIT_IN_COMP),
        .comm = kit_time_in(states, KIT_IN_COMM),
        .exposed = kit_time_in(states, KIT_IN_COMM & ~KIT_IN_COMP),
    };
    add_collectives(s, device, &d);
    add_stages(s, device, &d);
    *ret_device = d;
    return MILL_OK;
}

static const char *keep(const summing *s, const char *text) {
    return text ? kit_text_utf8(s->run, s->value, text, strlen(text)) : NULL;
}

static void keep_texts(summing *s) {
    uint32_t n = kit_intern_count(s->texts);
    const char **texts = mill_value_alloc(s->run, s->value, n * sizeof *texts);
    for (uint32_t i = 0; i < n; i++)
        texts[i] = keep(s, kit_intern_text(s->texts, i, NULL));
    s->value->texts = texts;
    s->value->n_texts = n;
}

static mill_status summarise(summing *s) {
    const mill_trace *t = s->all.trace;
    rank_device *devices = mill_value_alloc(s->run, s->value, s->all.n_devices * sizeof *devices);
    *s->value = (rank_summary){
        .size = sizeof *s->value,
        .path = keep(s, mill_at(t, t->path)),
        .rank = t->rank,
        .world_size = t->world_size,
        .devices = devices,
        .n_devices = s->all.n_devices,
    };
    for (size_t i = 0; i < s->all.n_devices; i++) {
        mill_status status = add_device(s, &s->all.devices[i], &devices[i]);
        if (status != MILL_OK)
            return status;
    }
    keep_texts(s);
    return MILL_OK;
}

/* ---------------------------------------------------------------- the class */

static const mill_port inputs[] = {
    {"trace", MILL_TYPE_TRACE, "The profile of one rank.", 0, 0},
    {"attribution", MILL_TYPE_ATTRIBUTION, "Steps and stages, by which collectives are matched.",
     MILL_PORT_OPTIONAL, 0},
    {0},
};

static const mill_port outputs[] = {
    {"summary", RANK_TYPE, "What `ranks` takes.", 0, 0},
    {0},
};

static const mill_option option_table[] = {
    KIT_SELECTION_OPTIONS(options, selection),
    KIT_WAIT_OPTION(options, notify_kinds),
    {0},
};

static mill_status run_summary(mill_run *run, const void *opts, void *state) {
    (void)state;
    summing s = {.run = run, .options = opts};
    mill_status status = kit_activities_select(run, mill_input(run, 0, 0), mill_input(run, 1, 0),
                                               &s.options->selection, &s.all);
    if (status != MILL_OK)
        return status;
    s.value = mill_value_alloc(run, NULL, sizeof *s.value);
    s.texts = kit_intern_create();
    status = summarise(&s);
    kit_intern_destroy(s.texts);
    return status == MILL_OK ? mill_output(run, 0, s.value) : status;
}

const mill_stage rank_summary_stage = {
    MILL_STAGE_HEAD,
    .name = "rank.summary",
    .summary = "What comparing ranks needs to know of one of them",
    .help = "A small value in place of a whole profile: its communication one by one, and totals. "
            "So that `ranks` can take a thousand of them.",
    .inputs = inputs,
    .outputs = outputs,
    .options = option_table,
    .options_size = sizeof(options),
    .run = run_summary,
};

/* ---------------------------------------------------------------- the type */

static const kit_column columns[] = {
    {MILL_KIND_ID, "device", "device", NULL},
    {MILL_KIND_NS, "T", "window", "From the first start to the last end."},
    {MILL_KIND_NS, "comp", "comp.", "|C|"},
    {MILL_KIND_NS, "comm", "comm.", "|M|"},
    {MILL_KIND_NS, "exposed_comm", "exposed", "|M ∖ C|"},
    {MILL_KIND_NS, "notify", "notify", "Σ durations of the kinds that only wait."},
    {MILL_KIND_COUNT, "collectives", "collectives", "Communication activities."},
    {0},
};

static mill_status to_report(mill_run *run, const void *data, mill_report **ret_report) {
    const rank_summary *s = data;
    kit_report *r = kit_report_begin(run, "rank_summary", "Summary of a rank", s->path);
    kit_figure_int(r, MILL_KIND_ID, "rank", "rank", NULL, NULL, s->rank);
    kit_figure_int(r, MILL_KIND_COUNT, "world_size", "ranks in the job", NULL, NULL, s->world_size);
    kit_table *t = kit_table_of(r, "devices", "Devices", NULL, columns);
    for (uint64_t i = 0; i < s->n_devices; i++) {
        const rank_device *d = &s->devices[i];
        kit_table_row(t);
        kit_cell_int(t, d->id);
        kit_cell_int(t, d->window);
        kit_cell_int(t, d->comp);
        kit_cell_int(t, d->comm);
        kit_cell_int(t, d->exposed);
        kit_cell_int(t, d->notify);
        kit_cell_int(t, (int64_t)d->n_collectives);
    }
    *ret_report = kit_report_end(r);
    return MILL_OK;
}

const mill_type rank_type = {
    .size = sizeof(mill_type),
    .id = RANK_TYPE,
    .help = "One rank's communication and totals, for comparing ranks.",
    .to_report = to_report,
    .save = rank_save,
    .load = rank_load,
};
