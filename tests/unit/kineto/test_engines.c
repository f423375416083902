/* SPDX-License-Identifier: Apache-2.0 */
/* Both engines, and every build of the fast one, must make the same trace of the same text: row by
 * row, column by column, whatever the window. */
#include "bench_host.h"
#include "engines.h"
#include "input.h"
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

/* The text of a file as the reader itself inflates it; NULL: it refuses the container. */
static GByteArray *inflate_file(const char *path) {
    bench *b = bench_create(NULL, NULL);
    input *in = NULL;
    GByteArray *text = NULL;
    if (input_open(bench_services(b), path, &in) == MILL_OK) {
        static char window[1 << 16];
        size_t length;
        text = g_byte_array_new();
        while (input_read(bench_services(b), in, window, sizeof window, &length) == MILL_OK &&
               length)
            g_byte_array_append(text, (const guint8 *)window, (guint)length);
        input_close(in);
    }
    bench_destroy(b);
    return text;
}

static void check_folder(const char *folder) {
    static const size_t windows[] = {1 << 18, 5000};
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir)) != NULL;) {
        if (!strstr(name, ".json") || strstr(name, ".md"))
            continue;
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autoptr(GByteArray) text = inflate_file(path);
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

/* What an event may look like beside the usual: each must be read as the reference engine does. */
static const char *const odd_members[] = {
    "\"pid\": \"CUDA functions\"",
    "\"tid\": \"stream 7\"",
    "\"pid\": -3",
    "\"tid\": 007",
    "\"ts\": \"123.456\"",
    "\"ts\": 123.4567",
    "\"ts\": 1e3",
    "\"ts\": 9223372036854775.807",
    "\"ts\": 99999999999999999999",
    "\"dur\": -1",
    "\"dur\": 0.0005",
    "\"dur\": null",
    "\"dur\": NaN",
    "\"name\": \"a\\u00e9\\\\b\"",
    "\"name\": \"caf\xc3\xa9\"",
    "\"name\": \"bad \xff byte\"",
    "\"name\": \"\"",
    "\"name\": 7",
    "\"name\": \"_ZN4fooEi\"",
    "\"cat\": \"Kernel\"",
    "\"cat\": \"python_function\"",
    "\"cat\": 7",
    "\"ph\": \"XX\"",
    "\"ph\": \"i\"",
    "\"ph\": \"B\"",
    "\"ph\": \"E\"",
    "\"ph\": \"b\", \"id\": 1",
    "\"ph\": \"e\", \"id\": \"1\"",
    "\"ph\": \"C\"",
    "\"ph\": \"f\", \"id\": 3",
    "\"args\": {\"Collective name\": \"allreduce\", \"dtype\": \"Float\"}",
    "\"id\": [1, {\"a\": \"}\"}, -2.5e3, true, null]",
    "\"s\": \"quote \\\" inside\"",
    "\"x\": Infinity",
    "\"args\": 7",
    "\"args\": {}",
    "\"args\": {\"stream\": \"0x0\", \"correlation\": 18446744073709551615}",
    "\"args\": {\"grid\": [2,3, 4], \"block\": \"grid(100,)\"}",
    "\"args\": {\"grid\": [], \"block\": [1, 2.0]}",
    "\"args\": {\"bytes\": -5, \"device\": 1.0, \"stream\": 4294967295}",
    "\"args\": {\"Input Dims\": [[1, 2], []], \"name\": \"n\", \"External id\" : 12}",
};

static void append_event(GString *text, GRand *rand) {
    static const char *const cats[] = {"\"cat\": \"kernel\", ", "\"cat\": \"gpu_memcpy\", ",
                                       "\"cat\": \"cpu_op\", ", "\"cat\": \"cuda_runtime\", ",
                                       "\"cat\": \"Trace\", ",  ""};
    static const char *const gaps[] = {"", " ", "\n    ", "\t"};
    const char *gap = gaps[g_rand_int_range(rand, 0, 16) == 0 ? g_rand_int_range(rand, 0, 4) : 2];
    g_string_append_printf(text,
                           "{%s\"ph\": \"X\", %s\"name\": \"name %d\", \"pid\": %d, "
                           "\"tid\": %d,%s\"ts\": "
                           "%u.%03d,%s\"dur\": %d",
                           gap, cats[g_rand_int_range(rand, 0, G_N_ELEMENTS(cats))],
                           g_rand_int_range(rand, 0, 40), g_rand_int_range(rand, 0, 3),
                           g_rand_int_range(rand, 0, 5), gap, g_rand_int_range(rand, 1, 1000000),
                           g_rand_int_range(rand, 0, 1000), gap, g_rand_int_range(rand, 0, 500));
    if (g_rand_boolean(rand))
        g_string_append_printf(text,
                               ",%s\"args\": {%s\"External id\": %d,%s\"correlation\": %d, "
                               "\"stream\": %d, \"device\": 0, \"grid\": [%d, 1, 1]%s}",
                               gap, gap, g_rand_int_range(rand, 0, 1 << 30), gap,
                               g_rand_int_range(rand, 0, 300), g_rand_int_range(rand, 0, 9),
                               g_rand_int_range(rand, 0, 5000), gap);
    for (int odd = g_rand_int_range(rand, 0, 12) - 9; odd > 0; odd--)
        g_string_append_printf(text, ", %s",
                               odd_members[g_rand_int_range(rand, 0, G_N_ELEMENTS(odd_members))]);
    g_string_append_printf(text, "%s},%s", gap, gap);
}

/* Damage of a few bytes, to see that both find the same way back. */
static void damage(GString *text, GRand *rand) {
    static const char bytes[] = "\"\\{}[],: 0x\n\xff";
    for (int n = g_rand_int_range(rand, 0, 5) - 1; n > 0; n--) {
        gsize at = (gsize)g_rand_int_range(rand, 0, (gint32)text->len);
        if (g_rand_boolean(rand))
            text->str[at] = bytes[g_rand_int_range(rand, 0, sizeof bytes - 1)];
        else
            g_string_erase(text, (gssize)at, MIN(20, (gssize)(text->len - at)));
    }
}

static void test_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(g_test_rand_int());
    for (int round = 0; round < 300; round++) {
        g_autoptr(GString) text = g_string_new("{\"traceEvents\": [");
        for (int n = g_rand_int_range(rand, 0, 60); n >= 0; n--)
            append_event(text, rand);
        g_string_append(text, "]}");
        damage(text, rand);
        const size_t windows[] = {(size_t)g_rand_int_range(rand, 64, 600), 4096};
        check_text(text->str, text->len, windows, 2);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kineto/engines/random", test_random);
    g_test_add_func("/kineto/engines/own", test_own);
    g_test_add_data_func("/kineto/engines/cases", "cases", test_shared);
    g_test_add_data_func("/kineto/engines/traces", "traces", test_shared);
    return g_test_run();
}
