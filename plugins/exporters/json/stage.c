/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.json: the stage class json.write, reports for scripts. */
#include "document.h"

#include <string.h>
#include <tracemill/kit/export.h>

enum { PORT_REPORT };

typedef struct json_options {
    const char *path;
    bool indent, lines, overwrite;
} json_options;

typedef struct json_state {
    GHashTable *begun; /* of each path whose document has begun, its key; NULL: it takes all */
    char *path;        /* as written in the pipeline, ${item} and all */
} json_state;

static mill_status json_check(mill_run *run, const void *opts) {
    const json_options *o = opts;
    if (o->lines && o->indent && mill_option_given(run, "indent"))
        return mill_fail(run, MILL_E_CONFIG,
                         "lines = yes puts each report on one line and indent = yes on several: "
                         "leave one of them out");
    return MILL_OK;
}

static mill_status json_open_stage(mill_run *run, const void *opts, void *state) {
    (void)run;
    json_state *s = state;
    s->begun = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    s->path = g_strdup(((const json_options *)opts)->path);
    return MILL_OK;
}

/* Goes on with a document where its last part ended, or begins it. */
static mill_status resume(mill_run *run, const json_options *o, GHashTable *begun, const char *path,
                          json_writer *w) {
    mill_sink *sink;
    mill_status status = kit_export_open(run, path, o->overwrite, &sink);
    if (status)
        return status;
    bool fresh = !g_hash_table_contains(begun, path);
    json_writer_begin(w, sink, o->indent && !o->lines, fresh || o->lines ? 0 : JSON_DEPTH,
                      fresh || o->lines);
    if (fresh && !o->lines) {
        json_open(w, NULL, '{');
        json_put(w, "schema", json_text(JSON_SCHEMA));
        json_open(w, "reports", '[');
    }
    return MILL_OK;
}

static mill_status json_run(mill_run *run, const void *opts, void *state) {
    const json_options *o = opts;
    json_state *s = state;
    json_writer w;
    mill_status status = resume(run, o, s->begun, o->path, &w);
    if (status)
        return status;
    const char *key = run->host->input_key(run, PORT_REPORT, 0);
    g_hash_table_insert(s->begun, g_strdup(o->path),
                        strstr(s->path, "${item}") ? g_strdup(key) : NULL);
    json_origin origin = {key, run->host->input_stage(run, PORT_REPORT, 0),
                          run->host->input_type(run, PORT_REPORT, 0)};
    json_report(&w, mill_input(run, PORT_REPORT, 0), &origin, o->lines);
    if (o->lines)
        json_end_line(&w);
    return json_writer_end(&w);
}

static void put_missing(mill_run *run, const char *key, json_writer *w) {
    const char *stage, *missed;
    json_open(w, "missing", '[');
    for (size_t i = 0; kit_export_next_missing(run, PORT_REPORT, key, &i, &stage, &missed);) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToObjectCS(object, "stage", json_text(stage));
        cJSON_AddItemToObjectCS(object, "key", json_text(missed));
        json_put(w, NULL, object);
    }
    json_close(w, ']');
}

/* Says what is missing, and ends the document. JSON Lines need no end: there it is a line of its
 * own, where something is. */
static mill_status end_document(mill_run *run, const json_options *o, GHashTable *begun,
                                const char *path, const char *key) {
    const char *stage, *missed;
    size_t first = 0;
    json_writer w;
    mill_status status = resume(run, o, begun, path, &w);
    if (status)
        return status;
    if (o->lines && !kit_export_next_missing(run, PORT_REPORT, key, &first, &stage, &missed))
        return json_writer_end(&w);
    if (o->lines) {
        json_open(&w, NULL, '{');
        json_put(&w, "schema", json_text(JSON_SCHEMA));
    } else {
        json_close(&w, ']');
    }
    put_missing(run, key, &w);
    json_close(&w, '}');
    json_end_line(&w);
    return json_writer_end(&w);
}

static mill_status json_finish(mill_run *run, const void *opts, void *state) {
    const json_options *o = opts;
    json_state *s = state;
    if (g_hash_table_size(s->begun) == 0 && strstr(s->path, "${item}"))
        return MILL_OK; /* no key, so no file to say it in */
    if (g_hash_table_size(s->begun) == 0)
        return end_document(run, o, s->begun, s->path, NULL);
    mill_status status = MILL_OK;
    GHashTableIter paths;
    gpointer path, key;
    g_hash_table_iter_init(&paths, s->begun);
    while (!status && g_hash_table_iter_next(&paths, &path, &key))
        status = end_document(run, o, s->begun, path, key);
    return status;
}

static void json_close_stage(mill_run *run, void *state) {
    (void)run;
    json_state *s = state;
    g_clear_pointer(&s->begun, g_hash_table_unref);
    g_clear_pointer(&s->path, g_free);
}

static const mill_port json_inputs[] = {
    {.name = "report",
     .type = MILL_TYPE_REPORT,
     .help = "the reports to write, one after another",
     .flags = MILL_PORT_STREAM},
    {0},
};

static const mill_option json_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(json_options, path, PATH),
     .def = "-",
     .help = "The file to write, - for standard output. With ${item} each key has a file."},
    {.name = "indent",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(json_options, indent, BOOL),
     .def = "yes",
     .help = "Lay the document out for reading."},
    {.name = "lines",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(json_options, lines, BOOL),
     .def = "no",
     .help = "One report a line (JSON Lines)."},
    KIT_EXPORT_OPTIONS(json_options, overwrite),
    {0},
};

static const mill_stage json_write = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "json.write",
    .summary = "Writes reports as JSON for scripts",
    .help = "One document of the schema " JSON_SCHEMA " with all reports, valid also when there "
            "are none. Whole numbers are exact, times are in nanoseconds, unknown is null.",
    .inputs = json_inputs,
    .options = json_option_table,
    .options_size = sizeof(json_options),
    .state_size = sizeof(json_state),
    .check = json_check,
    .open = json_open_stage,
    .run = json_run,
    .finish = json_finish,
    .close = json_close_stage,
};

static const mill_stage *const json_stages[] = {&json_write, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.json",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Reports as JSON for scripts",
    .built_with = MILL_BUILT_WITH,
    .stages = json_stages,
};
