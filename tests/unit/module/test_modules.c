/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the registry: shadowing, classes on demand, init and fini, and a probe that survives
 * what it probes. The modules are built beside this program. */
#include "module/modules.h"

#include "module/load.h"
#include "module/probe.h"
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

static char *root;     /* the folder of the running test, with first/ and second/ */
static GString *calls; /* what init and fini told */

static const void *note_call(const mill_host *host, const char *id) {
    (void)host;
    g_string_append_printf(calls, "%s\n", id);
    return NULL;
}

static const mill_host host = {
    .size = sizeof(mill_host),
    .abi_major = MILL_ABI_MAJOR,
    .abi_minor = MILL_ABI_MINOR,
    .fail = load_init_fail,
    .extension = note_call,
};

static void write_file(const char *name, const char *data, gssize size) {
    g_autofree char *path = g_build_filename(root, name, NULL);
    g_autofree char *dir = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(dir, 0755), ==, 0);
    g_assert_true(g_file_set_contents(path, data, size, NULL));
    g_assert_cmpint(chmod(path, 0644), ==, 0);
}

static void add_module(const char *built, const char *name) {
    g_autofree char *from =
        g_build_filename(g_getenv("TRACEMILL_TEST_BUILD"), "tests/unit/module", built, NULL);
    g_autofree char *data = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(from, &data, &size, NULL));
    write_file(name, data, (gssize)size);
}

static void set_up(void) {
    root = g_dir_make_tmp("tracemill-modules-XXXXXX", NULL);
    g_string_truncate(calls, 0);
    for (const char *const *name = (const char *const[]){"first", "second", NULL}; *name; name++) {
        g_autofree char *dir = g_build_filename(root, *name, NULL);
        g_assert_cmpint(g_mkdir(dir, 0755), ==, 0);
    }
}

static void tear_down(void) {
    for (const char *const *name = (const char *const[]){"first", "second", NULL}; *name; name++) {
        g_autofree char *path = g_build_filename(root, *name, NULL);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *file;
        while ((file = g_dir_read_name(dir))) {
            g_autofree char *child = g_build_filename(path, file, NULL);
            g_unlink(child);
        }
        g_rmdir(path);
    }
    g_rmdir(root);
    g_clear_pointer(&root, g_free);
}

static modules *scan(void) {
    g_autofree char *first = g_build_filename(root, "first", NULL);
    g_autofree char *second = g_build_filename(root, "second", NULL);
    return modules_scan(
        &(modules_options){.plugin_paths = (const char *const[]){first, second, NULL},
                           .host = &host,
                           .probe_timeout_ms = 3000});
}

/* "first/good.so loaded" lines, with the reason. */
static void list_is(const modules *all, const char *expected) {
    g_autoptr(GString) text = g_string_new(NULL);
    const GPtrArray *list = modules_list(all);
    for (guint i = 0; i < list->len; i++) {
        const module *m = list->pdata[i];
        g_string_append_printf(text, "%s %s%s%s\n", m->path, module_state_name(m),
                               m->why ? ": " : "", m->why ? m->why : "");
    }
    g_string_replace(text, root, "ROOT", 0);
    g_assert_cmpstr(text->str, ==, expected);
}

static void class_is_missing(modules *all, const char *use, const char *expected) {
    g_autofree char *why = NULL;
    g_assert_null(modules_class(all, use, &why));
    g_autoptr(GString) text = g_string_new(why ? why : "(none)");
    g_string_replace(text, root, "ROOT", 0);
    g_assert_cmpstr(text->str, ==, expected);
}

static void hint_is(const modules *all, const char *use, const char *expected) {
    g_autofree char *hint = modules_hint(all, use);
    g_autoptr(GString) text = g_string_new(hint ? hint : "(none)");
    g_string_replace(text, root, "ROOT", 0);
    g_assert_cmpstr(text->str, ==, expected);
}

static const stage_class *class_of(modules *all, const char *use) {
    g_autofree char *why = NULL;
    const stage_class *c = modules_class(all, use, &why);
    if (!c)
        g_error("%s: %s", use, why ? why : "no such class");
    g_assert_null(why);
    return c;
}

static void test_shadowing(void) {
    set_up();
    add_module("good.so", "first/good.so");
    add_module("good.so", "second/again.so");
    add_module("twin.so", "second/twin.so");
    add_module("same.so", "second/same.so");
    g_autoptr(modules) all = scan();
    list_is(all, "ROOT/first/good.so loaded\n"
                 "ROOT/second/again.so shadowed: module \"test.good\" was found before, at "
                 "ROOT/first/good.so (both by --plugin-path: the first folder wins)\n"
                 "ROOT/second/same.so shadowed: module \"test.good\" was found before, at "
                 "ROOT/first/good.so (both by --plugin-path: the first folder wins)\n"
                 "ROOT/second/twin.so loaded\n");

    /* The first class wins; the other can be asked for. */
    g_assert_cmpstr(class_of(all, "fit.good")->module->id, ==, "test.good");
    g_assert_cmpstr(class_of(all, "test.twin:fit.good")->module->id, ==, "test.twin");
    g_assert_cmpstr(modules_class_owner(all, "fit.good")->id, ==, "test.good");
    g_auto(GStrv) names = modules_class_names(all);
    g_assert_cmpuint(g_strv_length(names), ==, 1);
    g_assert_cmpstr(names[0], ==, "fit.good");

    class_is_missing(
        all, "fit.same",
        "ROOT/second/same.so was found but not loaded: module \"test.good\" was found "
        "before, at ROOT/first/good.so (both by --plugin-path: the first folder wins)");
    class_is_missing(all, "fit.gone", "(none)");
    class_is_missing(all, "test.gone:fit.good", "(none)");
    class_is_missing(all, "", "(none)");
    class_is_missing(all, ":", "(none)");
    tear_down();
}

static void test_order_wins(void) {
    set_up();
    add_module("twin.so", "first/twin.so");
    add_module("good.so", "second/good.so");
    g_autoptr(modules) all = scan();
    g_assert_cmpstr(class_of(all, "fit.good")->module->id, ==, "test.twin");
    tear_down();
}

/* Found by --plugin-path and by the environment: the message says which comes first. */
static void test_shadowed_by_other_source(void) {
    set_up();
    add_module("good.so", "first/good.so");
    add_module("good.so", "second/good.so");
    g_autofree char *first = g_build_filename(root, "first", NULL);
    g_autofree char *second = g_build_filename(root, "second", NULL);
    g_setenv("TRACEMILL_PLUGIN_PATH", second, TRUE);
    g_autoptr(modules) all = modules_scan(
        &(modules_options){.plugin_paths = (const char *const[]){first, NULL}, .host = &host});
    g_unsetenv("TRACEMILL_PLUGIN_PATH");
    list_is(all, "ROOT/first/good.so loaded\n"
                 "ROOT/second/good.so shadowed: module \"test.good\" was found before, at "
                 "ROOT/first/good.so (--plugin-path comes before TRACEMILL_PLUGIN_PATH)\n");
    tear_down();
}

static void test_init_fini(void) {
    set_up();
    add_module("good.so", "first/good.so");
    add_module("twin.so", "first/twin.so");
    modules *all = scan();
    g_assert_cmpstr(calls->str, ==, ""); /* the probe's are in another process */
    const stage_class *c = class_of(all, "test.twin:fit.good");
    g_assert_true(class_of(all, "test.twin:fit.good") == c);
    class_of(all, "fit.good");
    g_assert_cmpstr(calls->str, ==, "init test.twin\ninit test.good\n");
    modules_destroy(all);
    g_assert_cmpstr(calls->str, ==,
                    "init test.twin\ninit test.good\nfini test.good\nfini test.twin\n");
    tear_down();
}

static void test_types(void) {
    set_up();
    add_module("good.so", "first/good.so");
    add_module("twin.so", "first/twin.so");
    add_module("resized.so", "second/resized.so");
    g_autoptr(modules) all = scan();
    const char *id = "org.tracemill.test/1";
    list_is(all, "ROOT/first/good.so loaded\n"
                 "ROOT/first/twin.so loaded\n"
                 "ROOT/second/resized.so refused: it declares type \"org.tracemill.test/1\" with "
                 "size 64, module \"test.good\" (ROOT/first/good.so) with size 56: build both with "
                 "the same headers\n");
    const module *twin = class_of(all, "test.twin:fit.good")->module;
    const mill_type *own = modules_type(all, twin, id);
    g_assert_true(own == twin->types->pdata[0]);
    const mill_type *first = modules_type(all, NULL, id); /* loads test.good */
    g_assert_true(first && first != own);
    g_assert_null(modules_type(all, twin, "org.tracemill.gone/1"));
    class_is_missing(all, "fit.resized",
                     "ROOT/second/resized.so was found but not loaded: it declares type "
                     "\"org.tracemill.test/1\" with size 64, module \"test.good\" "
                     "(ROOT/first/good.so) with size 56: build both with the same headers");
    tear_down();
}

static void test_wide(void) {
    set_up();
    add_module("wide.so", "first/wide.so");
    g_autoptr(modules) all = scan();
    const stage_class *c = class_of(all, "wide");
    g_assert_cmpuint(c->n_options, ==, 2);
    g_assert_cmpstr(c->options[1].name, ==, "second");
    g_assert_cmpstr(c->options[1].def, ==, "2ms");
    g_assert_cmpuint(c->n_inputs, ==, 2);
    g_assert_cmpstr(c->inputs[1].name, ==, "right");
    g_assert_cmpuint(c->stage.size, ==, sizeof(mill_stage));
    tear_down();
}

/* What a file that can't be read holds is guessed from its name. */
static void test_missing_by_name(void) {
    set_up();
    add_module("good.so", "first/good.so");
    write_file("first/acme.so", "text", -1);
    g_autoptr(modules) all = scan();
    const char *why = "ROOT/first/acme.so was found but not loaded: is not a shared object: it "
                      "does not begin with an ELF header";
    class_is_missing(all, "acme", why);
    class_is_missing(all, "acme.fit", why);
    class_is_missing(all, "org.acme:acme.fit", why);
    class_is_missing(all, "acm.fit", "(none)");
    class_is_missing(all, "test.good:acme.fit", why);
    hint_is(all, "fit.godo",
            "did you mean \"fit.good\"? not loaded: ROOT/first/acme.so (is not a shared object: it "
            "does not begin with an ELF header); see: tracemill list");
    for (int i = 0; i < 3; i++) {
        g_autofree char *file = g_strdup_printf("first/bcme%d.so", i);
        write_file(file, "", -1);
    }
    g_autoptr(modules) many = scan();
    g_autofree char *hint = modules_hint(many, "far");
    g_assert_true(g_str_has_suffix(hint, ") and 1 more; see: tracemill list"));
    g_autofree char *first = g_build_filename(root, "first", NULL);
    chmod(first, 0777);
    g_autoptr(modules) untrusted = scan();
    class_is_missing(untrusted, "fit.good", "(none)");
    hint_is(untrusted, "fit.good",
            "not loaded: ROOT/first (the folder is writable by group or others, who could have put "
            "any code there: chmod go-w it, or give --trust-writable); see: tracemill list");
    tear_down();
}

/* Three culprits, one of which hangs, between modules that are unharmed. */
static void test_probe_goes_on(void) {
    set_up();
    add_module("aborts.so", "first/a.so");
    add_module("good.so", "first/b.so");
    add_module("exits.so", "first/c.so");
    add_module("hangs.so", "first/d.so");
    add_module("twin.so", "first/e.so");
    add_module("aborts.so", "first/f.so");
    g_autoptr(modules) all = scan();
    list_is(all, "ROOT/first/a.so refused: it died of SIGABRT (Aborted) while loading; its last "
                 "words: \"no GPU here\"\n"
                 "ROOT/first/b.so loaded\n"
                 "ROOT/first/c.so refused: it ended the process with exit code 3 while loading\n"
                 "ROOT/first/d.so refused: it did not finish loading within 3 s\n"
                 "ROOT/first/e.so loaded\n"
                 "ROOT/first/f.so refused: it died of SIGABRT (Aborted) while loading; its last "
                 "words: \"no GPU here\"\n");
    tear_down();
}

static void test_json(void) {
    set_up();
    add_module("good.so", "first/good.so");
    g_autoptr(modules) all = scan();
    const module *m = modules_list(all)->pdata[0];
    cJSON *json = module_to_json(m);
    g_autoptr(module) copy = module_create(m->path);
    g_assert_true(module_from_json(copy, json));
    cJSON *again = module_to_json(copy);
    g_assert_true(cJSON_Compare(json, again, true));
    g_assert_cmpuint(copy->own_types->len, ==, 1);
    cJSON_DeleteItemFromObject(again, "classes");
    g_assert_false(module_from_json(copy, again));
    cJSON_Delete(again);
    cJSON_Delete(json);

    const char *const bad[] = {
        "{}",
        "[]",
        "{\"state\":\"good\"}",
        "{\"state\":\"refused\"}",
        "{\"state\":\"loaded\",\"id\":\"a\",\"version\":\"1\",\"classes\":[1]}",
        ("{\"state\":\"loaded\",\"id\":\"a\",\"version\":\"1\",\"classes\":[],"
         "\"types\":[{\"id\":\"x/1\",\"size\":-1}]}")};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        json = cJSON_Parse(bad[i]);
        g_assert_false(module_from_json(copy, json));
        cJSON_Delete(json);
    }
    tear_down();
}

int main(int argc, char **argv) {
    calls = g_string_new(NULL);
    if (probe_requested(argc, argv))
        return probe_child(argc, argv, &host);
    g_test_init(&argc, &argv, NULL);
    umask(022);
    g_test_add_func("/modules/shadowing", test_shadowing);
    g_test_add_func("/modules/shadowed-by-other-source", test_shadowed_by_other_source);
    g_test_add_func("/modules/order-wins", test_order_wins);
    g_test_add_func("/modules/init-fini", test_init_fini);
    g_test_add_func("/modules/types", test_types);
    g_test_add_func("/modules/wide", test_wide);
    g_test_add_func("/modules/missing-by-name", test_missing_by_name);
    g_test_add_func("/modules/probe-goes-on", test_probe_goes_on);
    g_test_add_func("/modules/json", test_json);
    int failed = g_test_run();
    g_string_free(calls, TRUE);
    return failed;
}
