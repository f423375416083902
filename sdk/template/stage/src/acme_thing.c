/* acme.thing: how long each GPU works, and which of its activities take longest. */
#include <tracemill/kit/report.h>
#include <tracemill/trace.h>

/* ---------------------------------------------------------------- options */

/* The host reads, checks and fills these in before it calls anything below. */
typedef struct settings {
    int64_t top;
} settings;

static const mill_option options[] = {
    {
        .name = "top",
        .type = MILL_OPT_INT,
        .offset = MILL_OPT_OFF(settings, top, INT),
        .def = "10",
        .min = 1,
        .max = 100,
        .unit = "activities",
        .help = "How many of the longest activities to list.",
    },
    {.name = NULL},
};

/* ---------------------------------------------------------------- ports */

static const mill_port inputs[] = {
    {.name = "trace", .type = MILL_TYPE_TRACE, .help = "the profile of one rank"},
    {.name = NULL},
};

static const mill_port outputs[] = {
    {.name = "report", .type = MILL_TYPE_REPORT, .help = "busy time and longest activities"},
    {.name = NULL},
};

/* ---------------------------------------------------------------- the analysis */

/* What is known of one device while its activities pass by, in the order of their starts. */
typedef struct device_time {
    int64_t activities;
    int64_t first, last; /* ns: the first start, the latest end so far */
    int64_t busy;        /* ns: time in which at least one activity ran */
} device_time;

typedef struct activity {
    uint64_t row; /* of trace.gpu */
    int64_t dur;  /* ns */
} activity;

/* The longest activities so far, longest first. */
typedef struct ranking {
    activity *v;
    size_t n, top;
} ranking;

/* Activities of different streams overlap: only what reaches past `last` is new busy time. */
static void add_time(device_time *d, int64_t start, int64_t end) {
    if (d->activities++ == 0)
        d->first = d->last = start;
    if (end > d->last) {
        d->busy += end - (start > d->last ? start : d->last);
        d->last = end;
    }
}

/* Among equally long ones the earlier row comes first, so that the output never varies. */
static void add_to_ranking(ranking *r, activity a) {
    size_t at = r->n;

    if (r->n < r->top)
        r->n++;
    else if (a.dur > r->v[r->top - 1].dur)
        at = r->top - 1;
    else
        return;
    for (; at > 0 && r->v[at - 1].dur < a.dur; at--)
        r->v[at] = r->v[at - 1];
    r->v[at] = a;
}

static uint32_t device_of(const mill_trace *t, uint64_t row) {
    return mill_u32(t, &t->streams.device, mill_u32(t, &t->gpu.stream, row));
}

/* ---------------------------------------------------------------- the report */

/* Ids are for scripts and stay as they are; labels are for people and may be improved. */
static void report_devices(kit_report *report, const mill_trace *t, const device_time *devices) {
    kit_table *table = kit_table_begin(report, "devices", "Busy time of each device", NULL);

    kit_table_column(table, MILL_KIND_ID, "device", "device", NULL, NULL);
    kit_table_column(table, MILL_KIND_COUNT, "activities", "activities", NULL, NULL);
    kit_table_column(table, MILL_KIND_NS, "busy", "busy", NULL, "time with at least one activity");
    kit_table_column(table, MILL_KIND_NS, "span", "span", NULL, "first start to last end");
    kit_table_column(table, MILL_KIND_RATIO, "busy_over_span", "busy share", NULL, "busy / span");
    for (uint64_t i = 0; i < t->devices.n; i++) {
        const device_time *d = &devices[i];

        if (d->activities == 0)
            continue; /* the profile describes it, but nothing ran on it */
        kit_table_row(table);
        kit_cell_int(table, mill_i64(t, &t->devices.id, i));
        kit_cell_int(table, d->activities);
        kit_cell_int(table, d->busy);
        kit_cell_int(table, d->last - d->first);
        kit_cell_ratio(table, d->busy, d->last - d->first);
    }
}

static void report_longest(kit_report *report, const mill_trace *t, const ranking *longest) {
    kit_table *table = kit_table_begin(report, "longest", "Longest activities", NULL);

    kit_table_column(table, MILL_KIND_TEXT, "name", "name", NULL, NULL);
    kit_table_column(table, MILL_KIND_ID, "device", "device", NULL, NULL);
    kit_table_column(table, MILL_KIND_NS, "start", "start", NULL, "from the first activity");
    kit_table_column(table, MILL_KIND_NS, "duration", "duration", NULL, NULL);
    for (size_t i = 0; i < longest->n; i++) {
        uint64_t row = longest->v[i].row;

        kit_table_row(table);
        kit_cell_text(table, mill_name(t, mill_u32(t, &t->gpu.name, row)));
        kit_cell_int(table, mill_i64(t, &t->devices.id, device_of(t, row)));
        kit_cell_int(table, mill_i64(t, &t->gpu.start, row) - mill_i64(t, &t->gpu.start, 0));
        kit_cell_int(table, longest->v[i].dur);
    }
}

/* ---------------------------------------------------------------- the stage */

/* Called once per profile, on any thread. Scratch memory is freed by the host on return, so there
 * is nothing to clean up on any path. */
static mill_status stage_run(mill_run *run, const void *opts, void *state) {
    const settings *o = opts;
    const mill_trace *t = mill_input(run, 0, 0);
    const char *path = mill_at(t, t->path);
    device_time *devices = mill_scratch(run, t->devices.n * sizeof *devices);
    ranking longest = {.top = (size_t)o->top};
    kit_report *report;

    (void)state;
    longest.v = mill_scratch(run, longest.top * sizeof *longest.v);
    for (uint64_t row = 0; row < t->gpu.n; row++) {
        int64_t start = mill_i64(t, &t->gpu.start, row), dur = mill_i64(t, &t->gpu.dur, row);
        int64_t end, from_first; /* rows are sorted by start: all differences below fit as well */

        if (row % 65536 == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        if (__builtin_add_overflow(start, dur, &end) ||
            __builtin_sub_overflow(end, mill_i64(t, &t->gpu.start, 0), &from_first))
            return mill_fail(run, MILL_E_DATA,
                             "%s: an activity ends over 292 years after the first one starts; "
                             "record the profile again: its timer was broken",
                             path);
        add_time(&devices[device_of(t, row)], start, end);
        add_to_ranking(&longest, (activity){row, dur});
    }

    report = kit_report_begin(run, "acme_thing", "Busy time", path);
    if (t->gpu.n == 0)
        kit_note(
            report, MILL_WARNING, "no_activities",
            "The profile holds no GPU activities: was it recorded with ProfilerActivity.CUDA?");
    report_devices(report, t, devices);
    report_longest(report, t, &longest);
    return mill_output(run, 0, kit_report_end(report));
}

static const mill_stage stage = {
    MILL_STAGE_HEAD,
    .name = "acme.thing",
    .summary = "Busy time of each device, and its longest activities",
    .inputs = inputs,
    .outputs = outputs,
    .options = options,
    .options_size = sizeof(settings),
    .run = stage_run,
};

/* ---------------------------------------------------------------- the module */

static const mill_stage *const stages[] = {&stage, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "org.acme.thing",
    .version = "0.1.0",
    .license = "LicenseRef-undecided", /* yours, as an SPDX expression */
    .author = "The author of acme.thing",
    .summary = "How busy the devices of a profile are",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
};
