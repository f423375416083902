/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.csv: the stage class csv.write, reports as one CSV file a table. */
#include "parts.h"

#include <glib.h>
#include <string.h>

enum { PORT_REPORT };

typedef struct csv_options {
    const char *path;
    const char *table; /* NULL: all of them */
    bool overwrite;
} csv_options;

typedef struct csv_state {
    GHashTable *begun; /* the paths written to, with their headers: char * to char * */
    char *path;        /* as written in the pipeline, ${item} and all */
} csv_state;

static mill_status csv_check(mill_run *run, const void *opts) {
    const csv_options *o = opts;
    if (!o->table && strcmp(o->path, "-") == 0)
        return mill_fail(run, MILL_E_CONFIG,
                         "path = - is one file, and each table has a file of its own: say with "
                         "`table` which one to write, as in table = figures");
    return MILL_OK;
}

static mill_status csv_open(mill_run *run, const void *opts, void *state) {
    (void)run;
    csv_state *s = state;
    s->begun = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    s->path = g_strdup(((const csv_options *)opts)->path);
    return MILL_OK;
}

/* ---------------------------------------------------------------- files */

/* A table's file in the folder, or with its name before the ending: x.csv becomes x.figures.csv.
 * number: from 2 on for a table of the same name with other columns. */
static char *path_of(const char *path, const char *table, unsigned number) {
    bool pattern = g_str_has_suffix(path, ".csv");
    g_autofree char *stem = g_strndup(path, strlen(path) - (pattern ? strlen(".csv") : 0));
    g_autofree char *suffix = number > 1 ? g_strdup_printf("-%u", number) : g_strdup("");
    return g_strconcat(stem,
                       pattern                       ? "."
                       : g_str_has_suffix(stem, "/") ? ""
                                                     : "/",
                       table, suffix, ".csv", NULL);
}

/* The name of a report's own table, without what could lead out of the folder. */
static char *table_name(const mill_report *report, const mill_table *table) {
    char *name = g_strdup_printf("%s.%s", report->id, table->id);
    return g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-", '_');
}

/* Begins a table's file, or goes on with it. */
static mill_status open_rows(mill_run *run, const csv_options *o, const char *path,
                             GHashTable *begun, const char *table, const char *header,
                             csv_rows *ret_rows) {
    g_autofree char *file = o->table ? g_strdup(path) : path_of(path, table, 1);
    const char *has = g_hash_table_lookup(begun, file);
    for (unsigned k = 2; !o->table && has && strcmp(has, header) != 0; k++) {
        g_free(file);
        file = path_of(path, table, k);
        has = g_hash_table_lookup(begun, file);
    }
    if (has && strcmp(has, header) != 0)
        return mill_fail(run, MILL_E_DATA,
                         "%s has a table %s with other columns already; with ${item} in `path` "
                         "each key has a file of its own",
                         file, table);
    *ret_rows = (csv_rows){0};
    mill_status status = kit_export_init(&ret_rows->out, run, file, o->overwrite);
    if (status || has)
        return status;
    kit_export_text(&ret_rows->out, header);
    csv_end_row(ret_rows);
    g_hash_table_insert(begun, g_steal_pointer(&file), g_strdup(header));
    return MILL_OK;
}

static bool wanted(const csv_options *o, const char *table) {
    return !o->table || strcmp(o->table, table) == 0;
}

static mill_status write_part(mill_run *run, const csv_options *o, GHashTable *begun,
                              const csv_origin *origin, const csv_part *part,
                              const mill_report *report) {
    csv_rows rows;
    if (!wanted(o, part->name) || !part->count(report))
        return MILL_OK;
    mill_status status = open_rows(run, o, o->path, begun, part->name, part->header, &rows);
    if (status)
        return status;
    part->rows(&rows, origin, report);
    return kit_export_finish(&rows.out);
}

static mill_status write_table(mill_run *run, const csv_options *o, GHashTable *begun,
                               const csv_origin *origin, const mill_report *report,
                               const mill_table *table) {
    csv_rows rows;
    g_autofree char *name = table_name(report, table);
    if (!wanted(o, name) || !table->n_columns)
        return MILL_OK;
    g_autofree char *header = csv_table_header(table);
    mill_status status = open_rows(run, o, o->path, begun, name, header, &rows);
    if (status)
        return status;
    csv_table_rows(&rows, origin, table);
    return kit_export_finish(&rows.out);
}

/* ---------------------------------------------------------------- the stage */

static mill_status csv_run(mill_run *run, const void *opts, void *state) {
    const csv_options *o = opts;
    csv_state *s = state;
    const mill_report *report = mill_input(run, PORT_REPORT, 0);
    csv_origin origin = {run->host->input_key(run, PORT_REPORT, 0),
                         run->host->input_stage(run, PORT_REPORT, 0),
                         run->host->input_type(run, PORT_REPORT, 0)};
    mill_status status = MILL_OK;
    for (const csv_part *part = csv_parts; part->name && !status; part++)
        status = write_part(run, o, s->begun, &origin, part, report);
    for (uint64_t i = 0; i < report->n_tables && !status; i++)
        status = write_table(run, o, s->begun, &origin, report, report->tables[i]);
    return status;
}

/* A file is there also where nothing came: the list of reports, or the part that is wanted. */
static mill_status write_nothing(mill_run *run, const csv_options *o, const csv_state *s) {
    const csv_part *part = csv_parts;
    csv_rows rows;
    while (part->name && !wanted(o, part->name))
        part++;
    if (!part->name) {
        mill_log(run, MILL_WARNING,
                 "no report has a table %s, so nothing is written to %s; names of tables are "
                 "REPORT.TABLE, as those of the files without `table`",
                 o->table, s->path);
        return MILL_OK;
    }
    mill_status status = open_rows(run, o, s->path, s->begun, part->name, part->header, &rows);
    return status ? status : kit_export_finish(&rows.out);
}

static mill_status csv_finish(mill_run *run, const void *opts, void *state) {
    csv_state *s = state;
    kit_export_tell_missing(run, PORT_REPORT, "report");
    if (g_hash_table_size(s->begun) || strstr(s->path, "${item}"))
        return MILL_OK;
    return write_nothing(run, opts, s);
}

static void csv_close(mill_run *run, void *state) {
    (void)run;
    csv_state *s = state;
    g_clear_pointer(&s->begun, g_hash_table_unref);
    g_clear_pointer(&s->path, g_free);
}

static const mill_port csv_inputs[] = {
    {.name = "report",
     .type = MILL_TYPE_REPORT,
     .help = "the reports to write, one after another",
     .flags = MILL_PORT_STREAM},
    {0},
};

static const mill_option csv_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(csv_options, path, PATH),
     .def = "tables",
     .help = "The folder to write to, or x.csv for files x.TABLE.csv. With ${item} each key has "
             "files of its own. With `table`: the file, - for standard output."},
    {.name = "table",
     .type = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(csv_options, table, STR),
     .help = "Write this table alone: reports, figures, notes, findings, lanes, series, or "
             "REPORT.TABLE, as in overlap.kinds."},
    KIT_EXPORT_OPTIONS(csv_options, overwrite),
    {0},
};

static const mill_stage csv_write = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "csv.write",
    .summary = "Writes reports as CSV, one file a table",
    .help = "RFC 4180. The first line names the columns, with their units; the first two columns "
            "tell of which item a row is and which stage made it, so that the tables of many "
            "items are one. Times are whole nanoseconds; what is not known is empty.",
    .inputs = csv_inputs,
    .options = csv_option_table,
    .options_size = sizeof(csv_options),
    .state_size = sizeof(csv_state),
    .check = csv_check,
    .open = csv_open,
    .run = csv_run,
    .finish = csv_finish,
    .close = csv_close,
};

static const mill_stage *const csv_stages[] = {&csv_write, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.csv",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Reports as CSV",
    .built_with = MILL_BUILT_WITH,
    .stages = csv_stages,
};
