/* SPDX-License-Identifier: Apache-2.0 */
/* Random pipelines whose stages nap at random: what they print, which failures they tell and how
 * they end must not depend on the number of threads. TRACEMILL_TEST_RUNS sets how many pipelines;
 * a failure is repeated with --seed, which the test prints. */
#include <string.h>

#include "flow.h"
#include "rig.h"

#define FILES 5

static flow_watch *seen;

/* Keys that a stage may be told to fail at, or to leave its output unset for. */
static const char *random_key(void) {
    static const char *const keys[] = {"1", "2", "4", "2:a", "3:b", "a", "10", "4:10"};
    return keys[g_test_rand_int_range(0, G_N_ELEMENTS(keys))];
}

static void add_habits(GString *ini) {
    if (g_test_rand_int_range(0, 3) > 0)
        g_string_append_printf(ini, "nap = %dus\n", g_test_rand_int_range(1, 900));
    if (g_test_rand_int_range(0, 5) == 0)
        g_string_append_printf(ini, "fail = %s, %s\n", random_key(), random_key());
    if (g_test_rand_int_range(0, 8) == 0)
        g_string_append_printf(ini, "gate = %s\n", random_key());
    if (g_test_rand_int_range(0, 25) == 0)
        g_string_append(ini, "open-fails = yes\n");
}

static void add_source(GString *ini, int number) {
    static const char *const kinds[] = {"read", "read", "split", "one", "read-single"};
    const char *kind = kinds[g_test_rand_int_range(0, number == 0 ? 3 : G_N_ELEMENTS(kinds))];
    g_string_append_printf(ini, "[s%d]\nuse = flow.%s\n", number, kind);
    if (strcmp(kind, "one") != 0)
        g_string_append(ini, "path = r*\n");
    if (strcmp(kind, "split") == 0)
        g_string_append(ini,
                        g_test_rand_int_range(0, 4) == 0 ? "subs = b, a\n" : "subs = 10, a, b\n");
    add_habits(ini);
}

static int earlier(int number) {
    return g_test_rand_int_range(0, number);
}

/* A stage between, or an exporter, which takes from earlier ones. */
static void add_stage(GString *ini, int number, bool exports) {
    static const char *const between[] = {"map",    "map", "join",  "join", "serial",
                                          "gather", "sum", "maybe", "cut",  "map"};
    static const char *const ends[] = {"sink", "list", "write", "spoil", "tell"};
    const char *kind = exports ? ends[g_test_rand_int_range(0, G_N_ELEMENTS(ends))]
                               : between[g_test_rand_int_range(0, G_N_ELEMENTS(between))];
    g_string_append_printf(ini, "[s%d]\nuse = flow.%s\n", number, kind);
    int a = earlier(number), b = earlier(number);
    if (strcmp(kind, "join") == 0)
        g_string_append_printf(ini, "in.a = s%d\nin.b = s%d\n", a, b);
    else if (a != b && strstr("gather sum sink list spoil tell", kind) != NULL)
        g_string_append_printf(ini, "in = s%d, s%d\n", a, b);
    else
        g_string_append_printf(ini, "in = s%d\n", a);
    if (strcmp(kind, "join") == 0 && g_test_rand_bit())
        g_string_append_printf(ini, "in.c = s%d\n", earlier(number));
    if (strcmp(kind, "cut") == 0)
        g_string_append(ini, "subs = x, y\n");
    if (strcmp(kind, "maybe") == 0)
        g_string_append_printf(ini, "unset = %s\n", random_key());
    add_habits(ini);
}

static char *random_pipeline(void) {
    GString *ini = g_string_new(NULL);
    int sources = g_test_rand_int_range(1, 4), between = g_test_rand_int_range(1, 7);
    for (int i = 0; i < sources; i++)
        add_source(ini, i);
    for (int i = 0; i < between; i++)
        add_stage(ini, sources + i, false);
    /* Exporters take from what is before the first of them. */
    GString *ends = g_string_new(NULL);
    for (int i = 0, n = g_test_rand_int_range(1, 4); i < n; i++) {
        g_string_truncate(ends, 0);
        add_stage(ends, sources + between, true);
        g_string_replace(ends, "[s", i == 0 ? "[w" : i == 1 ? "[x" : "[y", 1);
        g_string_append(ini, ends->str);
    }
    g_string_free(ends, TRUE);
    return g_string_free(ini, FALSE);
}

static char *text_of(const rig_result *r) {
    return g_strdup_printf("exit %d\n%s%s%s", r->exit_code, r->parts, r->failures, r->counts);
}

static void check_books(unsigned jobs) {
    g_assert_cmpint(seen->live, ==, 0);
    g_assert_cmpint(seen->open, ==, 0);
    g_assert_cmpint(seen->opened, ==, seen->closed);
    g_assert_cmpint(seen->clashes, ==, 0);
    g_assert_cmpint(seen->most_running, <=, (int)jobs);
}

static void compare_jobs(const char *ini) {
    g_auto(rig_result) alone = rig_run(ini, 1);
    g_autofree char *expected = text_of(&alone);
    for (unsigned jobs = 2; jobs <= 8; jobs += jobs == 3 ? 5 : 1) {
        *seen = (flow_watch){.seed = seen->seed};
        g_auto(rig_result) r = rig_run(ini, jobs);
        g_autofree char *text = text_of(&r);
        if (strcmp(text, expected) != 0)
            g_error("%u jobs differ from one:\n%s\n--- one:\n%s\n--- %u:\n%s", jobs, ini, expected,
                    jobs, text);
        check_books(jobs);
    }
}

static void test_any_jobs(void) {
    const char *wanted = g_getenv("TRACEMILL_TEST_RUNS");
    unsigned runs = wanted != NULL ? (unsigned)g_ascii_strtoull(wanted, NULL, 10) : 60;
    unsigned tried = 0, ran = 0;
    rig_clean();
    rig_files("r%d", 1, FILES);
    for (; ran < runs; tried++) {
        g_autofree char *ini = random_pipeline();
        if (!rig_accepts(ini))
            continue;
        compare_jobs(ini);
        ran++;
    }
    g_test_message("%u pipelines run, %u refused", ran, tried - ran);
    g_assert_cmpuint(tried, <, runs * 20);
}

int main(int argc, char **argv) {
    rig_init(&argc, &argv);
    seen = rig_symbol("flow", "flow_seen");
    g_test_add_func("/random/any-jobs", test_any_jobs);
    return rig_finish();
}
