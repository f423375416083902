/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of modules: who wins, and loading on demand. */
#include "module/modules.h"

#include "config/suggest.h"
#include "module/load.h"
#include "module/probe.h"
#include "module/search.h"
#include <stdlib.h>

enum { HINTED_MAX = 3 }; /* refused files that a hint names */

struct modules {
    GPtrArray *list;    /* module *, owned */
    GPtrArray *started; /* module * whose init was called, in that order */
    const mill_host *host;
};

static const module_type *own_type(const module *m, const char *id) {
    for (guint i = 0; i < m->own_types->len; i++) {
        const module_type *t = &g_array_index(m->own_types, module_type, i);
        if (strcmp(t->id, id) == 0)
            return t;
    }
    return NULL;
}

static bool has_class(const module *m, const char *name) {
    return m->class_names &&
           g_ptr_array_find_with_equal_func(m->class_names, name, g_str_equal, NULL);
}

/* ---------------------------------------------------------------- who wins */

/* Refuses `m` if `before` declares one of its types in another size. */
static void check_types(module *m, const module *before) {
    for (guint i = 0; i < m->own_types->len; i++) {
        const module_type *mine = &g_array_index(m->own_types, module_type, i);
        const module_type *theirs = own_type(before, mine->id);
        if (theirs && theirs->size != mine->size)
            module_refuse(m,
                          "it declares type \"%s\" with size %u, module \"%s\" (%s) with size %u: "
                          "build both with the same headers",
                          mine->id, mine->size, before->id, before->path, theirs->size);
    }
}

/* Why `before` was found first: "--plugin-path comes before the installed folder". */
static char *precedence(const module *before, const module *m) {
    g_autofree char *theirs = g_path_get_dirname(before->path);
    g_autofree char *mine = g_path_get_dirname(m->path);
    if (strcmp(theirs, mine) == 0)
        return g_strdup("both in one folder: the first by name wins");
    if (g_strcmp0(before->from, m->from) == 0)
        return g_strdup_printf("both by %s: the first folder wins", before->from);
    return g_strdup_printf("%s comes before %s", before->from, m->from);
}

static void settle(const GPtrArray *list) {
    for (guint i = 0; i < list->len; i++) {
        module *m = list->pdata[i];
        for (guint j = 0; j < i && m->state == MODULE_LOADED; j++) {
            const module *before = list->pdata[j];
            if (before->state != MODULE_LOADED)
                continue;
            if (strcmp(before->id, m->id) == 0) {
                m->state = MODULE_SHADOWED;
                g_autofree char *at = g_utf8_make_valid(before->path, -1);
                g_autofree char *why = precedence(before, m);
                m->why =
                    g_strdup_printf("module \"%s\" was found before, at %s (%s)", m->id, at, why);
            } else {
                check_types(m, before);
            }
        }
    }
}

modules *modules_scan(const modules_options *options) {
    g_autoptr(place) where = place_create(NULL);
    modules *all = g_new0(modules, 1);
    all->host = options->host;
    all->started = g_ptr_array_new();
    all->list = search_modules(options->plugin_paths, secure_getenv(SEARCH_ENV), where,
                               options->trust_writable);
    probe_modules(all->list,
                  options->probe_timeout_ms ? options->probe_timeout_ms : PROBE_TIMEOUT_MS);
    settle(all->list);
    return all;
}

void modules_destroy(modules *all) {
    if (!all)
        return;
    for (guint i = all->started->len; i-- > 0;)
        load_fini(all->started->pdata[i]);
    g_ptr_array_unref(all->started);
    g_ptr_array_unref(all->list);
    g_free(all);
}

const GPtrArray *modules_list(const modules *all) {
    return all->list;
}

/* ---------------------------------------------------------------- classes */

/* The first usable module that has the class; `id` NULL: any module. */
static module *find_owner(const modules *all, const char *id, const char *name) {
    for (guint i = 0; i < all->list->len; i++) {
        module *m = all->list->pdata[i];
        if (m->state == MODULE_LOADED && (!id || strcmp(m->id, id) == 0) && has_class(m, name))
            return m;
    }
    return NULL;
}

const module *modules_class_owner(const modules *all, const char *name) {
    return find_owner(all, NULL, name);
}

static bool is_folder(const module *m) {
    return !g_str_has_suffix(m->path, ".so");
}

/* Whether a module that is not usable could be the one that was meant. What it declares may be
 * unknown; then its file's name counts: acme.so for "acme.fit". */
static bool could_have(const module *m, const char *id, const char *name) {
    if (m->state == MODULE_LOADED || is_folder(m) || (id && m->id && strcmp(id, m->id) != 0))
        return false;
    if (has_class(m, name) || (id && m->id))
        return true;
    g_autofree char *file = g_path_get_basename(m->path);
    size_t stem = strlen(file) - strlen(".so"), part = strcspn(name, ".");
    return m->state == MODULE_REFUSED && stem == part && strncmp(file, name, part) == 0;
}

static char *not_loaded(const module *m) {
    return g_strdup_printf("%s was found but not loaded: %s", m->path, m->why);
}

static char *explain_missing(const modules *all, const char *id, const char *name) {
    for (guint i = 0; i < all->list->len; i++)
        if (could_have(all->list->pdata[i], id, name))
            return not_loaded(all->list->pdata[i]);
    return NULL;
}

static bool ensure_loaded(modules *all, module *m) {
    if (m->state != MODULE_LOADED || m->exports)
        return m->state == MODULE_LOADED;
    if (!load_module(m))
        return false;
    if (!all->host)
        return true;
    g_ptr_array_add(all->started, m);
    return load_init(m, all->host);
}

const stage_class *modules_class(modules *all, const char *use, char **ret_why) {
    const char *colon = strchr(use, ':'), *name = colon ? colon + 1 : use;
    g_autofree char *id = colon ? g_strndup(use, (size_t)(colon - use)) : NULL;
    *ret_why = NULL;
    module *m = find_owner(all, id, name);
    if (!m) {
        *ret_why = explain_missing(all, id, name);
        return NULL;
    }
    if (!ensure_loaded(all, m)) {
        *ret_why = not_loaded(m);
        return NULL;
    }
    for (guint i = 0; i < m->classes->len; i++) {
        const stage_class *c = m->classes->pdata[i];
        if (strcmp(c->stage.name, name) == 0)
            return c;
    }
    *ret_why = g_strdup_printf("%s changed while it was being loaded: try again", m->path);
    return NULL;
}

static int compare_names(gconstpointer a, gconstpointer b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **modules_class_names(const modules *all) {
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < all->list->len; i++) {
        const module *m = all->list->pdata[i];
        for (guint j = 0; m->state == MODULE_LOADED && j < m->class_names->len; j++)
            if (find_owner(all, NULL, m->class_names->pdata[j]) == m)
                g_ptr_array_add(names, g_strdup(m->class_names->pdata[j]));
    }
    g_ptr_array_sort(names, compare_names);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

/* "not loaded: FILE (WHY), FILE (WHY); see: tracemill list", or NULL. */
static char *refused_text(const modules *all) {
    g_autoptr(GString) text = g_string_new(NULL);
    guint n = 0;
    for (guint i = 0; i < all->list->len; i++) {
        const module *m = all->list->pdata[i];
        if (m->state == MODULE_REFUSED && n++ < HINTED_MAX)
            g_string_append_printf(text, "%s%s (%s)", n > 1 ? ", " : "", m->path, m->why);
    }
    if (n == 0)
        return NULL;
    if (n > HINTED_MAX)
        g_string_append_printf(text, " and %u more", n - HINTED_MAX);
    return g_strdup_printf("not loaded: %s; see: tracemill list", text->str);
}

char *modules_hint(const modules *all, const char *use) {
    g_auto(GStrv) names = modules_class_names(all);
    char *near = suggest_hint(use, (const char *const *)names);
    g_autofree char *refused = refused_text(all);
    if (!near || !refused)
        return near ? near : g_steal_pointer(&refused);
    g_autofree char *first = near;
    return g_strdup_printf("%s %s", first, refused);
}

/* ---------------------------------------------------------------- types */

static const mill_type *type_of(const module *m, const char *id) {
    for (guint i = 0; i < m->types->len; i++) {
        const mill_type *t = m->types->pdata[i];
        if (strcmp(t->id, id) == 0)
            return t;
    }
    return NULL;
}

const mill_type *modules_type(modules *all, const module *poster, const char *id) {
    const mill_type *own = poster ? type_of(poster, id) : NULL;
    for (guint i = 0; !own && i < all->list->len; i++) {
        module *m = all->list->pdata[i];
        if (m->state == MODULE_LOADED && own_type(m, id) && ensure_loaded(all, m))
            own = type_of(m, id);
    }
    return own;
}

const module *modules_type_module(const modules *all, const mill_type *type) {
    for (guint i = 0; i < all->list->len; i++) {
        const module *m = all->list->pdata[i];
        if (m->exports != NULL && g_ptr_array_find(m->types, type, NULL))
            return m;
    }
    return NULL;
}
