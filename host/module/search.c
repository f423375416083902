/* SPDX-License-Identifier: Apache-2.0 */
/* The search for plugin files, and the trust rule. */
#include "module/search.h"

#include "module/module.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct search {
    GPtrArray *found;  /* module * */
    GHashTable *files; /* "device:inode" of those in `found` */
    const char *from;  /* for module.from */
} search;

/* A sticky folder (/tmp) counts as writable: it keeps others from replacing a file, not from adding
 * one. */
static bool writable_by_others(const char *path, mode_t *ret_kind) {
    struct stat st;
    if (stat(path, &st) < 0)
        return false;
    *ret_kind = st.st_mode & S_IFMT;
    return (st.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/* False, and `m` refused, if someone else may write to `path`. */
static bool check_trust(module *m, const char *path) {
    mode_t kind;
    if (!writable_by_others(path, &kind))
        return true;
    bool is_dir = S_ISDIR(kind), is_self = strcmp(path, m->path) == 0;
    return module_refuse(m,
                         "%s%s%s is writable by group or others, who could have put any code "
                         "there: chmod go-w it, or give --trust-writable",
                         is_dir ? "the folder" : "the file", is_self ? "" : " ",
                         is_self ? "" : path);
}

/* True the first time a file is seen, by whatever name; true for one that can't be examined. */
static bool first_time(search *s, const char *path) {
    struct stat st;
    if (stat(path, &st) < 0)
        return true;
    return g_hash_table_add(s->files, g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
                                                      (guint64)st.st_dev, (guint64)st.st_ino));
}

static void add_file(search *s, const char *dir, const char *name, bool trusted) {
    g_autofree char *path = g_build_filename(dir, name, NULL);
    if (!first_time(s, path))
        return;
    module *m = module_create(path);
    m->from = s->from;
    g_ptr_array_add(s->found, m);
    char *target = realpath(path, NULL);
    if (target && !trusted) {
        g_autofree char *target_dir = g_path_get_dirname(target);
        /* `dir` itself was checked; a link may lead out of it. */
        if (check_trust(m, path))
            check_trust(m, target_dir);
    }
    free(target);
}

static int is_plugin_name(const struct dirent *entry) {
    return g_str_has_suffix(entry->d_name, ".so");
}

static int compare_names(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void add_dir(search *s, const char *path, bool trusted, bool may_be_absent) {
    struct dirent **entries = NULL;
    int n = scandir(path, &entries, is_plugin_name, compare_names);
    if (n < 0 && errno == ENOENT && may_be_absent)
        return;
    g_autoptr(module) folder = module_create(path);
    if (n < 0 && errno == ENOTDIR)
        module_refuse(folder, "is not a folder: give the one that the plugin lies in");
    else if (n < 0)
        module_refuse(folder, "the folder can't be read: %s", g_strerror(errno));
    else if (!trusted)
        check_trust(folder, path);
    bool refused = folder->state == MODULE_REFUSED;
    if (refused)
        g_ptr_array_add(s->found, g_steal_pointer(&folder));
    for (int i = 0; i < n; i++) {
        if (!refused)
            add_file(s, path, entries[i]->d_name, trusted);
        free(entries[i]);
    }
    free(entries);
}

static void add_relative(search *s, const char *path) {
    module *m = module_create(path);
    module_refuse(m, "is not absolute, which the folders of " SEARCH_ENV " must be");
    g_ptr_array_add(s->found, m);
}

GPtrArray *search_modules(const char *const *plugin_paths, const char *env_paths,
                          const place *where, bool trust_writable) {
    g_autoptr(GHashTable) files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    search s = {g_ptr_array_new_with_free_func((GDestroyNotify)module_destroy), files,
                "--plugin-path"};
    for (; plugin_paths && *plugin_paths; plugin_paths++) {
        g_autofree char *path = g_canonicalize_filename(*plugin_paths, NULL);
        add_dir(&s, path, trust_writable, /* may_be_absent= */ false);
    }
    s.from = SEARCH_ENV;
    g_auto(GStrv) env = g_strsplit(env_paths ? env_paths : "", ":", -1);
    for (char **path = env; *path; path++) {
        if (**path == '\0')
            continue;
        if (g_path_is_absolute(*path))
            add_dir(&s, *path, trust_writable, /* may_be_absent= */ false);
        else
            add_relative(&s, *path);
    }
    s.from = where->built ? "the build tree" : "the installed folder";
    for (char **path = where->plugin_dirs; *path; path++)
        add_dir(&s, *path, trust_writable || where->built, /* may_be_absent= */ true);
    return s.found;
}
