/* SPDX-License-Identifier: Apache-2.0 */
/* Every bad module costs one line of `tracemill list`, which says why, and harms nothing else. */
#include "program.h"

#include <cjson/cJSON.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the folder a.so and z.so are good, and bad.so is in between. */
static void set_up(void) {
    program_begin();
    program_copy_built("unit/module/good.so", "a.so");
    program_copy_built("unit/module/twin.so", "z.so");
}

static void tear_down(void) {
    program_remove("a.so");
    program_remove("bad.so");
    program_remove("z.so");
    program_end();
}

/* ---------------------------------------------------------------- what must be seen */

static const char *text_of(const cJSON *json, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(json, key));
}

/* The module in the file of this name, as `list --json` has it. */
static const cJSON *module_in(const cJSON *list, const char *name) {
    g_autofree char *path = g_strconcat("FOLDER/", name, NULL);
    const cJSON *m;
    cJSON_ArrayForEach(m, cJSON_GetObjectItem(list, "modules")) {
        if (strcmp(text_of(m, "path"), path) == 0)
            return m;
    }
    g_error("%s is not listed", path);
}

/* The list in JSON: complete, and the good ones unharmed. */
static cJSON *list(void) {
    g_auto(result) r = program_run("list", "--json", NULL);
    g_assert_cmpint(r.exit_code, ==, 0);
    g_assert_cmpstr(r.err, ==, "");
    cJSON *json = cJSON_Parse(r.out);
    g_assert_nonnull(json);
    g_assert_cmpstr(text_of(json, "schema"), ==, "tracemill.list/1");
    g_assert_cmpstr(text_of(module_in(json, "a.so"), "state"), ==, "loaded");
    g_assert_cmpstr(text_of(module_in(json, "z.so"), "state"), ==, "loaded");
    return json;
}

static void lists_reason(const char *sentence) {
    cJSON *json = list();
    const cJSON *bad = module_in(json, "bad.so");
    g_assert_cmpstr(text_of(bad, "state"), ==, "refused");
    g_assert_cmpstr(text_of(bad, "why"), ==, sentence);
    cJSON_Delete(json);
}

/* Line breaks and indents become single blanks. */
static char *unwrap(const char *text) {
    g_auto(GStrv) words = g_strsplit_set(text, " \n", -1);
    GString *s = g_string_new(NULL);
    for (char **word = words; *word; word++)
        if (**word)
            g_string_append_printf(s, "%s%s", s->len ? " " : "", *word);
    return g_string_free(s, FALSE);
}

/* Only a path may be wider than the page: it is one word, and is shown whole to be copied. */
static bool fits_page(const char *line) {
    const char *word = line + strspn(line, " ");
    return g_utf8_strlen(line, -1) <= 80 || (*word == '/' && strchr(word, ' ') == NULL);
}

static void shows_reason(const char *sentence) {
    g_auto(result) r = program_run("list", NULL);
    g_assert_cmpint(r.exit_code, ==, 0);
    g_auto(GStrv) lines = g_strsplit(r.out, "\n", -1);
    for (char **line = lines; *line; line++)
        if (!fits_page(*line))
            g_error("wider than 80 columns: %s", *line);
    g_autofree char *text = unwrap(r.out), *part = g_strconcat("FOLDER/bad.so ", sentence, NULL);
    program_says(text, part);
    program_says(text, " loaded fit.good FOLDER/a.so ");
    program_says(text, " loaded fit.good (shadowed) FOLDER/z.so");
}

static void inspect_says(const char *use, int exit_code, const char *message) {
    g_auto(result) r = program_run("inspect", use, NULL);
    g_assert_cmpint(r.exit_code, ==, exit_code);
    g_assert_cmpstr(r.out, ==, "");
    g_assert_cmpstr(r.err, ==, message);
}

/* bad.so is refused for this reason, everywhere and everything else works. */
static void refused(const char *sentence) {
    lists_reason(sentence);
    shows_reason(sentence);
    g_autofree char *message =
        g_strdup_printf("tracemill inspect: no loaded module has the class \"bad\"\n"
                        "  hint: FOLDER/bad.so was found but not loaded: %s\n",
                        sentence);
    inspect_says("bad", 69, message);
    g_autofree char *other =
        g_strdup_printf("tracemill inspect: there is no class \"other\"\n"
                        "  hint: not loaded: FOLDER/bad.so (%s); see: tracemill list\n",
                        sentence);
    inspect_says("other", 64, other);
    g_auto(result) r = program_run("inspect", "fit.good", NULL);
    g_assert_cmpint(r.exit_code, ==, 0);
}

/* ---------------------------------------------------------------- built bad modules */

static const struct {
    const char *name, *sentence;
} built[] = {
    {"wrong-magic", "its mill_module_v1 begins with 0xdeadbeef instead of 0x4d494c4c: begin it "
                    "with MILL_MODULE_HEAD"},
    {"major-newer", "built for ABI 2.0, host speaks 1.0: update tracemill, or build the module "
                    "with this host's SDK"},
    {"minor-newer", "built for ABI 1.1, host speaks 1.0: update tracemill, or build the module "
                    "with this host's SDK"},
    {"major-older", "built for ABI 0.0, host speaks 1.0: build the module again, with this host's "
                    "SDK"},
    {"size-zero", "its mill_module_v1 gives its size as 0 bytes, not 96 or a little more: begin it "
                  "with MILL_MODULE_HEAD"},
    {"size-huge", "its mill_module_v1 gives its size as 4294967295 bytes, not 96 or a little more: "
                  "begin it with MILL_MODULE_HEAD"},
    {"no-stages", "it declares no stage class: list at least one in `stages`"},
    {"null-run", "class \"bad\" has no `run`, which every class needs"},
    {"endless-classes",
     "it died of SIGSEGV (Segmentation fault) as its tables were read: do `stages` and `types` end "
     "with NULL, and options and ports with {.name = NULL}?"},
    {"duplicate-class", "it declares class \"bad\" twice: rename one"},
    {"undefined-symbol", "the dynamic loader says: undefined symbol: acme_start: link what defines "
                         "it; with -Wl,--no-undefined the linker tells this already"},
    {"undefined-kit", "the dynamic loader says: undefined symbol: kit_start: link the kit: "
                      "pkg-config --libs tracemill"},
    {"undefined-several",
     "the dynamic loader says: undefined symbols: acme_more and acme_start: link what defines "
     "them; with -Wl,--no-undefined the linker tells this already"},
    {"missing-library", "it needs libacme.so, which the dynamic loader does not find: install it, "
                        "or name the folder when linking: -Wl,-rpath,FOLDER"},
    {"missing-libraries",
     "it needs libacme.so and libacme-more.so, which the dynamic loader does not find: install "
     "them, or name the folder when linking: -Wl,-rpath,FOLDER"},
    {"hidden-symbol", "it has mill_module_v1, but does not export it: define that with "
                      "MILL_EXPORT, and let no version script make it local"},
    {"cxx-symbol", "it exports no mill_module_v1, but has _ZN4acme14mill_module_v1E, a name of "
                   "C++: define that with MILL_EXPORT, outside of any namespace"},
    {"other-major-symbol", "it exports mill_module_v2, and this host looks for mill_module_v1: "
                           "build it with the SDK of ABI 1"},
    {"no-symbol", "it exports no mill_module_v1: if it is meant as a plugin, define that with "
                  "MILL_EXPORT"},
    {"init-silent", "its init failed with status -3 and told no cause, which is a bug of the "
                    "module"},
    {"init-aborts", "it died of SIGABRT (Aborted) in its init"},
    {"aborts", "it died of SIGABRT (Aborted) while loading; its last words: \"no GPU here\""},
    {"exits", "it ended the process with exit code 3 while loading"},
};

static void test_built(gconstpointer data) {
    size_t i = GPOINTER_TO_SIZE(data);
    set_up();
    g_autofree char *file = g_strdup_printf("badplugins/%s.so", built[i].name);
    program_copy_built(file, "bad.so");
    refused(built[i].sentence);
    tear_down();
}

/* The causes of a failing init, outermost first, with the places that recorded them. */
static void test_init_fails(void) {
    set_up();
    program_copy_built("badplugins/init-fails.so", "bad.so");
    cJSON *json = list();
    g_autofree char *pattern = g_strdup("^its init failed: can't start \\([^ ]*init\\.c:[0-9]+\\), "
                                        "caused by: no licence at /etc/acme "
                                        "\\([^ ]*init\\.c:[0-9]+\\)$");
    g_assert_true(g_regex_match_simple(pattern, text_of(module_in(json, "bad.so"), "why"), 0, 0));
    cJSON_Delete(json);
    tear_down();
}

/* A library that is found needs one that is not. */
static void test_missing_below(void) {
    set_up();
    program_copy_built("badplugins/missing-below.so", "bad.so");
    program_copy_built("badplugins/libacme-more.so", "libacme-more.so");
    lists_reason("it needs libacme.so (for libacme-more.so), which the dynamic loader does not "
                 "find: install it, or name the folder when linking: -Wl,-rpath,FOLDER");
    program_remove("libacme-more.so");
    tear_down();
}

/* The same module in two files, and another with a class of the same name. */
static void test_shadowed(void) {
    set_up();
    program_copy_built("unit/module/good.so", "bad.so");
    cJSON *json = list();
    const cJSON *again = module_in(json, "bad.so"), *twin = module_in(json, "z.so");
    g_assert_cmpstr(text_of(again, "state"), ==, "shadowed");
    g_assert_cmpstr(text_of(again, "why"), ==,
                    "module \"test.good\" was found before, at FOLDER/a.so (both in one folder: "
                    "the first by name wins)");
    g_assert_cmpstr(text_of(cJSON_GetObjectItem(twin, "shadowed_by"), "fit.good"), ==, "test.good");
    cJSON_Delete(json);
    g_auto(result) r = program_run("list", NULL);
    g_autofree char *text = unwrap(r.out);
    program_says(text, "FOLDER/z.so \"fit.good\" alone means the class of module \"test.good\", "
                       "found before; this one is use = test.twin:fit.good");
    g_auto(result) seen = program_run("inspect", "fit.good", NULL);
    program_says(seen.out, "module test.good 1.2.0, FOLDER/a.so\n"
                           "module test.twin 1.2.0 has a class of this name too: use = "
                           "test.twin:fit.good\n");
    tear_down();
}

static void test_hangs(void) {
    set_up();
    program_copy_built("badplugins/hangs.so", "bad.so");
    lists_reason("it did not finish loading within 10 s");
    tear_down();
}

static void test_resized_type(void) {
    set_up();
    program_copy_built("unit/module/resized.so", "bad.so");
    lists_reason("it declares type \"org.tracemill.test/1\" with size 64, module \"test.good\" "
                 "(FOLDER/a.so) with size 56: build both with the same headers");
    tear_down();
}

/* ---------------------------------------------------------------- damaged files */

static void test_truncated(void) {
    enum { SIZES = 12 };
    set_up();
    g_autofree char *data = NULL;
    gsize size;
    program_read_built("unit/module/wide.so", &data, &size);
    unsigned n_refused = 0;
    for (unsigned i = 0; i < SIZES; i++) {
        program_write("bad.so", data, size * i / SIZES);
        cJSON *json = list();
        const cJSON *bad = module_in(json, "bad.so");
        if (strcmp(text_of(bad, "state"), "refused") == 0) {
            g_assert_cmpuint(n_refused, ==, i); /* once enough is there, more does no harm */
            program_says(text_of(bad, "why"), i == 0 ? "is empty" : "is cut short: ");
            n_refused++;
        } else {
            g_assert_cmpstr(text_of(bad, "id"), ==, "test.wide");
        }
        cJSON_Delete(json);
    }
    g_assert_cmpuint(n_refused, >=, SIZES / 3);
    tear_down();
}

static void test_text_file(void) {
    set_up();
    const char *text = "This is a text, and no shared object, whatever its name says of it.\n";
    program_write("bad.so", text, strlen(text));
    refused("is not a shared object: it does not begin with an ELF header");
    tear_down();
}

/* Files of other kinds, by what they begin with. */
static void test_other_files(void) {
    static const struct {
        const char *begin, *sentence;
    } kinds[] = {
        {"!<arch>\nbad.o/", "is not a shared object but a static library: link a shared object of "
                            "it, with -shared"},
        {"MZ\x90", "is not a shared object but a program or library for Windows: build it again "
                   "here"},
        {"\x1f\x8b\x08", "is not a shared object but compressed (gzip): unpack it"},
    };
    set_up();
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        program_write("bad.so", kinds[i].begin, strlen(kinds[i].begin));
        lists_reason(kinds[i].sentence);
    }
    tear_down();
}

static void test_program(void) {
    set_up();
    program_copy_built("badplugins/test-loading", "bad.so");
    refused("is a program, not a shared object: link it with -shared -fPIC");
    tear_down();
}

static void test_folder(void) {
    set_up();
    g_autofree char *path = program_path("bad.so");
    g_assert_cmpint(g_mkdir(path, 0755), ==, 0);
    refused("is not a file but a folder");
    tear_down();
}

static void test_dangling_link(void) {
    set_up();
    g_autofree char *path = program_path("bad.so");
    g_assert_cmpint(symlink("gone.so", path), ==, 0);
    refused("can't be opened: No such file or directory");
    tear_down();
}

static void test_unreadable(void) {
    if (geteuid() == 0) {
        g_test_skip("root may read every file");
        return;
    }
    set_up();
    program_copy_built("unit/module/wide.so", "bad.so");
    g_autofree char *path = program_path("bad.so");
    g_assert_cmpint(chmod(path, 0), ==, 0);
    refused("can't be opened: Permission denied");
    tear_down();
}

static void test_writable(void) {
    set_up();
    program_copy_built("unit/module/wide.so", "bad.so");
    g_autofree char *path = program_path("bad.so");
    g_assert_cmpint(chmod(path, 0666), ==, 0);
    refused("the file is writable by group or others, who could have put any code there: chmod "
            "go-w it, or give --trust-writable");
    g_auto(result) r = program_run("list", "--trust-writable", "--json", NULL);
    program_says(r.out, "\"id\":\t\"test.wide\"");
    tear_down();
}

/* ---------------------------------------------------------------- the commands themselves */

static void test_usage(void) {
    set_up();
    g_auto(result) extra = program_run("list", "more", NULL);
    g_assert_cmpint(extra.exit_code, ==, 64);
    g_assert_cmpstr(extra.err, ==, "tracemill list: takes no arguments, and \"more\" is one\n");
    g_auto(result) option = program_run("list", "--jason", NULL);
    g_assert_cmpint(option.exit_code, ==, 64);
    g_assert_cmpstr(option.err, ==,
                    "tracemill list: Unknown option --jason\n  hint: tracemill list --help\n");
    g_autofree char *file = program_path("a.so");
    g_auto(result) path = program_run("list", "--json", "--plugin-path", file, NULL);
    program_says(path.out, "is not a folder: give the one that the plugin lies in");
    g_autofree char *sub = program_path("empty");
    g_assert_cmpint(g_mkdir(sub, 0755), ==, 0);
    g_auto(result) empty = program_run("list", "--plugin-path", sub, NULL);
    g_assert_cmpint(empty.exit_code, ==, 0);
    g_assert_cmpstr(empty.err, ==, "tracemill list: no file in \"FOLDER/empty\" ends in .so\n");
    g_assert_cmpint(g_rmdir(sub), ==, 0);
    g_auto(result) none = program_run("inspect", NULL);
    g_assert_cmpint(none.exit_code, ==, 64);
    inspect_says("fit.god", 64,
                 "tracemill inspect: there is no class \"fit.god\"\n"
                 "  hint: did you mean \"fit.good\"?\n");
    inspect_says("nothing.like.it", 64,
                 "tracemill inspect: there is no class \"nothing.like.it\"\n"
                 "  hint: tracemill list shows all\n");
    tear_down();
}

static void test_inspect(void) {
    set_up();
    g_auto(result) r = program_run("inspect", "test.twin:fit.good", NULL);
    g_assert_cmpint(r.exit_code, ==, 0);
    g_assert_cmpstr(r.err, ==, "");
    g_assert_cmpstr(
        r.out, ==,
        "fit.good: A class to test with.\n"
        "module test.twin 1.2.0, FOLDER/z.so\n"
        "module test.good 1.2.0 has a class of this name too: use = test.good:fit.good\n"
        "\n"
        "The first paragraph, which is long enough to need more than one line of eighty\n"
        "characters.\n"
        "\n"
        "The second one.\n"
        "\n"
        "Inputs\n"
        "  trace  mill.trace/1\n"
        "      What to look at.\n"
        "  prior  org.tracemill.test/1, optional\n"
        "\n"
        "Outputs\n"
        "  report  mill.report/1\n"
        "\n"
        "Options\n"
        "  top  whole number in rows, 1 to 1000, default 10\n"
        "      How many rows to keep.\n"
        "  path  file, required, wildcards: runs once per file\n"
        "      The files to read.\n"
        "  modes  list of choices, one of mean, max, default mean, max\n"
        "\n"
        "To paste into a pipeline\n"
        "\n"
        "[fit-good]\n"
        "use = fit.good\n"
        "in.trace = STAGE   ; of type mill.trace/1\n"
        "; in.prior = STAGE   ; of type org.tracemill.test/1\n"
        "; top = 10\n"
        "path = ${args}\n"
        "; modes = mean, max\n");
    g_auto(result) json = program_run("inspect", "fit.good", "--json", NULL);
    g_assert_cmpint(json.exit_code, ==, 0);
    cJSON *root = cJSON_Parse(json.out);
    g_assert_cmpstr(text_of(root, "schema"), ==, "tracemill.inspect/1");
    g_assert_cmpstr(text_of(cJSON_GetObjectItem(root, "module"), "id"), ==, "test.good");
    const cJSON *top = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "options"), 0);
    g_assert_cmpstr(text_of(top, "default"), ==, "10");
    g_assert_cmpfloat(cJSON_GetNumberValue(cJSON_GetObjectItem(top, "max")), ==, 1000);
    cJSON_Delete(root);
    tear_down();
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    umask(022);
    for (size_t i = 0; i < G_N_ELEMENTS(built); i++) {
        g_autofree char *path = g_strconcat("/loading/built/", built[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_built);
    }
    g_test_add_func("/loading/init-fails", test_init_fails);
    g_test_add_func("/loading/missing-below", test_missing_below);
    g_test_add_func("/loading/shadowed", test_shadowed);
    g_test_add_func("/loading/hangs", test_hangs);
    g_test_add_func("/loading/resized-type", test_resized_type);
    g_test_add_func("/loading/truncated", test_truncated);
    g_test_add_func("/loading/text-file", test_text_file);
    g_test_add_func("/loading/other-files", test_other_files);
    g_test_add_func("/loading/program", test_program);
    g_test_add_func("/loading/folder", test_folder);
    g_test_add_func("/loading/dangling-link", test_dangling_link);
    g_test_add_func("/loading/unreadable", test_unreadable);
    g_test_add_func("/loading/writable", test_writable);
    g_test_add_func("/loading/usage", test_usage);
    g_test_add_func("/loading/inspect", test_inspect);
    return g_test_run();
}
