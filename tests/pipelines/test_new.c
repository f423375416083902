/* SPDX-License-Identifier: Apache-2.0 */
/* `tracemill new`: what it writes, how it is called, and that it never overwrites. That the
 * projects build and work is the test `install`. */
#include "program.h"

#include <glib/gstdio.h>
#include <string.h>

static char *folder; /* where the commands run */

/* Splits a command line at blanks. */
static outcome run(const char *line) {
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    return program_run(folder, (const char *const *)words, NULL);
}

/* Each line of what `find` finds there. */
static char *found(const char *where) {
    g_auto(GStrv) env = program_environment();
    g_autofree char *script = g_strdup_printf("cd %s && find . -type f | sort", where);
    char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, script, NULL};
    g_auto(outcome) o = program_spawn(folder, env, argv);
    g_assert_cmpint(o.exit_code, ==, 0);
    return g_steal_pointer(&o.out);
}

/* The text of all files there, with their names. */
static char *text_of(const char *where) {
    g_auto(GStrv) env = program_environment();
    g_autofree char *script = g_strdup_printf(
        "find %s -type f | while read -r f; do echo \"$f\"; cat \"$f\"; done", where);
    char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, script, NULL};
    g_auto(outcome) o = program_spawn(folder, env, argv);
    g_assert_cmpint(o.exit_code, ==, 0);
    return g_steal_pointer(&o.out);
}

static void write_in(const char *name, const char *text) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

/* ---------------------------------------------------------------- what is written */

#define ASSERT_HOLDS(text, part) g_assert_nonnull(strstr(text, part))

static void test_stage(void) {
    g_auto(outcome) o = run("tracemill new stage zeta.fit-2");
    g_assert_cmpstr(o.err, ==, "");
    g_assert_cmpint(o.exit_code, ==, 0);
    g_assert_cmpstr(
        o.out, ==,
        "zeta-fit-2: a stage zeta.fit-2 in the module org.zeta.fit-2\n"
        "  .gitignore\n"
        "  README.md\n"
        "  meson.build\n"
        "  pipeline.ini\n"
        "  src/zeta_fit_2.c\n"
        "  test/test.c\n"
        "  test/tiny.json\n"
        "\n"
        "Build and test it: cd zeta-fit-2 && meson setup build && meson test -C build\n");
    g_autofree char *files = found("zeta-fit-2"), *text = text_of("zeta-fit-2");
    g_assert_cmpstr(files, ==,
                    "./.gitignore\n./README.md\n./meson.build\n./pipeline.ini\n"
                    "./src/zeta_fit_2.c\n./test/test.c\n./test/tiny.json\n");
    ASSERT_HOLDS(text, "project('zeta-fit-2', 'c',");
    ASSERT_HOLDS(text, ".id = \"org.zeta.fit-2\"");
    ASSERT_HOLDS(text, "use = zeta.fit-2\n");
}

/* No kind in no language has a name of the template left, or names what it does not have. */
static void test_names(void) {
    static const char *const kinds[] = {"stage", "reader", "exporter", "type"};
    static const char *const languages[] = {"c", "c++"};
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (size_t l = 0; l < G_N_ELEMENTS(languages); l++) {
            bool type = strcmp(kinds[k], "type") == 0;
            g_autofree char *line = g_strdup_printf(
                "tracemill new %s %s --language %s --dir all/%s-%s --module-id org.zeta.all",
                kinds[k], type ? "org.zeta.fit/3" : "zeta.fit", languages[l], kinds[k],
                languages[l]);
            g_auto(outcome) o = run(line);
            g_assert_cmpstr(o.err, ==, "");
            g_assert_cmpint(o.exit_code, ==, 0);
            ASSERT_HOLDS(o.out, *kinds[k] == 'e' ? ": an exporter " : ": a ");
            g_autofree char *where = g_strdup_printf("all/%s-%s", kinds[k], languages[l]);
            g_autofree char *text = text_of(where);
            g_autofree char *lower = g_ascii_strdown(text, -1);
            g_assert_null(strstr(lower, "acme"));
            ASSERT_HOLDS(text, "\"org.zeta.all\"");
            ASSERT_HOLDS(text, "zeta.fit");
            if (type)
                ASSERT_HOLDS(text, "#define ZETA_FIT_TYPE \"org.zeta.fit/3\"");
            bool cpp = languages[l][1] != '\0';
            g_autofree char *files = found(where);
            g_assert_cmpint(strstr(files, "./src/zeta_fit.cpp\n") != NULL, ==, cpp);
            g_assert_cmpint(strstr(files, "./src/zeta_fit.c\n") != NULL, ==, !cpp);
            ASSERT_HOLDS(text, cpp ? "cpp_std=c++17" : "c_std=c11");
        }
}

static void test_json(void) {
    g_auto(outcome) o = run("tracemill new type org.fit/1 --json");
    g_assert_cmpint(o.exit_code, ==, 0);
    ASSERT_HOLDS(o.out, "\"schema\":\t\"tracemill.new/1\"");
    ASSERT_HOLDS(o.out, "\"name\":\t\"org.fit/1\"");
    ASSERT_HOLDS(o.out, "\"module\":\t\"org.fit\"");
    ASSERT_HOLDS(o.out, "\"folder\":\t\"org-fit\"");
    ASSERT_HOLDS(o.out, "\"include/org_fit.h\"");
}

/* ---------------------------------------------------------------- what is refused */

typedef struct expected {
    const char *line;
    int exit_code;
    const char *err;
} expected;

static void expect(const expected *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        g_auto(outcome) o = run(cases[i].line);
        if (o.exit_code != cases[i].exit_code || strstr(o.err, cases[i].err) == NULL)
            g_error("%s\nended with %d and said\n%s", cases[i].line, o.exit_code, o.err);
        g_assert_cmpstr(o.out, ==, "");
    }
}

static void test_usage(void) {
    static const expected cases[] = {
        {"tracemill new", 64, "hint: such as: tracemill new stage acme.busy"},
        {"tracemill new stage", 64, "needs a kind (stage, reader, exporter or type) and a name"},
        {"tracemill new stage a.b c", 64, "needs a kind"},
        {"tracemill new raeder a.b", 64, "hint: did you mean \"reader\"?"},
        {"tracemill new plugin a.b", 64, "\"plugin\" is no kind of project"},
        {"tracemill new stage busy", 64, "\"busy\" is no name for a stage class"},
        {"tracemill new stage Acme.Busy_2", 64, "hint: did you mean \"acme.busy-2\"?"},
        {"tracemill new stage a..b", 64, "is no name for a stage class"},
        {"tracemill new stage ../up.there", 64, "is no name for a stage class"},
        {"tracemill new stage org.acme.x/1", 64, "is no name for a stage class"},
        {"tracemill new type org.acme.x", 64, "hint: did you mean \"org.acme.x/1\"?"},
        {"tracemill new type mill.trace/1", 64, "mill.… is the host's"},
        {"tracemill new type x/1", 64, "is no id for a type"},
        {"tracemill new stage a.b --language rust", 64, "it is c or c++"},
        {"tracemill new stage a.b --module-id b", 64, "\"b\" is no id for a module"},
        {"tracemill new stage a.b --colour", 64, "Unknown option"},
    };
    expect(cases, G_N_ELEMENTS(cases));
    g_autofree char *name = g_strnfill(97, 'b');
    g_autofree char *line = g_strdup_printf("tracemill new stage a.%s", name);
    expect(&(expected){line, 64, "the name is too long: 100 bytes"}, 1);
    g_autofree char *files = found(".");
    g_assert_null(strstr(files, "a-b"));
}

static void test_overwrites_nothing(void) {
    g_autofree char *used = g_build_filename(folder, "used", NULL);
    g_assert_cmpint(g_mkdir(used, 0755), ==, 0);
    g_auto(outcome) empty = run("tracemill new stage a.b --dir used");
    g_assert_cmpint(empty.exit_code, ==, 0);
    g_autofree char *before = text_of("used");
    write_in("file", "mine\n");
    static const expected cases[] = {
        {"tracemill new reader a.b --dir used", 74, "used is there already and not empty"},
        {"tracemill new reader a.b --dir file", 74, "Not a directory"},
        {"tracemill new reader a.b --dir file/in", 74, "can't make the folder file"},
        {"tracemill new reader a.b --dir /proc/none", 74, "can't make the folder /proc/none"},
    };
    expect(cases, G_N_ELEMENTS(cases));
    g_autofree char *after = text_of("used"), *file = text_of("file");
    g_assert_cmpstr(before, ==, after);
    g_assert_cmpstr(file, ==, "file\nmine\n");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_autoptr(GError) error = NULL;
    folder = g_dir_make_tmp("tracemill-new-XXXXXX", &error);
    g_assert_no_error(error);
    g_test_add_func("/new/stage", test_stage);
    g_test_add_func("/new/names", test_names);
    g_test_add_func("/new/json", test_json);
    g_test_add_func("/new/usage", test_usage);
    g_test_add_func("/new/overwrites-nothing", test_overwrites_nothing);
    int result = g_test_run();
    char *argv_rm[] = {(char[]){"rm"}, (char[]){"-rf"}, (char[]){"--"}, folder, NULL};
    g_spawn_sync(NULL, argv_rm, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    g_free(folder);
    return result;
}
