/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of csv.write. What it wrote is read by a strict reader of RFC 4180, below. */
#include "bench_host.h"
#include "itemised.h"
#include "samples.h"

#include <glib/gstdio.h>
#include <string.h>
#include <tracemill/kit/report.h>

#define MODULE "plugins/exporters/csv/csv.so"

static bench *csv_bench(const char *setting) {
    bench *b = bench_create(bench_open(MODULE), "csv.write");
    bench_option(b, setting);
    return b;
}

static void add(bench *b, mill_report *report, const char *key) {
    bench_input(b, "report", MILL_TYPE_REPORT, report, "overlap", key);
}

/* ---------------------------------------------------------------- a strict reader */

/* The cell at *at, which ends before a comma or CR LF; an unquoted one has no special byte. */
static char *read_cell(const char **at) {
    GString *cell = g_string_new(NULL);
    const char *p = *at;
    if (*p != '"') {
        size_t n = strcspn(p, ",\"\r\n");
        g_string_append_len(cell, p, (gssize)n);
        *at = p + n;
        return g_string_free(cell, FALSE);
    }
    for (p++; *p != '"' || p[1] == '"'; p++) {
        g_assert_cmpint(*p, !=, '\0');
        p += *p == '"';
        g_string_append_c(cell, *p);
    }
    *at = p + 1;
    return g_string_free(cell, FALSE);
}

/* All rows of a file, each a GPtrArray of cells, as many in each row. */
static GPtrArray *read_rows(const bench *b, const char *path) {
    const GString *text = bench_written(b, path);
    g_assert_nonnull(text);
    g_assert_true(g_utf8_validate_len(text->str, text->len, NULL));
    GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    for (const char *p = text->str; *p; p += 2) {
        GPtrArray *row = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(row, read_cell(&p));
        while (*p == ',') {
            p++;
            g_ptr_array_add(row, read_cell(&p));
        }
        g_assert_true(g_str_has_prefix(p, "\r\n"));
        g_ptr_array_add(rows, row);
        g_assert_cmpuint(row->len, ==, ((GPtrArray *)rows->pdata[0])->len);
    }
    return rows;
}

static const char *cell(const GPtrArray *rows, guint row, guint column) {
    g_assert_cmpuint(row, <, rows->len);
    return ((GPtrArray *)rows->pdata[row])->pdata[column];
}

static void check_text(const bench *b, const char *path, const char *want) {
    g_assert_nonnull(bench_written(b, path));
    g_assert_cmpstr(bench_written(b, path)->str, ==, want);
}

/* ---------------------------------------------------------------- tables */

static void test_parts(void) {
    bench *b = csv_bench("path=out/");
    add(b, sample_overlap(bench_services(b)), "rank0");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    check_text(b, "out/overlap.kinds.csv",
               "item,source,kind,n,sum [ns],exposed [ns],hidden\r\n"
               "rank0,overlap,combine,8,49448000,2158000,0.9563581944669147\r\n"
               "rank0,overlap,notify,16,32578000,1206000,0.962981152925287\r\n"
               "rank0,overlap,dispatch,8,31004125,798500,0.9742453625122464\r\n"
               "rank0,overlap,layout,4,410000,28000,0.9317073170731708\r\n");
    check_text(b, "out/findings.csv",
               "item,source,report,finding,rule,level,where,evidence,advice,cost [ns],gain [ns],"
               "confidence,at [ns],at base [ns]\r\n"
               "rank0,overlap,overlap,G2_1,G2,warning,\"layer 3, stream 7\",\"attn(B) waits 1 761 "
               "µs for the combine kernel of dispatch(B), while no other stream computes.\",Issue "
               "mlp(W) before it.,1761000,,0.8,115100000,\r\n");
    check_text(b, "out/lanes.csv",
               "item,source,report,lane,label,rank,device,stream,base [ns],start [ns],end [ns],"
               "text,class,finding\r\n"
               "rank0,overlap,overlap,s27,stream 27,0,0,27,,0,4000,dispatch,communication,\r\n"
               "rank0,overlap,overlap,s27,stream 27,0,0,27,,5000,9000,combine,communication,"
               "G2_1\r\n");
    check_text(b, "out/series.csv",
               "item,source,report,series,label,x_label,x,x_unit,y_label,y,y_unit,kind\r\n"
               "rank0,overlap,overlap,hidden,hidden share,step,0,,share,0.5,,curve\r\n"
               "rank0,overlap,overlap,hidden,hidden share,step,1,,share,,,curve\r\n"
               "rank0,overlap,overlap,hidden,hidden share,step,2,,share,0.25,,curve\r\n"
               "rank0,overlap,overlap,load,layer 3,GPU,0,,load,0.5,tokens,heat\r\n");
    g_autoptr(GPtrArray) figures = read_rows(b, "out/figures.csv");
    g_assert_cmpuint(figures->len, ==, 7);
    g_assert_cmpstr(cell(figures, 2, 3), ==, "exposed_comm");
    g_assert_cmpstr(cell(figures, 2, 6), ==, "4190125");
    g_assert_cmpstr(cell(figures, 2, 7), ==, "ns");
    g_autoptr(GPtrArray) notes = read_rows(b, "out/notes.csv");
    g_assert_cmpstr(cell(notes, 2, 4), ==, "warning");
    g_autoptr(GPtrArray) reports = read_rows(b, "out/reports.csv");
    g_assert_cmpstr(cell(reports, 1, 5), ==, "runs/latest/rank0.json.gz");
    bench_destroy(b);
}

/* What is not known is an empty cell, never a number; the largest numbers are exact. */
static void test_unknown(void) {
    bench *b = csv_bench("path=out");
    add(b, sample_unknown(bench_services(b)), "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    check_text(b, "out/unknown.rows.csv",
               "item,source,name,rank,rate [GB/s]\r\n"
               "\"\",overlap,,,\r\n\"\",overlap,half,1166,\r\n"
               "\"\",overlap,whole,7,0.30000000000000004\r\n");
    g_autoptr(GPtrArray) figures = read_rows(b, "out/figures.csv");
    static const char *const want[] = {"",
                                       "",
                                       "",
                                       "",
                                       "9223372036854775807",
                                       "9223372036854775807",
                                       "9223372036854775807",
                                       "9223372036854775807",
                                       "-9223372036854775807"};
    for (guint i = 0; i < G_N_ELEMENTS(want); i++)
        g_assert_cmpstr(cell(figures, 1 + i, 6), ==, want[i]);
    bench_destroy(b);
}

/* Text comes out as it went in, but for what is no UTF-8, and NUL, which the kit has mended. */
static void test_hostile(void) {
    static const char *const texts[] = {"say \"hi\", twice", "a\nb\r\nc", "\"",    "",
                                        " blanks ",          "=cmd()",    "a\xff", "x;y\tz"};
    static const char with_nul[] = "a\0b";
    bench *b = csv_bench("path=out");
    mill_run *run = bench_services(b);
    kit_report *r = kit_report_begin(run, "../x", "Names", NULL);
    kit_table *t = kit_table_begin(r, "a/b", "Names", NULL);
    kit_table_column(t, MILL_KIND_TEXT, "na\"me,", "name", NULL, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        kit_table_row(t);
        kit_cell_text(t, texts[i]);
    }
    kit_table_row(t);
    kit_cell_text(t, kit_text_utf8(run, mill_value_alloc(run, NULL, 1), with_nul, 3));
    add(b, kit_report_end(r), "k,\"1\"");
    add(b, sample_hostile(run), "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_autoptr(GPtrArray) rows = read_rows(b, "out/.._x.a_b.csv");
    g_assert_cmpstr(cell(rows, 0, 2), ==, "na\"me,");
    g_assert_cmpstr(cell(rows, 1, 0), ==, "k,\"1\"");
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_assert_cmpstr(cell(rows, 1 + i, 2), ==, i == 6 ? "a\uFFFD" : texts[i]);
    g_assert_cmpstr(cell(rows, 1 + G_N_ELEMENTS(texts), 2), ==, "a\uFFFDb");
    g_autoptr(GPtrArray) names = read_rows(b, "out/hostile.names.csv");
    g_assert_cmpuint(strlen(cell(names, 1, 2)), ==, 100000);
    bench_destroy(b);
}

/* A report that breaks its promise of UTF-8 does not make the file invalid. */
static void test_mends_utf8(void) {
    bench *b = csv_bench("path=out");
    mill_report broken = {.size = sizeof broken, .id = "broken", .title = "caf\xe9"};
    add(b, &broken, "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_autoptr(GPtrArray) rows = read_rows(b, "out/reports.csv");
    g_assert_cmpstr(cell(rows, 1, 4), ==, "caf\uFFFD");
    bench_destroy(b);
}

/* ---------------------------------------------------------------- files */

static mill_report *one_column(bench *b, const char *column) {
    kit_report *r = kit_report_begin(bench_services(b), "r", "R", NULL);
    kit_table *t = kit_table_begin(r, "t", "T", NULL);
    kit_table_column(t, MILL_KIND_COUNT, column, column, NULL, NULL);
    kit_table_row(t);
    kit_cell_int(t, 1);
    return kit_report_end(r);
}

/* The tables of many items are one, unless their columns differ. */
static void test_many(void) {
    bench *b = csv_bench("path=all.csv");
    for (int i = 0; i < 300; i++) {
        g_autofree char *key = g_strdup_printf("rank%d", i);
        add(b, one_column(b, i % 2 ? "odd" : "even"), key);
    }
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_autoptr(GPtrArray) even = read_rows(b, "all.r.t.csv");
    g_autoptr(GPtrArray) odd = read_rows(b, "all.r.t-2.csv");
    g_autoptr(GPtrArray) reports = read_rows(b, "all.reports.csv");
    g_assert_cmpuint(even->len, ==, 151);
    g_assert_cmpuint(odd->len, ==, 151);
    g_assert_cmpuint(reports->len, ==, 301);
    g_assert_cmpstr(cell(odd, 0, 2), ==, "odd");
    g_assert_cmpstr(cell(odd, 150, 0), ==, "rank299");
    bench_destroy(b);
}

static void test_item_paths(void) {
    bench *b = itemised_run(MODULE, (const char *[]){"rank0", "rank1", "rank0", NULL});
    g_autoptr(GPtrArray) two = read_rows(b, "rank0.out/reports.csv");
    g_autoptr(GPtrArray) one = read_rows(b, "rank1.out/reports.csv");
    g_assert_cmpuint(two->len, ==, 3);
    g_assert_cmpuint(one->len, ==, 2);
    check_text(b, "rank1.out/empty.none.csv", "item,source,n\r\n");
    bench_destroy(b);
    bench_destroy(itemised_run(MODULE, (const char *[]){NULL}));
}

/* One table alone goes to standard output, or to the path as it is. */
static void test_table(void) {
    bench *b = csv_bench("path=-");
    bench_option(b, "table=overlap.kinds");
    add(b, sample_overlap(bench_services(b)), "rank0");
    add(b, sample_devices(bench_services(b)), "rank1");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_autoptr(GPtrArray) rows = read_rows(b, "-");
    g_assert_cmpuint(rows->len, ==, 5);
    bench_destroy(b);

    b = csv_bench("path=x.csv");
    bench_option(b, "table=r.t");
    add(b, one_column(b, "a"), "");
    add(b, one_column(b, "b"), "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_DATA);
    g_assert_nonnull(strstr(bench_causes(b), "x.csv has a table r.t with other columns"));
    bench_destroy(b);

    b = csv_bench("path=-");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CONFIG);
    g_assert_nonnull(strstr(bench_causes(b), "say with `table`"));
    bench_destroy(b);
}

static void test_nothing(void) {
    bench *b = csv_bench("path=out");
    bench_missing(b, "report", "overlap", "rank3");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    check_text(b, "out/reports.csv", "item,source,report,type,title,subject,summary\r\n");
    g_assert_cmpstr(bench_log(b), ==,
                    "warning: no report from overlap for rank3: what makes it failed\n");
    bench_destroy(b);

    b = csv_bench("path=out");
    bench_missing(b, "report", "ranks", "");
    bench_missing(b, "report", "overlap", "rank3");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpstr(bench_log(b), ==,
                    "warning: no report from ranks, and 1 more: what makes them failed\n");
    bench_destroy(b);

    b = csv_bench("table=notes");
    add(b, one_column(b, "a"), "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    check_text(b, "tables", "item,source,report,note,level,text\r\n");
    bench_destroy(b);

    b = csv_bench("table=r.typo");
    add(b, one_column(b, "a"), "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_nonnull(strstr(bench_log(b), "no report has a table r.typo"));
    g_assert_null(bench_written(b, "tables"));
    bench_destroy(b);
}

/* overwrite = no refuses a file that is there, and only that. */
static void test_overwrite(void) {
    g_autofree char *folder = g_dir_make_tmp("tracemill-csv-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "notes.csv", NULL);
    g_autofree char *setting = g_strconcat("path=", folder, NULL);
    for (int there = 0; there < 2; there++) {
        bench *b = csv_bench(setting);
        bench_option(b, "overwrite=no");
        add(b, sample_overlap(bench_services(b)), "a");
        add(b, sample_overlap(bench_services(b)), "b");
        g_assert_cmpint(bench_run(b), ==, there ? MILL_E_IO : MILL_OK);
        g_assert_true(!there || strstr(bench_causes(b), "notes.csv is there already: remove it"));
        bench_destroy(b);
        g_assert_true(g_file_set_contents(path, "old", -1, NULL));
    }
    bench *b = csv_bench(setting);
    add(b, sample_overlap(bench_services(b)), "a");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    bench_destroy(b);
    b = csv_bench("path=/dev/null");
    bench_option(b, "table=figures");
    bench_option(b, "overwrite=no");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    bench_destroy(b);
    g_assert_cmpint(g_remove(path) | g_rmdir(folder), ==, 0);
}

/* Longer than a piece of text; and the sink's failure, or the user's, is the stage's. */
static void test_full_disk(void) {
    bench *b = csv_bench("path=out");
    add(b, sample_hostile(bench_services(b)), "");
    bench_disk_size(b, 70000);
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    g_assert_null(bench_written(b, "out/hostile.names.csv"));
    bench_destroy(b);

    b = csv_bench("path=out");
    bench_cancel_at(b, 1);
    add(b, sample_hostile(bench_services(b)), "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exporters/csv/parts", test_parts);
    g_test_add_func("/exporters/csv/unknown", test_unknown);
    g_test_add_func("/exporters/csv/hostile", test_hostile);
    g_test_add_func("/exporters/csv/mends-utf8", test_mends_utf8);
    g_test_add_func("/exporters/csv/many", test_many);
    g_test_add_func("/exporters/csv/item-paths", test_item_paths);
    g_test_add_func("/exporters/csv/table", test_table);
    g_test_add_func("/exporters/csv/nothing", test_nothing);
    g_test_add_func("/exporters/csv/overwrite", test_overwrite);
    g_test_add_func("/exporters/csv/full-disk", test_full_disk);
    return g_test_run();
}
