/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs to hand a trace and its attribution to another process, beside reading the trace:
 * saving into shared memory, and loading from a mapping of it, checks included.
 *
 *     bench-saves KINETO-GEN [FILE.json…]     default: a trace that KINETO-GEN writes
 */
#include "bench_host.h"
#include "measure.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <tracemill/attribution.h>
#include <unistd.h>

#include "types/types.h"

#define ROUNDS 9
#define SIZE "64MiB"

enum { TRACE, ATTRIBUTION, VALUES };
static const char *const type_ids[VALUES] = {MILL_TYPE_TRACE, MILL_TYPE_ATTRIBUTION};

typedef struct costs {
    double reading[ROUNDS], saving[VALUES][ROUNDS], loading[VALUES][ROUNDS], sum[ROUNDS];
    size_t bytes[VALUES];
} costs;

typedef struct memory_sink {
    mill_sink sink; /* first */
    int fd;
    size_t n;
} memory_sink;

static mill_status append(mill_sink *sink, const void *data, size_t n) {
    memory_sink *m = (memory_sink *)sink;
    m->n += n;
    for (const char *at = data; n > 0;) {
        ssize_t written = write(m->fd, at, n);
        if (written <= 0)
            return MILL_E_IO;
        at += written;
        n -= (size_t)written;
    }
    return MILL_OK;
}

static void cross(bench *with, int value, const void *data, costs *c, int round) {
    const mill_type *type = types_find(type_ids[value]);
    memory_sink to = {{.size = sizeof to.sink, .write = append}, memfd_create("save", 0), 0};
    double began = measure_seconds();
    g_assert_cmpint(type->save(bench_services(with), data, &to.sink), ==, MILL_OK);
    double saved = measure_seconds();
    void *map = mmap(NULL, to.n, PROT_READ, MAP_PRIVATE, to.fd, 0);
    g_assert_true(map != MAP_FAILED);
    mill_source source = {.size = sizeof source, .data = map, .length = to.n};
    void *loaded = NULL;
    if (type->load(bench_services(with), &source, &loaded) != MILL_OK)
        g_error("%s", bench_causes(with));
    double ended = measure_seconds();
    c->saving[value][round] = saved - began;
    c->loading[value][round] = ended - saved;
    c->sum[round] += ended - began;
    c->bytes[value] = to.n;
    munmap(map, to.n);
    close(to.fd);
}

static void measure_round(const char *path, int round, costs *c) {
    g_autofree char *rules =
        g_strdup_printf("kernel-rules=%s/etc/rules/kernels.ini", g_getenv("TRACEMILL_TEST_SOURCE"));
    g_autofree char *file = g_strconcat("path=", path, NULL);
    bench *reader = bench_create(bench_open("plugins/readers/kineto/kineto.so"), "kineto.read");
    bench *places =
        bench_create(bench_open("plugins/analyzers/attribution/attribution.so"), "attribution");
    bench *with = bench_create(NULL, NULL);
    bench_option(reader, file);
    bench_option(reader, rules);
    double began = measure_seconds();
    if (bench_run(reader) != MILL_OK)
        g_error("%s", bench_causes(reader));
    c->reading[round] = measure_seconds() - began;
    c->sum[round] = 0;
    const void *trace = bench_output(reader, "trace", 0);
    bench_input(places, "trace", MILL_TYPE_TRACE, trace, "trace", "");
    if (bench_run(places) != MILL_OK)
        g_error("%s", bench_causes(places));
    cross(with, TRACE, trace, c, round);
    cross(with, ATTRIBUTION, bench_output(places, "attribution", 0), c, round);
    bench_destroy(with);
    bench_destroy(places);
    bench_destroy(reader);
}

static double median_ratio(const double *v, const double *over) {
    double ratios[ROUNDS];
    for (int r = 0; r < ROUNDS; r++)
        ratios[r] = v[r] / over[r];
    return measure_median(ratios, ROUNDS);
}

static void bench_file(const char *path, const char *name) {
    costs c;
    for (int r = 0; r < ROUNDS; r++)
        measure_round(path, r, &c);
    g_print("%s\n  %-28s %8.1f ms\n", name, "reading", 1e3 * measure_median(c.reading, ROUNDS));
    for (int v = 0; v < VALUES; v++) {
        g_print("  %-28s %8.1f ms %8.3f x %8.1f MB\n", type_ids[v],
                1e3 * measure_median(c.saving[v], ROUNDS), median_ratio(c.saving[v], c.reading),
                (double)c.bytes[v] / 1e6);
        g_print("  %-28s %8.1f ms %8.3f x\n", "  loaded",
                1e3 * measure_median(c.loading[v], ROUNDS), median_ratio(c.loading[v], c.reading));
    }
    g_print("  %-28s %8.1f ms %8.3f x\n", "both, saved and loaded",
            1e3 * measure_median(c.sum, ROUNDS), median_ratio(c.sum, c.reading));
}

static void bench_generated(const char *generator) {
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    int fd = g_file_open_tmp("bench-XXXXXX.json", &path, &error);
    if (fd < 0)
        g_error("%s", error->message);
    close(fd);
    const char *argv[] = {generator, "--size", SIZE, "-o", path, NULL};
    int status;
    if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status,
                      &error) ||
        !g_spawn_check_wait_status(status, &error))
        g_error("%s", error->message);
    bench_file(path, "generated, " SIZE);
    unlink(path);
}

int main(int argc, char **argv) {
    if (argc < 2)
        g_error("usage: bench-saves KINETO-GEN [FILE.json…]");
    for (int i = 2; i < argc; i++)
        bench_file(argv[i], argv[i]);
    if (argc == 2)
        bench_generated(argv[1]);
    return 0;
}
