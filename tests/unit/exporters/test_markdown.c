/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of markdown.write. Golden pages are made anew by
 * `TRACEMILL_GOLDEN=update meson test -C BUILD --suite exporters`; look at each change. */
#include "bench_host.h"
#include "golden.h"
#include "itemised.h"
#include "overwrite.h"
#include "samples.h"

#include <string.h>
#include <tracemill/kit/report.h>

#define MODULE "plugins/exporters/markdown/markdown.so"

static bench *markdown_bench(const char *setting) {
    bench *b = bench_create(bench_open(MODULE), "markdown.write");
    if (setting)
        bench_option(b, setting);
    return b;
}

static void add(bench *b, mill_report *report, const char *key) {
    bench_input(b, "report", MILL_TYPE_REPORT, report, "overlap", key);
}

static void test_pages(void) {
    static const struct {
        const char *name;
        mill_report *(*make)(mill_run *run);
    } pages[] = {{"markdown-overlap", sample_overlap},
                 {"markdown-devices", sample_devices},
                 {"markdown-unknown", sample_unknown},
                 {"markdown-hostile", sample_hostile},
                 {"markdown-empty", sample_empty}};
    for (size_t i = 0; i < G_N_ELEMENTS(pages); i++) {
        bench *b = markdown_bench(NULL);
        add(b, pages[i].make(bench_services(b)), "rank0");
        g_assert_cmpint(bench_run(b), ==, MILL_OK);
        golden_check(pages[i].name, bench_written(b, "-"));
        bench_destroy(b);
    }
}

/* Text in the places where a page has some, and as it stands there. */
static void check_text(const char *text, const char *in_cell, const char *in_prose) {
    bench *b = markdown_bench(NULL);
    kit_report *r = kit_report_begin(bench_services(b), "r", text, NULL);
    kit_figure_text(r, "f", "figure", NULL, NULL, text);
    add(b, kit_report_end(r), "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_autofree char *want = g_strdup_printf(
        "## %s\n\n| figure | value |\n| :--- | ---: |\n| figure | %s |\n", in_prose, in_cell);
    g_assert_cmpstr(bench_written(b, "-")->str, ==, want);
    bench_destroy(b);
}

/* Nothing of a profile's text is markup, HTML, a link, a mention or an emoji. */
static void test_escapes(void) {
    static const char *const same[][2] = {
        {"plain: text, (F) 12.5 %", "plain: text, (F) 12.5 %"},
        {"</script><img onerror=x>", "`</script><img onerror=x>`"},
        {"run ns::b::f<a, 2>(int4*) now", "run `ns::b::f<a, 2>(int4*)` now"},
        {"**bold** _it_", "`**bold** _it_`"},
        {"[x](http://a.b) www.c.d", "`[x](http://a.b) www.c.d`"},
        {"@you see #7 for $x$", "`@you` see `#7` for `$x$`"},
        {"a`b``c", "```a`b``c```"},
        {"`", "`` ` ``"},
        {"&amp; a\\b ~~c~~", "`&amp; a\\b ~~c~~`"},
        {"(www.a.b) see GH-7", "`(www.a.b)` see `GH-7`"},
        {"by 0123abc, not 1234567 or abcdefg", "by `0123abc,` not 1234567 or abcdefg"},
        {"two\nlines", "`two\\nlines`"},
        {"  many   blanks ", "many blanks"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(same); i++)
        check_text(same[i][0], same[i][1], same[i][1]);
    check_text("a|b |` c", "`` a\\|b \\|` `` c", "`` a|b |` `` c");
}

/* What begins a line is no list, and no rule. */
static void test_lines(void) {
    static const char *const lines[][2] = {
        {"1. one", "`1.` one"},   {"12) two", "`12)` two"}, {"- x", "`-` x"},
        {"+ y - z", "`+` y - z"}, {"---", "`---`"},         {"1.5 s, -1, +2", "1.5 s, -1, +2"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
        bench *b = markdown_bench(NULL);
        kit_report *r = kit_report_begin(bench_services(b), "r", "R", NULL);
        kit_note(r, MILL_INFO, "n", "%s", lines[i][0]);
        add(b, kit_report_end(r), "");
        g_assert_cmpint(bench_run(b), ==, MILL_OK);
        g_autofree char *want = g_strdup_printf("## R\n\n> [!NOTE]\n> - %s\n", lines[i][1]);
        g_assert_cmpstr(bench_written(b, "-")->str, ==, want);
        bench_destroy(b);
    }
}

/* A long table is cut, and says by how much; so are figures and findings. */
static void test_rows(void) {
    bench *b = markdown_bench("rows=2");
    kit_report *r = kit_report_begin(bench_services(b), "r", "R", NULL);
    for (int i = 0; i < 3; i++) {
        kit_figure_int(r, MILL_KIND_COUNT, "n", "n", NULL, NULL, i);
        kit_finding(r, &(mill_finding){.size = sizeof(mill_finding),
                                       .level = MILL_INFO,
                                       .id = "x",
                                       .rule = "x",
                                       .cost_ns = MILL_UNKNOWN,
                                       .gain_ns = MILL_UNKNOWN,
                                       .at_ns = MILL_UNKNOWN,
                                       .confidence = -1});
    }
    kit_table *t = kit_table_begin(r, "t", "T", NULL);
    kit_table_column(t, MILL_KIND_COUNT, "n", "n", NULL, NULL);
    for (int i = 0; i < 5000; i++) {
        kit_table_row(t);
        kit_cell_int(t, i);
    }
    add(b, kit_report_end(r), "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpstr(bench_written(b, "-")->str, ==,
                    "## R\n\n| figure | value |\n| :--- | ---: |\n| n | 0 |\n| n | 1 |\n"
                    "\n*… and 1 more figures of 3*\n"
                    "\n### T\n\n| n |\n| ---: |\n| 0 |\n| 1 |\n"
                    "\n*… and 4998 more rows of 5000*\n"
                    "\n### Findings\n\n1. **x** (info):\n1. **x** (info):\n"
                    "\n*… and 1 more findings of 3*\n");
    bench_destroy(b);
}

static void test_missing(void) {
    bench *b = markdown_bench(NULL);
    bench_missing(b, "report", "overlap", "rank_0");
    bench_missing(b, "report", "bubble", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_cmpstr(bench_written(b, "-")->str, ==,
                    "No reports.\n\n> [!WARNING]\n"
                    "> - no report from overlap for `rank_0`: what makes it failed\n"
                    "> - no report from bubble: what makes it failed\n");
    bench_destroy(b);

    b = markdown_bench("path=x.md");
    add(b, sample_empty(bench_services(b)), "");
    bench_missing(b, "report", "bubble", "");
    g_assert_cmpint(bench_run(b), ==, MILL_OK);
    g_assert_true(g_str_has_suffix(bench_written(b, "x.md")->str,
                                   "\n\n> [!WARNING]\n> - no report from bubble: what makes it "
                                   "failed\n"));
    bench_destroy(b);
}

static void test_item_paths(void) {
    bench *b = itemised_run(MODULE, (const char *[]){"rank0", "rank1", "rank0", NULL});
    g_autofree char *twice = g_strdup_printf("%s\n%s", bench_written(b, "rank1.out")->str,
                                             bench_written(b, "rank1.out")->str);
    g_auto(GStrv) parts = g_strsplit(twice, "rank1", -1);
    g_autofree char *want = g_strjoinv("rank0", parts);
    g_assert_cmpstr(bench_written(b, "rank0.out")->str, ==, want);
    bench_destroy(b);
    bench_destroy(itemised_run(MODULE, (const char *[]){NULL}));
    itemised_check_lost(MODULE);
}

static void test_overwrite(void) {
    overwrite_check(MODULE, "markdown.write");
}

static void test_full_disk(void) {
    bench *b = markdown_bench("path=r.md");
    bench_disk_size(b, 100);
    add(b, sample_overlap(bench_services(b)), "");
    g_assert_cmpint(bench_run(b), ==, MILL_E_IO);
    g_assert_null(bench_written(b, "r.md"));
    bench_destroy(b);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exporters/markdown/pages", test_pages);
    g_test_add_func("/exporters/markdown/escapes", test_escapes);
    g_test_add_func("/exporters/markdown/lines", test_lines);
    g_test_add_func("/exporters/markdown/rows", test_rows);
    g_test_add_func("/exporters/markdown/missing", test_missing);
    g_test_add_func("/exporters/markdown/item-paths", test_item_paths);
    g_test_add_func("/exporters/markdown/overwrite", test_overwrite);
    g_test_add_func("/exporters/markdown/full-disk", test_full_disk);
    return g_test_run();
}
