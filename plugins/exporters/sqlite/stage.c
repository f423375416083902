/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.sqlite: the stage class sqlite.write, all values of a pipeline in an SQLite
 * database. */
#include "values.h"

#include <glib.h>
#include <string.h>
#include <tracemill/kit/export.h>

enum { PORT_TRACE, PORT_REPORT, PORT_SCHEDULE, PORTS };

typedef struct sqlite_options {
    const char *path;
    bool overwrite;
} sqlite_options;

typedef struct sqlite_state {
    char *path;         /* as written in the pipeline, ${item} and all */
    database *database; /* the one being made: items of a key come one after another */
    database *whole;    /* of the key before, not written yet */
    char *failed;       /* path of the last that lacks something, and must not be written */
    bool begun;         /* there was one */
} sqlite_state;

static mill_status sqlite_open_stage(mill_run *run, const void *opts, void *state) {
    (void)run;
    ((sqlite_state *)state)->path = g_strdup(((const sqlite_options *)opts)->path);
    return MILL_OK;
}

/* The file that a callback writes to is not kept if the callback fails, so what is whole is written
 * when nothing else of this run can fail any more. */
static mill_status write_out(mill_run *run, database **whole) {
    mill_sink *sink;
    mill_status status = run->host->sink_open(run, (*whole)->path, &sink);
    if (!status)
        status = database_write(*whole, run, sink);
    g_clear_pointer(whole, database_destroy);
    return status;
}

/* Files that a failed callback wrote to are not kept. Now nothing is in it, but an empty file is no
 * database. */
static void spoil(mill_sink *sink) {
    sink->write(sink, "", 0);
}

/* The sink is opened first: it refuses a path that can't be written, and makes the folder. */
static mill_status begin(mill_run *run, const sqlite_options *o, const char *path,
                         sqlite_state *s) {
    mill_sink *sink;
    database *made;
    mill_status status = kit_export_open(run, path, o->overwrite, &sink);
    s->begun = true;
    if (status)
        return status;
    status = database_create(run, path, &made);
    if (status) {
        spoil(sink);
        return status;
    }
    if (s->database)
        s->whole = s->database;
    s->database = made;
    return MILL_OK;
}

static mill_status write_item(mill_run *run, database *d) {
    uint32_t port = 0;
    while (mill_input_count(run, port) == 0)
        port++;
    const void *value = mill_input(run, port, 0);
    int64_t item = d->next[TABLE_ITEM]++;
    database_row(d, TABLE_ITEM);
    database_int(d, item);
    database_text(d, run->host->input_type(run, port, 0));
    database_text(d, run->host->input_stage(run, port, 0));
    database_text(d, run->host->input_key(run, port, 0));
    database_end(d);
    if (port == PORT_TRACE)
        return write_trace(d, item, value);
    return port == PORT_REPORT ? write_report(d, item, value) : write_schedule(d, item, value);
}

static bool is_database(const sqlite_state *s, const char *path) {
    return s->database && strcmp(s->database->path, path) == 0;
}

/* Others may be good. */
static void give_up(mill_run *run, sqlite_state *s, const char *path) {
    mill_sink *sink;
    if (is_database(s, path) && !run->host->sink_open(run, path, &sink)) {
        spoil(sink);
        g_clear_pointer(&s->database, database_destroy);
    }
    g_free(s->failed);
    s->failed = g_strdup(path);
}

static mill_status sqlite_run(mill_run *run, const void *opts, void *state) {
    const sqlite_options *o = opts;
    sqlite_state *s = state;
    if (g_strcmp0(s->failed, o->path) == 0)
        return mill_fail(run, MILL_E_IO, "%s: an item before could not be written", o->path);
    mill_status status = is_database(s, o->path) ? MILL_OK : begin(run, o, o->path, s);
    if (!status) {
        s->database->run = run;
        status = write_item(run, s->database);
    }
    if (status)
        give_up(run, s, o->path);
    else if (s->whole)
        status = write_out(run, &s->whole);
    return status;
}

static void put_missing(mill_run *run, database *d) {
    const char *stage, *key;
    d->run = run;
    for (uint32_t port = 0; port < PORTS; port++)
        for (size_t i = 0; i < run->host->missing(run, port, i, &stage, &key); i++) {
            database_row(d, TABLE_MISSING);
            database_text(d, stage);
            database_text(d, key);
            database_end(d);
        }
}

/* What is missing is known at the end only, so it stands in the last database. */
static mill_status sqlite_finish(mill_run *run, const void *opts, void *state) {
    sqlite_state *s = state;
    mill_status status = MILL_OK;
    if (!s->begun && !strstr(s->path, "${item}"))
        status = begin(run, opts, s->path, s);
    database **last = s->database ? &s->database : &s->whole;
    if (status || !*last)
        return status; /* told before; or no key, so no file */
    put_missing(run, *last);
    if (s->database && s->whole)
        status = write_out(run, &s->whole);
    return status ? status : write_out(run, last);
}

static void sqlite_close_stage(mill_run *run, void *state) {
    (void)run;
    sqlite_state *s = state;
    g_clear_pointer(&s->database, database_destroy);
    g_clear_pointer(&s->whole, database_destroy);
    g_clear_pointer(&s->failed, g_free);
    g_clear_pointer(&s->path, g_free);
}

static const mill_port sqlite_inputs[] = {
    {.name = "trace",
     .type = MILL_TYPE_TRACE,
     .help = "profiles to write",
     .flags = MILL_PORT_STREAM | MILL_PORT_OPTIONAL},
    {.name = "report",
     .type = MILL_TYPE_REPORT,
     .help = "reports to write",
     .flags = MILL_PORT_STREAM | MILL_PORT_OPTIONAL},
    {.name = "schedule",
     .type = MILL_TYPE_SCHEDULE,
     .help = "pipeline schedules to write",
     .flags = MILL_PORT_STREAM | MILL_PORT_OPTIONAL},
    {0},
};

static const mill_option sqlite_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM | MILL_OPT_REQUIRED,
     .offset = MILL_OPT_OFF(sqlite_options, path, PATH),
     .help = "The database to write, - for standard output. With ${item} each key has one."},
    KIT_EXPORT_OPTIONS(sqlite_options, overwrite),
    {0},
};

static const mill_stage sqlite_write = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "sqlite.write",
    .summary = "Writes profiles, reports and schedules as an SQLite database",
    .help = "A database with keys and indexes for questions in SQL: each table of a profile, "
            "figures, tables, findings, lanes and series of reports, operations of schedules. "
            "Times are whole nanoseconds, unknown is NULL.",
    .inputs = sqlite_inputs,
    .options = sqlite_option_table,
    .options_size = sizeof(sqlite_options),
    .state_size = sizeof(sqlite_state),
    .open = sqlite_open_stage,
    .run = sqlite_run,
    .finish = sqlite_finish,
    .close = sqlite_close_stage,
};

static const mill_stage *const sqlite_stages[] = {&sqlite_write, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.sqlite",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Profiles, reports and schedules as an SQLite database",
    .built_with = MILL_BUILT_WITH,
    .stages = sqlite_stages,
};
