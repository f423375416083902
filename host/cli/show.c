/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as text and JSON: for `check --print`, `run --dry-run` and `graph`. */
#include "cli/show.h"

#include <string.h>

#include "config/visible.h"

#define COMMENT_COLUMN 40
#define MAX_FILES 8 /* named in text; JSON has all */

/* ---------------------------------------------------------------- settings with their origin */

static char *origin_of(const setting *set) {
    if (set == NULL)
        return g_strdup("default");
    GString *text = g_string_new(NULL);
    for (const setting *s = set; s != NULL; s = s->overrides) {
        g_autofree char *written = origin_format(s->at), *at = visible(written);
        g_string_append_printf(text, "%s%s", s == set ? "" : ", over ", at);
    }
    return g_string_free(text, FALSE);
}

/* Appends a line so that it is read as it stands: a blank and ';' begin a comment even in quotes,
 * but not with something between them. Names of files may hold what no line of a file may. */
static void append_line(GString *page, const char *line) {
    g_autofree char *valid = g_utf8_make_valid(line, -1);
    for (char *c = valid; *c != '\0'; c++)
        if (g_ascii_iscntrl(*c) && *c != '\t')
            *c = '?';
    g_autoptr(GString) text = g_string_new(valid);
    g_string_replace(text, " ;", " ${:-;}", 0);
    g_string_replace(text, "\t;", "\t${:-;}", 0);
    g_string_append(page, text->str);
}

/* Appends an item on a line of its own, in quotes if it looks like a comment, a section or a key.
 */
static void append_item(GString *page, const char *item) {
    bool quoted = *item != '"' && (strchr(";#[", *item) != NULL || strchr(item, '=') != NULL);
    g_auto(GStrv) parts = g_strsplit(item, "\"", -1);
    g_autofree char *inside = g_strjoinv(quoted ? "\"\"" : "\"", parts);
    g_autofree char *line = g_strdup_printf(quoted ? "    \"%s\"" : "    %s", inside);
    append_line(page, line);
    g_string_append_c(page, '\n');
}

/* A value of several lines goes below its key. */
static void append_setting(GString *page, const char *key, const char *value, const char *from) {
    g_auto(GStrv) items = g_strsplit(value, "\n", -1);
    bool below = items[0] != NULL && items[1] != NULL, empty = *value == '\0';
    g_autofree char *line =
        below || empty ? g_strdup_printf("%s =", key) : g_strdup_printf("%s = %s", key, value);
    gsize begin = page->len;
    append_line(page, line);
    gsize width = (gsize)g_utf8_strlen(page->str + begin, -1);
    g_string_append_printf(page, "%*s ; %s\n", (int)MAX(COMMENT_COLUMN - (int)width, 0), "", from);
    for (char **item = items; below && *item != NULL; item++)
        append_item(page, *item);
}

/* The items of a setting as they would be written without variables. The check has passed it. */
static char *expanded(const plan *p, const setting *set, unsigned flags) {
    static const mill_option written = {.type = MILL_OPT_LIST, .elem = MILL_OPT_STR};
    g_autoptr(problems) none = problems_create();
    g_autoptr(GPtrArray) items = vars_expand(p->vars, set, ITEMS_COMMAS, flags, none);
    g_autoptr(GPtrArray) texts = g_ptr_array_new();
    for (guint i = 0; items != NULL && i < items->len; i++)
        g_ptr_array_add(texts, ((value_item *)g_ptr_array_index(items, i))->text);
    mill_list list = {texts->pdata, texts->len};
    return values_format(&written, &list);
}

/* Of files, the patterns: those that match today may have other keys when they are named. */
static char *option_text(const plan *p, const plan_stage *s, size_t i, const setting *set) {
    const mill_option *o = &s->cls->options[i];
    const setting fallback = {.section = s->name, .key = o->name, .value = o->def, .at = s->at};
    return o->flags & MILL_OPT_GLOB ? expanded(p, set != NULL ? set : &fallback, values_vars(o))
                                    : values_format(o, s->opts);
}

typedef void (*setting_fn)(void *arg, const char *key, const char *value, const char *from);

/* use, in and run.* first, then every option in the class's order. */
static void each_setting(const plan *p, const plan_stage *s, setting_fn fn, void *arg) {
    const section *sec = document_section(p->doc, s->name);
    for (guint i = 0; i < sec->settings->len; i++) {
        const setting *set = g_ptr_array_index(sec->settings, i);
        if (stage_class_option(s->cls, set->key) != NULL)
            continue;
        g_autofree char *value = expanded(p, set, 0), *from = origin_of(set);
        fn(arg, set->key, value, from);
    }
    for (size_t i = 0; i < s->cls->n_options; i++) {
        const mill_option *o = &s->cls->options[i];
        const setting *set = section_get(sec, o->name);
        if (set == NULL && o->def == NULL)
            continue; /* not set, and nothing stands in */
        g_autofree char *value = option_text(p, s, i, set), *from = origin_of(set);
        fn(arg, o->name, value, from);
    }
}

/* The settings of [pipeline]; what it includes is there already. */
static void each_pipeline_setting(const plan *p, setting_fn fn, void *arg) {
    static const mill_option name = {
        .name = "name", .type = MILL_OPT_STR, .offset = offsetof(plan, name)};
    const section *sec = document_section(p->doc, DOCUMENT_PIPELINE);
    g_autofree char *text = values_format(&name, p);
    g_autofree char *from = origin_of(sec != NULL ? section_get(sec, name.name) : NULL);
    fn(arg, name.name, text, from);
    g_autofree char *also = origin_of(sec != NULL ? section_get(sec, "on-error") : NULL);
    fn(arg, "on-error", p->stop_on_error ? "stop" : "continue", also);
}

static void setting_line(void *arg, const char *key, const char *value, const char *from) {
    append_setting(arg, key, value, from);
}

GString *show_settings(const plan *p) {
    GString *page = g_string_new(NULL);
    g_autofree char *path = visible(p->path);
    g_string_append_printf(page, "; from %s\n\n[" DOCUMENT_PIPELINE "]\n", path);
    each_pipeline_setting(p, setting_line, page);
    for (guint i = 0; i < p->stages->len; i++) {
        const plan_stage *s = g_ptr_array_index(p->stages, i);
        g_string_append_printf(page, "\n[%s]\n", s->name);
        each_setting(p, s, setting_line, page);
    }
    return page;
}

static void setting_object(void *arg, const char *key, const char *value, const char *from) {
    cJSON *object = cJSON_AddObjectToObject(arg, key);
    cJSON_AddStringToObject(object, "value", value);
    cJSON_AddStringToObject(object, "origin", from);
}

cJSON *show_settings_json(const plan *p) {
    cJSON *all = cJSON_CreateObject();
    each_pipeline_setting(p, setting_object, cJSON_AddObjectToObject(all, DOCUMENT_PIPELINE));
    for (guint i = 0; i < p->stages->len; i++) {
        const plan_stage *s = g_ptr_array_index(p->stages, i);
        each_setting(p, s, setting_object, cJSON_AddObjectToObject(all, s->name));
    }
    return all;
}

/* ---------------------------------------------------------------- steps */

static char *source_name(const plan_source *source) {
    const stage_class *cls = source->stage->cls;
    return cls->n_outputs == 1
               ? g_strdup(source->stage->name)
               : g_strdup_printf("%s.%s", source->stage->name, cls->outputs[source->output].name);
}

static void append_sources(GString *page, const plan_stage *s) {
    bool any = false;
    for (size_t p = 0; p < s->cls->n_inputs; p++)
        for (guint i = 0; i < s->inputs[p].sources->len; i++) {
            g_autofree char *name =
                source_name(&g_array_index(s->inputs[p].sources, plan_source, i));
            g_string_append_printf(page, "%s%s", any ? ", " : " <- ", name);
            any = true;
        }
}

static void append_files(GString *page, const plan_stage *s) {
    for (guint i = 0; s->files != NULL && i < s->files->len; i++) {
        const globs_file *file = g_ptr_array_index(s->files, i);
        if (i == MAX_FILES && s->files->len > MAX_FILES + 1) {
            g_string_append_printf(page, "      … and %u more\n", s->files->len - i);
            return;
        }
        g_autofree char *path = visible(file->path), *key = problems_quote(file->key);
        g_string_append_printf(page, "      %s  (key %s)\n", path, key);
    }
}

GString *show_steps(const plan *p) {
    GString *page = g_string_new(NULL);
    for (guint i = 0; i < p->ordered->len; i++) {
        const plan_stage *s = g_ptr_array_index(p->ordered, i);
        g_string_append_printf(page, "%3u. %s (%s)", i + 1, s->name, s->cls->stage.name);
        append_sources(page, s);
        if (s->keyed)
            g_string_append_printf(page, ", %u item%s", s->keys->len, s->keys->len == 1 ? "" : "s");
        else if (s->stream)
            g_string_append(page, ", item by item");
        g_string_append_c(page, '\n');
        append_files(page, s);
    }
    return page;
}

static cJSON *step_json(const plan_stage *s) {
    cJSON *step = cJSON_CreateObject();
    cJSON_AddStringToObject(step, "stage", s->name);
    cJSON_AddStringToObject(step, "class", s->cls->stage.name);
    cJSON *inputs = cJSON_AddObjectToObject(step, "inputs");
    for (size_t p = 0; p < s->cls->n_inputs; p++) {
        cJSON *port = cJSON_AddArrayToObject(inputs, s->cls->inputs[p].name);
        for (guint i = 0; i < s->inputs[p].sources->len; i++) {
            g_autofree char *name =
                source_name(&g_array_index(s->inputs[p].sources, plan_source, i));
            cJSON_AddItemToArray(port, cJSON_CreateString(name));
        }
    }
    cJSON_AddBoolToObject(step, "keyed", s->keyed);
    cJSON *keys = cJSON_AddArrayToObject(step, "keys");
    for (guint i = 0; s->keyed && i < s->keys->len; i++)
        cJSON_AddItemToArray(keys, cJSON_CreateString(g_ptr_array_index(s->keys, i)));
    cJSON *files = cJSON_AddArrayToObject(step, "files");
    for (guint i = 0; s->files != NULL && i < s->files->len; i++)
        cJSON_AddItemToArray(
            files, cJSON_CreateString(((globs_file *)g_ptr_array_index(s->files, i))->path));
    return step;
}

cJSON *show_steps_json(const plan *p) {
    cJSON *steps = cJSON_CreateArray();
    for (guint i = 0; i < p->ordered->len; i++)
        cJSON_AddItemToArray(steps, step_json(g_ptr_array_index(p->ordered, i)));
    return steps;
}

/* ---------------------------------------------------------------- graphs */

typedef void (*edge_fn)(GString *page, const plan_source *from, const plan_stage *to, size_t port);

static void each_edge(const plan *p, GString *page, edge_fn fn) {
    for (guint i = 0; i < p->stages->len; i++) {
        const plan_stage *s = g_ptr_array_index(p->stages, i);
        for (size_t port = 0; port < s->cls->n_inputs; port++)
            for (guint k = 0; k < s->inputs[port].sources->len; k++)
                fn(page, &g_array_index(s->inputs[port].sources, plan_source, k), s, port);
    }
}

static const char *edge_type(const plan_source *from) {
    return from->stage->cls->outputs[from->output].type;
}

/* What flows along an edge: its type, and whether there is an item for each key. */
static char *edge_label(const plan_source *from) {
    bool keyed = from->stage->keyed || from->stage->dynamic;
    return g_strdup_printf("%s%s", edge_type(from), keyed ? " per key" : "");
}

static void dot_edge(GString *page, const plan_source *from, const plan_stage *to, size_t port) {
    g_autofree char *label = edge_label(from);
    (void)port;
    g_string_append_printf(page, "  \"%s\" -> \"%s\" [label=\"%s\"];\n", from->stage->name,
                           to->name, label);
}

GString *show_dot(const plan *p) {
    GString *page = g_string_new("digraph pipeline {\n  rankdir=LR;\n  node [shape=box];\n");
    for (guint i = 0; i < p->stages->len; i++) {
        const plan_stage *s = g_ptr_array_index(p->stages, i);
        g_string_append_printf(page, "  \"%s\" [label=\"%s\\n%s\"];\n", s->name, s->name,
                               s->cls->stage.name);
    }
    each_edge(p, page, dot_edge);
    g_string_append(page, "}\n");
    return page;
}

static void mermaid_edge(GString *page, const plan_source *from, const plan_stage *to,
                         size_t port) {
    g_autofree char *label = edge_label(from);
    (void)port;
    g_string_append_printf(page, "  s%u -- \"%s\" --> s%u\n", from->stage->index, label, to->index);
}

GString *show_mermaid(const plan *p) {
    GString *page = g_string_new("flowchart LR\n");
    for (guint i = 0; i < p->stages->len; i++) {
        const plan_stage *s = g_ptr_array_index(p->stages, i);
        g_string_append_printf(page, "  s%u[\"%s<br/>%s\"]\n", s->index, s->name,
                               s->cls->stage.name);
    }
    each_edge(p, page, mermaid_edge);
    return page;
}
