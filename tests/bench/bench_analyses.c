/* SPDX-License-Identifier: Apache-2.0 */
/* What the analyses of a trace cost beside reading it, in time and in memory.
 *
 *     bench-analyses KINETO-GEN [FILE.json…]     default: a trace that KINETO-GEN writes
 *
 * Each round reads the file and runs all classes in turn, so that a machine that changes its speed
 * changes it for all; the median of the ratios counts. Memory is the growth of the process' peak
 * while a class runs, the report that it posts included. */
#include "bench_host.h"
#include "measure.h"

#include <tracemill/attribution.h>
#include <unistd.h>

#define ROUNDS 5
#define SIZE "64MiB"

static const struct {
    const char *module, *stage;
} classes[] = {
    {"attribution", "attribution"}, /* the others need its value */
    {"overlap", "overlap"},
    {"gaps", "gaps"},
    {"gaps", "launch"},
    {"critical-path", "critical-path"},
    {"chunks", "chunks"},
    {"inflight", "inflight"},
};
#define CLASSES G_N_ELEMENTS(classes)

static const mill_module *reader, *modules[CLASSES];

/* ---------------------------------------------------------------- one run */

static double run(bench *b, const char *what) {
    double began = measure_seconds();
    if (bench_run(b) != MILL_OK)
        g_error("%s: %s", what, bench_causes(b));
    return measure_seconds() - began;
}

static bench *new_reader(const char *path) {
    g_autofree char *rules =
        g_strdup_printf("kernel-rules=%s/etc/rules/kernels.ini", g_getenv("TRACEMILL_TEST_SOURCE"));
    g_autofree char *file = g_strconcat("path=", path, NULL);
    bench *b = bench_create(reader, "kineto.read");
    bench_option(b, file);
    bench_option(b, rules);
    return b;
}

/* places: of the trace's attribution, or NULL for the class that makes it. */
static bench *new_class(size_t c, const mill_trace *trace, const mill_attribution *places) {
    bench *b = bench_create(modules[c], classes[c].stage);
    bench_input(b, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    if (places)
        bench_input(b, "attribution", MILL_TYPE_ATTRIBUTION, places, "attribution", "");
    return b;
}

typedef struct costs {
    double reading[ROUNDS], seconds[CLASSES][ROUNDS], sum[ROUNDS];
    int64_t bytes[CLASSES];
    uint64_t activities;
} costs;

/* Begins as a new process does, without memory to use again. round ROUNDS: one more, in which
 * memory is measured, which takes time. */
static void measure_round(const char *path, int round, costs *c) {
    bool timed = round < ROUNDS;
    int64_t before = measure_reset_peak();
    bench *from = new_reader(path), *attribution = NULL;
    double reading = run(from, path), sum = 0;
    const mill_trace *trace = bench_output(from, "trace", 0);
    c->activities = trace->gpu.n;
    for (size_t i = 0; i < CLASSES; i++) {
        bench *b =
            new_class(i, trace, attribution ? bench_output(attribution, "attribution", 0) : NULL);
        if (!timed)
            before = measure_reset_peak();
        double seconds = run(b, classes[i].stage);
        sum += seconds;
        if (timed)
            c->seconds[i][round] = seconds;
        else
            c->bytes[i] = measure_peak() - before;
        if (attribution)
            bench_destroy(b);
        else
            attribution = b;
    }
    if (timed) {
        c->reading[round] = reading;
        c->sum[round] = sum;
    }
    bench_destroy(attribution);
    bench_destroy(from);
}

/* ---------------------------------------------------------------- the table */

static double median_ratio(const double *v, const double *over) {
    double ratios[ROUNDS];
    for (int r = 0; r < ROUNDS; r++)
        ratios[r] = v[r] / over[r];
    return measure_median(ratios, ROUNDS);
}

static void bench_file(const char *path, const char *name) {
    costs c;
    for (int r = 0; r <= ROUNDS; r++)
        measure_round(path, r, &c);
    g_print("%s: %" G_GUINT64_FORMAT " activities\n", name, c.activities);
    g_print("  %-14s %8.1f ms\n", "reading", 1e3 * measure_median(c.reading, ROUNDS));
    for (size_t i = 0; i < CLASSES; i++)
        g_print("  %-14s %8.1f ms %8.3f x %8.0f B\n", classes[i].stage,
                1e3 * measure_median(c.seconds[i], ROUNDS), median_ratio(c.seconds[i], c.reading),
                (double)c.bytes[i] / (double)MAX(c.activities, 1));
    g_print("  %-14s %8.1f ms %8.3f x\n", "all classes", 1e3 * measure_median(c.sum, ROUNDS),
            median_ratio(c.sum, c.reading));
}

static void bench_generated(const char *generator) {
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    int fd = g_file_open_tmp("bench-XXXXXX.json", &path, &error);
    if (fd < 0)
        g_error("%s", error->message);
    close(fd);
    const char *argv[] = {generator, "--size", SIZE, "--style", "kineto", "-o", path, NULL};
    int status;
    if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status,
                      &error) ||
        !g_spawn_check_wait_status(status, &error))
        g_error("%s", error->message);
    bench_file(path, "generated, " SIZE);
    unlink(path);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        g_printerr("usage: bench-analyses KINETO-GEN [FILE.json…]\n");
        return 64;
    }
    reader = bench_open("plugins/readers/kineto/kineto.so");
    for (size_t i = 0; i < CLASSES; i++) {
        g_autofree char *path =
            g_strdup_printf("plugins/analyzers/%s/%s.so", classes[i].module, classes[i].module);
        modules[i] = bench_open(path);
    }
    g_print("CPU time of analyses beside reading on one thread; x: of the time of reading; B: peak "
            "of memory "
            "beside the trace and the attribution, for each GPU activity\n");
    for (int i = 2; i < argc; i++)
        bench_file(argv[i], argv[i]);
    if (argc == 2)
        bench_generated(argv[1]);
    return 0;
}
