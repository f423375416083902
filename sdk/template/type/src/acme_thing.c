/* org.acme.thing/1: a type of its own, the stage acme.thing.measure that makes its values from
 * profiles, and the stage acme.thing.sum that takes them. */
#include "acme_thing.h"

#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>
#include <tracemill/kit/report.h>
#include <tracemill/trace.h>

/* ---------------------------------------------------------------- making a value */

/* A value and its memory, freed together. Others see the first member alone. */
typedef struct owned {
    acme_thing value;
    kit_arena memory;
} owned;

static void times_free(void *data) {
    owned *o = data;

    kit_arena_finish(&o->memory);
    free(o);
}

/* Sums while they grow: rows[i] is of name i. All zero bytes but for `names`. */
typedef struct sums {
    kit_intern *names;
    acme_thing_row *rows;
    size_t room;
} sums;

/* False if a sum does not fit 63 bits. */
static bool sums_add(sums *s, const char *name, int64_t count, int64_t total) {
    uint32_t at = kit_intern_add(s->names, name, strlen(name), 0);

    if (at >= s->room) {
        size_t room = s->room ? 2 * s->room : 64;

        s->rows = kit_realloc(s->rows, room, sizeof *s->rows);
        memset(s->rows + s->room, 0, (room - s->room) * sizeof *s->rows);
        s->room = room;
    }
    return !__builtin_add_overflow(s->rows[at].count, count, &s->rows[at].count) &&
           !__builtin_add_overflow(s->rows[at].total, total, &s->rows[at].total);
}

static void sums_finish(sums *s) {
    kit_intern_destroy(s->names);
    free(s->rows);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const acme_thing_row *)a)->name, ((const acme_thing_row *)b)->name);
}

/* The value to post: what it holds has to be the same in every run, so it is sorted. */
static owned *sums_value(const sums *s) {
    owned *o = kit_alloc(1, sizeof *o);
    uint32_t n = kit_intern_count(s->names);
    acme_thing_row *rows = kit_arena_alloc(&o->memory, (n + 1) * sizeof *rows);

    for (uint32_t i = 0; i < n; i++) {
        size_t length;
        const char *name = kit_intern_text(s->names, i, &length);

        rows[i] = s->rows[i];
        rows[i].name = kit_arena_text(&o->memory, name, length);
    }
    qsort(rows, n, sizeof *rows, by_name);
    o->value.size = sizeof o->value;
    o->value.n = n;
    o->value.rows = rows;
    return o;
}

/* ---------------------------------------------------------------- the type */

/* With this, every exporter can show a value. */
static mill_status times_to_report(mill_run *run, const void *data, mill_report **ret_report) {
    static const kit_column columns[] = {
        {MILL_KIND_TEXT, "name", "name", NULL},
        {MILL_KIND_COUNT, "count", "activities", NULL},
        {MILL_KIND_NS, "total", "total", "the sum of their durations"},
        {0, NULL, NULL, NULL},
    };
    const acme_thing *times = data;
    kit_report *report = kit_report_begin(run, "acme_thing", "Time of each name", NULL);
    kit_table *table = kit_table_of(report, "names", "Time of each name", NULL, columns);

    for (uint64_t i = 0; i < times->n; i++) {
        kit_table_row(table);
        kit_cell_text(table, times->rows[i].name);
        kit_cell_int(table, times->rows[i].count);
        kit_cell_int(table, times->rows[i].total);
    }
    *ret_report = kit_report_end(report);
    return MILL_OK;
}

/* Saved, a value is: the number of the format and of the rows, then of each row the length of its
 * name, the name, count, total. Numbers are 64 bits, in the order of this machine's bytes. A form
 * that differs gets another number, and `load` goes on to read this one. */
enum { FORMAT = 1 };

static mill_status save_number(mill_sink *sink, int64_t number) {
    return sink->write(sink, &number, sizeof number);
}

static mill_status save_row(mill_sink *sink, const acme_thing_row *row) {
    size_t length = strlen(row->name);
    mill_status status = save_number(sink, (int64_t)length);

    if (status == MILL_OK)
        status = sink->write(sink, row->name, length);
    if (status == MILL_OK)
        status = save_number(sink, row->count);
    return status == MILL_OK ? save_number(sink, row->total) : status;
}

static mill_status times_save(mill_run *run, const void *data, mill_sink *sink) {
    const acme_thing *times = data;
    mill_status status = save_number(sink, FORMAT);

    if (status == MILL_OK)
        status = save_number(sink, (int64_t)times->n);
    for (uint64_t i = 0; i < times->n && status == MILL_OK; i++)
        status = mill_cancelled(run) ? MILL_E_CANCELLED : save_row(sink, &times->rows[i]);
    return status;
}

/* Takes `n` bytes off the front of the source; NULL where there are not as many. */
static const void *take(mill_source *rest, uint64_t n) {
    const uint8_t *at = rest->data;

    if (n > rest->length)
        return NULL;
    rest->data += n;
    rest->length -= n;
    return at;
}

static bool load_number(mill_source *rest, int64_t *ret_number) {
    const void *at = take(rest, sizeof *ret_number);

    if (at)
        memcpy(ret_number, at, sizeof *ret_number);
    return at != NULL;
}

static bool load_row(mill_source *rest, kit_arena *memory, acme_thing_row *ret_row) {
    int64_t length;
    const char *name;

    if (!load_number(rest, &length) || length < 0)
        return false;
    name = take(rest, (uint64_t)length);
    if (!name)
        return false;
    ret_row->name = kit_arena_text(memory, name, (size_t)length);
    return load_number(rest, &ret_row->count) && load_number(rest, &ret_row->total);
}

/* What was saved comes from a file or another process: it may be cut, or anything at all. */
static mill_status times_load(mill_run *run, mill_source *source, void **ret_data) {
    mill_source rest = *source;
    int64_t format, n;
    owned *o;
    acme_thing_row *rows;

    if (!load_number(&rest, &format) || !load_number(&rest, &n))
        return mill_fail(run, MILL_E_DATA, "it ends before its number of rows: was it cut?");
    if (format != FORMAT)
        return mill_fail(run, MILL_E_DATA, "its format is %lld: expected %d", (long long)format,
                         FORMAT);
    if (n < 0 || (uint64_t)n > rest.length / (3 * sizeof(int64_t)))
        return mill_fail(run, MILL_E_DATA, "%lld rows do not fit in %llu bytes: was it cut?",
                         (long long)n, (unsigned long long)rest.length);
    o = kit_alloc(1, sizeof *o);
    rows = kit_arena_alloc(&o->memory, ((size_t)n + 1) * sizeof *rows);
    o->value.size = sizeof o->value;
    o->value.rows = rows;
    for (; o->value.n < (uint64_t)n; o->value.n++)
        if (!load_row(&rest, &o->memory, &rows[o->value.n])) {
            uint64_t row = o->value.n;

            times_free(o);
            return mill_fail(run, MILL_E_DATA, "it ends in row %llu of %lld: was it cut?",
                             (unsigned long long)row, (long long)n);
        }
    *ret_data = o;
    return MILL_OK;
}

static const mill_type type = {
    .size = sizeof(mill_type),
    .id = ACME_THING_TYPE,
    .help = "how long the activities of each name ran",
    .free = times_free,
    .to_report = times_to_report,
    .save = times_save,
    .load = times_load,
};

/* ---------------------------------------------------------------- acme.thing.measure */

static mill_status too_long(mill_run *run) {
    return mill_fail(run, MILL_E_DATA,
                     "the activities of one name last over 292 years in all; "
                     "record the profile again: its timer was broken");
}

/* Called once per profile, on any thread. */
static mill_status measure_run(mill_run *run, const void *opts, void *state) {
    const mill_trace *t = mill_input(run, 0, 0);
    uint64_t n = t->names.texts.n;
    acme_thing_row *of_name = mill_scratch(run, n * sizeof *of_name);
    mill_status status = MILL_OK;
    sums s = {.names = NULL};

    (void)opts;
    (void)state;
    for (uint64_t row = 0; row < t->gpu.n; row++) {
        acme_thing_row *sum = &of_name[mill_u32(t, &t->gpu.name, row)];

        if (row % 65536 == 0 && mill_cancelled(run))
            return MILL_E_CANCELLED;
        sum->count++;
        if (__builtin_add_overflow(sum->total, mill_i64(t, &t->gpu.dur, row), &sum->total))
            return too_long(run);
    }
    s.names = kit_intern_create();
    for (uint32_t name = 0; name < n && status == MILL_OK; name++)
        if (of_name[name].count > 0 && /* a trace also has names of other things */
            !sums_add(&s, mill_name(t, name), of_name[name].count, of_name[name].total))
            status = too_long(run);
    if (status == MILL_OK)
        status = mill_output(run, 0, sums_value(&s));
    sums_finish(&s);
    return status;
}

static const mill_port measure_inputs[] = {
    {.name = "trace", .type = MILL_TYPE_TRACE, .help = "the profile of one rank"},
    {.name = NULL},
};

static const mill_port measure_outputs[] = {
    {.name = "times", .type = ACME_THING_TYPE, .help = "the time of each name"},
    {.name = NULL},
};

static const mill_stage measure = {
    MILL_STAGE_HEAD,
    .name = "acme.thing.measure",
    .summary = "How long the activities of each name ran in a profile",
    .inputs = measure_inputs,
    .outputs = measure_outputs,
    .run = measure_run,
};

/* ---------------------------------------------------------------- acme.thing.sum */

/* Called once, with the values of all profiles. They are small, unlike the profiles: those are
 * freed as soon as they are measured. */
static mill_status sum_run(mill_run *run, const void *opts, void *state) {
    mill_status status = MILL_OK;
    sums s = {.names = kit_intern_create()};

    (void)opts;
    (void)state;
    for (size_t i = 0; i < mill_input_count(run, 0); i++) {
        const acme_thing *times = mill_input(run, 0, i);

        for (uint64_t row = 0; row < times->n && status == MILL_OK; row++)
            if (!sums_add(&s, times->rows[row].name, times->rows[row].count,
                          times->rows[row].total))
                status = too_long(run);
    }
    if (status == MILL_OK)
        status = mill_output(run, 0, sums_value(&s));
    sums_finish(&s);
    return status;
}

static const mill_port sum_inputs[] = {
    {
        .name = "times",
        .type = ACME_THING_TYPE,
        .help = "the times of each profile",
        .flags = MILL_PORT_MANY,
    },
    {.name = NULL},
};

static const mill_port sum_outputs[] = {
    {.name = "times", .type = ACME_THING_TYPE, .help = "the time of each name in all of them"},
    {.name = NULL},
};

static const mill_stage sum = {
    MILL_STAGE_HEAD,      .name = "acme.thing.sum", .summary = "Adds up the times of many profiles",
    .inputs = sum_inputs, .outputs = sum_outputs,   .run = sum_run,
};

/* ---------------------------------------------------------------- the module */

static const mill_stage *const stages[] = {&measure, &sum, NULL};
static const mill_type *const types[] = {&type, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "org.acme.thing",
    .version = "0.1.0",
    .license = "LicenseRef-undecided", /* yours, as an SPDX expression */
    .author = "The author of acme.thing",
    .summary = "How long the activities of each name ran",
    .built_with = MILL_BUILT_WITH,
    .stages = stages,
    .types = types,
};
