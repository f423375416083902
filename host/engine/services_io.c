/* SPDX-License-Identifier: Apache-2.0 */
/* The services that reach outside: files, INI files. */
#include "engine/state.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/lines.h"
#include "isolate/serve.h"

/* ---------------------------------------------------------------- files */

static sink *find_sink(const instance *in, const char *path) {
    for (guint i = 0; in->sinks != NULL && i < in->sinks->len; i++)
        if (strcmp(sink_path(g_ptr_array_index(in->sinks, i)), path) == 0)
            return g_ptr_array_index(in->sinks, i);
    return NULL;
}

/* The file that a path leads to, whatever it is called. False: there is none yet. */
static bool same_file(const char *path, const struct stat *other) {
    struct stat status;
    return stat(path, &status) == 0 && status.st_dev == other->st_dev &&
           status.st_ino == other->st_ino;
}

/* The file that a setting was read from: an include, or the pipeline itself. */
static bool is_of_pipeline(const document *doc, const struct stat *file) {
    for (guint i = 0; i < doc->sections->len; i++) {
        const section *sec = g_ptr_array_index(doc->sections, i);
        if (sec->at.file != NULL && same_file(sec->at.file, file))
            return true;
    }
    for (guint i = 0; i < doc->owned->len; i++) {
        const setting *set = g_ptr_array_index(doc->owned, i);
        if (set->at.file != NULL && same_file(set->at.file, file))
            return true;
    }
    return false;
}

/* Is it one that an option names, such as a file of rules? What is written may hold ${item}, so
 * options without it name what is read. */
static bool is_of_option(const mill_option *o, const void *opts, const struct stat *file) {
    const void *field = (const char *)opts + o->offset;
    if (o->flags & (MILL_OPT_ITEM | MILL_OPT_GLOB))
        return false;
    if (o->type == MILL_OPT_PATH) {
        const char *path = *(const char *const *)field;
        return path != NULL && same_file(path, file);
    }
    if (o->type != MILL_OPT_LIST || o->elem != MILL_OPT_PATH)
        return false;
    const mill_list *list = field;
    for (size_t i = 0; i < list->n; i++)
        if (same_file(((const char *const *)list->v)[i], file))
            return true;
    return false;
}

static bool is_of_stage(const plan_stage *s, const struct stat *file) {
    for (size_t i = 0; i < s->cls->n_options; i++)
        if (is_of_option(&s->cls->options[i], s->opts, file))
            return true;
    return false;
}

/* Is it the pipeline, or something that it reads? own: the stage that wants to write it, whose
 * options may name it. */
static bool is_input(const engine *e, const plan_stage *own, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    if (same_file(e->plan->path, &status) || is_of_pipeline(e->plan->doc, &status))
        return true;
    for (guint i = 0; i < e->plan->stages->len; i++) {
        const plan_stage *s = g_ptr_array_index(e->plan->stages, i);
        if (s != own && is_of_stage(s, &status))
            return true;
        for (guint k = 0; s->files != NULL && k < s->files->len; k++)
            if (same_file(((globs_file *)g_ptr_array_index(s->files, k))->path, &status))
                return true;
    }
    return false;
}

/* One name for all paths that lead to a file, whether it is there yet or not: symbolic links are
 * followed as far as there is something. */
static char *true_path(const char *path) {
    g_autofree char *folder = g_path_is_absolute(path) ? NULL : g_get_current_dir();
    g_autofree char *whole = g_build_filename(folder ? folder : "/", path, NULL);
    for (size_t n = strlen(whole); n > 0; n--) {
        if (whole[n] != '\0' && whole[n] != '/')
            continue;
        g_autofree char *there = g_strndup(whole, n);
        char *real = realpath(there, NULL);
        if (real == NULL)
            continue;
        g_autofree char *joined = g_strconcat(real, whole + n, NULL);
        free(real);
        return g_canonicalize_filename(joined, NULL);
    }
    return g_canonicalize_filename(whole, NULL);
}

/* Two writers of one file would leave the one that came last: which, is up to chance. */
static bool claim_path(run *r, const char *path, causes *why) {
    if (sink_takes_all(path))
        return true;
    if (is_input(r->engine, r->plan, path)) {
        causes_addf(why, MILL_E_CONFIG,
                    "%s is read by this pipeline: writing it would destroy it; give another path",
                    path);
        return false;
    }
    g_autofree char *name = true_path(path);
    g_autofree char *owner =
        *r->key != '\0' && stage_sinks_per_run(r->plan)
            ? g_strdup_printf("[%s] for the item \"%s\"", r->plan->name, r->key)
            : g_strdup_printf("[%s]", r->plan->name);
    pthread_mutex_lock(&r->engine->lock);
    const char *before = g_hash_table_lookup(r->engine->written, name);
    g_autofree char *other = g_strdup(before);
    if (before == NULL)
        g_hash_table_insert(r->engine->written, g_steal_pointer(&name), g_steal_pointer(&owner));
    pthread_mutex_unlock(&r->engine->lock);
    if (other == NULL)
        return true;
    causes_addf(why, MILL_E_CONFIG,
                "%s is written by %s already: give each its own path, for instance with ${item}",
                path, other);
    return false;
}

/* It could not be opened: the next one that tries shall hear why. */
static void give_back_path(run *r, const char *path) {
    g_autofree char *name = true_path(path);
    pthread_mutex_lock(&r->engine->lock);
    g_hash_table_remove(r->engine->written, name);
    pthread_mutex_unlock(&r->engine->lock);
}

mill_status services_sink(run *r, const char *path, causes *why, sink **ret_sink) {
    sink *s = find_sink(r->instance, path);
    if (s == NULL) {
        if (!claim_path(r, path, why))
            return MILL_E_CONFIG;
        if (strcmp(path, "-") == 0)
            r->instance->out = spool_create();
        s = sink_create(path, r->instance->out, why);
        if (s == NULL) {
            give_back_path(r, path);
            return MILL_E_IO;
        }
        sink_bind(s, &r->causes);
        if (r->instance->sinks == NULL)
            r->instance->sinks = g_ptr_array_new();
        g_ptr_array_add(r->instance->sinks, s);
    }
    *ret_sink = s;
    return MILL_OK;
}

mill_status service_sink_open(mill_run *public, const char *path, mill_sink **ret_sink) {
    run *r = run_of(public);
    if (r->instance == NULL)
        return run_bug(r, "opened a file in `check`");
    if (stage_sinks_per_run(r->plan) && !r->may_output)
        return run_bug(r, "opened a file outside of `run`, though its runs are shared out among "
                          "instances");
    sink *s = NULL;
    mill_status status = r->engine->served != NULL ? serve_sink(r, path, &s)
                                                   : services_sink(r, path, run_causes(r), &s);
    if (status == MILL_OK)
        *ret_sink = sink_public(s);
    return status;
}

/* Read, not mapped: a file that shrinks while it is mapped kills the process. */
mill_status service_source_map(mill_run *public, const char *path, mill_source **ret_source) {
    run *r = run_of(public);
    g_autoptr(GError) error = NULL;
    char *data;
    gsize length;
    if (!g_file_get_contents(path, &data, &length, &error)) {
        bool absent = g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT) ||
                      g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_ACCES);
        mill_status status = absent ? MILL_E_NOINPUT : MILL_E_IO;
        causes_addf(run_causes(r), status, "%s", error->message);
        return status;
    }
    mill_source *source = g_new0(mill_source, 1);
    pthread_mutex_lock(&r->lock);
    g_ptr_array_add(r->scratch, data);
    g_ptr_array_add(r->scratch, source);
    r->bytes += length;
    pthread_mutex_unlock(&r->lock);
    *source =
        (mill_source){.size = sizeof *source, .data = (const uint8_t *)data, .length = length};
    *ret_source = source;
    return MILL_OK;
}

/* ---------------------------------------------------------------- INI files */

typedef struct ini_call {
    mill_ini_fn fn;
    void *arg;
} ini_call;

static bool on_setting(void *arg, const char *in, uint32_t in_line, const char *key,
                       const char *text, uint32_t line) {
    const ini_call *call = arg;
    (void)in_line;
    return call->fn(call->arg, in, key, text, line);
}

mill_status service_ini_read(mill_run *public, const char *path, mill_ini_fn fn, void *arg) {
    run *r = run_of(public);
    g_autoptr(problems) found = problems_create();
    ini_call call = {fn, arg};
    bool ok = lines_read(path, (origin){.file = path}, on_setting, &call, found);
    mill_status status = ok ? MILL_OK : MILL_E_DATA;
    if (problems_exit_code(found) == 66)
        status = MILL_E_NOINPUT;
    const problem *p;
    for (size_t i = 0; (p = problems_get(found, i)) != NULL; i++) {
        g_autofree char *at = origin_format(p->at);
        bool whole = p->at.line == 0; /* the file can't be read: the text names it */
        causes_addf(run_causes(r), status, "%s%s%s%s%s", whole ? "" : at, whole ? "" : ": ",
                    p->text, p->hint != NULL ? "; " : "", p->hint != NULL ? p->hint : "");
    }
    return status;
}
