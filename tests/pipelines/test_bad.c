/* SPDX-License-Identifier: Apache-2.0 */
/* Every wrong pipeline in bad/ is told the same by `check` and by `run`, and as its golden says. */
#include "program.h"

#include <cjson/cJSON.h>
#include <string.h>

static char *folder;

/* What the file's line "; with: …" adds to the command line. */
static char **words_for(const char *command, const char *file) {
    g_autofree char *path = g_build_filename(folder, file, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    const char *with = strstr(text, "; with: ");
    g_autofree char *more =
        with != NULL ? g_strndup(with + 8, strcspn(with + 8, "\r\n")) : g_strdup("");
    g_autofree char *line = g_strdup_printf("tracemill %s %s %s", command, file, more);
    char **words = NULL;
    g_assert_true(g_shell_parse_argv(line, NULL, &words, NULL));
    return words;
}

static outcome tell(const char *command, const char *file) {
    g_auto(GStrv) words = words_for(command, file);
    return program_run(folder, (const char *const *)words, NULL);
}

/* The JSON says the same as the text. */
static void check_json(const char *file, const outcome *text) {
    g_auto(outcome) o = tell("check --json", file);
    g_assert_cmpint(o.exit_code, ==, text->exit_code);
    g_assert_cmpstr(o.err, ==, "");
    cJSON *json = cJSON_Parse(o.out);
    g_assert_nonnull(json);
    g_assert_cmpint(cJSON_GetObjectItem(json, "exit")->valueint, ==, o.exit_code);
    const cJSON *problems = cJSON_GetObjectItem(json, "problems");
    g_assert_cmpint(cJSON_GetArraySize(problems), >, 0);
    int shown = MIN(cJSON_GetArraySize(problems), 50); /* as many as the text has */
    for (int i = 0; i < shown; i++) {
        const cJSON *one = cJSON_GetArrayItem(problems, i);
        g_assert_nonnull(strstr(text->err, cJSON_GetStringValue(cJSON_GetObjectItem(one, "text"))));
    }
    cJSON_Delete(json);
}

static void test_file(gconstpointer data) {
    const char *file = data;
    g_auto(outcome) check = tell("check", file), run = tell("run", file);
    g_assert_cmpint(run.exit_code, ==, check.exit_code);
    g_assert_cmpstr(run.err, ==, check.err);
    if (check.exit_code != 0) {
        g_assert_cmpstr(check.out, ==, "");
        g_assert_cmpstr(run.out, ==, "");
    }
    check_json(file, &check);
    g_autofree char *stem = g_strndup(file, strlen(file) - strlen(".ini"));
    g_autofree char *name = g_strconcat(stem, ".golden", NULL);
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *text = g_strdup_printf("exit %d\n%s", check.exit_code, check.err);
    golden_check(path, text);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = program_source("tests/pipelines/bad");
    g_auto(GStrv) files = names_in(folder, ".ini");
    for (char **file = files; *file != NULL; file++) {
        g_autofree char *path = g_strdup_printf("/pipelines/bad/%s", *file);
        g_test_add_data_func(path, *file, test_file);
    }
    int result = g_test_run();
    g_free(folder);
    return result;
}
