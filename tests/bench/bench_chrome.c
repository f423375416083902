/* SPDX-License-Identifier: Apache-2.0 */
/* How fast chrome.write is, beside read() of as many bytes with a touch of each line of cache. Time
 * is the processor's; what is written is counted and let go.
 *
 *     bench-chrome KINETO-GEN [FILE.json…]     default: a generated trace */
#include "bench_host.h"
#include "measure.h"

#include <fcntl.h>
#include <tracemill/trace.h>
#include <unistd.h>

#define ROUNDS 5
#define SIZE "400MiB"

static volatile uint64_t touched;
static uint64_t written;

static mill_status count(mill_sink *sink, const void *data, size_t n) {
    (void)sink, (void)data;
    written += n;
    return MILL_OK;
}

static mill_status open_counter(mill_run *run, const char *path, mill_sink **ret_sink) {
    static mill_sink counter = {.size = sizeof counter, .write = count};
    (void)run, (void)path;
    *ret_sink = &counter;
    return MILL_OK;
}

static bench *read_trace(const char *path) {
    bench *b = bench_create(bench_open("plugins/readers/kineto/kineto.so"), "kineto.read");
    g_autofree char *rules =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "etc/rules/kernels.ini", NULL);
    g_autofree char *rules_option = g_strconcat("kernel-rules=", rules, NULL);
    g_autofree char *path_option = g_strconcat("path=", path, NULL);
    bench_option(b, rules_option);
    bench_option(b, path_option);
    bench_option(b, "metadata=no");
    bench_option(b, "planes=off");
    bench_option(b, "flows=yes");
    bench_option(b, "counters=yes");
    if (bench_run(b) != MILL_OK)
        g_error("%s: %s", path, bench_causes(b));
    return b;
}

static double write_trace(const mill_trace *t, const char *gzip) {
    bench *b = bench_create(bench_open("plugins/exporters/chrome/chrome.so"), "chrome.write");
    mill_run *run = bench_services(b);
    mill_host host = *run->host;
    host.sink_open = open_counter;
    run->host = &host;
    bench_option(b, gzip);
    bench_input(b, "trace", MILL_TYPE_TRACE, t, "trace", "");
    written = 0;
    double began = measure_seconds();
    if (bench_run(b) != MILL_OK)
        g_error("%s", bench_causes(b));
    double seconds = measure_seconds() - began;
    bench_destroy(b);
    return seconds;
}

/* Seconds for `bytes` bytes. */
static double read_and_touch(const char *path, uint64_t bytes) {
    static char window[256 * 1024];
    uint64_t sum = 0;
    double began = measure_seconds();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; (n = read(fd, window, sizeof window)) > 0; sum += (uint64_t)n)
        for (ssize_t i = 0; i < n; i += 64)
            touched += (uint8_t)window[i];
    close(fd);
    return (measure_seconds() - began) * (double)bytes / (double)sum;
}

static void bench_file(const char *path) {
    double plain[ROUNDS], over[ROUNDS], packed[ROUNDS];
    bench *b = read_trace(path);
    const mill_trace *t = bench_output(b, "trace", 0);
    int64_t before = measure_reset_peak();
    for (int r = 0; r < ROUNDS; r++) {
        double seconds = write_trace(t, "gzip=no");
        uint64_t bytes = written;
        plain[r] = (double)bytes / seconds / 1e6;
        over[r] = read_and_touch(path, bytes) / seconds;
        packed[r] = (double)bytes / write_trace(t, "gzip=yes") / 1e6;
        if (r == ROUNDS - 1)
            g_print("%10.1f %10.1f", (double)t->bytes / 1e6, (double)bytes / 1e6);
    }
    g_print(" %8.0f %10.2f %8.0f %9.2f\n", measure_median(plain, ROUNDS),
            measure_median(over, ROUNDS), measure_median(packed, ROUNDS),
            (double)(measure_peak() - before) / (1 << 20));
    bench_destroy(b);
}

static void bench_generated(const char *generator) {
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    int status, fd = g_file_open_tmp("bench-XXXXXX.json", &path, &error);
    if (fd < 0)
        g_error("%s", error->message);
    close(fd);
    const char *argv[] = {generator, "--size", SIZE, "--style", "kineto", "-o", path, NULL};
    if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status,
                      &error) ||
        !g_spawn_check_wait_status(status, &error))
        g_error("%s", error->message);
    bench_file(path);
    unlink(path);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        g_printerr("usage: bench-chrome KINETO-GEN [FILE.json…]\n");
        return 64;
    }
    g_print("speed of chrome.write, one thread; x: how many times that of read() and a touch\n"
            "%10s %10s %8s %10s %8s %9s\n",
            "read MB", "written MB", "MB/s", "read() x", "gz MB/s", "peak MiB");
    for (int i = 2; i < argc; i++)
        bench_file(argv[i]);
    if (argc == 2)
        bench_generated(argv[1]);
    return 0;
}
