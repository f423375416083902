/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program on a folder of modules that a test makes and removes. */
#include "program.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *folder;

void program_begin(void) {
    folder = g_dir_make_tmp("tracemill-bad-XXXXXX", NULL);
    g_assert_cmpint(chmod(folder, 0755), ==, 0);
}

void program_end(void) {
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    g_clear_pointer(&folder, g_free);
}

char *program_path(const char *name) {
    return g_build_filename(folder, name, NULL);
}

void program_write(const char *name, const char *data, gsize size) {
    g_autofree char *path = program_path(name);
    g_assert_true(g_file_set_contents(path, data, (gssize)size, NULL));
    g_assert_cmpint(chmod(path, 0644), ==, 0);
}

void program_read_built(const char *name, char **ret_data, gsize *ret_size) {
    g_autofree char *path = g_build_filename(g_getenv("TRACEMILL_TEST_BUILD"), "tests", name, NULL);
    g_autoptr(GError) error = NULL;
    g_file_get_contents(path, ret_data, ret_size, &error);
    g_assert_no_error(error);
}

void program_copy_built(const char *from, const char *to) {
    g_autofree char *data = NULL;
    gsize size;
    program_read_built(from, &data, &size);
    program_write(to, data, size);
}

void program_remove(const char *name) {
    g_autofree char *path = program_path(name);
    g_remove(path);
}

void result_finish(result *r) {
    g_free(r->out);
    g_free(r->err);
}

static char *take_out_folder(char *text) {
    GString *s = g_string_new(text);
    g_free(text);
    g_string_replace(s, folder, "FOLDER", 0);
    return g_string_free(s, FALSE);
}

result program_run(const char *command, ...) {
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, (char *)g_getenv("TRACEMILL_TEST_PROGRAM"));
    g_ptr_array_add(argv, (char *)command);
    g_ptr_array_add(argv, (char *)"--plugin-path");
    g_ptr_array_add(argv, folder);
    va_list args;
    va_start(args, command);
    for (const char *arg; (arg = va_arg(args, const char *));)
        g_ptr_array_add(argv, (char *)arg);
    va_end(args);
    g_ptr_array_add(argv, NULL);

    g_auto(GStrv) env = g_environ_unsetenv(g_get_environ(), "TRACEMILL_PLUGIN_PATH");
    env = g_environ_unsetenv(env, "LD_LIBRARY_PATH"); /* Meson's leads to libacme */
    /* The address sanitizer else tells a crash as an exit. */
    g_autofree char *asan = g_strdup(g_environ_getenv(env, "ASAN_OPTIONS"));
    g_autofree char *options = g_strconcat(asan != NULL ? asan : "", ":handle_segv=0", NULL);
    env = g_environ_setenv(env, "ASAN_OPTIONS", options, TRUE);
    result r = {0};
    int status;
    g_autoptr(GError) error = NULL;
    g_spawn_sync(NULL, (char **)argv->pdata, env, G_SPAWN_DEFAULT, NULL, NULL, &r.out, &r.err,
                 &status, &error);
    g_assert_no_error(error);
    g_assert_true(WIFEXITED(status));
    r.exit_code = WEXITSTATUS(status);
    r.out = take_out_folder(r.out);
    r.err = take_out_folder(r.err);
    return r;
}

void program_says(const char *text, const char *part) {
    if (!strstr(text, part))
        g_error("\"%s\" is not in:\n%s", part, text);
}
