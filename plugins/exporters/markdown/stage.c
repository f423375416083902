/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.markdown: the stage class markdown.write, reports for pull requests and job
 * summaries. */
#include "inline.h"
#include "page.h"

#include <string.h>
#include <tracemill/kit/export.h>

enum { PORT_REPORT };

typedef struct markdown_options {
    const char *path;
    int64_t rows;
    bool overwrite;
} markdown_options;

typedef struct markdown_state {
    GHashTable *begun; /* of each path written to, its key; NULL: it takes all */
    char *path;        /* as written in the pipeline, ${item} and all */
} markdown_state;

static mill_status markdown_open(mill_run *run, const void *opts, void *state) {
    (void)run;
    markdown_state *s = state;
    s->begun = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    s->path = g_strdup(((const markdown_options *)opts)->path);
    return MILL_OK;
}

static mill_status append(mill_run *run, const char *path, bool overwrite, const GString *page) {
    mill_sink *sink;
    mill_status status = kit_export_open(run, path, overwrite, &sink);
    return status ? status : sink->write(sink, page->str, page->len);
}

static mill_status markdown_run(mill_run *run, const void *opts, void *state) {
    const markdown_options *o = opts;
    markdown_state *s = state;
    g_autoptr(GString) page = g_string_new(g_hash_table_contains(s->begun, o->path) ? "\n" : "");
    const char *key = run->host->input_key(run, PORT_REPORT, 0);
    markdown_page(page, mill_input(run, PORT_REPORT, 0), key, (uint64_t)o->rows);
    mill_status status = append(run, o->path, o->overwrite, page);
    if (!status)
        g_hash_table_insert(s->begun, g_strdup(o->path),
                            strstr(s->path, "${item}") ? g_strdup(key) : NULL);
    return status;
}

/* A warning for each report of this key that is not there because what makes it failed. */
static GString *missing_text(mill_run *run, const char *key) {
    GString *page = g_string_new(NULL);
    const char *stage, *missed;
    for (size_t i = 0; kit_export_next_missing(run, PORT_REPORT, key, &i, &stage, &missed);) {
        g_string_append(page,
                        page->len ? "> - no report from " : "> [!WARNING]\n> - no report from ");
        markdown_text(page, stage, false);
        g_string_append(page, *missed ? " for " : "");
        markdown_text(page, missed, false);
        g_string_append(page, ": what makes it failed\n");
    }
    return page;
}

static mill_status markdown_finish(mill_run *run, const void *opts, void *state) {
    const markdown_options *o = opts;
    markdown_state *s = state;
    if (g_hash_table_size(s->begun) == 0 && !strstr(s->path, "${item}")) {
        g_autoptr(GString) missing = missing_text(run, NULL);
        g_string_prepend(missing, missing->len ? "No reports.\n\n" : "No reports.\n");
        return append(run, s->path, o->overwrite, missing);
    }
    mill_status status = MILL_OK;
    GHashTableIter paths;
    gpointer path, key;
    g_hash_table_iter_init(&paths, s->begun);
    while (!status && g_hash_table_iter_next(&paths, &path, &key)) {
        g_autoptr(GString) missing = missing_text(run, key);
        if (missing->len == 0)
            continue;
        g_string_prepend_c(missing, '\n');
        status = append(run, path, o->overwrite, missing);
    }
    return status;
}

static void markdown_close(mill_run *run, void *state) {
    (void)run;
    markdown_state *s = state;
    g_clear_pointer(&s->begun, g_hash_table_unref);
    g_clear_pointer(&s->path, g_free);
}

static const mill_port markdown_inputs[] = {
    {.name = "report",
     .type = MILL_TYPE_REPORT,
     .help = "the reports to write, one after another",
     .flags = MILL_PORT_STREAM},
    {0},
};

static const mill_option markdown_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(markdown_options, path, PATH),
     .def = "-",
     .help = "The file to write, - for standard output. With ${item} each key has a file."},
    {.name = "rows",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(markdown_options, rows, INT),
     .def = "30",
     .min = 1,
     .max = 1e9,
     .help = "Show so many figures, findings, and rows of a table at most, and say how many more "
             "there are."},
    KIT_EXPORT_OPTIONS(markdown_options, overwrite),
    {0},
};

static const mill_stage markdown_write = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "markdown.write",
    .summary = "Writes reports as Markdown for pull requests and job summaries",
    .help = "GitHub-flavoured: tables, and alerts for notes. Text of a profile is shown as it is: "
            "words that could be markup, HTML, links or mentions become code spans, text over 80 "
            "characters in a table is shortened in the middle, control characters are shown "
            "escaped.",
    .inputs = markdown_inputs,
    .options = markdown_option_table,
    .options_size = sizeof(markdown_options),
    .state_size = sizeof(markdown_state),
    .open = markdown_open,
    .run = markdown_run,
    .finish = markdown_finish,
    .close = markdown_close,
};

static const mill_stage *const markdown_stages[] = {&markdown_write, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.markdown",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Reports as Markdown",
    .built_with = MILL_BUILT_WITH,
    .stages = markdown_stages,
};
