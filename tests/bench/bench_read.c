/* SPDX-License-Identifier: Apache-2.0 */
/* How fast kineto.read is, beside what bounds it and what others do with the same bytes: read()
 * with a touch of every line of cache, cJSON's parse of the text in memory, igzip's inflation
 * alone.
 *
 *     bench-read [FILE.json…]     default: the real profiles of the data folder, each repeated
 *
 * Each round runs all of them in turn, so that a machine that changes its speed changes it for all;
 * the median of the ratios counts. */
#include "bench_host.h"
#include "measure.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <isa-l/igzip_lib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5
#define WANTED_BYTES ((gsize)64 << 20) /* small profiles are read until they add up to this */

static const mill_module *kineto;
static volatile uint64_t touched;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void read_and_touch(const char *path) {
    static char window[256 * 1024];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    while ((n = read(fd, window, sizeof window)) > 0)
        for (ssize_t i = 0; i < n; i += 64)
            touched += (uint8_t)window[i];
    close(fd);
}

static void inflate(const char *path) {
    static uint8_t in[128 * 1024], out[256 * 1024];
    struct inflate_state *z = g_new0(struct inflate_state, 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    isal_inflate_init(z);
    z->crc_flag = ISAL_GZIP;
    while ((n = read(fd, in, sizeof in)) > 0) {
        z->next_in = in;
        z->avail_in = (uint32_t)n;
        do {
            z->next_out = out;
            z->avail_out = sizeof out;
            if (isal_inflate(z) != ISAL_DECOMP_OK)
                break;
        } while (z->avail_out == 0);
    }
    close(fd);
    g_free(z);
}

static void parse_with_cjson(const char *path) {
    g_autofree char *text = NULL;
    gsize length;
    if (g_file_get_contents(path, &text, &length, NULL))
        cJSON_Delete(cJSON_ParseWithLength(text, length));
}

static void read_with(const char *path, const char *engine, unsigned jobs) {
    bench *b = bench_create(kineto, "kineto.read");
    g_autofree char *rules =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "etc/rules/kernels.ini", NULL);
    g_autofree char *path_option = g_strconcat("path=", path, NULL);
    g_autofree char *rules_option = g_strconcat("kernel-rules=", rules, NULL);
    g_autofree char *engine_option = g_strconcat("engine=", engine, NULL);
    bench_option(b, path_option);
    bench_option(b, rules_option);
    bench_option(b, engine_option);
    bench_jobs(b, jobs);
    if (bench_run(b) != MILL_OK)
        g_error("%s: %s", path, bench_causes(b));
    bench_destroy(b);
}

static void read_fast(const char *path) {
    read_with(path, "fast", 1);
}

static void read_on_two(const char *path) {
    read_with(path, "fast", 2);
}

static void read_reference(const char *path) {
    read_with(path, "reference", 1);
}

typedef void (*work)(const char *path);

static double time_of(work fn, const char *path, int repeat) {
    double began = now();
    for (int i = 0; i < repeat; i++)
        fn(path);
    return now() - began;
}

typedef struct rates {
    double mb_per_s;                /* of the fast engine, for orientation only */
    double reference, touch, cjson; /* speed of the fast engine over theirs */
    double on_two;                  /* speed on two threads over that on one */
    double gzip, gzip_on_two;       /* speed of reading the .gz over inflating it */
} rates;

static rates measure(const char *plain, const char *gz, gsize bytes) {
    int repeat = (int)MAX(1, WANTED_BYTES / MAX(bytes, 1));
    double speed[ROUNDS], reference[ROUNDS], touch[ROUNDS], cjson[ROUNDS], on_two[ROUNDS],
        gzip[ROUNDS], gzip_on_two[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double fast = time_of(read_fast, plain, repeat);
        speed[r] = (double)bytes * repeat / fast / 1e6;
        on_two[r] = fast / time_of(read_on_two, plain, repeat);
        touch[r] = time_of(read_and_touch, plain, repeat) / fast;
        cjson[r] = time_of(parse_with_cjson, plain, repeat) / fast;
        reference[r] = time_of(read_reference, plain, repeat) / fast;
        double alone = gz ? time_of(inflate, gz, repeat) : 0;
        gzip[r] = gz ? alone / time_of(read_fast, gz, repeat) : 0;
        gzip_on_two[r] = gz ? alone / time_of(read_on_two, gz, repeat) : 0;
    }
    return (rates){measure_median(speed, ROUNDS),      measure_median(reference, ROUNDS),
                   measure_median(touch, ROUNDS),      measure_median(cjson, ROUNDS),
                   measure_median(on_two, ROUNDS),     measure_median(gzip, ROUNDS),
                   measure_median(gzip_on_two, ROUNDS)};
}

static void print_row(const char *name, gsize bytes, rates r) {
    g_print("%-28.28s %7.1f %8.0f %10.2f %8.1f %8.2f %8.2f", name, (double)bytes / 1e6, r.mb_per_s,
            r.reference, r.cjson, r.touch, r.on_two);
    if (r.gzip > 0)
        g_print(" %8.2f %8.2f\n", r.gzip, r.gzip_on_two);
    else
        g_print(" %8s %8s\n", "-", "-");
}

/* The plain text of a .gz, in a temporary file to be unlinked. */
static char *unpack(const char *gz, gsize *ret_bytes) {
    g_autofree char *command = g_strdup_printf("gzip -dc %s", gz);
    g_autofree char *text = NULL;
    char *path = NULL;
    int fd = g_file_open_tmp("bench-XXXXXX.json", &path, NULL);
    if (fd < 0 || !g_spawn_command_line_sync(command, &text, NULL, NULL, NULL))
        g_error("cannot unpack %s", gz);
    /* Text holds no NUL. */
    *ret_bytes = strlen(text);
    close(fd);
    if (!g_file_set_contents(path, text, (gssize)*ret_bytes, NULL))
        g_error("cannot write %s", path);
    return path;
}

static void bench_folder(const char *folder) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; dir && (name = g_dir_read_name(dir)) != NULL;)
        if (g_str_has_suffix(name, ".json.gz"))
            g_ptr_array_add(names, g_strdup(name));
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *gz = g_build_filename(folder, names->pdata[i], NULL);
        gsize bytes;
        g_autofree char *plain = unpack(gz, &bytes);
        if (bytes > 3000000) /* below that it is the start of a run that counts */
            print_row(names->pdata[i], bytes, measure(plain, gz, bytes));
        unlink(plain);
    }
    if (names->len == 0)
        g_print("skipped: no profiles in %s; name files on the command line\n", folder);
}

int main(int argc, char **argv) {
    kineto = bench_open("plugins/readers/kineto/kineto.so");
    g_print("speed of kineto.read (engine = fast), warm, one thread but where it says two; x: how "
            "many times the other's\n"
            "%-28s %7s %8s %10s %8s %8s %8s %8s %8s\n%-28s %7s %8s %10s %8s %8s %8s %8s %8s\n",
            "", "", "", "reference", "cJSON", "read()", "plain,", "gz over", "gz, two", "file",
            "MB", "MB/s", "engine x", "parse x", "+touch x", "two x", "inflate", "threads");
    for (int i = 1; i < argc; i++) {
        g_autofree char *text = NULL;
        gsize bytes;
        if (!g_file_get_contents(argv[i], &text, &bytes, NULL))
            g_error("cannot read %s", argv[i]);
        print_row(argv[i], bytes, measure(argv[i], NULL, bytes));
    }
    if (argc == 1) {
        g_autofree char *folder = g_build_filename(g_getenv("TRACEMILL_TEST_DATA"), "traces", NULL);
        bench_folder(folder);
    }
    return 0;
}
