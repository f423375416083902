/* SPDX-License-Identifier: Apache-2.0 */
/* A text that several threads read in chunks must give the trace that one thread makes of it: row
 * by row, column by column, wherever it is split and whatever stands there. */
#include "bench_host.h"
#include "chunks.h"
#include "engines.h"
#include "inflated.h"
#include "random_text.h"
#include "same_trace.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct shares {
    uint64_t least; /* bytes of a chunk */
    unsigned jobs;
    bool chunks_first;
    unsigned cancel_at; /* a question of the reader whether it is to end; 0: never */
} shares;

/* *ret_trace lives as long as b. */
static mill_status read_in_chunks(bench *b, const char *path, const shares *how,
                                  const mill_trace **ret_trace, uint64_t *ret_skipped) {
    const chunks_config config = {
        .sink = {*engines_rows(true), FAST_BEST},
        .document = {event_parse, how->least < 65536 ? 4096 : 65536, 16 << 20},
        .least_text = 1,
        .least_chunk = how->least,
        .chunks_first = how->chunks_first,
    };
    mill_run *run = bench_services(b);
    input *in = NULL;
    bool more;
    bench_jobs(b, how->jobs);
    if (input_open(run, path, &in) != MILL_OK || input_next(run, in, &more) != MILL_OK ||
        !chunks_suit(&config, in))
        g_error("%s: not for chunks", path);
    bench_cancel_at(b, how->cancel_at);
    sink s;
    document_result result;
    sink_init(&s, run, kit_trace_create(run), &config.sink);
    mill_status status = chunks_read(run, &config, in, &s, &result);
    *ret_trace = status == MILL_OK ? engines_finish(&s, &result) : NULL;
    *ret_skipped = result.skipped;
    sink_finish(&s);
    input_close(in);
    return status;
}

/* In a temporary file, to be unlinked. */
static char *write_file(const char *text, size_t length) {
    char *path = NULL;
    int fd = g_file_open_tmp("chunks-XXXXXX.json", &path, NULL);
    if (fd < 0 || !g_file_set_contents(path, text, (gssize)length, NULL))
        g_error("cannot write a temporary file");
    close(fd);
    return path;
}

/* Compares with what one thread makes of it. Returns the share of the text that came from chunks in
 * the last way. */
static double check_text(const char *text, size_t length, const shares *ways, size_t n) {
    static const engines_config alone = {FAST_BEST, 1 << 18, 1 << 18, true};
    g_autofree char *path = write_file(text, length);
    uint64_t skipped = 0;
    bench *b = bench_create(NULL, NULL);
    const mill_trace *right = engines_read(bench_services(b), &alone, text, length, NULL);
    for (size_t i = 0; i < n; i++) {
        const mill_trace *t;
        read_in_chunks(b, path, &ways[i], &t, &skipped);
        g_assert_true((t != NULL) == (right != NULL));
        if (t) {
            same_trace(right, t);
            g_assert_cmpuint(t->bytes, ==, right->bytes);
        }
    }
    bench_destroy(b);
    g_unlink(path);
    return length ? (double)skipped / (double)length : 0;
}

/* ---------------------------------------------------------------- real files */

static void check_folder(const char *folder) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (!strstr(name, ".json") || strstr(name, ".md"))
            continue;
        g_autoptr(GByteArray) text = inflated(path);
        if (!text || text->len == 0)
            continue;
        const shares ways[] = {
            {1 << 20, 3, false, 0}, {20000, 2, false, 0}, {text->len / 11 + 100, 1, true, 0}};
        double share = check_text((const char *)text->data, text->len, ways, G_N_ELEMENTS(ways));
        g_test_message("%s: %u bytes, %.0f %% of them from chunks", name, text->len, 100 * share);
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

/* What makes a guess wrong, or needs what stood before it. */
static const char *const traps[] = {
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a },\n {\\\"ph\\\": \", \"pid\": 1, \"tid\": "
    "1, "
    "\"ts\": 5, \"dur\": 1},\n",
    "{\"name\": \"},{\\\"ph\\\":\\\"X\\\",\", \"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 7, "
    "\"dur\": 2, "
    "\"args\": {\"stream\": 7}},",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"ts\": 5, \"dur\": 1, \"args\": {\"list\": [{}, "
    "{\"ph\": "
    "\"X\", \"cat\": \"kernel\", \"name\": \"inner\", \"ts\": 1, \"dur\": 1}, {\"ph\": \"X\", "
    "\"cat\": "
    "\"kernel\", \"name\": \"inner\", \"ts\": 2, \"dur\": 1},{\"ph\": \"M\"}]}},\n",
    "{\"ph\": \"B\", \"cat\": \"cpu_op\", \"name\": \"outer\", \"pid\": 1, \"tid\": 2, \"ts\": "
    "3},\n",
    "{\"ph\": \"E\", \"pid\": 1, \"tid\": 2, \"ts\": 90},\n",
    "{\"ph\": \"B\", \"cat\": \"kernel\", \"name\": \"gpu\", \"pid\": 1, \"tid\": 2, \"ts\": 4, "
    "\"args\": "
    "{\"stream\": 3, \"Collective name\": \"allreduce\", \"dtype\": \"Int\"}},\n",
    "{\"ph\": \"E\", \"name\": \"gpu\", \"pid\": 1, \"tid\": 2, \"ts\": 80},\n",
    "{\"ph\": \"b\", \"cat\": \"c\", \"id\": 9, \"name\": \"async\", \"pid\": 1, \"tid\": 2, "
    "\"ts\": 5},\n",
    "{\"ph\": \"e\", \"cat\": \"c\", \"id\": 9, \"name\": \"async\", \"pid\": 1, \"tid\": 3, "
    "\"ts\": 50},\n",
    "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"one\"}},\n",
    "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"two\"}},\n",
    "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": 2, \"args\": {\"name\": "
    "\"t\"}},\n",
    "{\"ph\": \"X\", \"name\": \"held\", \"pid\": 1, \"tid\": 2, \"ts\": 8, \"dur\": 1},\n",
    "{\"ph\": \"X\", \"name\": \"held\", \"pid\": null, \"tid\": \"null\", \"ts\": 8, \"dur\": "
    "1},\n",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"pid\": \"null\", \"tid\": null, \"ts\": 8, \"dur\": "
    "1},\n",
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"same\", \"ts\": 8, \"dur\": 1},\n",
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"nccl\", \"ts\": 8, \"dur\": 1, \"args\": "
    "{\"Collective name\": \"send\", \"Process Group Name\": \"g\", \"Dst Rank\": 3}},\n",
    "{\"ph\": \"C\", \"name\": \"counter\", \"pid\": 1, \"ts\": 2, \"args\": {\"a\": 1, \"b\": "
    "2.5}},\n",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"dur\": -7, \"ts\": 1},\n",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"\\q\", \"ts\": NaN},\n",
    "{\"ph\": \"X\", \"cat\": broken},\n",
    "{}, ,,{\"x\": 1},\n",
    "7, [{},{\"ph\": \"X\"}],\n",
};

static const char *const heads[] = {"[", "{\"traceEvents\": [",
                                    "\xef\xbb\xbf{\"a\": [{},{\"ph\": \"X\"}], \"traceEvents\": [",
                                    "{\"distributedInfo\": {\"rank\": 3}, \"traceEvents\": ["};

static const char *const tails[] = {
    "",
    "]",
    "]}",
    "], \"distributedInfo\": {\"rank\": 5, \"world_size\": 8}, \"deviceProperties\": [{\"id\": 0, "
    "\"name\": \"late\", \"numSms\": 1}]}",
    "]} trailing {},{\"ph\": \"X\"}",
    "], \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"second\", \"ts\": 3, "
    "\"dur\": 1},"
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"second\", \"ts\": 4, \"dur\": 1}]}",
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"na",
};

static const char *pick(GRand *rand, const char *const *of, size_t n) {
    return of[g_rand_int_range(rand, 0, (gint32)n)];
}

static void append_events(GString *text, GRand *rand, int n) {
    int odd = g_rand_int_range(rand, 1, 30);
    for (; n > 0; n--)
        if (g_rand_int_range(rand, 0, odd) == 0)
            g_string_append(text, pick(rand, traps, G_N_ELEMENTS(traps)));
        else
            random_event(text, rand, true);
}

static void test_random(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(g_test_rand_int());
    for (int round = 0; round < 400; round++) {
        g_autoptr(GString) text = g_string_new(pick(rand, heads, G_N_ELEMENTS(heads)));
        append_events(text, rand, g_rand_int_range(rand, 0, 150));
        g_string_append(text, pick(rand, tails, G_N_ELEMENTS(tails)));
        if (g_rand_boolean(rand))
            random_damage(text, rand);
        if (g_rand_int_range(rand, 0, 8) == 0)
            g_string_truncate(text, (gsize)g_rand_int_range(rand, 0, (gint32)text->len + 1));
        if (text->len == 0)
            continue;
        uint64_t least = (uint64_t)g_rand_int_range(rand, 1, 1500);
        const shares ways[] = {{least, 1, true, 0}, {3 * least, 1, true, 0}, {least, 3, false, 0}};
        check_text(text->str, text->len, ways, G_N_ELEMENTS(ways));
    }
}

/* More rows than a segment has, so that segments are moved, some of them short. */
static void test_segments(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(g_test_rand_int());
    g_autoptr(GString) text = g_string_new("{\"traceEvents\": [");
    for (int i = 0; i < 220000; i++)
        random_event(text, rand, false);
    g_string_append(text, "]}");
    const shares ways[] = {{1 << 20, 4, false, 0}, {5 << 20, 1, true, 0}, {1 << 18, 1, true, 0}};
    double share = check_text(text->str, text->len, ways, G_N_ELEMENTS(ways));
    g_test_message("%.0f %% of the bytes from chunks", 100 * share);
    g_assert_cmpfloat(share, >, 0.5);
}

/* Nothing of a wrong guess may stay: all that looks like events is in the args of one. */
static void test_wrong_guesses(void) {
    g_autoptr(GString) text = g_string_new("[{\"ph\": \"X\", \"args\": {\"list\": [{}");
    for (int i = 0; i < 2000; i++)
        g_string_append(text,
                        ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"inner\", \"ts\": 1}");
    g_string_append(text, "]}, \"cat\": \"kernel\", \"name\": \"outer\", \"ts\": 1, \"dur\": 1}]");
    const shares ways[] = {{1000, 3, false, 0}, {3000, 1, true, 0}};
    g_assert_cmpfloat(check_text(text->str, text->len, ways, G_N_ELEMENTS(ways)), ==, 0);
}

/* Whoever is reading what when the run is to end, all threads do, and nothing is left behind. */
static void test_cancel(void) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(g_test_rand_int());
    g_autoptr(GString) text = g_string_new("[");
    for (int i = 0; i < 5000; i++)
        random_event(text, rand, false);
    g_autofree char *path = write_file(text->str, text->len);
    for (unsigned at = 1; at < 60; at++) {
        const shares ways[] = {{20000, 3, false, at}, {20000, 1, true, at}};
        for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
            bench *b = bench_create(NULL, NULL);
            const mill_trace *t;
            uint64_t skipped;
            g_assert_cmpint(read_in_chunks(b, path, &ways[i], &t, &skipped), ==, MILL_E_CANCELLED);
            bench_destroy(b);
        }
    }
    g_unlink(path);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kineto/chunks/random", test_random);
    g_test_add_func("/kineto/chunks/segments", test_segments);
    g_test_add_func("/kineto/chunks/wrong-guesses", test_wrong_guesses);
    g_test_add_func("/kineto/chunks/cancel", test_cancel);
    g_test_add_func("/kineto/chunks/own", test_own);
    g_test_add_data_func("/kineto/chunks/cases", "cases", test_shared);
    g_test_add_data_func("/kineto/chunks/traces", "traces", test_shared);
    return g_test_run();
}
