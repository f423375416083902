/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of a pipeline file with its includes into one document, and --set. */
#include "config/document.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config/lines.h"
#include "config/suggest.h"
#include "config/vars.h"

enum { SET_SHOWN_MAX = 120 }; /* characters of a --set argument in messages */

/* A file being read, on top of those that include it. */
typedef struct layer {
    document *doc;
    problems *p;
    vars *outside;    /* what an include may hold */
    GHashTable *done; /* real paths: a file is read once, where it is first included */
    const struct layer *up;
    const char *file; /* as shown */
    const char *real; /* NULL for text in memory */
    GPtrArray *sections;
    section *current; /* NULL in a section with a wrong name */
} layer;

/* ---------------------------------------------------------------- sections and settings */

static void section_free(gpointer data) {
    section *sec = data;
    g_ptr_array_unref(sec->settings);
    g_hash_table_unref(sec->index);
    g_free(sec);
}

static section *section_new(document *doc, const char *name, origin at) {
    section *sec = g_new(section, 1);
    *sec = (section){
        .name = g_string_chunk_insert_const(doc->text, name),
        .at = at,
        .settings = g_ptr_array_new(),
        .index = g_hash_table_new(g_str_hash, g_str_equal),
    };
    return sec;
}

static setting *setting_new(document *doc, const section *sec, const char *key, const char *value,
                            origin at) {
    setting *s = g_new(setting, 1);
    *s = (setting){
        .section = sec->name,
        .key = g_string_chunk_insert_const(doc->text, key),
        .value = g_string_chunk_insert(doc->text, value),
        .at = at,
    };
    g_ptr_array_add(doc->owned, s);
    return s;
}

/* Adds `s`, which takes the place of an earlier setting of that key. */
static void section_put(section *sec, setting *s) {
    setting *old = g_hash_table_lookup(sec->index, s->key);
    if (!old) {
        g_ptr_array_add(sec->settings, s);
        g_hash_table_insert(sec->index, (gpointer)s->key, s);
        return;
    }
    /* The two trade contents, so that the array and the index stay as they are. */
    setting before = *old;
    *old = *s;
    *s = before;
    old->overrides = s;
}

const setting *section_get(const section *sec, const char *key) {
    return g_hash_table_lookup(sec->index, key);
}

const section *document_section(const document *doc, const char *name) {
    return g_hash_table_lookup(doc->index, name);
}

bool document_is_name(const char *text) {
    return g_ascii_islower(text[0]) &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static document *document_create(void) {
    document *doc = g_new(document, 1);
    *doc = (document){
        .sections = g_ptr_array_new_with_free_func(section_free),
        .index = g_hash_table_new(g_str_hash, g_str_equal),
        .owned = g_ptr_array_new_with_free_func(g_free),
        .text = g_string_chunk_new(4096),
    };
    return doc;
}

void document_destroy(document *doc) {
    if (!doc)
        return;
    g_ptr_array_unref(doc->sections);
    g_hash_table_unref(doc->index);
    g_ptr_array_unref(doc->owned);
    g_string_chunk_free(doc->text);
    g_free(doc);
}

/* ---------------------------------------------------------------- one file */

/* Tells that `name` is no name for `what`, with one that would be where there is an obvious one. */
static void wrong_name(problems *p, origin at, const char *what, const char *name) {
    g_autofree char *quoted = problems_quote(name);
    g_autofree char *better = g_strdelimit(g_ascii_strdown(name, -1), "_. ", '-');
    g_autofree char *hint =
        document_is_name(better) ? g_strdup_printf("did you mean \"%s\"?", better) : NULL;
    problems_add(p, PROBLEM_CONFIG, MILL_ERROR, at, hint,
                 "%s is no name for a %s: names hold a to z, 0 to 9 and \"-\", and begin with a "
                 "letter",
                 quoted, what);
}

static bool check_var_name(problems *p, origin at, const char *name) {
    if (!document_is_name(name)) {
        wrong_name(p, at, "variable", name);
        return false;
    }
    if (strcmp(name, "args") == 0 || strcmp(name, "item") == 0) {
        problems_add(p, PROBLEM_CONFIG, MILL_ERROR, at, "choose another name",
                     "[vars] can't set \"%s\": ${%s} has a meaning of its own", name, name);
        return false;
    }
    return true;
}

static bool on_line(void *arg, const char *name, G_GNUC_UNUSED uint32_t section_line,
                    const char *key, const char *value, uint32_t line) {
    layer *l = arg;
    origin at = {.file = g_string_chunk_insert_const(l->doc->text, l->file), .line = line};
    if (!key) {
        l->current = NULL;
        if (!document_is_name(name)) {
            wrong_name(l->p, at, "section", name);
            return true;
        }
        l->current = section_new(l->doc, name, at);
        g_ptr_array_add(l->sections, l->current);
    } else if (l->current && (strcmp(name, DOCUMENT_VARS) != 0 || check_var_name(l->p, at, key))) {
        section_put(l->current, setting_new(l->doc, l->current, key, value, at));
    }
    return true;
}

/* Puts the layer's sections over those of the document. */
static void merge(layer *l) {
    for (guint i = 0; i < l->sections->len; i++) {
        section *over = l->sections->pdata[i];
        section *sec = g_hash_table_lookup(l->doc->index, over->name);
        if (!sec) {
            g_ptr_array_add(l->doc->sections, over);
            g_hash_table_insert(l->doc->index, (gpointer)over->name, over);
            continue;
        }
        sec->at = over->at;
        for (guint j = 0; j < over->settings->len; j++)
            section_put(sec, over->settings->pdata[j]);
        section_free(over);
    }
    g_ptr_array_unref(l->sections);
}

/* ---------------------------------------------------------------- includes */

static void read_includes(layer *l);

static layer layer_on(const layer *up, const char *file, const char *real) {
    return (layer){
        .doc = up->doc,
        .p = up->p,
        .outside = up->outside,
        .done = up->done,
        .up = up,
        .file = file,
        .real = real,
        .sections = g_ptr_array_new(),
    };
}

/* True if `real` is being read, which is told with the files in between. */
static bool is_cycle(const layer *l, const char *real, const char *shown, origin from) {
    g_autoptr(GString) chain = g_string_new(shown);
    for (; l; l = l->up) {
        if (!l->file)
            continue;
        g_string_prepend(chain, " -> ");
        g_string_prepend(chain, l->file);
        if (l->real && strcmp(l->real, real) == 0) {
            problems_add(l->p, PROBLEM_CONFIG, MILL_ERROR, from, NULL, "include: cycle %s",
                         chain->str);
            return true;
        }
    }
    return false;
}

static void read_path(const layer *up, const char *path, origin from) {
    char *resolved = realpath(path, NULL);
    g_autofree char *real = g_strdup(resolved ? resolved : path);
    free(resolved);
    if (is_cycle(up, real, path, from) || !g_hash_table_add(up->done, g_strdup(real)))
        return;
    layer l = layer_on(up, path, real);
    lines_read(path, from, on_line, &l, l.p);
    read_includes(&l);
    merge(&l);
}

static void read_includes(layer *l) {
    const setting *include = NULL;
    for (guint i = 0; i < l->sections->len; i++) {
        const section *sec = l->sections->pdata[i];
        if (strcmp(sec->name, DOCUMENT_PIPELINE) == 0)
            include = section_get(sec, "include");
    }
    if (!include)
        return;
    g_autoptr(GPtrArray) items = vars_expand(l->outside, include, ITEMS_COMMAS, VARS_OUTSIDE, l->p);
    g_autofree char *folder = g_path_get_dirname(l->file);
    for (guint i = 0; items && i < items->len; i++) {
        const value_item *it = items->pdata[i];
        bool beside = g_path_is_absolute(it->text) || strcmp(folder, ".") == 0;
        g_autofree char *path =
            beside ? g_strdup(it->text) : g_build_filename(folder, it->text, NULL);
        read_path(l, path, include->at);
    }
}

static layer root_layer(document *doc, const char *data_dir, problems *p) {
    return (layer){
        .doc = doc,
        .p = p,
        .outside = vars_create(NULL, data_dir, NULL),
        .done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
    };
}

static void root_finish(layer *root) {
    vars_destroy(root->outside);
    g_hash_table_unref(root->done);
}

document *document_read(const char *path, const char *data_dir, problems *p) {
    document *doc = document_create();
    layer root = root_layer(doc, data_dir, p);
    read_path(&root, path, (origin){.file = path});
    root_finish(&root);
    return doc;
}

document *document_read_memory(const char *name, const char *data, size_t size,
                               const char *data_dir, problems *p) {
    document *doc = document_create();
    layer root = root_layer(doc, data_dir, p);
    layer l = layer_on(&root, name, NULL);
    lines_read_memory(name, data, size, on_line, &l, p);
    read_includes(&l);
    merge(&l);
    root_finish(&root);
    return doc;
}

/* ---------------------------------------------------------------- --set */

/* "--set ARGUMENT" on one line, cut when long. */
static origin set_origin(document *doc, const char *argument) {
    g_autofree char *valid = g_utf8_make_valid(argument, -1);
    for (char *c = valid; *c; c++)
        if (g_ascii_iscntrl(*c))
            *c = ' ';
    bool cut = g_utf8_strlen(valid, -1) > SET_SHOWN_MAX;
    if (cut)
        *g_utf8_offset_to_pointer(valid, SET_SHOWN_MAX) = '\0';
    g_autofree char *text = g_strconcat("--set ", valid, cut ? "…" : "", NULL);
    return (origin){.text = g_string_chunk_insert(doc->text, text)};
}

/* The section that --set names, or NULL, told in `p`. */
static section *set_section(document *doc, const char *name, origin at, problems *p) {
    section *sec = g_hash_table_lookup(doc->index, name);
    if (sec)
        return sec;
    if (strcmp(name, DOCUMENT_VARS) != 0 && strcmp(name, DOCUMENT_PIPELINE) != 0) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        for (guint i = 0; i < doc->sections->len; i++)
            g_ptr_array_add(names, (gpointer)((section *)doc->sections->pdata[i])->name);
        g_ptr_array_add(names, NULL);
        g_autofree char *hint = suggest_hint(name, (const char *const *)names->pdata);
        g_autofree char *quoted = problems_quote(name);
        problems_add(p, PROBLEM_CONFIG, MILL_ERROR, at, hint, "no such stage: %s", quoted);
        return NULL;
    }
    sec = section_new(doc, name, at);
    g_ptr_array_add(doc->sections, sec);
    g_hash_table_insert(doc->index, (gpointer)sec->name, sec);
    return sec;
}

bool document_set(document *doc, const char *argument, problems *p) {
    origin at = set_origin(doc, argument);
    if (!g_utf8_validate(argument, -1, NULL)) {
        problems_add(p, PROBLEM_CONFIG, MILL_ERROR, at, NULL, "expected UTF-8 text");
        return false;
    }
    const char *dot = strchr(argument, '.'), *equals = strchr(argument, '=');
    g_autofree char *name = dot ? g_strndup(argument, (gsize)(dot - argument)) : g_strdup("");
    g_autofree char *key =
        dot && equals > dot ? g_strndup(dot + 1, (gsize)(equals - dot - 1)) : g_strdup("");
    g_strstrip(name);
    g_strstrip(key);
    if (!*name || !*key) {
        problems_add(p, PROBLEM_CONFIG, MILL_ERROR, at, NULL, "expected --set stage.key=value");
        return false;
    }
    if (strcmp(name, DOCUMENT_PIPELINE) == 0 && strcmp(key, "include") == 0) {
        problems_add(p, PROBLEM_CONFIG, MILL_ERROR, at, "write it in the file",
                     "include can't be set here: includes are read before --set");
        return false;
    }
    if (strcmp(name, DOCUMENT_VARS) == 0 && !check_var_name(p, at, key))
        return false;
    section *sec = set_section(doc, name, at, p);
    if (!sec)
        return false;
    g_autofree char *value = g_strstrip(g_strdup(equals + 1));
    section_put(sec, setting_new(doc, sec, key, value, at));
    return true;
}
