/* SPDX-License-Identifier: Apache-2.0 */
/* Includes, overrides and --set. */
#include "config/document.h"

#include <glib/gstdio.h>
#include <string.h>

#include "golden.h"

/* Each test runs in a new folder. */
typedef struct fixture {
    char *folder;
    problems *p;
} fixture;

static void setup(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    f->folder = g_dir_make_tmp("tracemill-XXXXXX", NULL);
    g_assert_cmpint(g_chdir(f->folder), ==, 0);
    f->p = problems_create();
}

static void teardown(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    static const char *const names[] = {"a.ini", "b.ini",     "c.ini",
                                        "d.ini", "sub/e.ini", "sub/f.ini"};
    problems_destroy(f->p);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        (void)g_remove(names[i]);
    (void)g_rmdir("sub");
    g_assert_cmpint(g_chdir("/"), ==, 0);
    g_assert_cmpint(g_rmdir(f->folder), ==, 0);
    g_free(f->folder);
}

static void write_file(const char *name, const char *text) {
    g_assert_true(g_file_set_contents(name, text, -1, NULL));
}

/* "[section]@origin key=value@origin<value@origin…" for all, '<' before what was overridden. */
static char *dump(const document *doc) {
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < doc->sections->len; i++) {
        const section *sec = doc->sections->pdata[i];
        g_autofree char *where = origin_format(sec->at);
        g_string_append_printf(out, "[%s]@%s\n", sec->name, where);
        for (guint j = 0; j < sec->settings->len; j++) {
            const setting *s = sec->settings->pdata[j];
            g_assert_true(section_get(sec, s->key) == s);
            g_assert_cmpstr(s->section, ==, sec->name);
            g_string_append(out, s->key);
            for (const char *sign = "="; s; s = s->overrides, sign = " <") {
                g_autofree char *at = origin_format(s->at);
                g_string_append_printf(out, "%s%s@%s", sign, s->value, at);
            }
            g_string_append_c(out, '\n');
        }
    }
    return g_string_free(out, false);
}

static void check(fixture *f, const document *doc, const char *holds, const char *told) {
    g_autofree char *text = dump(doc);
    g_assert_cmpstr(text, ==, holds);
    golden_problems(f->p, told);
}

static void test_include(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    g_assert_cmpint(g_mkdir("sub", 0700), ==, 0);
    write_file("a.ini", "[pipeline]\ninclude = b.ini, sub/e.ini\n[x]\nuse = three\nnew = 1\n");
    write_file("b.ini", "[x]\nuse = one\ntop = 1\n[y]\nuse = y\n");
    write_file("sub/e.ini", "[pipeline]\ninclude = f.ini\n[x]\nuse = two\n");
    write_file("sub/f.ini", "[x]\ntop = 2\n");
    g_autoptr(document) doc = document_read("a.ini", NULL, f->p);
    check(f, doc,
          "[x]@a.ini:3\n"
          "use=three@a.ini:4 <two@sub/e.ini:4 <one@b.ini:2\n"
          "top=2@sub/f.ini:2 <1@b.ini:3\n"
          "new=1@a.ini:5\n"
          "[y]@b.ini:4\n"
          "use=y@b.ini:5\n"
          "[pipeline]@a.ini:1\n"
          "include=b.ini, sub/e.ini@a.ini:2 <f.ini@sub/e.ini:2\n",
          "");
    g_assert_cmpstr(document_section(doc, "y")->name, ==, "y");
    g_assert_null(document_section(doc, "z"));
    g_assert_null(section_get(document_section(doc, "y"), "top"));
}

/* Where two files include a third, it stays below both. */
static void test_diamond(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    write_file("a.ini", "[pipeline]\ninclude =\n  b.ini\n  c.ini\n");
    write_file("b.ini", "[pipeline]\ninclude = d.ini\n[x]\ntop = b\n");
    write_file("c.ini", "[pipeline]\ninclude = ./d.ini\n");
    write_file("d.ini", "[x]\ntop = d\n");
    g_autoptr(document) doc = document_read("a.ini", NULL, f->p);
    golden_problems(f->p, "");
    g_assert_cmpstr(section_get(document_section(doc, "x"), "top")->value, ==, "b");
}

static void test_cycle(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    write_file("a.ini", "[pipeline]\ninclude = b.ini\n[x]\nuse = x\n");
    write_file("b.ini", "\n[pipeline]\ninclude = c.ini, a.ini\n");
    write_file("c.ini", "[pipeline]\ninclude = ./c.ini\n");
    g_autoptr(document) doc = document_read("a.ini", NULL, f->p);
    golden_problems(f->p, "b.ini:3: error: include: cycle a.ini -> b.ini -> a.ini\n"
                          "c.ini:2: error: include: cycle c.ini -> ./c.ini\n");
    g_assert_nonnull(document_section(doc, "x"));
}

static void test_unreadable(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    write_file("a.ini", "[pipeline]\ninclude = b.ini\n[x]\nuse = x\n");
    g_autoptr(document) doc = document_read("a.ini", NULL, f->p);
    check(f, doc, "[pipeline]@a.ini:1\ninclude=b.ini@a.ini:2\n[x]@a.ini:3\nuse=x@a.ini:4\n",
          "a.ini:2: error: cannot read b.ini: No such file or directory\n");
    g_assert_cmpint(problems_exit_code(f->p), ==, 66);
    g_autoptr(problems) q = problems_create();
    g_autoptr(document) none = document_read("none.ini", NULL, q);
    g_assert_cmpuint(none->sections->len, ==, 0);
    golden_problems(q, "none.ini: error: cannot read none.ini: No such file or directory\n");
}

static void test_include_vars(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    write_file("a.ini", "[pipeline]\ninclude = ${tracemill:data}/b.ini\n");
    write_file("b.ini", "[x]\nuse = x\n[pipeline]\ninclude = ${x}.ini\n[vars]\nx = b\n");
    g_autoptr(document) doc = document_read("a.ini", f->folder, f->p);
    g_autofree char *told = g_strdup_printf(
        "%s/b.ini:4: error: ${x} is not set\n"
        "  hint: an include may hold ${env:X} and ${tracemill:data}, not what [vars] sets\n",
        f->folder);
    golden_problems(f->p, told);
    g_assert_nonnull(document_section(doc, "x"));
}

static void test_include_quotes(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    write_file("a.ini", "[pipeline]\ninclude = \"b.ini, c.ini\n");
    g_autoptr(document) doc = document_read("a.ini", NULL, f->p);
    golden_problems(f->p, "a.ini:2: error: [pipeline] include = \"\"b.ini, c.ini\": the closing "
                          "quote is missing\n");
    g_assert_cmpuint(doc->sections->len, ==, 1);
}

static void test_names(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    static const char text[] = "[Over_lap]\nuse = x\n[1]\n[vars]\nrun_dir = 1\nargs = 2\nok = 3\n";
    g_autoptr(document) doc = document_read_memory("a.ini", text, strlen(text), NULL, f->p);
    check(f, doc, "[vars]@a.ini:4\nok=3@a.ini:7\n",
          "a.ini:1: error: \"Over_lap\" is no name for a section: names hold a to z, 0 to 9 and "
          "\"-\", and begin with a letter\n"
          "  hint: did you mean \"over-lap\"?\n"
          "a.ini:3: error: \"1\" is no name for a section: names hold a to z, 0 to 9 and \"-\", "
          "and begin with a letter\n"
          "a.ini:5: error: \"run_dir\" is no name for a variable: names hold a to z, 0 to 9 and "
          "\"-\", and begin with a letter\n"
          "  hint: did you mean \"run-dir\"?\n"
          "a.ini:6: error: [vars] can't set \"args\": ${args} has a meaning of its own\n"
          "  hint: choose another name\n");
}

static void test_set(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    static const char text[] = "[overlap]\nuse = overlap\ntop = 5\n";
    g_autoptr(document) doc = document_read_memory("a.ini", text, strlen(text), NULL, f->p);
    static const char *const good[] = {"overlap.top= 6 ", "overlap.run.timeout=5s", "vars.x=a=b",
                                       "overlap.top=", "pipeline.on-error=stop"};
    for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
        g_assert_true(document_set(doc, good[i], f->p));
    check(f, doc,
          "[overlap]@a.ini:1\n"
          "use=overlap@a.ini:2\n"
          "top=@--set overlap.top= <6@--set overlap.top= 6  <5@a.ini:3\n"
          "run.timeout=5s@--set overlap.run.timeout=5s\n"
          "[vars]@--set vars.x=a=b\n"
          "x=a=b@--set vars.x=a=b\n"
          "[pipeline]@--set pipeline.on-error=stop\n"
          "on-error=stop@--set pipeline.on-error=stop\n",
          "");

    static const char *const bad[] = {"",
                                      "overlap",
                                      "overlap=3",
                                      "overlap.=3",
                                      ".top=3",
                                      "overlap=a.b",
                                      "ovrlap.x=1",
                                      "zzz.x=1",
                                      "vars.X=1",
                                      "vars.a.b=1",
                                      "vars.item=1",
                                      "pipeline.include=b.ini",
                                      "overlap.top=\xFF"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_false(document_set(doc, bad[i], f->p));
    golden_problems(
        f->p,
        "--set : error: expected --set stage.key=value\n"
        "--set overlap: error: expected --set stage.key=value\n"
        "--set overlap=3: error: expected --set stage.key=value\n"
        "--set overlap.=3: error: expected --set stage.key=value\n"
        "--set .top=3: error: expected --set stage.key=value\n"
        "--set overlap=a.b: error: expected --set stage.key=value\n"
        "--set ovrlap.x=1: error: no such stage: \"ovrlap\"\n"
        "  hint: did you mean \"overlap\"?\n"
        "--set zzz.x=1: error: no such stage: \"zzz\"\n"
        "--set vars.X=1: error: \"X\" is no name for a variable: names hold a to z, 0 to 9 and "
        "\"-\", and begin with a letter\n"
        "  hint: did you mean \"x\"?\n"
        "--set vars.a.b=1: error: \"a.b\" is no name for a variable: names hold a to z, 0 to 9 and "
        "\"-\", and begin with a letter\n"
        "  hint: did you mean \"a-b\"?\n"
        "--set vars.item=1: error: [vars] can't set \"item\": ${item} has a meaning of its own\n"
        "  hint: choose another name\n"
        "--set pipeline.include=b.ini: error: include can't be set here: includes are read before "
        "--set\n"
        "  hint: write it in the file\n"
        "--set overlap.top=\xEF\xBF\xBD: error: expected UTF-8 text\n");
}

static void test_set_long(fixture *f, G_GNUC_UNUSED gconstpointer data) {
    g_autoptr(document) doc = document_read_memory("a.ini", "", 0, "/data", f->p);
    g_autofree char *many = g_strnfill(100000, 'x');
    g_autofree char *argument = g_strconcat("é.", many, "=1", NULL);
    g_assert_false(document_set(doc, argument, f->p));
    const char *shown = problems_get(f->p, 0)->at.text;
    g_assert_true(g_str_has_prefix(shown, "--set é.xxx") && g_str_has_suffix(shown, "xxx…"));
    g_assert_cmpuint(strlen(shown), <, 150);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
#define ADD(name, test) g_test_add("/config/document/" name, fixture, NULL, setup, test, teardown)
    ADD("include", test_include);
    ADD("diamond", test_diamond);
    ADD("cycle", test_cycle);
    ADD("unreadable", test_unreadable);
    ADD("include-vars", test_include_vars);
    ADD("include-quotes", test_include_quotes);
    ADD("names", test_names);
    ADD("set", test_set);
    ADD("set-long", test_set_long);
    return g_test_run();
}
