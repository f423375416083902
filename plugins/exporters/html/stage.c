/* SPDX-License-Identifier: Apache-2.0 */
/* Module tracemill.html: the stage class html.write, reports as a page for a browser. */
#include "page.h"

#include <string.h>
#include <tracemill/kit/export.h>

enum { PORT_REPORT };

typedef struct html_options {
    const char *path, *title;
    int64_t rows, budget, gaps;
    bool overwrite;
} html_options;

/* The reports of one key are one part of a page, so they are kept until the next key comes. */
typedef struct html_state {
    GHashTable *pages; /* of each path written to: char * to one_page * */
    char *path;        /* as written in the pipeline, ${item} and all */
    char *at;          /* where the kept ones go */
    char *key;         /* of the kept ones */
    GArray *kept;      /* page_report, held */
} html_state;

typedef struct one_page {
    page *page;
    char *key; /* NULL: it takes all */
} one_page;

static void one_page_destroy(gpointer data) {
    one_page *p = data;
    page_destroy(p->page);
    g_free(p->key);
    g_free(p);
}

static mill_status html_open(mill_run *run, const void *opts, void *state) {
    (void)run;
    html_state *s = state;
    s->pages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, one_page_destroy);
    s->path = g_strdup(((const html_options *)opts)->path);
    s->kept = g_array_new(FALSE, FALSE, sizeof(page_report));
    return MILL_OK;
}

/* ---------------------------------------------------------------- writing */

static page_options options_of(const html_options *o) {
    return (page_options){.title = o->title && *o->title ? o->title : NULL,
                          .rows = (uint64_t)o->rows,
                          .budget = (uint64_t)o->budget,
                          .gaps = o->gaps};
}

static mill_status append(mill_run *run, const char *path, bool overwrite, const GString *text) {
    mill_sink *sink;
    mill_status status = kit_export_open(run, path, overwrite, &sink);
    return status ? status : sink->write(sink, text->str, text->len);
}

static page *page_of(html_state *s, const char *path, const char *key) {
    one_page *p = g_hash_table_lookup(s->pages, path);
    if (!p) {
        p = g_new(one_page, 1);
        *p = (one_page){page_create(), strstr(s->path, "${item}") ? g_strdup(key) : NULL};
        g_hash_table_insert(s->pages, g_strdup(path), p);
    }
    return p->page;
}

static void forget(mill_run *run, html_state *s) {
    for (guint i = 0; i < s->kept->len; i++)
        run->host->drop(run, g_array_index(s->kept, page_report, i).report);
    g_array_set_size(s->kept, 0);
}

/* Writes the part of the kept reports. */
static mill_status flush(mill_run *run, const html_options *o, html_state *s) {
    if (s->kept->len == 0)
        return MILL_OK;
    page_options options = options_of(o);
    g_autoptr(GString) text = g_string_new(NULL);
    page_item(page_of(s, s->at, s->key), text, &options, s->key,
              (const page_report *)(void *)s->kept->data, s->kept->len);
    forget(run, s);
    if (mill_cancelled(run))
        return MILL_E_CANCELLED;
    return append(run, s->at, o->overwrite, text);
}

/* ---------------------------------------------------------------- the stage */

static mill_status html_run(mill_run *run, const void *opts, void *state) {
    const html_options *o = opts;
    html_state *s = state;
    const char *key = run->host->input_key(run, PORT_REPORT, 0);
    const mill_report *report = mill_input(run, PORT_REPORT, 0);
    if (s->kept->len && (strcmp(key, s->key) != 0 || strcmp(o->path, s->at) != 0)) {
        mill_status status = flush(run, o, s);
        if (status)
            return status;
    }
    mill_status status = run->host->hold(run, report);
    if (status)
        return status;
    /* Names of stages and keys are the host's until the run ends; texts here are not. */
    page_report r = {report, g_intern_string(run->host->input_stage(run, PORT_REPORT, 0))};
    g_array_append_val(s->kept, r);
    g_free(s->at);
    g_free(s->key);
    s->at = g_strdup(o->path);
    s->key = g_strdup(key);
    return MILL_OK;
}

static void tell_missing(mill_run *run, const one_page *p) {
    const char *stage, *key;
    for (size_t i = 0; kit_export_next_missing(run, PORT_REPORT, p->key, &i, &stage, &key);)
        page_missing(p->page, stage, key);
}

static mill_status html_finish(mill_run *run, const void *opts, void *state) {
    const html_options *o = opts;
    html_state *s = state;
    page_options options = options_of(o);
    mill_status status = flush(run, o, s);
    if (!status && g_hash_table_size(s->pages) == 0 && !strstr(s->path, "${item}"))
        page_of(s, s->path, NULL);
    GHashTableIter pages;
    gpointer path, p;
    g_hash_table_iter_init(&pages, s->pages);
    while (!status && g_hash_table_iter_next(&pages, &path, &p)) {
        g_autoptr(GString) text = g_string_new(NULL);
        tell_missing(run, p);
        page_end(((one_page *)p)->page, text, &options);
        status = append(run, path, o->overwrite, text);
    }
    return status;
}

static void html_close(mill_run *run, void *state) {
    html_state *s = state;
    if (s->kept)
        forget(run, s);
    g_clear_pointer(&s->kept, g_array_unref);
    g_clear_pointer(&s->pages, g_hash_table_unref);
    g_clear_pointer(&s->path, g_free);
    g_clear_pointer(&s->at, g_free);
    g_clear_pointer(&s->key, g_free);
}

static const mill_port html_inputs[] = {
    {.name = "report",
     .type = MILL_TYPE_REPORT,
     .help = "the reports to write; those of one key stand together, in the order they come",
     .flags = MILL_PORT_STREAM},
    {0},
};

static const mill_option html_option_table[] = {
    {.name = "path",
     .type = MILL_OPT_PATH,
     .flags = MILL_OPT_ITEM,
     .offset = MILL_OPT_OFF(html_options, path, PATH),
     .def = "report.html",
     .help = "The file to write, - for standard output. With ${item} each key has a page of its "
             "own; without, one page has a part for each key."},
    {.name = "title",
     .type = MILL_OPT_STR,
     .offset = MILL_OPT_OFF(html_options, title, STR),
     .help = "What the page is called, as in a browser's tab; the file's name if not given."},
    {.name = "rows",
     .type = MILL_OPT_INT,
     .offset = MILL_OPT_OFF(html_options, rows, INT),
     .def = "20",
     .min = 1,
     .max = 1e9,
     .help =
         "Show so many findings, and rows of a table at most, and say how many more there are."},
    {.name = "budget",
     .type = MILL_OPT_BYTES,
     .offset = MILL_OPT_OFF(html_options, budget, BYTES),
     .def = "8MiB",
     .min = 4096,
     .max = 1e9,
     .help = "What the timelines of one item may take of the page; levels of detail that do not "
             "fit are left out, and the page says so."},
    {.name = "mark-gaps",
     .type = MILL_OPT_DURATION,
     .offset = MILL_OPT_OFF(html_options, gaps, DURATION),
     .def = "100us",
     .min = 0,
     .max = 1e18,
     .help = "Mark on the timeline the largest gaps of each stream that take at least this, with "
             "an arrow to what they waited for."},
    KIT_EXPORT_OPTIONS(html_options, overwrite),
    {0},
};

static const mill_stage html_write = {
    MILL_STAGE_HEAD,
    .flags = MILL_STAGE_SINGLE,
    .name = "html.write",
    .summary = "Writes reports as a page for a browser, with timelines and charts",
    .help = "One file that fetches nothing and can be read without JavaScript; with it, timelines "
            "pan and zoom. Lanes of reports that are about one profile share a timeline.",
    .inputs = html_inputs,
    .options = html_option_table,
    .options_size = sizeof(html_options),
    .state_size = sizeof(html_state),
    .open = html_open,
    .run = html_run,
    .finish = html_finish,
    .close = html_close,
};

static const mill_stage *const html_stages[] = {&html_write, NULL};

MILL_EXPORT const mill_module mill_module_v1 = {
    MILL_MODULE_HEAD,
    .id = "tracemill.html",
    .version = MODULE_VERSION,
    .license = "Apache-2.0",
    .author = "The Tracemill authors",
    .summary = "Reports as a page for a browser",
    .built_with = MILL_BUILT_WITH,
    .stages = html_stages,
};
