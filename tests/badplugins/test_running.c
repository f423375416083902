/* SPDX-License-Identifier: Apache-2.0 */
/* Every wrong that a stage can do while it runs ends the run with the documented exit code and one
 * sentence that names the stage or class, the module and its path. */
#include "program.h"

#include <string.h>

#define MODULE "module bad.running 1.0 (FOLDER/bad.so)"
#define DIED "module bad.running 1.0, FOLDER/bad.so)"

static const struct {
    const char *name;
    int exit_code;
    const char *sentence; /* in what goes to stderr */
    const char *isolated; /* the same in a process of its own; NULL: it says the same */
} wrongs[] = {
    {"fail-silently", 70,
     "[x] class bad.fail-silently failed in `run` with E_DATA and said no cause: this is a bug "
     "of " MODULE},
    {"post-nothing", 70,
     "[x] class bad.post-nothing ended well but posted no \"report\": this is a bug of " MODULE},
    {"post-twice", 70,
     "[x] class bad.post-twice posted twice on one output: this is a bug of " MODULE},
    {"post-other-type", 70,
     "[x] class bad.post-other-type posted something else (its size does not fit) where its output "
     "\"report\" is mill.report/1: this is a bug of " MODULE},
    {"post-own-memory", 70,
     "[x] class bad.post-own-memory posted something that was not made by value_alloc where its "
     "output \"report\" is mill.report/1: this is a bug of " MODULE},
    {"post-elsewhere", 70,
     "[x] class bad.post-elsewhere posted on an output that it does not have: this is a bug "
     "of " MODULE},
    {"loop", 75, "[x] `run` did not end within --timeout 2s",
     "[x] `run` did not end within run.timeout = 200ms"},
    {"loop-for-ever", 75,
     "stage \"x\" (bad.loop-for-ever, " DIED " did not stop within 5 s of its time limit"},
    {"crash", 70, "stage \"x\" (bad.crash, " DIED " died of SIGSEGV"},
    {"leave", 70, "stage \"x\" (bad.leave, " DIED " ended the program with exit()",
     "[x] stage \"x\" (bad.leave, " DIED " ended its process in `run` with exit code 0, as exit() "
     "does"},
    {"overflow-stack", 70, "stage \"x\" (bad.overflow-stack, " DIED " died of SIGSEGV"},
};

/* The class as a stage "x", whose report goes to standard output. Owner: the caller. */
static char *write_pipeline(const char *name) {
    g_autofree char *text =
        g_strdup_printf("[x]\nuse = bad.%s\n[out]\nuse = json.write\nin = x\n", name);
    program_write("p.ini", text, strlen(text));
    return program_path("p.ini");
}

static result run_class(const char *name) {
    g_autofree char *pipeline = write_pipeline(name);
    return program_run("run", pipeline, "--timeout", "2s", NULL);
}

/* The class with a time limit of its own, beside a branch that has nothing to do with it. */
static char *write_branches(const char *name) {
    g_autofree char *kept = program_path("kept.json");
    g_autofree char *text =
        g_strdup_printf("[x]\nuse = bad.%s\nrun.timeout = 200ms\n[out]\nuse = json.write\nin = x\n"
                        "[good]\nuse = bad.works\n[kept]\nuse = json.write\nin = good\npath = %s\n",
                        name, kept);
    program_write("p.ini", text, strlen(text));
    return program_path("p.ini");
}

static void set_up(void) {
    program_begin();
    program_copy_built("badplugins/running.so", "bad.so");
}

static void tear_down(void) {
    program_remove("bad.so");
    program_remove("p.ini");
    program_end();
}

static void test_wrong(gconstpointer data) {
    size_t i = GPOINTER_TO_SIZE(data);
    set_up();
    g_auto(result) r = run_class(wrongs[i].name);
    g_assert_cmpint(r.exit_code, ==, wrongs[i].exit_code);
    program_says(r.err, wrongs[i].sentence);
    g_assert_cmpstr(r.out, ==, "");
    tear_down();
}

/* In a process of its own each ends its own stage alone: the other branch finishes, its output is
 * there and whole, and nothing else is left in the folder. */
static void test_isolated(gconstpointer data) {
    size_t i = GPOINTER_TO_SIZE(data);
    const char *sentence = wrongs[i].isolated != NULL ? wrongs[i].isolated : wrongs[i].sentence;
    set_up();
    g_autofree char *pipeline = write_branches(wrongs[i].name), *text = NULL;
    g_auto(result) r = program_run("run", pipeline, "--isolate", "--jobs", "2", NULL);
    g_assert_cmpint(r.exit_code, ==, wrongs[i].exit_code);
    program_says(r.err, sentence);
    program_says(r.err, "tracemill: 2 runs of stages ended well, 1 failed, 1 skipped");
    g_assert_cmpstr(r.out, ==, "");
    g_autofree char *kept = program_path("kept.json");
    g_assert_true(g_file_get_contents(kept, &text, NULL, NULL));
    program_says(text, "\"title\": \"Nothing\"");
    program_remove("kept.json");
    tear_down(); /* which fails where a temporary file is left */
}

/* `check` runs code of the class too. */
static void test_check(void) {
    static const char *const wrong[][2] = {
        {"check-crash", "stage \"x\" (bad.check-crash, " DIED " died of SIGSEGV"},
        {"check-leave", "stage \"x\" (bad.check-leave, " DIED " ended the program with exit()"},
    };
    set_up();
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *pipeline = write_pipeline(wrong[i][0]);
        g_auto(result) check = program_run("check", pipeline, NULL);
        g_auto(result) run = program_run("run", pipeline, NULL);
        g_assert_cmpint(check.exit_code, ==, 70);
        g_assert_cmpint(run.exit_code, ==, 70);
        program_says(check.err, wrong[i][1]);
        g_assert_cmpstr(run.err, ==, check.err);
    }
    tear_down();
}

/* In a process of its own it is one of the problems of the pipeline, beside the others. */
static void test_check_isolated(void) {
    static const char *const wrong[][2] = {
        {"check-crash", "p.ini:1: error: [x] stage \"x\" (bad.check-crash, " DIED
                        " died of SIGSEGV (Segmentation fault) in `check`"},
        {"check-leave", "p.ini:1: error: [x] stage \"x\" (bad.check-leave, " DIED
                        " ended its process in `check` with exit code 0, as exit() does"},
    };
    set_up();
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *pipeline = write_pipeline(wrong[i][0]);
        g_auto(result) check = program_run("check", pipeline, "--isolate", NULL);
        g_auto(result) run = program_run("run", pipeline, "--isolate", NULL);
        g_assert_cmpint(check.exit_code, ==, 70);
        g_assert_cmpint(run.exit_code, ==, 70);
        program_says(check.err, wrong[i][1]);
        g_assert_cmpstr(run.err, ==, check.err);
    }
    tear_down();
}

static gpointer check_isolated(gpointer pipeline) {
    result *r = g_new(result, 1);
    *r = program_run("check", pipeline, "--isolate", NULL);
    return r;
}

/* Nobody waits for ever for a class that only looks at its options. Both at once, since it is long.
 */
static void test_check_loop(void) {
    set_up();
    g_autofree char *pipeline = write_pipeline("check-loop");
    GThread *thread = g_thread_new("isolated", check_isolated, pipeline);
    g_auto(result) check = program_run("check", pipeline, NULL);
    g_autofree result *isolated = g_thread_join(thread);
    g_assert_cmpint(check.exit_code, ==, 75);
    program_says(check.err, "stage \"x\" (bad.check-loop, " DIED " did not end `check` within");
    g_assert_cmpint(isolated->exit_code, ==, 75);
    program_says(isolated->err,
                 "[x] stage \"x\" (bad.check-loop, " DIED " did not end `check` within");
    result_finish(isolated);
    tear_down();
}

/* Whose thread it was on says nothing. */
static void test_free(void) {
    static const char text[] = "[x]\nuse = bad.post-fatal\n";
    set_up();
    program_write("p.ini", text, strlen(text));
    g_autofree char *pipeline = program_path("p.ini");
    g_auto(result) r = program_run("run", pipeline, NULL);
    g_assert_cmpint(r.exit_code, ==, 70);
    program_says(r.err, "`free` of type bad.fatal/1 died of SIGSEGV");
    g_auto(result) isolated = program_run("run", pipeline, "--isolate", NULL);
    g_assert_cmpint(isolated.exit_code, ==, 70);
    program_says(isolated.err, "[x] `free` of type bad.fatal/1 died of SIGSEGV");
    tear_down();
}

/* A value that was begun and never posted is freed by the host; the run is good. */
static void test_leak(void) {
    set_up();
    g_auto(result) r = run_class("leak-value");
    g_assert_cmpint(r.exit_code, ==, 0);
    g_assert_cmpstr(r.err, ==, "");
    program_says(r.out, "\"title\": \"Nothing\"");
    g_autofree char *pipeline = program_path("p.ini");
    g_auto(result) isolated = program_run("run", pipeline, "--isolate", NULL);
    g_assert_cmpint(isolated.exit_code, ==, 0);
    g_assert_cmpstr(isolated.err, ==, "");
    g_assert_cmpstr(isolated.out, ==, r.out);
    tear_down();
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(wrongs); i++) {
        g_autofree char *path = g_strconcat("/running/", wrongs[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_wrong);
        g_autofree char *isolated = g_strconcat("/isolated/", wrongs[i].name, NULL);
        g_test_add_data_func(isolated, GSIZE_TO_POINTER(i), test_isolated);
    }
    g_test_add_func("/running/check", test_check);
    g_test_add_func("/isolated/check", test_check_isolated);
    g_test_add_func("/running/check-loop", test_check_loop);
    g_test_add_func("/running/free", test_free);
    g_test_add_func("/running/leak", test_leak);
    return g_test_run();
}
