/* SPDX-License-Identifier: Apache-2.0 */
/* A small pipeline. */
#include "job.h"

#include "data.h"

#include <glib/gstdio.h>
#include <string.h>
#include <tracemill/attribution.h>

static const char module_path[] = "plugins/analyzers/pipeline/pipeline.so";

static void destroy_bench(gpointer b) {
    bench_destroy(b);
}

job *job_create(size_t n) {
    job *j = g_new0(job, 1);
    g_assert_cmpuint(n, <=, JOB_PROFILES);
    j->n = n;
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

/* On the CPU, annotations and calls stand apart from each other, and before all kernels. */
#define LAUNCHED 1000000
void job_kernel(job *j, size_t i, int64_t stream, int64_t start, int64_t end, const char *name,
                const char *annotation, const char *args) {
    GString *to = j->events[i];
    int64_t id = (int64_t)to->len + 1, cpu = id; /* no two are alike */
    if (annotation)
        g_string_append_printf(
            to,
            ",{\"ph\": \"X\", \"cat\": \"user_annotation\", \"pid\": 1, \"tid\": 1, \"name\": "
            "\"%s\", \"ts\": %" G_GINT64_FORMAT ", \"dur\": 1}\n",
            annotation, cpu);
    g_string_append_printf(
        to,
        ",{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"pid\": 1, \"tid\": 1, \"name\": "
        "\"cudaLaunchKernel\", \"ts\": %" G_GINT64_FORMAT
        ".5, \"dur\": 0.25, \"args\": {\"correlation\": %" G_GINT64_FORMAT "}}\n"
        ",{\"ph\": \"X\", \"cat\": \"kernel\", \"pid\": 0, \"tid\": %" G_GINT64_FORMAT
        ", \"name\": \"%s\", \"ts\": %" G_GINT64_FORMAT ", \"dur\": %" G_GINT64_FORMAT
        ", \"args\": {\"device\": 0, \"stream\": %" G_GINT64_FORMAT
        ", \"correlation\": %" G_GINT64_FORMAT "%s}}\n",
        cpu, id, stream, name, LAUNCHED + start + j->skew[i], end - start, stream, id, args);
}

void job_compute(job *j, size_t i, char chunk, int64_t start, int64_t end) {
    char annotation[] = "work(?)";
    annotation[5] = chunk;
    job_kernel(j, i, 7, start, end, "gemm", annotation, "");
}

void job_hand_over(job *j, size_t i, int64_t start, int64_t end, const char *operation,
                   int64_t peer) {
    g_autofree char *args =
        operation ? g_strdup_printf(", \"Collective name\": \"%s\", \"%s Rank\": %" G_GINT64_FORMAT,
                                    operation, strcmp(operation, "send") ? "Src" : "Dst", peer)
                  : g_strdup("");
    job_kernel(j, i, 20, start, end, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
               NULL, args);
}

void job_timer(job *j, size_t i, int64_t dp, int64_t pp, const char *name, int64_t start,
               int64_t end, int64_t chunk, int64_t micro_batch, int64_t sequence) {
    GString *to = j->events[i];
    int64_t tid = 100 * dp + pp;
    g_string_append_printf(to,
                           ",{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %" G_GINT64_FORMAT
                           ", \"tid\": %" G_GINT64_FORMAT
                           ", \"args\": {\"name\": \"PP rank %" G_GINT64_FORMAT
                           ", TP rank 0, compute\"}}\n"
                           ",{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %" G_GINT64_FORMAT
                           ", \"args\": {\"name\": \"DP rank [%" G_GINT64_FORMAT "]\"}}\n",
                           dp, tid, pp, dp, dp);
    g_string_append_printf(to,
                           ",{\"ph\": \"X\", \"name\": \"%s\", \"cat\": \"%s\", \"pid\": "
                           "%" G_GINT64_FORMAT ", \"tid\": %" G_GINT64_FORMAT
                           ", \"ts\": %" G_GINT64_FORMAT ", \"dur\": %" G_GINT64_FORMAT,
                           name, name, dp, tid, start, end - start);
    g_string_append_printf(to,
                           ", \"args\": {\"step\": 5, \"model_chunk\": %" G_GINT64_FORMAT
                           ", \"mb_id\": %" G_GINT64_FORMAT ", \"seq_id\": %" G_GINT64_FORMAT
                           "}}\n",
                           chunk, micro_batch, sequence);
}

/* ---------------------------------------------------------------- running it */

static bench *read_profile(job *j, size_t i) {
    g_autoptr(GString) text = g_string_new("{\"schemaVersion\": 1");
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    if (j->rank[i] != MILL_UNKNOWN)
        g_string_append_printf(text, ", \"distributedInfo\": {\"rank\": %" G_GINT64_FORMAT "}",
                               j->rank[i]);
    g_string_append_printf(text, ", \"traceEvents\": [\n%s]}",
                           j->events[i]->len > 0 ? j->events[i]->str + 1 : "");
    int fd = g_file_open_tmp("tracemill-stage-XXXXXX.json", &path, &error);
    g_assert_no_error(error);
    g_close(fd, NULL);
    g_assert_true(g_file_set_contents(path, text->str, (gssize)text->len, NULL));
    bench *b = data_read(path);
    g_remove(path);
    g_ptr_array_add(j->benches, b);
    return b;
}

static bench *run_on_trace(job *j, const char *module, const char *class, const void *trace,
                           const void *attribution) {
    bench *b = bench_create(bench_open(module), class);
    bench_input(b, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    if (attribution)
        bench_input(b, "attribution", MILL_TYPE_ATTRIBUTION, attribution, "attribution", "");
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(bench_leaked(b), ==, 0);
    g_ptr_array_add(j->benches, b);
    return b;
}

mill_status job_run(job *j, const char *setting) {
    bench *p = bench_create(bench_open(module_path), "pipeline");
    for (size_t i = 0; i < j->n; i++) {
        g_autofree char *key = g_strdup_printf("%zu", i);
        const void *trace = bench_output(read_profile(j, i), "trace", 0);
        bench *attribution = run_on_trace(j, "plugins/analyzers/attribution/attribution.so",
                                          "attribution", trace, NULL);
        bench *operations = run_on_trace(j, module_path, "pipeline.operations", trace,
                                         bench_output(attribution, "attribution", 0));
        bench_input(p, "in", "tracemill.pipeline/1", bench_output(operations, "operations", 0),
                    "operations", key);
    }
    g_ptr_array_add(j->benches, p);
    j->pipeline = p;
    bench_option(p, "detail=yes");
    bench_option(p, "lanes=yes");
    if (setting)
        bench_option(p, setting);
    mill_status status = bench_run(p);
    if (status != MILL_OK)
        g_test_message("%s", bench_causes(p));
    g_assert_cmpuint(bench_leaked(p), ==, 0);
    return status;
}

const mill_report *job_report(const job *j) {
    g_assert_cmpstr(bench_causes(j->pipeline), ==, "");
    return bench_output(j->pipeline, "report", 0);
}

const mill_schedule *job_schedule(const job *j) {
    return bench_output(j->pipeline, "schedule", 0);
}

const mill_chunk_times *job_times(const job *j) {
    return bench_output(j->pipeline, "times", 0);
}
