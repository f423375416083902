/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of text.write. Golden pages are made anew by
 * `TRACEMILL_GOLDEN=update meson test -C BUILD --suite exporters`; look at each change. */
#include "bench_host.h"
#include "golden.h"
#include "itemised.h"
#include "overwrite.h"
#include "samples.h"

#include <string.h>
#include <tracemill/kit/number.h>
#include <tracemill/kit/report.h>

#define MODULE "plugins/exporters/text/text.so"

typedef mill_report *(*sample)(mill_run *run);

/* A stage with one report to write. Settings: NULL-terminated. */
static bench *text_bench(sample make, const char *key, const char *const *settings) {
    bench *b = bench_create(bench_open(MODULE), "text.write");
    for (; settings && *settings; settings++)
        bench_option(b, *settings);
    if (make)
        bench_input(b, "report", MILL_TYPE_REPORT, make(bench_services(b)), "overlap", key);
    return b;
}

static void check_page(const char *name, sample make, const char *const *settings) {
    bench *b = text_bench(make, "rank0", settings);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    golden_check(name, bench_written(b, "-"));
    bench_destroy(b);
}

static void test_pages(void) {
    check_page("text-overlap", sample_overlap, NULL);
    check_page("text-devices", sample_devices, NULL);
    check_page("text-unknown", sample_unknown, NULL);
    check_page("text-hostile", sample_hostile, NULL);
    check_page("text-empty", sample_empty, NULL);
    check_page("text-definitions", sample_overlap, (const char *[]){"definitions=yes", NULL});
}

static void test_widths(void) {
    check_page("text-wide-40", sample_wide, (const char *[]){"width=40", NULL});
    check_page("text-wide-80", sample_wide, (const char *[]){"width=80", NULL});
    check_page("text-wide-120", sample_wide, (const char *[]){"width=120", NULL});
    check_page("text-fine-80", sample_fine, NULL);
    check_page("text-fine-140", sample_fine, (const char *[]){"width=140", NULL});
    check_page("text-overlap-40", sample_overlap, (const char *[]){"width=40", NULL});
}

/* No line is wider than the page, and nothing on it can steer a terminal. */
static void test_page_holds(void) {
    static const sample samples[] = {sample_overlap, sample_devices, sample_unknown, sample_hostile,
                                     sample_wide,    sample_empty,   sample_fine};
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++) {
        /* The extremes of int64 alone are wider than the narrowest pages. */
        for (int width = samples[i] == sample_unknown ? 61 : 40; width <= 200; width += 7) {
            g_autofree char *setting = g_strdup_printf("width=%d", width);
            bench *b =
                text_bench(samples[i], "", (const char *[]){setting, "definitions=yes", NULL});
            g_assert_cmpint(bench_run(b), ==, MILL_OK);
            const GString *page = bench_written(b, "-");
            g_assert_true(g_utf8_validate_len(page->str, page->len, NULL));
            g_auto(GStrv) lines = g_strsplit(page->str, "\n", -1);
            for (char **line = lines; *line; line++) {
                g_assert_cmpint(g_utf8_strlen(*line, -1), <=, width);
                g_assert_false(g_str_has_suffix(*line, " "));
                for (const char *p = *line; *p; p = g_utf8_next_char(p))
                    g_assert_true(g_unichar_isprint(g_utf8_get_char(p)) ||
                                  g_unichar_ismark(g_utf8_get_char(p)));
            }
            bench_destroy(b);
        }
    }
}

/* The width that a page tells for exact times is the least one that shows them. */
static void test_exact_width(void) {
    bench *b = text_bench(sample_fine, "", NULL);
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const char *told = strstr(bench_written(b, "-")->str, "width = ");
    g_assert_nonnull(told);
    g_assert_nonnull(strstr(bench_written(b, "-")->str, "Streams, in whole µs"));
    int width = (int)g_ascii_strtoll(told + strlen("width = "), NULL, 10);
    bench_destroy(b);
    for (int narrower = 1; narrower >= 0; narrower--) {
        g_autofree char *setting = g_strdup_printf("width=%d", width - narrower);
        b = text_bench(sample_fine, "", (const char *[]){setting, NULL});
        g_assert_cmpint(bench_run(b), ==, MILL_OK);
        g_assert_true(narrower == !!strstr(bench_written(b, "-")->str, "Streams, in whole µs"));
        bench_destroy(b);
    }
}

/* A name in the last column, and a sentence, both too long for it. */
static mill_report *sample_sentence(mill_run *run) {
    kit_report *r = kit_report_begin(run, "sentence", "Sentence", NULL);
    kit_table *t = kit_table_begin(r, "reasons", "Reasons", NULL);
    kit_table_column(t, MILL_KIND_COUNT, "n", "n", NULL, NULL);
    kit_table_column(t, MILL_KIND_TEXT, "reason", "reason", NULL, NULL);
    kit_table_row(t);
    kit_cell_int(t, 40);
    kit_cell_text(t, "m is a multiple of PP, with at least 2 chunks a rank");
    kit_table_row(t);
    kit_cell_int(t, 1);
    kit_cell_text(t, "nccl_kernel_with_one_name_that_is_wider_than_the_page(int)");
    return kit_report_end(r);
}

/* Sentences in the last column go on below; names are shortened. */
static void test_sentence(void) {
    bench *b = text_bench(sample_sentence, "", (const char *[]){"width=40", NULL});
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const char *page = bench_written(b, "-")->str;
    g_assert_nonnull(
        strstr(page, "\n40  m is a multiple of PP, with at least\n    2 chunks a rank\n"));
    g_assert_nonnull(strstr(page, "\n 1  nccl_kernel_with_o"));
    g_assert_nonnull(strstr(page, "…"));
    bench_destroy(b);
}

/* However many blocks a table needs, each column is there once, and the first in each block. */
static void test_wide_is_whole(void) {
    bench *b = text_bench(sample_wide, "", (const char *[]){"width=40", NULL});
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    const char *page = bench_written(b, "-")->str;
    for (int i = 0; i < 9; i++) {
        char digits[KIT_NUMBER_MAX];
        g_autofree char *value = g_strconcat(
            "  ", kit_format_us(digits, (int64_t)1000 * (1 << (3 * i)) + 500, KIT_GROUP), NULL);
        const char *found = strstr(page, value);
        g_assert_nonnull(found);
        g_assert_null(strstr(found + 1, value));
    }
    const char *second_block = strstr(strstr(page, "computation") + 1, "computation");
    g_assert_nonnull(second_block);
    bench_destroy(b);
}

static void test_items(void) {
    bench *b = bench_create(bench_open(MODULE), "text.write");
    bench_input(b, "report", MILL_TYPE_REPORT, sample_empty(bench_services(b)), "overlap", "rank0");
    bench_input(b, "report", MILL_TYPE_REPORT, sample_empty(bench_services(b)), "overlap", "rank1");
    bench_missing(b, "report", "overlap", "rank2");
    bench_missing(b, "report", "bubble", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    golden_check("text-items", bench_written(b, "-"));
    bench_destroy(b);
}

static void test_no_items(void) {
    bench *b = text_bench(NULL, "", NULL);
    bench_missing(b, "report", "overlap", "rank\x1b[2J");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpstr(
        bench_written(b, "-")->str, ==,
        "no reports\nwarning: no report from overlap for rank\\x1b[2J: what makes it failed\n");
    bench_destroy(b);
}

/* Only a page that follows another in the same file is set apart from it. */
static void test_item_paths(void) {
    bench *b = itemised_run(MODULE, (const char *[]){"rank0", "rank1", "rank0", NULL});
    const char *two = bench_written(b, "rank0.out")->str, *one = bench_written(b, "rank1.out")->str;
    const char *second = strstr(two, "\n\n\nNothing to say\n");
    g_assert_true(g_str_has_prefix(one, "Nothing to say\n"));
    g_assert_nonnull(strstr(one, "rank1\n"));
    g_assert_null(strstr(one, "\n\n\n"));
    g_assert_nonnull(second);
    g_assert_null(strstr(second + 1, "\n\n\n"));
    bench_destroy(b);
    bench_destroy(itemised_run(MODULE, (const char *[]){NULL}));
    itemised_check_lost(MODULE);
}

static void test_full_disk(void) {
    bench *b = text_bench(sample_overlap, "", (const char *[]){"path=page.txt", NULL});
    bench_disk_size(b, 100);
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    g_assert_null(bench_written(b, "page.txt"));
    bench_destroy(b);
}

static void test_overwrite(void) {
    overwrite_check(MODULE, "text.write");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exporters/text/pages", test_pages);
    g_test_add_func("/exporters/text/widths", test_widths);
    g_test_add_func("/exporters/text/page-holds", test_page_holds);
    g_test_add_func("/exporters/text/wide-is-whole", test_wide_is_whole);
    g_test_add_func("/exporters/text/sentence", test_sentence);
    g_test_add_func("/exporters/text/exact-width", test_exact_width);
    g_test_add_func("/exporters/text/items", test_items);
    g_test_add_func("/exporters/text/no-items", test_no_items);
    g_test_add_func("/exporters/text/item-paths", test_item_paths);
    g_test_add_func("/exporters/text/full-disk", test_full_disk);
    g_test_add_func("/exporters/text/overwrite", test_overwrite);
    return g_test_run();
}
