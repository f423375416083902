/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell can do to the program: closed and full descriptors, names that would steer a
 * terminal, arguments in any bytes. */
#include "program.h"

#include <glib/gstdio.h>
#include <string.h>

/* A file name of bytes that are not UTF-8, an escape sequence, and a mark that turns text round. */
#define EVIL "\xFF\033[31m\xE2\x80\xAE"
#define EVIL_SHOWN "\xEF\xBF\xBD\\x1b[31m\\u202e"

static char
    *folder; /* where the commands run: one pipeline, one input, and both under a bad name */

/* `script` finds the program as $T, and what lets it find the test's classes as $P. */
static outcome shell(const char *script) {
    g_auto(GStrv) env = program_environment();
    g_autofree char *plugins = program_build("tests/pipelines/plugins");
    env = g_environ_setenv(env, "T", g_getenv("TRACEMILL_TEST_PROGRAM"), TRUE);
    env = g_environ_setenv(env, "P", plugins, TRUE);
    g_autofree char *whole = g_strconcat(
        "t() { c=$1; shift; \"$T\" $c --trust-writable --plugin-path \"$P\" \"$@\"; }\n", script,
        NULL);
    char *argv[] = {(char[]){"sh"}, (char[]){"-c"}, whole, NULL};
    return program_spawn(folder, env, argv);
}

typedef struct expected {
    const char *script;
    int exit_code;
    const char *err; /* a part of it; NULL: nothing is said */
} expected;

static void expect(const expected *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        g_auto(outcome) o = shell(cases[i].script);
        if (o.exit_code != cases[i].exit_code ||
            (cases[i].err != NULL ? strstr(o.err, cases[i].err) == NULL : *o.err != '\0'))
            g_error("%s\nended with %d and said\n%s", cases[i].script, o.exit_code, o.err);
    }
}

static void write_in(const char *name, const char *text) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    FILE *f = g_fopen(path, "wb");
    g_assert_nonnull(f);
    g_assert_cmpint(fputs(text, f), >=, 0);
    g_assert_cmpint(fclose(f), ==, 0);
}

/* ---------------------------------------------------------------- descriptors */

/* The result would be lost: that is a failure, for any command. */
static void test_output(void) {
    static const expected cases[] = {
        {"t run p.ini in.txt >&-", 74, "cannot write standard output"},
        {"t run p.ini in.txt --json >&-", 74, "can't write to standard output"},
        {"t check p.ini in.txt >&-", 74, "can't write to standard output"},
        {"t list >&-", 74, "can't write to standard output"},
        {"\"$T\" help >&-", 74, "can't write to standard output"},
        {"\"$T\" help --json >/dev/full", 74, "can't write to standard output: No space"},
        {"\"$T\" version >/dev/full", 74, "can't write to standard output: No space"},
        {"\"$T\" help version >/dev/full", 74, "can't write to standard output: No space"},
    };
    expect(cases, G_N_ELEMENTS(cases));
}

/* The child that looks at plugins talks through pipes, which must not get the numbers 0, 1, 2. */
static void test_closed(void) {
    static const expected cases[] = {
        {"t run p.ini in.txt <&-", 0, NULL},
        {"t run p.ini in.txt 2>&-", 0, NULL},
        {"t run p.ini in.txt <&- 2>&-", 0, NULL},
        {"t run p.ini in.txt <&- >&- 2>&-", 74, NULL},
        {"t run p.ini no.txt <&- 2>&-", 66, NULL},
        {"t run p.ini in.txt --set out.path=/dev/stdout >&-", 74, "cannot write /dev/stdout"},
    };
    expect(cases, G_N_ELEMENTS(cases));
    g_auto(outcome) open = shell("t list"), closed = shell("t list <&- 2>&-");
    g_assert_cmpstr(closed.out, ==, open.out);
}

/* ---------------------------------------------------------------- names */

/* Nothing that is printed may hold a control character, or be anything but UTF-8. */
static void assert_harmless(const char *script, const char *text) {
    bool harmless = g_utf8_validate(text, -1, NULL);
    for (const char *c = text; harmless && *c != '\0'; c = g_utf8_next_char(c))
        harmless = *c == '\n' || (g_unichar_isprint(g_utf8_get_char(c)) &&
                                  g_unichar_type(g_utf8_get_char(c)) != G_UNICODE_FORMAT);
    if (!harmless) {
        g_autofree char *shown = g_strescape(text, NULL);
        g_error("%s\nprinted %s", script, shown);
    }
}

static void test_names(void) {
    static const char *const scripts[] = {
        "t run ./" EVIL ".ini no" EVIL ".txt",
        "t run ./no" EVIL ".ini " EVIL ".txt",
        "t run -n ./" EVIL ".ini " EVIL ".txt",
        "t check ./" EVIL ".ini " EVIL ".txt",
        "t check --print ./" EVIL ".ini",
        "t graph ./" EVIL ".ini " EVIL ".txt",
        "t run ./" EVIL ".ini bad" EVIL ".txt",
        "t run p.ini in.txt --set load.path=" EVIL,
        "t run p.ini in.txt --set " EVIL ".x=1",
        "t run p.ini in.txt --timeout " EVIL,
        "t run p.ini in.txt --" EVIL,
        "t inspect " EVIL,
        "t list " EVIL,
        "t list --plugin-path " EVIL,
        "TRACEMILL_PLUGIN_PATH=" EVIL " t list",
        "\"$T\" " EVIL,
    };
    for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
        g_auto(outcome) o = shell(scripts[i]);
        assert_harmless(scripts[i], o.out);
        assert_harmless(scripts[i], o.err);
        if (strstr(o.out, "31m") == NULL && strstr(o.err, "31m") == NULL)
            g_error("%s\ndoes not show the name", scripts[i]);
    }
}

static void test_arguments(void) {
    static const expected cases[] = {
        {"t run ''", 64, "which pipeline?"},
        {"t run p.ini -- -in.txt", 0, NULL},
        {"t run -- p.ini in.txt", 0, NULL},
        {"t run p.ini -- -no.txt", 66, "path = \"-no.txt\": no such file"},
        {"t run no.ini in.txt", 66, "cannot read no.ini"},
        {"\"$T\" version no", 64, "\"no\" is not expected here"},
        {"\"$T\" --version no", 64, "\"no\" is not expected here"},
        {"\"$T\" help run no", 64, "\"no\" is not expected here"},
        {"\"$T\" help no --json", 64, "there is no command \"no\""},
        {"t check no.ini --color=always", 66, "\033[1;31merror:"},
        {"t check no.ini --color=red", 64, "--color is one of auto, always, never"},
        {"t run p.ini bad*", 65, "0 runs of stages ended well, 1 failed, 1 skipped"},
        {"LC_ALL=C t run p.ini in.txt --set out.title=é", 0, NULL},
        {"LC_ALL=C t run p.ini --set load.path=é.txt", 66, "path = \"é.txt\": no such file"},
        {"LC_ALL=C t run p.ini in.txt --timeout 5µ", 64, "--timeout \"5µ\" is no duration"},
        {"t run p.ini --set load.path=" EVIL, 78, "--set load.path=\xEF\xBF\xBD"},
        {"t run ./no" EVIL ".ini", 66, "cannot read ./no" EVIL_SHOWN ".ini"},
    };
    expect(cases, G_N_ELEMENTS(cases));
}

/* ---------------------------------------------------------------- help */

/* On a terminal of 80 columns nothing of it wraps. */
static void test_help(void) {
    static const char all[] =
        "\"$T\" help; for c in run check list inspect graph help version; do "
        "\"$T\" help $c || exit; done; for c in $(\"$T\" list | awk "
        "'/ loaded /{print $5}'); do \"$T\" inspect $c | grep -v ^module; done";
    g_auto(outcome) o = shell(all);
    g_assert_cmpint(o.exit_code, ==, 0);
    g_auto(GStrv) lines = g_strsplit(o.out, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), >, 100);
    for (char **line = lines; *line != NULL; line++)
        if (g_utf8_strlen(*line, -1) > 80)
            g_error("wider than 80 columns: %s", *line);
}

static void test_help_json(void) {
    static const char *const commands[] = {"run", "graph", "version"};
    g_auto(outcome) all = shell("\"$T\" help --json");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_autofree char *script = g_strdup_printf("\"$T\" help --json %s", commands[i]);
        g_autofree char *quoted = g_strdup_printf("\"%s\"", commands[i]);
        g_auto(outcome) one = shell(script);
        g_assert_cmpint(one.exit_code, ==, 0);
        g_assert_nonnull(strstr(one.out, quoted));
        g_assert_null(strstr(one.out, "\"list\""));
        g_assert_nonnull(strstr(all.out, quoted));
    }
}

/* ---------------------------------------------------------------- setting */

static const char *const inputs[] = {"in.txt", "-in.txt", EVIL ".txt", "bad" EVIL ".txt"};
static const char *const pipelines[] = {"p.ini", EVIL ".ini"};

static void set_up(void) {
    static const char pipeline[] = "[load]\nuse = test.read\npath = ${args}\n"
                                   "[out]\nuse = test.write\nin = load.matrix\n";
    folder = g_dir_make_tmp("tracemill-XXXXXX", NULL);
    g_assert_nonnull(folder);
    for (size_t i = 0; i < G_N_ELEMENTS(inputs); i++)
        write_in(inputs[i], g_str_has_prefix(inputs[i], "bad") ? "x\n" : "1\n2\n");
    for (size_t i = 0; i < G_N_ELEMENTS(pipelines); i++)
        write_in(pipelines[i], pipeline);
}

static void remove_in(const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_assert_cmpint(g_remove(path), ==, 0);
}

static void tear_down(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(inputs); i++)
        remove_in(inputs[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(pipelines); i++)
        remove_in(pipelines[i]);
    g_assert_cmpint(g_rmdir(folder), ==, 0); /* nothing was left there */
    g_free(folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    set_up();
    g_test_add_func("/pipelines/shell/output", test_output);
    g_test_add_func("/pipelines/shell/closed", test_closed);
    g_test_add_func("/pipelines/shell/names", test_names);
    g_test_add_func("/pipelines/shell/arguments", test_arguments);
    g_test_add_func("/pipelines/shell/help", test_help);
    g_test_add_func("/pipelines/shell/help-json", test_help_json);
    int result = g_test_run();
    tear_down();
    return result;
}
