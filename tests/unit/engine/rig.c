/* SPDX-License-Identifier: Apache-2.0 */
/* Runs pipelines of the test modules, in this process or by the program. */
#include "rig.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isolate/serve.h"
#include "module/probe.h"

static char *folder;
static char *modules_folder;
static modules *all;
static bool isolate; /* stages in processes of their own */

void rig_init(int *argc, char ***argv) {
    if (probe_requested(*argc, *argv))
        exit(probe_child(*argc, *argv, &engine_host));
    if (serve_requested(*argc, *argv))
        exit(serve_main(*argc, *argv));
    g_test_init(argc, argv, NULL);
    isolate = g_getenv("TRACEMILL_TEST_ISOLATE") != NULL;
    modules_folder = g_build_filename(g_getenv("TRACEMILL_TEST_BUILD"), "tests/unit/engine", NULL);
    folder = g_dir_make_tmp("tracemill-engine-XXXXXX", NULL);
    g_assert_nonnull(folder);
    g_assert_cmpint(g_chdir(folder), ==, 0);
    all = modules_scan(&(modules_options){
        .plugin_paths = (const char *const[]){modules_folder, NULL}, .host = &engine_host});
}

int rig_finish(void) {
    int failed = g_test_run();
    rig_clean();
    g_assert_cmpint(g_chdir("/"), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    modules_destroy(all);
    g_free(folder);
    g_free(modules_folder);
    return failed;
}

void *rig_symbol(const char *file, const char *name) {
    g_autofree char *path = g_strdup_printf("%s/%s.so", modules_folder, file);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    g_assert_nonnull(handle);
    void *symbol = dlsym(handle, name);
    g_assert_nonnull(symbol);
    return symbol;
}

/* ---------------------------------------------------------------- files */

void rig_file(const char *name, const char *content) {
    g_assert_true(g_file_set_contents(name, content, -1, NULL));
}

void rig_files(const char *format, int first, int last) {
    g_auto(GStrv) around = g_strsplit(format, "%d", 2);
    for (int i = first; i <= last; i++) {
        g_autofree char *name = g_strdup_printf("%s%d%s", around[0], i, around[1]);
        rig_file(name, "");
    }
}

static gint compare_names(gconstpointer a, gconstpointer b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static GPtrArray *names_of(const char *path) {
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
        g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, compare_names);
    return names;
}

static void remove_all(const char *path) {
    g_autoptr(GPtrArray) names = names_of(path);
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *name = g_build_filename(path, g_ptr_array_index(names, i), NULL);
        if (g_file_test(name, G_FILE_TEST_IS_DIR) && !g_file_test(name, G_FILE_TEST_IS_SYMLINK))
            remove_all(name);
        g_assert_cmpint(g_remove(name), ==, 0);
    }
}

void rig_clean(void) {
    remove_all(folder);
}

char *rig_read(const char *name) {
    char *content = NULL;
    g_file_get_contents(name, &content, NULL, NULL);
    return content;
}

char *rig_names(void) {
    g_autoptr(GPtrArray) names = names_of(folder);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(text, "%s ", (char *)g_ptr_array_index(names, i));
    return g_string_free(text, FALSE);
}

/* ---------------------------------------------------------------- in this process */

static plan *make_plan(const char *ini) {
    g_autoptr(problems) told = problems_create();
    rig_file("test.ini", ini);
    plan *p = plan_create(
        &(plan_request){.pipeline = "test.ini", .data_dir = "/", .isolate = isolate}, all, told);
    g_autofree char *text = problems_format(told, false);
    if (p == NULL)
        g_test_message("%s", text);
    return p;
}

bool rig_isolates(void) {
    return isolate;
}

bool rig_accepts(const char *ini) {
    plan *p = make_plan(ini);
    plan_destroy(p);
    return p != NULL;
}

static void describe_failures(const outcome *o, GString *text) {
    for (guint i = 0; i < o->failures->len; i++) {
        const failure *f = g_ptr_array_index(o->failures, i);
        g_autofree char *why = causes_text(&f->causes, false);
        g_string_append_printf(text, "[%s] %s %s: %s\n", f->stage != NULL ? f->stage->name : "-",
                               f->key, status_name(f->status), why);
    }
}

rig_result rig_run(const char *ini, unsigned jobs) {
    plan *p = make_plan(ini);
    g_assert_nonnull(p);
    outcome *o =
        engine_run(p, &(engine_options){.jobs = jobs, .log_level = MILL_ERROR, .capture = true});
    GString *all_text = g_string_new(NULL), *parts = g_string_new(NULL);
    GString *failures = g_string_new(NULL), *counts = g_string_new(NULL);
    for (guint i = 0; i < o->printed->len; i++) {
        const printed *one = g_ptr_array_index(o->printed, i);
        g_string_append(all_text, one->text);
        g_string_append_printf(parts, "[%s] %s: %s", one->stage->name, one->key, one->text);
    }
    describe_failures(o, failures);
    for (unsigned i = 0; i < o->n_stages; i++)
        g_string_append_printf(counts, "%s %u/%u/%u ", o->stages[i].stage->name, o->stages[i].done,
                               o->stages[i].failed, o->stages[i].skipped);
    rig_result r = {o->exit_code, g_string_free(all_text, FALSE), g_string_free(parts, FALSE),
                    g_string_free(failures, FALSE), g_string_free(counts, FALSE)};
    outcome_destroy(o);
    plan_destroy(p);
    return r;
}

void rig_result_finish(rig_result *r) {
    g_free(r->printed);
    g_free(r->parts);
    g_free(r->failures);
    g_free(r->counts);
}

void rig_prints(const char *ini, int exit_code, const char *expected) {
    for (const unsigned *jobs = (const unsigned[]){1, 2, 3, 8, 0}; *jobs != 0; jobs++) {
        g_auto(rig_result) r = rig_run(ini, *jobs);
        g_test_message("%u jobs: %s%s", *jobs, r.failures, r.counts);
        g_assert_cmpstr(r.printed, ==, expected);
        g_assert_cmpint(r.exit_code, ==, exit_code);
    }
}

void rig_fails(const char *ini, mill_status status, const char *part) {
    for (unsigned jobs = 1; jobs <= 4; jobs += 3) {
        g_auto(rig_result) r = rig_run(ini, jobs);
        g_autofree char *name = g_strdup_printf(" %s: ", status_name(status));
        if (strstr(r.failures, name) == NULL || strstr(r.failures, part) == NULL)
            g_error("not \"%s\" with \"%s\", but: %s", name, part, r.failures);
        g_assert_cmpint(r.exit_code, ==, status_exit_code(status));
    }
}

/* ---------------------------------------------------------------- the program */

void rig_process_finish(rig_process *p) {
    g_free(p->out);
    g_free(p->err);
}

static void send_signals(GPid pid, int number, int times) {
    for (int waited = 0; !g_file_test("started", G_FILE_TEST_EXISTS); waited++) {
        g_assert_cmpint(waited, <, 10000); /* ms */
        g_usleep(1000);
    }
    for (int i = 0; i < times; i++) {
        g_usleep(100000);
        kill(pid, number);
    }
}

rig_process rig_program(const char *ini, const char *arguments, int signal_number, int times) {
    rig_file("test.ini", ini);
    g_autofree char *command = g_strdup_printf(
        "exec '%s' run >test.out 2>test.err --plugin-path '%s' test.ini %s%s",
        g_getenv("TRACEMILL_TEST_PROGRAM"), modules_folder, isolate ? "--isolate " : "", arguments);
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    rig_process p = {0};
    GPid pid;
    g_autoptr(GError) error = NULL;
    int64_t began = g_get_monotonic_time();
    g_spawn_async(NULL, (char **)argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid, &error);
    g_assert_no_error(error);
    if (times > 0)
        send_signals(pid, signal_number, times);
    int status;
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    p.wall_ns = (g_get_monotonic_time() - began) * 1000;
    p.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    p.out = rig_read("test.out");
    p.err = rig_read("test.err");
    g_test_message("exit %d, %s", p.exit_code, p.err);
    for (const char *const *name =
             (const char *const[]){"test.ini", "test.out", "test.err", "started", NULL};
         *name != NULL; name++)
        g_remove(*name);
    return p;
}
