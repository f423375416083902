/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the report builder. */
#include <bench_host.h>
#include <math.h>
#include <string.h>
#include <tracemill/kit/report.h>

static bench *b;

static kit_report *begin(void) {
    b = bench_create(NULL, NULL);
    return kit_report_begin(bench_services(b), "overlap", "Overlap", NULL);
}

static void end(void) {
    bench_destroy(b);
}

static void test_empty(void) {
    const mill_report *report = kit_report_end(begin());
    g_assert_cmpuint(report->size, ==, sizeof *report);
    g_assert_cmpstr(report->id, ==, "overlap");
    g_assert_cmpstr(report->title, ==, "Overlap");
    g_assert_null(report->subject);
    g_assert_null(report->summary);
    g_assert_cmpuint(report->n_figures + report->n_tables + report->n_notes + report->n_findings +
                         report->n_lanes + report->n_series,
                     ==, 0);
    end();
}

static void test_figures(void) {
    kit_report *r = begin();
    kit_figure_text(r, "writer", "writer", NULL, "who wrote it", "torch");
    kit_figure_int(r, MILL_KIND_NS, "busy", "busy", "device 0", NULL, 1500);
    kit_figure_ratio(r, "share", "share", NULL, NULL, 1, 4);
    kit_figure_ratio(r, "nothing", "nothing", NULL, NULL, 1, 0);
    kit_figure_ratio(r, "unknown", "unknown", NULL, NULL, MILL_UNKNOWN, 4);
    kit_figure_real(r, "rate", "rate", NULL, NULL, "GB/s", 2.5);
    const mill_report *report = kit_report_end(r);
    g_assert_cmpuint(report->n_figures, ==, 6);
    const mill_figure *const *f = report->figures;
    g_assert_cmpstr(f[0]->value.text, ==, "torch");
    g_assert_cmpstr(f[0]->help, ==, "who wrote it");
    g_assert_cmpint(f[1]->kind, ==, MILL_KIND_NS);
    g_assert_cmpint(f[1]->value.i, ==, 1500);
    g_assert_cmpstr(f[1]->scope, ==, "device 0");
    g_assert_null(f[1]->unit);
    g_assert_cmpfloat(f[2]->value.d, ==, 0.25);
    g_assert_true(isnan(f[3]->value.d));
    g_assert_true(isnan(f[4]->value.d));
    g_assert_cmpstr(f[5]->unit, ==, "GB/s");
    g_assert_cmpuint(f[5]->size, ==, sizeof(mill_figure));
    end();
}

/* Cells given row by row come out column by column; short rows end in unknown. */
static void test_table(void) {
    kit_report *r = begin();
    kit_table *none = kit_table_begin(r, "none", "No rows", "why");
    kit_table_column(none, MILL_KIND_COUNT, "n", "n", NULL, NULL);
    kit_table *t = kit_table_begin(r, "streams", "Streams", NULL);
    kit_table_column(t, MILL_KIND_TEXT, "name", "name", NULL, NULL);
    kit_table_column(t, MILL_KIND_ID, "stream", "stream", NULL, NULL);
    kit_table_column(t, MILL_KIND_RATIO, "share", "share", NULL, "of the whole");
    kit_table_column(t, MILL_KIND_REAL, "rate", "rate", "GB/s", NULL);
    for (int64_t i = 0; i < 1000; i++) {
        kit_table_row(t);
        if (i % 2)
            continue;
        kit_cell_text(t, "compute");
        kit_cell_int(t, i);
        kit_cell_ratio(t, i, 1000);
        kit_cell_real(t, 0.5);
    }
    kit_table_row(t);
    kit_cell_text(t, NULL);
    const mill_report *report = kit_report_end(r);
    g_assert_cmpuint(report->n_tables, ==, 2);
    g_assert_cmpuint(report->tables[0]->rows, ==, 0);
    g_assert_cmpuint(report->tables[0]->n_columns, ==, 1);
    g_assert_cmpstr(report->tables[0]->help, ==, "why");
    const mill_table *table = report->tables[1];
    g_assert_cmpuint(table->rows, ==, 1001);
    g_assert_cmpuint(table->n_columns, ==, 4);
    g_assert_cmpstr(table->columns[3]->unit, ==, "GB/s");
    for (size_t i = 0; i < 1001; i++) {
        bool known = i % 2 == 0 && i < 1000;
        g_assert_cmpstr(table->columns[0]->cells[i].text, ==, known ? "compute" : NULL);
        g_assert_cmpint(table->columns[1]->cells[i].i, ==, known ? (int64_t)i : MILL_UNKNOWN);
        if (known) {
            g_assert_cmpfloat(table->columns[2]->cells[i].d, ==, (double)i / 1000);
            g_assert_cmpfloat(table->columns[3]->cells[i].d, ==, 0.5);
        } else {
            g_assert_true(isnan(table->columns[2]->cells[i].d));
            g_assert_true(isnan(table->columns[3]->cells[i].d));
        }
    }
    end();
}

static void test_notes_and_findings(void) {
    kit_report *r = begin();
    kit_report_summary(r, "%d %% hidden", 10);
    kit_report_summary(r, "%d %% hidden", 96);
    kit_note(r, MILL_WARNING, "no_communication", "none of %d names", 7);
    mill_finding finding = {.id = "G2_1",
                            .rule = "G2",
                            .where = "stream \xff",
                            .cost_ns = 5,
                            .gain_ns = MILL_UNKNOWN,
                            .confidence = 0.5,
                            .at_ns = -3,
                            .at_base_ns = 7};
    kit_finding(r, &finding);
    const mill_report *report = kit_report_end(r);
    g_assert_cmpstr(report->summary, ==, "96 % hidden");
    g_assert_cmpuint(report->n_notes, ==, 1);
    g_assert_cmpint(report->notes[0]->level, ==, MILL_WARNING);
    g_assert_cmpstr(report->notes[0]->text, ==, "none of 7 names");
    g_assert_cmpuint(report->n_findings, ==, 1);
    const mill_finding *f = report->findings[0];
    g_assert_cmpuint(f->size, ==, sizeof *f);
    g_assert_cmpstr(f->where, ==, "stream \xef\xbf\xbd");
    g_assert_null(f->advice);
    g_assert_cmpint(f->at_ns, ==, -3);
    g_assert_cmpint(f->at_base_ns, ==, 7);
    g_assert_cmpint(f->gain_ns, ==, MILL_UNKNOWN);
    end();
}

/* What the caller hands over may be gone before the report is read. */
static void test_copies(void) {
    kit_report *r = begin();
    int64_t start[] = {1, 5}, finish[] = {4, 9}, finding[] = {-1, 0};
    uint32_t text[] = {0, 1}, cls[] = {1, 1};
    char name[] = "gemm";
    const char *texts[] = {name, "computation"};
    mill_lane lane = {.id = "s7",
                      .label = "stream 7",
                      .rank = 0,
                      .device = 1,
                      .stream = 7,
                      .base_ns = 100,
                      .n = 2,
                      .start = start,
                      .end = finish,
                      .text = text,
                      .cls = cls,
                      .finding = finding,
                      .texts = texts,
                      .n_texts = 2};
    kit_lane(r, &lane);
    lane.finding = NULL;
    lane.n = 0;
    kit_lane(r, &lane);
    double x[] = {1, 2}, y[] = {3, NAN};
    mill_series series = {.id = "c",
                          .label = "curve",
                          .x_label = "x",
                          .y_label = "y",
                          .y_unit = "GB",
                          .n = 2,
                          .x = x,
                          .y = y};
    kit_series(r, &series);
    start[1] = finding[1] = text[1] = name[0] = 77;
    texts[1] = NULL;
    x[1] = y[0] = 77;
    const mill_report *report = kit_report_end(r);
    g_assert_cmpuint(report->n_lanes, ==, 2);
    const mill_lane *l = report->lanes[0];
    g_assert_cmpint(l->start[1], ==, 5);
    g_assert_cmpint(l->end[1], ==, 9);
    g_assert_cmpint(l->finding[1], ==, 0);
    g_assert_cmpstr(l->texts[l->text[0]], ==, "gemm");
    g_assert_cmpstr(l->texts[l->text[1]], ==, "computation");
    g_assert_cmpstr(l->texts[l->cls[0]], ==, "computation");
    g_assert_cmpint(l->base_ns, ==, 100);
    g_assert_null(report->lanes[1]->finding);
    g_assert_cmpuint(report->n_series, ==, 1);
    const mill_series *s = report->series[0];
    g_assert_cmpfloat(s->x[1], ==, 2);
    g_assert_cmpfloat(s->y[0], ==, 3);
    g_assert_true(isnan(s->y[1]));
    g_assert_null(s->x_unit);
    g_assert_cmpstr(s->y_unit, ==, "GB");
    end();
}

static void test_long_text(void) {
    kit_report *r = begin();
    g_autofree char *name = g_strnfill(100000, 'k');
    memset(name + 50000, 0x80, 10); /* ten bytes that are no UTF-8 */
    kit_note(r, MILL_INFO, "long", "<%s>", name);
    const mill_report *report = kit_report_end(r);
    const char *text = report->notes[0]->text;
    g_assert_cmpuint(strlen(text), ==, 100000 + 2 + 2 * 10);
    g_assert_true(g_utf8_validate(text, -1, NULL));
    g_assert_true(g_str_has_suffix(text, "k>"));
    end();
}

static const char *mend(const char *text, size_t length) {
    mill_run *run = bench_services(b);
    return kit_text_utf8(run, mill_value_alloc(run, NULL, 1), text, length);
}

static void test_utf8(void) {
#define R "\xef\xbf\xbd"
    static const struct {
        const char *text;
        size_t length;
        const char *mended;
    } cases[] = {
        {"", 0, ""},
        {"µs → ü 🚀", 15, "µs → ü 🚀"},
        {"a\0b", 3, "a" R "b"},
        {"\x80", 1, R},
        {"\xc0\xaf", 2, R R},                        /* overlong '/' */
        {"\xc1\xbf", 2, R R},                        /* overlong */
        {"\xe0\x9f\xbf", 3, R R R},                  /* overlong */
        {"\xe0\xa0\x80", 3, "\xe0\xa0\x80"},         /* U+0800 */
        {"\xed\xa0\x80", 3, R R R},                  /* a surrogate */
        {"\xed\x9f\xbf", 3, "\xed\x9f\xbf"},         /* U+D7FF */
        {"\xf0\x8f\xbf\xbf", 4, R R R R},            /* overlong */
        {"\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf"}, /* U+10FFFF */
        {"\xf4\x90\x80\x80", 4, R R R R},            /* above it */
        {"\xf5\x80\x80\x80", 4, R R R R},
        {"\xe2\x82", 2, R R}, /* cut short */
        {"\xe2\x82x", 3, R R "x"},
        {"\xf0\x9f\x9a", 3, R R R},
        {"\xc3\xbcx", 1, R}, /* by its length */
        {"a\xff\xfe"
         "b",
         4, "a" R R "b"},
    };
    begin();
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpstr(mend(cases[i].text, cases[i].length), ==, cases[i].mended);
    end();
#undef R
}

/* Any bytes: the result is valid, and what was valid is not touched. */
static void test_random_bytes(void) {
    static const unsigned char likely[] =
        "a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc2\xdf\xe0\xed\xef\xf0\xf4";
    begin();
    for (int i = 0; i < 50000; i++) {
        char text[8];
        size_t length = (size_t)g_test_rand_int_range(0, 9);
        for (size_t k = 0; k < length; k++)
            text[k] = (char)likely[g_test_rand_int_range(0, sizeof likely)];
        const char *mended = mend(text, length);
        g_assert_true(g_utf8_validate(mended, -1, NULL));
        if (g_utf8_validate_len(text, length, NULL))
            g_assert_cmpmem(mended, strlen(mended), text, length);
        else
            g_assert_nonnull(strstr(mended, "\xef\xbf\xbd"));
    }
    end();
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/report/empty", test_empty);
    g_test_add_func("/kit/report/figures", test_figures);
    g_test_add_func("/kit/report/table", test_table);
    g_test_add_func("/kit/report/notes-and-findings", test_notes_and_findings);
    g_test_add_func("/kit/report/copies", test_copies);
    g_test_add_func("/kit/report/long-text", test_long_text);
    g_test_add_func("/kit/report/utf8", test_utf8);
    g_test_add_func("/kit/report/random-bytes", test_random_bytes);
    return g_test_run();
}
