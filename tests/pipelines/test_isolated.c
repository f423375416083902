/* SPDX-License-Identifier: Apache-2.0 */
/* Every ready pipeline says the same, to the byte, with each of its stages in a process of its own;
 * so does `train` of real profiles, where there are any. */
#include "program.h"

#include <string.h>

/* How often anything was compared. */
static unsigned compared;

/* `input` NULL: the pipeline has one of its own. */
static outcome run(const char *pipeline, const char *input, const char *const *extra) {
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(words, g_strdup("tracemill"));
    g_ptr_array_add(words, g_strdup("run"));
    g_ptr_array_add(words, g_strdup(pipeline));
    if (input != NULL)
        g_ptr_array_add(words, g_strdup(input));
    if (strcmp(pipeline, "compare") == 0)
        g_ptr_array_add(words, g_strconcat("--set=vars.base=", input, NULL));
    g_ptr_array_add(words, NULL);
    return program_run("/", (const char *const *)words->pdata, extra);
}

static void check_same(const char *pipeline, const char *input) {
    static const char *const here[] = {"--jobs=2", NULL};
    static const char *const ways[][3] = {{"--isolate", "--jobs=1"}, {"--isolate", "--jobs=3"}};
    g_auto(outcome) plain = run(pipeline, input, here);
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
        g_auto(outcome) isolated = run(pipeline, input, ways[i]);
        g_test_message("%s %s %s: exit %d, %zu bytes", pipeline, input != NULL ? input : "",
                       ways[i][1], isolated.exit_code, strlen(isolated.out));
        g_assert_cmpstr(isolated.err, ==, plain.err);
        g_assert_cmpstr(isolated.out, ==, plain.out);
        g_assert_cmpint(isolated.exit_code, ==, plain.exit_code);
        compared++;
    }
}

static void test_ready(gconstpointer data) {
    const char *pipeline = data;
    bool own = g_str_has_prefix(pipeline, "eplb") || g_str_has_prefix(pipeline, "plan-");
    g_autofree char *sample = program_source("tests/data/sample.json.gz");
    check_same(pipeline, own ? NULL : sample);
}

static void test_data(void) {
    g_autofree char *folder = g_build_filename(g_getenv("TRACEMILL_TEST_DATA"), "traces", NULL);
    if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
        g_test_skip("no real profiles here");
        return;
    }
    g_auto(GStrv) names = names_in(folder, ".json.gz");
    for (char **name = names; *name != NULL; name++) {
        g_autofree char *path = g_build_filename(folder, *name, NULL);
        check_same("train", path);
    }
    g_assert_cmpuint(compared, >, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_autofree char *folder = program_source("etc/pipelines");
    g_auto(GStrv) names = names_in(folder, ".ini");
    g_assert_cmpuint(g_strv_length(names), >, 0);
    for (char **name = names; *name != NULL; name++) {
        (*name)[strlen(*name) - strlen(".ini")] = '\0';
        g_autofree char *test = g_strconcat("/isolated/ready/", *name, NULL);
        g_test_add_data_func(test, *name, test_ready);
    }
    g_test_add_func("/isolated/data", test_data);
    return g_test_run();
}
