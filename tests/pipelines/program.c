/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program under test, and gives what it said in a form that is the same on every machine.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void outcome_finish(outcome *o) {
    g_free(o->out);
    g_free(o->err);
}

char *program_source(const char *path) {
    return g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), path, NULL);
}

char *program_build(const char *path) {
    return g_build_filename(g_getenv("TRACEMILL_TEST_BUILD"), path, NULL);
}

char **program_environment(void) {
    static const char *const unset[] = {"TRACEMILL_PLUGIN_PATH", "NO_COLOR", "RUN_DIR", "TITLE"};
    char **env = g_get_environ();
    for (size_t i = 0; i < G_N_ELEMENTS(unset); i++)
        env = g_environ_unsetenv(env, unset[i]);
    g_autofree char *folder = g_path_get_dirname(g_getenv("TRACEMILL_TEST_PROGRAM"));
    g_autofree char *path = g_strconcat(folder, ":", g_environ_getenv(env, "PATH"), NULL);
    env = g_environ_setenv(env, "PATH", path, TRUE);
    return g_environ_setenv(env, "LC_ALL", "C.UTF-8", TRUE);
}

/* ---------------------------------------------------------------- the same on every machine */

/* What a run, a compiler, a release or an edit of the test module changes. */
static const struct {
    const char *pattern, *with;
} changing[] = {
    {"(\"(?:\\w+_ns|peak_\\w*bytes)\":\\s*)\\d+", "\\1\"N\""},
    {"(\"built_with\":\\s*)\"[^\"]*\"", "\\1\"COMPILER\""},
    {"tracemill [\\d.]+, plugin", "tracemill VERSION, plugin"},
    {"(\"tracemill.version/1\", \"version\": )\"[^\"]*\"", "\\1\"VERSION\""},
    {"(\"file\":\\s*\"\\w+\\.c\",\\s*\"line\":\\s*)\\d+", "\\1\"N\""},
};

static void replace(GString *text, const char *pattern, const char *with) {
    g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
    g_autofree char *done = g_regex_replace(regex, text->str, (gssize)text->len, 0, with, 0, NULL);
    g_assert_nonnull(done); /* else it is not UTF-8 */
    g_string_assign(text, done);
}

/* The program may know a folder by the path that links lead to. */
static void replace_folder(GString *text, const char *folder, const char *name) {
    char *real = realpath(folder, NULL);
    g_assert_nonnull(real);
    g_string_replace(text, real, name, 0);
    g_string_replace(text, folder, name, 0);
    free(real);
}

/* Takes `text`. The longer of the two folders first: one may lie in the other. */
static char *normalise(char *text) {
    GString *s = g_string_new(text);
    g_free(text);
    const char *source = g_getenv("TRACEMILL_TEST_SOURCE"),
               *build = g_getenv("TRACEMILL_TEST_BUILD");
    bool build_first = strlen(build) > strlen(source);
    replace_folder(s, build_first ? build : source, build_first ? "BUILD" : "SOURCE");
    replace_folder(s, build_first ? source : build, build_first ? "SOURCE" : "BUILD");
    for (size_t i = 0; i < G_N_ELEMENTS(changing); i++)
        replace(s, changing[i].pattern, changing[i].with);
    return g_string_free(s, FALSE);
}

/* ---------------------------------------------------------------- running */

outcome program_spawn(const char *folder, char **env, char **argv) {
    outcome o = {0};
    int status;
    g_autoptr(GError) error = NULL;
    g_spawn_sync(folder, argv, env, G_SPAWN_SEARCH_PATH_FROM_ENVP, NULL, NULL, &o.out, &o.err,
                 &status, &error);
    g_assert_no_error(error);
    if (!WIFEXITED(status))
        g_error("%s died of signal %d: %s", argv[0], WTERMSIG(status), o.err);
    o.exit_code = WEXITSTATUS(status);
    o.out = normalise(o.out);
    o.err = normalise(o.err);
    return o;
}

/* Commands of this name look for modules, and so take the options that say where. */
static bool takes_modules(const char *command) {
    static const char *const names[] = {"run", "check", "graph", "list", "inspect", NULL};
    return command != NULL && g_strv_contains(names, command);
}

outcome program_run(const char *folder, const char *const *words, const char *const *extra) {
    g_auto(GStrv) env = program_environment();
    for (; strchr(*words, '=') != NULL; words++) {
        g_auto(GStrv) pair = g_strsplit(*words, "=", 2);
        env = g_environ_setenv(env, pair[0], pair[1], TRUE);
    }
    g_assert_cmpstr(words[0], ==, "tracemill");
    g_autofree char *plugins = program_build("tests/pipelines/plugins");
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_ptr_array_add(argv, (gpointer)g_getenv("TRACEMILL_TEST_PROGRAM"));
    if (*++words != NULL)
        g_ptr_array_add(argv, (gpointer)*words);
    if (takes_modules(*words)) {
        g_ptr_array_add(argv, (gpointer) "--trust-writable");
        g_ptr_array_add(argv, (gpointer) "--plugin-path");
        g_ptr_array_add(argv, plugins);
    }
    for (; extra != NULL && *extra != NULL; extra++)
        g_ptr_array_add(argv, (gpointer)*extra);
    for (; *words != NULL && words[1] != NULL; words++)
        g_ptr_array_add(argv, (gpointer)words[1]);
    g_ptr_array_add(argv, NULL);
    return program_spawn(folder, env, (char **)argv->pdata);
}

/* ---------------------------------------------------------------- files */

/* From the first line that differs, a few lines of each: the rest may only be shifted. */
static void tell_difference(const char *path, const char *want, const char *text) {
    enum { SHOWN = 5 };
    g_auto(GStrv) wanted = g_strsplit(want, "\n", -1), found = g_strsplit(text, "\n", -1);
    guint n_wanted = g_strv_length(wanted), n_found = g_strv_length(found), first = 0;
    while (first < n_wanted && first < n_found && strcmp(wanted[first], found[first]) == 0)
        first++;
    g_test_message("%s:%u: differs from here on:", path, first + 1);
    for (guint i = first; i < MIN(first + SHOWN, n_wanted); i++)
        g_test_message("- %s", wanted[i]);
    for (guint i = first; i < MIN(first + SHOWN, n_found); i++)
        g_test_message("+ %s", found[i]);
}

void golden_check(const char *path, const char *text) {
    g_autoptr(GError) error = NULL;
    g_autofree char *want = NULL;
    if (g_strcmp0(g_getenv("TRACEMILL_GOLDEN"), "update") == 0) {
        g_file_set_contents(path, text, -1, &error);
        g_assert_no_error(error);
        return;
    }
    g_file_get_contents(path, &want, NULL, &error);
    g_assert_no_error(error);
    if (strcmp(text, want) == 0)
        return;
    tell_difference(path, want, text);
    g_test_fail();
}

static gint compare(gconstpointer a, gconstpointer b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **names_in(const char *folder, const char *suffix) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, &error);
    g_assert_no_error(error);
    GPtrArray *names = g_ptr_array_new();
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
        if (g_str_has_suffix(name, suffix))
            g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, compare);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}
