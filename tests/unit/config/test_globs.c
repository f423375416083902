/* SPDX-License-Identifier: Apache-2.0 */
/* Files of patterns: which, in what order, under what key. */
#include "config/globs.h"

#include <glib/gstdio.h>
#include <locale.h>
#include <string.h>

#include "golden.h"

typedef struct example {
    const char *name, *value;
    bool missing_ok;
    const char *files; /* "key:path" joined by ' '; NULL: an error */
    const char *told;  /* %s stands for the working directory */
} example;

/* The folder where the examples run. */
static const char *const names[] = {"rank0.json",     "rank2.json",      "rank10.json",
                                    "rank.json",      "a/rank0.json",    "a/rank1.json",
                                    "b/rank0.json",   "x[1].json",       "n1/r0-s07.json",
                                    "n2/r0-s07.json", "n10/r1-s08.json", "é.txt"};
static const char *const folders[] = {"a", "b", "n1", "n2", "n10", "dir.json"};

static const example examples[] = {
    {"star", "rank*.json", false, "0:rank0.json 2:rank2.json 10:rank10.json rank.json:rank.json",
     ""},
    {"question", "rank?.json", false, "0:rank0.json 2:rank2.json", ""},
    {"brackets", "rank[0-1][0-9].json", false, "10:rank10.json", ""},
    {"negated", "rank[!0].json", false, "2:rank2.json", ""},
    {"several", "n*/r?-s[0-9]*.json", false,
     "1-0-07:n1/r0-s07.json 2-0-07:n2/r0-s07.json 10-1-08:n10/r1-s08.json", ""},
    {"literal", "rank10.json, rank2.json", false, "rank2.json:rank2.json rank10.json:rank10.json",
     ""},
    {"overlapping", "rank2.json, rank?.json", false, "0:rank0.json rank2.json:rank2.json", ""},
    {"all-known", "rank0.json, ran?0.json", false, "rank0.json:rank0.json", ""},
    {"no-folders", "*.json", false,
     "rank:rank.json rank0:rank0.json rank2:rank2.json rank10:rank10.json x[1]:x[1].json", ""},
    {"escaped", "x[[]1].json", false, "[:x[1].json", ""},
    {"open-bracket", "x[1.json, rank0.json", true, "rank0.json:rank0.json", ""},
    {"utf8", "*.txt", false, "é:é.txt", ""},
    {"utf8-question", "?.txt", false, "é:é.txt", ""},
    {"punctuation", "x[[]1].js*", false, "[-on:x[1].json", ""},
    {"stdin", "-", false, "stdin:-", ""},
    {"args", "${args}", false, "rank0.json:rank0.json x[1].json:x[1].json", ""},
    {"no-match", "traces/rank*.json", false, NULL,
     "a.ini:2: error: path = \"traces/rank*.json\": no file matches, searched from %s\n"},
    {"absolute", "/none/*.json", false, NULL,
     "a.ini:2: error: path = \"/none/*.json\": no file matches\n"},
    {"no-file", "rank3.json, rank0.json", false, NULL,
     "a.ini:2: error: path = \"rank3.json\": no such file, searched from %s\n"},
    {"folder", "dir.json", false, NULL,
     "a.ini:2: error: path = \"dir.json\": it is a folder, not a file, searched from %s\n"},
    {"missing-ok", "none*, rank3.json, rank0.json", true, "rank0.json:rank0.json", ""},
    {"all-missing-ok", "none*", true, "", ""},
    {"empty", "", false, NULL, "a.ini:2: error: path: expected a file name\n"},
    {"empty-ok", "", true, "", ""},
    {"same-key", "a/rank?.json, b/rank?.json", false, NULL,
     "a.ini:2: error: path: \"a/rank0.json\" and \"b/rank0.json\" have the same key \"0\"\n"
     "  hint: write a wildcard for the part that differs, such as */rank0.json\n"},
    {"same-key-hidden", "a/rank0.json, ./rank0.json", false, NULL,
     "a.ini:2: error: path: \"./rank0.json\" and \"a/rank0.json\" have the same key "
     "\"rank0.json\"\n"
     "  hint: a key is the file's name: link or rename one of them\n"},
    {"same-key-deeper", "a/rank0.json, rank0.json", false, NULL,
     "a.ini:2: error: path: \"a/rank0.json\" and \"rank0.json\" have the same key "
     "\"rank0.json\"\n"
     "  hint: a key is the file's name: link or rename one of them\n"},
    {"same-key-mended", "[ab]/rank?.json", false,
     "a-0:a/rank0.json a-1:a/rank1.json b-0:b/rank0.json", ""},
};

static void test_example(gconstpointer data) {
    static const char *const args[] = {"x[1].json", "rank0.json", NULL};
    const example *e = data;
    g_autoptr(problems) p = problems_create();
    g_autoptr(vars) v = vars_create(NULL, NULL, args);
    setting s = {.section = "s", .key = "path", .value = e->value, .at = {"a.ini", 2, NULL}};
    g_autoptr(GPtrArray) files = globs_expand(&s, v, e->missing_ok, p);

    g_autofree char *folder = g_get_current_dir();
    g_auto(GStrv) parts = g_strsplit(e->told, "%s", -1);
    g_autofree char *told = g_strjoinv(folder, parts);
    golden_problems(p, told);
    g_assert_true((files == NULL) == (e->files == NULL));
    if (!files)
        return;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < files->len; i++) {
        const globs_file *file = files->pdata[i];
        g_string_append_printf(text, "%s%s:%s", i ? " " : "", file->key, file->path);
    }
    g_assert_cmpstr(text->str, ==, e->files);
}

static void test_exit_code(void) {
    g_autoptr(problems) p = problems_create();
    g_autoptr(vars) v = vars_create(NULL, NULL, NULL);
    setting s = {.section = "s", .key = "path", .value = "none*", .at = {"a.ini", 2, NULL}};
    g_assert_null(globs_expand(&s, v, false, p));
    g_assert_cmpint(problems_exit_code(p), ==, 66);
}

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, "C.UTF-8"); /* in which '?' matches 'é' */
    g_test_init(&argc, &argv, NULL);
    g_autofree char *folder = g_dir_make_tmp("tracemill-XXXXXX", NULL);
    g_assert_cmpint(g_chdir(folder), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++)
        g_assert_cmpint(g_mkdir(folders[i], 0700), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        g_assert_true(g_file_set_contents(names[i], "", 0, NULL));

    for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
        g_autofree char *path = g_strconcat("/config/globs/", examples[i].name, NULL);
        g_test_add_data_func(path, &examples[i], test_example);
    }
    g_test_add_func("/config/globs/exit-code", test_exit_code);
    int failed = g_test_run();

    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        (void)g_remove(names[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(folders); i++)
        (void)g_rmdir(folders[i]);
    g_assert_cmpint(g_chdir("/"), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    return failed;
}
