/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the test harness: plugins that keep the contract pass, and what they give is seen.
 * harness_wrong.c has those that don't. */
#include "harness_probe.h"

#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/trace.h>

static mill_status holds_input(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o;
    s->kept = mill_input(run, 0, 0);
    mill_status status = run->host->hold(run, (const void *)(uintptr_t)s->kept);
    return status == MILL_OK ? probe_post(run, 1) : status;
}

static mill_status uses_kept(mill_run *run, const probe_options *o, probe_state *s) {
    (void)run, (void)o;
    s->sum = *s->kept;
    return MILL_OK;
}

static mill_status posts_own(mill_run *run, const probe_options *o, probe_state *s) {
    probe_own *made = malloc(sizeof *made);
    made->number = 12;
    mill_status status = mill_output(run, 1, made);
    return status == MILL_OK ? probe_good(run, o, s) : status;
}

static void expect_good(kit_test *t) {
    mill_status status = kit_test_run(t);
    g_assert_cmpstr(kit_test_breaches(t), ==, "");
    g_assert_cmpstr(kit_test_causes(t), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
}

static void test_outputs(void) {
    probe_behave(probe_good, NULL);
    kit_test *t = probe_two_items();
    expect_good(t);
    g_assert_cmpuint(kit_test_count(t, "out"), ==, 2);
    g_assert_cmpuint(kit_test_count(t, "parts"), ==, 0);
    g_assert_cmpint(*(const int64_t *)kit_test_output(t, "out", 1), ==, 3);
    g_assert_cmpstr(kit_test_key(t, "out", 1), ==, "b");
    g_assert_null(kit_test_output(t, "out", 2));
    kit_test_destroy(t);
}

static void test_hold(void) {
    probe_behave(holds_input, uses_kept);
    kit_test *t = probe_two_items();
    expect_good(t);
    kit_test_destroy(t);
}

/* Each value that is made, posted or loaded, is ended once. */
static void test_own(void) {
    probe_behave(posts_own, NULL);
    probe_frees = 0;
    kit_test *t = probe_two_items();
    kit_test_without(t, KIT_TEST_ALL & ~KIT_TEST_TYPES);
    expect_good(t);
    kit_test_destroy(t);
    g_assert_cmpint(probe_frees, ==, 4);
}

static mill_status writes(mill_run *run, const probe_options *o, probe_state *s) {
    mill_sink *sink;
    (void)s;
    mill_status status = run->host->sink_open(run, o->out, &sink);
    if (status == MILL_OK)
        status = sink->write(sink, o->path, strlen(o->path));
    return status == MILL_OK ? probe_post(run, o->top) : status;
}

static void test_files(void) {
    size_t length;
    probe_behave(writes, NULL);
    kit_test *t = kit_test_create(&probe_module, "probe");
    kit_test_option(t, "top=5");
    kit_test_option(t, "out = dir/$$${item}.csv");
    kit_test_file(t, "a", "x/a.json");
    kit_test_file(t, "b", "x/b.json");
    expect_good(t);
    g_assert_cmpstr(kit_test_written(t, "dir/$a.csv", NULL), ==, "x/a.json");
    g_assert_cmpstr(kit_test_written(t, "dir/$b.csv", &length), ==, "x/b.json");
    g_assert_cmpuint(length, ==, 8);
    g_assert_null(kit_test_written(t, "dir/$c.csv", NULL));
    g_assert_cmpint(*(const int64_t *)kit_test_output(t, "out", 0), ==, 5);
    kit_test_option(t, "out = same.csv");
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_CONFIG);
    g_assert_true(g_str_has_prefix(kit_test_causes(t), "same.csv is written by another item"));
    kit_test_destroy(t);
}

static mill_status fails(mill_run *run, const probe_options *o, probe_state *s) {
    (void)o, (void)s;
    mill_fail(run, MILL_E_DATA, "no rows");
    return mill_fail(run, MILL_E_DATA, "cannot read a.csv");
}

static void test_failures(void) {
    probe_behave(fails, NULL);
    kit_test *t = kit_test_create(&probe_module, "probe");
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_DATA);
    g_assert_cmpstr(kit_test_causes(t), ==, "cannot read a.csv\nno rows");
    g_assert_cmpstr(kit_test_breaches(t), ==, "");
    kit_test_option(t, "top = 101");
    g_assert_cmpint(kit_test_run(t), ==, MILL_E_CONFIG);
    g_assert_cmpstr(kit_test_causes(t), ==, "top: 101 is over the maximum 100");
    kit_test_destroy(t);
}

/* ---------------------------------------------------------------- mistakes of the test */

static void mistaken(const char *told, void (*fn)(kit_test *)) {
    if (g_test_subprocess()) {
        probe_behave(probe_good, NULL);
        fn(probe_two_items());
        exit(0);
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr(told);
}

static void no_class(kit_test *t) {
    (void)t;
    kit_test_create(&probe_module, "prod");
}
static void no_port(kit_test *t) {
    kit_test_input(t, "on", "test.x/1", t);
}
static void two_values(kit_test *t) {
    kit_test_input(t, "in", "test.x/1", probe_number(t, 1));
    kit_test_run(t);
}

static mill_status crashes(mill_run *run, const probe_options *o, probe_state *s) {
    (void)run, (void)o;
    s->kept = (const volatile int64_t *)(uintptr_t)4096;
    return *s->kept ? MILL_OK : MILL_GATE;
}
static void crash(kit_test *t) {
    probe_behave(crashes, NULL);
    kit_test_run(t);
}

static mill_status crashes_after_breach(mill_run *run, const probe_options *o, probe_state *s) {
    s->kept = (const volatile int64_t *)mill_input(run, 9, 0);
    return s->kept ? MILL_OK : crashes(run, o, s);
}
static void crash_after_breach(kit_test *t) {
    probe_behave(crashes_after_breach, NULL);
    kit_test_run(t);
}

static mill_status exits(mill_run *run, const probe_options *o, probe_state *s) {
    (void)run, (void)o, (void)s;
    exit(0);
}
static void leave(kit_test *t) {
    probe_behave(exits, NULL);
    kit_test_run(t);
}

static mill_status hangs(mill_run *run, const probe_options *o, probe_state *s) {
    (void)run, (void)o, (void)s;
    raise(SIGTERM); /* as meson does when a test takes too long */
    return MILL_OK;
}
static void hang(kit_test *t) {
    probe_behave(hangs, NULL);
    kit_test_run(t);
}

static void crash_outside(kit_test *t) {
    (void)t;
    raise(SIGSEGV);
}

static void test_crash(void) {
    mistaken("*the program dies of SIGSEGV in `run` of probe, item a*", crash);
}
static void test_crash_after_breach(void) {
    mistaken("*asks for input 9, which the class does not have*", crash_after_breach);
}
static void test_exit(void) {
    mistaken("*the program is ended by exit() in `run` of probe, item a*", leave);
}
static void test_hang(void) {
    mistaken("*told to end in `run` of probe, item a: does it go on without an end?*", hang);
}
static void test_crash_outside(void) {
    mistaken("*the test itself crashes*", crash_outside);
}
static void test_no_class(void) {
    mistaken("*module test.probe has no class \"prod\"; it has: probe*", no_class);
}
static void test_no_port(void) {
    mistaken("*class probe has no such input: \"on\"*", no_port);
}
static void test_two_values(void) {
    mistaken("*input \"in\" of probe takes one value a run, 2 are given in item b*", two_values);
}

/* ---------------------------------------------------------------- bundled classes */

static kit_test *bundled(const char *folder, const char *name, const char *class) {
    g_autofree char *path = g_strdup_printf("%s/plugins/%s/%s/%s.so",
                                            g_getenv("TRACEMILL_TEST_BUILD"), folder, name, name);
    g_autofree char *data = g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "etc", NULL);
    kit_test *t = kit_test_open(path, class);
    kit_test_data(t, data);
    return t;
}

/* One's output is the next one's input. */
static void test_bundled(void) {
    g_autofree char *path =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests/data/sample.json.gz", NULL);
    kit_test *reader = bundled("readers", "kineto", "kineto.read");
    kit_test_file(reader, "sample", path);
    expect_good(reader);
    g_assert_cmpuint(kit_test_count(reader, "trace"), ==, 1);
    const mill_trace *trace = kit_test_output(reader, "trace", 0);

    kit_test *overlap = bundled("analyzers", "overlap", "overlap");
    kit_test_input(overlap, "trace", MILL_TYPE_TRACE, trace);
    expect_good(overlap);
    const mill_report *report = kit_test_report(overlap, "report", 0);
    g_assert_cmpint(kit_test_table(report, "devices")->rows, >, 0);

    kit_test *writer = bundled("exporters", "json", "json.write");
    kit_test_input_from(writer, "report", MILL_TYPE_REPORT, report, "overlap", "");
    expect_good(writer);
    g_assert_nonnull(strstr(kit_test_written(writer, "-", NULL), "\"overlap\""));
    kit_test_destroy(writer);
    kit_test_destroy(overlap);
    kit_test_destroy(reader);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    harness_wrong_add();
    g_test_add_func("/harness/good/outputs", test_outputs);
    g_test_add_func("/harness/good/hold", test_hold);
    g_test_add_func("/harness/good/own", test_own);
    g_test_add_func("/harness/good/files", test_files);
    g_test_add_func("/harness/failures", test_failures);
    g_test_add_func("/harness/crash", test_crash);
    g_test_add_func("/harness/crash/found", test_crash_after_breach);
    g_test_add_func("/harness/exit", test_exit);
    g_test_add_func("/harness/hang", test_hang);
    g_test_add_func("/harness/crash/outside", test_crash_outside);
    g_test_add_func("/harness/mistakes/class", test_no_class);
    g_test_add_func("/harness/mistakes/port", test_no_port);
    g_test_add_func("/harness/mistakes/values", test_two_values);
    g_test_add_func("/harness/bundled", test_bundled);
    return g_test_run();
}
