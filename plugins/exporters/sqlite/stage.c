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
    bool begun;         /* there was one */
    bool failed;        /* something is not in it that should be: it must not be written */
} sqlite_state;

static mill_status sqlite_open_stage(mill_run *run, const void *opts, void *state) {
    (void)run;
    ((sqlite_state *)state)->path = g_strdup(((const sqlite_options *)opts)->path);
    return MILL_OK;
}

/* What is missing is known at the end only, so it stands in the last database. */
static mill_status write_out(mill_run *run, sqlite_state *s) {
    mill_sink *sink;
    mill_status status = run->host->sink_open(run, s->database->path, &sink);
    if (!status)
        status = database_write(s->database, run, sink);
    g_clear_pointer(&s->database, database_destroy);
    return status;
}

/* The sink is opened first: it refuses a path that can't be written, and makes the folder. */
static mill_status begin(mill_run *run, const sqlite_options *o, const char *path,
                         sqlite_state *s) {
    mill_sink *sink;
    mill_status status = kit_export_open(run, path, o->overwrite, &sink);
    if (!status)
        status = database_create(run, path, &s->database);
    s->begun = true;
    return status;
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

static mill_status sqlite_run(mill_run *run, const void *opts, void *state) {
    const sqlite_options *o = opts;
    sqlite_state *s = state;
    mill_status status = MILL_OK;
    if (s->failed)
        return mill_fail(run, MILL_E_IO, "%s: an item before could not be written", o->path);
    if (s->database && strcmp(s->database->path, o->path) != 0)
        status = write_out(run, s);
    if (!status && !s->database)
        status = begin(run, o, o->path, s);
    if (!status) {
        s->database->run = run;
        status = write_item(run, s->database);
    }
    s->failed = status;
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

static mill_status sqlite_finish(mill_run *run, const void *opts, void *state) {
    sqlite_state *s = state;
    mill_status status = MILL_OK;
    if (s->failed || (!s->begun && strstr(s->path, "${item}")))
        return MILL_OK; /* told before; or no key, so no file */
    if (!s->begun)
        status = begin(run, opts, s->path, s);
    if (status)
        return status;
    put_missing(run, s->database);
    return write_out(run, s);
}

static void sqlite_close_stage(mill_run *run, void *state) {
    (void)run;
    sqlite_state *s = state;
    g_clear_pointer(&s->database, database_destroy);
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
