/* SPDX-License-Identifier: Apache-2.0 */
/* Plays the command lines of good/NAME.golden, and compares what is printed and written with what
 * stands there: see README.md. */
#include "program.h"

#include <cjson/cJSON.h>
#include <glib/gstdio.h>
#include <string.h>

#define PROMPT "$ "

static char *folder; /* good/, where the commands run */
static char *out;    /* where they may write: the environment's OUT */

/* ---------------------------------------------------------------- what a command did */

/* Each line of `text` behind a mark. */
static void append_marked(GString *page, const char *mark, const char *text) {
    for (const char *end; *text != '\0'; text = end) {
        end = strchr(text, '\n');
        end = end != NULL ? end + 1 : text + strlen(text);
        g_string_append_printf(page, "%s%.*s", mark, (int)(end - text), text);
        if (end[-1] != '\n')
            g_string_append(page, "\n");
    }
}

/* The files that the command wrote, which are removed. */
static void take_files(GString *page) {
    g_auto(GStrv) names = names_in(out, "");
    for (char **name = names; *name != NULL; name++) {
        g_autofree char *path = g_build_filename(out, *name, NULL), *text = NULL;
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_string_append_printf(page, "[file %s]\n%s", *name, text);
        g_assert_cmpint(g_remove(path), ==, 0);
    }
}

/* What has to be the same for any number of threads. Log lines come as they come. */
static char *results(const outcome *o) {
    GString *page = g_string_new(o->out);
    take_files(page);
    g_string_append_printf(page, "exit %d", o->exit_code);
    return g_string_free(page, FALSE);
}

static outcome play(const char *const *words, const char *const *extra) {
    g_autofree char *setting = g_strconcat("OUT=", out, NULL);
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    g_ptr_array_add(all, setting);
    for (; *words != NULL; words++)
        g_ptr_array_add(all, (gpointer)*words);
    g_ptr_array_add(all, NULL);
    outcome o = program_run(folder, (const char *const *)all->pdata, extra);
    GString *text = g_string_new(o.out);
    g_free(o.out);
    g_string_replace(text, out, "OUT", 0);
    o.out = g_string_free(text, FALSE);
    return o;
}

/* ---------------------------------------------------------------- rules for every command */

/* Without comments, where places differ. */
static char *without_comments(const char *text) {
    g_autoptr(GRegex) regex = g_regex_new(" *; .*$", G_REGEX_MULTILINE, 0, NULL);
    return g_regex_replace_literal(regex, text, -1, 0, "", 0, NULL);
}

/* What `check --print` prints is a pipeline, of which it prints the same. */
static void print_again(const outcome *o) {
    g_autofree char *path = g_build_filename(out, "printed.ini", NULL);
    GString *text = g_string_new(o->out);
    g_string_replace(text, "OUT", out, 0);
    g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
    g_string_free(text, TRUE);
    const char *words[] = {"tracemill", "check", "--print", path, NULL};
    g_auto(outcome) again = play(words, NULL);
    g_assert_cmpstr(again.err, ==, "");
    g_assert_cmpint(again.exit_code, ==, 0);
    g_autofree char *before = without_comments(o->out), *after = without_comments(again.out);
    g_assert_cmpstr(after, ==, before);
    g_assert_cmpint(g_remove(path), ==, 0);
}

static bool has_word(char **words, const char *word) {
    return g_strv_contains((const char *const *)words, word);
}

/* Appends the command and what it did. */
static void play_line(GString *page, const char *line) {
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    g_shell_parse_argv(line + strlen(PROMPT), NULL, &words, &error);
    g_assert_no_error(error);
    bool runs = has_word(words, "run");
    static const char *const one[] = {"--jobs=1", NULL};
    static const char *const ways[][3] = {{"--jobs=4"}, {"--jobs=2", "--isolate"}};
    g_auto(outcome) o = play((const char *const *)words, runs ? one : NULL);
    g_autofree char *done = results(&o);
    for (size_t i = 0; runs && i < G_N_ELEMENTS(ways); i++) {
        g_auto(outcome) other = play((const char *const *)words, ways[i]);
        g_autofree char *also = results(&other);
        g_assert_cmpstr(also, ==, done);
    }
    if (has_word(words, "--print") && o.exit_code == 0)
        print_again(&o);
    g_string_append_printf(page, "%s\n", line);
    append_marked(page, "! ", o.err);
    g_string_append_printf(page, "%s\n\n", done);
}

static void test_transcript(gconstpointer data) {
    g_autofree char *path = g_build_filename(folder, data, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    GString *page = g_string_new(NULL);
    for (char **line = lines; *line != NULL; line++)
        if (g_str_has_prefix(*line, PROMPT))
            play_line(page, *line);
    g_assert_cmpuint(page->len, >, 0);
    g_string_truncate(page, page->len - 1);
    golden_check(path, page->str);
    g_string_free(page, TRUE);
}

/* ---------------------------------------------------------------- list */

static const cJSON *find_module(const cJSON *list, const char *id) {
    const cJSON *m;
    cJSON_ArrayForEach(m, cJSON_GetObjectItem(list, "modules")) {
        if (g_strcmp0(cJSON_GetStringValue(cJSON_GetObjectItem(m, "id")), id) == 0)
            return m;
    }
    g_error("%s is not listed", id);
}

static void has_text(const cJSON *object, const char *key, const char *text) {
    g_assert_cmpstr(cJSON_GetStringValue(cJSON_GetObjectItem(object, key)), ==, text);
}

/* Which other modules there are is up to the build. */
static void test_list(void) {
    const char *words[] = {"tracemill", "list", "--json", NULL};
    g_auto(outcome) o = play(words, NULL);
    g_assert_cmpint(o.exit_code, ==, 0);
    cJSON *list = cJSON_Parse(o.out);
    g_assert_nonnull(list);
    has_text(list, "schema", "tracemill.list/1");
    const cJSON *good = find_module(list, "org.tracemill.test");
    has_text(good, "state", "loaded");
    has_text(good, "version", "1.0.0");
    has_text(good, "path", "BUILD/tests/pipelines/plugins/test-stages.so");
    g_assert_cmpint(cJSON_GetArraySize(cJSON_GetObjectItem(good, "classes")), ==, 9);
    g_assert_cmpint(cJSON_GetArraySize(cJSON_GetObjectItem(good, "shadowed_classes")), ==, 0);
    const cJSON *newer = find_module(list, "org.acme.fit");
    has_text(newer, "state", "refused");
    has_text(newer, "why",
             "built for ABI 1.1, host speaks 1.0: update tracemill, or build the "
             "module with this host's SDK");
    cJSON_Delete(list);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = program_source("tests/pipelines/good");
    out = g_dir_make_tmp("tracemill-good-XXXXXX", NULL);
    g_auto(GStrv) files = names_in(folder, ".golden");
    for (char **file = files; *file != NULL; file++) {
        g_autofree char *path = g_strdup_printf("/pipelines/good/%s", *file);
        g_test_add_data_func(path, *file, test_transcript);
    }
    g_test_add_func("/pipelines/list", test_list);
    int result = g_test_run();
    g_assert_cmpint(g_rmdir(out), ==, 0);
    g_free(out);
    g_free(folder);
    return result;
}
