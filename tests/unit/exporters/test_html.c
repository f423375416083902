/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of html.write: what a page holds, and that it is one that a browser reads as meant. The
 * timeline's own are beside these. */
#include "bench_host.h"
#include "html_parse.h"
#include "itemised.h"
#include "overwrite.h"
#include "samples.h"

#include <math.h>
#include <string.h>
#include <tracemill/kit/report.h>

#define MODULE "plugins/exporters/html/html.so"
#define ATTACK "</script><img src=x onerror=alert(1)>"

static bench *html_bench(const char *setting) {
    bench *b = bench_create(bench_open(MODULE), "html.write");
    bench_option(b, "path=x.html");
    if (setting)
        bench_option(b, setting);
    return b;
}

static void add(bench *b, mill_report *report, const char *stage, const char *key) {
    bench_input(b, "report", MILL_TYPE_REPORT, report, stage, key);
}

/* Runs, and ends the bench. Returns the page's bytes; *ret_text, if wanted, what is seen of it. */
static GString *page_of(bench *b, GString **ret_text) {
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const GString *written = bench_written(b, "x.html");
    g_autoptr(GString) text = html_parse(written);
    GString *page = g_string_new_len(written->str, (gssize)written->len);
    if (ret_text)
        *ret_text = g_steal_pointer(&text);
    bench_destroy(b);
    return page;
}

static GString *text_of(bench *b) {
    GString *text;
    g_string_free(page_of(b, &text), TRUE);
    return text;
}

static void has(const GString *page, const char *part) {
    if (!strstr(page->str, part))
        g_error("the page lacks: %s\nit is: %.3000s", part, page->str);
}

static void lacks(const GString *page, const char *part) {
    if (strstr(page->str, part))
        g_error("the page should not have: %s\nit is: %s", part, strstr(page->str, part));
}

/* ---------------------------------------------------------------- whole pages */

/* Whatever a report holds, the page can be read, and fetches nothing. */
static void test_samples(void) {
    static mill_report *(*const samples[])(mill_run * run) = {
        sample_overlap, sample_devices, sample_unknown, sample_hostile,
        sample_wide,    sample_fine,    sample_empty};
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++) {
        bench *b = html_bench(NULL);
        add(b, samples[i](bench_services(b)), "stage", "");
        g_autoptr(GString) page = page_of(b, NULL);
        lacks(page, "http://");
        lacks(page, "https://");
        lacks(page, "@import");
        lacks(page, "url(");
    }
}

static void test_contents(void) {
    bench *b = html_bench(NULL);
    GString *text;
    add(b, sample_overlap(bench_services(b)), "overlap", "rank0");
    g_autoptr(GString) page = page_of(b, &text);
    has(page, "<h1>rank0</h1>");
    has(page, "<p class=\"verdict\">96.3\u00a0% of communication is hidden");
    has(text, "4 190.125 µs\n");      /* a figure */
    has(text, "31 004.125\n");        /* a cell */
    has(text, "sum of durations µs"); /* the unit in the column's head */
    has(text, "3 activities had a negative duration");
    has(text, "attn(B) waits 1\u00a0761\u00a0µs for the combine kernel");
    has(text, "costs 1 761 µs\nconfidence 80 %\n");
    has(page,
        "title=\"Coinciding time counts twice.\""); /* as a tooltip, and last as a definition */
    has(text, "sum of durations, in “Communication by kind”\nCoinciding time counts twice.\n");
    has(page, "style=\"--v:95.64%\">"); /* a bar */
    has(page, "hidden share");          /* the curve */
    g_string_free(text, TRUE);
}

static void test_unknown(void) {
    bench *b = html_bench(NULL);
    GString *text;
    add(b, sample_unknown(bench_services(b)), "unknown", "");
    text = text_of(b);
    has(text, "9 223 372 036 854 775 807");
    has(text, "unknown");
    lacks(text, "\nnan");
    lacks(text, "-9 223 372 036 854 775 808");
    g_string_free(text, TRUE);
}

/* ---------------------------------------------------------------- hostile text */

static void attack_pictures(kit_report *r) {
    static const int64_t start[] = {0}, end[] = {4000};
    static const uint32_t first[] = {0};
    static const char *const texts[] = {ATTACK};
    static const double x[] = {0, 1}, y[] = {0.5, 0.25};
    kit_lane(r, &(mill_lane){.size = sizeof(mill_lane),
                             .id = ATTACK,
                             .label = ATTACK,
                             .rank = 0,
                             .device = 0,
                             .stream = 0,
                             .base_ns = 5,
                             .n = 1,
                             .start = start,
                             .end = end,
                             .text = first,
                             .cls = first,
                             .texts = texts,
                             .n_texts = 1});
    for (uint32_t kind = MILL_SERIES_CURVE; kind <= MILL_SERIES_HEAT; kind++)
        for (int i = 0; i < 2; i++)
            kit_series(r, &(mill_series){.size = sizeof(mill_series),
                                         .kind = kind,
                                         .id = ATTACK,
                                         .label = ATTACK,
                                         .x_label = ATTACK,
                                         .x_unit = ATTACK,
                                         .y_label = ATTACK,
                                         .y_unit = ATTACK,
                                         .n = 2,
                                         .x = x,
                                         .y = y});
}

/* Every text of a report is the attack. id: also of the special views. */
static mill_report *attack(mill_run *run, const char *id) {
    kit_report *r = kit_report_begin(run, id, ATTACK, ATTACK);
    kit_report_summary(r, "%s", ATTACK);
    kit_note(r, MILL_WARNING, ATTACK, "%s", ATTACK);
    kit_figure_text(r, "best", ATTACK, ATTACK, ATTACK, ATTACK);
    kit_figure_real(r, ATTACK, ATTACK, NULL, ATTACK, ATTACK, 1);
    kit_table *t = kit_table_begin(r, "overlap_matrix", ATTACK, ATTACK);
    kit_table_column(t, MILL_KIND_ID, "device", ATTACK, NULL, ATTACK);
    kit_table_column(t, MILL_KIND_TEXT, "comp_stage", ATTACK, NULL, ATTACK);
    kit_table_column(t, MILL_KIND_TEXT, "comm_stage", ATTACK, NULL, ATTACK);
    kit_table_column(t, MILL_KIND_NS, "time", ATTACK, NULL, ATTACK);
    kit_table_column(t, MILL_KIND_REAL, "r", ATTACK, ATTACK, ATTACK);
    kit_table_row(t);
    kit_cell_int(t, 0);
    kit_cell_text(t, ATTACK);
    kit_cell_text(t, ATTACK);
    kit_cell_int(t, 1000);
    kit_cell_real(t, 1);
    kit_finding(r, &(mill_finding){.size = sizeof(mill_finding),
                                   .level = MILL_WARNING,
                                   .id = ATTACK,
                                   .rule = ATTACK,
                                   .where = ATTACK,
                                   .evidence = ATTACK,
                                   .advice = ATTACK,
                                   .cost_ns = 1,
                                   .gain_ns = 1,
                                   .confidence = 1,
                                   .at_ns = 1});
    attack_pictures(r);
    return kit_report_end(r);
}

/* Text of a profile is text, wherever it stands; html_parse ends the test at any element or
 * attribute that is not a page's. */
static void test_attack(void) {
    static const char *const ids[] = {"overlap", "bubble", ATTACK};
    for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
        bench *b = html_bench("title=" ATTACK);
        GString *text;
        add(b, attack(bench_services(b), ids[i]), ATTACK, ATTACK);
        bench_missing(b, "report", ATTACK, ATTACK);
        g_autoptr(GString) page = page_of(b, &text);
        lacks(page, "<img");
        lacks(page, "onerror=alert(1)>");
        g_assert_cmpuint(html_count(text->str, ATTACK), >, 30);
        g_string_free(text, TRUE);
    }
}

/* A key that is no text, and a name of 100 000 letters. */
static void test_odd_text(void) {
    bench *b = html_bench(NULL);
    GString *text;
    add(b, sample_hostile(bench_services(b)), "odd", "rank\xff\x01");
    g_autoptr(GString) page = page_of(b, &text);
    has(page, "<h1>rank\uFFFD\\x01</h1>");
    has(text, "void firstkkk");
    has(text, "last(7);");
    g_assert_cmpuint(page->len, <, 60000);
    g_string_free(text, TRUE);
}

/* What a plugin sends that keeps to no rule can still be read, in the data of timelines too. */
static void test_mangled(void) {
    bench *b = html_bench(NULL);
    bench_input(b, "report", MILL_TYPE_REPORT, sample_mangled(), "odd", "");
    g_autoptr(GString) page = page_of(b, NULL);
    g_assert_true(g_utf8_validate_len(page->str, page->len, NULL));
    lacks(page, "\u202e");
    has(page, "\"\\\\u202eback\\\\x1b[31m\""); /* JSON of what is shown */
}

/* The policy lets the page's own script run and no other. */
static void test_policy(void) {
    bench *b = html_bench(NULL);
    add(b, sample_overlap(bench_services(b)), "overlap", "");
    g_autoptr(GString) page = page_of(b, NULL);
    g_autofree char *script = html_script(page);
    g_assert_nonnull(script);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    guint8 digest[32];
    gsize length = sizeof digest;
    g_checksum_update(sum, (const guchar *)script, -1);
    g_checksum_get_digest(sum, digest, &length);
    g_autofree char *hash = g_base64_encode(digest, length);
    g_autofree char *want = g_strdup_printf("script-src &#39;sha256-%s&#39;;", hash);
    has(page, want);
    has(page, "content=\"default-src &#39;none&#39;;");
}

/* ---------------------------------------------------------------- items and files */

/* Reports of a key are one part, in the order they come; the contents list all. */
static void test_items(void) {
    bench *b = html_bench(NULL);
    add(b, sample_overlap(bench_services(b)), "overlap", "rank0");
    add(b, sample_fine(bench_services(b)), "fine", "rank0");
    add(b, sample_overlap(bench_services(b)), "overlap", "rank1");
    g_autoptr(GString) page = page_of(b, NULL);
    g_assert_cmpuint(html_count(page->str, "<article"), ==, 2);
    g_assert_cmpuint(html_count(page->str, "<!DOCTYPE"), ==, 1);
    g_assert_cmpuint(html_count(page->str, "<nav"), ==, 1);
    has(page, "href=\"#item-1\">rank0</a>");
    has(page, "href=\"#item-2\">rank1</a>");
    has(page, "href=\"#item-1-report-2-fine\">");
    g_assert_cmpuint(html_count(page->str, "Coinciding time counts twice.</dd>"), ==, 1);
}

static void test_item_paths(void) {
    bench *b = itemised_run(MODULE, (const char *[]){"rank0", "rank1", "rank0", NULL});
    g_string_free(html_parse(bench_written(b, "rank1.out")), TRUE);
    g_string_free(html_parse(bench_written(b, "rank0.out")), TRUE);
    g_assert_cmpuint(html_count(bench_written(b, "rank0.out")->str, "<article"), ==, 2);
    bench_destroy(b);
    bench_destroy(itemised_run(MODULE, (const char *[]){NULL}));
    itemised_check_lost(MODULE);
}

static void test_missing(void) {
    bench *b = html_bench(NULL);
    GString *text;
    bench_missing(b, "report", "overlap", "rank_0");
    bench_missing(b, "report", "bubble", "");
    text = text_of(b);
    has(text, "No reports.\n");
    has(text, "no report from overlap for rank_0: what makes it failed\n");
    has(text, "no report from bubble: what makes it failed\n");
    g_string_free(text, TRUE);
}

static void test_rows(void) {
    bench *b = html_bench("rows=2");
    GString *text;
    kit_report *r = kit_report_begin(bench_services(b), "r", "R", NULL);
    kit_table_begin(r, "t", "with the id of the next", NULL);
    kit_table *t = kit_table_begin(r, "t", "T", NULL);
    kit_table_column(t, MILL_KIND_COUNT, "n", "n", NULL, NULL);
    for (int i = 1000; i < 6000; i++) {
        kit_table_row(t);
        kit_cell_int(t, i);
    }
    for (int i = 0; i < 9; i++)
        kit_finding(r, &(mill_finding){.size = sizeof(mill_finding),
                                       .level = MILL_INFO,
                                       .id = "x",
                                       .rule = "x",
                                       .cost_ns = MILL_UNKNOWN,
                                       .gain_ns = 1000 * i,
                                       .at_ns = MILL_UNKNOWN,
                                       .confidence = -1});
    add(b, kit_report_end(r), "r", "");
    text = text_of(b);
    has(text, "\n1 001\n");
    lacks(text, "\n1 002\n");
    has(text, "… and 4998 more rows of 5000");
    has(text, "… and 7 more findings of 9");
    g_assert_true(strstr(text->str, "gain at most 8 µs") < strstr(text->str, "gain at most 7 µs"));
    g_string_free(text, TRUE);
}

static void test_overwrite(void) {
    overwrite_check(MODULE, "html.write");
}

static void test_full_disk(void) {
    bench *b = html_bench(NULL);
    bench_disk_size(b, 1000);
    add(b, sample_overlap(bench_services(b)), "overlap", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    g_assert_null(bench_written(b, "x.html"));
    bench_destroy(b);
}

static void test_cancel(void) {
    bench *b = html_bench(NULL);
    bench_cancel_at(b, 1);
    add(b, sample_overlap(bench_services(b)), "overlap", "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_CANCELLED);
    g_assert_null(bench_written(b, "x.html"));
    bench_destroy(b);
}

/* What is common to all devices is told once. */
static void test_facts(void) {
    static const char *const names[] = {"H800", "H800", "H20", "A100", "L4", "L40", NULL};
    bench *b = html_bench(NULL);
    kit_report *r = kit_report_begin(bench_services(b), "overlap", "O", NULL);
    kit_table *t = kit_table_begin(r, "devices", "Devices", NULL);
    kit_table_column(t, MILL_KIND_TEXT, "name", "name", NULL, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        kit_table_row(t);
        kit_cell_text(t, names[i]);
    }
    for (int i = 0; i < 2; i++) {
        kit_figure_int(r, MILL_KIND_COUNT, "sms", "SMs", i ? "device 1" : "device 0", NULL, 132);
        kit_figure_int(r, MILL_KIND_COUNT, "streams", "streams", i ? "device 1" : "device 0", NULL,
                       i);
    }
    kit_figure_text(r, "window_rule", "w", NULL, NULL, "steps 2-5");
    kit_figure_int(r, MILL_KIND_COUNT, "diagnostics", "d", NULL, NULL, 1);
    add(b, kit_report_end(r), "overlap", "x");
    add(b, sample_methods(bench_services(b)), "chunks", "x");
    g_autoptr(GString) page = page_of(b, NULL);
    has(page, "<p class=\"facts soft\">2 × H800 · H20 · A100 · 3 other devices · 132 SMs · "
              "window: steps 2-5 · 1 diagnostic of the reader · F, B, W by annotation, "
              "rule</p>");

    b = html_bench(NULL);
    add(b, sample_overlap(bench_services(b)), "overlap", "x");
    g_autoptr(GString) one = page_of(b, NULL);
    has(one, "<p class=\"facts soft\">rank 0 · 98 300 activities</p>");
}

/* ---------------------------------------------------------------- pictures */

/* The parts of a window: they add up to `window`, or the picture is left out. */
static mill_report *parts(bench *b, int64_t window) {
    kit_report *r = kit_report_begin(bench_services(b), "overlap", "O", NULL);
    kit_figure_int(r, MILL_KIND_NS, "T", "window", NULL, NULL, window);
    kit_figure_int(r, MILL_KIND_NS, "comp", "computation", NULL, NULL, 800000);
    kit_figure_int(r, MILL_KIND_NS, "excl_mem_only", "only memory", NULL, NULL, 20000);
    kit_figure_int(r, MILL_KIND_NS, "idle", "idle", NULL, NULL, 80000);
    kit_table *t = kit_table_begin(r, "exposed_comm_by_reason", "Why", NULL);
    kit_table_column(t, MILL_KIND_ID, "device", "device", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "reason", "reason", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "meaning", "meaning", NULL, NULL);
    kit_table_column(t, MILL_KIND_NS, "time", "exposed", NULL, NULL);
    for (int i = 0; i < 2; i++) {
        kit_table_row(t);
        kit_cell_int(t, 0);
        kit_cell_text(t, i ? "kernel_gap" : "wait_comm");
        kit_cell_text(t, i ? "short gap" : "computation waits");
        kit_cell_int(t, i ? 25000 : 75000);
    }
    return kit_report_end(r);
}

static void test_waterfall(void) {
    bench *b = html_bench(NULL);
    GString *text;
    add(b, parts(b, 1000000), "overlap", "");
    g_autoptr(GString) page = page_of(b, &text);
    has(text, "computation\n\n800\n80.00\n");
    has(text, "all else, drawn larger below\n\n200\n20.00\n");
    has(text, "computation waits\n\n75\n7.50\n");
    /* Bars of what is drawn larger are shares of the 200 µs, each from the end of that before. */
    has(page, "margin-left:0.00%;width:37.50%");
    has(page, "margin-left:37.50%;width:12.50%");
    has(page, "margin-left:50.00%;width:10.00%");
    has(page, "margin-left:60.00%;width:40.00%");
    g_string_free(text, TRUE);

    b = html_bench(NULL);
    add(b, parts(b, 1000001), "overlap", "");
    g_autoptr(GString) wrong = page_of(b, NULL);
    lacks(wrong, "Where the window goes");
}

static mill_report *curves(bench *b, const mill_series *series, size_t n) {
    kit_report *r = kit_report_begin(bench_services(b), "c", "C", NULL);
    for (size_t i = 0; i < n; i++)
        kit_series(r, &series[i]);
    return kit_report_end(r);
}

/* Curves with the same axes share a chart; a hole in the values is one in the line. */
static void test_chart(void) {
    static const double x[] = {0, 1, 2, 3, 4}, y[] = {0, 10, NAN, 10, 0}, z[] = {5, 5, 5, 5, 5};
    const mill_series series[] = {
        {.id = "a", .label = "first", .x_label = "m", .y_label = "share", .n = 5, .x = x, .y = y},
        {.id = "b", .label = "second", .x_label = "m", .y_label = "share", .n = 5, .x = x, .y = z},
        {.id = "c",
         .label = "third",
         .x_label = "m",
         .y_label = "B",
         .y_unit = "MB",
         .n = 5,
         .x = x,
         .y = z},
    };
    bench *b = html_bench(NULL);
    GString *text;
    add(b, curves(b, series, G_N_ELEMENTS(series)), "c", "");
    g_autoptr(GString) page = page_of(b, &text);
    g_assert_cmpuint(html_count(page->str, "<figure class=\"chart\">"), ==, 2);
    has(text, "share by m\n");
    has(text, "B [MB]\n");
    /* x 76…700, y 248 (0) … 12 (10) */
    has(page, "d=\"M76 248h0L232 12M544 12h0L700 248\"");
    g_string_free(text, TRUE);
}

/* A million points take the room of the picture, and the one that stands out is drawn. */
static void test_many_points(void) {
    const size_t n = 1000000;
    g_autofree double *x = g_new(double, n), *y = g_new(double, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        y[i] = i % 2 ? 1 : 1.5;
    }
    y[777777] = 10;
    bench *b = html_bench(NULL);
    add(b,
        curves(b, &(mill_series){.id = "a", .x_label = "x", .y_label = "y", .n = n, .x = x, .y = y},
               1),
        "c", "");
    g_autoptr(GString) page = page_of(b, NULL);
    g_assert_cmpuint(page->len, <, 100000);
    /* 76 + 777777 / 10^6 * 624 is in column 561 */
    g_assert_true(g_regex_match_simple("L561 [0-9.]+L561 12L", page->str, 0, 0));
}

/* Numbers that can't be drawn are said to be such, not drawn wrong. */
static void test_undrawable(void) {
    static const double x[] = {0, 1}, far[] = {-1.7e308, 1.7e308}, none[] = {NAN, INFINITY};
    const mill_series series[] = {
        {.id = "a", .x_label = "x", .y_label = "far", .n = 2, .x = x, .y = far},
        {.id = "b", .x_label = "x", .y_label = "none", .n = 2, .x = x, .y = none},
        {.id = "c", .x_label = "x", .y_label = "zero"},
        {.id = "d",
         .kind = MILL_SERIES_HEAT,
         .x_label = "x",
         .y_label = "h",
         .n = 2,
         .x = x,
         .y = none},
    };
    bench *b = html_bench(NULL);
    GString *text;
    add(b, curves(b, series, G_N_ELEMENTS(series)), "c", "");
    text = text_of(b);
    g_assert_cmpuint(html_count(text->str, "No values that can be drawn."), ==, 3);
    has(text, "h: no values that can be drawn.");
    g_string_free(text, TRUE);
}

/* Parts of a whole are stacked; of any other report, the same curves are lines. */
static void test_stacked(void) {
    static const double x[] = {0, 1, 2}, y[] = {20, 10, 0}, z[] = {80, 90, 60};
    for (int overlap = 0; overlap < 2; overlap++) {
        bench *b = html_bench(NULL);
        kit_report *r = kit_report_begin(bench_services(b), overlap ? "overlap" : "o", "O", NULL);
        mill_series s = {.id = "sms_comm_0",
                         .label = "comm",
                         .x_label = "t",
                         .y_label = "SMs",
                         .n = 3,
                         .x = x,
                         .y = y};
        kit_series(r, &s);
        s.id = "sms_other_0", s.label = "other", s.y = z;
        kit_series(r, &s);
        add(b, kit_report_end(r), "o", "");
        g_autoptr(GString) page = page_of(b, NULL);
        /* y 248 (0) … 12 (100): the upper edge is at 100, 100, 60 */
        const char *upper =
            "<path class=\"area c1\" d=\"M76 248L76 12L388 12L700 106.4L700 248z\"/>";
        const char *lower =
            "<path class=\"area c0\" d=\"M76 248L76 200.8L388 224.4L700 248L700 248z\"/>";
        g_assert_true((strstr(page->str, upper) != NULL) == (overlap == 1));
        g_assert_true((strstr(page->str, lower) != NULL) == (overlap == 1));
        if (overlap)
            g_assert_true(strstr(page->str, upper) < strstr(page->str, lower));
    }
}

/* Maps before and after stand side by side with one scale, whatever the values of each. */
static void test_heat(void) {
    static const double x[] = {0, 1, 2}, low[] = {1, 1, NAN}, high[] = {1, 9, 5};
    mill_series row = {.kind = MILL_SERIES_HEAT, .x_label = "GPU", .n = 3, .x = x};
    mill_series series[] = {row, row, row};
    series[0].y_label = "before", series[0].y = high, series[0].id = "b0",
    series[0].label = "layer 0";
    series[1].y_label = "after", series[1].y = low, series[1].id = "a0",
    series[1].label = "layer 0";
    series[2].y_label = "after", series[2].y = low, series[2].id = "a1",
    series[2].label = "layer 1";
    bench *b = html_bench(NULL);
    GString *text;
    add(b, curves(b, series, 3), "c", "");
    g_autoptr(GString) page = page_of(b, &text);
    g_assert_cmpuint(html_count(page->str, "<figure class=\"heat\">"), ==, 2);
    g_assert_cmpuint(html_count(page->str, "class=\"side-by-side\""), ==, 1);
    g_assert_cmpuint(html_count(page->str, "<title>layer 0, GPU 1: 9</title>"), ==, 1);
    has(page, "<path class=\"h8\" d=\"M136 8h46v26h-46z\"><title>layer 0, GPU 1: 9</title>");
    has(page, "<path class=\"h0\" d=\"M90 34h46v26h-46z\"><title>layer 1, GPU 0: 1</title>");
    has(page, "<path class=\"hx\" d=\"M182 34h46v26h-46z\"><title>layer 1, GPU 2: unknown</title>");
    g_string_free(text, TRUE);
}

/* 200 layers of 1 000 experts: cells are joined, and none of the hot ones is lost. */
static void test_large_heat(void) {
    const size_t n = 1000;
    g_autofree double *x = g_new(double, n), *y = g_new0(double, n);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)i;
    y[501] = 7;
    g_autofree mill_series *rows = g_new(mill_series, 200);
    for (size_t i = 0; i < 200; i++)
        rows[i] = (mill_series){.kind = MILL_SERIES_HEAT,
                                .id = "h",
                                .label = "l",
                                .x_label = "x",
                                .y_label = "y",
                                .n = n,
                                .x = x,
                                .y = y};
    bench *b = html_bench(NULL);
    GString *text;
    add(b, curves(b, rows, 200), "c", "");
    g_autoptr(GString) page = page_of(b, &text);
    has(text, "(a cell is the hottest of 5 × 2)");
    g_assert_cmpuint(html_count(strstr(page->str, "<path class=\"h8\" d=\"M290 8"), "M290 "), ==,
                     100);
    g_assert_cmpuint(page->len, <, 100000);
    g_string_free(text, TRUE);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exporters/html/samples", test_samples);
    g_test_add_func("/exporters/html/contents", test_contents);
    g_test_add_func("/exporters/html/unknown", test_unknown);
    g_test_add_func("/exporters/html/attack", test_attack);
    g_test_add_func("/exporters/html/odd-text", test_odd_text);
    g_test_add_func("/exporters/html/mangled", test_mangled);
    g_test_add_func("/exporters/html/policy", test_policy);
    g_test_add_func("/exporters/html/items", test_items);
    g_test_add_func("/exporters/html/item-paths", test_item_paths);
    g_test_add_func("/exporters/html/missing", test_missing);
    g_test_add_func("/exporters/html/rows", test_rows);
    g_test_add_func("/exporters/html/overwrite", test_overwrite);
    g_test_add_func("/exporters/html/full-disk", test_full_disk);
    g_test_add_func("/exporters/html/cancel", test_cancel);
    g_test_add_func("/exporters/html/facts", test_facts);
    g_test_add_func("/exporters/html/waterfall", test_waterfall);
    g_test_add_func("/exporters/html/chart", test_chart);
    g_test_add_func("/exporters/html/many-points", test_many_points);
    g_test_add_func("/exporters/html/undrawable", test_undrawable);
    g_test_add_func("/exporters/html/stacked", test_stacked);
    g_test_add_func("/exporters/html/heat", test_heat);
    g_test_add_func("/exporters/html/large-heat", test_large_heat);
    return g_test_run();
}
