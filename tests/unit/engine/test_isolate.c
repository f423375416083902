/* SPDX-License-Identifier: Apache-2.0 */
/* Stages in processes of their own: what their death costs, and that nothing they send does harm.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "rig.h"

#define READ "[r]\nuse = flow.read\npath = r*\nrun.isolate = no\n"
#define WRITE READ "[w]\nuse = dying.write\nin = r\nrun.isolate = yes\n"

static void set_up(void) {
    rig_clean();
    rig_files("r%d", 1, 5);
}

/* Every process that a run has begun is gone, and waited for. */
static void check_no_child(void) {
    g_assert_cmpint(waitpid(-1, NULL, WNOHANG), ==, -1);
    g_assert_cmpint(errno, ==, ECHILD);
}

static void check_part(const char *text, const char *part) {
    if (strstr(text, part) == NULL)
        g_error("\"%s\" is not in: %s", part, text);
}

static void test_one_item(void) {
    static const char *const ways[][2] = {
        {"crash", "died of SIGSEGV (Segmentation fault) in `run`"},
        {"abort", "died of SIGABRT (Aborted) in `run`"},
        {"kill", "died of SIGKILL (Killed) in `run`"},
        {"exit", "ended its process in `run` with exit code 3, as exit() does"},
        {"last-words", "in `run`; its last words: \"all is lost: \x1b[31m7 of 9\""},
    };
    set_up();
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++)
        for (unsigned jobs = 1; jobs <= 4; jobs += 3) {
            g_autofree char *ini = g_strdup_printf(WRITE "how = %s\nat = 3\n", ways[i][0]);
            g_auto(rig_result) r = rig_run(ini, jobs);
            g_assert_cmpstr(r.printed, ==, "1245");
            g_assert_cmpint(r.exit_code, ==, 70);
            g_assert_cmpstr(r.counts, ==, "r 5/0/0 w 4/1/0 ");
            check_part(r.failures, "[w] 3 E_PLUGIN: stage \"w\" (dying.write, module test.dying ");
            check_part(r.failures, ways[i][1]);
            check_no_child();
        }
}

static void test_files(void) {
    set_up();
    g_auto(rig_result) r = rig_run(WRITE "how = crash\nat = 3\npath = out-${item}\n", 2);
    g_assert_cmpstr(r.counts, ==, "r 5/0/0 w 4/1/0 ");
    g_autofree char *names = rig_names();
    g_assert_cmpstr(names, ==, "out-1 out-2 out-4 out-5 r1 r2 r3 r4 r5 test.ini ");
    g_autofree char *content = rig_read("out-4");
    g_assert_cmpstr(content, ==, "4");
}

/* With the process goes what it has gathered: to go on would give a wrong sum. */
static void test_stream(void) {
    set_up();
    g_auto(rig_result) r = rig_run(
        READ "[s]\nuse = dying.stream\nin = r\nhow = crash\nat = 3\npath = out\nrun.isolate = yes\n"
             "[w]\nuse = dying.write\nin = r\n",
        2);
    g_assert_cmpstr(r.printed, ==, "12345");
    g_assert_cmpint(r.exit_code, ==, 70);
    g_autofree char *names = rig_names();
    g_assert_cmpstr(names, ==, "r1 r2 r3 r4 r5 test.ini ");
    check_part(r.failures, "[s] 3 E_PLUGIN: stage \"s\" (dying.stream");
    check_part(r.counts, "s 2/1/");
    check_no_child();
}

/* What depends on the dead one is skipped, and a list says what it lacks. */
static void test_downstream(void) {
    set_up();
    g_auto(rig_result) r = rig_run(READ "[p]\nuse = dying.pass\nin = r\nhow = crash\nat = 2\n"
                                        "run.isolate = yes\n[l]\nuse = flow.list\nin = p\n",
                                   3);
    g_assert_cmpstr(r.printed, ==, "sink(p:1=1;p:3=3;p:4=4;p:5=5|missing p:2)\n");
    g_assert_cmpint(r.exit_code, ==, 70);
}

static void test_memory(void) {
#ifdef __SANITIZE_THREAD__
    g_test_skip("the thread sanitizer does not end where memory does");
    return;
#endif
    set_up();
    g_auto(rig_result) r = rig_run(WRITE "how = memory\nat = 3\nrun.memory = 64MiB\n", 2);
    g_assert_cmpstr(r.printed, ==, "1245");
    g_assert_cmpint(r.exit_code, ==, 70);
    check_part(r.failures, "; it may use run.memory = 64MiB, and ");
}

/* The host believes nothing: it ends the process, and the other items go on. */
static void test_forged(void) {
    static const char *const ways[] = {"noise", "cut",   "unsealed", "other-key",
                                       "shut",  "close", NULL};
    set_up();
    for (const char *const *way = ways; *way != NULL; way++) {
        g_autofree char *ini = g_strdup_printf(READ "[p]\nuse = dying.pass\nin = r\nhow = %s\n"
                                                    "at = 2\nrun.isolate = yes\n"
                                                    "[l]\nuse = flow.list\nin = p\n",
                                               *way);
        g_auto(rig_result) r = rig_run(ini, 2);
        g_test_message("%s: %s", *way, r.failures);
        g_assert_cmpstr(r.printed, ==, "sink(p:1=1;p:3=3;p:4=4;p:5=5|missing p:2)\n");
        g_assert_cmpint(r.exit_code, ==, 70);
        g_assert_true(g_str_has_prefix(r.failures, "[p] 2 E_PLUGIN: stage \"p\" (dying.pass"));
        check_no_child();
    }
}

/* Of some forged frames the host can't know that they are; the other branch is fine in any case. */
static void test_random(void) {
    set_up();
    unsigned good = 0;
    for (int seed = 1; seed <= 60; seed++) {
        g_autofree char *ini =
            g_strdup_printf(READ "[p]\nuse = dying.pass\nin = r\nhow = random\nat = 2\nseed = %d\n"
                                 "run.isolate = yes\n[l]\nuse = flow.list\nin = p\npath = list\n"
                                 "[w]\nuse = flow.write\nin = r\nrun.isolate = yes\n",
                            seed);
        g_auto(rig_result) r = rig_run(ini, 2);
        g_test_message("%d: %s", seed, r.failures);
        g_assert_true(
            g_str_has_suffix(r.printed, "write(1)\nwrite(2)\nwrite(3)\nwrite(4)\nwrite(5)\n"));
        if (*r.failures == '\0')
            g_assert_cmpint(r.exit_code, ==, 0);
        else /* it broke the rules, or what it sent is no value of the type */
            g_assert_true(r.exit_code == 70 || r.exit_code == 65);
        good += r.exit_code == 0;
        check_no_child();
    }
    g_assert_cmpuint(good, >, 0); /* else they would all be refused for the same reason */
    g_assert_cmpuint(good, <, 30);
}

/* Any stage may be in either place. */
static void test_mixed(void) {
    static const char *const names[] = {"r", "m", "l", "t"};
    static const char ini[] = "[r]\nuse = flow.read\npath = r*\n[m]\nuse = flow.map\nin = r\n"
                              "[l]\nuse = flow.list\nin =\n  m\n  r\n"
                              "[t]\nuse = flow.tell\nin = m\n";
    set_up();
    g_auto(rig_result) plain = rig_run(ini, 2);
    g_assert_cmpint(plain.exit_code, ==, 0);
    for (unsigned mask = 1; mask < 16; mask++) {
        g_autoptr(GString) text = g_string_new(ini);
        for (unsigned i = 0; i < 4; i++) {
            g_autofree char *head = g_strdup_printf("[%s]\n", names[i]);
            g_autofree char *more = g_strdup_printf("%srun.isolate = yes\n", head);
            if (mask & (1u << i))
                g_string_replace(text, head, more, 1);
        }
        g_auto(rig_result) r = rig_run(text->str, 2);
        g_assert_cmpstr(r.parts, ==, plain.parts);
        g_assert_cmpstr(r.failures, ==, "");
    }
}

static void test_save_and_load_fail(void) {
    set_up();
    rig_fails("[o]\nuse = flow.one\ntag = no-save\nrun.isolate = yes\n[w]\nuse = flow.write\n"
              "in = o\n",
              MILL_E_DATA,
              "[o]  E_DATA: cannot send the test.item/1 to the host\n"
              "  caused by: the text stays here");
    rig_fails("[o]\nuse = flow.one\ntag = no-save\n[w]\nuse = flow.write\nin = o\n"
              "run.isolate = yes\n",
              MILL_E_DATA,
              "[w]  E_DATA: cannot send the test.item/1 from [o] to the process of the stage\n"
              "  caused by: the text stays here");
    rig_fails("[o]\nuse = flow.one\ntag = no-load\n[w]\nuse = flow.write\nin = o\n"
              "run.isolate = yes\n",
              MILL_E_DATA,
              "[w]  E_DATA: cannot take over the test.item/1 from [o]\n"
              "  caused by: the text does not arrive");
}

/* Whether the process is there and not only its name. */
static bool is_alive(const char *pid) {
    g_autofree char *path = g_strdup_printf("/proc/%s/stat", pid), *stat = NULL;
    if (!g_file_get_contents(path, &stat, NULL, NULL))
        return false;
    const char *state = strrchr(stat, ')');
    return state != NULL && strncmp(state, ") Z", 3) != 0;
}

/* What the process has forked holds the connection open: its end is seen all the same, and not
 * only when that process ends too. */
static void test_forked(void) {
    set_up();
    g_auto(rig_result) r = rig_run(WRITE "how = fork\nat = 3\n", 2);
    g_autofree char *left = rig_read("left.pid");
    g_assert_true(is_alive(left));
    g_assert_cmpint(kill((pid_t)g_ascii_strtoll(left, NULL, 10), SIGKILL), ==, 0);
    g_assert_cmpstr(r.printed, ==, "1245");
    g_assert_cmpint(r.exit_code, ==, 70);
    check_part(r.failures, "died of SIGABRT (Aborted) in `run`");
    check_no_child();
}

/* The program is killed while a stage sleeps for ever. */
static void test_orphan(void) {
    set_up();
    g_auto(rig_process) p = rig_program(WRITE "how = sleep\nat = 3\n", "--jobs 1", SIGKILL, 1);
    g_assert_cmpint(p.exit_code, ==, -1);
    g_autofree char *pid = rig_read("stage.pid");
    g_assert_nonnull(pid);
    for (int waited = 0; is_alive(pid); waited++) {
        g_assert_cmpint(waited, <, 10000); /* ms */
        g_usleep(1000);
    }
}

int main(int argc, char **argv) {
    rig_init(&argc, &argv);
    g_test_add_func("/isolate/one-item", test_one_item);
    g_test_add_func("/isolate/forked", test_forked);
    g_test_add_func("/isolate/files", test_files);
    g_test_add_func("/isolate/stream", test_stream);
    g_test_add_func("/isolate/downstream", test_downstream);
    g_test_add_func("/isolate/memory", test_memory);
    g_test_add_func("/isolate/forged", test_forged);
    g_test_add_func("/isolate/random", test_random);
    g_test_add_func("/isolate/mixed", test_mixed);
    g_test_add_func("/isolate/save-and-load-fail", test_save_and_load_fail);
    g_test_add_func("/isolate/orphan", test_orphan);
    return rig_finish();
}
