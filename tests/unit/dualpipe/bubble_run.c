/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the stage class `bubble`: see bubble_run.h. */
#include "bubble_run.h"
#include "look.h"

#include <string.h>

bench *bubble_begin(const char *const *settings) {
    bench *b = bench_create(bench_open("plugins/estimators/dualpipe/dualpipe.so"), "bubble");
    for (; *settings; settings++)
        bench_option(b, *settings);
    return b;
}

const mill_report *bubble_run(bench *b) {
    mill_status status = bench_run(b);
    g_assert_cmpstr(bench_causes(b), ==, "");
    g_assert_cmpint(status, ==, MILL_OK);
    return bench_output(b, "report", 0);
}

void bubble_fails(const char *const *settings, mill_status right, const char *cause) {
    bench *b = bubble_begin(settings);
    mill_status status = bench_run(b);
    if (!strstr(bench_causes(b), cause))
        g_error("\"%s\" does not say \"%s\"", bench_causes(b), cause);
    g_assert_cmpint(status, ==, right);
    bench_destroy(b);
}

int64_t row_from(const mill_table *t, int64_t row, const char *column, const char *value) {
    g_assert_nonnull(t);
    for (; row < (int64_t)t->rows; row++)
        if (g_str_equal(look_cell(t, row, column).text, value))
            return row;
    return -1;
}

mill_datum cell(const mill_report *r, const char *table, const char *schedule, const char *column) {
    const mill_table *t = look_table(r, table);
    return look_cell(t, row_from(t, 0, "schedule", schedule), column);
}

mill_datum changed(const mill_report *r, const char *change, const char *column) {
    const mill_table *t = look_table(r, "what_if");
    return look_cell(t, row_from(t, 0, "change", change), column);
}

mill_chunk_times times_of(const mill_chunk_cost *costs, size_t n) {
    return (mill_chunk_times){
        .size = sizeof(mill_chunk_times), .subject = "rank 0 of x.json", .n = n, .costs = costs};
}
