/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.metrics: the stage class metrics.write, figures for dashboards. */
#include "families.h"

#include <string.h>

enum { PORT_REPORT };

typedef struct metrics_options {
    const char *path;
    bool overwrite;
} metrics_options;

typedef struct metrics_state {
    GHashTable *files; /* path to metrics_set */
    char *path;        /* as written in the pipeline, ${item} and all */
} metrics_state;

static void set_free(void *data) {
    metrics_set_destroy(data);
}

static mill_status metrics_open(mill_run *run, const void *opts, void *state) {
    (void)run;
    metrics_state *s = state;
    s->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, set_free);
    s->path = g_strdup(((const metrics_options *)opts)->path);
    return MILL_OK;
}

static metrics_set *set_of(metrics_state *s, const char *path, const char *key) {
    metrics_set *set = g_hash_table_lookup(s->files, path);
    if (!set) {
        set = metrics_set_create(strstr(s->path, "${item}") ? key : NULL);
        g_hash_table_insert(s->files, g_strdup(path), set);
    }
    return set;
}

static mill_status metrics_run(mill_run *run, const void *opts, void *state) {
    const char *key = run->host->input_key(run, PORT_REPORT, 0);
    metrics_set_add(set_of(state, ((const metrics_options *)opts)->path, key),
                    mill_input(run, PORT_REPORT, 0), run->host->input_stage(run, PORT_REPORT, 0),
                    key);
    return MILL_OK;
}

static uint64_t count_missing(mill_run *run, const char *key) {
    const char *stage, *missed;
    uint64_t n = 0;
    for (size_t i = 0; kit_export_next_missing(run, PORT_REPORT, key, &i, &stage, &missed);)
        n++;
    return n;
}

/* A file is there also where nothing came: that is a figure, too. */
static mill_status metrics_finish(mill_run *run, const void *opts, void *state) {
    const metrics_options *o = opts;
    metrics_state *s = state;
    if (g_hash_table_size(s->files) == 0 && !strstr(s->path, "${item}"))
        set_of(s, s->path, NULL);
    mill_status status = MILL_OK;
    GHashTableIter files;
    gpointer path, set;
    g_hash_table_iter_init(&files, s->files);
    while (!status && g_hash_table_iter_next(&files, &path, &set)) {
        kit_export out;
        status = kit_export_init(&out, run, path, o->overwrite);
        if (status)
            return status;
        metrics_set_write(set, count_missing(run, metrics_set_item(set)), &out);
        status = kit_export_finish(&out);
    }
    return status;
}

static void metrics_close(mill_run *run, void *state) {
    (void)run;
    metrics_state *s = state;
    g_clear_pointer(&s->files, g_hash_table_unref);
    g_clear_pointer(&s->path, g_free);
}

static const mill_port metrics_inputs[] = {
    {.name = "report",
     .type = MILL_TYPE_REPORT,
     .help = "the reports whose figures to write",
     .flags = MILL_PORT_STREAM},
    {0},
};

static const mill_option metrics_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(metrics_options, path, PATH),
     .def = "-",
     .help = "The file to write, - for standard output; node_exporter wants the ending .prom. With "
             "${item} each key has a file."},
    KIT_EXPORT_OPTIONS(metrics_options, overwrite),
    {0},
};

static const mill_stage metrics_write = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "metrics.write",
    .summary = "Writes figures as OpenMetrics text for dashboards",
    .help = "A gauge for each figure of the reports, in base units: seconds, bytes, ratios. What "
            "is not known, or is no number, is left out and counted. node_exporter's textfile "
            "collector takes the file, so that batch jobs feed dashboards.",
    .inputs = metrics_inputs,
    .options = metrics_option_table,
    .options_size = sizeof(metrics_options),
    .state_size = sizeof(metrics_state),
    .open = metrics_open,
    .run = metrics_run,
    .finish = metrics_finish,
    .close = metrics_close,
};

static const mill_stage *const metrics_stages[] = {&metrics_write, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.metrics",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Figures as OpenMetrics text",
    .built_with = MILL_BUILT_WITH,
    .stages = metrics_stages,
};
