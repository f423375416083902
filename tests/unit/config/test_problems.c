/* SPDX-License-Identifier: Apache-2.0 */
/* Order, printing and exit codes of problems; suggestions; natural order. */
#include "config/problems.h"

#include <string.h>

#include "config/natural.h"
#include "config/suggest.h"
#include "config/visible.h"
#include "golden.h"

static void add(problems *p, problem_kind kind, const char *file, uint32_t line, const char *text) {
    problems_add(p, kind, MILL_ERROR, (origin){.file = file, .line = line}, NULL, "%s", text);
}

static void test_order(void) {
    g_autoptr(problems) p = problems_create();
    problems_note_file(p, "main.ini");
    problems_note_file(p, "a.ini");
    problems_add(p, PROBLEM_CONFIG, MILL_ERROR, (origin){.text = "--set x.y=3"}, "did you mean?",
                 "six %d", 6);
    add(p, PROBLEM_CONFIG, "a.ini", 2, "four");
    add(p, PROBLEM_CONFIG, "a.ini", 10, "five");
    add(p, PROBLEM_CONFIG, "main.ini", 7, "two");
    add(p, PROBLEM_CONFIG, "main.ini", 7, "three");
    add(p, PROBLEM_CONFIG, "main.ini", 7, "two");
    problems_add(p, PROBLEM_CONFIG, MILL_WARNING, (origin){.file = "main.ini"}, NULL, "one");
    g_assert_cmpuint(problems_errors(p), ==, 5);
    golden_problems(p, "main.ini: warning: one\n"
                       "main.ini:7: error: two\n"
                       "main.ini:7: error: three\n"
                       "a.ini:2: error: four\n"
                       "a.ini:10: error: five\n"
                       "--set x.y=3: error: six 6\n"
                       "  hint: did you mean?\n");

    cJSON *json = problems_to_json(p);
    g_autofree char *first = cJSON_PrintUnformatted(cJSON_GetArrayItem(json, 1));
    g_autofree char *last = cJSON_PrintUnformatted(cJSON_GetArrayItem(json, 5));
    g_assert_cmpstr(first, ==,
                    "{\"level\":\"error\",\"kind\":\"config\",\"file\":\"main.ini\",\"line\":7,"
                    "\"text\":\"two\"}");
    g_assert_cmpstr(last, ==,
                    "{\"level\":\"error\",\"kind\":\"config\",\"origin\":\"--set x.y=3\","
                    "\"text\":\"six 6\",\"hint\":\"did you mean?\"}");
    cJSON_Delete(json);
}

static void test_colour(void) {
    g_autoptr(problems) p = problems_create();
    add(p, PROBLEM_CONFIG, "a.ini", 2, "no");
    g_autofree char *text = problems_format(p, true);
    g_assert_cmpstr(text, ==, "\033[1ma.ini:2:\033[0m \033[1;31merror:\033[0m no\n");
}

static void test_cap(void) {
    g_autoptr(problems) p = problems_create();
    for (uint32_t line = 5000; line > 0; line--)
        add(p, PROBLEM_CONFIG, "a.ini", line, "no");
    g_autofree char *text = problems_format(p, false);
    g_assert_true(g_str_has_suffix(text, "error: no\n… and 4950 more\n"));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 52);
    g_assert_cmpuint(problems_errors(p), ==, 5000);
}

static void test_exit_code(void) {
    g_autoptr(problems) p = problems_create();
    problems_add(p, PROBLEM_CONFIG, MILL_WARNING, (origin){.file = "a.ini"}, NULL, "hm");
    g_assert_cmpint(problems_exit_code(p), ==, 0);
    add(p, PROBLEM_NOINPUT, "a.ini", 1, "missing");
    g_assert_cmpint(problems_exit_code(p), ==, 66);
    add(p, PROBLEM_MODULE, "a.ini", 1, "module");
    g_assert_cmpint(problems_exit_code(p), ==, 78);
    g_autoptr(problems) q = problems_create();
    add(q, PROBLEM_MODULE, "a.ini", 1, "module");
    g_assert_cmpint(problems_exit_code(q), ==, 69);
}

/* A file may be called anything; what is shown steers no terminal, and JSON stays UTF-8. */
static void test_hostile_names(void) {
    g_autoptr(problems) p = problems_create();
    problems_add(p, PROBLEM_CONFIG, MILL_ERROR, (origin){.file = "a\033[2J\xFF.ini", .line = 3},
                 "see\007", "can't read b\xC2\x9B.ini\xE2\x80\xAE");
    golden_problems(p, "a\\x1b[2J\xEF\xBF\xBD.ini:3: error: can't read b\\x9b.ini\\u202e\n"
                       "  hint: see\\x07\n");
    cJSON *json = problems_to_json(p);
    g_autofree char *text = cJSON_PrintUnformatted(json);
    g_assert_true(g_utf8_validate(text, -1, NULL));
    cJSON_Delete(json);
}

static void test_long_names(void) {
    g_autoptr(problems) p = problems_create();
    g_autofree char *name = g_strnfill(100000, 'x');
    problems_add(p, PROBLEM_CONFIG, MILL_ERROR, (origin){.text = name}, name, "no %s", name);
    g_autofree char *text = problems_format(p, false);
    g_assert_cmpuint(strlen(text), <, 3100);
    g_assert_nonnull(strstr(text, "xxx…: error: no xxx"));
    g_assert_true(g_str_has_suffix(text, "xxx…\n"));
}

static void test_visible(void) {
    static const struct {
        const char *text, *shown;
    } right[] = {{"", ""},
                 {"rank0 é 中\nnext", "rank0 é 中\nnext"},
                 {"\t\033[31m\177", "\\x09\\x1b[31m\\x7f"},
                 {"\xC2\x85\xC2\x9B", "\\x85\\x9b"},
                 {"\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\xA8", "\\u202e\\u2066\\u2028"},
                 {"\xFFz\xE2", "\xEF\xBF\xBDz\xEF\xBF\xBD"}};
    for (size_t i = 0; i < G_N_ELEMENTS(right); i++) {
        g_autofree char *shown = visible(right[i].text);
        g_assert_cmpstr(shown, ==, right[i].shown);
    }
}

static void test_quote(void) {
    g_autofree char *plain = problems_quote("rank*.json é");
    g_assert_cmpstr(plain, ==, "\"rank*.json é\"");
    g_autofree char *control = problems_quote("a\nb\033[31m\xFFz");
    g_assert_cmpstr(control, ==, "\"a\\nb\\x1b[31m\xEF\xBF\xBDz\"");
    g_autofree char *many = g_strnfill(5000, 'x');
    g_autofree char *cut = problems_quote(many);
    g_assert_true(g_str_has_suffix(cut, "xxx…\""));
    g_assert_cmpuint(strlen(cut), <, 90);
}

static void test_suggest(void) {
    static const char *const names[] = {"top", "tip", "path", "micro-batch", "kineto.read", NULL};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"tpo", "top"},
        {"topk", "top"},
        {"TOP", "top"},
        {"tap", "top"},
        {"paht", "path"},
        {"kineto.raed", "kineto.read"},
        {"microbatch", "micro-batch"},
        {"mikro-bach", "micro-batch"},
        {"xyz", NULL},
        {"", NULL},
        {"x", NULL},
        {"patience", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpstr(suggest_nearest(cases[i].word, names), ==, cases[i].nearest);
    g_assert_null(suggest_nearest("top", NULL));
    g_autofree char *many = g_strnfill(100000, 't');
    g_assert_null(suggest_nearest(many, names));
    g_autofree char *hint = suggest_hint("tpo", names);
    g_assert_cmpstr(hint, ==, "did you mean \"top\"?");
}

static int sign(int n) {
    return (n > 0) - (n < 0);
}

static void test_natural(void) {
    /* In their order. */
    static const char *const texts[] = {
        "",
        "0",
        "00",
        "01",
        "1",
        "2",
        "10",
        "99999999999999999999998",
        "99999999999999999999999",
        "a",
        "a-1",
        "a1",
        "a1b2",
        "a1b10",
        "a02b",
        "a2c",
        "b",
        "rank2.json",
        "rank10.json",
        "\xC3\xA9",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        for (size_t j = 0; j < G_N_ELEMENTS(texts); j++)
            g_assert_cmpint(sign(natural_compare(texts[i], texts[j])), ==, sign((int)i - (int)j));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/problems/order", test_order);
    g_test_add_func("/config/problems/colour", test_colour);
    g_test_add_func("/config/problems/cap", test_cap);
    g_test_add_func("/config/problems/exit-code", test_exit_code);
    g_test_add_func("/config/problems/quote", test_quote);
    g_test_add_func("/config/problems/hostile-names", test_hostile_names);
    g_test_add_func("/config/problems/long-names", test_long_names);
    g_test_add_func("/config/problems/visible", test_visible);
    g_test_add_func("/config/suggest", test_suggest);
    g_test_add_func("/config/natural", test_natural);
    return g_test_run();
}
