/* SPDX-License-Identifier: Apache-2.0 */
/* Both engines, and every build of the fast one, must make the same trace of the same text: row by
 * row, column by column, whatever the window. */
#include "bench_host.h"
#include "engines.h"
#include "inflated.h"
#include "input.h"
#include "random_text.h"
#include "same_trace.h"

#include <string.h>

/* Reads the text in all ways. Returns the share of events that the fast engine left to the other.
 */
static double check_text(const char *text, size_t length, const size_t *windows, size_t n_windows) {
    bench *b = bench_create(NULL, NULL);
    uint64_t left = 0;
    const engines_config reference = {ENGINES_REFERENCE, 1 << 18, 1 << 18, true};
    const mill_trace *right = engines_read(bench_services(b), &reference, text, length, NULL);
    for (int isa = FAST_SCALAR; isa < FAST_BEST; isa++)
        for (size_t w = 0; w < n_windows; w++) {
            const engines_config config = {isa, windows[w], windows[w], true};
            const mill_trace *t = engines_read(bench_services(b), &config, text, length, &left);
            g_assert_true((t != NULL) == (right != NULL));
            if (t)
                same_trace(right, t);
        }
    double share = right && right->events ? (double)left / (double)right->events : 0;
    bench_destroy(b);
    return share;
}

/* ---------------------------------------------------------------- real files */

static void check_folder(const char *folder) {
    static const size_t windows[] = {1 << 18, 5000};
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir)) != NULL;) {
        if (!strstr(name, ".json") || strstr(name, ".md"))
            continue;
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autoptr(GByteArray) text = inflated(path);
        if (!text)
            continue;
        double share = check_text((const char *)text->data, text->len, windows, 2);
        g_test_message("%s: %u bytes, %.2f %% of the events left to the reference engine", name,
                       text->len, 100 * share);
    }
}

static void test_shared(gconstpointer folder) {
    const char *data = g_getenv("TRACEMILL_TEST_DATA");
    g_autofree char *path = g_build_filename(data ? data : "", folder, NULL);
    if (!g_file_test(path, G_FILE_TEST_IS_DIR))
        g_test_skip("skipped: the folder of real profiles is not there");
    else
        check_folder(path);
}

static void test_own(void) {
    g_autofree char *cases =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests/data/cases", NULL);
    g_autofree char *data = g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "tests/data", NULL);
    check_folder(cases);
    check_folder(data);
}

/* ---------------------------------------------------------------- odd text */

static void test_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(g_test_rand_int());
    for (int round = 0; round < 300; round++) {
        g_autoptr(GString) text = g_string_new("{\"traceEvents\": [");
        for (int n = g_rand_int_range(rand, 0, 60); n >= 0; n--)
            random_event(text, rand, true);
        g_string_append(text, "]}");
        random_damage(text, rand);
        const size_t windows[] = {(size_t)g_rand_int_range(rand, 64, 600), 4096};
        check_text(text->str, text->len, windows, 2);
    }
}

/* Ids that are close to each other, in all pairs: each must be a line of its own, or the same, for
 * both engines. */
static void test_ids(void) {
    static const char *const ids[] = {
        "",         "7", "\"7\"", "\"\"",         "null",
        "\"null\"", "0", "\"0\"", "\"stream 7\"", "\"longer than 8\""};
    static const size_t windows[] = {1 << 18, 100};
    g_autoptr(GString) text = g_string_new("[");
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < G_N_ELEMENTS(ids) * G_N_ELEMENTS(ids); i++) {
            const char *pid = ids[i / G_N_ELEMENTS(ids)], *tid = ids[i % G_N_ELEMENTS(ids)];
            g_string_append_printf(text, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\"");
            if (*pid)
                g_string_append_printf(text, ",\"pid\":%s", pid);
            if (*tid)
                g_string_append_printf(text, ",\"tid\":%s", tid);
            g_string_append_printf(text, ",\"ts\":%zu,\"dur\":1},\n", i);
        }
    g_string_append(text, "{}]");
    check_text(text->str, text->len, windows, G_N_ELEMENTS(windows));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kineto/engines/random", test_random);
    g_test_add_func("/kineto/engines/ids", test_ids);
    g_test_add_func("/kineto/engines/own", test_own);
    g_test_add_data_func("/kineto/engines/cases", "cases", test_shared);
    g_test_add_data_func("/kineto/engines/traces", "traces", test_shared);
    return g_test_run();
}
