/* SPDX-License-Identifier: Apache-2.0 */
/* A project of a plugin author's, made from a template: its names put in, and written. */
#include "cli/project.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define CPP_FOLDER "c++"

static bool fail(GError **error, const char *what, const char *path) {
    int code = errno;
    g_set_error(error, G_FILE_ERROR, (int)g_file_error_from_errno(code), "can't %s %s: %s", what,
                path, g_strerror(code));
    return false;
}

/* ---------------------------------------------------------------- names */

typedef struct replacement {
    const char *from, *to;
} replacement;

/* Of those that fit at a place the first counts. */
static void put_names(GString *out, const char *text, gsize length, const project_names *names) {
    g_autofree char *capitals = g_ascii_strup(names->identifier, -1);
    const replacement all[] = {
        {"org.acme.thing/1", names->type_id}, {"org.acme.thing", names->module_id},
        {"acme.thing", names->class_name},    {"acme-thing", names->folder},
        {"acme_thing", names->identifier},    {"ACME_THING", capitals},
    };
    for (gsize at = 0; at < length;) {
        const replacement *found = NULL;
        for (gsize i = 0; i < G_N_ELEMENTS(all) && found == NULL; i++) {
            gsize n = strlen(all[i].from);
            if (all[i].to != NULL && n <= length - at && memcmp(text + at, all[i].from, n) == 0)
                found = &all[i];
        }
        if (found != NULL)
            g_string_append(out, found->to);
        else
            g_string_append_c(out, text[at]);
        at += found != NULL ? strlen(found->from) : 1;
    }
}

/* ---------------------------------------------------------------- reading */

typedef struct reading {
    const project_names *names;
    GPtrArray *files;
    bool cpp;
} reading;

static void file_free(gpointer data) {
    project_file *file = data;
    g_free(file->path);
    g_free(file->text);
    g_free(file);
}

static gint by_path(gconstpointer a, gconstpointer b) {
    return strcmp((*(const project_file *const *)a)->path, (*(const project_file *const *)b)->path);
}

static void add(GPtrArray *files, project_file *file) {
    for (guint i = 0; i < files->len; i++) {
        const project_file *old = g_ptr_array_index(files, i);
        if (strcmp(old->path, file->path) == 0) {
            g_ptr_array_remove_index(files, i);
            break;
        }
    }
    g_ptr_array_add(files, file);
}

static bool read_file(reading *r, const char *path, const char *name, GError **error) {
    g_autofree char *text = NULL;
    gsize length;
    if (!g_file_get_contents(path, &text, &length, error))
        return false;
    GString *shown = g_string_new(NULL), *content = g_string_new(NULL);
    put_names(shown, name, strlen(name), r->names);
    put_names(content, text, length, r->names);
    project_file *file = g_new(project_file, 1);
    *file = (project_file){.length = content->len};
    file->path = g_string_free(shown, FALSE);
    file->text = g_string_free(content, FALSE);
    add(r->files, file);
    return true;
}

/* What a build or a test of the template itself left there is not part of it. */
static bool is_left_out(const reading *r, const char *name) {
    return strcmp(name, "build") == 0 || strcmp(name, CPP_FOLDER) == 0 ||
           g_str_has_suffix(name, "__pycache__") ||
           (r->cpp && g_str_has_prefix(name, "src/") && g_str_has_suffix(name, ".c"));
}

/* `inside`: the folder as seen from the project's, "" for that itself. */
static bool read_folder(reading *r, const char *folder, const char *inside, GError **error) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, error);
    if (dir == NULL)
        return false;
    bool good = true;
    for (const char *entry; good && (entry = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *path = g_build_filename(folder, entry, NULL);
        g_autofree char *name = *inside ? g_build_filename(inside, entry, NULL) : g_strdup(entry);
        if (is_left_out(r, name))
            continue;
        good = g_file_test(path, G_FILE_TEST_IS_DIR) ? read_folder(r, path, name, error)
                                                     : read_file(r, path, name, error);
    }
    return good;
}

GPtrArray *project_read(const char *folder, bool cpp, const project_names *names, GError **error) {
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(file_free);
    g_autofree char *over = g_build_filename(folder, CPP_FOLDER, NULL);
    reading r = {names, files, cpp};
    if (!read_folder(&r, folder, "", error) || (cpp && !read_folder(&r, over, "", error)))
        return NULL;
    g_ptr_array_sort(files, by_path);
    return g_steal_pointer(&files);
}

/* ---------------------------------------------------------------- writing */

static bool is_empty(const char *folder, GError **error) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, error);
    if (dir == NULL)
        return false;
    if (g_dir_read_name(dir) == NULL)
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                "%s is there already and not empty: nothing is overwritten", folder);
    return false;
}

/* Makes the folders above `path` that are missing, and lists them. */
static bool make_parents(const char *path, GPtrArray *made, GError **error) {
    g_autofree char *parent = g_path_get_dirname(path);
    if (g_file_test(parent, G_FILE_TEST_IS_DIR))
        return true;
    if (!make_parents(parent, made, error))
        return false;
    if (g_mkdir(parent, 0777) != 0)
        return fail(error, "make the folder", parent);
    g_ptr_array_add(made, g_steal_pointer(&parent));
    return true;
}

/* `made` gets what is there afterwards, whole or not. */
static bool write_file(const project_file *file, const char *path, GPtrArray *made,
                       GError **error) {
    if (!make_parents(path, made, error))
        return false;
    int fd = g_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail(error, "make the file", path);
    g_ptr_array_add(made, g_strdup(path));
    gsize done = 0;
    while (done < file->length) {
        ssize_t n = write(fd, file->text + done, file->length - done);
        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (gsize)n : 0;
    }
    int code = errno;
    bool closed = close(fd) == 0;
    if (done < file->length)
        errno = code;
    return (done == file->length && closed) || fail(error, "write", path);
}

bool project_write(const GPtrArray *files, const char *folder, GError **error) {
    g_autoptr(GPtrArray) made = g_ptr_array_new_with_free_func(g_free);
    if (g_file_test(folder, G_FILE_TEST_EXISTS) && !is_empty(folder, error))
        return false;
    bool good = true;
    for (guint i = 0; i < files->len && good; i++) {
        const project_file *file = g_ptr_array_index(files, i);
        g_autofree char *path = g_build_filename(folder, file->path, NULL);
        good = write_file(file, path, made, error);
    }
    for (guint i = made->len; !good && i-- > 0;)
        g_remove(g_ptr_array_index(made, i));
    return good;
}
