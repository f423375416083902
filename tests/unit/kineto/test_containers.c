/* SPDX-License-Identifier: Apache-2.0 */
/* What a file may be packed in, told by its bytes: the same trace must come out of all of it, and
 * whatever is whole out of what is cut or damaged. */
#include "bench_host.h"
#include "pack.h"
#include "same_trace.h"

#include <glib/gstdio.h>
#include <string.h>

#define RULES "[computation]\nclass = computation\n"

static char *folder; /* for files of this run */
static char *rules_option;

/* ---------------------------------------------------------------- reading */

static GString *events(int n) {
    GString *text = g_string_new("{\"traceEvents\": [\n");
    for (int i = 0; i < n; i++)
        g_string_append_printf(text,
                               "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"PK%d\", "
                               "\"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": 1, \"args\": "
                               "{\"stream\": 7}}",
                               i ? ",\n" : "", i * 7919 % 101, (n - i) * 10);
    g_string_append(text, "\n]}\n");
    return text;
}

/* A new file each time: writing over an old one would wait for the disk. */
static void write_file(const char *path, const void *data, size_t length) {
    g_unlink(path);
    FILE *f = g_fopen(path, "wb");
    g_assert_nonnull(f);
    g_assert_cmpuint(fwrite(data, 1, length, f), ==, length);
    g_assert_cmpint(fclose(f), ==, 0);
}

/* Of a file whose name says nothing. */
static bench *reader(const void *data, size_t length, const char *option) {
    g_autofree char *path = g_build_filename(folder, "profile.txt", NULL);
    g_autofree char *setting = g_strconcat("path=", path, NULL);
    write_file(path, data, length);
    bench *b = bench_create(bench_open("plugins/readers/kineto/kineto.so"), "kineto.read");
    bench_option(b, setting);
    bench_option(b, rules_option);
    if (option)
        bench_option(b, option);
    return b;
}

static const mill_trace *trace_of(bench *b, const char *key) {
    for (size_t i = 0; i < bench_output_count(b, "trace"); i++)
        if (g_strcmp0(bench_output_key(b, "trace", i), key) == 0)
            return bench_output(b, "trace", i);
    g_error("no trace has the key %s", key ? key : "of its file");
}

static void test_same(void) {
    g_autoptr(GString) text = events(20000); /* 2 MB: more than all windows and blocks */
    bench *plain = reader(text->str, text->len, NULL);
    g_assert_cmpint(bench_run(plain), ==, MILL_OK);
    const mill_trace *right = trace_of(plain, NULL);
    g_assert_cmpuint(right->gpu.n, ==, 20000);
    for (size_t i = 0; i < PACK_N_CONTAINERS; i++) {
        GByteArray *packed = pack_containers[i].pack(text->str, text->len);
        for (unsigned jobs = 1; jobs <= 3; jobs++) {
            g_test_message("%s, %u jobs", pack_containers[i].name, jobs);
            bench *b = reader(packed->data, packed->len, "strict=yes");
            bench_jobs(b, jobs);
            g_assert_cmpint(bench_run(b), ==, MILL_OK);
            g_assert_cmpuint(bench_output_count(b, "trace"), ==, 1);
            same_trace(right, trace_of(b, NULL));
            bench_destroy(b);
        }
        g_byte_array_unref(packed);
    }
    bench_destroy(plain);
}

/* ---------------------------------------------------------------- broken ones */

/* A trace that is said to be complete must be so; any other end is a message. */
static uint64_t events_of(const void *data, size_t length, uint64_t right, bool *ret_complete) {
    bench *b = reader(data, length, NULL);
    mill_status status = bench_run(b);
    uint64_t n = 0;
    *ret_complete = false;
    if (status == MILL_OK) {
        const mill_trace *t = bench_output(b, "trace", 0);
        n = t->events;
        *ret_complete = t->complete && t->diagnostics.n == 0;
        g_assert_true(!*ret_complete || n == right);
    } else {
        g_assert_cmpint(status, ==, MILL_E_DATA);
    }
    bench_destroy(b);
    return n;
}

/* Each run is a whole reading: under a sanitizer, which takes ten times as long, not every byte has
 * its own, but each run of the test looks at others. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define SANITIZED
#endif
#ifdef SANITIZED
static guint stride(void) {
    return (guint)g_test_rand_int_range(1, 8);
}
#else
static guint stride(void) {
    return 1;
}
#endif

static void test_cut(void) {
    g_autoptr(GString) text = events(20);
    for (size_t i = 0; i < PACK_N_CONTAINERS; i++) {
        GByteArray *packed = pack_containers[i].pack(text->str, text->len);
        g_test_message("%s, %u bytes", pack_containers[i].name, packed->len);
        uint64_t before = 0;
        bool complete = false, was_complete = false;
        for (guint length = 1; length < packed->len; length += stride()) {
            uint64_t n = events_of(packed->data, length, 20, &complete);
            g_assert_cmpuint(n, >=, before);
            g_assert_true(complete || !was_complete || n == 20);
            before = n;
            was_complete = complete;
        }
        g_assert_cmpuint(events_of(packed->data, packed->len, 20, &complete), ==, 20);
        g_assert_true(complete);
        g_byte_array_unref(packed);
    }
}

static void test_flipped(void) {
    g_autoptr(GString) text = events(12);
    for (size_t i = 0; i < PACK_N_CONTAINERS; i++) {
        GByteArray *packed = pack_containers[i].pack(text->str, text->len);
        g_test_message("%s, %u bytes", pack_containers[i].name, packed->len);
        for (guint at = 0; at < packed->len; at += stride()) {
            bool complete;
            guint8 bit = (guint8)(1u << (at % 8));
            packed->data[at] ^= bit;
            events_of(packed->data, packed->len, 12, &complete);
            packed->data[at] ^= bit;
        }
        g_byte_array_unref(packed);
    }
}

/* ---------------------------------------------------------------- several members */

static void assert_has(const char *text, const char *words) {
    if (!strstr(text, words))
        g_error("\"%s\" does not say \"%s\"", text, words);
}

static void test_members(void) {
    g_autoptr(GString) one = events(1), two = events(2), three = events(3);
    g_autoptr(GByteArray) packed = pack_gzip(two->str, two->len), z = g_byte_array_new();
    pack_zip_add(z, "runs/", "", 0, 0);
    pack_zip_add(z, "runs/READ ME.txt", "Traces.", 7, PACK_DEFLATE | PACK_DESCRIPTOR);
    pack_zip_add(z, "runs/a/rank 0.json", one->str, one->len, PACK_DEFLATE);
    pack_zip_add(z, "runs/empty.json", "", 0, 0);
    pack_zip_add(z, "runs/a/secret.json", three->str, three->len, PACK_ENCRYPTED);
    pack_zip_add(z, "runs/a/rank:0.json", packed->data, packed->len, 0);
    pack_zip_add(z, "runs/b/rank2", three->str, three->len, PACK_DESCRIPTOR);
    pack_zip_end(z);
    bench *b = reader(z->data, z->len, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpuint(bench_output_count(b, "trace"), ==, 3);
    g_assert_cmpuint(trace_of(b, "a_rank_0.json")->events, ==, 1);
    g_assert_cmpuint(trace_of(b, "a_rank_0.json-2")->events, ==, 2);
    const mill_trace *last = trace_of(b, "b_rank2");
    g_assert_cmpuint(last->events, ==, 3);
    g_assert_true(g_str_has_suffix(mill_at(last, last->path), "profile.txt/runs/b/rank2"));
    assert_has(bench_log(b), "members left out, since they are no JSON: 3");
    bench_destroy(b);
}

static void test_thousand(void) {
    static const int hows[] = {0,
                               PACK_DEFLATE,
                               PACK_WIDE,
                               PACK_DESCRIPTOR,
                               PACK_DEFLATE | PACK_DESCRIPTOR,
                               PACK_DEFLATE | PACK_BARE_DESCRIPTOR,
                               PACK_WIDE | PACK_DESCRIPTOR};
    g_autoptr(GByteArray) z = g_byte_array_new();
    for (int i = 1; i <= 1000; i++) {
        g_autofree char *name = g_strdup_printf("rank%d.json", i);
        g_autoptr(GString) text = events(1 + i % 7);
        pack_zip_add(z, name, text->str, text->len, hows[(size_t)i % G_N_ELEMENTS(hows)]);
    }
    pack_zip_end(z);
    bench *b = reader(z->data, z->len, "strict=yes");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpuint(bench_output_count(b, "trace"), ==, 1000);
    for (size_t i = 1; i <= 1000; i++) {
        g_autofree char *key = g_strdup_printf("rank%zu.json", i);
        g_assert_cmpstr(bench_output_key(b, "trace", i - 1), ==, key);
        const mill_trace *t = bench_output(b, "trace", i - 1);
        g_assert_cmpuint(t->events, ==, 1 + i % 7);
    }
    bench_destroy(b);
}

/* One that is packed as the reader can't unpack it does not keep it from the next. */
static void test_wide_window(void) {
    static const char frame[] = "\x28\xb5\x2f\xfd\0\xa0\1\0\0"; /* a window of 1 GiB */
    g_autoptr(GString) one = events(1);
    g_autoptr(GByteArray) z = g_byte_array_new();
    pack_zip_add(z, "wide.json", frame, sizeof frame - 1, 0);
    pack_zip_add(z, "one.json", one->str, one->len, PACK_DEFLATE);
    pack_zip_end(z);
    bench *b = reader(z->data, z->len, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpuint(bench_output_count(b, "trace"), ==, 1);
    assert_has(bench_causes(b), "a window of more than 128 MiB");
    assert_has(bench_log(b), "profile.txt/wide.json is no readable trace and is left out");
    bench_destroy(b);
    b = reader(z->data, z->len, "strict=yes");
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    bench_destroy(b);
    b = reader(frame, sizeof frame - 1, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    bench_destroy(b);
}

/* One that is spoiled, or no trace, does not spoil the others: but `strict` says why. */
static void test_spoiled(void) {
    g_autoptr(GString) one = events(1), two = events(2);
    g_autoptr(GByteArray) z = g_byte_array_new();
    pack_zip_add(z, "config.json", "{\"a\": 1}", 8, 0);
    pack_zip_add(z, "one.json", one->str, one->len, PACK_DEFLATE);
    guint damaged = z->len - 9;
    pack_zip_add(z, "two.json", two->str, two->len, PACK_DEFLATE);
    z->data[damaged] ^= 0x55;
    bench *b = reader(z->data, z->len, NULL); /* its end is missing too */
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpuint(trace_of(b, "two.json")->events, ==, 2);
    g_assert_cmpint(trace_of(b, "two.json")->complete, ==, 1);
    assert_has(bench_log(b), "profile.txt/config.json is no readable trace and is left out");
    assert_has(bench_log(b), "ends too early");
    bench_destroy(b);
    b = reader(z->data, z->len, "strict=yes");
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    assert_has(bench_causes(b), "profile.txt/config.json: the object has no traceEvents");
    bench_destroy(b);
}

/* Compressed over and over: read up to a depth, and beyond it a message. */
static void test_nested(void) {
    g_autoptr(GString) one = events(1);
    GByteArray *file = g_byte_array_new();
    pack_zip_add(file, "one.json", one->str, one->len, PACK_DEFLATE);
    pack_zip_end(file);
    for (int depth = 0; depth < 8; depth++) {
        bench *b = reader(file->data, file->len, NULL);
        mill_status status = bench_run(b);
        g_assert_cmpint(status, ==, depth <= 4 ? MILL_OK : MILL_E_DATA);
        bench_destroy(b);
        GByteArray *outer = pack_gzip(file->data, file->len);
        g_byte_array_unref(file);
        file = outer;
    }
    g_byte_array_unref(file);
}

static void test_no_trace(void) {
    g_autoptr(GByteArray) z = g_byte_array_new();
    pack_zip_end(z);
    g_byte_array_remove_range(z, 0, 46);
    bench *b = reader(z->data, z->len, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    assert_has(bench_causes(b),
               "the archive holds no trace (members that begin as JSON: 0, others: 0)");
    bench_destroy(b);
    g_byte_array_set_size(z, 0);
    pack_zip_add(z, "a.txt", "text", 4, 0);
    pack_zip_add(z, "b.json", "{\"a\": 1}", 8, 0);
    pack_zip_end(z);
    b = reader(z->data, z->len, NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    assert_has(bench_causes(b),
               "the archive holds no trace (members that begin as JSON: 1, others: 1)");
    assert_has(bench_causes(b), "b.json: the object has no traceEvents");
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("containers-XXXXXX", NULL);
    g_assert_nonnull(folder);
    /* Few, since they are loaded for each of thousands of files. */
    g_autofree char *rules = g_build_filename(folder, "rules.ini", NULL);
    write_file(rules, RULES, strlen(RULES));
    rules_option = g_strconcat("kernel-rules=", rules, NULL);
    g_test_add_func("/kineto/containers/same", test_same);
    g_test_add_func("/kineto/containers/cut", test_cut);
    g_test_add_func("/kineto/containers/flipped", test_flipped);
    g_test_add_func("/kineto/containers/members", test_members);
    g_test_add_func("/kineto/containers/thousand", test_thousand);
    g_test_add_func("/kineto/containers/wide-window", test_wide_window);
    g_test_add_func("/kineto/containers/spoiled", test_spoiled);
    g_test_add_func("/kineto/containers/nested", test_nested);
    g_test_add_func("/kineto/containers/no-trace", test_no_trace);
    int result = g_test_run();
    g_autofree char *path = g_build_filename(folder, "profile.txt", NULL);
    g_unlink(path);
    g_unlink(rules);
    g_rmdir(folder);
    g_free(rules_option);
    g_free(folder);
    return result;
}
