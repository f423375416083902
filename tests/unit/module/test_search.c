/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the search: order, trust, links, and the places an installed or a built program has. */
#include "module/search.h"

#include "module/module.h"
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder for one test, with the subfolders a, b and c, empty files in them. */
static char *root;

static char *at(const char *name) {
    return g_build_filename(root, name, NULL);
}

static void make_folder(const char *name) {
    g_autofree char *path = at(name);
    g_assert_cmpint(g_mkdir_with_parents(path, 0755), ==, 0);
}

static void make_file(const char *name, const char *text) {
    g_autofree char *path = at(name);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_assert_cmpint(chmod(path, 0644), ==, 0);
}

static void set_mode(const char *name, mode_t mode) {
    g_autofree char *path = at(name);
    g_assert_cmpint(chmod(path, mode), ==, 0);
}

static void make_link(const char *name, const char *target) {
    g_autofree char *path = at(name);
    g_assert_cmpint(symlink(target, path), ==, 0);
}

static void remove_tree(const char *path) {
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        if (g_file_test(child, G_FILE_TEST_IS_DIR) && !g_file_test(child, G_FILE_TEST_IS_SYMLINK))
            remove_tree(child);
        else
            g_unlink(child);
    }
    g_rmdir(path);
}

static void set_up(void) {
    root = g_dir_make_tmp("tracemill-search-XXXXXX", NULL);
    make_folder("a");
    make_folder("b");
    make_folder("c");
}

static void tear_down(void) {
    remove_tree(root);
    g_clear_pointer(&root, g_free);
}

/* "a/x.so refused: why" lines, relative to `root`. */
static char *search(const char *const *folders, const char *env, const place *where, bool trust) {
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    for (; folders && *folders; folders++)
        g_ptr_array_add(paths, at(*folders));
    g_ptr_array_add(paths, NULL);
    const place nowhere = {.plugin_dirs = (char *[]){NULL}};
    g_autoptr(GPtrArray) found =
        search_modules((const char *const *)paths->pdata, env, where ? where : &nowhere, trust);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < found->len; i++) {
        const module *m = found->pdata[i];
        const char *shown = g_str_has_prefix(m->path, root) ? m->path + strlen(root) + 1 : m->path;
        g_string_append_printf(text, "%s%s%s\n", shown, m->why ? ": " : "", m->why ? m->why : "");
        g_assert_cmpint(m->state, ==, m->why ? MODULE_REFUSED : MODULE_LOADED);
    }
    g_string_replace(text, root, "ROOT", 0);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

#define FOLDERS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_order(void) {
    set_up();
    make_file("a/z.so", "");
    make_file("a/B.so", "");
    make_file("a/a.so", "");
    make_file("a/README", "");
    make_file("b/x.so", "");
    make_file("c/x.so", "");
    g_autofree char *b = at("b"), *c = at("c");
    g_autofree char *env = g_strconcat("::", b, ":", NULL);
    const place where = {.plugin_dirs = (char *[]){c, NULL}};
    g_autofree char *found = search(FOLDERS("a"), env, &where, false);
    g_assert_cmpstr(found, ==, "a/B.so\na/a.so\na/z.so\nb/x.so\nc/x.so\n");
    tear_down();
}

static void test_absent(void) {
    set_up();
    g_autofree char *gone = at("gone");
    const place where = {.plugin_dirs = (char *[]){gone, NULL}};
    g_autofree char *found = search(FOLDERS("none"), "plugins", &where, false);
    g_assert_cmpstr(found, ==,
                    "none: the folder can't be read: No such file or directory\n"
                    "plugins: is not absolute, which the folders of TRACEMILL_PLUGIN_PATH must "
                    "be\n");
    tear_down();
}

static void test_seen_once(void) {
    set_up();
    make_file("a/x.so", "");
    make_link("a/y.so", "x.so");
    make_link("b/z.so", "../a/x.so");
    g_autofree char *found = search(FOLDERS("a", "b", "a"), NULL, NULL, false);
    g_assert_cmpstr(found, ==, "a/x.so\n");
    tear_down();
}

#define CHMOD                                                                                      \
    "is writable by group or others, who could have put any code there: chmod go-w it, or give "   \
    "--trust-writable\n"

static void test_trust_file(void) {
    set_up();
    make_file("a/group.so", "");
    make_file("a/mine.so", "");
    make_file("a/others.so", "");
    set_mode("a/group.so", 0664);
    set_mode("a/others.so", 0646);
    g_autofree char *found = search(FOLDERS("a"), NULL, NULL, false);
    g_assert_cmpstr(found, ==,
                    "a/group.so: the file " CHMOD "a/mine.so\na/others.so: the file " CHMOD);
    g_autofree char *trusted = search(FOLDERS("a"), NULL, NULL, true);
    g_assert_cmpstr(trusted, ==, "a/group.so\na/mine.so\na/others.so\n");
    tear_down();
}

static void test_trust_folder(void) {
    set_up();
    make_file("a/x.so", "");
    make_file("b/x.so", "");
    set_mode("a", 0775);
    set_mode("b", 01777); /* sticky, as /tmp: others can still add files */
    g_autofree char *found = search(FOLDERS("a", "b"), NULL, NULL, false);
    g_assert_cmpstr(found, ==, "a: the folder " CHMOD "b: the folder " CHMOD);
    g_autofree char *trusted = search(FOLDERS("a", "b"), NULL, NULL, true);
    g_assert_cmpstr(trusted, ==, "a/x.so\nb/x.so\n");
    tear_down();
}

static void test_trust_link(void) {
    set_up();
    make_file("b/real.so", "");
    make_link("a/x.so", "../b/real.so");
    make_link("a/y.so", "nothing.so");
    set_mode("b", 0777);
    g_autofree char *found = search(FOLDERS("a"), NULL, NULL, false);
    g_assert_cmpstr(found, ==, "a/x.so: the folder ROOT/b " CHMOD "a/y.so\n");
    tear_down();
}

static void test_place(void) {
    set_up();
    make_folder("prefix/bin");
    g_autofree char *program = at("prefix/bin/tracemill");
    g_autoptr(place) installed = place_create(program);
    g_assert_false(installed->built);
    g_autofree char *prefix = at("prefix/");
    g_assert_true(g_str_has_prefix(installed->plugin_dirs[0], prefix));
    g_assert_true(g_str_has_suffix(installed->plugin_dirs[0], "/tracemill/plugins"));
    g_assert_cmpuint(g_strv_length(installed->plugin_dirs), ==, 1);
    g_assert_true(g_str_has_prefix(installed->data_dir, prefix));
    g_assert_true(g_str_has_prefix(installed->template_dir, installed->data_dir));
    g_assert_true(g_str_has_suffix(installed->template_dir, "/template"));

    /* A build tree's own folders are trusted; the file beside the program says which they are. */
    make_file("a/x.so", "");
    set_mode("a", 0777);
    g_autofree char *text = g_strdup_printf(
        "[build-tree]\nplugins=%s/a;%s/b;\ndata=/src/etc\ntemplate=/src/sdk\n", root, root);
    make_file("prefix/bin/" PLACE_BUILD_FILE, text);
    g_autoptr(place) built = place_create(program);
    g_assert_true(built->built);
    g_assert_cmpuint(g_strv_length(built->plugin_dirs), ==, 2);
    g_assert_cmpstr(built->data_dir, ==, "/src/etc");
    g_assert_cmpstr(built->template_dir, ==, "/src/sdk");
    g_autofree char *found = search(NULL, NULL, built, false);
    g_assert_cmpstr(found, ==, "a/x.so\n");
    tear_down();
}

static void test_running_program(void) {
    g_autoptr(place) here = place_create(NULL);
    g_assert_true(g_str_has_suffix(here->program, "/test-module-search"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    umask(022);
    g_test_add_func("/search/order", test_order);
    g_test_add_func("/search/absent", test_absent);
    g_test_add_func("/search/seen-once", test_seen_once);
    g_test_add_func("/search/trust/file", test_trust_file);
    g_test_add_func("/search/trust/folder", test_trust_folder);
    g_test_add_func("/search/trust/link", test_trust_link);
    g_test_add_func("/search/place", test_place);
    g_test_add_func("/search/running-program", test_running_program);
    return g_test_run();
}
