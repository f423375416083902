/* SPDX-License-Identifier: Apache-2.0 */
/* The manual that the build made, and completion in the shells, tell what the program itself tells:
 * its commands, their options, the classes and theirs. */
#include "program.h"

#include <cjson/cJSON.h>
#include <glib/gstdio.h>
#include <string.h>

#define MAN "etc/man"

static char *folder; /* tests/pipelines/good: a place with pipelines */

static outcome run(const char *const *words) {
    return program_run(folder, words, NULL);
}

static char *ask(const char *const *words) {
    g_auto(outcome) o = run(words);
    if (o.exit_code != 0)
        g_error("tracemill %s: %s", words[1], o.err);
    g_assert_cmpstr(o.err, ==, "");
    return g_steal_pointer(&o.out);
}

#define ASK(...) ask((const char *const[]){"tracemill", __VA_ARGS__, NULL})

static char *page_text(const char *section, const char *name) {
    g_autofree char *file = g_strdup_printf(MAN "%s/tracemill%s.%s", section, name, section);
    g_autofree char *path = program_build(file), *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        g_error("there is no page %s", path);
    return g_steal_pointer(&text);
}

static const char *text_of(const cJSON *json, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(json, key));
}

/* Names that the pattern's group finds in the text, in order, each once. */
static GPtrArray *found(const char *text, const char *pattern) {
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_MULTILINE, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    for (g_regex_match(regex, text, 0, &match); g_match_info_matches(match);
         g_match_info_next(match, NULL)) {
        char *name = g_match_info_fetch(match, 1);
        if (g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_free(name);
        else
            g_ptr_array_add(names, name);
    }
    return names;
}

static void is_in(const GPtrArray *names, const char *name, const char *where) {
    if (!g_ptr_array_find_with_equal_func((GPtrArray *)names, name, g_str_equal, NULL))
        g_error("%s does not tell \"%s\"", where, name);
}

/* The bundled classes. */
static GPtrArray *class_names(void) {
    g_autofree char *text = ASK("list", "--json");
    cJSON *list = cJSON_Parse(text), *m, *name;
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    cJSON_ArrayForEach(m, cJSON_GetObjectItem(list, "modules")) {
        if (!g_str_has_prefix(text_of(m, "path"), "BUILD/plugins/"))
            continue; /* of the tests' own */
        cJSON_ArrayForEach(name, cJSON_GetObjectItem(m, "classes"))
            g_ptr_array_add(names, g_strdup(name->valuestring));
    }
    g_assert_cmpuint(names->len, >, 0);
    cJSON_Delete(list);
    return names;
}

/* ---------------------------------------------------------------- pages */

static char *roff_name(const char *name) {
    g_auto(GStrv) parts = g_strsplit(name, "-", -1);
    return g_strjoinv("\\-", parts);
}

static void test_classes(void) {
    g_autofree char *main_page = page_text("1", "");
    g_autoptr(GPtrArray) names = class_names();
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *suffix = g_strconcat("-", names->pdata[i], NULL);
        g_autofree char *page = page_text("7", suffix), *escaped = roff_name(names->pdata[i]);
        g_autofree char *head = g_strdup_printf(".SH NAME\ntracemill\\-%s \\- ", escaped);
        g_assert_nonnull(strstr(page, head));
        g_autofree char *entry = g_strdup_printf("\n.BR tracemill\\-%s (7)\n", escaped);
        if (strstr(main_page, entry) == NULL)
            g_error("tracemill(1) does not name %s", (char *)names->pdata[i]);
    }
    g_autofree char *again = ASK("inspect", "--man", "overlap"), *page = page_text("7", "-overlap");
    g_assert_cmpstr(page, ==, again);
}

/* The long options that `help COMMAND` shows. */
static GPtrArray *help_options(const char *command) {
    g_autofree char *text = ASK("help", command);
    return found(text, "^  (?:-\\w, )?--([a-z-]+)");
}

/* The part of tracemill(1) about a command. */
static char *command_part(const char *page, const char *command) {
    g_autofree char *head = g_strdup_printf("\n.SS %s\n", command);
    const char *begin = strstr(page, head);
    if (begin == NULL)
        g_error("tracemill(1) has no part on %s", command);
    begin += strlen(head);
    const char *next = strstr(begin, "\n.S");
    return g_strndup(begin, (gsize)(next - begin));
}

static cJSON *commands(void) {
    g_autofree char *text = ASK("help", "--json");
    cJSON *json = cJSON_Parse(text);
    g_assert_cmpint(cJSON_GetArraySize(cJSON_GetObjectItem(json, "commands")), >=, 7);
    return json;
}

static void test_commands(void) {
    g_autofree char *page = page_text("1", "");
    cJSON *json = commands(), *one;
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(json, "commands")) {
        g_autofree char *part = command_part(page, text_of(one, "name"));
        g_autoptr(GString) plain = g_string_new(part);
        g_string_replace(plain, "\\-", "-", 0);
        g_autoptr(GPtrArray) told = found(plain->str, "\\\\fB--([a-z-]+)\\\\fR");
        g_autoptr(GPtrArray) options = help_options(text_of(one, "name"));
        for (guint i = 0; i < options->len; i++)
            if (strcmp(options->pdata[i], "help") != 0)
                is_in(told, options->pdata[i], text_of(one, "name"));
        g_assert_cmpuint(told->len, >, 0); /* at least --json */
    }
    cJSON_Delete(json);
}

/* What is written by hand names what the program names elsewhere. */
static void test_texts(void) {
    g_autofree char *page = page_text("1", ""), *help = ASK("help");
    g_autofree char *codes_text = g_strdup(strstr(help, "Exit codes:"));
    g_autoptr(GPtrArray) codes = found(codes_text, "\\b(\\d+) ");
    g_assert_cmpuint(codes->len, ==, 11);
    for (guint i = 0; i < codes->len; i++) {
        g_autofree char *tag = g_strdup_printf(".TP\n.B %s\n", (char *)codes->pdata[i]);
        g_assert_nonnull(strstr(page, tag));
    }
    g_autofree char *ready = program_source("etc/pipelines");
    g_auto(GStrv) names = names_in(ready, ".ini");
    for (char **name = names; *name != NULL; name++) {
        (*name)[strlen(*name) - strlen(".ini")] = '\0';
        g_autofree char *escaped = roff_name(*name);
        g_autofree char *tag = g_strdup_printf(".TP\n\\fB%s\\fR\n", escaped);
        g_assert_nonnull(strstr(page, tag));
    }
    g_autofree char *ini = page_text("5", "-pipeline"), *plugin = page_text("7", "-plugin");
    g_assert_nonnull(strstr(ini, "\\fBrun.timeout\\fR"));
    g_assert_nonnull(strstr(ini, "\\fBon\\-error\\fR"));
    g_autofree char *version = ASK("version");
    g_autoptr(GPtrArray) abi = found(version, "ABI ([\\d.]+)");
    g_autofree char *line = g_strdup_printf("\n%s\n", (char *)abi->pdata[0]);
    g_assert_nonnull(strstr(plugin, line));
}

/* Every page is ASCII without gaps left, and mandoc, where there is one, finds nothing worse than
 * long lines. */
static void test_form(void) {
    g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(argv, g_strdup("mandoc"));
    g_ptr_array_add(argv, g_strdup("-Tlint"));
    g_ptr_array_add(argv, g_strdup("-Wwarning"));
    static const char *const sections[] = {"1", "5", "7"};
    for (gsize i = 0; i < G_N_ELEMENTS(sections); i++) {
        g_autofree char *sub = g_strconcat(MAN, sections[i], NULL), *dir = program_build(sub);
        g_auto(GStrv) names = names_in(dir, sections[i]);
        g_assert_nonnull(names[0]);
        for (char **name = names; *name != NULL; name++) {
            char *path = g_build_filename(dir, *name, NULL);
            g_autofree char *text = NULL;
            g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
            g_assert_true(g_str_is_ascii(text));
            g_assert_true(g_str_has_prefix(text, ".\\\" "));
            g_assert_false(
                g_regex_match_simple("^(?!\\.\\\\\").*@[a-z-]+@", text, G_REGEX_MULTILINE, 0));
            g_ptr_array_add(argv, path);
        }
    }
    g_ptr_array_add(argv, NULL);
    g_autofree char *mandoc = g_find_program_in_path("mandoc");
    if (mandoc == NULL) {
        g_test_message("mandoc is not installed: the form of the pages was not checked by it");
        return;
    }
    g_auto(GStrv) env = program_environment();
    g_auto(outcome) o = program_spawn(folder, env, (char **)argv->pdata);
    g_assert_cmpstr(o.out, ==, "");
    g_assert_cmpint(o.exit_code, ==, 0);
}

/* The whole of a page, of a class that does not change with the analyses. */
static void test_golden(void) {
    g_autofree char *page = ASK("inspect", "--man", "test.plan");
    g_autofree char *path = program_source("tests/pipelines/manual/test.plan.7");
    golden_check(path, page);
}

/* ---------------------------------------------------------------- completion */

/* What can stand for the last word. */
#define COMPLETE(...) found_words(ASK("complete", "--", __VA_ARGS__))

static GPtrArray *found_words(char *answer) {
    GPtrArray *words = found(answer, "^([^\\t\\n]+)");
    g_free(answer);
    return words;
}

static void test_complete_commands(void) {
    g_autoptr(GPtrArray) names = COMPLETE("");
    cJSON *json = commands(), *one;
    g_assert_cmpuint(names->len, ==,
                     (guint)cJSON_GetArraySize(cJSON_GetObjectItem(json, "commands")));
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(json, "commands")) {
        is_in(names, text_of(one, "name"), "complete");
        g_autoptr(GPtrArray) options = COMPLETE(text_of(one, "name"), "--");
        g_autoptr(GPtrArray) helped = help_options(text_of(one, "name"));
        for (guint i = 0; i < helped->len; i++) {
            g_autofree char *option = g_strconcat("--", helped->pdata[i], NULL);
            is_in(options, option, text_of(one, "name"));
        }
    }
    cJSON_Delete(json);
}

static void words_are(GPtrArray *words, const char *expected) {
    g_ptr_array_add(words, NULL);
    g_autofree char *text = g_strjoinv(" ", (char **)words->pdata);
    g_assert_cmpstr(text, ==, expected);
    g_ptr_array_unref(words);
}

static void test_complete_words(void) {
    words_are(COMPLETE("run", "overl"), "overlap overlap-json :files");
    words_are(COMPLETE("run", "overlap", ""), ":files");
    words_are(COMPLETE("run", "--jobs", "4", "overlap", "ra"), ":files");
    words_are(COMPLETE("run", "--plugin-path", ""), ":folders");
    words_are(COMPLETE("graph", "-f", ""), "text dot mermaid");
    words_are(COMPLETE("graph", "--format=m"), "--format=mermaid");
    words_are(COMPLETE("inspect", "overl"), "overlap");
    words_are(COMPLETE("inspect", "tracemill.overlap:"), "tracemill.overlap:overlap");
    words_are(COMPLETE("inspect", "overlap", ""), "");
    words_are(COMPLETE("help", "gr"), "graph");
    words_are(COMPLETE("nonsense", ""), "");
    words_are(COMPLETE("run", "overlap", "--set", "trace.pla"), "trace.planes= trace.plane-rules=");
    words_are(COMPLETE("run", "overlap", "--set", "trace.planes="),
              "trace.planes=auto trace.planes=off");
    words_are(COMPLETE("run", "overlap", "--set=trace.strict="),
              "--set=trace.strict=yes --set=trace.strict=no");
    words_are(COMPLETE("run", "overlap", "--set", "trace.rules="), ":files");
    words_are(COMPLETE("run", "overlap", "--set", "trace.run."),
              "trace.run.timeout= trace.run.missing= trace.run.optional= "
              "trace.run.isolate= trace.run.memory=");
    words_are(COMPLETE("run", "plan-diff", "--set", "vars.b"), "vars.before=");
    words_are(COMPLETE("run", "no-such-pipeline", "--set", ""), "");
    words_are(COMPLETE("run", "--set", ""), "");
}

static void test_complete_classes(void) {
    g_autoptr(GPtrArray) names = class_names(), words = COMPLETE("inspect", "");
    for (guint i = 0; i < names->len; i++)
        is_in(words, names->pdata[i], "complete");
}

/* What bash is given for the line. */
static void bash_gives(const char *line, const char *expected) {
    g_autofree char *script = program_source("etc/completion/tracemill.bash");
    g_autofree char *quoted = g_shell_quote(line), *file = g_shell_quote(script);
    g_autofree char *text = g_strdup_printf(
        "source %s; compopt() { :; }; COMP_LINE=%s; COMP_POINT=${#COMP_LINE}; "
        "COMP_WORDBREAKS=$' \\t\\n\"><=;|&(:'; _tracemill; echo \"${COMPREPLY[@]}\"",
        file, quoted);
    g_auto(GStrv) env = program_environment();
    char *argv[] = {(char *)"bash", (char *)"--norc", (char *)"-c", text, NULL};
    g_auto(outcome) o = program_spawn(folder, env, argv);
    g_assert_cmpstr(o.err, ==, "");
    g_assert_cmpstr(g_strchomp(o.out), ==, expected);
}

/* bash replaces what stands after the last '=' or ':' only. */
static void test_bash(void) {
    bash_gives("tracemill gr", "graph");
    bash_gives("tracemill run basic.i", "basic.ini");
    bash_gives("tracemill run overlap --set trace.pla", "trace.planes= trace.plane-rules=");
    bash_gives("tracemill run overlap --set trace.planes=", "auto off");
    bash_gives("tracemill run overlap --set=trace.planes=o", "off");
    bash_gives("tracemill inspect tracemill.overlap:", "overlap");
    bash_gives("tracemill check --plugin-path fil", "files");
}

static void parses(const char *shell, const char *option, const char *file) {
    g_autofree char *program = g_find_program_in_path(shell);
    if (program == NULL) {
        g_autofree char *why =
            g_strdup_printf("%s is not installed: its script was not read", shell);
        g_test_skip(why);
        return;
    }
    g_autofree char *script = program_source(file);
    g_auto(GStrv) env = program_environment();
    char *argv[] = {program, (char *)option, script, NULL};
    g_auto(outcome) o = program_spawn(folder, env, argv);
    g_assert_cmpstr(o.err, ==, "");
    g_assert_cmpint(o.exit_code, ==, 0);
}

static void test_zsh(void) {
    parses("zsh", "-n", "etc/completion/_tracemill");
}

static void test_fish(void) {
    parses("fish", "-n", "etc/completion/tracemill.fish");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = program_source("tests/pipelines/good");
    g_test_add_func("/manual/classes", test_classes);
    g_test_add_func("/manual/commands", test_commands);
    g_test_add_func("/manual/texts", test_texts);
    g_test_add_func("/manual/form", test_form);
    g_test_add_func("/manual/golden", test_golden);
    g_test_add_func("/complete/commands", test_complete_commands);
    g_test_add_func("/complete/words", test_complete_words);
    g_test_add_func("/complete/classes", test_complete_classes);
    g_test_add_func("/complete/bash", test_bash);
    g_test_add_func("/complete/zsh", test_zsh);
    g_test_add_func("/complete/fish", test_fish);
    int failed = g_test_run();
    g_free(folder);
    return failed;
}
