/* SPDX-License-Identifier: Apache-2.0 */
/* A small job of several ranks. */
#include "job.h"

#include "data.h"

#include <glib/gstdio.h>

static const char module_path[] = "plugins/analyzers/ranks/ranks.so";

static void destroy_bench(gpointer b) {
    bench_destroy(b);
}

job *job_create(size_t n) {
    job *j = g_new0(job, 1);
    g_assert_cmpuint(n, <=, JOB_RANKS);
    j->n = n;
    j->world_size = (int64_t)n;
    j->benches = g_ptr_array_new_with_free_func(destroy_bench);
    for (size_t i = 0; i < n; i++) {
        j->events[i] = g_string_new(NULL);
        j->rank[i] = (int64_t)i;
    }
    return j;
}

void job_destroy(job *j) {
    /* What takes a value goes before what made it. */
    while (j->benches->len > 0)
        g_ptr_array_remove_index(j->benches, j->benches->len - 1);
    g_ptr_array_unref(j->benches);
    for (size_t i = 0; i < j->n; i++)
        g_string_free(j->events[i], TRUE);
    g_free(j);
}

static void add_time(GString *to, const char *key, int64_t ns) {
    g_string_append_printf(to, ", \"%s\": %s%" G_GINT64_FORMAT ".%03d", key, ns < 0 ? "-" : "",
                           ABS(ns) / 1000, (int)(ABS(ns) % 1000));
}

void job_kernel(job *j, size_t i, int64_t start, int64_t dur, const char *name, int64_t launched,
                const char *group, int64_t sequence) {
    GString *to = j->events[i];
    gsize id = to->len + 1; /* no two are alike */
    if (launched != MILL_UNKNOWN) {
        g_string_append(to, ",{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"pid\": 1, \"tid\": 1, "
                            "\"name\": \"cudaLaunchKernel\", \"dur\": 1");
        add_time(to, "ts", launched);
        g_string_append_printf(to, ", \"args\": {\"correlation\": %zu}}\n", id);
    }
    g_string_append_printf(
        to, ",{\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": 0, \"tid\": 7, \"name\": \"%s\"", name);
    add_time(to, "ts", start);
    add_time(to, "dur", dur);
    g_string_append_printf(to, ", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": %zu",
                           id);
    if (sequence >= 0)
        g_string_append_printf(
            to, ", \"Collective name\": \"allreduce\", \"Seq\": %" G_GINT64_FORMAT, sequence);
    if (group)
        g_string_append_printf(to, ", \"Process Group Name\": \"%s\"", group);
    g_string_append(to, "}}\n");
}

void job_all_reduce(job *j, size_t i, int64_t start, int64_t dur) {
    job_kernel(j, i, start, dur, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", MILL_UNKNOWN, NULL,
               -1);
}

const void *job_summary_of(job *j, const mill_trace *trace) {
    bench *b = bench_create(bench_open(module_path), "rank.summary");
    bench_input(b, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    g_ptr_array_add(j->benches, b);
    return bench_output(b, "summary", 0);
}

const void *job_summary(job *j, const bench *reader) {
    return job_summary_of(j, bench_output(reader, "trace", 0));
}

static bench *read_profile(const job *j, size_t i) {
    g_autoptr(GString) text = g_string_new("{\"schemaVersion\": 1");
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    if (j->rank[i] != MILL_UNKNOWN)
        g_string_append_printf(text,
                               ", \"distributedInfo\": {\"rank\": %" G_GINT64_FORMAT
                               ", \"world_size\": %" G_GINT64_FORMAT "}",
                               j->rank[i], j->world_size);
    g_string_append_printf(text, ", \"traceEvents\": [\n%s]}",
                           j->events[i]->len > 0 ? j->events[i]->str + 1 : "");
    int fd = g_file_open_tmp("tracemill-rank-XXXXXX.json", &path, &error);
    g_assert_no_error(error);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
    bench *b = data_read(path);
    g_remove(path);
    return b;
}

bench *job_bench(job *j) {
    bench *b = bench_create(bench_open(module_path), "ranks");
    for (size_t i = 0; i < j->n; i++) {
        g_autofree char *key = g_strdup_printf("%zu", i);
        bench *reader = read_profile(j, i);
        g_ptr_array_add(j->benches, reader);
        bench_input(b, "in", "tracemill.rank/1", job_summary(j, reader), "rank", key);
    }
    g_ptr_array_add(j->benches, b);
    return b;
}

const mill_report *job_report(job *j, const char *setting) {
    bench *b = job_bench(j);
    if (setting)
        bench_option(b, setting);
    bench_option(b, "detail=yes");
    bench_option(b, "top=1000");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    return bench_output(b, "report", 0);
}
