/* SPDX-License-Identifier: Apache-2.0 */
/* How many rows a second sqlite.write makes of a profile, beside a bare loop of prepared statements
 * that makes the same rows and indexes; and how long html.write takes for a timeline of a million
 * intervals. Time is the processor's.
 *
 *     bench-exporters KINETO-GEN [FILE.json…]     default: a generated trace */
#include "bench_host.h"
#include "measure.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <tracemill/report.h>
#include <tracemill/trace.h>
#include <unistd.h>

#define HTML "plugins/exporters/html/html.so"
#define ROUNDS 3
#define SIZE "100MiB"
#define LANES 8
#define INTERVALS 125000 /* in each */

static int out_fd = -1; /* where the sink writes to; -1: bytes are counted and let go */
static uint64_t written;

static mill_status put(mill_sink *sink, const void *data, size_t n) {
    (void)sink;
    written += n;
    return out_fd < 0 || write(out_fd, data, n) == (ssize_t)n ? MILL_OK : MILL_E_IO;
}

static mill_status open_sink(mill_run *run, const char *path, mill_sink **ret_sink) {
    static mill_sink sink = {.size = sizeof sink, .write = put};
    (void)run, (void)path;
    *ret_sink = &sink;
    return MILL_OK;
}

/* Seconds of one run over the value. */
static double run_exporter(const char *module, const char *class, const char *path,
                           const char *port, const char *type, const void *value) {
    bench *b = bench_create(bench_open(module), class);
    mill_run *run = bench_services(b);
    mill_host host = *run->host;
    host.sink_open = open_sink;
    run->host = &host;
    g_autofree char *option = g_strconcat("path=", path, NULL);
    bench_option(b, option);
    bench_input(b, port, type, value, port, "");
    written = 0;
    double began = measure_seconds();
    if (bench_run(b) != MILL_OK)
        g_error("%s: %s", class, bench_causes(b));
    double seconds = measure_seconds() - began;
    bench_destroy(b);
    return seconds;
}

/* ---------------------------------------------------------------- sqlite.write */

static bench *read_trace(const char *path) {
    bench *b = bench_create(bench_open("plugins/readers/kineto/kineto.so"), "kineto.read");
    g_autofree char *rules =
        g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "etc/rules/kernels.ini", NULL);
    g_autofree char *rules_option = g_strconcat("kernel-rules=", rules, NULL);
    g_autofree char *path_option = g_strconcat("path=", path, NULL);
    bench_option(b, rules_option);
    bench_option(b, path_option);
    if (bench_run(b) != MILL_OK)
        g_error("%s: %s", path, bench_causes(b));
    return b;
}

static void must(sqlite3 *db, int result) {
    if (result != SQLITE_OK && result != SQLITE_ROW && result != SQLITE_DONE)
        g_error("%s", sqlite3_errmsg(db));
}

static sqlite3 *open_database(const char *path) {
    sqlite3 *db;
    must(NULL, sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL));
    must(db, sqlite3_exec(db,
                          "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                          "PRAGMA cache_size = -65536; BEGIN",
                          NULL, NULL, NULL));
    return db;
}

static int copy_table(sqlite3 *from, sqlite3 *to, const char *table) {
    g_autofree char *query = g_strdup_printf("SELECT * FROM %s", table);
    sqlite3_stmt *rows, *insert;
    must(from, sqlite3_prepare_v2(from, query, -1, &rows, NULL));
    GString *sql = g_string_new(NULL);
    int columns = sqlite3_column_count(rows), n = 0;
    g_string_printf(sql, "INSERT INTO %s VALUES(?", table);
    for (int i = 1; i < columns; i++)
        g_string_append(sql, ", ?");
    g_string_append_c(sql, ')');
    must(to, sqlite3_prepare_v2(to, sql->str, -1, &insert, NULL));
    g_string_free(sql, TRUE);
    for (; sqlite3_step(rows) == SQLITE_ROW; n++) {
        for (int i = 0; i < columns; i++)
            sqlite3_bind_value(insert, i + 1, sqlite3_column_value(rows, i));
        must(to, sqlite3_step(insert));
        sqlite3_reset(insert);
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(insert);
    return n;
}

/* Tables first, then their rows, then indexes. Returns how many rows there are. */
static int copy_database(sqlite3 *from, sqlite3 *to) {
    static const char *const order[] = {"table", "index"};
    int n = 0;
    for (size_t k = 0; k < G_N_ELEMENTS(order); k++) {
        sqlite3_stmt *parts;
        must(from, sqlite3_prepare_v2(from,
                                      "SELECT name, sql FROM sqlite_master WHERE type = ? AND "
                                      "sql IS NOT NULL",
                                      -1, &parts, NULL));
        sqlite3_bind_text(parts, 1, order[k], -1, SQLITE_STATIC);
        while (sqlite3_step(parts) == SQLITE_ROW) {
            must(to,
                 sqlite3_exec(to, (const char *)sqlite3_column_text(parts, 1), NULL, NULL, NULL));
            if (k == 0)
                n += copy_table(from, to, (const char *)sqlite3_column_text(parts, 0));
        }
        sqlite3_finalize(parts);
    }
    must(to, sqlite3_exec(to, "COMMIT", NULL, NULL, NULL));
    return n;
}

static void bench_sqlite(const char *path) {
    double speed[ROUNDS], over[ROUNDS];
    bench *b = read_trace(path);
    const mill_trace *t = bench_output(b, "trace", 0);
    g_autofree char *folder = g_dir_make_tmp("bench-XXXXXX", NULL);
    g_autofree char *made = g_build_filename(folder, "made.db", NULL);
    g_autofree char *copied = g_build_filename(folder, "copied.db", NULL);
    int rows = 0;
    for (int r = 0; r < ROUNDS; r++) {
        out_fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        double seconds = run_exporter("plugins/exporters/sqlite/sqlite.so", "sqlite.write", made,
                                      "trace", MILL_TYPE_TRACE, t);
        close(out_fd);
        double began = measure_seconds();
        sqlite3 *from = open_database(made), *to = open_database(copied);
        rows = copy_database(from, to);
        sqlite3_close(from);
        sqlite3_close(to);
        over[r] = (measure_seconds() - began) / seconds;
        speed[r] = rows / seconds / 1e3;
        g_assert_cmpint(g_remove(copied) | g_remove(made), ==, 0);
    }
    g_print("sqlite.write: %d rows, %.0f MB: %.0f thousand rows/s; the bare loop takes %.2f times "
            "as long\n",
            rows, (double)written / 1e6, measure_median(speed, ROUNDS),
            measure_median(over, ROUNDS));
    g_assert_cmpint(g_rmdir(folder), ==, 0);
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
    bench_sqlite(path);
    unlink(path);
}

/* ---------------------------------------------------------------- html.write */

/* Lengths and gaps vary, so that no two intervals can be one by luck. */
static mill_lane *make_lane(unsigned k) {
    static const char *const texts[] = {"gemm", "attention",   "all-to-all",
                                        "norm", "computation", "communication"};
    int64_t *start = g_new(int64_t, INTERVALS), *end = g_new(int64_t, INTERVALS), at = 0;
    uint32_t *text = g_new(uint32_t, INTERVALS), *cls = g_new(uint32_t, INTERVALS);
    for (uint32_t i = 0; i < INTERVALS; i++) {
        uint32_t noise = (i * LANES + k) * 2654435761u >> 8;
        start[i] = at + noise % 1000;
        end[i] = start[i] + 500 + noise % 20000;
        at = end[i];
        text[i] = noise % 4;
        cls[i] = text[i] == 2 ? 5 : 4;
    }
    mill_lane *lane = g_new0(mill_lane, 1);
    *lane = (mill_lane){.size = sizeof *lane,
                        .id = g_strdup_printf("stream_%u", k),
                        .label = g_strdup_printf("stream %u", k),
                        .device = 0,
                        .stream = k,
                        .n = INTERVALS,
                        .start = start,
                        .end = end,
                        .text = text,
                        .cls = cls,
                        .texts = texts,
                        .n_texts = G_N_ELEMENTS(texts)};
    return lane;
}

static void bench_html(void) {
    g_autofree char *module = g_build_filename(g_getenv("TRACEMILL_TEST_BUILD"), HTML, NULL);
    const mill_lane *lanes[LANES];
    double seconds[ROUNDS];
    if (!g_file_test(module, G_FILE_TEST_EXISTS)) {
        g_print("html.write: not in this build\n");
        return;
    }
    for (unsigned k = 0; k < LANES; k++)
        lanes[k] = make_lane(k);
    const mill_report report = {.size = sizeof report,
                                .id = "bench",
                                .title = "A million intervals",
                                .lanes = lanes,
                                .n_lanes = LANES};
    int64_t before = measure_reset_peak();
    out_fd = -1;
    for (int r = 0; r < ROUNDS; r++)
        seconds[r] =
            run_exporter(HTML, "html.write", "bench.html", "report", MILL_TYPE_REPORT, &report);
    g_print("html.write: %d intervals: %.2f s, %.2f MB, peak %.0f MiB\n", LANES * INTERVALS,
            measure_median(seconds, ROUNDS), (double)written / 1e6,
            (double)(measure_peak() - before) / (1 << 20));
}

int main(int argc, char **argv) {
    if (argc < 2) {
        g_printerr("usage: bench-exporters KINETO-GEN [FILE.json…]\n");
        return 64;
    }
    for (int i = 2; i < argc; i++)
        bench_sqlite(argv[i]);
    if (argc == 2)
        bench_generated(argv[1]);
    bench_html();
    return 0;
}
