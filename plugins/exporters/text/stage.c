/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.text: the stage class text.write, reports as pages for people. */
#include "page.h"
#include "render.h"

#include <string.h>
#include <tracemill/kit/export.h>
#include <tracemill/report.h>

enum { PORT_REPORT };

typedef struct text_options {
    const char *path;
    int64_t width;
    bool definitions, overwrite;
} text_options;

typedef struct text_state {
    GHashTable *begun; /* of each path written to, its key; NULL: it takes all */
    char *path;        /* as written in the pipeline, ${item} and all */
} text_state;

static mill_status text_open(mill_run *run, const void *opts, void *state) {
    (void)run;
    text_state *s = state;
    s->begun = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    s->path = g_strdup(((const text_options *)opts)->path);
    return MILL_OK;
}

static mill_status text_append(mill_run *run, const char *path, bool overwrite,
                               const GString *page) {
    mill_sink *sink;
    mill_status status = kit_export_open(run, path, overwrite, &sink);
    return status ? status : sink->write(sink, page->str, page->len);
}

static mill_status text_run(mill_run *run, const void *opts, void *state) {
    const text_options *o = opts;
    text_state *s = state;
    g_autoptr(GString) page = g_string_new(g_hash_table_contains(s->begun, o->path) ? "\n\n" : "");
    const char *key = run->host->input_key(run, PORT_REPORT, 0);
    text_render(page, mill_input(run, PORT_REPORT, 0), key, (size_t)o->width, o->definitions);
    g_hash_table_insert(s->begun, g_strdup(o->path),
                        strstr(s->path, "${item}") ? g_strdup(key) : NULL);
    return text_append(run, o->path, o->overwrite, page);
}

/* A warning for each report of this key that is not there because what makes it failed. */
static GString *missing_text(mill_run *run, const char *key, size_t width) {
    GString *page = g_string_new(NULL);
    const char *stage, *missed;
    for (size_t i = 0; kit_export_next_missing(run, PORT_REPORT, key, &i, &stage, &missed);) {
        g_autofree char *line = g_strdup_printf("no report from %s%s%s: what makes it failed",
                                                stage, *missed ? " for " : "", missed);
        g_autofree char *clean = text_clean(line);
        text_paragraph(page, "warning: ", clean, width);
    }
    return page;
}

static mill_status text_finish(mill_run *run, const void *opts, void *state) {
    const text_options *o = opts;
    text_state *s = state;
    bool none = g_hash_table_size(s->begun) == 0;
    if (none && !strstr(s->path, "${item}")) {
        g_autoptr(GString) missing = missing_text(run, NULL, (size_t)o->width);
        g_string_prepend(missing, "no reports\n");
        return text_append(run, s->path, o->overwrite, missing);
    }
    mill_status status = MILL_OK;
    GHashTableIter paths;
    gpointer path, key;
    g_hash_table_iter_init(&paths, s->begun);
    while (!status && g_hash_table_iter_next(&paths, &path, &key)) {
        g_autoptr(GString) missing = missing_text(run, key, (size_t)o->width);
        if (missing->len == 0)
            continue;
        g_string_prepend_c(missing, '\n');
        status = text_append(run, path, o->overwrite, missing);
    }
    return status;
}

static void text_close(mill_run *run, void *state) {
    (void)run;
    text_state *s = state;
    g_clear_pointer(&s->begun, g_hash_table_unref);
    g_clear_pointer(&s->path, g_free);
}

static const mill_port text_inputs[] = {
    {.name = "report",
     .type = MILL_TYPE_REPORT,
     .help = "the reports to write, one after another",
     .flags = MILL_PORT_STREAM},
    {0},
};

static const mill_option text_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(text_options, path, PATH),
     .def = "-",
     .help = "The file to write, - for standard output. With ${item} each key has a file."},
    {.name = "width",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(text_options, width, INT),
     .def = "80",
     .min = 40,
     .max = 1000,
     .unit = "columns",
     .help = "How wide the page is."},
    {.name = "definitions",
     .type = MILL_OPT_BOOL,
     .offset = MILL_OPT_OFF(text_options, definitions, BOOL),
     .def = "no",
     .help = "Also print what each figure and column means."},
    KIT_EXPORT_OPTIONS(text_options, overwrite),
    {0},
};

static const mill_stage text_write = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "text.write",
    .summary = "Writes reports as text for people",
    .help = "Figures and tables stand in columns with their units, at most `width` wide. Text that "
            "is too long for its column is shortened in the middle; a table that is too wide "
            "shows whole µs and says so, or goes on in a further block of columns. Control "
            "characters in names are shown escaped.",
    .inputs = text_inputs,
    .options = text_option_table,
    .options_size = sizeof(text_options),
    .state_size = sizeof(text_state),
    .open = text_open,
    .run = text_run,
    .finish = text_finish,
    .close = text_close,
};

static const mill_stage *const text_stages[] = {&text_write, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.text",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Reports as text for people",
    .built_with = MILL_BUILT_WITH,
    .stages = text_stages,
};
