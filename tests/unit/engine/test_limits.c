/* SPDX-License-Identifier: Apache-2.0 */
/* Time limits and signals: who is asked to end, what becomes of the rest, what is left behind. */
#include <signal.h>
#include <string.h>

#include "flow.h"
#include "rig.h"

/* The item 2 goes on until it is asked to end. */
#define LOOP(...)                                                                                  \
    "[r]\nuse = flow.read\npath = r*\n"                                                            \
    "[w]\nuse = works.loop\nin = r\nonly = 2\npath = out\n" __VA_ARGS__ "\n"
#define SECOND ((int64_t)1000000000)

static flow_watch *seen;

static void set_up(void) {
    rig_clean();
    rig_files("r%d", 1, 3);
    *seen = (flow_watch){.seed = seen->seed};
}

static void check_nothing_left(void) {
    g_autofree char *names = rig_names();
    g_assert_cmpstr(names, ==, "r1 r2 r3 ");
}

static void check_said(const rig_process *p, const char *part) {
    if (strstr(p->err, part) == NULL)
        g_error("\"%s\" is not in: %s", part, p->err);
}

/* ---------------------------------------------------------------- time limits */

static void test_run_timeout(void) {
    set_up();
    rig_prints(LOOP("run.timeout = 200ms"), 75, "13");
    g_auto(rig_result) r = rig_run(LOOP("run.timeout = 200ms"), 2);
    g_assert_cmpstr(r.failures, ==,
                    "[w] 2 E_TIMEOUT: `run` did not end within run.timeout = 200ms\n");
    g_assert_cmpint(seen->opened, ==, seen->closed);
}

/* A limit is a limit: what comes too late is not taken, nor dropped in silence. */
static void test_too_late(void) {
    set_up();
    const char *ini = "[o]\nuse = flow.one\nnap = 600ms\nstubborn = yes\nrun.timeout = 100ms\n"
                      "[w]\nuse = flow.write\nin = o\n";
    rig_fails(ini, MILL_E_TIMEOUT, "`run` did not end within run.timeout = 100ms");
    g_auto(rig_result) r = rig_run(ini, 2);
    g_assert_cmpstr(r.printed, ==, "");
}

static void test_in_time(void) {
    set_up();
    rig_prints("[o]\nuse = flow.one\nnap = 5ms\nrun.timeout = 60s\n[w]\nuse = flow.write\nin = o\n",
               0, "write(map())\n");
}

static void test_whole_timeout(void) {
    set_up();
    g_auto(rig_process) p = rig_program(LOOP(), "--timeout 300ms --jobs 2", 0, 0);
    g_assert_cmpint(p.exit_code, ==, 75);
    g_assert_cmpint(p.wall_ns, <, 4 * SECOND);
    check_said(&p, "the run did not end within --timeout 300ms");
    g_assert_null(strstr(p.err, "did not stop"));
    check_nothing_left();
}

/* The limit of the run holds too once a failure has stopped all that has not begun. */
static void test_timeout_after_stop(void) {
    set_up();
    g_auto(rig_process) p =
        rig_program("[pipeline]\non-error = stop\n" LOOP() "[m]\nuse = flow.map\nin = r\nfail = 1, "
                                                           "3\nnap = 100ms\n"
                                                           "stubborn = yes\n",
                    "--timeout 500ms --jobs 3", 0, 0);
    g_assert_cmpint(p.exit_code, ==, 75);
    g_assert_cmpint(p.wall_ns, <, 4 * SECOND);
    check_nothing_left();
}

/* The one test that has to wait: a stage that does not listen ends the process. */
static void test_deaf_stage(void) {
    set_up();
    g_auto(rig_process) p = rig_program(LOOP("deaf = yes\nrun.timeout = 50ms"), "--jobs 2", 0, 0);
    g_assert_cmpint(p.exit_code, ==, 75);
    g_assert_cmpint(p.wall_ns, >, 5 * SECOND);
    g_assert_cmpint(p.wall_ns, <, 15 * SECOND);
    check_said(&p, "stage \"w\" (works.loop, module test.works 1.0.0, /");
    check_said(&p, "item \"2\", did not stop within 5 s of its time limit");
    check_nothing_left();
}

/* ---------------------------------------------------------------- signals */

static void test_interrupt(int number) {
    set_up();
    g_auto(rig_process) p = rig_program(LOOP(), "--jobs 2", number, 1);
    g_assert_cmpint(p.exit_code, ==, 130);
    g_assert_cmpint(p.wall_ns, <, 4 * SECOND);
    check_said(&p, "stopped by the user");
    g_assert_null(strstr(p.err, "error:"));
    check_nothing_left();
}

static void test_sigint(void) {
    test_interrupt(SIGINT);
}

static void test_sigterm(void) {
    test_interrupt(SIGTERM);
}

/* The terminal was closed. */
static void test_sighup(void) {
    test_interrupt(SIGHUP);
}

/* The second one does not wait for anybody. */
static void test_second_sigint(void) {
    set_up();
    g_auto(rig_process) p = rig_program(LOOP("deaf = yes"), "--jobs 2", SIGINT, 2);
    g_assert_cmpint(p.exit_code, ==, 130);
    g_assert_cmpint(p.wall_ns, <, 4 * SECOND);
    check_nothing_left();
}

int main(int argc, char **argv) {
    rig_init(&argc, &argv);
    seen = rig_symbol("flow", "flow_seen");
    g_test_add_func("/limits/run", test_run_timeout);
    g_test_add_func("/limits/too-late", test_too_late);
    g_test_add_func("/limits/in-time", test_in_time);
    g_test_add_func("/limits/whole", test_whole_timeout);
    g_test_add_func("/limits/after-stop", test_timeout_after_stop);
    g_test_add_func("/limits/deaf-stage", test_deaf_stage);
    g_test_add_func("/signals/int", test_sigint);
    g_test_add_func("/signals/term", test_sigterm);
    g_test_add_func("/signals/hup", test_sighup);
    g_test_add_func("/signals/second", test_second_sigint);
    return rig_finish();
}
