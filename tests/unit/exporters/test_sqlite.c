/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sqlite.write: what is in the database, and that README.md says it. */
#include "fixture.h"
#include "overwrite.h"
#include "samples.h"

#include <sqlite3.h>
#include <string.h>
#include <tracemill/schedule.h>
#include <tracemill/trace.h>

#define MODULE "plugins/exporters/sqlite/sqlite.so"
#define FILE_NAME "run.db"

/* ---------------------------------------------------------------- values to write */

static const activity activities[] = {
    {0, 7, 1000, 500, "gemm<128>", MILL_CLASS_COMPUTATION, "gemm", NULL, 132, 0, 0, 0},
    {0, 13, 1100, 900, "dispatch", MILL_CLASS_COMMUNICATION, "dispatch", "all-to-all", 24, 4096,
     8192, 64},
    {0, 7, 1700, 250, "gemm<128>", MILL_CLASS_COMPUTATION, "gemm", NULL, 0, 0, 0, 0},
    {1, 7, 1800, 0, "odd \xff name", MILL_CLASS_MEMORY, NULL, NULL, 0, 64, 0, 0},
};
static const slice slices[] = {
    {1, 100, 800, "step", MILL_CPU_ANNOTATION, 0},
    {1, 200, 50, "cudaLaunchKernel", MILL_CPU_RUNTIME, 1},
};

static const mill_trace *a_trace(bench *b) {
    fixture f = FIXTURE(activities);
    f.slices = slices;
    f.n_slices = G_N_ELEMENTS(slices);
    f.diagnostics = true;
    return fixture_trace(b, &f);
}

/* Two ranks with an operation each; of the second little is known. */
static const mill_schedule *a_schedule(void) {
    static const uint8_t kind[] = {MILL_OP_FORWARD, 77};
    static const uint32_t chunk[] = {0, MILL_NO_OP}, none[] = {MILL_NO_OP, MILL_NO_OP};
    static const int64_t start[] = {0, MILL_UNKNOWN}, end[] = {40, MILL_UNKNOWN};
    static const uint64_t first[] = {0, 1, 2};
    static const mill_schedule schedule = {
        .size = sizeof schedule,
        .id = "own",
        .name = "Own",
        .ranks = 2,
        .chunks = 1,
        .stages = 2,
        .micro_batches = 1,
        .transfer_ns = MILL_UNKNOWN,
        .makespan_ns = 100,
        .n_ops = 2,
        .first = first,
        .ops = {kind, chunk, chunk, chunk, none, none, none, start, end, NULL},
    };
    return &schedule;
}

/* ---------------------------------------------------------------- runs */

static bench *begin(void) {
    bench *b = bench_create(bench_open(MODULE), "sqlite.write");
    bench_option(b, "path=" FILE_NAME);
    return b;
}

static mill_status add(bench *b, const char *port, const char *type, const void *value,
                       const char *key) {
    bench_clear_inputs(b);
    bench_input(b, port, type, value, "stage-a", key);
    return bench_item(b);
}

/* All kinds of values, the trace twice. */
static bench *write_all(void) {
    bench *b = begin();
    const mill_trace *trace = a_trace(b);
    g_assert_cmpint(bench_begin(b), ==, MILL_OK);
    add(b, "trace", MILL_TYPE_TRACE, trace, "rank0");
    add(b, "trace", MILL_TYPE_TRACE, trace, "rank1");
    add(b, "report", MILL_TYPE_REPORT, sample_overlap(bench_services(b)), "rank0");
    add(b, "report", MILL_TYPE_REPORT, sample_unknown(bench_services(b)), "");
    add(b, "schedule", MILL_TYPE_SCHEDULE, a_schedule(), "own");
    bench_clear_inputs(b);
    bench_missing(b, "report", "stage-b", "rank7");
    g_assert_cmpint(bench_end(b), ==, MILL_OK);
    return b;
}

/* ---------------------------------------------------------------- looking */

/* What was written, opened; it borrows the bytes. */
static sqlite3 *database(const bench *b, const char *path) {
    const GString *bytes = bench_written(b, path);
    sqlite3 *db;
    g_assert_nonnull(bytes);
    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_deserialize(db, "main", (unsigned char *)bytes->str,
                                        (sqlite3_int64)bytes->len, (sqlite3_int64)bytes->len,
                                        SQLITE_DESERIALIZE_READONLY),
                    ==, SQLITE_OK);
    return db;
}

/* The answer as text: `|` between columns, a line a row, "-" for NULL. */
static char *ask(sqlite3 *db, const char *sql) {
    GString *answer = g_string_new(NULL);
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        g_error("%s: %s", sql, sqlite3_errmsg(db));
    while (sqlite3_step(s) == SQLITE_ROW) {
        if (answer->len)
            g_string_append_c(answer, '\n');
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            const char *text = (const char *)sqlite3_column_text(s, i);
            g_string_append_printf(answer, "%s%s", i ? "|" : "", text ? text : "-");
        }
    }
    g_assert_cmpint(sqlite3_finalize(s), ==, SQLITE_OK);
    return g_string_free(answer, FALSE);
}

static void check(sqlite3 *db, const char *sql, const char *answer) {
    g_autofree char *got = ask(db, sql);
    g_test_message("%s", sql);
    g_assert_cmpstr(got, ==, answer);
}

/* ---------------------------------------------------------------- tests */

static void test_whole(void) {
    bench *b = write_all();
    sqlite3 *db = database(b, FILE_NAME);
    check(db, "PRAGMA integrity_check", "ok");
    check(db, "PRAGMA foreign_key_check", "");
    check(db, "PRAGMA application_id", "1296649292");
    check(db, "PRAGMA user_version", "1");
    check(db, "SELECT * FROM item ORDER BY id",
          "1|mill.trace/1|stage-a|rank0\n2|mill.trace/1|stage-a|rank1\n"
          "3|mill.report/1|stage-a|rank0\n4|mill.report/1|stage-a|\n"
          "5|mill.schedule/1|stage-a|own");
    check(db, "SELECT * FROM missing", "stage-b|rank7");
    sqlite3_close(db);
    bench_destroy(b);
}

static void test_trace(void) {
    bench *b = write_all();
    sqlite3 *db = database(b, FILE_NAME);
    check(db, "SELECT item, path, complete FROM trace",
          "1|" FIXTURE_PATH "|0\n2|" FIXTURE_PATH "|0");
    check(db,
          "SELECT a.start_ns, a.dur_ns, n.text, n.class, a.kind, a.category, d.number, s.number, "
          "a.grid, a.bytes FROM activity a JOIN name n ON n.id = a.name JOIN stream s ON "
          "s.id = a.stream JOIN device d ON d.id = s.device WHERE a.trace = 2 ORDER BY a.id",
          "1000|500|gemm<128>|computation|gemm|kernel|0|7|132|-\n"
          "1100|900|dispatch|communication|all-to-all|kernel|0|13|24|4096\n"
          "1700|250|gemm<128>|computation|gemm|kernel|0|7|-|-\n"
          "1800|0|odd \xef\xbf\xbd name|memory|-|memcpy|1|7|-|64");
    check(db, "SELECT count(*), min(id), max(id) FROM activity", "8|1|8");
    check(db,
          "SELECT a.trace, n.text, s.kind, p.start_ns FROM activity a JOIN slice s ON "
          "s.id = a.launch JOIN name n ON n.id = s.name JOIN slice p ON p.id = s.parent",
          "1|cudaLaunchKernel|runtime|100\n2|cudaLaunchKernel|runtime|100");
    check(db,
          "SELECT a.trace, c.kind, c.in_elements, c.group_size FROM activity a JOIN collective c "
          "ON c.id = a.collective WHERE c.trace = a.trace",
          "1|all-to-all|8192|64\n2|all-to-all|8192|64");
    check(db, "SELECT text, count, lost FROM diagnostic WHERE trace = 1 AND lost",
          FIXTURE_LOST "|2|1");
    sqlite3_close(db);
    bench_destroy(b);
}

static void test_report(void) {
    bench *b = write_all();
    sqlite3 *db = database(b, FILE_NAME);
    check(db, "SELECT value, unit, typeof(value) FROM figure WHERE report = 3 AND id = 'T'",
          "129012000|ns|integer");
    check(db,
          "SELECT c.id, x.value FROM cell x JOIN report_column c ON c.key = x.report_column JOIN "
          "report_table t ON t.key = c.report_table WHERE t.report = 3 AND t.id = 'kinds' AND "
          "x.row = 1 ORDER BY c.key LIMIT 4",
          "kind|notify\nn|16\nsum|32578000\nexposed|1206000");
    check(db, "SELECT id, level FROM note WHERE report = 3",
          "communication_set|info\nnegative_duration|warning");
    check(
        db,
        "SELECT l.id, i.start_ns, i.end_ns, i.text, i.class, f.report FROM interval i JOIN lane l "
        "ON l.key = i.lane LEFT JOIN finding f ON f.key = i.finding",
        "s27|0|4000|dispatch|communication|-\ns27|5000|9000|combine|communication|3");
    check(db, "SELECT s.id, s.kind, p.x, p.y FROM point p JOIN series s ON s.key = p.series",
          "hidden|curve|0.0|0.5\nhidden|curve|1.0|-\nhidden|curve|2.0|0.25\nload|heat|0.0|0.5");
    check(db, "SELECT count(*) > 0 FROM figure WHERE report = 4 AND value IS NULL", "1");
    sqlite3_close(db);
    bench_destroy(b);
}

static void test_mangled(void) {
    bench *b = begin();
    g_assert_cmpint(bench_begin(b), ==, MILL_OK);
    add(b, "report", MILL_TYPE_REPORT, sample_mangled(), "");
    bench_clear_inputs(b);
    g_assert_cmpint(bench_end(b), ==, MILL_OK);
    sqlite3 *db = database(b, FILE_NAME);
    check(db, "SELECT title FROM report", "\uFFFD, a half \uFFFD\uFFFD, cut \uFFFD");
    check(db, "SELECT evidence FROM finding", "\uFFFD, a half \uFFFD\uFFFD, cut \uFFFD");
    sqlite3_close(db);
    bench_destroy(b);
}

static void test_schedule(void) {
    bench *b = write_all();
    sqlite3 *db = database(b, FILE_NAME);
    check(db, "SELECT item, id, simulated, transfer_ns, makespan_ns FROM schedule",
          "5|own|0|-|100");
    check(db, "SELECT rank, position, kind, chunk, start_ns, end_ns FROM operation",
          "0|0|forward|0|0|40\n1|0|-|-|-|-");
    sqlite3_close(db);
    bench_destroy(b);
}

/* More than one block of rows, to the last. */
enum { MANY = 3000 };

static bench *begin_many(void) {
    g_autofree activity *many = g_new0(activity, MANY);
    for (int i = 0; i < MANY; i++)
        many[i] = (activity){0,    7,    10 * i + 10, i + 1, "k", MILL_CLASS_COMPUTATION,
                             NULL, NULL, i + 1,       0,     0,   0};
    fixture f = {.activities = many, .n = MANY, .described_device = MILL_UNKNOWN};
    bench *b = begin();
    bench_input(b, "trace", MILL_TYPE_TRACE, fixture_trace(b, &f), "trace", "");
    return b;
}

static void test_many(void) {
    bench *b = begin_many();
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    sqlite3 *db = database(b, FILE_NAME);
    check(db,
          "SELECT count(*), sum(dur_ns), sum(start_ns = 10 * id AND grid = id) FROM "
          "activity",
          "3000|4501500|3000");
    sqlite3_close(db);
    bench_destroy(b);
}

/* Whenever it is asked to end, nothing is written. */
static void test_cancelled(void) {
    mill_status status = MILL_E_CANCELLED;
    unsigned at = 1;
    for (; status == MILL_E_CANCELLED; at++) {
        bench *b = begin_many();
        bench_cancel_at(b, at);
        status = bench_run(b);
        g_assert_cmpint(!bench_written(b, FILE_NAME), ==, status == MILL_E_CANCELLED);
        bench_destroy(b);
    }
    g_assert_cmpint(status, ==, MILL_OK);
    g_assert_cmpuint(at, >, MANY / 512);
}

/* A key's items make a database of their own; nothing makes none. */
static void test_items(void) {
    bench *b = bench_create(bench_open(MODULE), "sqlite.write");
    struct {
        const char *path;
        bool overwrite;
    } opts = {"${item}.db", true};
    bench_options(b, &opts);
    g_assert_cmpint(bench_begin(b), ==, MILL_OK);
    const mill_report *report = sample_empty(bench_services(b));
    opts.path = "a.db";
    add(b, "report", MILL_TYPE_REPORT, report, "a");
    add(b, "report", MILL_TYPE_REPORT, report, "a");
    opts.path = "b.db";
    add(b, "report", MILL_TYPE_REPORT, report, "b");
    g_assert_cmpint(bench_end(b), ==, MILL_OK);
    sqlite3 *first = database(b, "a.db"), *second = database(b, "b.db");
    check(first, "SELECT id, key FROM item", "1|a\n2|a");
    check(second, "SELECT id, key FROM item", "1|b");
    sqlite3_close(first);
    sqlite3_close(second);
    bench_destroy(b);
}

/* A key whose database can't be made takes neither the one before nor the one after with it. */
static void test_failed_item(void) {
    bench *b = bench_create(bench_open(MODULE), "sqlite.write");
    struct {
        const char *path;
        bool overwrite;
    } opts = {"${item}.db", true};
    bench_options(b, &opts);
    g_assert_cmpint(bench_begin(b), ==, MILL_OK);
    const mill_report *report = sample_empty(bench_services(b));
    opts.path = "a.db";
    add(b, "report", MILL_TYPE_REPORT, report, "a");
    opts.path = "no/such/folder/b.db";
    for (int i = 0; i < 2; i++)
        g_assert_cmpint(add(b, "report", MILL_TYPE_REPORT, report, "b"), ==, MILL_E_IO);
    g_assert_nonnull(strstr(bench_causes(b), "an item before could not be written"));
    opts.path = "c.db";
    add(b, "report", MILL_TYPE_REPORT, report, "c");
    opts.path = "d.db";
    add(b, "report", MILL_TYPE_REPORT, report, "d");
    sqlite3 *before = database(b, "a.db"), *after = database(b, "c.db");
    check(before, "SELECT id, key FROM item", "1|a");
    check(after, "SELECT id, key FROM item", "1|c");
    sqlite3_close(before);
    sqlite3_close(after);
    bench_destroy(b);
}

static void test_nothing(void) {
    bench *b = begin();
    g_assert_cmpint(bench_begin(b), ==, MILL_OK);
    g_assert_cmpint(bench_end(b), ==, MILL_OK);
    sqlite3 *db = database(b, FILE_NAME);
    check(db, "SELECT count(*) FROM item", "0");
    sqlite3_close(db);
    bench_destroy(b);
}

static void test_fails(void) {
    bench *b = begin();
    bench_disk_size(b, 1000);
    bench_input(b, "report", MILL_TYPE_REPORT, sample_overlap(bench_services(b)), "s", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    g_assert_null(bench_written(b, FILE_NAME));
    bench_destroy(b);

    b = bench_create(bench_open(MODULE), "sqlite.write");
    bench_option(b, "path=no/such/folder/x.db");
    bench_input(b, "report", MILL_TYPE_REPORT, sample_empty(bench_services(b)), "s", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    g_assert_nonnull(strstr(bench_causes(b), "can't make the database no/such/folder/x.db"));
    bench_destroy(b);
}

/* ---------------------------------------------------------------- README.md */

/* Block number i of SQL in it. */
static char *readme_sql(guint i) {
    g_autofree char *text = NULL;
    g_autofree char *path = g_build_filename(g_getenv("TRACEMILL_TEST_SOURCE"), "plugins",
                                             "exporters", "sqlite", "README.md", NULL);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) parts = g_strsplit(text, "```sql\n", -1);
    g_assert_cmpuint(g_strv_length(parts), ==, 7);
    char *end = strstr(parts[i + 1], "```");
    g_assert_nonnull(end);
    return g_strndup(parts[i + 1], (gsize)(end - parts[i + 1]));
}

static void test_readme_queries(void) {
    bench *b = write_all();
    sqlite3 *db = database(b, FILE_NAME);
    static const char *const answers[] = {
        "communication|all-to-all|2|1.8\ncomputation|gemm|4|1.5\nmemory|-|2|0.0",
        "gemm<128>|1|0.8\ngemm<128>|1|0.8",
        "rank0|-|4190.125",
        "rank0|combine|2158000\nrank0|notify|1206000\nrank0|dispatch|798500\nrank0|layout|28000",
        "Own|0|60\nOwn|1|-",
    };
    for (guint i = 0; i < G_N_ELEMENTS(answers); i++) {
        g_autofree char *sql = readme_sql(i);
        check(db, sql, answers[i]);
    }
    sqlite3_close(db);
    bench_destroy(b);
}

/* Runs of blanks and line breaks as one blank. */
static char *one_line(const char *text) {
    g_auto(GStrv) words = g_strsplit_set(text, " \n", -1);
    GString *line = g_string_new(NULL);
    for (char **w = words; *w; w++)
        if (**w)
            g_string_append_printf(line, "%s%s", line->len ? " " : "", *w);
    return g_string_free(line, FALSE);
}

static void test_readme_schema(void) {
    bench *b = write_all();
    sqlite3 *db = database(b, FILE_NAME);
    g_autofree char *documented = readme_sql(5), *want = one_line(documented);
    g_autofree char *actual =
        ask(db, "SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid");
    g_autofree char *got = one_line(actual);
    g_assert_cmpstr(got, ==, want);
    sqlite3_close(db);
    bench_destroy(b);
}

static void test_overwrite(void) {
    overwrite_check(MODULE, "sqlite.write");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sqlite/whole", test_whole);
    g_test_add_func("/sqlite/trace", test_trace);
    g_test_add_func("/sqlite/report", test_report);
    g_test_add_func("/sqlite/mangled", test_mangled);
    g_test_add_func("/sqlite/schedule", test_schedule);
    g_test_add_func("/sqlite/many", test_many);
    g_test_add_func("/sqlite/cancelled", test_cancelled);
    g_test_add_func("/sqlite/items", test_items);
    g_test_add_func("/sqlite/failed-item", test_failed_item);
    g_test_add_func("/sqlite/nothing", test_nothing);
    g_test_add_func("/sqlite/fails", test_fails);
    g_test_add_func("/sqlite/overwrite", test_overwrite);
    g_test_add_func("/sqlite/readme-queries", test_readme_queries);
    g_test_add_func("/sqlite/readme-schema", test_readme_schema);
    return g_test_run();
}
