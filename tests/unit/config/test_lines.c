/* SPDX-License-Identifier: Apache-2.0 */
/* Every trap of INI text: what arrives, and what is told. */
#include "config/lines.h"

#include <glib/gstdio.h>
#include <string.h>

#include "golden.h"

/* Writes what arrives as "[section]@line" and "key@line=<value>" lines. */
static bool dump(void *arg, const char *section, uint32_t section_line, const char *key,
                 const char *value, uint32_t line) {
    GString *out = arg;
    if (key) {
        g_assert_cmpuint(section_line, <, line);
        g_string_append_printf(out, "%s@%u=<%s>\n", key, line, value);
    } else {
        g_assert_cmpuint(section_line, ==, line);
        g_string_append_printf(out, "[%s]@%u\n", section, line);
    }
    return true;
}

static void check_bytes(const char *data, size_t size, const char *arrives, const char *told) {
    g_autoptr(problems) p = problems_create();
    g_autoptr(GString) out = g_string_new(NULL);
    bool good = lines_read_memory("a.ini", data, size, dump, out, p);
    g_assert_cmpstr(out->str, ==, arrives);
    golden_problems(p, told);
    g_assert_true(good == (*told == '\0'));
}

typedef struct example {
    const char *name, *text, *arrives, *told;
} example;

static const example examples[] = {
    {"plain", "[a]\nx = 1\n y=2\n[b]\nx = 3\n", "[a]@1\nx@2=<1>\ny@3=<2>\n[b]@4\nx@5=<3>\n", ""},
    {"empty", "", "", ""},
    {"empty-section", "[a]\n[b]\n", "[a]@1\n[b]@2\n", ""},
    {"bom", "\xEF\xBB\xBF[a]\nx = 1\n", "[a]@1\nx@2=<1>\n", ""},
    {"crlf", "[a]\r\nx = 1\r\ny =\r\n  p\r\n  q\r\n", "[a]@1\nx@2=<1>\ny@3=<p\nq>\n", ""},
    {"no-last-newline", "[a]\nx = 1", "[a]@1\nx@2=<1>\n", ""},
    {"empty-value", "[a]\nx =\ny = ; none\n", "[a]@1\nx@2=<>\ny@3=<>\n", ""},
    {"comments", "; c\n[a] ; c\n# c\nx = 1 ; c\n\t; c\ny = 2\t;c\nz = 3;no\n",
     "[a]@2\nx@4=<1>\ny@6=<2>\nz@7=<3;no>\n", ""},
    {"list", "[a]\nx = one\n  two\n\n  ; between\n# too\n\tthree ; c\n",
     "[a]@1\nx@2=<one\ntwo\nthree>\n", ""},
    {"list-odd-items", "[a]\nx =\n  a:b\n  \"k = v\"\n  (?=z)\n  [a-z]+\n  >= 3\n",
     "[a]@1\nx@2=<a:b\n\"k = v\"\n(?=z)\n[a-z]+\n>= 3>\n", ""},
    {"indented-key", "[a]\nx = 1\n  y = 2\n", "[a]@1\nx@2=<1>\ny@3=<2>\n", ""},
    {"indented-section", "[a]\nx = 1\n  [b] ; c\n  y = 2\n", "[a]@1\nx@2=<1>\n[b]@3\ny@4=<2>\n",
     ""},
    {"value-with-signs", "[a]\nx = p:q=r [s] # t\n", "[a]@1\nx@2=<p:q=r [s] # t>\n", ""},
    {"blanks-in-header", "[ a b ]\nx = 1\n", "[a b]@1\nx@2=<1>\n", ""},
    {"utf8", "[a]\nx = µs → é\n", "[a]@1\nx@2=<µs → é>\n", ""},

    {"colon", "[a]\nx: 1\ny = 2\n", "[a]@1\ny@3=<2>\n",
     "a.ini:2: error: expected key = value\n  hint: write \"=\" for \":\"\n"},
    {"colon-in-key", "[a]\nx:y = 1\n", "[a]@1\n", "a.ini:2: error: a key can't hold \":\"\n"},
    {"no-equals", "[a]\nx = 1\noverlap\n", "[a]@1\nx@2=<1>\n",
     "a.ini:3: error: expected key = value\n"
     "  hint: a further line of a list begins with blanks\n"},
    {"no-equals-first", "[a]\noverlap\n  more\n", "[a]@1\n",
     "a.ini:2: error: expected key = value\n"},
    {"no-key", "[a]\n= 1\n", "[a]@1\n", "a.ini:2: error: expected key = value\n"},
    {"item-without-key", "[a]\n  item\n", "[a]@1\n", "a.ini:2: error: expected key = value\n"},
    {"comment-eats-equals", "[a]\nx ; = 1\n", "[a]@1\n", "a.ini:2: error: expected key = value\n"},
    {"no-bracket", "[a]\nx = 1\n[b\nx = 2\n  item\n[c]\nx = 3\n",
     "[a]@1\nx@2=<1>\n[c]@6\nx@7=<3>\n", "a.ini:3: error: section header has no \"]\"\n"},
    {"after-header", "[a] x = 1\n", "",
     "a.ini:1: error: text after the section header\n"
     "  hint: begin a comment with a blank and \";\"\n"},
    {"no-name", "[ ]\nx = 1\n", "", "a.ini:1: error: section header has no name\n"},
    {"quoted-comment", "[a]\nx = \"p ; q\"\n  item\ny = \"p\" ; \"q\"\n", "[a]@1\ny@4=<\"p\">\n",
     "a.ini:2: error: \" ;\" starts a comment even inside quotes\n"
     "  hint: write it without the blank before \";\"\n"},
    {"open-quote-comment", "[a]\nx = 5\" ; inches\n", "[a]@1\nx@2=<5\">\n", ""},
    {"twice", "[a]\nx = 1\ny = 2\nx = 3\n  4\n", "[a]@1\nx@2=<1>\ny@3=<2>\n",
     "a.ini:4: error: \"x\" is set twice, first at line 2\n"},
    {"section-twice", "[a]\nx = 1\n[b]\n[a]\nx = 2\n", "[a]@1\nx@2=<1>\n[b]@3\n",
     "a.ini:4: error: [a] is already defined at a.ini:1\n"},
    {"before-section", "x = 1\ny = 2\n[a]\nx = 3\n", "[a]@3\nx@4=<3>\n",
     "a.ini:1: error: expected a [section] before the first key\n"},
    {"latin1", "[a]\nx = caf\xE9\ny = 1\n", "[a]@1\ny@3=<1>\n",
     "a.ini:2: error: byte 0xE9 at column 8 is not UTF-8\n  hint: save it as UTF-8 text\n"},
    {"latin1-header", "[a]\nx = 1\n[caf\xE9]\nx = 2\n[b ; \"]\nx = 3\n[\"c ; \"]\nx = 4\n",
     "[a]@1\nx@2=<1>\n",
     "a.ini:3: error: byte 0xE9 at column 5 is not UTF-8\n  hint: save it as UTF-8 text\n"
     "a.ini:5: error: section header has no \"]\"\n"
     "a.ini:7: error: \" ;\" starts a comment even inside quotes\n"
     "  hint: write it without the blank before \";\"\n"},
    {"control", "[a]\nx = 1\ry = 2\rz = 3\n  item\n", "[a]@1\n",
     "a.ini:2: error: control character 0x0D at column 6\n"
     "  hint: lines end with LF or CR LF; blanks are spaces and tabs\n"},
    {"marks", "[a]\n\001 = 1\nx = \0022\n", "[a]@1\n",
     "a.ini:2: error: control character 0x01 at column 1\n"
     "  hint: lines end with LF or CR LF; blanks are spaces and tabs\n"
     "a.ini:3: error: control character 0x02 at column 5\n"
     "  hint: lines end with LF or CR LF; blanks are spaces and tabs\n"},
};

static void test_example(gconstpointer data) {
    const example *e = data;
    check_bytes(e->text, strlen(e->text), e->arrives, e->told);
}

static void test_nul(void) {
    static const char text[] = "[a]\nx = 1\ny = \0 2\nz = 3\n";
    check_bytes(text, sizeof text - 1, "[a]@1\nx@2=<1>\n",
                "a.ini:3: error: expected text, found a NUL byte\n"
                "  hint: save it as UTF-8 text\n");
}

/* Values of all lengths around inih's buffer arrive whole, whatever stands where they are cut. */
static void test_long_values(void) {
    static const char *const fillers[] = {"x", " y", ";", "; ", "#=", ":[", "é", "\t."};
    for (size_t f = 0; f < G_N_ELEMENTS(fillers); f++)
        for (size_t n = 1; n < 700; n += n < 120 || n > 280 ? 23 : 1) {
            g_autoptr(GString) value = g_string_new("v");
            while (value->len < n)
                g_string_append(value, fillers[f]);
            char last = value->str[value->len - 1];
            g_string_append(value, last == ' ' || last == '\t' ? "v" : "");
            if (strstr(value->str, " ;"))
                continue;
            g_autofree char *text = g_strdup_printf("[a]\nk = %s\n l =\n  %s\n  %s\n", value->str,
                                                    value->str, value->str);
            g_autofree char *arrives = g_strdup_printf("[a]@1\nk@2=<%s>\nl@3=<%s\n%s>\n",
                                                       value->str, value->str, value->str);
            check_bytes(text, strlen(text), arrives, "");
        }
}

static void test_limits(void) {
    g_autofree char *fits = g_strnfill(LINES_MAX_LINE - 4, 'v');
    g_autofree char *good = g_strdup_printf("[a]\nk = %s\n", fits);
    g_autofree char *arrives = g_strdup_printf("[a]@1\nk@2=<%s>\n", fits);
    check_bytes(good, strlen(good), arrives, "");

    g_autofree char *over = g_strdup_printf("[a]\nk = %s5\n  item\nl = 1\n", fits);
    check_bytes(over, strlen(over), "[a]@1\nl@4=<1>\n",
                "a.ini:2: error: line is 8193 bytes, the limit is 8192\n"
                "  hint: one list item per indented line, or a [vars] prefix\n");

    g_autofree char *name = g_strnfill(LINES_MAX_NAME, 'n');
    g_autofree char *names = g_strdup_printf("[%s]\n%s = 1\n", name, name);
    g_autofree char *both = g_strdup_printf("[%s]@1\n%s@2=<1>\n", name, name);
    check_bytes(names, strlen(names), both, "");

    g_autofree char *longer = g_strdup_printf("[a]\n%sk = 1\n[%ss]\nk = 1\n", name, name);
    check_bytes(longer, strlen(longer), "[a]@1\n",
                "a.ini:2: error: key name is 50 bytes, the limit is 49\n"
                "a.ini:3: error: section name is 50 bytes, the limit is 49\n");
}

static bool stop(void *arg, G_GNUC_UNUSED const char *section, G_GNUC_UNUSED uint32_t section_line,
                 const char *key, G_GNUC_UNUSED const char *value, G_GNUC_UNUSED uint32_t line) {
    unsigned *calls = arg;
    ++*calls;
    return !key;
}

static void test_stop(void) {
    static const char text[] = "[a]\nx = 1\ny = 2\n[b]\nz = 3\n";
    g_autoptr(problems) p = problems_create();
    unsigned calls = 0;
    g_assert_false(lines_read_memory("a.ini", text, sizeof text - 1, stop, &calls, p));
    g_assert_cmpuint(calls, ==, 2);
    golden_problems(p, "");
}

static void test_files(void) {
    g_autofree char *folder = g_dir_make_tmp("tracemill-XXXXXX", NULL);
    g_assert_cmpint(g_chdir(folder), ==, 0);
    g_autoptr(problems) p = problems_create();
    g_autoptr(GString) out = g_string_new(NULL);
    origin from = {.file = "main.ini", .line = 3};

    g_assert_true(g_file_set_contents("good.ini", "[a]\nx = 1\n", -1, NULL));
    g_assert_true(lines_read("good.ini", from, dump, out, p));
    g_assert_cmpstr(out->str, ==, "[a]@1\nx@2=<1>\n");

    g_assert_false(lines_read("none.ini", from, dump, out, p));
    g_assert_false(lines_read(folder, from, dump, out, p));
    g_assert_false(lines_read("/dev/zero", from, dump, out, p));
    g_autofree char *told =
        g_strdup_printf("main.ini:3: error: cannot read none.ini: No such file or directory\n"
                        "main.ini:3: error: cannot read %s: Is a directory\n"
                        "main.ini:3: error: cannot read /dev/zero: it is larger than 4 MiB\n"
                        "  hint: is it an INI file?\n",
                        folder);
    golden_problems(p, told);
    g_assert_cmpint(g_remove("good.ini"), ==, 0);
    g_assert_cmpint(g_chdir("/"), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
        g_autofree char *path = g_strconcat("/config/lines/", examples[i].name, NULL);
        g_test_add_data_func(path, &examples[i], test_example);
    }
    g_test_add_func("/config/lines/nul", test_nul);
    g_test_add_func("/config/lines/long-values", test_long_values);
    g_test_add_func("/config/lines/limits", test_limits);
    g_test_add_func("/config/lines/stop", test_stop);
    g_test_add_func("/config/lines/files", test_files);
    return g_test_run();
}
